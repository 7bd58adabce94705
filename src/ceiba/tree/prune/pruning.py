"""Pruning a grown tree: a wish, the rows that it needs, and the record of what was done.

cuts = what the method says of the grown tree        # pure: the tree is not changed
tree = collapse(grown, cuts)                         # a new tree; the grown one is kept
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ceiba._typing import Array
from ceiba.base import Trace, seed_of
from ceiba.engine.local import LocalRows
from ceiba.stats import Labelled
from ceiba.tree.model.edit import collapse
from ceiba.tree.model.traversal import kept_nodes
from ceiba.tree.model.tree import Tree
from ceiba.tree.presets import Options
from ceiba.tree.prune.cross_validation import Rule, choice_of, fold_trials, held_out_rows, some_rows
from ceiba.tree.prune.error_based import error_based
from ceiba.tree.prune.held_out import NodeErrors, known_labels, weights_of
from ceiba.tree.prune.path import complexity_cuts, complexity_path
from ceiba.tree.prune.pessimistic import collapse_cuts, pessimistic_cuts
from ceiba.tree.prune.reduced_error import error_cuts
from ceiba.tree.prune.risk import Risk, filled_values

METHODS = ("none", "reduced_error", "pessimistic", "cost_complexity", "level")


@dataclass(frozen=True, slots=True)
class Wish:
    """How a tree is to be pruned; see ``DecisionTreeClassifier.pruned``."""

    method: str
    alpha: float | None = None
    level: int | None = None
    risk: str = "impurity"
    rule: str = "one_se"
    folds: int = 10
    confidence: float = 0.25
    raising: bool = False
    collapse: bool = False

    @classmethod
    def of(cls, model: Any, options: Options, method: str) -> Wish:
        """A method, as the estimator's own parameters say."""
        return cls(
            method,
            risk=getattr(model, "prune_risk", "impurity"),
            rule=model.prune_rule,
            folds=model.prune_folds,
            confidence=getattr(model, "confidence", 0.25),
            raising=options.raising,
            collapse=options.collapse,
        )

    def needs_rows(self) -> bool:
        """Whether the tree alone does not tell where to cut."""
        if self.method == "cost_complexity":
            return self.alpha is None and self.level is None
        return self.method == "reduced_error" or (self.method == "pessimistic" and self.raising)


@dataclass(frozen=True, slots=True, eq=False)
class Pruning:
    """What was pruned, and how: enough to undo it and to show every step.

    Parameters
    ----------
    method : str
    options : dict
        What the method was told, or chose.
    grown : Tree
        The tree before.
    steps : tuple of dict
        Each step in order: its ``node``, a number in the grown tree, and what was compared.
    """

    method: str
    options: dict[str, Any]
    grown: Tree
    steps: tuple[dict[str, Any], ...]

    @property
    def nodes(self) -> Array:
        """Nodes of the grown tree that became leaves, or that a branch was raised in place of."""
        return np.unique([step["node"] for step in self.steps]).astype(np.int32)

    @property
    def trace(self) -> Trace:
        """A frame for each step, at most 1000; see `ceiba.base.Trace`."""
        trace = Trace()
        for number, step in enumerate(self.steps, start=1):
            trace.record(number, step)
        return trace

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file."""
        return {
            "method": self.method, "options": self.options, "grown": self.grown,
            "steps": list(self.steps),
        }  # fmt: skip

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Pruning:
        """The record that `to_json` wrote; ValueError where it is none."""
        if set(record) != {"method", "options", "grown", "steps"}:
            raise ValueError("this is not the record of a pruning")
        steps, grown = record["steps"], record["grown"]
        if not isinstance(grown, Tree) or not isinstance(steps, list):
            raise ValueError("a pruning has the tree before it, and its steps")
        if not isinstance(record["options"], dict):
            raise ValueError("the options of a pruning are named")
        numbers = [step.get("node") for step in steps if isinstance(step, dict)]
        inside = [isinstance(n, int) and 0 <= n < grown.n_nodes for n in numbers]
        if len(numbers) < len(steps) or not all(inside):
            raise ValueError("each step of a pruning names a node of the tree before it")
        return cls(record["method"], record["options"], grown, tuple(steps))


def check_record(pruning: Any, tree: Tree) -> None:
    """Refuse a record that is not that of a tree like this one."""
    if not isinstance(pruning, Pruning) or pruning.grown.schema != tree.schema:
        raise ValueError("pruning_ must be the record of how this tree was pruned")
    if pruning.grown.leaves.shape[1] != tree.leaves.shape[1]:
        raise ValueError("the tree before the pruning must have the classes of that after it")


def held_apart(model: Any, options: Options, rows: Any) -> tuple[Any, Labelled | None]:
    """Rows to grow from, and those that reduced error pruning holds out of it."""
    if options.pruning != "reduced_error":
        return rows, None
    labelled: Labelled = rows.rows
    label = None if labelled.target.classes is None else labelled.target.values
    seed = seed_of(model.random_state)
    held = held_out_rows(len(labelled), model.validation_share, seed, label)
    grown_from = some_rows(labelled, np.flatnonzero(~held))
    validation = some_rows(labelled, np.flatnonzero(held))
    return LocalRows(grown_from, 0, rows.threads), validation


def prune_in_fit(model: Any, options: Options, rows: Any, held: Labelled | None) -> None:
    """Prune a tree that was just grown, as its estimator's parameters say."""
    if options.pruning == "none" and not options.collapse:
        return
    wish = replace(Wish.of(model, options, options.pruning), alpha=model.ccp_alpha)
    apply_wish(model, wish, rows if held is None else LocalRows(held, 0, rows.threads))


def apply_wish(model: Any, wish: Wish, rows: Any, engine: Any = None) -> None:
    """Prune ``model.tree_``, and note how; ``rows`` is a batch, or rows of ``engine``."""
    grown: Tree = model.tree_
    tree, frames, told = _Pruner(model, wish, rows, engine).run(grown)
    model.pruning_ = Pruning(wish.method, told, grown, tuple(frames))
    model.tree_ = grown if not frames else model._finished(tree)


def check_training_rows(model: Any, rows: Labelled) -> None:
    """Refuse rows that are plainly not those that the tree was grown from."""
    weight, tree = rows.weight, model.tree_
    grown, given = tree.weight[:1], np.array([len(rows) if weight is None else weight.sum()])
    if model._task == "classification":
        labels = known_labels(rows, model.classes_)
        weight = weights_of(rows, labels, getattr(model, "class_weight_", None))
        grown, given = tree.value[0], np.bincount(labels, weight, minlength=len(model.classes_))
    if not np.allclose(given, grown, rtol=1e-6, atol=1e-6 * grown.sum()):
        raise ValueError(
            f"the tree was grown from rows of weight {grown.sum():g}, and these, of weight "
            f"{given.sum():g}, are others: give the training rows (rows that fit held out for "
            "pruning='reduced_error' do not belong to them)"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Pruner:
    """One method, told all it needs."""

    model: Any
    wish: Wish
    rows: Any
    engine: Any

    def run(self, grown: Tree) -> tuple[Tree, list[dict[str, Any]], dict[str, Any]]:
        """The pruned tree, with class weights for leaves; frames; and options."""
        way = getattr(self, f"_{self.wish.method}")
        cuts = collapse_cuts(grown) if self.wish.collapse else None
        if not cuts:
            pruned: tuple[Tree, list[dict[str, Any]], dict[str, Any]] = way(grown)
            return pruned
        tree, frames, told = way(collapse(grown, cuts.nodes))
        numbers = kept_nodes(grown, cuts.nodes)
        return tree, [*cuts.frames, *(_renumbered(frame, numbers) for frame in frames)], told

    def _none(self, tree: Tree) -> tuple[Tree, list[dict[str, Any]], dict[str, Any]]:
        return tree, [], {"collapse": self.wish.collapse}

    def _reduced_error(self, tree: Tree) -> tuple[Tree, list[dict[str, Any]], dict[str, Any]]:
        told = (tree, getattr(self.model, "classes_", None), self._labels(tree), self._factors())
        if self.engine is None:
            errors = NodeErrors.of(self.rows, *told)
        else:
            errors = self.engine.reduce(self.rows, NodeErrors.of, *told)
        if not errors.weight > 0:
            raise ValueError("every validation row has weight zero: there is nothing to judge by")
        cuts = error_cuts(tree, errors.errors, errors.weight)
        return collapse(tree, cuts.nodes), list(cuts.frames), {"rows": errors.rows}

    def _labels(self, tree: Tree) -> Array | None:
        """What each node would predict as a leaf; None for numbers."""
        if self.model._task == "regression":
            return None
        return tree.decided(self.model._probabilities(filled_values(tree), tree.value[0]))

    def _factors(self) -> Array | None:
        """Factors of the classes' weights, as they were in growing."""
        factors: Array | None = getattr(self.model, "class_weight_", None)
        return factors

    def _pessimistic(self, tree: Tree) -> tuple[Tree, list[dict[str, Any]], dict[str, Any]]:
        wish = self.wish
        told = {"confidence": wish.confidence, "raising": wish.raising, "collapse": wish.collapse}
        if not wish.raising:
            cuts = pessimistic_cuts(tree, wish.confidence)
            return collapse(tree, cuts.nodes), list(cuts.frames), told
        rows: Labelled = self.rows.rows
        labels = known_labels(rows, self.model.classes_)
        weight = weights_of(rows, labels, self._factors())
        pruned, frames = error_based(
            tree, rows.table, labels.astype(np.uint16), weight, wish.confidence,
            raising=True, threads=self.rows.threads,
        )  # fmt: skip
        return pruned, list(frames), told

    def _cost_complexity(self, tree: Tree) -> tuple[Tree, list[dict[str, Any]], dict[str, Any]]:
        wish = self.wish
        path = complexity_path(tree, cast(Risk, wish.risk))
        told: dict[str, Any] = {"risk": wish.risk}
        if wish.level is not None:
            level = wish.level
        elif wish.alpha is not None:
            level = path.level_at(wish.alpha)
        else:
            seed = seed_of(self.model.random_state)
            trials = fold_trials(self.model, self.rows.rows, wish.folds, seed)
            choice = choice_of(path, trials, cast(Risk, wish.risk), cast(Rule, wish.rule))
            level = choice.level
            told |= {"rule": wish.rule, "folds": wish.folds, "errors": choice.errors,
                     "standard_errors": choice.standard_errors}  # fmt: skip
        cuts = complexity_cuts(tree, path, level)
        told |= {"alpha": float(path.alphas[level]), "level": int(level), "alphas": path.alphas,
                 "n_leaves": path.n_leaves}  # fmt: skip
        return collapse(tree, cuts.nodes), list(cuts.frames), told

    def _level(self, tree: Tree) -> tuple[Tree, list[dict[str, Any]], dict[str, Any]]:
        return self._cost_complexity(tree)


def _renumbered(frame: dict[str, Any], numbers: Array) -> dict[str, Any]:
    named = [name for name in ("node", "replacing") if frame.get(name) is not None]
    return {**frame, **{name: int(numbers[frame[name]]) for name in named}}
