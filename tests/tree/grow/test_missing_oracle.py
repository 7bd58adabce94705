"""Every criterion, kind of column and missing policy against the naive tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.budget import examples
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_fits import CRITERIA, MISSING_POLICIES, assert_predictions, fit
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import Table, fresh_rows, tables
from tests.oracles.tree_walk import assert_tree

SPLITS = {
    "float": ("float", "binary"),
    "int": ("int", "binary"),
    "ordinal": ("ordinal", "binary"),
    "groups of categories": ("nominal", "binary"),
    "a branch per category": ("nominal", "multiway"),
}


@pytest.mark.parametrize("kind_of_split", SPLITS)
@pytest.mark.parametrize("missing", MISSING_POLICIES)
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(6)
@given(data=st.data())
def test_splits_equal_the_naive_tree(criterion, missing, kind_of_split, data):
    kind, splits = SPLITS[kind_of_split]
    table = data.draw(tables(criterion, kinds=(kind,), with_missing=True, rows=20, columns=2))
    options = Options(criterion, splits, missing)
    assert_tree(fit(table, options), table.problem(options))


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("missing", MISSING_POLICIES)
@examples(12)
@given(data=st.data())
def test_paths_equal_the_naive_tree(missing, splits, data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=True, rows=25))
    options = Options(criterion, splits, missing)
    model = fit(table, options)
    nodes = assert_tree(model, table.problem(options))
    assert_predictions(model, nodes, table)
    assert_predictions(model, nodes, data.draw(fresh_rows(table)))


@pytest.mark.parametrize("missing", MISSING_POLICIES)
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(5)
@given(data=st.data())
def test_columns_of_missing_values_are_ignored(criterion, missing, data):
    table = data.draw(tables(criterion, rows=12, columns=2))
    empty = [Column(c.kind, [None] * len(c.values), c.labels) for c in table.columns]
    both = Table([*empty, *table.columns], table.target, table.weighted)
    options = Options(criterion, missing=missing)
    model = fit(both, options)
    assert_tree(model, both.problem(options))
    assert not model.feature_importances_[: len(empty)].any()
