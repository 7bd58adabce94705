"""Small difficult tables: ties, missing values, constant columns, one row, one class, weights.

Targets and weights are multiples of 1/4, so that their sums are exact in floating point; see
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

# Nominal categories are sorted, ordinal ones stay in the given order: here against the alphabet.
NOMINAL = tuple("abcdefghijklmnop")
ORDINAL = tuple("zyxwvut")
# Values of small integers in a float column: plain, tiny, huge, and adjacent floats.
SCALES = (
    lambda k: k / 2,
    lambda k: k * 1e-300,
    lambda k: k * 5e-324,
    lambda k: k * 2e307,
    lambda k: 1 + k * 2.0**-52,
    lambda k: 1e9 + k,
)
# The same for integers: above 2^53 floats would make neighbors equal.
STARTS = (0, 2**53, -(2**62))


@dataclass(frozen=True)
class Table:
    """Columns and a target, in the forms of the oracle and of Ceiba."""

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
        """Return a row for prediction: a category not seen in training is missing."""
        return [
            None if column.labels and column.values[i] == len(column.labels) else column.values[i]
            for column in self.columns
        ]

    def problem(self, options):
        return Problem(self.columns, self.target, options)


def series(column):
    """Return the column as a pandas Series; missing values are NaN, <NA> or no category."""
    if column.kind == "float":
        return pd.Series([math.nan if v is None else v for v in column.values], dtype="float64")
    if column.kind == "int":
        with_missing = None in column.values
        return pd.Series(column.values, dtype="Int64" if with_missing else "int64")
    # A code beyond the labels stands for a category not seen in training.
    labels = (*column.labels, "new")
    used = labels if len(column.labels) in column.values else column.labels
    dtype = pd.CategoricalDtype(used, ordered=column.kind == "ordinal")
    return pd.Series([None if v is None else labels[v] for v in column.values], dtype=dtype)


# Columns


def cells(n, values, with_missing):
    """Draw ``n`` values, some of them missing if asked for."""
    cell = st.one_of(st.none(), values, values) if with_missing else values
    return st.lists(cell, min_size=n, max_size=n)


@st.composite
def float_columns(draw, n, with_missing=False):
    scale = draw(st.sampled_from(SCALES))
    reach = draw(st.integers(0, 4))
    codes = draw(cells(n, st.integers(-reach, reach), with_missing))
    return Column("float", [None if k is None else scale(k) for k in codes])


@st.composite
def int_columns(draw, n, with_missing=False):
    start, reach = draw(st.sampled_from(STARTS)), draw(st.integers(0, 4))
    codes = draw(cells(n, st.integers(-reach, reach), with_missing))
    return Column("int", [None if k is None else start + k for k in codes])


@st.composite
def category_columns(draw, n, with_missing=False, kind="nominal", maximum=6):
    labels = (NOMINAL if kind == "nominal" else ORDINAL)[: draw(st.integers(1, maximum))]
    codes = draw(cells(n, st.integers(0, len(labels) - 1), with_missing))
    return Column(kind, codes, labels)


def ordinal_columns(n, with_missing=False):
    return category_columns(n, with_missing, kind="ordinal")


COLUMNS = {
    "float": float_columns,
    "int": int_columns,
    "ordinal": ordinal_columns,
    "nominal": category_columns,
}


# Tables


QUARTERS = st.integers(-8, 8).map(lambda k: exact(Fraction(k, 4)))
WEIGHTS = st.one_of(st.just(0), st.integers(1, 3), st.sampled_from([exact(0.25), exact(1.5)]))


@st.composite
def weight_lists(draw, n):
    """Draw weights with at least one positive, or ones."""
    if not draw(st.booleans()):
        return [1] * n, False
    weights = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    weights[draw(st.integers(0, n - 1))] = 1
    return weights, True


@st.composite
def targets(draw, n, classes, weighted=True):
    """Draw classes 0, 1, ... that all occur, or numbers if ``classes`` is None."""
    weights, given = draw(weight_lists(n)) if weighted else ([1] * n, False)
    if classes is None:
        few = draw(st.lists(QUARTERS, min_size=1, max_size=5))
        values = draw(st.lists(st.sampled_from(few), min_size=n, max_size=n))
        return Target(values, weights), given
    drawn = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    # A class of rows without weight only would be dropped with them.
    node_target = sorted({label for label, w in zip(drawn, weights, strict=True) if w > 0})
    codes = {label: code for code, label in enumerate(node_target)}
    return Target([codes.get(label, 0) for label in drawn], weights, len(codes)), given


@st.composite
def tables(
    draw, criterion, kinds=tuple(COLUMNS), with_missing=False, rows=40, columns=4, weighted=True
):
    """Draw a table whose target fits the criterion, with columns of some of the kinds."""
    n = draw(st.integers(1, rows))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=columns))
    found = [draw(COLUMNS[kind](n, with_missing)) for kind in chosen]
    classes = None if criterion.endswith("_error") else draw(st.integers(1, 4))
    target, given = draw(targets(n, classes, weighted))
    return Table(found, target, given)


@st.composite
def fresh_rows(draw, table, n=12):
    """Draw rows for prediction: values near those of training, missing and unseen ones."""
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


def real_numbers(seed, n, kinds, classes=None, missing_rate=0.0, whole=False):
    """Return a table of real numbers, with real targets and (unless ``whole``) weights."""
    rng = np.random.default_rng(seed)
    columns = [real_column(rng, kind, n, missing_rate) for kind in kinds]
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


def real_column(rng, kind, n, missing_rate):
    is_missing = rng.random(n) < missing_rate
    if kind == "float":
        values, labels = rng.normal(size=n), ()
    elif kind == "int":
        values, labels = rng.integers(-(10**6), 10**6, size=n), ()
    else:
        labels = NOMINAL[:8] if kind == "nominal" else ORDINAL
        values = rng.integers(len(labels), size=n)
    kept = [None if gone else v for v, gone in zip(values.tolist(), is_missing, strict=True)]
    return Column(kind, kept, labels)
