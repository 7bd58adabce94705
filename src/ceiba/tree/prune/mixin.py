"""Mixin of fitted trees: prune a copy, and undo pruning."""

from __future__ import annotations

import copy
from typing import Any, Self

from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ceiba.stats import ToLabeled
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.methods import PruningConfig, pruning_config
from ceiba.tree.prune.path import cost_complexity_path
from ceiba.tree.prune.pruning import Pruning, apply_pruning, check_training_rows
from ceiba.tree.prune.risk import Risk


class PruningMixin:
    """Mixin of estimators with a ``tree_``."""

    tree_: Tree
    pruning_: Pruning

    @property
    def grown_tree_(self) -> Tree:
        """The tree before any pruning."""
        check_is_fitted(self)
        return self.pruning_.grown if "pruning_" in vars(self) else self.tree_

    def unpruned(self) -> Self:
        """Return a copy of the estimator whose ``tree_`` is ``grown_tree_``."""
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
        step: int | None = None,
        risk: str | None = None,
        rule: str | None = None,
        folds: int | None = None,
        confidence: float | None = None,
        subtree_raising: bool | None = None,
    ) -> Self:
        """Return a copy of the estimator with its grown tree pruned.

        Options that are None are those of the estimator; an option that does not apply to the
        method raises ValueError.

        Parameters
        ----------
        method : {"reduced_error", "pessimistic", "cost_complexity", "step", "none"}
            - "reduced_error": bottom-up, a node becomes a leaf if that does not raise the error on
              validation rows (Quinlan 1987).
            - "pessimistic": if it does not raise the pessimistic error on the training rows (C4.5;
              classifiers only).
            - "cost_complexity": the subtree for ``alpha`` or ``step`` of the cost-complexity path,
              or the one that cross-validation chooses (CART).
            - "step": a step of that path, as in MATLAB.
            - "none": only C4.5's collapsing, if the estimator has ``collapse``; it precedes all
              methods.
        X, y, sample_weight
            Validation rows for "reduced_error"; the training rows for subtree raising and for
            cross-validation.
        alpha : float, optional
            Penalty per leaf, in scikit-learn's unit: risk as a fraction of the weight of all rows.
        step : int, optional
            Step of the path; 0 for the whole tree.
        risk : {"impurity", "error"}, optional
            Risk of a leaf; by default the estimator's ``prune_risk``.
        rule, folds : {"min", "one_se"} and int, optional
            Rule and number of folds of the cross-validation; by default the estimator's
            ``prune_rule`` and ``prune_folds``.
        confidence : float, optional
            C4.5's CF in (0, 0.5]; by default the estimator's ``prune_confidence``.
        subtree_raising : bool, optional
            Whether a node may be replaced by its heaviest branch; by default as the estimator.

        Returns
        -------
        estimator
            Fitted, with the record ``pruning_``: method, details, grown tree, pruned nodes and
            trace.

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
        config = pruning_config(
            self, method, alpha=alpha, step=step, risk=risk, rule=rule, folds=folds,
            confidence=confidence, subtree_raising=subtree_raising,
        )  # fmt: skip
        if X is None:
            if y is not None or sample_weight is not None:
                raise ValueError("y and sample_weight require X: pass the rows, too.")
            if config.needs_rows:
                raise ValueError(config.no_rows_error)
            apply_pruning(model, config)
            return model
        if not config.needs_rows:
            raise ValueError(
                f"X and y have no effect with method={method!r} and these options: leave them out."
            )
        self._prune_with_rows(model, config, X, y, sample_weight)
        return model

    def _prune_with_rows(
        self, model: Self, config: PruningConfig, X: Any, y: Any, sample_weight: Any
    ) -> None:
        task = self._task  # type: ignore[attr-defined]
        engine, source = self._open_source(X, sample_weight, y=y, reset=False, task=task)  # type: ignore[attr-defined]
        if config.not_in_memory_error and not engine.in_memory:
            raise ValueError(config.not_in_memory_error)
        rows = engine.rows(source.partitions, ToLabeled(task))
        if config.rows_used == "training":
            check_training_rows(model, rows.table())
        apply_pruning(model, config, rows, engine)

    def cost_complexity_pruning_path(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Bunch:
        """Compute the cost-complexity pruning path of a tree grown on some rows.

        Links that are equally weak are one step, where scikit-learn may have several.

        Returns
        -------
        Bunch
            ``ccp_alphas`` and ``impurities``: effective alphas of the path, and the risk of the
            subtree from each of them on, by ``prune_risk``.
        """
        model = clone(self).set_params(pruning="none", ccp_alpha=None)
        risk: Risk = getattr(self, "prune_risk", "impurity")
        path = cost_complexity_path(model.fit(X, y, sample_weight=sample_weight).tree_, risk)
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)
