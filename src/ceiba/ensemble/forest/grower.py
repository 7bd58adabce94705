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
from ceiba.tree.grow.grower import encode_columns
from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs, TargetArrays


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """The codes of a table, of shape (n_columns, n_rows), and the values that they stand for."""

    codes: Array
    encoding: _native.ColumnEncoding
    values: _native.CodeValues

    @classmethod
    def of(cls, rows: LabeledRows, config: TreeConfig, seed: int, engine: Engine) -> EncodedTable:
        """Encode the table of rows by ranks or bins."""
        encoding, codes = encode_columns(engine, rows, config, seed)
        values, is_ranked = encoding.edges, encoding.edges is None
        if values is None:
            values = encoding.all_values(rows.table, codes, engine.threads)
        native = values.native(encoding.columns, all_values=is_ranked)
        return cls(codes, encoding.native(), native)


@dataclass(frozen=True, slots=True, eq=False)
class ForestSample:
    """Rows of a fit and the sampler of the trees' rows; subclasses add their targets.

    Parameters
    ----------
    weighted_rows : LabeledRows
        Rows with their weights.
    rows : LabeledRows
        Rows with the weights that the targets have; without weights where these are counts.
    sampler : RowSampler
    scale : FixedPointScale
        Scale of the weights and targets.
    balanced_unit : float
        The weight unit, if every tree balances its classes; else 0.
    """

    weighted_rows: LabeledRows
    rows: LabeledRows
    sampler: RowSampler
    scale: FixedPointScale
    balanced_unit: float

    @property
    def fingerprint(self) -> int:
        """CRC-32 of table, targets, weights and sampler."""
        return sample_fingerprint(self.sampler, self.weighted_rows)

    @property
    def varies(self) -> bool:
        """Whether some target differs between rows."""
        raise NotImplementedError

    def fitted_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a classifier's targets."""
        raise NotImplementedError

    def _growth(self, config: TreeConfig, inputs: GrowthInputs) -> _native.TreeConfig:
        """Return the configuration of the trees as the kernels take it."""
        raise NotImplementedError

    def _grow_trees(
        self, forest_config: _native.ForestConfig, growth: _native.TreeConfig,
        encoded: EncodedTable, threads: int, parts: dict[str, Any],
    ) -> Forest:  # fmt: skip
        """Return the forest with a tree for each seed; ``parts`` are its other fields."""
        raise NotImplementedError

    def tree_grower(
        self, config: TreeConfig, seed: int, columns_per_tree: int, engine: Engine
    ) -> Callable[[range], Forest]:
        """Encode the table, and return a function that grows the trees of some numbers.

        ``columns_per_tree`` is 0 for all columns.
        """
        encoded = EncodedTable.of(self.weighted_rows, config, seed, engine)
        schema, scale, n_rows = self.rows.table.schema, self.scale, self.sampler.n_rows
        # min_weight_fraction_leaf refers to the weight of each tree's own sample, which only the
        # kernel computes; the total weight is 0 here.
        growth = self._growth(config, GrowthInputs(schema, n_rows, 0, scale, seed))
        fingerprint = self.fingerprint

        def grow(numbers: range) -> Forest:
            origins = pairs_of(seed, np.array(numbers))
            forest_config = _native.ForestConfig(
                tree=growth, seeds=tree_seeds(origins), columns_per_tree=columns_per_tree,
                min_weight_fraction=float(config.min_weight_fraction_leaf),
                balanced_unit=self.balanced_unit,
            )  # fmt: skip
            parts = {
                "origins": origins,
                "schema": schema,
                "n_grown": numbers.stop,
                "weight_unit": np.full(len(numbers), scale.weight_unit),
                "training_keys": pairs_of(n_rows, np.full(len(numbers), fingerprint)),
            }
            return self._grow_trees(forest_config, growth, encoded, engine.threads, parts)

        return grow


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSample(ForestSample):
    """Rows of a fit, the sampler of the trees' rows, and the targets of rows drawn once."""

    targets: TargetArrays

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
        return cls(weighted_rows, rows, sampler, scale, balanced_unit, targets)

    @property
    def row_weight(self) -> Array | None:
        """Weight of a row drawn once, class weights included; None for 1 each."""
        if self.targets.weight is None:
            return None
        return np.asarray(self.targets.weight * self.scale.weight_unit)

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

    def _growth(self, config: TreeConfig, inputs: GrowthInputs) -> _native.TreeConfig:
        return GrowthConfig.of(config, inputs, weighted=True).native

    def _grow_trees(
        self, forest_config: _native.ForestConfig, growth: _native.TreeConfig,
        encoded: EncodedTable, threads: int, parts: dict[str, Any],
    ) -> Forest:  # fmt: skip
        targets, classes = self.targets, self.scale.classes
        if targets.weighted_square is not None and not growth.category_correction:
            targets = replace(targets, weighted_square=None)  # impurities of nodes are not needed
        arrays = _native.forest_grow(
            forest_config, encoded.codes, encoded.encoding, targets.native(),
            self.sampler.native(), encoded.values, threads,
        )  # fmt: skip
        return Forest(**arrays, **parts, n_classes=0 if classes is None else len(classes))


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


def pairs_of(first: int, second: Array) -> Array:
    """Return pairs of one number and each of others."""
    pairs = np.empty((len(second), 2), np.uint64)
    pairs[:, 0], pairs[:, 1] = first, second
    return pairs
