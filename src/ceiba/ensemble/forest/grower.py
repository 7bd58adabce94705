"""Growing a forest: code the table once, then every tree by itself.

    coding = ranks of all values, or bins of a keyed sample
    for tree in trees:                                  # natively, a thread a tree
        bag = draws keyed by (seed of the tree, number of the draw)
        tree = grow(bag), its columns drawn by (seed of the tree, path of the node)

Breiman (2001), "Random forests", Machine Learning 45. Geurts, Ernst & Wehenkel (2006), "Extremely
randomized trees", Machine Learning 63.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.engine import Engine
from ceiba.ensemble.common.sampling import Sampling, counts_rows, tree_seeds
from ceiba.ensemble.forest.model import Forest
from ceiba.stats import Labelled, TargetSurvey
from ceiba.tree.grow.config import Ground, columns_a_node, tree_rules
from ceiba.tree.grow.encoding import ORDINAL, Coding, RowSample, Scale, column_arrays
from ceiba.tree.grow.grower import SAMPLE_ROWS
from ceiba.tree.grow.statistics import TreeRules
from ceiba.tree.grow.targets import FixedPoint, TargetArrays
from ceiba.tree.grow.thresholds import CutRule, binned_worth, exact_worth
from ceiba.tree.presets import options_of


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """What the trees of a fit are grown from: rows, draws, targets of a row that is drawn once."""

    given: Labelled  # with the weights of the rows
    rows: Labelled
    sampling: Sampling
    fixed: FixedPoint
    targets: TargetArrays
    balanced: float  # the weight of one, where every tree balances its classes; else 0

    @classmethod
    def of(
        cls,
        rows: Labelled,
        survey: TargetSurvey,
        member: Any,
        max_samples: float | None,
        bootstrap: bool,
        class_weights: Array | None,
        balanced: bool,
    ) -> Bags:
        """From labelled rows of positive weight."""
        given = rows
        sampling = Sampling.of(len(rows), rows.weight, max_samples, bootstrap)
        criterion = options_of(member).criterion
        if bootstrap or rows.weight is None or counts_rows(rows.weight):
            # Rows are counted: one that is drawn once weighs 1.
            counted = max(sampling.draws if bootstrap else _total(sampling), len(rows))
            survey = replace(
                survey, rows=(counted,), weight_least=1.0, weight_most=1.0, whole_weights=True
            )
            rows = replace(rows, weight=None)
        else:
            # Weights that are no counts are in the targets, and every row is there once.
            sampling = replace(sampling, weights=None)
        factors = class_weights
        if balanced:
            assert survey.classes is not None
            # No class is weighted more than by the number of all rows drawn.
            factors = np.full(len(survey.classes), float(survey.n_rows) + 0.5)
        fixed = FixedPoint.of(
            survey, factors,
            squares=criterion in ("squared_error", "poisson"), poisson=criterion == "poisson",
        )  # fmt: skip
        targets = fixed.targets(rows, ranks=criterion == "absolute_error")
        targets = replace(targets, square=None)
        unit = 0.0
        if balanced:
            targets, unit = replace(targets, weight=None), fixed.weight_unit
        return cls(given, rows, sampling, fixed, targets, unit)

    @property
    def row_weight(self) -> Array | None:
        """Weight of a row that is drawn once, class weights included; None: 1 each."""
        if self.targets.weight is None:
            return None
        return np.asarray(self.targets.weight * self.fixed.weight_unit)

    @property
    def mark(self) -> int:
        """A number that tells tables, targets and draws apart."""
        sampling = self.sampling
        classes = self.given.target.classes
        told = [sampling.draws, sampling.replace, sampling.every]
        told += [] if classes is None else classes.tolist()
        mark = zlib.crc32(repr(told).encode())
        arrays = [self.given.weight, self.given.target.values]
        table = self.given.table
        if table.block is not None:
            arrays.append(table.block)
        else:
            for j in range(len(table.schema)):
                arrays += [table.column(j), table.gaps(j)]
        for array in arrays:
            if array is not None:
                mark = zlib.crc32(np.ascontiguousarray(array).data.cast("B"), mark)
        return mark


def _total(sampling: Sampling) -> int:
    return sampling.n_rows if sampling.weights is None else int(sampling.weights.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ForestGrower:
    """Grows trees: what is known before the first."""

    engine: Engine
    batch: Any  # the rows as they came, whose sample tells the edges of bins
    bags: Bags
    member: Any  # the decision tree that every tree is one of
    schema: Any
    seed: int
    max_features: Any
    features_per: str
    tree_features: Any

    def grow(self, first: int, last: int) -> Forest:
        """Trees number ``first`` to ``last`` - 1."""
        coding, codes, scale = self._coded()
        bags, fixed, columns = self.bags, self.bags.fixed, coding.columns
        origins = np.empty((last - first, 2), np.uint64)
        origins[:, 0], origins[:, 1] = self.seed, np.arange(first, last)
        seeds = tree_seeds(origins)
        arrays = _native.forest_grow(
            self._rules().native(), codes, coding.native(), bags.targets.native(),
            bags.sampling.native(), seeds, self._columns_a_tree(),
            float(self.member.min_weight_fraction_leaf), bags.balanced,
            columns.types, columns.levels, scale.bits, scale.offsets, self.member.max_bins is None,
            self.engine.threads,
        )  # fmt: skip
        n_classes = 0 if fixed.classes is None else len(fixed.classes)
        keys = np.empty((len(seeds), 3), np.uint64)
        keys[:, 0], keys[:, 1], keys[:, 2] = seeds, len(bags.rows), bags.mark
        return Forest(
            **arrays, keys=keys, schema=self.schema, n_classes=n_classes, grown=last,
            weight_unit=np.full(len(seeds), fixed.weight_unit), origins=origins,
        )  # fmt: skip

    def _columns_a_tree(self) -> int:
        """Columns that a tree draws; 0 for all."""
        if self.features_per == "node":
            return 0
        asked = self.max_features if self.features_per == "tree" else self.tree_features
        return columns_a_node(asked, len(self.schema))

    def _rules(self) -> TreeRules:
        options, bags = options_of(self.member), self.bags
        # A share of the whole weight is one of the weight of a tree's own bag: told natively.
        ground = Ground(self.schema, len(bags.rows), 0, bags.fixed, self._cuts())
        rules = tree_rules(self.member, options, ground)
        return TreeRules({**rules.settings, "weighted": True})

    def _cuts(self) -> CutRule:
        options = options_of(self.member)
        return CutRule(options.thresholds, "node", self.member.n_thresholds, self.seed)

    def _coded(self) -> tuple[Coding, Array, Scale]:
        """Codes of the table, and the values or edges behind them."""
        table, threads, cuts = self.bags.rows.table, self.engine.threads, self._cuts()
        if self.member.max_bins is None:
            coding, codes = Coding.exact(table, threads)
            arrays, gaps = column_arrays(table, coding.columns)
            scale = every_value(coding, arrays, gaps, codes, threads)
            if not cuts.every:
                coding = cuts.told(coding, exact_worth(coding, codes, arrays), arrays, gaps, None)
            return coding, codes, scale
        sample = self.engine.reduce(self.batch, RowSample.of, SAMPLE_ROWS, self.seed)
        coding = Coding.of_bins(sample, self.member.max_bins, threads)
        codes = coding.codes(table, threads)
        assert coding.edges is not None
        scale = coding.edges
        if not cuts.every:
            coding = cuts.told(coding, binned_worth(coding), sample.arrays, sample.gaps, None)
        return coding, codes, scale


def every_value(
    coding: Coding, arrays: list[Array], gaps: list[Any], codes: Array, threads: int
) -> Scale:
    """The values of all codes: the trees of a forest cut at most of them."""
    columns = coding.columns
    numeric = np.array(columns.types) < ORDINAL
    sizes = np.where(numeric, coding.n_codes, 0)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    wanted = np.concatenate([np.arange(size, dtype=np.uint32) for size in sizes])
    bits = _native.tree_values(
        arrays, gaps, columns.types, columns.levels, codes, wanted, offsets, threads
    )
    return Scale(np.asarray(bits), offsets)
