"""Pruning methods: the options of each, and the pruned tree that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, cast, get_args

from ceiba._typing import Array
from ceiba.base import seed_of, unused_error
from ceiba.engine import Engine
from ceiba.stats import LabeledRows
from ceiba.tree.config import TreeConfig
from ceiba.tree.constraints import check_subtree_raising
from ceiba.tree.model.subtrees import collapse
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.cross_validation import AlphaRule, choose_alpha, fit_folds
from ceiba.tree.prune.folds import check_folds
from ceiba.tree.prune.path import Risk, cost_complexity_path
from ceiba.tree.prune.pessimistic import (
    check_confidence,
    pessimistic_frames,
    raise_subtrees,
)
from ceiba.tree.prune.reduced_error import (
    NodeErrors,
    apply_class_weight,
    encode_known_classes,
    reduced_error_frames,
    warn_of_training_rows,
)

Method = Literal["none", "reduced_error", "pessimistic", "cost_complexity", "step"]

# Options of each method besides ``collapse``; for cost complexity with and without alpha or step.
_OPTIONS: dict[str, tuple[str, ...]] = {
    "none": (),
    "reduced_error": (),
    "pessimistic": ("confidence", "subtree_raising"),
    "step": ("risk", "step"),
    "cost_complexity": ("risk", "alpha", "step"),
    "cross-validated cost_complexity": ("risk", "rule", "folds"),
}
# Errors of methods that need rows, if they are not passed or not in memory.
_NO_ROWS = {
    "reduced_error": "method='reduced_error' requires validation rows: pass X and y.",
    "pessimistic": "subtree_raising=True requires the training rows: pass X and y, or set "
    "subtree_raising=False.",
    "cost_complexity": "method='cost_complexity' requires alpha, step, or the training rows X and "
    "y for cross-validation.",
}
_NOT_IN_MEMORY = {
    "pessimistic": "subtree_raising=True requires rows in memory: set subtree_raising=False and "
    "leave X out.",
    "cost_complexity": "cross-validation of alpha requires rows in memory: pass alpha or step "
    "instead.",
}


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
    def of(cls, tree: Tree, frames: list[dict[str, Any]], details: dict[str, Any]) -> PrunedTree:
        """Collapse the nodes of the frames."""
        return cls(collapse(tree, [frame["node"] for frame in frames]), frames, details)


@dataclass(frozen=True, slots=True)
class PruningConfig:
    """Options of ``pruned``; those that do not apply to the method are at their defaults.

    ``collapse``: C4.5's collapsing of subtrees comes before the method.
    """

    method: Method
    collapse: bool = False
    confidence: float = 0.25
    subtree_raising: bool = False
    risk: Risk = "impurity"
    alpha: float | None = None
    step: int | None = None
    rule: AlphaRule = "one_se"
    folds: int = 10

    @property
    def cross_validates(self) -> bool:
        """Whether cross-validation chooses alpha."""
        return self.method == "cost_complexity" and self.alpha is None and self.step is None

    @property
    def needs_training_rows(self) -> bool:
        """Whether pruning needs the rows that the tree was grown from."""
        return self.subtree_raising or self.cross_validates

    @property
    def needs_rows(self) -> bool:
        """Whether pruning needs rows besides the tree."""
        return self.method == "reduced_error" or self.needs_training_rows

    def check(self, task: str) -> None:
        """Raise ValueError for options that are invalid, or invalid for the task."""
        check_confidence(self.confidence)
        check_folds(self.folds)
        if self.risk not in get_args(Risk):
            raise ValueError(f"risk must be 'impurity' or 'error', got {self.risk!r}.")
        if self.rule not in get_args(AlphaRule):
            raise ValueError(f"rule must be 'min' or 'one_se', got {self.rule!r}.")
        if self.alpha is not None and self.step is not None:
            raise ValueError("alpha and step both select a subtree of the path: pass one of them.")
        if self.alpha is not None and not self.alpha >= 0:
            raise ValueError(f"alpha must be a number >= 0, got {self.alpha!r}.")
        if (self.method == "step" or self.step is not None) and not isinstance(self.step, Integral):
            raise ValueError(f"step must be an int, with 0 for the whole tree, got {self.step!r}.")
        if task == "regression" and self.method == "pessimistic":
            raise ValueError(
                "method='pessimistic' requires a classifier: it estimates misclassification rates."
            )
        if task == "regression" and self.risk == "error":
            raise ValueError("risk='error' requires a classifier: leave risk out for regression.")

    def check_rows(self, given: bool, in_memory: bool = True) -> None:
        """Raise ValueError if rows are needed but not given, or the other way round."""
        if given and not self.needs_rows:
            raise ValueError(
                f"X and y have no effect with method={self.method!r} and these options: leave them "
                "out."
            )
        if self.needs_rows and not given:
            raise ValueError(_NO_ROWS[self.method])
        if self.needs_training_rows and not in_memory:
            raise ValueError(_NOT_IN_MEMORY[self.method])

    def prune(self, tree: Tree, model: Any, rows: Any, engine: Engine | None) -> PrunedTree:
        """Prune the tree of a fitted estimator, where needed by rows of an engine."""
        if self.method == "reduced_error":
            assert engine is not None
            return _prune_on_validation_rows(tree, model, rows, engine)
        if self.method == "pessimistic":
            return self._prune_pessimistic(tree, model, rows)
        if self.method == "none":
            return PrunedTree(tree, [], {"collapse": self.collapse})
        return self._prune_to_step(tree, model, rows)

    def _prune_pessimistic(self, tree: Tree, model: Any, rows: Any) -> PrunedTree:
        details = {
            "confidence": self.confidence, "subtree_raising": self.subtree_raising,
            "collapse": self.collapse,
        }  # fmt: skip
        if not self.subtree_raising:
            return PrunedTree.of(tree, pessimistic_frames(tree, self.confidence), details)
        training: LabeledRows = rows.table()
        labels = encode_known_classes(training, model.classes_)
        weight = apply_class_weight(training, labels, class_weight_of(model))
        pruned, frames = raise_subtrees(
            tree, training.table, labels, weight, self.confidence, rows.threads
        )
        return PrunedTree(pruned, frames, details)

    def _prune_to_step(self, tree: Tree, model: Any, rows: Any) -> PrunedTree:
        """Take the subtree of a step of the cost-complexity path."""
        path = cost_complexity_path(tree, self.risk)
        details: dict[str, Any] = {"risk": self.risk}
        if self.cross_validates:
            fold_fits = fit_folds(model, rows.table(), self.folds, seed_of(model.random_state))
            choice = choose_alpha(path, fold_fits, self.risk, self.rule)
            step = choice.step
            details |= {
                "rule": self.rule, "folds": self.folds, "errors": choice.errors,
                "standard_errors": choice.standard_errors,
            }  # fmt: skip
        elif self.alpha is not None:
            step = path.step_at(self.alpha)
        else:
            step = cast(int, self.step)
        frames = path.frames(step)
        details |= {
            "alpha": float(path.alphas[step]), "step": int(step), "alphas": path.alphas,
            "n_leaves": path.n_leaves,
        }  # fmt: skip
        return PrunedTree.of(tree, frames, details)


def _prune_on_validation_rows(tree: Tree, model: Any, rows: Any, engine: Engine) -> PrunedTree:
    """Apply reduced-error pruning (Quinlan 1987)."""
    classes, node_classes = None, None
    if model._task == "classification":
        classes = model.classes_
        probabilities = model._leaf_probabilities(tree.prediction_values, tree.node_values[0])
        node_classes = tree.decide(probabilities)
    statistic = engine.reduce(
        rows, NodeErrors.of, tree, classes, node_classes, class_weight_of(model)
    )
    warn_of_training_rows(tree, statistic, medians=model.criterion == "absolute_error")
    frames = reduced_error_frames(tree, statistic.errors, statistic.weight)
    return PrunedTree.of(tree, frames, {"n_rows": statistic.rows})


def class_weight_of(model: Any) -> Array | None:
    """Return the class weights that a tree was grown with."""
    weight: Array | None = getattr(model, "class_weight_", None)
    return weight


def pruning_config(model: Any, method: str, **options: Any) -> PruningConfig:
    """Return the options of a pruning method, by default the estimator's parameters."""
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {get_args(Method)}, got {method!r}.")
    given = {name: value for name, value in options.items() if value is not None}
    selected = [f"{name}={given[name]!r}" for name in ("alpha", "step") if name in given]
    cost_complexity = method == "cost_complexity"
    key = "cross-validated cost_complexity" if cost_complexity and not selected else method
    for name in given:
        if name not in _OPTIONS[key]:
            when = " and ".join([f"method={method!r}", *(selected if cost_complexity else [])])
            raise unused_error(name, when, given[name])
    tree_config = TreeConfig.from_estimator(model)
    defaults = {
        "subtree_raising": tree_config.subtree_raising,
        "confidence": getattr(model, "prune_confidence", 0.25),
        "risk": getattr(model, "prune_risk", "impurity"),
        "rule": model.prune_rule,
        "folds": model.prune_folds,
    }
    applicable = {name: value for name, value in defaults.items() if name in _OPTIONS[key]}
    config = PruningConfig(method, tree_config.collapse, **{**applicable, **given})  # type: ignore[arg-type]
    config.check(model._task)
    if model.monotonic_cst is not None:
        check_subtree_raising(config.subtree_raising)
    return config
