"""Forests of several targets: one structure per tree, and a vector for each leaf.

Segal & Xiao (2011), "Multivariate random forests", WIREs Data Mining and Knowledge Discovery 1.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from ceiba import _native
from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.base import ArrayOf, ParameterError
from ceiba.data.table import Table
from ceiba.data.target import Target, class_indices
from ceiba.engine import Engine
from ceiba.ensemble.common.sampling import RowSampler, tree_seeds
from ceiba.ensemble.forest.grower import encode_table, pairs_of, rows_as_drawn, sample_fingerprint
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.oob import trees_of_sample
from ceiba.ensemble.forest.tree_view import parents, subtree_sums, tree_of
from ceiba.stats import LabeledRows, TargetSummary
from ceiba.stats.outputs import MultiOutputRows
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.output_targets import OutputTargets
from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs
from ceiba.tree.model.multi_output import (
    MultiOutputTree,
    check_output_classes,
    check_vectors,
    split_outputs,
)
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree
from ceiba.tree.multi_output import class_attributes, output_class_weights, row_factors

# Rows and trees whose leaves are kept at a time. The mask of a tree's out-of-bag rows has a byte
# per row: those of 64 trees take the memory of eight columns, however many trees there are.
_OOB_ROWS, _OOB_TREES = 65_536, 64
# Parameters of forests that have no meaning for several targets, and their values without effect.
_SINGLE_OUTPUT = {"importance": False, "ccp_alpha": 0.0, "quantiles": False,
                  "leaf_probability": "plain"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class MultiOutputForest(Forest):
    """The trees of a forest of several outputs.

    Nodes are those of a forest for regression, whose leaves have no values of their own.

    Parameters
    ----------
    leaf_values : ndarray of shape (n_leaves, width)
        Vector of each leaf, in the order of the nodes: numbers, or the class probabilities of all
        outputs, one output after another.
    output_classes : ndarray of int64 of shape (n_outputs,)
        Number of classes of each output; 0 for numbers.
    """

    leaf_values: Annotated[Array, ArrayOf("float64", "n_vectors", "width")] = field(
        default_factory=lambda: np.empty((0, 0))
    )
    output_classes: Annotated[Array, ArrayOf("int64", "n_outputs")] = field(
        default_factory=lambda: np.empty(0, np.int64)
    )

    def __repr__(self) -> str:
        return f"MultiOutput{super().__repr__()[:-1]}, {self.n_outputs} outputs)"

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return len(self.output_classes)

    @cached_property
    def is_leaf(self) -> Array:
        """Mask of the leaves of all trees."""
        return np.asarray(NodeView(self.nodes).kind == NodeTest.LEAF)

    @cached_property
    def leaf_row(self) -> Array:
        """Row of each leaf in ``leaf_values``; of other nodes that of the leaf before."""
        row: Array = np.cumsum(self.is_leaf) - 1
        return np.maximum(row, 0).astype(np.int32)

    def predict(self, table: Table, threads: int = 1, leaf_smoothing: float = 0.0) -> Array:
        """Return the mean of the trees' vectors; ``leaf_smoothing`` is 0 for several outputs."""
        out = np.empty((len(table), self.leaf_values.shape[1]))
        _native.forest_predict_vectors(
            self.native, self.native_rows(table), self.leaf_row, self.leaf_values, out, threads
        )
        return out

    def tree(self, number: int) -> Tree:
        """Return one tree; its values are means over the leaves, weighted by their rows."""
        structure = tree_of(self, number)
        nodes = slice(*self.tree_offsets[number % self.n_trees :][:2].tolist())
        is_leaf = structure.is_leaf
        parent, depth = parents(structure.nodes, is_leaf), structure.depth
        sums = np.zeros((structure.n_nodes, self.leaf_values.shape[1]))
        sums[is_leaf] = self.leaf_values[self.leaf_row[nodes][is_leaf]]
        sums[is_leaf] *= structure.weight[is_leaf, None]
        means = subtree_sums(sums, parent, depth) / structure.weight[:, None]
        # Exactly what the leaves predict.
        means[is_leaf] = self.leaf_values[self.leaf_row[nodes][is_leaf]]
        return MultiOutputTree.of(structure, means, self.output_classes)

    def select_trees(self, is_kept: Array) -> Self:
        """Return the forest of the trees that are True in a mask."""
        selected = super().select_trees(is_kept)
        of_node = np.repeat(is_kept, np.diff(self.tree_offsets))
        return replace(selected, leaf_values=self.leaf_values[of_node[self.is_leaf]])

    def merge_forests(self, *others: Forest) -> Forest:
        """Return the trees of all forests, one forest after the other."""
        forests = [self, *others]
        for other in forests:
            if not isinstance(other, MultiOutputForest) or not np.array_equal(
                self.output_classes, other.output_classes
            ):
                raise ValueError("the forests must have the same targets.")
        merged = super().merge_forests(*others)
        structure = {entry.name: getattr(merged, entry.name) for entry in fields(Forest)}
        values = np.concatenate([forest.leaf_values for forest in forests])  # type: ignore[attr-defined]
        return MultiOutputForest(
            **structure, leaf_values=values, output_classes=self.output_classes
        )

    def check(self) -> None:
        """Raise ValueError if the arrays contradict each other."""
        super().check()
        if self.n_classes:
            raise ValueError(f"n_classes must be 0 with several outputs, got {self.n_classes}.")
        n_leaves = int(self.is_leaf.sum())
        if len(self.leaf_values) != n_leaves:
            raise ValueError(
                f"leaf_values must have one row for each of {n_leaves} leaves, got "
                f"{len(self.leaf_values)}."
            )
        check_output_classes(self.output_classes, self.leaf_values.shape[1])
        check_vectors("leaf_values", self.leaf_values, self.output_classes)


@dataclass(frozen=True, slots=True, eq=False)
class MultiOutputSample:
    """Rows of a fit, the sampler of the trees' rows, and several targets.

    The attributes are those of `ceiba.ensemble.forest.grower.TrainingSample`.
    """

    weighted_rows: LabeledRows
    rows: LabeledRows
    sampler: RowSampler
    targets: OutputTargets
    outputs: MultiOutputRows
    class_weights: list[Array] | None

    @classmethod
    def of(
        cls, outputs: MultiOutputRows, summary: TargetSummary, sampler: RowSampler,
        class_weight: Any,
    ) -> MultiOutputSample:  # fmt: skip
        """Prepare rows of positive weight."""
        weighted = outputs.labeled
        rows, summary, sampler = rows_as_drawn(weighted, summary, sampler)
        factors = output_class_weights(class_weight, outputs)
        weight = rows.weight
        if factors is not None:
            weight = row_factors(factors, outputs) * (1.0 if weight is None else weight)
        targets = OutputTargets.of(outputs, weight, summary.n_rows)
        return cls(weighted, rows, sampler, targets, outputs, factors)

    @property
    def scale(self) -> FixedPointScale:
        """Scale of the weights."""
        return self.targets.scale

    @property
    def fingerprint(self) -> int:
        """CRC-32 of table, targets, weights and sampler."""
        crc = sample_fingerprint(self.sampler, self.weighted_rows)
        for target in self.outputs.targets[1:]:
            labels = [] if target.classes is None else target.classes.tolist()
            crc = zlib.crc32(repr(labels).encode(), crc)
            crc = zlib.crc32(np.ascontiguousarray(target.values).data.cast("B"), crc)
        return crc

    @property
    def varies(self) -> bool:
        """Whether some target differs between rows."""
        return any(np.ptp(target.values) > 0 for target in self.outputs.targets)

    def fitted_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a classifier's targets."""
        return class_attributes(self.outputs, self.class_weights)

    def tree_grower(
        self, config: TreeConfig, seed: int, columns_per_tree: int, engine: Engine
    ) -> Callable[[range], Forest]:
        """Encode the table, and return a function that grows the trees of some numbers."""
        encoding, codes, values = encode_table(self, config, seed, engine)
        schema, scale, n_rows = self.rows.table.schema, self.scale, self.sampler.n_rows
        inputs = GrowthInputs(schema, n_rows, 0, scale, seed)
        growth = self.targets.growth(config, inputs).native
        code_values = values.native(encoding.columns, all_values=config.max_bins is None)
        fingerprint = self.fingerprint

        def grow(numbers: range) -> Forest:
            origins = pairs_of(seed, np.array(numbers))
            forest_config = _native.ForestConfig(
                tree=growth, seeds=tree_seeds(origins), columns_per_tree=columns_per_tree,
                min_weight_fraction=float(config.min_weight_fraction_leaf), balanced_unit=0.0,
            )  # fmt: skip
            arrays, leaf_values = _native.forest_grow_vectors(
                forest_config, codes, encoding.native(), self.targets.native,
                self.sampler.native(), code_values, engine.threads,
            )  # fmt: skip
            return MultiOutputForest(
                **arrays, origins=origins, schema=schema, n_grown=numbers.stop,
                weight_unit=np.full(len(numbers), scale.weight_unit),
                samples=pairs_of(n_rows, np.full(len(numbers), fingerprint)), n_classes=0,
                leaf_values=leaf_values, output_classes=self.targets.output_classes,
            )  # fmt: skip

        return grow


def check_forest_options(model: Any) -> None:
    """Raise `ParameterError` for options that forests of several targets do not have."""
    for name, unset in _SINGLE_OUTPUT.items():
        value = getattr(model, name, unset)
        if value != unset:
            raise ParameterError(
                f"{name}={value!r} requires one target, got a y with several columns: set "
                f"{name}={unset!r}, or fit a model for each column."
            )
    if isinstance(weight := getattr(model, "class_weight", None), str) and weight != "balanced":
        raise ParameterError(
            f"class_weight={weight!r} requires one target, got a y with several columns: set "
            "class_weight='balanced', or fit a model for each column."
        )


def with_known_classes(outputs: MultiOutputRows, classes: list[Array] | None) -> MultiOutputRows:
    """Return rows whose class indices are those of an earlier fit."""
    if classes is None:
        return outputs
    targets = []
    for target, own in zip(outputs.targets, classes, strict=True):
        assert target.classes is not None
        targets.append(Target(class_indices(target.classes, own)[target.values], own))
    return replace(outputs, targets=targets)


def check_same_outputs(previous: Forest, n_outputs: int) -> None:
    """Raise ValueError for a warm start with another number of targets."""
    if previous.n_outputs != n_outputs:
        raise ValueError(
            f"warm_start=True requires the targets of the existing trees, {previous.n_outputs}, "
            f"got {n_outputs}: set warm_start=False."
        )


def out_of_bag_vectors(
    forest: MultiOutputForest, sample: MultiOutputSample, threads: int
) -> tuple[Array, Array]:
    """Return the mean vector of each row over the trees whose sample lacks it, and their number.

    Rows without such a tree have NaN. Raise ValueError if no tree was grown from the rows.
    """
    n_rows, table = len(sample.rows), sample.rows.table
    sums, n_trees = np.zeros((n_rows, forest.leaf_values.shape[1])), np.zeros(n_rows, np.int64)
    sampled = np.flatnonzero(trees_of_sample(forest, sample))
    for start in range(0, len(sampled), _OOB_TREES):
        numbers = sampled[start : start + _OOB_TREES]
        trees = forest.select_trees(np.isin(np.arange(forest.n_trees), numbers))
        is_out = np.array([sample.sampler.counts(int(seed)) == 0 for seed in trees.tree_seeds])
        n_trees += is_out.sum(axis=0)
        for first in range(0, n_rows, _OOB_ROWS):
            block = np.arange(first, min(first + _OOB_ROWS, n_rows))
            leaves = trees.apply(table.take(block), threads)
            for t in range(len(numbers)):
                out = is_out[t, block]
                nodes = trees.tree_offsets[t] + leaves[out, t]
                sums[block[out]] += trees.leaf_values[trees.leaf_row[nodes]]
    mean = np.full(sums.shape, np.nan)
    np.divide(sums, n_trees[:, None], out=mean, where=n_trees[:, None] > 0)
    return mean, n_trees


def decision_function_of(mean: Array, output_classes: Array) -> Array:
    """Return probabilities as scikit-learn does: (n_rows, n_classes, n_outputs)."""
    return np.stack(split_outputs(mean, output_classes), axis=2)


def check_equal_classes(output_classes: Array) -> None:
    """Raise ValueError for outputs of different numbers of classes, as scikit-learn."""
    if (output_classes != output_classes[0]).any():
        raise ValueError(
            "The type of target cannot be used to compute OOB estimates: all outputs must have the "
            f"same number of classes, got {output_classes.tolist()}. Set oob_score=False."
        )


def same_classes(one: Any, other: Any) -> bool:
    """Return whether two classifiers have the same classes, in every output."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(np.array_equal, one, other))
    return np.array_equal(one, other)
