"""Grow a forest: encode the table once, then grow every tree by itself.

    encoding = ranks of all values, or bins of a keyed sample
    for tree in trees:                                  # natively, one thread per tree
        sample = draws keyed by (seed of the tree, number of the draw)
        tree = grow(sample), its columns drawn by (seed of the tree, path of the node)

Breiman (2001), "Random forests", Machine Learning 45. Geurts, Ernst & Wehenkel (2006), "Extremely
randomized trees", Machine Learning 63.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.ensemble.common.sampling import RowSampler, are_integer_weights, tree_seeds
from ceiba.ensemble.forest.model import Forest
from ceiba.stats import Labeled, TargetSummary
from ceiba.tree.config import GrowthConfig, TreeConfig
from ceiba.tree.grow.encoding import CodeValues, ColumnEncoding, RowSample, native_table
from ceiba.tree.grow.grower import SAMPLE_ROWS
from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs, TargetArrays
from ceiba.tree.grow.thresholds import ThresholdCandidates


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSample:
    """Rows of a fit, the sampler of the trees' rows, and the targets."""

    weighted_rows: Labeled  # rows with their weights
    # Rows with the weights that the targets have; without weights where these are counts.
    rows: Labeled
    sampler: RowSampler
    scale: FixedPointScale
    targets: TargetArrays  # targets of rows that are drawn once
    balanced_unit: float  # the weight unit, if every tree balances its classes; else 0

    @classmethod
    def of(
        cls,
        rows: Labeled,
        summary: TargetSummary,
        criterion: str,
        sampler: RowSampler,
        class_weights: Array | None,
        balanced: bool,
    ) -> TrainingSample:
        """Prepare labeled rows of positive weight."""
        weighted_rows = rows
        if sampler.replace or rows.weight is None or are_integer_weights(rows.weight):
            # Rows are counted: a row drawn once has weight 1.
            n_counted = max(sampler.n_draws if sampler.replace else _total(sampler), len(rows))
            summary = replace(
                summary, rows=(n_counted,), weight_min=1.0, weight_max=1.0, integer_weights=True
            )
            rows = replace(rows, weight=None)
        else:
            # Fractional weights are part of the targets, and every row is drawn at most once.
            sampler = replace(sampler, weights=None)
        factors = class_weights
        if balanced:
            assert summary.classes is not None
            # No class weight exceeds the number of all rows drawn.
            factors = np.full(len(summary.classes), float(summary.n_rows) + 0.5)
        scale = FixedPointScale.of(
            summary, factors,
            squares=criterion in ("squared_error", "poisson"), poisson=criterion == "poisson",
        )  # fmt: skip
        targets = scale.targets(rows, ranks=criterion == "absolute_error")
        targets = replace(targets, weighted_square=None)
        balanced_unit = 0.0
        if balanced:
            targets, balanced_unit = replace(targets, weight=None), scale.weight_unit
        return cls(weighted_rows, rows, sampler, scale, targets, balanced_unit)

    @property
    def row_weight(self) -> Array | None:
        """Weight of a row drawn once, class weights included; None for 1 each."""
        if self.targets.weight is None:
            return None
        return np.asarray(self.targets.weight * self.scale.weight_unit)

    @property
    def fingerprint(self) -> int:
        """CRC-32 of table, target, weights and sampler."""
        sampler, rows = self.sampler, self.weighted_rows
        values = [sampler.n_draws, sampler.replace, sampler.all_rows]
        values += [] if rows.target.classes is None else rows.target.classes.tolist()
        crc = zlib.crc32(repr(values).encode())
        arrays = [rows.weight, rows.target.values]
        table = rows.table
        if table.block is not None:
            arrays.append(table.block)
        else:
            for j in range(len(table.schema)):
                arrays += [table.column(j), table.missing_mask(j)]
        for array in arrays:
            if array is not None:
                crc = zlib.crc32(np.ascontiguousarray(array).data.cast("B"), crc)
        return crc


def _total(sampler: RowSampler) -> int:
    return sampler.n_rows if sampler.weights is None else int(sampler.weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ForestGrower:
    """Grow the trees of a forest."""

    engine: Engine
    rows: Any  # labeled rows of the engine, of which a sample determines the edges of bins
    sample: TrainingSample
    config: TreeConfig
    schema: Schema
    seed: int
    columns_per_tree: int  # columns drawn once per tree; 0 for all

    def grow(self, first: int, last: int) -> Forest:
        """Grow the trees numbered ``first`` to ``last`` - 1."""
        encoding, codes, values = self._encode()
        sample, scale = self.sample, self.sample.scale
        n_trees = last - first
        origins = np.empty((n_trees, 2), np.uint64)
        origins[:, 0], origins[:, 1] = self.seed, np.arange(first, last)
        # min_weight_fraction_leaf refers to the weight of each tree's own sample, which only the
        # kernel computes; the total weight is 0 here.
        inputs = GrowthInputs(self.schema, len(sample.rows), 0, scale, self.seed)
        config = _native.ForestConfig(
            tree=GrowthConfig.of(self.config, inputs, weighted=True).native,
            seeds=tree_seeds(origins),
            columns_per_tree=self.columns_per_tree,
            min_weight_fraction=float(self.config.min_weight_fraction_leaf),
            balanced_unit=sample.balanced_unit,
        )
        arrays = _native.forest_grow(
            config, codes, encoding.native(), sample.targets.native(), sample.sampler.native(),
            values.native(encoding.columns, all_values=self.config.max_bins is None),
            self.engine.threads,
        )  # fmt: skip
        samples = np.empty((n_trees, 2), np.uint64)
        samples[:, 0], samples[:, 1] = len(sample.rows), sample.fingerprint
        return Forest(
            **arrays, origins=origins, samples=samples, schema=self.schema,
            n_classes=0 if scale.classes is None else len(scale.classes), n_grown=last,
            weight_unit=np.full(n_trees, scale.weight_unit),
        )  # fmt: skip

    def _encode(self) -> tuple[ColumnEncoding, Array, CodeValues]:
        """Return the column encoding, the codes of the table, and their values."""
        table, threads = self.sample.rows.table, self.engine.threads
        candidates = None
        if not self.config.all_thresholds:
            candidates = ThresholdCandidates.of(self.config, self.seed)
        if self.config.max_bins is None:
            encoding, codes = ColumnEncoding.of_ranks(table, threads)
            values = all_code_values(encoding, table, codes, threads)
            if candidates is not None:
                encoding = candidates.for_ranks(encoding, codes, table, None)
            return encoding, codes, values
        sample = self.engine.reduce(self.rows, RowSample.of, SAMPLE_ROWS, self.seed)
        encoding = ColumnEncoding.of_bins(sample, self.config.max_bins, threads)
        codes = encoding.encode(table, threads)
        assert encoding.edges is not None
        values = encoding.edges
        if candidates is not None:
            encoding = candidates.for_bins(encoding, sample)
        return encoding, codes, values


def all_code_values(
    encoding: ColumnEncoding, table: Table, codes: Array, threads: int
) -> CodeValues:
    """Return the values of all codes: a forest has thresholds at nearly all of them."""
    columns = encoding.columns
    numeric = np.array(columns.types) < ColumnType.ORDINAL
    sizes = np.where(numeric, encoding.n_codes, 0)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    wanted = np.concatenate([np.arange(size, dtype=np.uint32) for size in sizes])
    rows = native_table(table, columns)
    bits = _native.tree_values(rows, codes, wanted, offsets, threads)
    return CodeValues(np.asarray(bits), offsets)
