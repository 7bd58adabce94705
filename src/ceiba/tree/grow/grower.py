"""Growing a tree on any engine: code the values, grow levels from sums, finish in memory.

    coding = bins of a keyed sample              (or ranks of all values, in memory)
    while the open rows are too many to hold:
        sums  = engine.reduce(rows, LevelSums.of, ...)      # one pass a level
        state = solve(sums)                                 # splits, and new open nodes
    rest = engine.reduce(rows, OpenRows.of, ...)            # what is left fits here
    tree = grow(rest)

In memory everything fits at once. Sums are whole numbers and the same kernels decide the splits, so
a binned tree is the same on every engine.

Shafer, Agrawal & Mehta (1996), "SPRINT: a scalable parallel classifier for data mining", VLDB.
Ke et al. (2017), "LightGBM: a highly efficient gradient boosting decision tree", NeurIPS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.tree.grow.encoding import Coding, RowSample, Scale, column_arrays
from ceiba.tree.grow.statistics import OPEN, LevelSums, OpenRows, State, TreeRules
from ceiba.tree.grow.targets import FixedPoint, TargetArrays
from ceiba.tree.grow.thresholds import CutRule, at_values, binned_worth, exact_worth
from ceiba.tree.model.tree import Tree

# Rows that tell the edges of the bins: a bin of 255 then holds 257 of them on average, so its
# share of all rows is told to some six per cent.
SAMPLE_ROWS = 65_536
# Open rows are gathered when their codes and targets take no more than this.
GATHER_BYTES = 256_000_000
# Sums of the nodes of one pass take no more than this, unless one node alone takes more.
SUMS_BYTES = 256_000_000
_TARGET_BYTES = 36


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A finished tree, and the candidates of its nodes where they were to be kept.

    ``order`` says which node of the state that it grew from each node was. ``gains`` and ``cuts``
    have a row for each node and an entry for each column: the gain of the column's best split (-1
    for none), and the value of its cut's code.
    """

    tree: Tree
    scale: Scale
    order: Array
    gains: Array | None
    cuts: Array | None


@dataclass(frozen=True, slots=True, eq=False)
class Grower:
    """Grows one tree: what is known before its first split."""

    engine: Engine
    rows: Any
    schema: Schema
    fixed: FixedPoint
    rules: TreeRules
    n_rows: int
    ranks: bool
    cuts: CutRule
    gap_way: str
    cost_factors: Array | None = None

    def exact(self) -> Grown:
        """A tree whose thresholds lie between any two neighbouring values; in memory only."""
        table = self.rows.rows.table
        coding, codes = Coding.exact(table, self.engine.threads)
        targets = self.fixed.targets(self.rows.rows, ranks=self.ranks)
        if not self.cuts.every:
            arrays, gaps = column_arrays(table, coding.columns)
            worth = exact_worth(coding, codes, arrays)
            coding = self.cuts.told(coding, worth, arrays, gaps, targets.weight)
        state = self.finish(coding, codes, targets)
        grown = self.packed(coding, state, table, codes)
        if self.cuts.thresholds == "value":
            return replace(grown, tree=at_values(grown.tree, table))
        return grown

    def binned(self, max_bins: int, seed: int, levels: Callable[[], Iterable[Any]]) -> Grown:
        """A tree whose thresholds are edges of bins; ``levels`` counts the passes."""
        sample = self.engine.reduce(self.rows, RowSample.of, SAMPLE_ROWS, seed)
        coding = Coding.of_bins(sample, max_bins, self.engine.threads)
        if not self.cuts.every:
            worth = binned_worth(coding)
            coding = self.cuts.told(coding, worth, sample.arrays, sample.gaps, sample.weight)
        state: State | None = None
        if self.engine.name != "local":
            state = self._levels(coding, levels)
            if state is not None and not len(open_nodes(state)):
                return self._pack(coding, state, coding.edges)
        rest = self.engine.reduce(
            self.rows, OpenRows.of, coding, self.fixed, self.rules, state, self.ranks
        )
        codes, targets, places = rest.joined()
        state = self.finish(coding, codes, targets, state, places)
        return self._pack(coding, state, coding.edges)

    def _levels(self, coding: Coding, levels: Callable[[], Iterable[Any]]) -> State | None:
        """Grow level after level until the rows of open nodes can be held, or none is open."""
        state: State | None = None
        row_bytes = len(coding.n_codes) * 4 + _TARGET_BYTES
        node_bytes = 8 * coding.total_codes * self.rules.cell
        at_once = max(1, SUMS_BYTES // node_bytes)
        for step in levels():
            nodes = np.zeros(1, np.int32) if state is None else open_nodes(state)
            rows = self.n_rows if state is None else open_rows(state, nodes, self.rules)
            step.record(nodes=len(nodes), rows=rows)
            if rows * row_bytes <= GATHER_BYTES:
                break
            for first in range(0, len(nodes), at_once):
                part = nodes[first : first + at_once]
                sums = self.engine.reduce(
                    self.rows, LevelSums.of, coding, self.fixed, self.rules, state, part
                )
                state = self._solve(coding, state, part, sums)
        return state

    def _solve(self, coding: Coding, state: State | None, nodes: Array, sums: LevelSums) -> State:
        solved = _native.tree_solve_level(
            self.rules.native(),
            coding.native(),
            state,
            nodes,
            sums.cells,
            sums.squares,
            sums.least,
            sums.most,
        )
        return State(*solved)

    def finish(
        self,
        coding: Coding,
        codes: Array,
        targets: TargetArrays,
        state: State | None = None,
        places: Array | None = None,
        order: Any = None,
    ) -> State:
        """Grow coded rows to the end, from the root or from a tree begun, with each row's node.

        ``order`` of the rows in every column, where it is known already: `_native.tree_presort`.
        """
        grown = _native.tree_grow(
            self.rules.native(),
            codes,
            coding.native(),
            self._with_plain(targets).native(),
            state,
            places,
            self.engine.threads,
            order,
        )
        return State(*grown)

    def _with_plain(self, targets: TargetArrays) -> TargetArrays:
        """Where costs weigh rows, what these weigh without: gaps and surrogates ask for that."""
        if self.cost_factors is None or self.gap_way == "branch":
            return targets
        assert targets.weight is not None
        plain = np.rint(targets.weight / self.cost_factors[targets.label]).astype(np.int64)
        return replace(targets, plain=np.maximum(plain, 1))

    def packed(self, coding: Coding, state: State, table: Table, codes: Array) -> Grown:
        """The finished tree; where codes are ranks, the table tells the values of its cuts."""
        if coding.edges is not None:
            return self._pack(coding, state, coding.edges)
        columns, cuts = self._cuts_of(coding, state)
        values = coding.values(table, codes, columns, cuts, self.engine.threads)
        return self._pack(coding, state, values)

    def _cuts_of(self, coding: Coding, state: State) -> tuple[Array, Array]:
        """Columns and codes on both sides of all cuts, and of all candidates that were kept."""
        columns, codes = _native.tree_cuts(self.rules.native(), coding.native(), state)
        kept = state.gains >= 0
        n_columns = len(self.schema)
        every = np.tile(np.arange(n_columns), len(kept) // n_columns)[kept]
        return np.concatenate([columns, every]), np.concatenate([codes, state.cuts[kept]])

    def _pack(self, coding: Coding, state: State, scale: Scale | None) -> Grown:
        assert scale is not None
        columns, fixed = coding.columns, self.fixed
        arrays = _native.tree_pack(
            self.rules.native(),
            state,
            columns.types,
            columns.levels,
            scale.bits,
            scale.offsets,
            scale.codes,
        )
        order = arrays.pop("order")
        arrays["leaves"] = arrays["leaves"] * fixed.weight_unit
        if fixed.weight_shift:
            # The kernels know weights relative to the largest alone: squares of targets have room.
            arrays["weight"] = np.ldexp(arrays["weight"], fixed.weight_shift)
            if fixed.classes is not None:
                arrays["value"] = np.ldexp(arrays["value"], fixed.weight_shift)
        tree = Tree(schema=self.schema, missing=self.gap_way, **arrays)
        if not self.rules.settings["candidates"]:
            return Grown(tree, scale, order, None, None)
        shape = (-1, len(self.schema))
        gains, cuts = state.gains.reshape(shape)[order], state.cuts.reshape(shape)[order]
        return Grown(tree, scale, order, gains, cuts)


def open_nodes(state: State) -> Array:
    """Nodes that nobody has decided about."""
    reasons = _native.tree_reasons(state)
    return np.flatnonzero(reasons == OPEN).astype(np.int32)


def open_rows(state: State, nodes: Array, rules: TreeRules) -> int:
    """Rows of some nodes: the last number of a cell with weights, else the sum of its classes."""
    cells = state.cells.reshape(-1, rules.cell)[nodes]
    if rules.settings["weighted"]:
        return int(cells[:, -1].sum())
    return int(cells.sum()) if rules.settings["classes"] else int(cells[:, 0].sum())
