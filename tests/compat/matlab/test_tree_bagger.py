"""MATLAB's TreeBagger: defaults, predictions, out-of-bag numbers, importances, more trees."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba import RandomForestClassifier, RandomForestRegressor, datasets
from ceiba.compat.matlab import TreeBagger, predict
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
def numbers():
    X, _, y = naive.noisy(1, gaps=0.1)
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


def test_it_is_ceibas_forest(iris, bag):
    X, y = iris
    forest = RandomForestClassifier(12, max_features=2, missing="majority").fit(X, y)
    label, score = bag.predict(X, nargout=2)
    np.testing.assert_array_equal(score, forest.predict_proba(X))
    np.testing.assert_array_equal(label, forest.predict(X))
    np.testing.assert_array_equal(predict(bag, X), label)
    assert bag.ClassNames.tolist() == ["setosa", "versicolor", "virginica"]
    assert bag.NumTrees == len(bag.Trees) == 12
    grown = TreeBagger(8, X, X[:, 3], "method", "regression", "nvartosample", "all", "minleaf", 1)
    numbers = RandomForestRegressor(8, missing="majority").fit(X, X[:, 3])
    np.testing.assert_array_equal(grown.predict(X), numbers.predict(X))


def test_shown_in_one_look(bag):
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


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6), n=st.integers(3, 30), trees=st.integers(1, 6),
    method=st.sampled_from(["classification", "regression"]), weighted=st.booleans(),
    default=st.booleans(), leaf=st.integers(1, 4),
)  # fmt: skip
def test_out_of_bag_numbers_by_hand(seed, n, trees, method, weighted, default, leaf):
    X, y, signal = naive.noisy(seed, n, 0.1)
    of_classes = method == "classification"
    w = np.random.default_rng(seed).integers(1, 4, n) if weighted else np.ones(n, int)
    bag = TreeBagger(
        trees, X, y if of_classes else signal, Method=method, MinLeafSize=leaf, random_state=seed,
        OOBPrediction="on", Weights=w,
    )  # fmt: skip
    if not default:
        bag = bag.setDefaultYfit("" if of_classes else np.nan)
    true = np.unique(y, return_inverse=True)[1] if of_classes else signal
    usual = np.bincount(true, w) / w.sum() if of_classes else [np.average(signal, weights=w)]
    usual = np.array(usual) if default else None
    said, speak = naive.told(bag, X), bag.OOBIndices
    means = naive.mean_of(said, speak, np.ones(trees), usual)
    got = bag.oobPredict(nargout=3 if of_classes else 2)
    for i, mean in enumerate(means):
        if mean is None:
            assert got[0][i] is None if of_classes else np.isnan(got[0][i])
            continue
        if of_classes:
            np.testing.assert_allclose(got[1][i], mean, atol=1e-12)
            assert got[1][i, np.unique(y) == got[0][i]] == got[1][i].max()
        else:
            assert got[0][i] == pytest.approx(mean[0])
        if speak[i].any():
            np.testing.assert_allclose(got[-1][i], naive.deviation_of(said, speak, i), atol=1e-9)
        else:
            assert np.isnan(got[-1][i]).all()
    for mode in MODES:
        expected = naive.errors(said, speak, true, w, mode, usual)
        np.testing.assert_allclose(bag.oobError(Mode=mode), expected, atol=1e-9)


def test_the_error_without_a_default_is_the_forests_curve(bag, numbers):
    for one, none in ((bag, ""), (numbers[0], np.nan)):
        free = one.setDefaultYfit(none)
        curve = one.model.oob_curve_
        np.testing.assert_allclose(free.oobError(), curve.error)
        assert (one.oobError()[0] > curve.error[0]) == (curve.rows[0] < len(one.Y))
        every = ~np.isnan(np.reshape(free.oobPredict(nargout=2)[-1], (len(one.Y), -1))[:, 0])
        np.testing.assert_array_equal(every, one.OOBIndices.any(axis=1))
    np.testing.assert_allclose(
        bag.setDefaultYfit("").oobPredict(nargout=2)[1], bag.model.oob_decision_function_
    )
    np.testing.assert_allclose(
        numbers[0].setDefaultYfit(np.nan).oobPredict(), numbers[0].model.oob_prediction_
    )


def test_rows_out_of_bag_are_those_not_drawn(bag, iris):
    assert bag.OOBIndices.shape == (150, 12)
    assert bag.OOBIndices.dtype == bool
    assert 0.3 < bag.OOBIndices.mean() < 0.45
    for t in range(12):
        drawn = bag.Trees.drawn(t)
        assert drawn.sum() == 150
        np.testing.assert_array_equal(bag.OOBIndices[:, t], drawn == 0)
        label = np.unique(iris[1], return_inverse=True)[1]
        assert bag.Trees[t].ClassCount[0].tolist() == np.bincount(label, drawn).tolist()


def test_default_of_rows_in_every_bag():
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
    numbers = TreeBagger(1, X, signal, Method="regression", OOBPrediction="on")
    assert numbers.DefaultYfit == pytest.approx(signal.mean())
    inside = ~numbers.OOBIndices[:, 0]
    assert set(numbers.setDefaultYfit(7).oobPredict()[inside]) == {7.0}
    with pytest.raises(ValueError, match="'MostPopular' or ''"):
        bag.setDefaultYfit("versicolor")
    with pytest.raises(ValueError, match="give a number"):
        numbers.setDefaultYfit("mean")


# Importance


def test_importance_is_the_mean_by_the_deviation_over_trees():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(120, 2)), np.ones(120)])
    y = (X[:, 0] > 0).astype(int)
    bag = TreeBagger(8, X, y, OOBPredictorImportance="on", NumPredictorsToSample="all")
    own = [
        bag.model.without([o for o in range(8) if o != t]).oob_importance(bag.X, y).value
        for t in range(8)
    ]
    importance = bag.OOBPermutedPredictorDeltaError
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(np.mean(own, axis=0) / np.std(own, axis=0, ddof=1))
    np.testing.assert_allclose(importance, expected)
    assert importance[0] > 3 > abs(importance[1])
    assert importance[2] == 0
    assert len(bag.oobError()) == 8  # importances bring out-of-bag predictions along
    with pytest.raises(ValueError, match="at least two"):
        _ = TreeBagger(1, X, y, OOBVarImp="on").OOBPermutedPredictorDeltaError


def test_importance_of_numbers(iris):
    X = iris[0]
    noise = np.random.default_rng(0).normal(size=150)
    columns = np.column_stack([X[:, 2], noise])
    bag = TreeBagger(20, columns, X[:, 3], Method="regression", OOBPredictorImportance="on")
    assert bag.OOBPermutedPredictorDeltaError[0] > 2
    assert bag.OOBPermutedPredictorDeltaError[0] > 3 * bag.OOBPermutedPredictorDeltaError[1]


# New rows


@pytest.mark.parametrize("mode", MODES)
def test_errors_of_new_rows_by_hand(mode):
    X, y, signal = naive.noisy(6)
    new, other, number = naive.noisy(7, 25, gaps=0.2)
    rng = np.random.default_rng(0)
    weights, tree_weights = rng.uniform(0, 2, 25), rng.uniform(0, 1, 5)
    options = {"Mode": mode, "Weights": weights, "TreeWeights": tree_weights}
    for method, given_y, true in (("c", y, other), ("r", signal, number)):
        bag = TreeBagger(5, X, given_y, Method=method)
        said, speak = naive.told(bag, new), np.ones((25, 5), bool)
        expected = naive.errors(said, speak, true, weights, mode, None, tree_weights)
        np.testing.assert_allclose(bag.error(new, true, **options), expected)
        plain = naive.errors(said, speak, true, np.ones(25), mode, None)
        np.testing.assert_allclose(bag.error(new, true, "mode", mode), plain)
        if method == "c" and mode == "ensemble":
            assert bag.error(new, true, Mode=mode) == np.mean(bag.predict(new) != true)


@pytest.mark.parametrize("mode", MODES)
def test_margins_by_hand(mode):
    X, y, _ = naive.noisy(8)
    new, true, _ = naive.noisy(9, 20)
    bag = TreeBagger(4, X, y)
    said = naive.told(bag, new)
    stages = {
        "cumulative": [said[: t + 1].mean(axis=0) for t in range(4)],
        "individual": list(said),
        "ensemble": [said.mean(axis=0)],
    }[mode]
    expected = [
        [score[i, true[i]] - np.delete(score[i], true[i]).max() for i in range(20)]
        for score in stages
    ]
    got = bag.margin(new, true, Mode=mode)
    assert got.shape == ((20,) if mode == "ensemble" else (20, 4))
    np.testing.assert_allclose(got.T.reshape(-1, 20), expected, atol=1e-12)
    assert ((got >= -1) & (got <= 1)).all()


def test_some_trees_and_their_weights(bag, numbers, iris):
    for one, X in ((bag, iris[0]), (numbers[0], numbers[1])):
        said = naive.told(one, X)
        several = one.predict(X, "Trees", [2, 5, 6], "TreeWeights", [1, 0, 3], nargout=2)
        first = several[1] if one is bag else several[0][:, None]
        np.testing.assert_allclose(first, (said[1] + 3 * said[5]) / 4, atol=1e-12)
        *_, spread = one.predict(X, Trees=[3, 1], nargout=3 if one is bag else 2)
        np.testing.assert_allclose(
            np.reshape(spread, said[0].shape), np.abs(said[2] - said[0]) / 2, atol=1e-9
        )
    assert len(bag.oobError(Trees=[1, 2, 3])) == 3
    np.testing.assert_array_equal(bag.oobError(Trees=[1, 2, 3]), bag.oobError()[:3])
    assert not np.array_equal(bag.oobPredict(Trees=1, nargout=2)[1], bag.oobPredict(nargout=2)[1])


def test_quantiles_by_hand(numbers):
    bag, _, y = numbers
    new, _, _ = naive.noisy(10, 15, gaps=0.1)
    wanted = [0.0, 0.1, 0.5, 0.9, 1.0]
    got = bag.quantilePredict(new, Quantile=wanted)
    for j, q in enumerate(wanted):
        np.testing.assert_array_equal(got[:, j], naive.quantile(bag, new, q))
    np.testing.assert_array_equal(bag.quantilePredict(new), got[:, 2])
    assert bag.quantilePredict(new, "Quantile", 0.9).tolist() == got[:, 3].tolist()
    assert set(got.reshape(-1)) <= set(y)


# More trees


@pytest.mark.parametrize("method", ["classification", "regression"])
def test_more_trees_are_those_of_a_larger_bag(method):
    X, y, signal = naive.noisy(11, gaps=0.1)
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
    with pytest.raises(ValueError, match="a whole number, 1 or more"):
        small.growTrees(0)


def test_a_bag_can_be_kept(bag, iris):
    again = pickle.loads(pickle.dumps(bag))
    np.testing.assert_array_equal(again.oobError(), bag.oobError())
    np.testing.assert_array_equal(again.predict(iris[0]), bag.predict(iris[0]))


# As it is used


def test_an_old_lab_script():
    """Line by line what such a script did in MATLAB."""
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
