"""The comparison of trees passes on naive trees and fails on corrupted ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.budget import examples
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target
from tests.oracles.tree_naive import Options, Problem, grow
from tests.oracles.tree_naive_model import NaiveModel
from tests.oracles.tree_tables import real_numbers, tables
from tests.oracles.tree_walk import assert_tree

CRITERIA = ["gini", "entropy", "gain_ratio", "error", "squared_error", "absolute_error"]
MISSING_POLICIES = ["learned", "branch", "majority"]


@pytest.mark.parametrize("missing", MISSING_POLICIES)
@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(3)
@given(data=st.data())
def test_comparison_passes_on_naive_trees(criterion, splits, missing, data):
    table = data.draw(tables(criterion, with_missing=True, rows=25))
    growth = data.draw(st.sampled_from(["depth_first", "best_first", "breadth_first"]))
    maximum = data.draw(st.sampled_from([None, 2, 4]))
    options = Options(criterion, splits, missing, max_leaf_nodes=maximum, growth=growth)
    problem = Problem(table.columns, table.target, options)
    assert_tree(NaiveModel(problem), problem)


def corrupted(problem, corrupt):
    model = NaiveModel(problem)
    corrupt(model)
    return model


def use_second_best(model):
    """Use the last, not the first, of the best candidates in the root."""
    table = model.problem
    root = grow(table)[0]
    model.__init__(table, [root, *model.nodes[1:]])
    root.split = root.best[-1]
    root.children = [1, 2]


@pytest.mark.parametrize(
    "corrupt",
    [
        use_second_best,
        lambda model: model.tree_.gain.__setitem__(0, model.tree_.gain[0] + 1e-6),
        lambda model: model.tree_.impurity.__setitem__(2, 0.1),
        lambda model: model.tree_.ties.__setitem__(0, 0),
        lambda model: model.tree_.n_rows.__setitem__(1, 3),
        lambda model: model.tree_.node_values.__setitem__((1, 0), 7.0),
        lambda model: model.nodes[0].children.reverse(),
        lambda model: model.tree_.reasons.__setitem__(1, "max_depth"),
        lambda model: model.feature_importances_.__setitem__(0, 0.9),
        lambda model: model.tree_.column.__setitem__(0, 1),
        lambda model: model.tree_.threshold.__setitem__(0, 1.0),
    ],
)
def test_comparison_fails_on_corrupted_trees(corrupt):
    columns = [Column("float", [1.0, 2.0, 3.0, 4.0]), Column("nominal", [0, 0, 1, 1], ("a", "b"))]
    problem = Problem(columns, Target([0, 1, 1, 0], [1] * 4, 2))
    assert_tree(NaiveModel(problem), problem)
    with pytest.raises((AssertionError, IndexError)):
        assert_tree(corrupted(problem, corrupt), problem)


def test_comparison_fails_on_another_growth_order():
    table = real_numbers(5, 20, ["float", "nominal"], 3)
    one, other = (
        Problem(table.columns, table.target, Options(growth=growth))
        for growth in ("depth_first", "breadth_first")
    )
    assert_tree(NaiveModel(one), one, near=1e-9)
    with pytest.raises(AssertionError):
        assert_tree(NaiveModel(one), other, near=1e-9)
