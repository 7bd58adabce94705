"""Small tables on which forests go wrong, and draws of their options.

Ties, gaps, nominal levels, constant columns, one row, one class, rows without weight, whole and
other weights. Targets and weights are multiples of 1/4: sums of them are exact in floating point.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from tests.oracles.forest_naive import ForestOptions, ForestProblem
from tests.oracles.lecture_tables import TAME, counts
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target, exact
from tests.oracles.tree_tables import COLUMNS, QUARTERS, Table, real_numbers

GAP_RULES = ("learned", "branch", "majority")
PARTS = [exact(0.25), 1, exact(1.5), 2]


# Weights


@st.composite
def weight_lists(draw, n, how):
    """Weights of n rows, at least one of them positive: all 1, whole numbers, or any."""
    if how == "one":
        return [1] * n
    own = st.integers(0, 3) if how == "whole" else st.one_of(st.just(0), st.sampled_from(PARTS))
    weights = draw(st.lists(own, min_size=n, max_size=n))
    weights[draw(st.integers(0, n - 1))] = 1
    return weights


# Targets


@st.composite
def some_of(draw, items, n):
    """n of the items, each of them at least once if there is room."""
    items = list(items)
    rest = draw(st.lists(st.sampled_from(items), min_size=n, max_size=n))
    return [*items, *rest][:n]


@st.composite
def class_targets(draw, n, most, weights):
    """Classes 0, 1, ..., each of which a row of positive weight has."""
    k = draw(st.sampled_from([most, most, 2, 1]))
    drawn = draw(some_of(range(k), n))
    there = sorted({label for label, w in zip(drawn, weights, strict=True) if w > 0})
    codes = {label: code for code, label in enumerate(there)}
    return Target([codes.get(label, 0) for label in drawn], weights, len(codes))


@st.composite
def number_targets(draw, n, weights):
    """Numbers of which many are equal."""
    few = draw(st.lists(QUARTERS, min_size=draw(st.sampled_from([4, 4, 1])), max_size=6))
    return Target(draw(some_of(few, n)), weights)


# Tables


@st.composite
def forest_columns(draw, n, kinds, most, gaps, wild):
    """Columns of some of the kinds; now and then one that is constant, or nothing but gaps."""
    made = COLUMNS if wild else TAME
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=most))
    found = [draw(made[kind](n, gaps)) for kind in chosen]
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(found) - 1))
        value = draw(st.sampled_from([0.5, None])) if gaps else 0.5
        found[place] = Column("float", [value] * n)
    return found


@st.composite
def forest_tables(
    draw, classes=3, kinds=tuple(TAME), gaps=True, rows=14, columns=4, weights="one", wild=False
):
    """A table with at most so many classes, or numbers where ``classes`` is None."""
    n = draw(st.integers(draw(st.sampled_from([rows // 2, rows // 2, 1])), rows))
    found = draw(forest_columns(n, kinds, columns, gaps and draw(st.booleans()), wild))
    given = draw(weight_lists(n, weights))
    if classes is None:
        target = draw(number_targets(n, given))
    else:
        target = draw(class_targets(n, classes, given))
    return Table(found, target, weights != "one")


def even_numbers(seed, n, kinds, classes=None, gaps=0.0):
    """A table of real numbers with hardly a tie, whose rows all weigh 1."""
    table = real_numbers(seed, n, kinds, classes, gaps)
    values = table.target.values
    if classes is None:  # short fractions: sums are exact, and fast
        values = [exact(Fraction(round(y * 256), 256)) for y in values]
    target = replace(table.target, values=values, weights=[1] * n)
    return replace(table, target=target, weighted=False)


def tables_for(criterion, **options):
    """Tables whose targets suit a criterion."""
    if criterion == "poisson":
        return forest_tables(None, **options).map(counts)
    return forest_tables(None if criterion.endswith("_error") else 3, **options)


# Options


@st.composite
def forest_options(draw, table, features_per="node", **given):
    """Options with drawn numbers of columns and a drawn seed; those that are given stay."""
    p = len(table.columns)
    number = st.integers(1, p)
    options = ForestOptions(
        seed=draw(st.integers(0, 2**64 - 1)),
        max_features=draw(number),
        features_per=features_per,
        tree_features=draw(number) if features_per == "both" else None,
        missing=draw(st.sampled_from(GAP_RULES)),
    )
    return replace(options, **given)


def forest_problem(table, options):
    return ForestProblem(table.columns, table.target, options)
