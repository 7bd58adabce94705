"""Out-of-bag results, importances and quantiles compared with the naive forest."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.budget import examples
from tests.oracles.forest_fits import fit
from tests.oracles.forest_naive import ForestOptions, sampled_tree
from tests.oracles.forest_out_of_bag import (
    corrected_importances,
    curve,
    decision_function,
    normal_band,
    others,
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
from tests.oracles.forest_walk import assert_forest
from tests.oracles.preset_choice import is_short
from tests.oracles.tree_impurity import exact
from tests.oracles.tree_tables import fresh_rows

# Rows that are never out of bag are counted in a warning.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

NEAR = 1e-9
CRITERIA = ["gini", "squared_error"]
WEIGHTS = st.sampled_from(["one", "integer", "fractional"])
QUANTILES = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]


def fitted(table, options, **more):
    """Return a fitted forest, its problem, and its naive trees, which are equal."""
    problem = forest_problem(table, options)
    model = fit(table, options, **more)
    return model, problem, assert_forest(model, problem)


def assume_rows(table, options, min_rows=2):
    """Assume that enough rows of different targets are out of bag."""
    problem = forest_problem(table, options)
    trees = range(options.n_estimators)
    weights_of_trees = [sampled_tree(problem, t).problem.target.weights for t in trees]
    rows = [i for i in problem.rows if any(weights[i] == 0 for weights in weights_of_trees)]
    assume(len(rows) >= min_rows)
    assume(len({table.target.values[i] for i in rows}) > 1)


def mixed_table(criterion, seed=0, n=24):
    kinds = ["float", "nominal", "int", "ordinal", "float"]
    return unit_weight_table(seed, n, kinds, 3 if criterion == "gini" else None, 0.1)


# Predictions


def oob_predictions(model, criterion):
    """Return the out-of-bag predictions as a 2-D array."""
    if criterion == "gini":
        return model.oob_decision_function_
    return model.oob_prediction_[:, np.newaxis]


def assert_oob_predictions(found, problem, members):
    """Check values, and NaN for rows never out of bag and rows of weight zero."""
    predicted, there = decision_function(problem, members), set(problem.rows)
    expected = [row if i in there else None for i, row in enumerate(predicted)]
    width = problem.target.n_classes or 1
    rows = [[np.nan] * width if row is None else [float(p) for p in row] for row in expected]
    np.testing.assert_allclose(found, rows, rtol=NEAR, atol=NEAR)


@pytest.mark.parametrize("replaced", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
@examples(10)
@given(data=st.data())
def test_oob_predictions_match_naive(criterion, replaced, data):
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    fraction = data.draw(st.sampled_from([0.5, 0.75] if not replaced else [None, 0.5]))
    options = data.draw(
        forest_options(table, criterion=criterion, bootstrap=replaced, max_samples=fraction)
    )
    assume_rows(table, options)
    model, problem, members = fitted(table, options, oob_score=True)
    assert_oob_predictions(oob_predictions(model, criterion), problem, members)


@pytest.mark.parametrize("probability", ["plain", "laplace"])
def test_oob_probabilities_match_naive(probability):
    table = mixed_table("gini", seed=3)
    options = ForestOptions(max_features=2, max_depth=2, leaf_probability=probability)
    model, problem, members = fitted(table, options, oob_score=True)
    assert_oob_predictions(model.oob_decision_function_, problem, members)


# Score and curve


def is_doubtful(problem, members, i):
    """Return whether rounding decides which class of a row is most probable."""
    trees = others(problem, members, i)
    predicted = [m.predict(m.leaf(problem.row(i))) for m in trees]
    sums = sorted(sum(column) for column in zip(*predicted, strict=True))
    exact = all(is_short(p) for row in predicted for p in row)
    return not exact and len(sums) > 1 and sums[-1] - sums[-2] < Fraction(1, 10**9)


def assert_error(problem, members, point, found):
    """Check the error of the first trees; classes tied up to rounding may count either way."""
    if problem.target.n_classes is None:
        assert found == pytest.approx(float(point.error), rel=NEAR, abs=NEAR)
        return
    doubtful = [is_doubtful(problem, members, i) for i in point.rows]
    sure = sum(e for e, doubt in zip(point.losses, doubtful, strict=True) if not doubt)
    wrong = round(found * len(point.rows))
    assert found == pytest.approx(wrong / len(point.rows), abs=NEAR)
    assert sure <= wrong <= sure + sum(doubtful)


def assert_curve(model, problem, members):
    found = model.oob_curve_
    points = curve(problem, members)
    assert np.asarray(found.n_trees).tolist() == [point.trees for point in points]
    assert np.asarray(found.n_rows).tolist() == [len(point.rows) for point in points]
    for t, point in enumerate(points):
        if not point.rows:
            assert np.isnan([found.error[t], found.lower[t], found.upper[t]]).all()
            continue
        assert_error(problem, members[: point.trees], point, found.error[t])
        assert_band(problem, point, found, t)


def assert_band(problem, point, found, t):
    n = len(point.rows)
    if problem.target.n_classes:
        low, high = wilson(round(found.error[t] * n), n, found.confidence_level)
    elif n > 1:
        low, high = normal_band(point.losses, found.confidence_level)
    else:  # one number has no spread
        return
    assert found.upper[t] == pytest.approx(high, rel=NEAR, abs=NEAR)
    # No error is below zero.
    assert found.lower[t] == pytest.approx(max(0.0, low), rel=NEAR, abs=NEAR)


@pytest.mark.parametrize("criterion", CRITERIA)
@examples(12)
@given(data=st.data())
def test_curve_matches_naive(criterion, data):
    table = data.draw(tables_for(criterion))
    options = data.draw(forest_options(table, criterion=criterion, n_estimators=4))
    assume_rows(table, options)
    model, problem, members = fitted(table, options, oob_score=True)
    assert_curve(model, problem, members)
    last = model.oob_curve_.error[-1]
    if problem.target.n_classes:
        assert model.oob_score_ == pytest.approx(1 - last)
    else:
        assert model.oob_score_ == pytest.approx(float(score(problem, members)), abs=NEAR)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_curve_of_more_trees_matches_naive(criterion):
    table = mixed_table(criterion, seed=1)
    options = ForestOptions(criterion, n_estimators=12, max_features=2, seed=2, max_depth=3)
    model, problem, members = fitted(table, options, oob_score=True)
    assert_curve(model, problem, members)
    assert model.oob_curve_.n_rows[-1] > len(table.y) - 3


@pytest.mark.parametrize("criterion", CRITERIA)
def test_oob_results_after_warm_start_match_naive(criterion):
    table = mixed_table(criterion, seed=5)
    options = ForestOptions(criterion, n_estimators=6, max_features=2, seed=3, max_depth=3)
    model = fit(table, options, n_estimators=2, warm_start=True, oob_score=True)
    model.set_params(n_estimators=6).fit(table.frame, table.y)
    problem = forest_problem(table, options)
    members = assert_forest(model, problem)
    assert_oob_predictions(oob_predictions(model, criterion), problem, members)
    assert_curve(model, problem, members)


# Importances


def assert_importance(found, expected):
    for name, field in (
        ("importances", "value"),
        ("standard_errors", "error"),
        ("null_band", "band"),
    ):
        wanted = [getattr(column, field) for column in expected]
        np.testing.assert_allclose(getattr(found, name), wanted, rtol=NEAR, atol=NEAR)


@pytest.mark.parametrize("criterion", CRITERIA)
@examples(10)
@given(data=st.data())
def test_permutation_importance_matches_naive(criterion, data):
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    options = data.draw(forest_options(table, criterion=criterion))
    assume_rows(table, options)
    model, problem, members = fitted(table, options, importance=True)
    assert_importance(model.oob_importance_, permutation_importance(problem, members))


@pytest.mark.parametrize("confidence_level", [0.5, 0.99])
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_permutation_importance_after_fit_matches_naive(criterion, repeats, confidence_level):
    table = mixed_table(criterion, seed=2)
    options = ForestOptions(criterion, n_estimators=6, max_features=2, seed=7, max_depth=3)
    model, problem, members = fitted(table, options)
    found = model.oob_importance(
        table.frame, table.y, n_repeats=repeats, confidence_level=confidence_level
    )
    assert_importance(found, permutation_importance(problem, members, repeats, confidence_level))
    assert list(found.feature_names) == list(table.frame.columns)
    above = np.where(found.importances > found.null_band, found.importances, 0)
    np.testing.assert_array_equal(found.above_noise, above)


@examples(10)
@given(data=st.data())
def test_permutation_importance_of_weighted_rows_matches_naive(data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    options = data.draw(forest_options(table, criterion=criterion))
    assume_rows(table, options)
    model, problem, members = fitted(table, options)
    given_rows = table.frame, table.y, table.sample_weight
    expected = permutation_importance(problem, members, repeats=2)
    assert_importance(model.oob_importance(*given_rows, n_repeats=2), expected)


@pytest.mark.parametrize("replaced", [True, False])
@pytest.mark.parametrize("criterion", [*CRITERIA, "entropy"])
@examples(10)
@given(data=st.data())
def test_corrected_importances_match_naive(criterion, replaced, data):
    table = data.draw(tables_for(criterion, weights=data.draw(WEIGHTS)))
    fraction = None if replaced else 0.6
    options = data.draw(
        forest_options(table, criterion=criterion, bootstrap=replaced, max_samples=fraction)
    )
    assume_rows(table, options)
    model, problem, members = fitted(table, options)
    assert_corrected(model, problem, members, table)


def assert_corrected(model, problem, members, table):
    expected = [float(v) for v in corrected_importances(problem, members)]
    found = model.corrected_importances(table.frame, table.y, table.sample_weight)
    np.testing.assert_allclose(found, expected, rtol=NEAR, atol=NEAR)


@pytest.mark.parametrize("how", ["integer", "fractional"])
def test_corrected_importances_of_weighted_subsamples_match_naive(how):
    table = unit_weight_table(3, 20, ["float", "float"])
    weights = [
        [1, 2, 3, 1][i % 4] if how == "integer" else [0.5, 1, 1.5, 2][i % 4] for i in range(20)
    ]
    target = replace(table.target, weights=[exact(w) for w in weights])
    table = replace(table, target=target, weighted=True)
    options = ForestOptions("squared_error", bootstrap=False, max_samples=0.6, max_depth=3)
    model, problem, members = fitted(table, options)
    assert_corrected(model, problem, members, table)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_corrected_importances_of_more_trees_match_naive(criterion):
    table = mixed_table(criterion, seed=6)
    options = ForestOptions(criterion, n_estimators=8, max_features=2, max_samples=0.6)
    model, problem, members = fitted(table, options)
    assert_corrected(model, problem, members, table)
    assert any(v < 0 for v in corrected_importances(problem, members))


# Quantiles


def assert_quantiles(model, problem, members, table):
    rows = [table.row(i) for i in range(len(table.y))]
    weights = [row_weights(problem, members, row) for row in rows]
    expected = [[float(quantile(problem, w, q)) for q in QUANTILES] for w in weights]
    found = model.predict_quantiles(table.frame, QUANTILES)
    assert found.tolist() == expected
    one = model.predict_quantiles(table.frame, QUANTILES[2])
    assert one.tolist() == [row[2] for row in expected]
    half = model.predict_interval(table.frame, 0.5, method="quantiles")
    assert half.tolist() == [[row[2], row[4]] for row in expected]


@examples(15)
@given(data=st.data())
def test_quantiles_match_naive(data):
    table = data.draw(tables_for("squared_error", weights=data.draw(WEIGHTS)))
    fraction = data.draw(st.sampled_from([None, 0.6]))
    options = data.draw(
        forest_options(table, criterion="squared_error", max_samples=fraction, max_depth=2)
    )
    model, problem, members = fitted(table, options, quantiles=True)
    assert_quantiles(model, problem, members, table)
    assert_quantiles(model, problem, members, data.draw(fresh_rows(table, 5)))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_quantiles_of_more_trees_match_naive(criterion):
    table = mixed_table(criterion, seed=8)
    options = ForestOptions(criterion, n_estimators=7, max_features=3, min_samples_leaf=4)
    model, problem, members = fitted(table, options, quantiles=True)
    assert_quantiles(model, problem, members, table)
