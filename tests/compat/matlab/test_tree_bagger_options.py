"""Options of MATLAB's TreeBagger: each changes the trees, in any spelling, or raises."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba.compat.matlab import TreeBagger, predict
from tests.compat.matlab import bagger_naive as naive


@pytest.mark.parametrize(
    "options",
    [
        {"NumPredictorsToSample": 1}, {"NumPredictorsToSample": "all"}, {"MinLeafSize": 4},
        {"InBagFraction": 0.5}, {"SampleWithReplacement": "off", "InBagFraction": 0.6},
        {"SplitCriterion": "deviance"}, {"random_state": 1}, {"CategoricalPredictors": [1, 2]},
        {"Prior": [6, 3, 1]}, {"Prior": "uniform"}, {"ClassNames": [0, 1]},
        {"Weights": np.linspace(0.1, 2, 60)}, {"Weights": np.arange(60)},
    ],
)  # fmt: skip
def test_every_option_changes_the_trees(options):
    X, y, _ = naive.noisy(12)
    plain, other = TreeBagger(4, X, y), TreeBagger(4, X, y, **options)
    one, two = (b.predict(X, nargout=2)[1] for b in (plain, other))
    assert one.shape != two.shape or not np.allclose(one, two)


def test_older_names_in_any_case():
    X, y, _ = naive.noisy(13)
    new = TreeBagger(
        3, X, y, NumPredictorsToSample=1, MinLeafSize=2, InBagFraction=0.7, OOBPrediction="on"
    )
    old = TreeBagger(
        3.0, X, y, "nvartosample", 1, "MinLeaf", 2, "FBoot", 0.7, "OOBPred", "on", "prune", "off",
        "Surrogate", "off", "mergeleaves", "off", "PredictorSelection", "allsplits",
    )  # fmt: skip
    np.testing.assert_array_equal(old.predict(X, nargout=2)[1], new.predict(X, nargout=2)[1])
    np.testing.assert_array_equal(old.oobError(), new.oobError())


def test_rows_are_drawn_by_weight_and_prior():
    X, y, _ = naive.noisy(14, 400)
    weights = np.where(np.arange(400) < 200, 1.0, 3.0)
    bag = TreeBagger(30, X, y, Weights=weights, OOBPrediction="on")
    drawn = np.array([bag.Trees.draw_counts(t) for t in range(30)])
    assert (drawn.sum(axis=1) == 400).all()
    assert drawn[:, 200:].sum() / drawn.sum() == pytest.approx(0.75, abs=0.02)
    assert bag.W.sum() == pytest.approx(1)
    assert bag.W[-1] == pytest.approx(3 * bag.W[0])
    prior = {"ClassNames": [2, 1, 0], "ClassProbs": [0.1, 0.3, 0.6]}
    bag = TreeBagger(30, X, y, Prior=prior, Weights=weights)
    drawn = np.array([bag.Trees.draw_counts(t) for t in range(30)]).sum(axis=0)
    np.testing.assert_allclose(bag.Prior, [0.6, 0.3, 0.1])
    np.testing.assert_allclose(np.bincount(y, drawn) / drawn.sum(), bag.Prior, atol=0.02)
    heavy = (y == 0) & (weights > 2)
    fraction = weights[heavy].sum() / weights[y == 0].sum()
    assert drawn[heavy].sum() / drawn[y == 0].sum() == pytest.approx(fraction, abs=0.02)


def test_frames_and_rows_without_a_response():
    X, y, _ = naive.noisy(15)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": X[:, 0], "b": rng.choice(list("uvw"), 60), "c": X[:, 2]})
    words = np.array(["low", "middle", "high"])[y].astype(object)
    words[5] = None
    order = ["low", "middle", "high"]
    bag = TreeBagger(
        6, frame.assign(kind=words), "kind", PredictorNames=["b", "a"], ClassNames=order,
        OOBPrediction="on",
    )  # fmt: skip
    assert bag.PredictorNames == ["b", "a"]
    assert bag.CategoricalPredictors.tolist() == [1]
    assert bag.ClassNames.tolist() == order
    assert len(bag.Y) == len(bag.X) == len(bag.OOBIndices) == 59
    assert bag.Trees[0].ResponseName == "kind"
    assert any("b" in tree.CutPredictor for tree in bag.Trees)
    label, score = predict(bag, frame, nargout=2)
    assert (np.array(order)[score.argmax(axis=1)] == label).all()
    rest = frame.assign(kind=words).drop(5)
    assert bag.error(rest, "kind", Mode="ensemble") == np.mean(label[rest.index] != rest["kind"])
    matrix = TreeBagger(6, X, y, CategoricalPredictors=[2], PredictorNames=["p", "q", "r"])
    assert matrix.CategoricalPredictors.tolist() == [2]
    assert matrix.PredictorNames == ["p", "q", "r"]
    assert matrix.Trees[0].PredictorNames == ["p", "q", "r"]


def test_one_class_or_one_row():
    bag = TreeBagger(3, [[1.0], [2.0]], ["a", "a"], OOBPrediction="on")
    assert bag.predict([[5.0]]).tolist() == ["a"]
    assert bag.oobError().tolist() == [0, 0, 0]
    assert bag.margin([[5.0]], ["a"], Mode="ensemble").tolist() == [1.0]
    single = TreeBagger(3, [[1.0]], [4.5], Method="regression", OOBPrediction="on")
    assert single.predict([[9.0]]).tolist() == [4.5]
    assert single.oobPredict().tolist() == [4.5]


# Errors


@pytest.mark.parametrize(
    ("pairs", "named", "message"),
    [
        (("OOBPrediction",), {}, "options must be Name, value pairs"),
        ((), {"NumTree": 3}, "no option 'NumTree'; the options are Cat"),
        (("MinLeaf", 1), {"MinLeafSize": 2}, "given twice"),
        ((), {"Cost": [[0, 1], [1, 0]]}, "give Prior with"),
        ((), {"Surrogate": "on"}, "missing='surrogate'"),
        ((), {"Surrogate": 3}, "missing='surrogate'"),
        ((), {"Prune": "on"}, "Prune must be 'off': the trees of a forest"),
        ((), {"MergeLeaves": "on"}, "MergeLeaves must be 'off': the trees of a forest"),
        ((), {"PredictorSelection": "curvature"}, "must be 'allsplits', got 'curvature'"),
        ((), {"MaxNumSplits": 3}, "max_leaf_nodes"),
        ((), {"QuadraticErrorTolerance": 0.1}, "min_impurity_decrease"),
        ((), {"NumBins": 50}, "max_bins"),
        ((), {"Options": {"UseParallel": True}}, "every core is used"),
        ((), {"NPrint": 5}, "nothing is printed"),
        ((), {"Reproducible": True}, "always gives the same trees"),
        ((), {"Method": "ranking"}, "'classification' or 'regression'"),
        ((), {"OOBPrediction": "yes"}, "OOBPrediction must be 'on' or 'off', got 'yes'"),
        ((), {"NumPredictorsToSample": 4}, r"NumPredictorsToSample must be an int in \[1, 3\] or"),
        ((), {"NumPredictorsToSample": "some"}, "must be an int >= 1, got 'some'"),
        ((), {"MinLeafSize": 0}, "MinLeafSize must be an int >= 1, got 0"),
        ((), {"InBagFraction": 0}, r"InBagFraction must be a float in \(0, 1\], got 0.0"),
        ((), {"InBagFraction": 1.5}, r"InBagFraction must be a float in \(0, 1\], got 1.5"),
        ((), {"SampleWithReplacement": "off"}, "requires InBagFraction < 1"),
        ((), {"SplitCriterion": "mse"}, "SplitCriterion must be 'gdi' or 'deviance', got 'mse'"),
        ((), {"Method": "r", "SplitCriterion": "gdi"}, "SplitCriterion must be 'mse', got 'gdi'"),
        ((), {"Method": "r", "Prior": "uniform"}, "'Prior' has no effect with Method='regression'"),
        (
            (),
            {"Method": "r", "ClassNames": [0, 1]},
            "'ClassNames' has no effect with Method='regression'",
        ),
        ((), {"Prior": [1, 1]}, r"Prior must be finite numbers of shape \(3,\)"),
        ((), {"Weights": [1.0]}, "60 finite numbers"),
        ((), {"random_state": 1.5}, "random_state"),
    ],
)
def test_invalid_options_raise(pairs, named, message):
    X, y, _ = naive.noisy(0)
    with pytest.raises(ValueError, match=message):
        TreeBagger(3, X, y, *pairs, **named)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b, X, y: b.predict(X, nargout=4), r"nargout must be an int in \[1, 3\], got"),
        (lambda b, X, y: b.predict(X, Trees=[0]), r"Trees must be 'all' or list ints in \[1,"),
        (lambda b, X, y: b.predict(X, Trees=[2, 2]), "none twice"),
        (lambda b, X, y: b.predict(X, Trees=[]), "at least one tree"),
        (lambda b, X, y: b.predict(X, TreeWeights=[1, 2]), "TreeWeights must be 3"),
        (lambda b, X, y: b.predict(X, TreeWeights=[0, 0, 0]), "with a positive sum"),
        (lambda b, X, y: b.predict(X, Mode="ensemble"), "predict has no option 'Mode'"),
        (lambda b, X, y: b.predict(X[:, :2]), "2"),
        (lambda b, X, y: b.error(X, y, Mode="all"), "'cumulative' or 'individual'"),
        (lambda b, X, y: b.error(X, y, Weights=-np.ones(60)), "Weights must be 60"),
        (lambda b, X, y: b.error(X, y + 1), "Y contains the class 3, which is not in ClassNames"),
        (lambda b, X, y: b.error(X, y[:4]), "60 rows in X, 4 in y"),
        (lambda b, X, y: b.quantilePredict(X), "Method='regression'"),
        (lambda b, X, y: predict(b.Trees[0], X, Trees=1), "no effect with a single tree"),
        (lambda b, X, y: TreeBagger(0, X, y), "NumTrees must be an int >= 1, got 0"),
        (lambda b, X, y: TreeBagger(2, X, "y ~ x"), "Y must be the response or the name of"),
        (
            lambda b, X, y: TreeBagger(2, X, y, Method="r").margin(X, y),
            "margin requires Method='classification', got 'regression'",
        ),
        (
            lambda b, X, y: TreeBagger(2, X, y, Method="r").quantilePredict(X, Quantile=1.5),
            r"Quantile must be numbers in \[0, 1\], got 1\.5",
        ),
    ],
)
def test_other_invalid_arguments_raise(call, message):
    X, y, _ = naive.noisy(0)
    with pytest.raises(ValueError, match=message):
        call(TreeBagger(3, X, y), X, y)
