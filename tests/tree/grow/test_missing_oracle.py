"""Every criterion on every kind of column under every rule for gaps, beside the naive tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.tree_candidates import Column
from tests.oracles.tree_fits import CRITERIA, GAP_RULES, assert_predictions, fit
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import Table, fresh_rows, tables
from tests.oracles.tree_walk import assert_tree

WAYS = {
    "float": ("float", "binary"),
    "int": ("int", "binary"),
    "ordinal": ("ordinal", "binary"),
    "groups of levels": ("nominal", "binary"),
    "a branch a level": ("nominal", "multiway"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("missing", GAP_RULES)
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_every_split_is_the_naive_one(criterion, missing, way, data):
    kind, splits = WAYS[way]
    table = data.draw(tables(criterion, kinds=(kind,), gaps=True, rows=20, columns=2))
    options = Options(criterion, splits, missing)
    assert_tree(fit(table, options), table.problem(options))


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("missing", GAP_RULES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_rows_go_where_the_naive_ones_go(missing, splits, data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, gaps=True, rows=25))
    options = Options(criterion, splits, missing)
    model = fit(table, options)
    nodes = assert_tree(model, table.problem(options))
    assert_predictions(model, nodes, table)
    assert_predictions(model, nodes, data.draw(fresh_rows(table)))


@pytest.mark.parametrize("missing", GAP_RULES)
@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_columns_of_gaps_alone(criterion, missing, data):
    table = data.draw(tables(criterion, rows=12, columns=2))
    empty = [Column(c.kind, [None] * len(c.values), c.labels) for c in table.columns]
    both = Table([*empty, *table.columns], table.target, table.weighted)
    options = Options(criterion, missing=missing)
    model = fit(both, options)
    assert_tree(model, both.problem(options))
    assert not model.feature_importances_[: len(empty)].any()
