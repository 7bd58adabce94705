"""Hypothesis strategies of small difficult tables for forests, and of their options.

Ties, missing values, categories, constant columns, one row, one class, rows of weight zero, integer
and fractional weights. Targets and weights are multiples of 1/4: their sums are exact in floats.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from tests.oracles.forest_naive import ForestOptions, ForestProblem
from tests.oracles.preset_tables import TAME, counts
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target, exact
from tests.oracles.tree_tables import COLUMNS, QUARTERS, Table, real_numbers

MISSING = ("learned", "branch", "majority")
PARTS = [exact(0.25), 1, exact(1.5), 2]


# Weights


@st.composite
def weight_lists(draw, n, how):
    """Draw weights of n rows, at least one of them positive: all 1, integers, or fractions."""
    if how == "one":
        return [1] * n
    own = st.integers(0, 3) if how == "integer" else st.one_of(st.just(0), st.sampled_from(PARTS))
    weights = draw(st.lists(own, min_size=n, max_size=n))
    weights[draw(st.integers(0, n - 1))] = 1
    return weights


# Targets


@st.composite
def some_of(draw, items, n):
    """Draw n of the items, each of them at least once if possible."""
    items = list(items)
    rest = draw(st.lists(st.sampled_from(items), min_size=n, max_size=n))
    return [*items, *rest][:n]


@st.composite
def class_targets(draw, n, max_classes, weights):
    """Draw classes 0, 1, ..., each with a row of positive weight."""
    k = draw(st.sampled_from([max_classes, max_classes, 2, 1]))
    drawn = draw(some_of(range(k), n))
    there = sorted({label for label, w in zip(drawn, weights, strict=True) if w > 0})
    codes = {label: code for code, label in enumerate(there)}
    return Target([codes.get(label, 0) for label in drawn], weights, len(codes))


@st.composite
def number_targets(draw, n, weights):
    """Draw numbers of which many are equal."""
    few = draw(st.lists(QUARTERS, min_size=draw(st.sampled_from([4, 4, 1])), max_size=6))
    return Target(draw(some_of(few, n)), weights)


# Tables


@st.composite
def forest_columns(draw, n, kinds, max_columns, missing, wild):
    """Draw columns of some kinds; sometimes one that is constant or all missing."""
    made = COLUMNS if wild else TAME
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=max_columns))
    found = [draw(made[kind](n, missing)) for kind in chosen]
    if draw(st.integers(0, 3)) == 0:
        index = draw(st.integers(0, len(found) - 1))
        value = draw(st.sampled_from([0.5, None])) if missing else 0.5
        found[index] = Column("float", [value] * n)
    return found


@st.composite
def forest_tables(
    draw, classes=3, kinds=tuple(TAME), missing=True, rows=14, columns=4, weights="one", wild=False
):
    """Draw a table with at most ``classes`` classes, or numbers if it is None."""
    n = draw(st.integers(draw(st.sampled_from([rows // 2, rows // 2, 1])), rows))
    found = draw(forest_columns(n, kinds, columns, missing and draw(st.booleans()), wild))
    given = draw(weight_lists(n, weights))
    if classes is None:
        target = draw(number_targets(n, given))
    else:
        target = draw(class_targets(n, classes, given))
    return Table(found, target, weights != "one")


def unit_weight_table(seed, n, kinds, classes=None, missing=0.0):
    """Return a table of real numbers with few ties and unit weights."""
    table = real_numbers(seed, n, kinds, classes, missing)
    values = table.target.values
    if classes is None:  # short fractions, whose sums are exact and fast
        values = [exact(Fraction(round(y * 256), 256)) for y in values]
    target = replace(table.target, values=values, weights=[1] * n)
    return replace(table, target=target, weighted=False)


def tables_for(criterion, **options):
    """Return tables with targets for a criterion."""
    if criterion == "poisson":
        return forest_tables(None, **options).map(counts)
    return forest_tables(None if criterion.endswith("_error") else 3, **options)


# Options


@st.composite
def forest_options(draw, table, max_features_per="node", **given):
    """Draw numbers of columns and a seed; given options are kept."""
    p = len(table.columns)
    number = st.integers(1, p)
    options = ForestOptions(
        seed=draw(st.integers(0, 2**64 - 1)),
        max_features=draw(number),
        max_features_per=max_features_per,
        tree_features=draw(number) if max_features_per == "both" else None,
        missing=draw(st.sampled_from(MISSING)),
    )
    return replace(options, **given)


def forest_problem(table, options):
    return ForestProblem(table.columns, table.target, options)
