"""Prune the tree of a fitted estimator, and record what was pruned.

nodes = nodes that the method turns into leaves      # the grown tree is not changed
tree = collapse(grown, nodes)                        # a new tree; the grown one is kept
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Record, Trace, seed_of
from ceiba.engine import Engine
from ceiba.stats import Labeled
from ceiba.tree.config import TreeConfig
from ceiba.tree.model.edit import collapse
from ceiba.tree.model.traversal import kept_nodes
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.folds import split_rows
from ceiba.tree.prune.methods import (
    Method,
    PrunedTree,
    PruningConfig,
    PruningData,
    pruning_config,
)
from ceiba.tree.prune.node_errors import class_weighted, encode_known_classes
from ceiba.tree.prune.pessimistic import prune_collapsible


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
        nodes = [frame.get("node") for frame in self.frames]
        if not all(isinstance(node, int) and 0 <= node < self.grown.n_nodes for node in nodes):
            raise ValueError("each of Pruning.frames must have a 'node' of the grown tree.")


def check_record(pruning: Any, tree: Tree) -> None:
    """Raise ValueError unless a record belongs to a tree."""
    if not isinstance(pruning, Pruning) or pruning.grown.schema != tree.schema:
        raise ValueError("pruning_ must be a Pruning of a tree with the columns of tree_.")
    if pruning.grown.leaves.shape[1] != tree.leaves.shape[1]:
        raise ValueError("pruning_.grown must have the same number of classes as tree_.")


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
    pruning = pruning_config(model, config.pruning, alpha=alpha)
    apply_pruning(model, pruning, rows if held_out is None else held_out, engine)


def apply_pruning(
    model: Any, config: PruningConfig, rows: Any = None, engine: Engine | None = None
) -> None:
    """Replace ``model.tree_`` by the pruned tree, and set ``model.pruning_``."""
    grown: Tree = model.tree_
    pruned = _prune_collapsed(grown, config, PruningData(model, rows, engine))
    model.pruning_ = Pruning(config.method, pruned.details, grown, tuple(pruned.frames))
    model.tree_ = model._with_predictions(pruned.tree) if pruned.frames else grown


def _prune_collapsed(grown: Tree, config: PruningConfig, data: PruningData) -> PrunedTree:
    """Collapse subtrees as C4.5 does, if configured, then prune."""
    collapsed = prune_collapsible(grown) if config.collapse else None
    if not collapsed:
        return config.prune(grown, data)
    pruned = config.prune(collapse(grown, collapsed.nodes), data)
    grown_node = kept_nodes(grown, collapsed.nodes)
    frames = [_renumber(frame, grown_node) for frame in pruned.frames]
    return PrunedTree(pruned.tree, [*collapsed.frames, *frames], pruned.details)


def _renumber(frame: dict[str, Any], grown_node: Array) -> dict[str, Any]:
    """Return a frame with node indices of the grown tree."""
    names = [name for name in ("node", "replaced_by") if frame.get(name) is not None]
    return {**frame, **{name: int(grown_node[frame[name]]) for name in names}}


def check_training_rows(model: Any, rows: Labeled) -> None:
    """Raise ValueError if rows are not those that the tree was grown from."""
    weight, tree = rows.weight, model.tree_
    grown, given = tree.weight[:1], np.array([len(rows) if weight is None else weight.sum()])
    if model._task == "classification":
        labels = encode_known_classes(rows, model.classes_)
        weight = class_weighted(rows, labels, getattr(model, "class_weight_", None))
        grown, given = tree.value[0], np.bincount(labels, weight, minlength=len(model.classes_))
    if not np.allclose(given, grown, rtol=1e-6, atol=1e-6 * grown.sum()):
        raise ValueError(
            f"X and y must be the training rows, of total weight {grown.sum():g}, got rows of "
            f"weight {given.sum():g}. Rows that fit held out for pruning='reduced_error' are not "
            "training rows."
        )
