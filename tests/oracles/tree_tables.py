"""Small tables on which trees go wrong: ties, gaps, constant columns, one row, one class, weights.

Targets and weights are multiples of 1/4, so that sums of them are exact in floating point too; see
`real_numbers` for others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target, exact
from tests.oracles.tree_naive import Problem

# Nominal levels are kept sorted, ordinal ones as they are given: here against the alphabet.
NOMINAL = tuple("abcdefghijklmnop")
ORDINAL = tuple("zyxwvut")
# What a small whole number becomes in a float column: plain, tiny, huge, and neighbours in memory.
SCALES = (
    lambda k: k / 2,
    lambda k: k * 1e-300,
    lambda k: k * 5e-324,
    lambda k: k * 2e307,
    lambda k: 1 + k * 2.0**-52,
    lambda k: 1e9 + k,
)
# The same for integers: above 2^53 floats would make neighbours equal.
STARTS = (0, 2**53, -(2**62))


@dataclass(frozen=True)
class Table:
    """Columns and a target, as the oracle and as Ceiba take them."""

    columns: list
    target: Target
    weighted: bool = True

    @property
    def frame(self):
        return pd.DataFrame({f"x{j}": series(column) for j, column in enumerate(self.columns)})

    @property
    def y(self):
        dtype = np.int64 if self.target.n_classes else np.float64
        return np.array([float(y) for y in self.target.values]).astype(dtype)

    @property
    def sample_weight(self):
        return np.array([float(w) for w in self.target.weights]) if self.weighted else None

    def row(self, i):
        """A row for prediction: a level that training did not see is a gap."""
        return [
            None if column.labels and column.values[i] == len(column.labels) else column.values[i]
            for column in self.columns
        ]

    def problem(self, options):
        return Problem(self.columns, self.target, options)


def series(column):
    """The column as pandas knows it; gaps are NaN, <NA> or no category."""
    if column.kind == "float":
        return pd.Series([math.nan if v is None else v for v in column.values], dtype="float64")
    if column.kind == "int":
        gaps = None in column.values
        return pd.Series(column.values, dtype="Int64" if gaps else "int64")
    # A code beyond the labels stands for a level that training did not see.
    labels = (*column.labels, "new")
    used = labels if len(column.labels) in column.values else column.labels
    dtype = pd.CategoricalDtype(used, ordered=column.kind == "ordinal")
    return pd.Series([None if v is None else labels[v] for v in column.values], dtype=dtype)


# Columns


def cells(n, values, gaps):
    """``n`` values, some of them missing if there are to be gaps."""
    cell = st.one_of(st.none(), values, values) if gaps else values
    return st.lists(cell, min_size=n, max_size=n)


@st.composite
def float_columns(draw, n, gaps=False):
    scale = draw(st.sampled_from(SCALES))
    reach = draw(st.integers(0, 4))
    codes = draw(cells(n, st.integers(-reach, reach), gaps))
    return Column("float", [None if k is None else scale(k) for k in codes])


@st.composite
def int_columns(draw, n, gaps=False):
    start, reach = draw(st.sampled_from(STARTS)), draw(st.integers(0, 4))
    codes = draw(cells(n, st.integers(-reach, reach), gaps))
    return Column("int", [None if k is None else start + k for k in codes])


@st.composite
def level_columns(draw, n, gaps=False, kind="nominal", most=6):
    labels = (NOMINAL if kind == "nominal" else ORDINAL)[: draw(st.integers(1, most))]
    codes = draw(cells(n, st.integers(0, len(labels) - 1), gaps))
    return Column(kind, codes, labels)


def ordinal_columns(n, gaps=False):
    return level_columns(n, gaps, kind="ordinal")


COLUMNS = {
    "float": float_columns,
    "int": int_columns,
    "ordinal": ordinal_columns,
    "nominal": level_columns,
}


# Tables


QUARTERS = st.integers(-8, 8).map(lambda k: exact(Fraction(k, 4)))
WEIGHTS = st.one_of(st.just(0), st.integers(1, 3), st.sampled_from([exact(0.25), exact(1.5)]))


@st.composite
def weight_lists(draw, n):
    """Weights of which at least one is positive, or ones."""
    if not draw(st.booleans()):
        return [1] * n, False
    weights = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    weights[draw(st.integers(0, n - 1))] = 1
    return weights, True


@st.composite
def targets(draw, n, classes, weighted=True):
    """Classes 0, 1, ... that all occur, or numbers where ``classes`` is None."""
    weights, given = draw(weight_lists(n)) if weighted else ([1] * n, False)
    if classes is None:
        few = draw(st.lists(QUARTERS, min_size=1, max_size=5))
        values = draw(st.lists(st.sampled_from(few), min_size=n, max_size=n))
        return Target(values, weights), given
    drawn = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    # A class that only rows without weight have would vanish with them.
    there = sorted({label for label, w in zip(drawn, weights, strict=True) if w > 0})
    codes = {label: code for code, label in enumerate(there)}
    return Target([codes.get(label, 0) for label in drawn], weights, len(codes)), given


@st.composite
def tables(draw, criterion, kinds=tuple(COLUMNS), gaps=False, rows=40, columns=4, weighted=True):
    """A table whose target suits the criterion, with columns of some of the kinds."""
    n = draw(st.integers(1, rows))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=columns))
    found = [draw(COLUMNS[kind](n, gaps)) for kind in chosen]
    classes = None if criterion.endswith("_error") else draw(st.integers(1, 4))
    target, given = draw(targets(n, classes, weighted))
    return Table(found, target, given)


@st.composite
def fresh_rows(draw, table, n=12):
    """Rows for prediction: values near those of training, gaps and levels never seen."""
    return Table(
        [draw(fresh_column(column, n)) for column in table.columns],
        Target([0] * n, [1] * n, table.target.n_classes),
    )


@st.composite
def fresh_column(draw, column, n):
    if column.labels:
        return Column(
            column.kind, draw(cells(n, st.integers(0, len(column.labels)), True)), column.labels
        )
    known = [v for v in column.values if v is not None] or [0 if column.kind == "int" else 0.0]
    value = st.sampled_from(known)
    if column.kind == "float":
        value = st.one_of(value, st.floats(allow_nan=False, allow_infinity=False))
    else:
        value = st.one_of(value, st.integers(-(2**63), 2**63 - 1))
    return Column(column.kind, draw(cells(n, value, True)))


def real_numbers(seed, n, kinds, classes=None, gaps=0.0, whole=False):
    """A table of real numbers, with real targets and (unless whole ones are wanted) weights."""
    rng = np.random.default_rng(seed)
    columns = [real_column(rng, kind, n, gaps) for kind in kinds]
    weights = [exact(w) for w in rng.exponential(size=n).tolist()]
    if whole:
        weights = rng.integers(1, 1000, size=n).tolist()
    signal = [float(v or 0) % 3 for v in columns[0].values]
    if classes is None:
        noise = rng.normal(size=n).tolist()
        return Table(
            columns, Target([exact(s + e) for s, e in zip(signal, noise, strict=True)], weights)
        )
    noise = rng.integers(classes, size=n).tolist()
    values = [int(s + e) % classes for s, e in zip(signal, noise, strict=True)]
    return Table(columns, Target(values, weights, classes))


def real_column(rng, kind, n, gaps):
    holes = rng.random(n) < gaps
    if kind == "float":
        values, labels = rng.normal(size=n), ()
    elif kind == "int":
        values, labels = rng.integers(-(10**6), 10**6, size=n), ()
    else:
        labels = NOMINAL[:8] if kind == "nominal" else ORDINAL
        values = rng.integers(len(labels), size=n)
    shown = [None if hole else v for v, hole in zip(values.tolist(), holes, strict=True)]
    return Column(kind, shown, labels)
