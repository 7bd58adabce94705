"""Threshold candidates other than all midpoints: a grid, the mean or median, in a node or the root.

The native search applies a method at each node. This module computes what it requires of the
codes, and the thresholds of ``threshold_scope="root"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType, NodeTest
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.encoding import ColumnEncoding, RowSample, column_arrays
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree

_ROOT = 1  # path of the root, which keys its draws
_INTEGER_DTYPES: dict[int, Any] = {ColumnType.INT64: np.int64, ColumnType.UINT64: np.uint64}


@dataclass(frozen=True, slots=True)
class ThresholdCandidates:
    """A method that names the thresholds of a numeric column; fields as in `TreeConfig`.

    With the scope "node" each node applies it to its own rows, with "root" all use the thresholds
    of the whole table. The seed is that of random thresholds.
    """

    method: str
    scope: str
    n_thresholds: int
    seed: int

    @classmethod
    def of(cls, config: TreeConfig, seed: int) -> ThresholdCandidates:
        """Return the candidates of a configuration."""
        return cls(config.thresholds, config.threshold_scope, config.n_thresholds, seed)

    def for_ranks(
        self, encoding: ColumnEncoding, codes: Array, table: Table, weight: Array | None
    ) -> ColumnEncoding:
        """Return an encoding by ranks with what the native search needs."""
        arrays, masks = column_arrays(table, encoding.columns)
        values = rank_representatives(encoding, codes, arrays)
        return self._add_to(encoding, values, arrays, masks, weight)

    def for_bins(self, encoding: ColumnEncoding, sample: RowSample) -> ColumnEncoding:
        """Return an encoding by bins with what the native search needs."""
        values = bin_representatives(encoding)
        return self._add_to(encoding, values, sample.arrays, sample.missing_masks, sample.weight)

    def _add_to(
        self,
        encoding: ColumnEncoding,
        representatives: list[Array],
        arrays: Sequence[Array],
        masks: Sequence[Array | None],
        weight: Array | None,
    ) -> ColumnEncoding:
        if self.scope == "node":
            return encoding.with_representatives(representatives, None)
        kinds = encoding.columns.types
        thresholds = [
            self._of_column(j, kind, array, mask, weight)
            for j, (kind, array, mask) in enumerate(zip(kinds, arrays, masks, strict=True))
        ]
        return encoding.with_representatives(representatives, thresholds)

    def _of_column(
        self, column: int, kind: int, array: Array, mask: Array | None, weight: Array | None
    ) -> Array:
        observed = observed_mask(kind, array, mask)
        if kind == ColumnType.NOMINAL or not observed.any():
            return np.empty(0)
        values, rank = np.unique(array[observed].astype(np.float64), return_inverse=True)
        own_weight = None if weight is None else weight[observed]
        cumulative = np.cumsum(np.bincount(rank, own_weight))
        thresholds = self._of_values(column, values, cumulative)
        return np.sort(thresholds[~np.isnan(thresholds)])

    def _of_values(self, column: int, values: Array, cumulative: Array) -> Array:
        """Return the thresholds of ascending distinct values with their cumulative weight."""
        n, low, high = self.n_thresholds, values[0], values[-1]
        grid = np.arange(1.0, n + 1)
        if self.method == "quantile":
            wanted = grid * cumulative[-1] / (n + 1)
            indices = np.minimum(np.searchsorted(cumulative, wanted), len(values) - 1)
            return np.asarray([_midpoint_after(values, i) for i in np.unique(indices)])
        if self.method == "random":
            _native.uniforms(self.seed ^ _ROOT, _native.THRESHOLD_STREAM, column << 32, grid)
        if self.method in ("equal_width", "random"):
            return _interpolate(low, high, grid, n + 1 if self.method == "equal_width" else 1)
        if self.method == "mean":
            middle = _mean(values, np.diff(cumulative, prepend=0.0))
        else:
            middle = _median(values, cumulative)
        below_high = values[-2] if len(values) > 1 else high
        return np.array([below_high if middle >= high else max(middle, low)])


def _interpolate(low: float, high: float, step: Array, n_steps: int) -> Array:
    """Return ``low + step / n_steps * (high - low)``, also where the difference overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = step * (high - low)
        weighted = low * (1 - step / n_steps) + high * (step / n_steps)
        return np.where(np.isfinite(scaled), low + scaled / n_steps, weighted)


def _midpoint_after(values: Array, index: int) -> float:
    """Return the midpoint of a value and the next one."""
    if index + 1 == len(values):
        return float(values[index])
    return float(values[index] / 2 + values[index + 1] / 2)


def _mean(values: Array, weight: Array) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(values @ weight)
        if np.isfinite(total):
            return float(total / weight.sum())
        # Relative weights cannot overflow, but are rounded.
        return float(values @ (weight / weight.sum()))


def _median(values: Array, cumulative: Array) -> float:
    index = int(np.searchsorted(cumulative, cumulative[-1] / 2))
    if cumulative[index] != cumulative[-1] / 2:
        return float(values[index])
    return _midpoint_after(values, index)


def observed_mask(kind: int, array: Array, mask: Array | None) -> Array:
    """Return which rows have a value in a column."""
    if kind in (ColumnType.NOMINAL, ColumnType.ORDINAL):
        return array >= 0
    if kind in (ColumnType.INT64, ColumnType.UINT64):
        return np.ones(len(array), bool) if mask is None else ~mask
    return ~np.isnan(array)


def rank_representatives(
    encoding: ColumnEncoding, codes: Array, arrays: Sequence[Array]
) -> list[Array]:
    """Return the value of every rank; for categories their codes."""
    representatives = []
    for kind, n, own, array in zip(
        encoding.columns.types, encoding.n_codes.tolist(), codes, arrays, strict=True
    ):
        values = np.arange(n + 1, dtype=np.float64)
        if kind < ColumnType.ORDINAL:
            values[own] = array
        representatives.append(values[:n])
    return representatives


def bin_representatives(encoding: ColumnEncoding) -> list[Array]:
    """Return the middle of every bin; the first and the last have one edge only."""
    assert encoding.edges is not None
    representatives = []
    for j, (kind, n) in enumerate(
        zip(encoding.columns.types, encoding.n_codes.tolist(), strict=True)
    ):
        if kind >= ColumnType.ORDINAL or n < 2:
            representatives.append(np.arange(n, dtype=np.float64))
            continue
        edges = encoding.edges.values(encoding.columns, j)
        middles = edges[:-1] / 2 + edges[1:] / 2
        # The last bin counts as just above its edge, the first as its edge.
        above = np.nextafter(edges[-1], np.inf)
        middles = np.maximum(middles, edges[:-1])
        representatives.append(np.concatenate([edges[:1], middles, [above]]))
    return representatives


def snap_to_values(tree: Tree, table: Table) -> Tree:
    """Return the tree with thresholds lowered to the largest value of the table not above them.

    Rows of the table take the same branches: C4.5 names thresholds that occur.
    """
    nodes = tree.nodes.copy()
    words = NodeView(nodes).word
    arrays, masks = column_arrays(table, tree.columns)
    for column in np.unique(
        tree.column[(tree.test >= NodeTest.REAL) & (tree.test <= NodeTest.UNSIGNED)]
    ).tolist():
        kind = tree.columns.types[column]
        here = np.flatnonzero((tree.column == column) & np.isfinite(tree.threshold))
        observed = observed_mask(kind, arrays[column], masks[column])
        dtype = _INTEGER_DTYPES.get(kind, np.float64)
        values = np.unique(arrays[column][observed].astype(dtype))
        thresholds = words[here].view(dtype)
        words[here] = values[np.searchsorted(values, thresholds, side="right") - 1].view(np.uint64)
    return replace(tree, nodes=nodes)
