"""Edges of bins follow the quantile scale, finer in the tails."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import _native
from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import LocalEngine
from ceiba.stats import ToLabeledRows
from ceiba.tree.grow.encoding import RowSample, draw_sample

ROWS = 20_000
COLUMNS = _native.ColumnTypes([ColumnType.FLOAT64], [0])


def edges(column: Array, bins: int, weight: Array | None = None) -> Array:
    """Return the upper edges of the bins of one column."""
    counts, bits, _, _ = _native.tree_bin_edges(
        _native.TreeTable([column], [None], COLUMNS), weight, bins, 1
    )
    own: Array = bits.view(np.float64)
    assert counts[0] == len(own) + 1
    return own


def fractions(column: Array, found: Array) -> Array:
    """Return the fraction of the rows in each bin."""
    return np.bincount(np.searchsorted(found, column), minlength=len(found) + 1) / len(column)


def positions(below: Array) -> Array:
    """Return positions on the scale of the bins, whose odds are roots of the fractions' odds."""
    left, right = np.sqrt(below), np.sqrt(1 - below)
    own: Array = left / (left + right)
    return own


@pytest.mark.parametrize("bins", [2, 3, 16, 255])
def test_edges_are_equidistant_on_the_scale(bins: int) -> None:
    column = np.random.default_rng(0).permutation(ROWS).astype(float)
    below = np.cumsum(fractions(column, edges(column, bins)))[:-1]
    # A bin ends with a row: steps are longer in the tails, and fewer bins are needed.
    assert 0.98 * bins <= len(below) + 1 <= bins
    middle = (below[1:] > 0.01) & (below[1:] < 0.99)
    np.testing.assert_allclose(np.diff(positions(below))[middle], 1 / bins, rtol=0.05)


def test_bins_are_finer_in_the_tails() -> None:
    column = np.random.default_rng(1).standard_normal(ROWS)
    own = fractions(column, edges(column, 255))
    assert max(own[0], own[-1]) * ROWS <= 2
    assert own.max() == pytest.approx(2 / 255, rel=0.05)
    np.testing.assert_allclose(own, own[::-1], atol=5 / ROWS)


def test_bins_depend_on_the_order_of_values_only() -> None:
    column = np.random.default_rng(2).standard_normal(ROWS)
    mapped = np.exp(3 * column)
    np.testing.assert_array_equal(
        fractions(column, edges(column, 100)), fractions(mapped, edges(mapped, 100))
    )


def test_weights_equal_repeated_rows() -> None:
    random = np.random.default_rng(3)
    column, weight = random.standard_normal(2000), random.integers(1, 4, 2000)
    repeated = np.repeat(column, weight)
    np.testing.assert_array_equal(edges(column, 40, weight.astype(float)), edges(repeated, 40))


def test_frequent_value_takes_one_bin() -> None:
    column = np.concatenate([np.zeros(ROWS), np.random.default_rng(4).uniform(1, 2, ROWS)])
    own = fractions(column, edges(column, 64))
    assert len(own) == 64
    assert own[0] == 0.5
    assert own[1:].max() < 0.05


def test_few_distinct_values_get_one_bin_each() -> None:
    column = np.repeat([1.0, 2.0, 5.0], [1, 1000, 3])
    np.testing.assert_array_equal(edges(column, 3), [1.5, 3.5])


@pytest.mark.parametrize("n_rows", [5000, 500_000, 10])
def test_the_sample_is_that_of_all_rows(n_rows: int) -> None:
    """Also if ``n_rows`` is so wrong that too few keys are below the bound."""
    engine, X = LocalEngine(1), np.random.default_rng(0).normal(size=(5000, 2))
    chunk = Chunk(Table.of(X), np.arange(5000) % 2)
    rows = engine.prepared_rows(ToLabeledRows("classification")(chunk))
    one = draw_sample(engine, rows, n_rows, 300, seed=3)
    other = engine.reduce(rows, RowSample.of, 300, 3)
    assert len(one.keys) == 300
    assert one.keys.tolist() == other.keys.tolist()
    assert [column.tolist() for column in one.arrays] == [c.tolist() for c in other.arrays]
