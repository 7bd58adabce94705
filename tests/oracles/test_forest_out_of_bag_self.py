"""Tests of the naive out-of-bag results: hand computations, identities and SciPy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.budget import examples
from tests.oracles.forest_draws import bootstrap, permutation, tree_seed
from tests.oracles.forest_naive import (
    ForestOptions,
    ForestProblem,
    Member,
    gain_of,
    grow,
    grow_forest,
)
from tests.oracles.forest_out_of_bag import (
    corrected_importances,
    curve,
    decision_function,
    decreases,
    normal_band,
    out_of_bag,
    outcome,
    permutation_importance,
    quantile,
    row_weights,
    score,
    wilson,
)
from tests.oracles.forest_tables import (
    forest_options,
    forest_problem,
    tables_for,
    unit_weight_table,
)
from tests.oracles.tree_candidates import Column
from tests.oracles.tree_impurity import Target, weight
from tests.oracles.tree_naive import Problem


def by_hand(problem, *counts):
    """Return a forest whose trees draw rows as often as given."""
    members = []
    for t, weights in enumerate(counts):
        own = Problem(problem.columns, replace(problem.target, weights=weights), problem.options)
        member = Member(own, tree_seed(0, t), list(range(len(problem.columns))))
        members.append(replace(member, nodes=grow(member)))
    return members


def two_stumps(values, n_classes):
    """Return four rows with values 0, 1, 2, 3, and trees with three of them each."""
    column = Column("float", [0.0, 1.0, 2.0, 3.0])
    target = Target(values, [1] * 4, n_classes)
    criterion = "gini" if n_classes else "squared_error"
    problem = ForestProblem([column], target, ForestOptions(criterion, max_depth=1))
    return problem, by_hand(problem, [1, 1, 1, 0], [0, 2, 1, 1])


# Predictions and the curve


def test_oob_probabilities_by_hand():
    problem, members = two_stumps([0, 1, 1, 0], 2)
    # The first tree splits at 1/2, with class 1 above; the second at 5/2, with class 1 below.
    assert decision_function(problem, members) == [[0, 1], None, None, [0, 1]]
    assert score(problem, members) == 0
    found = curve(problem, members)
    assert [(p.trees, p.rows, p.error) for p in found] == [(1, [3], 1), (2, [0, 3], 1)]


def test_oob_values_by_hand():
    problem, members = two_stumps([0, 4, 4, 8], None)
    # The first tree predicts 0 and 4, the second 4 and 8.
    assert decision_function(problem, members) == [[4], None, None, [4]]
    assert [p.losses for p in curve(problem, members)] == [[16], [16, 16]]
    assert score(problem, members) == 1 - Fraction(32, 32)


@pytest.mark.parametrize(("wrong", "n"), [(0, 3), (2, 7), (5, 5)])
def test_wilson_interval_matches_scipy(wrong, n):
    interval = binomtest(wrong, n).proportion_ci(0.9, method="wilson")
    assert wilson(wrong, n, 0.9) == pytest.approx((interval.low, interval.high))


def test_normal_band_is_symmetric():
    low, high = normal_band([1, 2, 3, 6], 0.95)
    assert (low + high) / 2 == 3
    # Squares 4, 1, 0 and 9: variance 14 / 3.
    assert high - 3 == pytest.approx(1.959964 * (14 / 3 / 4) ** 0.5)


# Permutation importance


def test_permutation_importance_by_hand():
    column, noise = Column("float", [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]), Column("float", [7.0] * 6)
    target = Target([0, 0, 0, 1, 1, 1], [1] * 6, 2)
    problem = ForestProblem([column, noise], target)
    members = by_hand(problem, [1, 0, 0, 1, 0, 0])
    rows = out_of_bag(problem, members[0])
    assert rows == [1, 2, 4, 5]
    order = permutation(members[0].seed, 0, 0, 4)
    wrong = [
        int(column.values[i] != column.values[rows[index]])
        for i, index in zip(rows, order, strict=True)
    ]
    one, other = permutation_importance(problem, members, confidence_level=0.9)
    assert one.value == np.mean(wrong)
    assert one.error == pytest.approx(np.std(wrong, ddof=1) / 2)
    # Two columns: 0.1 / 4 on either side; twice the variance.
    assert one.band == pytest.approx(1.959964 * np.sqrt(2) * one.error)
    assert (other.value, other.error, other.band) == (0, 0, 0)


def test_informative_column_is_important():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(40, 2))
    y = (values[:, 0] > 0).astype(int).tolist()
    columns = [Column("float", column.tolist()) for column in values.T]
    options = ForestOptions(n_estimators=12, seed=4)
    problem = ForestProblem(columns, Target(y, [1] * 40, 2), options)
    members = grow_forest(problem)
    signal, noise = permutation_importance(problem, members, repeats=2)
    assert signal.value > 0.25 > signal.band
    assert abs(noise.value) <= noise.band
    corrected = corrected_importances(problem, members)
    assert corrected[0] > Fraction(1, 4)
    assert abs(corrected[1]) < Fraction(1, 20)


# Corrected decrease of impurity


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@examples(15)
@given(data=st.data())
def test_corrected_importance_on_own_rows_is_the_plain_decrease(criterion, data):
    table = data.draw(tables_for(criterion))
    problem = forest_problem(table, data.draw(forest_options(table, criterion=criterion)))
    for member in grow_forest(problem):
        target, p = member.problem.target, len(table.columns)
        expected = [0] * p
        for node in member.nodes:
            if node.split:
                own = weight(target, node.rows) * gain_of(member, node.split)
                expected[node.split.column] += own / member.problem.weight
        found = [0] * p
        for i in member.problem.rows:
            own_decreases = decreases(problem, member, i, lambda i, _: outcome(problem, i))
            for j, own in enumerate(own_decreases):
                found[j] += target.weights[i] * own / member.problem.weight
        assert found == expected


def test_corrected_importances_by_hand():
    problem, members = two_stumps([0, 0, 1, 1], 2)
    assert corrected_importances(problem, members) == [0]  # no row has another to compare with
    # The tree splits at 3/2. The fractions of row 1 change from 1/2, 1/2 to 1, 0, those of row 2
    # to 0, 1; relative to the other row each has 1 in its class and -1 in the other.
    assert corrected_importances(problem, by_hand(problem, [1, 0, 0, 1])) == [1]
    assert corrected_importances(problem, by_hand(problem, [1, 1, 1, 1])) == [0]


# Quantiles


@pytest.mark.parametrize("q", [0.1, 0.25, 0.5, 0.75, 0.9, 1.0])
def test_quantiles_of_one_leaf_are_those_of_all_rows(q):
    table = unit_weight_table(1, 12, ["float"])
    options = ForestOptions("squared_error", min_samples_leaf=12)
    problem = forest_problem(table, options)
    members = grow_forest(problem)
    weights = row_weights(problem, members, table.row(0))
    expected = np.quantile(table.y, q, method="inverted_cdf")
    assert float(quantile(problem, weights, q)) == expected


@examples(20)
@given(data=st.data())
def test_row_weights_sum_to_one(data):
    kind = data.draw(st.sampled_from(["one", "integer", "fractional"]))
    table = data.draw(tables_for("squared_error", weights=kind))
    options = data.draw(forest_options(table, criterion="squared_error"))
    problem = forest_problem(table, options)
    weights = row_weights(problem, grow_forest(problem), table.row(0))
    assert sum(weights.values()) == 1
    assert list(weights) == problem.rows
    positive = [table.target.values[i] for i in weights if weights[i]]
    assert quantile(problem, weights, 1) == max(positive)
    assert quantile(problem, weights, 1e-6) == min(positive)


def test_weight_two_equals_repeated_row():
    column = Column("float", [0.0, 0.0, 0.0])
    problem = ForestProblem(
        [column], Target([1, 2, 3], [2, 1, 1]), ForestOptions(criterion="squared_error")
    )
    weights = row_weights(problem, by_hand(problem, [1, 1, 1]), [0.0])
    assert list(weights.values()) == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    assert [quantile(problem, weights, q) for q in (0.5, 0.51, 0.75, 0.76)] == [1, 2, 2, 3]


def test_rows_are_out_of_bag_for_about_a_third_of_the_trees():
    drawn = [bootstrap(tree_seed(2, t), [1] * 30, 30) for t in range(100)]
    fraction = np.mean(np.array(drawn) == 0)
    assert fraction == pytest.approx((1 - 1 / 30) ** 30, abs=0.03)
