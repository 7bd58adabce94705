"""Small tables for the trees of all presets, with numbers whose means are exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import exact
from tests.oracles.tree_tables import (
    COLUMNS,
    Table,
    category_columns,
    cells,
    ordinal_columns,
    targets,
)


@st.composite
def half_columns(draw, n, with_missing=False):
    """Draw multiples of a half."""
    codes = draw(cells(n, st.integers(-6, 6), with_missing))
    return Column("float", [None if k is None else k / 2 for k in codes])


@st.composite
def whole_columns(draw, n, with_missing=False):
    return Column("int", draw(cells(n, st.integers(-4, 9), with_missing)))


TAME = {
    "float": half_columns,
    "int": whole_columns,
    "ordinal": ordinal_columns,
    "nominal": category_columns,
}
NUMERIC = ("float", "int", "ordinal")


@st.composite
def preset_tables(
    draw,
    classes=3,
    kinds=tuple(TAME),
    with_missing=False,
    rows=24,
    columns=3,
    weighted=True,
    wild=False,
):
    """Draw a table with at most ``classes`` classes, or numbers if None.

    ``wild`` numbers are of any scale; others are small multiples of a half.
    """
    n = draw(st.integers(1, rows))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=columns))
    made = COLUMNS if wild else TAME
    found = [draw(made[kind](n, with_missing)) for kind in chosen]
    maximum = None if classes is None else draw(st.integers(1, classes))
    target, given = draw(targets(n, maximum, weighted))
    return Table(found, target, given)


def counts(table):
    """Return the table with targets >= 0 that are not all zero."""
    target = table.target
    values = [exact(abs(Fraction(y))) for y in target.values]
    if not any(y * w for y, w in zip(values, target.weights, strict=True)):
        values = [1] * len(values)
    return replace(table, target=replace(target, values=values))


@st.composite
def cost_matrices(draw, k):
    """Draw a cost matrix of k classes."""
    cost = st.sampled_from([Fraction(1, 2), 1, 2, 5])
    return tuple(tuple(0 if i == j else exact(draw(cost)) for j in range(k)) for i in range(k))
