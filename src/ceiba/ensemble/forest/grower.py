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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.engine import Engine
from ceiba.ensemble.common.rows import table_arrays
from ceiba.ensemble.common.sampling import RowSampler, are_integer_weights, tree_seeds
from ceiba.ensemble.forest.model import Forest
from ceiba.stats import LabeledRows, TargetSummary
from ceiba.tree.class_weight import class_weight_factors
from ceiba.tree.config import GrowthConfig, TreeConfig
from ceiba.tree.grow.encoding import CodeValues, ColumnEncoding, RowSample
from ceiba.tree.grow.grower import SAMPLE_ROWS
from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs, TargetArrays
from ceiba.tree.grow.thresholds import add_bin_candidates, add_rank_candidates


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSample:
    """Rows of a fit, the sampler of the trees' rows, and the targets."""

    weighted_rows: LabeledRows  # rows with their weights
    # Rows with the weights that the targets have; without weights where these are counts.
    rows: LabeledRows
    sampler: RowSampler
    scale: FixedPointScale
    targets: TargetArrays  # targets of rows that are drawn once
    balanced_unit: float  # the weight unit, if every tree balances its classes; else 0

    @classmethod
    def of(
        cls, rows: LabeledRows, summary: TargetSummary, sampler: RowSampler, criterion: str,
        class_weight: Any, *, fractional: bool = False,
    ) -> TrainingSample:  # fmt: skip
        """Prepare labeled rows of positive weight; ``fractional`` as in `FixedPointScale.of`."""
        balanced, factors = class_weight == "balanced_subsample", None
        if class_weight is not None and not balanced:
            factors = class_weight_factors(class_weight, summary)
        weighted_rows = rows
        rows, summary, sampler = rows_as_drawn(rows, summary, sampler)
        if balanced:
            assert summary.classes is not None
            # No class weight exceeds the number of all rows drawn.
            factors = np.full(len(summary.classes), float(summary.n_rows) + 0.5)
        scale = FixedPointScale.of(
            summary, factors, squares=criterion in ("squared_error", "poisson"),
            fractional=fractional, poisson=criterion == "poisson",
        )  # fmt: skip
        targets = scale.targets(rows, ranks=criterion == "absolute_error")
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
        return sample_fingerprint(self.sampler, self.weighted_rows)

    @property
    def varies(self) -> bool:
        """Whether the target differs between rows."""
        return bool(np.ptp(self.rows.target.values) > 0)

    def fitted_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a classifier's target."""
        classes, weights = self.scale.classes, self.scale.class_weights
        if classes is None:
            return {}
        attributes: dict[str, Any] = {"classes_": classes, "n_classes_": len(classes)}
        if weights is not None and not self.balanced_unit:
            attributes["class_weight_"] = weights
        return attributes

    def tree_grower(
        self, config: TreeConfig, seed: int, columns_per_tree: int, engine: Engine
    ) -> Callable[[range], Forest]:
        """Encode the table, and return a function that grows the trees of some numbers."""
        return tree_grower(self, config, seed, columns_per_tree, engine)


def sample_fingerprint(sampler: RowSampler, rows: LabeledRows) -> int:
    """Return the CRC-32 of table, target, weights and sampler."""
    values = [sampler.n_draws, sampler.replace, sampler.all_rows]
    values += [] if rows.target.classes is None else rows.target.classes.tolist()
    crc = zlib.crc32(repr(values).encode())
    for array in [rows.weight, rows.target.values, *table_arrays(rows.table)]:
        if array is not None:
            crc = zlib.crc32(np.ascontiguousarray(array).data.cast("B"), crc)
    return crc


def rows_as_drawn(
    rows: LabeledRows, summary: TargetSummary, sampler: RowSampler
) -> tuple[LabeledRows, TargetSummary, RowSampler]:
    """Return rows with the weights that their targets have, and how they are summed and drawn."""
    if sampler.replace or rows.weight is None or are_integer_weights(rows.weight):
        # Rows are counted: a row drawn once has weight 1.
        n_counted = max(sampler.n_draws if sampler.replace else _total(sampler), sampler.n_rows)
        counted = replace(
            summary, rows=(n_counted,), weight_min=1.0, weight_max=1.0, integer_weights=True
        )
        return replace(rows, weight=None), counted, sampler
    # Fractional weights are part of the targets, and every row is drawn at most once.
    return rows, summary, replace(sampler, weights=None)


def _total(sampler: RowSampler) -> int:
    return sampler.n_rows if sampler.weights is None else int(sampler.weights.sum())


def tree_grower(
    sample: TrainingSample, config: TreeConfig, seed: int, columns_per_tree: int, engine: Engine
) -> Callable[[range], Forest]:
    """Encode the table, and return a function that grows the trees of some numbers.

    ``columns_per_tree`` is 0 for all columns.
    """
    encoding, codes, values = encode_table(sample, config, seed, engine)
    schema, scale, n_rows = sample.rows.table.schema, sample.scale, sample.sampler.n_rows
    # min_weight_fraction_leaf refers to the weight of each tree's own sample, which only the
    # kernel computes; the total weight is 0 here.
    inputs = GrowthInputs(schema, n_rows, 0, scale, seed)
    growth = GrowthConfig.of(config, inputs, weighted=True).native
    code_values = values.native(encoding.columns, all_values=config.max_bins is None)
    targets = sample.targets
    if not growth.category_correction:
        targets = replace(targets, weighted_square=None)  # impurities of nodes are not needed
    fingerprint = sample.fingerprint

    def grow(numbers: range) -> Forest:
        origins = pairs_of(seed, np.array(numbers))
        forest_config = _native.ForestConfig(
            tree=growth, seeds=tree_seeds(origins), columns_per_tree=columns_per_tree,
            min_weight_fraction=float(config.min_weight_fraction_leaf),
            balanced_unit=sample.balanced_unit,
        )  # fmt: skip
        arrays = _native.forest_grow(
            forest_config, codes, encoding.native(), targets.native(), sample.sampler.native(),
            code_values, engine.threads,
        )  # fmt: skip
        return Forest(
            **arrays, origins=origins, schema=schema, n_grown=numbers.stop,
            weight_unit=np.full(len(numbers), scale.weight_unit),
            samples=pairs_of(n_rows, np.full(len(numbers), fingerprint)),
            n_classes=0 if scale.classes is None else len(scale.classes),
        )  # fmt: skip

    return grow


def pairs_of(first: int, second: Array) -> Array:
    """Return pairs of one number and each of others."""
    pairs = np.empty((len(second), 2), np.uint64)
    pairs[:, 0], pairs[:, 1] = first, second
    return pairs


def encode_table(
    sample: Any, config: TreeConfig, seed: int, engine: Engine
) -> tuple[ColumnEncoding, Array, CodeValues]:
    """Return the column encoding, the codes of the table, and their values."""
    table, threads = sample.rows.table, engine.threads
    if config.max_bins is None:
        encoding, codes = ColumnEncoding.of_ranks(table, threads)
        values = encoding.all_values(table, codes, threads)
        if not config.all_thresholds:
            encoding = add_rank_candidates(encoding, config, seed, codes, table, None)
        return encoding, codes, values
    rows = engine.prepared_rows(sample.weighted_rows)
    row_sample = engine.reduce(rows, RowSample.of, SAMPLE_ROWS, seed)
    encoding = ColumnEncoding.of_bins(row_sample, config.max_bins, threads)
    codes, edges = encoding.encode(table, threads), encoding.edges
    assert edges is not None
    if not config.all_thresholds:
        encoding = add_bin_candidates(encoding, config, seed, row_sample)
    return encoding, codes, edges
