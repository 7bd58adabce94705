"""Prune the tree of a fitted estimator, and record what was pruned.

frames = one record for each node that the method turns into a leaf, in order
tree = collapse(grown, [frame["node"] for frame in frames])      # the grown tree is kept
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Record, Trace, seed_of
from ceiba.engine import Engine
from ceiba.stats import LabeledRows, ToLabeledRows
from ceiba.tree.config import TreeConfig
from ceiba.tree.model.multi_output import check_single_output
from ceiba.tree.model.subtrees import collapse, kept_nodes
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.cross_validation import unpruned_clone
from ceiba.tree.prune.folds import split_rows
from ceiba.tree.prune.methods import (
    Method,
    PrunedTree,
    PruningConfig,
    class_weight_of,
    pruning_config,
)
from ceiba.tree.prune.path import cost_complexity_path
from ceiba.tree.prune.pessimistic import collapsed_frames
from ceiba.tree.prune.reduced_error import apply_class_weight, encode_known_classes


@dataclass(frozen=True, slots=True, eq=False)
class Pruning(Record):
    """Record of a pruning: enough to undo it and to replay it node by node.

    Parameters
    ----------
    method : {"none", "reduced_error", "pessimistic", "cost_complexity", "step"}
    details : dict
        Options of the method, and what it chose.
    grown : Tree
        The tree before pruning.
    frames : tuple of dict
        One frame for each pruned node, in order: its ``node`` index in the grown tree, and the
        quantities that were compared.
    """

    method: Method
    details: dict[str, Any]
    grown: Tree
    frames: tuple[dict[str, Any], ...]

    @property
    def nodes(self) -> Array:
        """Nodes of the grown tree that became leaves or were replaced by a branch."""
        return np.unique([frame["node"] for frame in self.frames]).astype(np.int32)

    @property
    def trace(self) -> Trace:
        """Trace of the frames, at most 1000; see `ceiba.base.Trace`."""
        trace = Trace()
        for number, frame in enumerate(self.frames, start=1):
            trace.record(number, frame)
        return trace

    def check(self) -> None:
        """Raise ValueError unless each frame has a node of the grown tree."""
        for node in (frame.get("node") for frame in self.frames):
            if not isinstance(node, int) or not 0 <= node < self.grown.n_nodes:
                raise ValueError(
                    "the 'node' of each of Pruning.frames must be an int in "
                    f"[0, {self.grown.n_nodes - 1}], got {node!r}."
                )


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

        Options left at None are taken from the estimator's parameters, except alpha and step
        (``ccp_alpha`` and ``pruning_step``):
        "cost_complexity" with neither of them chooses alpha by cross-validation. An option that
        does not apply to the method raises ValueError.

        Parameters
        ----------
        method : {"reduced_error", "pessimistic", "cost_complexity", "step", "none"}
            - "reduced_error": bottom-up, a node becomes a leaf if that does not raise the error on
              validation rows (Quinlan 1987). The training rows would prune next to nothing:
              `ceiba.tree.TrainingRowsWarning`.
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
        check_single_output(self.grown_tree_.n_outputs, "pruned()")
        model = self.unpruned()
        config = pruning_config(
            self, method, alpha=alpha, step=step, risk=risk, rule=rule, folds=folds,
            confidence=confidence, subtree_raising=subtree_raising,
        )  # fmt: skip
        if X is None and (y is not None or sample_weight is not None):
            raise ValueError("y and sample_weight require X: pass the rows, too.")
        config.check_rows(given=X is not None)
        if X is None:
            apply_pruning(model, config)
        else:
            self._prune_with_rows(model, config, X, y, sample_weight)
        return model

    def _prune_with_rows(
        self, model: Self, config: PruningConfig, X: Any, y: Any, sample_weight: Any
    ) -> None:
        task = self._task  # type: ignore[attr-defined]
        engine, source = self._open_source(X, sample_weight, y=y, reset=False, task=task)  # type: ignore[attr-defined]
        config.check_rows(given=True, in_memory=engine.in_memory)
        rows = engine.rows(source.partitions, ToLabeledRows(task))
        if config.needs_training_rows:
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
        model = unpruned_clone(self).fit(X, y, sample_weight=sample_weight)
        check_single_output(model.tree_.n_outputs, "cost_complexity_pruning_path()")
        path = cost_complexity_path(model.tree_, getattr(self, "prune_risk", "impurity"))
        return Bunch(ccp_alphas=path.alphas, impurities=path.risks)


def check_record(pruning: Any, tree: Tree) -> None:
    """Raise ValueError unless a record's grown tree has the columns and classes of a tree."""
    if not isinstance(pruning, Pruning):
        raise ValueError(f"pruning_ must be a Pruning, got {type(pruning).__name__}.")
    grown = pruning.grown
    if grown.schema != tree.schema:
        raise ValueError(
            f"pruning_.grown must have the columns of tree_, {tree.schema.names!r}, got "
            f"{grown.schema.names!r} or other kinds."
        )
    if grown.leaves.shape[1] != tree.leaves.shape[1]:
        raise ValueError(
            f"pruning_.grown must have {tree.leaves.shape[1]} classes, as tree_, got "
            f"{grown.leaves.shape[1]}."
        )


def split_validation(model: Any, engine: Engine, rows: Any) -> tuple[Any, Any]:
    """Split off the validation rows of reduced-error pruning within fit."""
    train, held_out = split_rows(
        rows.table(), model.validation_fraction, seed_of(model.random_state)
    )
    return engine.prepared_rows(train), engine.prepared_rows(held_out)


def prune_in_fit(
    model: Any, config: TreeConfig, engine: Engine, rows: Any, held_out: Any | None
) -> None:
    """Prune a tree that was just grown, by the parameters of its estimator."""
    alpha = config.ccp_alpha if config.pruning == "cost_complexity" else None
    pruning = pruning_config(model, config.pruning, alpha=alpha, step=config.pruning_step)
    apply_pruning(model, pruning, rows if held_out is None else held_out, engine)


def apply_pruning(
    model: Any, config: PruningConfig, rows: Any = None, engine: Engine | None = None
) -> None:
    """Replace ``model.tree_`` by the pruned tree, and set ``model.pruning_``."""
    grown: Tree = model.tree_
    pruned = _collapse_and_prune(grown, config, model, rows, engine)
    model.pruning_ = Pruning(config.method, pruned.details, grown, tuple(pruned.frames))
    model.tree_ = model._with_predictions(pruned.tree) if pruned.frames else grown


def _collapse_and_prune(
    grown: Tree, config: PruningConfig, model: Any, rows: Any, engine: Engine | None
) -> PrunedTree:
    """Collapse subtrees as C4.5 does, if configured, then prune."""
    frames = collapsed_frames(grown) if config.collapse else []
    if not frames:
        return config.prune(grown, model, rows, engine)
    nodes = np.array([frame["node"] for frame in frames])
    pruned = config.prune(collapse(grown, nodes), model, rows, engine)
    grown_node = kept_nodes(grown, nodes)
    frames += [_renumber(frame, grown_node) for frame in pruned.frames]
    return PrunedTree(pruned.tree, frames, pruned.details)


def _renumber(frame: dict[str, Any], grown_node: Array) -> dict[str, Any]:
    """Return a frame with node indices of the grown tree."""
    names = [name for name in ("node", "replaced_by") if frame.get(name) is not None]
    return {**frame, **{name: int(grown_node[frame[name]]) for name in names}}


def check_training_rows(model: Any, rows: LabeledRows) -> None:
    """Raise ValueError unless the rows have the total weight (of each class) of the tree's rows."""
    weight, tree = rows.weight, model.tree_
    grown, given = tree.weight[:1], np.array([len(rows) if weight is None else weight.sum()])
    if model._task == "classification":
        labels = encode_known_classes(rows, model.classes_)
        weight = apply_class_weight(rows, labels, class_weight_of(model))
        grown, given = (
            tree.node_values[0],
            np.bincount(labels, weight, minlength=len(model.classes_)),
        )
    if not np.allclose(given, grown, rtol=1e-6, atol=1e-6 * grown.sum()):
        raise ValueError(
            f"X and y must be the training rows, of total weight {grown.sum():g}, got rows of "
            f"weight {given.sum():g}. Rows that fit held out for pruning='reduced_error' are not "
            "training rows."
        )
