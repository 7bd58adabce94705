"""What can be done to the tree of a fitted estimator: prune it, and take that back."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ceiba.stats import ToLabelled
from ceiba.tree.model.tree import Tree
from ceiba.tree.presets import options_of
from ceiba.tree.prune.path import complexity_path
from ceiba.tree.prune.pruning import METHODS, Pruning, Wish, apply_wish, check_training_rows
from ceiba.tree.prune.risk import Risk


class Prunable:
    """Mixin of estimators with a ``tree_``."""

    tree_: Tree
    pruning_: Pruning

    @property
    def grown_tree_(self) -> Tree:
        """The tree as it was grown, before any pruning."""
        check_is_fitted(self)
        return self.pruning_.grown if "pruning_" in vars(self) else self.tree_

    def unpruned(self) -> Self:
        """A copy of the estimator with the tree as it was grown: ``grown_tree_`` itself."""
        model = copy.copy(self)
        model.tree_ = self.grown_tree_
        vars(model).pop("pruning_", None)
        return model

    def pruned(
        self,
        method: str,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        alpha: float | None = None,
        level: int | None = None,
        risk: str | None = None,
        rule: str | None = None,
        folds: int | None = None,
        confidence: float | None = None,
        raising: bool | None = None,
    ) -> Self:
        """A copy of the estimator with its grown tree pruned; ``unpruned`` takes it back.

        Parameters
        ----------
        method : {"reduced_error", "pessimistic", "cost_complexity", "level", "none"}
            Reduced error: bottom-up, a node becomes a leaf if the error on validation rows does
            not rise. Pessimistic: if its estimated error does not (Quinlan's upper bound, for
            classes). Cost complexity: the tree for ``alpha`` or ``level`` of the nested path, or
            the one that cross-validation chooses. Level: the path's level, as MATLAB counts them.
            None: only what the estimator's ``collapse`` does, which comes before each of them.
        X, y, sample_weight
            Validation rows for reduced error; the training rows for subtree raising and for
            cross-validation.
        alpha : float, optional
            Price of a leaf, in scikit-learn's unit: risk as a share of the weight of all rows.
        level : int, optional
            0 for the whole tree, each further one a step on the path.
        risk : {"impurity", "error"}, optional
            What a leaf costs; the estimator's ``prune_risk`` unless given.
        rule, folds
            Of cross-validation; the estimator's ``prune_rule`` and ``prune_folds`` unless given.
        confidence : float, optional
            Confidence level of the pessimistic bound; the estimator's unless given.
        raising : bool, optional
            Whether a node may be replaced by its heaviest branch; as the estimator says unless
            given.

        Returns
        -------
        estimator
            Fitted, with ``pruning_``: method, options, ``grown`` tree, cut nodes and trace.

        Examples
        --------
        >>> from ceiba import DecisionTreeClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = DecisionTreeClassifier().fit(iris.table, iris.y)
        >>> small = model.pruned("cost_complexity", alpha=0.02)
        >>> model.get_n_leaves(), small.get_n_leaves(), small.unpruned().tree_ is model.tree_
        (9, 4, True)
        """
        model = self.unpruned()
        wish = self._wish(method, alpha, level, risk, rule, folds, confidence, raising)
        if (X is not None) != wish.needs_rows():
            raise ValueError(_rows_sentence(wish, X is not None))
        if X is None:
            if y is not None or sample_weight is not None:
                raise ValueError("y and sample_weight belong to rows: give X, too")
            apply_wish(model, wish, None)
            return model
        engine, source = self._open(X, sample_weight, y=y, reset=False, task=self._task)  # type: ignore[attr-defined]
        if engine.name != "local" and method != "reduced_error":
            raise ValueError(
                "subtree raising needs the rows in memory: set raising=False, and leave X out"
                if method == "pessimistic"
                else "cross-validation needs the rows in memory: give alpha or level"
            )
        rows = engine.rows(source.partitions, ToLabelled(self._task))  # type: ignore[attr-defined]
        if method != "reduced_error":
            check_training_rows(model, rows.rows)
        apply_wish(model, wish, rows, engine)
        return model

    def _wish(
        self,
        method: str,
        alpha: float | None,
        level: int | None,
        risk: str | None,
        rule: str | None,
        folds: int | None,
        confidence: float | None,
        raising: bool | None,
    ) -> Wish:
        if method not in METHODS:
            raise ValueError(f"method={method!r}: it is one of {', '.join(map(repr, METHODS))}")
        told = {
            "risk": risk, "rule": rule, "folds": folds, "confidence": confidence,
            "raising": raising,
        }  # fmt: skip
        given: dict[str, Any] = {k: value for k, value in told.items() if value is not None}
        _check_wish(self, method, alpha, level, given)
        own = Wish.of(self, options_of(self), method)
        return replace(own, alpha=alpha, level=level, **given)

    def cost_complexity_pruning_path(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Bunch:
        """The nested path of a tree grown on some rows, in scikit-learn's words.

        Returns
        -------
        Bunch
            ``ccp_alphas`` and ``impurities``: prices of a leaf at which the tree changes, and the
            risk of its leaves from there on, as ``prune_risk`` counts it. Links that are equally
            weak are one step.
        """
        model = clone(self).set_params(pruning="none", ccp_alpha=None)
        risk: Risk = getattr(self, "prune_risk", "impurity")
        path = complexity_path(model.fit(X, y, sample_weight=sample_weight).tree_, risk)
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)


_USED = {
    "none": (), "reduced_error": (), "pessimistic": ("confidence", "raising"),
    "cost_complexity": ("risk", "rule", "folds"), "level": ("risk",),
}  # fmt: skip


def _check_wish(
    model: Any, method: str, alpha: float | None, level: int | None, given: dict[str, Any]
) -> None:
    for name in given:
        if name not in _USED[method]:
            raise ValueError(f"{name} says nothing to pruning by {method!r}: leave it out")
    if method == "pessimistic" and model._task == "regression":
        raise ValueError("the pessimistic bound counts mistaken classes: numbers have none")
    if given.get("risk") == "error" and model._task == "regression":
        raise ValueError("the risk of a tree of numbers is its squared error: leave risk out")
    told = alpha is not None or level is not None
    if told and ("rule" in given or "folds" in given):
        raise ValueError("rule and folds are for cross-validation: leave alpha and level out")
    if alpha is not None and level is not None:
        raise ValueError("alpha and level both name a tree of the path: give one of them")
    if alpha is not None and method != "cost_complexity":
        raise ValueError("alpha is the price of a leaf in pruning by 'cost_complexity'")
    if level is not None and method not in ("cost_complexity", "level"):
        raise ValueError("level is one of the path: use it with 'level' or 'cost_complexity'")
    if level is not None and not isinstance(level, Integral):
        raise ValueError(f"level={level!r}: it is a whole number, 0 for the whole tree")
    if method == "level" and level is None:
        raise ValueError("pruning by 'level' needs level=: 0 for the whole tree")
    _check_numbers(given, alpha)


def _check_numbers(given: dict[str, Any], alpha: float | None) -> None:
    choices = {"risk": ("impurity", "error"), "rule": ("min", "one_se")}
    for name, allowed in choices.items():
        if name in given and given[name] not in allowed:
            raise ValueError(f"{name}={given[name]!r}: it is one of {allowed}")
    if alpha is not None and not alpha >= 0:
        raise ValueError(f"alpha={alpha!r}: the price of a leaf is 0 or more")
    folds = given.get("folds", 2)
    if not isinstance(folds, Integral) or folds < 2:
        raise ValueError(f"folds={folds!r}: cross-validation needs a whole number of 2 or more")
    if not 0 < given.get("confidence", 0.25) <= 0.5:
        raise ValueError("confidence must be above 0 and at most 0.5")


def _rows_sentence(wish: Wish, given: bool) -> str:
    if given:
        return f"pruning by {wish.method!r} with these options needs no rows: leave X and y out"
    return {
        "reduced_error": "pruning by 'reduced_error' needs validation rows: give X and y",
        "pessimistic": "subtree raising needs the training rows: give X and y, or raising=False",
        "cost_complexity": "give alpha or level, or the training rows X and y for cross-validation",
    }[wish.method]
