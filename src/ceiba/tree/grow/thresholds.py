"""Threshold candidates other than all midpoints: a grid, the mean or median, in a node or the root.

The native search applies a method at each node. This module computes what it requires of the
codes, and the thresholds of ``threshold_scope="root"``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
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
_MAX_EXACT = 2**53  # up to here, float64 holds every integer
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
    arrays, masks = column_arrays(table, encoding.columns, integers_only=True)
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
    observed = [
        array[observed_mask(kind, array, mask)]
        for kind, array, mask in zip(encoding.columns.types, arrays, masks, strict=True)
    ]
    distances = [_distances(*pair) for pair in zip(representatives, observed, strict=True)]
    encoding = replace(
        encoding,
        representatives=np.concatenate(representatives).astype(np.float64),
        distances=np.concatenate(
            [
                np.zeros(len(values), np.uint64) if own is None else own
                for values, own in zip(representatives, distances, strict=True)
            ]
        ),
        exact=np.array([own is not None for own in distances]),
    )
    if config.threshold_scope == "node":
        return encoding
    thresholds = []
    for j, (kind, array, mask) in enumerate(
        zip(encoding.columns.types, arrays, masks, strict=True)
    ):
        if kind == ColumnType.NOMINAL or not len(observed[j]):
            thresholds.append((np.empty(0), np.empty(0, np.uint64)))
            continue
        distinct, rank = np.unique(observed[j], return_inverse=True)
        own_weight = None if weight is None else weight[observed_mask(kind, array, mask)]
        cumulative = np.cumsum(np.bincount(rank, own_weight))
        if distances[j] is not None:
            own = _from_smallest(distinct, distinct[0])
            thresholds.append(_exact_root_thresholds(config, seed, j, own, cumulative))
            continue
        numbers = _root_thresholds(config, seed, j, distinct.astype(np.float64), cumulative)
        numbers = np.sort(numbers[~np.isnan(numbers)])
        thresholds.append((numbers, np.zeros(len(numbers), np.uint64)))
    numbers, whole = (np.concatenate(part) for part in zip(*thresholds, strict=True))
    first = np.cumsum([0, *(len(own) for own, _ in thresholds)], dtype=np.int64)
    return replace(encoding, root_thresholds=(numbers, whole, first))


def _distances(representatives: Array, values: Array) -> Array | None:
    """Return exact distances from the smallest value; None if float64 rounds no representative."""
    if representatives.dtype.kind not in "iu" or not len(representatives):
        return None
    if int(representatives.min()) >= -_MAX_EXACT and int(representatives.max()) <= _MAX_EXACT:
        return None
    # The smallest value of the first bin may lie below its representative.
    return _from_smallest(representatives, min(values.min(), representatives.min()))


def _from_smallest(values: Array, smallest: Any) -> Array:
    """Return distances of int64 or uint64 as uint64: exact, since computed modulo 2**64."""
    return np.asarray(values.astype(np.uint64) - np.uint64(int(smallest) % 2**64))


def _exact_root_thresholds(
    config: TreeConfig, seed: int, column: int, distances: Array, cumulative: Array
) -> tuple[Array, Array]:
    """Return fractional and whole parts of thresholds, as distances from the smallest value."""
    method, n = config.thresholds, config.n_thresholds
    if method in ("equal_width", "random"):
        floats = _root_thresholds(config, seed, column, distances.astype(np.float64), cumulative)
        found = [Fraction(threshold) for threshold in floats]
    elif method == "quantile":
        indices = _quantile_indices(cumulative, n)
        found = [_exact_midpoint(distances, i) for i in indices]
    elif method == "mean":
        # Rounded, as every mean; the comparison below is exact.
        mean = _mean(distances.astype(np.float64), np.diff(cumulative, prepend=0.0))
        found = [_below_largest(Fraction(mean), distances)]
    else:
        index, is_between = _median_index(cumulative)
        middle = (
            _exact_midpoint(distances, index) if is_between else Fraction(int(distances[index]))
        )
        found = [_below_largest(middle, distances)]
    found.sort()
    whole = [math.floor(threshold) for threshold in found]
    parts = [float(threshold - own) for threshold, own in zip(found, whole, strict=True)]
    return np.array(parts), np.array(whole, dtype=np.uint64)


def _exact_midpoint(distances: Array, index: int) -> Fraction:
    following = min(index + 1, len(distances) - 1)
    return Fraction(int(distances[index]) + int(distances[following]), 2)


def _below_largest(threshold: Fraction, distances: Array) -> Fraction:
    """Return a threshold, or the second largest value if none lies above it."""
    if threshold < int(distances[-1]):
        return threshold
    return Fraction(int(distances[-2] if len(distances) > 1 else distances[-1]))


def _root_thresholds(
    config: TreeConfig, seed: int, column: int, values: Array, cumulative: Array
) -> Array:
    """Return the thresholds of ascending distinct values with their cumulative weight."""
    method, n, low, high = config.thresholds, config.n_thresholds, values[0], values[-1]
    grid = np.arange(1.0, n + 1)
    if method == "quantile":
        return np.asarray([_midpoint_after(values, i) for i in _quantile_indices(cumulative, n)])
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


def _quantile_indices(cumulative: Array, n: int) -> list[int]:
    """Return the indices of the values up to which there are 1, 2, ... of n + 1 equal parts."""
    wanted = np.arange(1.0, n + 1) * cumulative[-1] / (n + 1)
    indices = np.minimum(np.searchsorted(cumulative, wanted), len(cumulative) - 1)
    return [int(index) for index in np.unique(indices)]


def _median(values: Array, cumulative: Array) -> float:
    index, is_between = _median_index(cumulative)
    return _midpoint_after(values, index) if is_between else float(values[index])


def _median_index(cumulative: Array) -> tuple[int, bool]:
    """Return the index of the median, and whether it lies between that value and the next."""
    index = int(np.searchsorted(cumulative, cumulative[-1] / 2))
    return index, bool(cumulative[index] == cumulative[-1] / 2)


def rank_representatives(
    encoding: ColumnEncoding, codes: Array, arrays: Sequence[Array]
) -> list[Array]:
    """Return the value of every rank, in the type of its column; for categories their codes."""
    representatives = []
    for kind, n, own, array in zip(
        encoding.columns.types, encoding.n_codes.tolist(), codes, arrays, strict=True
    ):
        dtype = _INTEGER_DTYPES.get(kind, np.float64)
        values = np.arange(n + 1).astype(dtype)
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
        if kind in _INTEGER_DTYPES and np.abs(edges.astype(np.float64)).max() > _MAX_EXACT:
            representatives.append(_integer_middles(edges))
            continue
        edges = edges.astype(np.float64)
        middles = edges[:-1] / 2 + edges[1:] / 2
        # The last bin counts as just above its edge, the first as its edge.
        above = np.nextafter(edges[-1], np.inf)
        middles = np.maximum(middles, edges[:-1])
        representatives.append(np.concatenate([edges[:1], middles, [above]]))
    return representatives


def _integer_middles(edges: Array) -> Array:
    """Return an integer of each bin, from the upper edges of all but the last."""
    width = np.diff(edges.astype(np.uint64))
    # Rounded up: a bin contains its upper edge, but not its lower one.
    middles = edges[:-1] + (width - width // 2).astype(edges.dtype)
    return np.concatenate([edges[:1], middles, edges[-1:] + edges.dtype.type(1)])


def snap_to_values(tree: Tree, table: Table) -> Tree:
    """Return the tree with thresholds lowered to the largest value of the table not above them.

    Rows of the table take the same branches: C4.5 names thresholds that occur. A threshold below
    all values stays.
    """
    nodes = tree.nodes.copy()
    view = NodeView(nodes)
    words = view.word
    arrays, masks = column_arrays(table, tree.columns, integers_only=True)
    for column in np.unique(
        tree.column[(tree.test >= NodeTest.REAL) & (tree.test <= NodeTest.UNSIGNED)]
    ).tolist():
        kind = tree.columns.types[column]
        here = np.flatnonzero((tree.column == column) & np.isfinite(tree.threshold))
        observed = observed_mask(kind, arrays[column], masks[column])
        dtype = _INTEGER_DTYPES.get(kind, np.float64)
        values = np.unique(arrays[column][observed].astype(dtype))
        index = np.searchsorted(values, words[here].view(dtype), side="right") - 1
        here, index = here[index >= 0], index[index >= 0]
        view.clear_half(here)
        words[here] = values[index].view(np.uint64)
    return replace(tree, nodes=nodes)
