"""MATLAB's TreeBagger: defaults, predictions, out-of-bag errors, importances, more trees."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import RandomForestClassifier, RandomForestRegressor, datasets
from ceiba.compat.matlab import TreeBagger, predict
from tests.budget import examples
from tests.compat.matlab import bagger_naive as naive

MODES = ["cumulative", "individual", "ensemble"]


@pytest.fixture(scope="module")
def iris():
    meas, species = datasets.load("iris", as_frame=True)
    return meas.to_numpy(), np.asarray(species)


@pytest.fixture(scope="module")
def bag(iris):
    return TreeBagger(12, *iris, "OOBPrediction", "on", "OOBPredictorImportance", "on")


@pytest.fixture(scope="module")
def regression_bag():
    X, _, y = naive.noisy(1, missing=0.1)
    return TreeBagger(9, X, y, Method="regression", OOBPrediction="on", random_state=3), X, y


# Defaults


@pytest.mark.parametrize(
    ("method", "columns", "drawn", "leaf"),
    [
        ("classification", 1, 1, 1), ("classification", 4, 2, 1), ("classification", 10, 4, 1),
        ("regression", 1, 1, 5), ("regression", 6, 2, 5), ("regression", 10, 4, 5),
    ],
)  # fmt: skip
def test_defaults(method, columns, drawn, leaf):
    X = np.random.default_rng(0).normal(size=(30, columns))
    small = TreeBagger(2, X, np.arange(30) % 2, Method=method)
    assert small.NumPredictorsToSample == small.model.max_features == drawn
    assert small.MinLeafSize == leaf
    assert small.InBagFraction == 1
    assert small.SampleWithReplacement
    assert small.Method == method
    assert TreeBagger(2, X, np.arange(30) % 2, "Method", method[0].upper()).Method == method
    assert small.PredictorNames == [f"x{j + 1}" for j in range(columns)]
    with pytest.raises(ValueError, match="OOBPrediction='on'"):
        small.oobError()
    with pytest.raises(ValueError, match="OOBPredictorImportance='on'"):
        _ = small.OOBPermutedPredictorDeltaError


def test_predictions_equal_those_of_the_forest(iris, bag):
    X, y = iris
    forest = RandomForestClassifier(12, max_features=2, missing="majority").fit(X, y)
    label, score = bag.predict(X, nargout=2)
    np.testing.assert_array_equal(score, forest.predict_proba(X))
    np.testing.assert_array_equal(label, forest.predict(X))
    np.testing.assert_array_equal(predict(bag, X), label)
    assert bag.ClassNames.tolist() == ["setosa", "versicolor", "virginica"]
    assert bag.NumTrees == len(bag.Trees) == 12
    grown = TreeBagger(8, X, X[:, 3], "method", "regression", "nvartosample", "all", "minleaf", 1)
    regression_bag = RandomForestRegressor(8, missing="majority").fit(X, X[:, 3])
    np.testing.assert_array_equal(grown.predict(X), regression_bag.predict(X))


def test_repr(bag):
    assert repr(bag).splitlines() == [
        "TreeBagger with 12 trees",
        "                  Method: classification",
        "           NumPredictors: 4",
        "   NumPredictorsToSample: 2",
        "             MinLeafSize: 1",
        "           InBagFraction: 1.0",
        "   SampleWithReplacement: True",
        "           OOBPrediction: True",
        "  OOBPredictorImportance: True",
        "              ClassNames: ['setosa', 'versicolor', 'virginica']",
    ]


# Out of bag


@examples(25)
@given(
    seed=st.integers(0, 10**6), n=st.integers(3, 30), trees=st.integers(1, 6),
    method=st.sampled_from(["classification", "regression"]), weighted=st.booleans(),
    default=st.booleans(), leaf=st.integers(1, 4),
)  # fmt: skip
def test_oob_predictions_and_errors_equal_naive_ones(
    seed, n, trees, method, weighted, default, leaf
):
    X, y, signal = naive.noisy(seed, n, 0.1)
    classification = method == "classification"
    w = np.random.default_rng(seed).integers(1, 4, n) if weighted else np.ones(n, int)
    bag = TreeBagger(
        trees, X, y if classification else signal, Method=method, MinLeafSize=leaf,
        random_state=seed, OOBPrediction="on", Weights=w,
    )  # fmt: skip
    if not default:
        bag = bag.setDefaultYfit("" if classification else np.nan)
    true = np.unique(y, return_inverse=True)[1] if classification else signal
    default_value = (
        np.bincount(true, w) / w.sum() if classification else [np.average(signal, weights=w)]
    )
    default_value = np.array(default_value) if default else None
    predictions, oob = naive.predictions(bag, X), bag.OOBIndices
    means = naive.row_means(predictions, oob, np.ones(trees), default_value)
    found = bag.oobPredict(nargout=3 if classification else 2)
    for i, mean in enumerate(means):
        if mean is None:
            assert found[0][i] is None if classification else np.isnan(found[0][i])
            continue
        if classification:
            np.testing.assert_allclose(found[1][i], mean, atol=1e-12)
            assert found[1][i, np.unique(y) == found[0][i]] == found[1][i].max()
        else:
            assert found[0][i] == pytest.approx(mean[0])
        if oob[i].any():
            np.testing.assert_allclose(
                found[-1][i], naive.row_deviation(predictions, oob, i), atol=1e-9
            )
        else:
            assert np.isnan(found[-1][i]).all()
    for mode in MODES:
        expected = naive.errors(predictions, oob, true, w, mode, default_value)
        np.testing.assert_allclose(bag.oobError(Mode=mode), expected, atol=1e-9)


def test_error_without_a_default_equals_the_oob_curve(bag, regression_bag):
    for one, none in ((bag, ""), (regression_bag[0], np.nan)):
        without_default = one.setDefaultYfit(none)
        curve = one.model.oob_curve_
        np.testing.assert_allclose(without_default.oobError(), curve.error)
        assert (one.oobError()[0] > curve.error[0]) == (curve.n_rows[0] < len(one.Y))
        predicted = ~np.isnan(
            np.reshape(without_default.oobPredict(nargout=2)[-1], (len(one.Y), -1))[:, 0]
        )
        np.testing.assert_array_equal(predicted, one.OOBIndices.any(axis=1))
    np.testing.assert_allclose(
        bag.setDefaultYfit("").oobPredict(nargout=2)[1], bag.model.oob_decision_function_
    )
    np.testing.assert_allclose(
        regression_bag[0].setDefaultYfit(np.nan).oobPredict(),
        regression_bag[0].model.oob_prediction_,
    )


def test_oob_rows_are_those_not_drawn(bag, iris):
    assert bag.OOBIndices.shape == (150, 12)
    assert bag.OOBIndices.dtype == bool
    assert 0.3 < bag.OOBIndices.mean() < 0.45
    for t in range(12):
        drawn = bag.Trees.draw_counts(t)
        assert drawn.sum() == 150
        np.testing.assert_array_equal(bag.OOBIndices[:, t], drawn == 0)
        label = np.unique(iris[1], return_inverse=True)[1]
        assert bag.Trees[t].ClassCount[0].tolist() == np.bincount(label, drawn).tolist()


def test_default_prediction_of_rows_in_every_bag():
    X, y, signal = naive.noisy(5)
    bag = TreeBagger(1, X, y, OOBPrediction="on")
    inside = ~bag.OOBIndices[:, 0]
    assert bag.DefaultYfit == np.bincount(y).argmax()
    label, score = bag.oobPredict(nargout=2)
    assert set(label[inside]) == {bag.DefaultYfit}
    np.testing.assert_allclose(score[inside], np.tile(np.bincount(y) / 60, (inside.sum(), 1)))
    none = bag.setDefaultYfit("")
    assert none.DefaultYfit == ""
    assert set(none.oobPredict()[inside]) == {None}
    assert none.setDefaultYfit("MostPopular").DefaultYfit == bag.DefaultYfit
    assert bag.DefaultYfit != ""  # bags are values
    regression_bag = TreeBagger(1, X, signal, Method="regression", OOBPrediction="on")
    assert regression_bag.DefaultYfit == pytest.approx(signal.mean())
    inside = ~regression_bag.OOBIndices[:, 0]
    assert set(regression_bag.setDefaultYfit(7).oobPredict()[inside]) == {7.0}
    with pytest.raises(ValueError, match="'MostPopular' or ''"):
        bag.setDefaultYfit("versicolor")
    with pytest.raises(ValueError, match="Yfit must be a number, or NaN for none,"):
        regression_bag.setDefaultYfit("mean")


# Importance


def test_importance_is_the_mean_over_the_deviation_of_trees():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(120, 2)), np.ones(120)])
    y = (X[:, 0] > 0).astype(int)
    bag = TreeBagger(8, X, y, OOBPredictorImportance="on", NumPredictorsToSample="all")
    own = [
        bag.model.drop_trees([o for o in range(8) if o != t]).oob_importance(bag.X, y).importances
        for t in range(8)
    ]
    importance = bag.OOBPermutedPredictorDeltaError
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(np.mean(own, axis=0) / np.std(own, axis=0, ddof=1))
    np.testing.assert_allclose(importance, expected)
    assert importance[0] > 3 > abs(importance[1])
    assert importance[2] == 0
    assert len(bag.oobError()) == 8  # importances include out-of-bag predictions
    with pytest.raises(ValueError, match="at least two trees with out-of-bag rows"):
        _ = TreeBagger(1, X, y, OOBVarImp="on").OOBPermutedPredictorDeltaError


def test_importance_in_regression(iris):
    X = iris[0]
    noise = np.random.default_rng(0).normal(size=150)
    columns = np.column_stack([X[:, 2], noise])
    bag = TreeBagger(20, columns, X[:, 3], Method="regression", OOBPredictorImportance="on")
    assert bag.OOBPermutedPredictorDeltaError[0] > 2
    assert bag.OOBPermutedPredictorDeltaError[0] > 3 * bag.OOBPermutedPredictorDeltaError[1]


# New rows


@pytest.mark.parametrize("mode", MODES)
def test_errors_of_new_rows_equal_naive_ones(mode):
    X, y, signal = naive.noisy(6)
    new, other, number = naive.noisy(7, 25, missing=0.2)
    rng = np.random.default_rng(0)
    weights, tree_weights = rng.uniform(0, 2, 25), rng.uniform(0, 1, 5)
    options = {"Mode": mode, "Weights": weights, "TreeWeights": tree_weights}
    for method, given_y, true in (("c", y, other), ("r", signal, number)):
        bag = TreeBagger(5, X, given_y, Method=method)
        predictions, oob = naive.predictions(bag, new), np.ones((25, 5), bool)
        expected = naive.errors(predictions, oob, true, weights, mode, None, tree_weights)
        np.testing.assert_allclose(bag.error(new, true, **options), expected)
        plain = naive.errors(predictions, oob, true, np.ones(25), mode, None)
        np.testing.assert_allclose(bag.error(new, true, "mode", mode), plain)
        if method == "c" and mode == "ensemble":
            assert bag.error(new, true, Mode=mode) == np.mean(bag.predict(new) != true)


@pytest.mark.parametrize("mode", MODES)
def test_margins_equal_naive_ones(mode):
    X, y, _ = naive.noisy(8)
    new, true, _ = naive.noisy(9, 20)
    bag = TreeBagger(4, X, y)
    predictions = naive.predictions(bag, new)
    stages = {
        "cumulative": [predictions[: t + 1].mean(axis=0) for t in range(4)],
        "individual": list(predictions),
        "ensemble": [predictions.mean(axis=0)],
    }[mode]
    expected = [
        [score[i, true[i]] - np.delete(score[i], true[i]).max() for i in range(20)]
        for score in stages
    ]
    found = bag.margin(new, true, Mode=mode)
    assert found.shape == ((20,) if mode == "ensemble" else (20, 4))
    np.testing.assert_allclose(found.T.reshape(-1, 20), expected, atol=1e-12)
    assert ((found >= -1) & (found <= 1)).all()


def test_some_trees_and_their_weights(bag, regression_bag, iris):
    for one, X in ((bag, iris[0]), (regression_bag[0], regression_bag[1])):
        predictions = naive.predictions(one, X)
        several = one.predict(X, "Trees", [2, 5, 6], "TreeWeights", [1, 0, 3], nargout=2)
        first = several[1] if one is bag else several[0][:, None]
        np.testing.assert_allclose(first, (predictions[1] + 3 * predictions[5]) / 4, atol=1e-12)
        *_, spread = one.predict(X, Trees=[3, 1], nargout=3 if one is bag else 2)
        np.testing.assert_allclose(
            np.reshape(spread, predictions[0].shape),
            np.abs(predictions[2] - predictions[0]) / 2,
            atol=1e-9,
        )
    assert len(bag.oobError(Trees=[1, 2, 3])) == 3
    np.testing.assert_array_equal(bag.oobError(Trees=[1, 2, 3]), bag.oobError()[:3])
    assert not np.array_equal(bag.oobPredict(Trees=1, nargout=2)[1], bag.oobPredict(nargout=2)[1])


def test_quantiles_equal_naive_ones(regression_bag):
    bag, _, y = regression_bag
    new, _, _ = naive.noisy(10, 15, missing=0.1)
    quantiles = [0.0, 0.1, 0.5, 0.9, 1.0]
    found = bag.quantilePredict(new, Quantile=quantiles)
    for j, q in enumerate(quantiles):
        np.testing.assert_array_equal(found[:, j], naive.quantile(bag, new, q))
    np.testing.assert_array_equal(bag.quantilePredict(new), found[:, 2])
    assert bag.quantilePredict(new, "Quantile", 0.9).tolist() == found[:, 3].tolist()
    assert set(found.reshape(-1)) <= set(y)


# More trees


@pytest.mark.parametrize("method", ["classification", "regression"])
def test_grown_trees_equal_those_of_a_larger_bag(method):
    X, y, signal = naive.noisy(11, missing=0.1)
    target = y if method == "classification" else signal
    options = {"Method": method, "OOBPredictorImportance": "on", "Weights": 1 + y, "MinLeafSize": 2}
    small = TreeBagger(3, X, target, **options)
    before, first = small.predict(X), small.oobError()
    grown, whole = small.growTrees(4), TreeBagger(7, X, target, **options)
    assert (small.NumTrees, grown.NumTrees) == (3, 7)
    np.testing.assert_array_equal(small.predict(X), before)
    np.testing.assert_array_equal(small.oobError(), first)
    np.testing.assert_array_equal(grown.OOBIndices, whole.OOBIndices)
    np.testing.assert_array_equal(grown.predict(X), whole.predict(X))
    np.testing.assert_array_equal(grown.oobError(), whole.oobError())
    np.testing.assert_array_equal(
        grown.OOBPermutedPredictorDeltaError, whole.OOBPermutedPredictorDeltaError
    )
    np.testing.assert_allclose(grown.oobError()[:3], first)
    if method == "regression":
        np.testing.assert_array_equal(grown.quantilePredict(X), whole.quantilePredict(X))
    with pytest.raises(ValueError, match="NumTrees must be an int >= 1, got 0"):
        small.growTrees(0)


def test_bag_survives_pickle(bag, iris):
    again = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(again.oobError(), bag.oobError())
    np.testing.assert_array_equal(again.predict(iris[0]), bag.predict(iris[0]))


# Scripts


def test_matlab_script():
    """Run an old script line by line."""
    frame, species = datasets.load("iris", as_frame=True)
    meas = frame.to_numpy()
    b = TreeBagger(50, meas, species, "OOBPred", "On", "Method", "classification")
    err = b.oobError()
    assert len(err) == 50
    assert err[-1] < 0.07 < err[0]
    label, scores = predict(b, meas[[0, 60, 110], :], nargout=2)
    assert label.tolist() == ["setosa", "versicolor", "virginica"]
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    r = TreeBagger(30, meas[:, :3], meas[:, 3], "Method", "regression", "OOBPrediction", "on")
    assert r.oobError(Mode="ensemble") < 0.06
    low, high = r.quantilePredict(meas[:, :3], Quantile=[0.05, 0.95]).T
    assert np.mean((low <= meas[:, 3]) & (meas[:, 3] <= high)) > 0.9
