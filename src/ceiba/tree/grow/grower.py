"""Grow a tree on any engine: encode the values, sum the nodes of each depth, finish in memory.

    encoding = bins of a keyed sample            (or ranks of all values, in memory)
    while the rows of open nodes are too many to gather:
        sums  = engine.reduce(rows, DepthSums.of, ...)      # one pass per depth
        state = solve(sums)                                 # splits, and new open nodes
    rest = engine.reduce(rows, OpenRows.of, ...)            # the remaining rows fit in memory
    tree = grow(rest)

In memory all rows are gathered at once. Sums are integers and the same kernels choose the splits,
so a binned tree is the same on every engine.

Shafer, Agrawal & Mehta (1996), "SPRINT: a scalable parallel classifier for data mining", VLDB.
Ke et al. (2017), "LightGBM: a highly efficient gradient boosting decision tree", NeurIPS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.base import Trace
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.stats.labeled import LabeledRows
from ceiba.tree.config import GrowthConfig, TreeConfig
from ceiba.tree.explain.conditions import branch_text, branch_values
from ceiba.tree.grow.encoding import CodeValues, ColumnEncoding, draw_sample
from ceiba.tree.grow.statistics import DepthSums, GrowthState, OpenRows
from ceiba.tree.grow.targets import GrowthInputs, TargetArrays
from ceiba.tree.grow.thresholds import add_bin_candidates, add_rank_candidates, snap_to_values
from ceiba.tree.model.tree import Tree

# Rows from which the edges of bins are computed: one of 255 bins then has 257 of them on average,
# so its fraction of all rows is known to some six percent.
SAMPLE_ROWS = 65_536
# Rows of open nodes are gathered when their codes and targets take no more than this.
GATHER_BYTES = 256_000_000
# Sums of the nodes of one pass take no more than this, unless one node alone takes more.
SUMS_BYTES = 256_000_000
_TARGET_BYTES = 36


def encode_columns(
    engine: Engine, rows: LabeledRows, config: TreeConfig, seed: int
) -> tuple[ColumnEncoding, Array]:
    """Encode the columns of rows in memory by ranks, or by bins with ``max_bins``.

    Returns
    -------
    encoding : ColumnEncoding
        With what the search for ``config.thresholds`` needs.
    codes : ndarray of shape (n_columns, n_rows)
    """
    table, threads = rows.table, engine.threads
    if config.max_bins is not None:
        encoding = bin_columns(engine, engine.prepared_rows(rows), len(rows), config, seed)
        return encoding, encoding.encode(table, threads)
    encoding, codes = ColumnEncoding.of_ranks(table, threads)
    if not config.all_thresholds:
        encoding = add_rank_candidates(encoding, config, seed, codes, table, rows.weight)
    return encoding, codes


def bin_columns(
    engine: Engine, rows: Any, n_rows: int, config: TreeConfig, seed: int
) -> ColumnEncoding:
    """Return the bins of the columns of labeled rows on any engine, from a sample."""
    assert config.max_bins is not None
    sample = draw_sample(engine, rows, n_rows, SAMPLE_ROWS, seed)
    encoding = ColumnEncoding.of_bins(sample, config.max_bins, engine.threads)
    if config.all_thresholds:
        return encoding
    return add_bin_candidates(encoding, config, seed, sample)


@dataclass(frozen=True, slots=True, eq=False)
class GrowthResult:
    """A grown tree, with the candidates of its nodes if these were kept.

    ``values`` are those of the threshold codes, ``state_nodes`` the number of each node in the
    growth state. ``candidates``, of shape (n_nodes, n_columns), are the gain (-1 for none) and the
    threshold code of each column's best split.
    """

    tree: Tree
    values: CodeValues
    state_nodes: Array
    candidates: tuple[Array, Array] | None = None

    def trace(self) -> Trace:
        """Return one frame per split, with the best candidate of each column.

        A frame holds ``node``, ``children``, ``column``, ``name``, ``split`` (its first condition),
        ``n_rows``, ``impurity``, ``gain``, ``ties``, ``method``, ``runner_up`` (name, or None) and
        ``runner_up_gain``, and for every column ``candidate_gain``, by which the columns were
        compared (for gain_ratio the ratio; -1 without a split, NaN if the column was not drawn),
        and ``candidate_threshold`` (the largest value that goes left, or the edge of its bin; NaN
        for nominal columns). At most 1000 frames and 64 MB are kept; see `ceiba.base.Trace`.
        """
        trace = Trace()
        assert self.candidates is not None
        for number, node in enumerate(self.tree.inner_nodes.tolist(), start=1):
            gains, codes = (array[node] for array in self.candidates)
            thresholds = self._candidate_thresholds(codes, gains)
            candidates = {"candidate_gain": gains, "candidate_threshold": thresholds}
            trace.record(number, self._frame(node) | candidates)
        return trace

    def _frame(self, node: int) -> dict[str, Any]:
        tree, split = self.tree, self.tree.split(node)
        first, other = branch_values(split, 0, tree.missing), int(tree.runner_up_column[node])
        return {
            "node": node,
            "children": np.array(tree.children(node)),
            "column": split.column,
            "name": split.name,
            "split": branch_text(split, 0, tree.schema[split.column], first),
            "n_rows": int(tree.n_rows[node]),
            "impurity": float(tree.impurity[node]),
            "gain": float(tree.gain[node]),
            "ties": int(tree.ties[node]),
            "method": split.method,
            "runner_up": None if other < 0 else tree.schema[other].name,
            "runner_up_gain": float(tree.runner_up_gain[node]),
        }

    def _candidate_thresholds(self, codes: Array, gains: Array) -> Array:
        columns, thresholds = self.tree.columns, codes.astype(np.float64)
        for j, kind in enumerate(columns.types):
            if gains[j] < 0 or kind == ColumnType.NOMINAL:
                thresholds[j] = np.nan
            elif kind != ColumnType.ORDINAL:
                thresholds[j] = self.values.value(columns, j, int(codes[j]))
        return thresholds


@dataclass(frozen=True, slots=True, eq=False)
class TreeGrower:
    """Grow one tree from labeled rows of an engine, numbered globally.

    ``growth`` are ``config`` and ``inputs`` as the kernels take them.
    """

    engine: Engine
    rows: Any
    config: TreeConfig
    inputs: GrowthInputs
    growth: GrowthConfig

    @classmethod
    def of(cls, engine: Engine, rows: Any, config: TreeConfig, inputs: GrowthInputs) -> TreeGrower:
        """Return a grower for labeled rows of an engine."""
        return cls(engine, rows, config, inputs, GrowthConfig.of(config, inputs))

    @property
    def _sums_ranks(self) -> bool:
        """Whether targets are ranks, as absolute error needs them."""
        return self.config.criterion == "absolute_error"

    def grow_exact(self) -> GrowthResult:
        """Grow a tree whose thresholds lie between any two neighboring values, in memory."""
        labeled = self.rows.table()
        encoding, codes = encode_columns(self.engine, labeled, self.config, self.inputs.seed)
        state = self.grow_encoded(encoding, codes, self.targets(labeled))
        result = self.pack(encoding, state, labeled.table, codes)
        if self.config.thresholds == "value":
            return replace(result, tree=snap_to_values(result.tree, labeled.table))
        return result

    def grow_binned(self, passes: Callable[[], Iterable[Any]]) -> GrowthResult:
        """Grow a tree whose thresholds are bin edges; ``passes`` reports the passes."""
        n_rows, seed = self.inputs.n_rows, self.inputs.seed
        encoding = bin_columns(self.engine, self.rows, n_rows, self.config, seed)
        state: GrowthState | None = None
        if not self.engine.in_memory:
            state = self._grow_depths(encoding, passes)
            if state is not None and not len(state.open_nodes()):
                return self._pack(encoding, state, encoding.edges)
        rest = self.engine.reduce(
            self.rows, OpenRows.of, encoding, self.inputs.scale, self.growth, state,
            self._sums_ranks,
        )  # fmt: skip
        codes, targets, nodes = rest.concatenate()
        state = self.grow_encoded(encoding, codes, targets, state, nodes)
        return self._pack(encoding, state, encoding.edges)

    def targets(self, labeled: Any) -> TargetArrays:
        """Return the targets of labeled rows, as the kernels take them."""
        return self.inputs.scale.targets(labeled, ranks=self._sums_ranks)

    def _grow_depths(
        self, encoding: ColumnEncoding, passes: Callable[[], Iterable[Any]]
    ) -> GrowthState | None:
        """Grow depth by depth until no node is open or the rows of open nodes fit in memory."""
        state: GrowthState | None = None
        row_bytes = len(encoding.n_codes) * 4 + _TARGET_BYTES
        node_bytes = 8 * encoding.total_codes * self.growth.cell_size
        nodes_per_pass = max(1, SUMS_BYTES // node_bytes)
        for iteration in passes():
            nodes = np.zeros(1, np.int32) if state is None else state.open_nodes()
            n_rows = self.inputs.n_rows if state is None else state.n_rows(nodes, self.growth)
            iteration.record(nodes=len(nodes), rows=n_rows)
            if n_rows * row_bytes <= GATHER_BYTES:
                break
            for first in range(0, len(nodes), nodes_per_pass):
                part = nodes[first : first + nodes_per_pass]
                sums = self.engine.reduce(
                    self.rows, DepthSums.of, encoding, self.inputs.scale, self.growth, state, part
                )
                state = self.solve(encoding, state, part, sums)
        return state

    def solve(
        self, encoding: ColumnEncoding, state: GrowthState | None, nodes: Array, sums: DepthSums
    ) -> GrowthState:
        """Return the state after some nodes are split by their sums."""
        solved = _native.tree_solve_depth(
            self.growth.native, encoding.native(), state, nodes, sums.native()
        )
        return GrowthState(*solved)

    def grow_encoded(
        self,
        encoding: ColumnEncoding,
        codes: Array,
        targets: TargetArrays,
        state: GrowthState | None = None,
        nodes: Array | None = None,
        presorted: _native.PresortedRows | None = None,
    ) -> GrowthState:
        """Grow a tree on encoded rows, with codes of shape (n_columns, n_rows), to the end.

        It continues a partly grown tree if ``state`` and the node of every row in it are given.
        ``presorted`` are the rows sorted by each column, if known: `_native.tree_presort`.
        """
        grown = _native.tree_grow(
            self.growth.native, codes, encoding.native(),
            self._with_plain_weights(targets).native(), state, nodes, self.engine.threads,
            presorted,
        )  # fmt: skip
        return GrowthState(*grown)

    def _with_plain_weights(self, targets: TargetArrays) -> TargetArrays:
        """Add the weights without cost factors, which missing values and surrogates need."""
        factors = self.inputs.cost_factors
        if factors is None or self.config.missing_routing == "branch":
            return targets
        assert targets.weight is not None
        plain = np.rint(targets.weight / factors[targets.label]).astype(np.int64)
        return replace(targets, weight_without_costs=np.maximum(plain, 1))

    def pack(
        self, encoding: ColumnEncoding, state: GrowthState, table: Table, codes: Array
    ) -> GrowthResult:
        """Return the grown tree; if codes are ranks, thresholds are looked up in the table."""
        if encoding.edges is not None:
            return self._pack(encoding, state, encoding.edges)
        columns, threshold_codes = _native.tree_threshold_codes(
            self.growth.native, encoding.native(), state
        )
        kept = state.gains >= 0
        n_columns = len(encoding.n_codes)
        column_of = np.tile(np.arange(n_columns), len(kept) // n_columns)[kept]
        values = encoding.look_up(
            table, codes, np.concatenate([columns, column_of]),
            np.concatenate([threshold_codes, state.threshold_codes[kept]]), self.engine.threads,
        )  # fmt: skip
        return self._pack(encoding, state, values)

    def _pack(
        self, encoding: ColumnEncoding, state: GrowthState, values: CodeValues | None
    ) -> GrowthResult:
        assert values is not None
        scale = self.inputs.scale
        arrays = _native.tree_pack(self.growth.native, state, values.native(encoding.columns))
        order = arrays.pop("order")
        arrays["leaves"] = arrays["leaves"] * scale.weight_unit
        arrays["node_values"] = arrays.pop("value")
        if scale.weight_shift:
            # The kernels use weights relative to the largest, so that squares of targets fit.
            arrays["weight"] = np.ldexp(arrays["weight"], scale.weight_shift)
            if scale.classes is not None:
                arrays["node_values"] = np.ldexp(arrays["node_values"], scale.weight_shift)
        tree = Tree(schema=self.inputs.schema, missing=self.config.missing_routing, **arrays)
        if not self.config.trace:
            return GrowthResult(tree, values, order)
        shape = (-1, len(self.inputs.schema))
        gains, codes = state.gains.reshape(shape), state.threshold_codes.reshape(shape)
        return GrowthResult(tree, values, order, (gains[order], codes[order]))
