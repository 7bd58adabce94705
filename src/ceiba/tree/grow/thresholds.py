"""Threshold candidates other than all midpoints: a grid, the mean or median, in a node or the root.

The native search applies a method at each node. This module computes what it requires of the
codes, and the thresholds of ``threshold_scope="root"``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType, NodeTest
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.encoding import ColumnEncoding, RowSample, column_arrays, observed_mask
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree

_ROOT = 1  # path of the root, which keys its draws
_INTEGER_DTYPES: dict[int, Any] = {ColumnType.INT64: np.int64, ColumnType.UINT64: np.uint64}


def add_rank_candidates(
    encoding: ColumnEncoding,
    config: TreeConfig,
    seed: int,
    codes: Array,
    table: Table,
    weight: Array | None,
) -> ColumnEncoding:
    """Return an encoding by ranks with what the native search needs for ``config.thresholds``."""
    arrays, masks = column_arrays(table, encoding.columns)
    values = rank_representatives(encoding, codes, arrays)
    return _add_candidates(encoding, config, seed, values, arrays, masks, weight)


def add_bin_candidates(
    encoding: ColumnEncoding, config: TreeConfig, seed: int, sample: RowSample
) -> ColumnEncoding:
    """Return an encoding by bins with what the native search needs for ``config.thresholds``."""
    arrays, masks = sample.arrays, sample.missing_masks
    values = bin_representatives(encoding)
    return _add_candidates(encoding, config, seed, values, arrays, masks, sample.weight)


def _add_candidates(
    encoding: ColumnEncoding,
    config: TreeConfig,
    seed: int,
    representatives: list[Array],
    arrays: Sequence[Array],
    masks: Sequence[Array | None],
    weight: Array | None,
) -> ColumnEncoding:
    values = np.concatenate(representatives).astype(np.float64)
    if config.threshold_scope == "node":
        return replace(encoding, representatives=values)
    thresholds = []
    for j, (kind, array, mask) in enumerate(
        zip(encoding.columns.types, arrays, masks, strict=True)
    ):
        observed = observed_mask(kind, array, mask)
        if kind == ColumnType.NOMINAL or not observed.any():
            thresholds.append(np.empty(0))
            continue
        distinct, rank = np.unique(array[observed].astype(np.float64), return_inverse=True)
        cumulative = np.cumsum(np.bincount(rank, None if weight is None else weight[observed]))
        own = _root_thresholds(config, seed, j, distinct, cumulative)
        thresholds.append(np.sort(own[~np.isnan(own)]))
    first = np.cumsum([0, *map(len, thresholds)], dtype=np.int64)
    root_thresholds = np.concatenate(thresholds).astype(np.float64), first
    return replace(encoding, representatives=values, root_thresholds=root_thresholds)


def _root_thresholds(
    config: TreeConfig, seed: int, column: int, values: Array, cumulative: Array
) -> Array:
    """Return the thresholds of ascending distinct values with their cumulative weight."""
    method, n, low, high = config.thresholds, config.n_thresholds, values[0], values[-1]
    grid = np.arange(1.0, n + 1)
    if method == "quantile":
        wanted = grid * cumulative[-1] / (n + 1)
        indices = np.minimum(np.searchsorted(cumulative, wanted), len(values) - 1)
        return np.asarray([_midpoint_after(values, i) for i in np.unique(indices)])
    if method == "random":
        _native.uniforms(seed ^ _ROOT, _native.THRESHOLD_STREAM, column << 32, grid)
    if method in ("equal_width", "random"):
        return _interpolate(low, high, grid, n + 1 if method == "equal_width" else 1)
    if method == "mean":
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
