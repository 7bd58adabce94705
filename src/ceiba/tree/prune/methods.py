"""Pruning methods: one small configuration each, which prunes a grown tree.

The fields of a configuration are the options that apply to its method, so an option that does not
apply is one that the class does not have.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from ceiba._typing import Array
from ceiba.base import seed_of, unused_error
from ceiba.stats import Labeled
from ceiba.tree.config import TreeConfig
from ceiba.tree.model.edit import PrunedNodes, collapse
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.cross_validation import AlphaRule, choose_from_folds, fit_folds
from ceiba.tree.prune.folds import check_folds
from ceiba.tree.prune.path import (
    CostComplexityPath,
    Risk,
    cost_complexity_path,
    prune_cost_complexity,
)
from ceiba.tree.prune.pessimistic import check_confidence, prune_error_based, prune_pessimistic
from ceiba.tree.prune.reduced_error import (
    NodeErrors,
    class_weighted,
    encode_known_classes,
    prune_by_errors,
)

Method = Literal["none", "reduced_error", "pessimistic", "cost_complexity", "step"]
RowsUsed = Literal["none", "training", "validation"]


@dataclass(frozen=True, slots=True, eq=False)
class PrunedTree:
    """A pruned tree, whose leaves hold class weights.

    It has a frame for each node that was pruned, in order, and as details the options of the method
    and what it chose.
    """

    tree: Tree
    frames: list[dict[str, Any]]
    details: dict[str, Any]

    @classmethod
    def of(cls, tree: Tree, nodes: PrunedNodes, details: dict[str, Any]) -> PrunedTree:
        """Collapse the nodes that a method found."""
        return cls(collapse(tree, nodes.nodes), list(nodes.frames), details)


@dataclass(frozen=True, slots=True, eq=False)
class PruningData:
    """Fitted estimator and, where the method needs them, rows of an engine."""

    model: Any
    rows: Any = None
    engine: Any = None

    @property
    def class_weight(self) -> Array | None:
        """Class weights that the tree was grown with."""
        weight: Array | None = getattr(self.model, "class_weight_", None)
        return weight


@dataclass(frozen=True, slots=True)
class PruningConfig:
    """Base of the configurations of pruning methods; the fields are options of ``pruned``.

    ``collapse``: C4.5's collapsing of subtrees comes before the method.
    """

    method: ClassVar[Method]
    # Rows that the method may need, and the errors if they are not passed or not in memory.
    rows_used: ClassVar[RowsUsed] = "none"
    no_rows_error: ClassVar[str] = ""
    not_in_memory_error: ClassVar[str | None] = None

    collapse: bool = False

    @property
    def needs_rows(self) -> bool:
        """Whether pruning needs rows besides the tree."""
        return self.rows_used != "none"

    def check_task(self, task: str) -> None:
        """Raise ValueError if the method does not apply to a task."""

    def prune(self, tree: Tree, data: PruningData) -> PrunedTree:
        """Prune a grown tree."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class NoPruning(PruningConfig):
    """Prune nothing but what collapsing prunes."""

    method: ClassVar[Method] = "none"

    def prune(self, tree: Tree, data: PruningData) -> PrunedTree:
        """Return the tree itself."""
        return PrunedTree(tree, [], {"collapse": self.collapse})


@dataclass(frozen=True, slots=True)
class ReducedErrorPruning(PruningConfig):
    """Reduced-error pruning on validation rows (Quinlan 1987)."""

    method: ClassVar[Method] = "reduced_error"
    rows_used: ClassVar[RowsUsed] = "validation"
    no_rows_error: ClassVar[str] = "method='reduced_error' requires validation rows: pass X and y."

    def prune(self, tree: Tree, data: PruningData) -> PrunedTree:
        """Prune a grown tree."""
        model, classes, node_classes = data.model, None, None
        if model._task == "classification":
            classes = model.classes_
            probabilities = model._leaf_probabilities(tree.prediction_values, tree.value[0])
            node_classes = tree.decide(probabilities)
        statistic = data.engine.reduce(
            data.rows, NodeErrors.of, tree, classes, node_classes, data.class_weight
        )
        nodes = prune_by_errors(tree, statistic.errors, statistic.weight)
        return PrunedTree.of(tree, nodes, {"n_rows": statistic.rows})


@dataclass(frozen=True, slots=True)
class PessimisticPruning(PruningConfig):
    """C4.5's error-based pruning by pessimistic errors (Quinlan 1993)."""

    method: ClassVar[Method] = "pessimistic"
    rows_used: ClassVar[RowsUsed] = "training"
    no_rows_error: ClassVar[str] = (
        "subtree_raising=True requires the training rows: pass X and y, or set "
        "subtree_raising=False."
    )
    not_in_memory_error: ClassVar[str | None] = (
        "subtree_raising=True requires rows in memory: set subtree_raising=False and leave X out."
    )

    confidence: float = 0.25
    subtree_raising: bool = False

    def __post_init__(self) -> None:
        check_confidence(self.confidence)

    @property
    def needs_rows(self) -> bool:
        """Whether subtree raising is to be tried."""
        return self.subtree_raising

    def check_task(self, task: str) -> None:
        """Raise ValueError for regression."""
        if task == "regression":
            raise ValueError(
                "method='pessimistic' requires a classifier: it estimates misclassification rates."
            )

    def prune(self, tree: Tree, data: PruningData) -> PrunedTree:
        """Prune a grown tree."""
        details = {
            "confidence": self.confidence, "subtree_raising": self.subtree_raising,
            "collapse": self.collapse,
        }  # fmt: skip
        if not self.subtree_raising:
            return PrunedTree.of(tree, prune_pessimistic(tree, self.confidence), details)
        rows: Labeled = data.rows.table()
        labels = encode_known_classes(rows, data.model.classes_)
        pruned, frames = prune_error_based(
            tree, rows.table, labels.astype(np.uint16),
            class_weighted(rows, labels, data.class_weight), self.confidence,
            subtree_raising=True, threads=data.rows.threads,
        )  # fmt: skip
        return PrunedTree(pruned, frames, details)


@dataclass(frozen=True, slots=True)
class _PathPruning(PruningConfig):
    """Base of the methods that take a subtree of the cost-complexity path."""

    risk: Risk = "impurity"

    def __post_init__(self) -> None:
        if self.risk not in get_args(Risk):
            raise ValueError(f"risk must be 'impurity' or 'error', got {self.risk!r}.")

    def check_task(self, task: str) -> None:
        """Raise ValueError for a risk that a regression tree does not have."""
        if task == "regression" and self.risk == "error":
            raise ValueError("risk='error' requires a classifier: leave risk out for regression.")

    def _prune_to_step(
        self, tree: Tree, path: CostComplexityPath, step: int, more: dict[str, Any]
    ) -> PrunedTree:
        nodes = prune_cost_complexity(tree, path, step)
        details = {
            "risk": self.risk, **more, "alpha": float(path.alphas[step]), "step": int(step),
            "alphas": path.alphas, "n_leaves": path.n_leaves,
        }  # fmt: skip
        return PrunedTree.of(tree, nodes, details)


@dataclass(frozen=True, slots=True)
class StepPruning(_PathPruning):
    """Take the subtree of a step of the cost-complexity path, as MATLAB's prune does."""

    method: ClassVar[Method] = "step"

    step: int | None = None

    def __post_init__(self) -> None:
        _PathPruning.__post_init__(self)
        if not isinstance(self.step, Integral):
            raise ValueError(f"step must be an int, with 0 for the whole tree, got {self.step!r}.")

    def prune(self, tree: Tree, data: PruningData) -> PrunedTree:
        """Prune a grown tree."""
        path = cost_complexity_path(tree, self.risk)
        return self._prune_to_step(tree, path, cast(int, self.step), {})


@dataclass(frozen=True, slots=True)
class CostComplexityPruning(StepPruning):
    """Minimal cost-complexity pruning for a given alpha or step (Breiman et al. 1984)."""

    method: ClassVar[Method] = "cost_complexity"

    alpha: float | None = None

    def __post_init__(self) -> None:
        if self.alpha is None:
            StepPruning.__post_init__(self)
            return
        _PathPruning.__post_init__(self)
        if self.step is not None:
            raise ValueError("alpha and step both select a subtree of the path: pass one of them.")
        if not self.alpha >= 0:
            raise ValueError(f"alpha must be a number >= 0, got {self.alpha!r}.")

    def prune(self, tree: Tree, data: PruningData) -> PrunedTree:
        """Prune a grown tree."""
        if self.alpha is None:
            return StepPruning.prune(self, tree, data)
        path = cost_complexity_path(tree, self.risk)
        return self._prune_to_step(tree, path, path.step_at(self.alpha), {})


@dataclass(frozen=True, slots=True)
class CrossValidatedPruning(_PathPruning):
    """Minimal cost-complexity pruning for the alpha that cross-validation chooses."""

    method: ClassVar[Method] = "cost_complexity"
    rows_used: ClassVar[RowsUsed] = "training"
    no_rows_error: ClassVar[str] = (
        "method='cost_complexity' requires alpha, step, or the training rows X and y for "
        "cross-validation."
    )
    not_in_memory_error: ClassVar[str | None] = (
        "cross-validation of alpha requires rows in memory: pass alpha or step instead."
    )

    rule: AlphaRule = "one_se"
    folds: int = 10

    def __post_init__(self) -> None:
        _PathPruning.__post_init__(self)
        if self.rule not in get_args(AlphaRule):
            raise ValueError(f"rule must be 'min' or 'one_se', got {self.rule!r}.")
        check_folds(self.folds)

    def prune(self, tree: Tree, data: PruningData) -> PrunedTree:
        """Prune a grown tree."""
        path = cost_complexity_path(tree, self.risk)
        seed = seed_of(data.model.random_state)
        fold_fits = fit_folds(data.model, data.rows.table(), self.folds, seed)
        choice = choose_from_folds(path, fold_fits, self.risk, self.rule)
        more = {
            "rule": self.rule, "folds": self.folds, "errors": choice.errors,
            "standard_errors": choice.standard_errors,
        }  # fmt: skip
        return self._prune_to_step(tree, path, choice.step, more)


_CONFIGS: dict[str, type[PruningConfig]] = {
    "none": NoPruning,
    "reduced_error": ReducedErrorPruning,
    "pessimistic": PessimisticPruning,
    "step": StepPruning,
}


def pruning_config(model: Any, method: str, **options: Any) -> PruningConfig:
    """Build the configuration of a pruning method.

    Options that are None have the estimator's parameters as defaults; ValueError for one that the
    method does not have.
    """
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}.")
    given = {name: value for name, value in options.items() if value is not None}
    if method == "cost_complexity":
        selects_step = "alpha" in given or "step" in given
        config_class: type[PruningConfig] = (
            CostComplexityPruning if selects_step else CrossValidatedPruning
        )
    else:
        config_class = _CONFIGS[method]
    applicable = {entry.name for entry in fields(config_class)}
    for name in given:
        if name not in applicable:
            raise unused_error(name, _describe(method, given), given[name])
    defaults = {k: v for k, v in _estimator_defaults(model).items() if k in applicable}
    config = config_class(**{**defaults, **given})
    config.check_task(model._task)
    return config


def _describe(method: str, given: dict[str, Any]) -> str:
    selected = [f"{name}={given[name]!r}" for name in ("alpha", "step") if name in given]
    return " and ".join([f"method={method!r}", *(selected if method == "cost_complexity" else [])])


def _estimator_defaults(model: Any) -> dict[str, Any]:
    config = TreeConfig.from_estimator(model)
    return {
        "collapse": config.collapse,
        "subtree_raising": config.subtree_raising,
        "confidence": getattr(model, "prune_confidence", 0.25),
        "risk": getattr(model, "prune_risk", "impurity"),
        "rule": model.prune_rule,
        "folds": model.prune_folds,
    }
