"""Tests of the naive forest: its trees, its rows, and the comparison of forests."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.budget import examples
from tests.oracles.forest_bag import sample_weights
from tests.oracles.forest_naive import (
    ForestOptions,
    ForestProblem,
    column_candidates,
    columns_in_turn,
    grow_forest,
    importances,
    sampled_tree,
)
from tests.oracles.forest_stand_in import StandInForest
from tests.oracles.forest_tables import (
    forest_options,
    forest_problem,
    forest_tables,
    tables_for,
    unit_weight_table,
)
from tests.oracles.forest_walk import assert_forest
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target
from tests.oracles.tree_naive import Options, Problem, grow
from tests.oracles.tree_naive import importances as tree_importances

CRITERIA = ["gini", "entropy", "squared_error", "absolute_error"]
WEIGHTS = ["one", "integer", "fractional"]


# Trees


def same_nodes(found, expected):
    assert [n.rows for n in found] == [n.rows for n in expected]
    assert [n.children for n in found] == [n.children for n in expected]
    assert [n.split for n in found] == [n.split for n in expected]


@pytest.mark.parametrize("criterion", CRITERIA)
@examples(12)
@given(data=st.data())
def test_trees_of_all_columns_equal_naive_trees_of_the_drawn_weights(criterion, data):
    weights = data.draw(st.sampled_from(WEIGHTS))
    table = data.draw(tables_for(criterion, weights=weights, wild=True))
    max_leaves, fraction = (
        data.draw(st.sampled_from([None, 3])),
        data.draw(st.sampled_from([None, 0.6])),
    )
    options = data.draw(
        forest_options(
            table,
            criterion=criterion,
            max_features=None,
            max_leaf_nodes=max_leaves,
            max_samples=fraction,
            bootstrap=data.draw(st.booleans()),
        )
    )
    problem = forest_problem(table, options)
    for member in grow_forest(problem):
        target = replace(table.target, weights=sample_weights(problem, member.seed))
        plain = Options(criterion, missing=options.missing, max_leaf_nodes=max_leaves)
        naive = Problem(table.columns, target, plain)
        same_nodes(member.nodes, grow(naive))
        one = replace(problem, target=target, options=options)
        assert importances(one, [member]) == pytest.approx(
            [float(value) for value in tree_importances(naive, member.nodes)]
        )


def test_all_rows_without_bootstrap():
    table = unit_weight_table(2, 20, ["float", "nominal"], 3)
    options = ForestOptions(bootstrap=False)
    one, other, third = grow_forest(forest_problem(table, options))
    same_nodes(one.nodes, grow(table.problem(Options())))
    same_nodes(one.nodes, other.nodes)
    same_nodes(one.nodes, third.nodes)


@examples(25)
@given(data=st.data())
def test_nodes_search_their_drawn_columns_first(data):
    table = data.draw(forest_tables(columns=6))
    per = data.draw(st.sampled_from(["node", "both"]))
    problem = forest_problem(table, data.draw(forest_options(table, per)))
    for member in grow_forest(problem):
        for node in member.nodes:
            together, later = columns_in_turn(member, node.path)
            assert sorted([*together, *later]) == member.usable
            assert len(together) == min(problem.options.max_features, len(member.usable))
            if node.split is None or node.split.column in together:
                continue
            before = [*together, *later[: later.index(node.split.column)]]
            assert not any(column_candidates(member, j, node.rows, node.path) for j in before)


def test_columns_per_tree_and_per_node_differ():
    table = unit_weight_table(4, 30, ["float"] * 5, 2)
    per_tree = ForestOptions(seed=1, max_features=2, max_features_per="tree", n_estimators=8)
    members = grow_forest(forest_problem(table, per_tree))
    used = [{node.split.column for node in m.nodes if node.split} for m in members]
    assert all(columns <= set(m.usable) for columns, m in zip(used, members, strict=True))
    assert len({tuple(m.usable) for m in members}) > 2
    per_node = replace(per_tree, max_features_per="node")
    used = [
        {node.split.column for node in m.nodes if node.split}
        for m in grow_forest(forest_problem(table, per_node))
    ]
    assert max(len(columns) for columns in used) > 2


def test_node_paths_are_unique():
    table = unit_weight_table(4, 40, ["float", "nominal"], 3, missing=0.2)
    options = ForestOptions(missing="branch", max_features=1)
    for member in grow_forest(forest_problem(table, options)):
        paths = [node.path for node in member.nodes]
        assert paths[0] == 1
        assert len(set(paths)) == len(paths) > 5


# Rows


@pytest.mark.parametrize("how", ["integer", "fractional"])
@pytest.mark.parametrize("replaced", [True, False])
@examples(12)
@given(data=st.data())
def test_rows_of_weight_zero_are_ignored(how, replaced, data):
    table = data.draw(forest_tables(weights=how))
    fraction = data.draw(st.sampled_from([None, 0.5, 1]))
    options = data.draw(forest_options(table, bootstrap=replaced, max_samples=fraction))
    problem = forest_problem(table, options)
    kept = problem.rows
    columns = [replace(c, values=[c.values[i] for i in kept]) for c in table.columns]
    values = [table.target.values[i] for i in kept]
    weights = [table.target.weights[i] for i in kept]
    small = ForestProblem(columns, replace(table.target, values=values, weights=weights), options)
    for t in range(3):
        whole, part = sampled_tree(problem, t), sampled_tree(small, t)
        assert part.problem.target.weights == [whole.problem.target.weights[i] for i in kept]


@examples(20)
@given(
    seed=st.integers(0, 99),
    weights=st.lists(st.integers(0, 3), min_size=1, max_size=8).filter(any),
)
def test_integer_weight_equals_repeated_rows(seed, weights):
    def drawn(given):
        column = Column("float", [0.0] * len(given))
        options = ForestOptions(max_samples=1.0)
        problem = ForestProblem([column], Target([0] * len(given), given, 1), options)
        return sample_weights(problem, seed)

    owner = [row for row, weight in enumerate(weights) for _ in range(weight)]
    found = Counter()
    for row, times in zip(owner, drawn([1] * len(owner)), strict=True):
        found[row] += times
    assert drawn(weights) == [found[row] for row in range(len(weights))]


@pytest.mark.parametrize(
    ("weights", "replaced", "fraction", "total"),
    [
        ([1] * 8, True, None, 8),
        ([2, 3, 0, 1], True, None, 3),
        ([2, 3, 0, 1], True, 0.5, 3),
        ([0.5, 0.25, 0, 1], True, None, 3),
        ([0.5, 0.25, 0, 1], True, 1.0, 2),
        ([1] * 8, True, 0.01, 1),
        ([1] * 8, True, 20, 20),
        ([1] * 8, False, 0.25, 2),
        ([1] * 8, False, 3, 3),
        ([1] * 8, False, None, 8),
        ([2, 3, 0, 1], False, None, 6),
    ],
)
def test_number_of_draws(weights, replaced, fraction, total):
    options = ForestOptions(bootstrap=replaced, max_samples=fraction)
    column = Column("float", [0.0] * len(weights))
    problem = ForestProblem([column], Target([0] * len(weights), weights, 1), options)
    assert sum(sample_weights(problem, 17)) == total


@pytest.mark.parametrize("how", ["balanced", "balanced_subsample"])
def test_balanced_classes_have_equal_weight(how):
    values = [0] * 9 + [1] * 3
    column = Column("float", list(range(12)))
    options = ForestOptions(class_weight=how, bootstrap=how != "balanced")
    member = sampled_tree(ForestProblem([column], Target(values, [1] * 12, 2), options), 0)
    weights = member.problem.target.weights
    assert sum(weights[:9]) == sum(weights[9:]) == sum(weights) / 2 > 0


# The comparison


@pytest.mark.parametrize("per", ["node", "tree", "both"])
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(6)
@given(data=st.data())
def test_comparison_accepts_naive_forests(criterion, per, data):
    table = data.draw(tables_for(criterion, weights=data.draw(st.sampled_from(WEIGHTS))))
    options = data.draw(
        forest_options(
            table,
            per,
            criterion=criterion,
            thresholds=data.draw(st.sampled_from(["midpoint", "random"])),
            n_thresholds=2,
            max_leaf_nodes=data.draw(st.sampled_from([None, 3])),
        )
    )
    problem = forest_problem(table, options)
    assert_forest(StandInForest(problem), problem)


def mixed_problem(**options):
    table = unit_weight_table(8, 24, ["float", "nominal", "float", "int"], 3, missing=0.1)
    given = {"seed": 5, "max_features": 2, "n_estimators": 2, "max_depth": 3}
    return forest_problem(table, ForestOptions(**{**given, **options}))


def swapped_missing_branch(model):
    node = next(n for n in model.trees[0].nodes if n.split)
    node.split = replace(node.split, missing_branch=1 - node.split.missing_branch)


def moved_threshold(model):
    node = next(n for n in model.trees[0].nodes if n.split and n.split.groups is None)
    node.split = replace(node.split, threshold=node.split.threshold + 1e-9)


def swapped_groups(model):
    node = next(n for n in model.trees[1].nodes if n.split and n.split.groups)
    node.split = replace(node.split, groups=node.split.groups[::-1])


def other_value(model):
    tree = model.trees[0]
    tree.node_values[tree.is_leaf.index(True)] += 1


def early_leaf(model):
    tree = model.trees[0]
    tree.is_leaf[tree.nodes.index(next(n for n in tree.nodes if n.depth and n.split))] = True


def other_seed(model):
    model.forest_.tree_seeds[1] += 1


@pytest.mark.parametrize(
    "change",
    [swapped_missing_branch, moved_threshold, swapped_groups, other_value, early_leaf, other_seed],
)
def test_comparison_rejects_changed_forests(change):
    problem = mixed_problem()
    model = StandInForest(problem)
    assert_forest(model, problem)
    change(model)
    with pytest.raises(AssertionError):
        assert_forest(model, problem)


@pytest.mark.parametrize(
    "other",
    [
        {"max_features": 3},
        {"max_features_per": "tree"},
        {"max_features_per": "both", "tree_features": 3},
        {"bootstrap": False},
        {"max_samples": 0.5},
        {"class_weight": (1, 5, 2)},
        {"class_weight": "balanced_subsample"},
        {"criterion": "entropy"},
        {"missing": "branch"},
        {"thresholds": "random"},
        {"max_depth": 2},
        {"min_samples_leaf": 5},
    ],
    ids=str,
)
def test_comparison_detects_other_options(other):
    with pytest.raises((AssertionError, StopIteration, IndexError)):
        assert_forest(StandInForest(mixed_problem()), mixed_problem(**other))
