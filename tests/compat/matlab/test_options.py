"""Options of the MATLAB bridge: each changes the tree, in any spelling, or raises."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba.compat.matlab import fitctree, fitrtree, predict
from tests.compat.matlab import matlab_naive as naive

GRID = {"MinParentSize": 2, "MergeLeaves": "off"}


def same(one, other):
    return naive.shape(one) == naive.shape(other)


def test_pairs_keywords_and_case_are_equivalent():
    X, y = naive.noisy(0)
    trees = [
        fitctree(X, y, "MinLeafSize", 6, "Prune", "off"),
        fitctree(X, y, MinLeafSize=6, Prune="off"),
        fitctree(X, y, "minleafsize", 6, prune="OFF"),
        fitctree(X, y, "MinLeaf", 6.0, Prune=False),
    ]
    for tree in trees[1:]:
        assert same(trees[0], tree)
    assert not same(trees[0], fitctree(X, y))


@pytest.mark.parametrize("seed", range(3))
def test_min_sizes_are_obeyed(seed):
    X, y = naive.noisy(seed)
    for parent, leaf in ((2, 1), (10, 1), (20, 1), (10, 7)):
        tree = fitctree(X, y, MinParentSize=parent, MinLeafSize=leaf, MergeLeaves="off")
        inner = tree.IsBranchNode
        assert tree.NodeSize[inner].min() >= max(parent, 2 * leaf)
        assert tree.NodeSize[~inner].min() >= leaf
        # Leaves are too small, pure, or have no valid split.
        for node in np.flatnonzero(~inner & (tree.NodeSize >= max(parent, 2 * leaf))):
            at = predict(tree, X, nargout=4)[2] == node + 1
            n_left = [(X[at, j] <= v).sum() for j in range(3) for v in np.unique(X[at, j])[:-1]]
            allowed = [k for k in n_left if leaf <= k <= at.sum() - leaf]
            assert tree.NodeError[node] == 0 or not allowed


@pytest.mark.parametrize("criterion", ["gdi", "deviance"])
def test_split_criterion(criterion):
    X, y = naive.noisy(3)
    tree = fitctree(X, y, SplitCriterion=criterion, MaxNumSplits=1)

    def impurity(rows):
        p = np.bincount(y[rows], minlength=3) / max(rows.sum(), 1)
        if criterion == "gdi":
            return 1 - (p**2).sum()
        return -(p[p > 0] * np.log2(p[p > 0])).sum()

    best = min(
        (
            impurity(X[:, j] < c) * (X[:, j] < c).sum()
            + impurity(X[:, j] >= c) * (X[:, j] >= c).sum(),
            j + 1,
            c,
        )
        for j in range(3)
        for c in np.unique(X[:, j])[1:] - 0.5
    )
    assert tree.CutPredictorIndex[0] == best[1]
    assert tree.CutPoint[0] == best[2]
    assert tree.NodeRisk[0] == pytest.approx(impurity(np.ones(80, bool)))


@pytest.mark.parametrize("max_splits", [0, 1, 2, 3, 5, 8, 79])
@pytest.mark.parametrize("seed", range(2))
def test_max_num_splits_is_obeyed(seed, max_splits):
    X, y = naive.noisy(seed)
    whole = fitctree(X, y, **GRID)
    kids = whole.Children
    gains = np.zeros(whole.NumNodes)
    for node in np.flatnonzero(whole.IsBranchNode):
        gains[node] = whole.NodeRisk[node] - whole.NodeRisk[kids[node] - 1].sum()
    branches = naive.limited(whole, gains.round(12), max_splits)
    collapsed = set(range(1, whole.NumNodes + 1)) - set(branches)
    tree = fitctree(X, y, MaxNumSplits=max_splits, **GRID)
    assert tree.IsBranchNode.sum() == len(branches) == min(max_splits, whole.IsBranchNode.sum())
    assert naive.shape(tree) == naive.shape_of_leaves(whole, naive.leaves_of(whole, collapsed))


@pytest.mark.parametrize("criterion", ["error", "impurity"])
@pytest.mark.parametrize("seed", range(4))
def test_leaves_without_gain_are_merged(seed, criterion):
    X, y = naive.noisy(seed)
    options = {"MinParentSize": 2, "PruneCriterion": criterion}
    whole = fitctree(X, y, MergeLeaves="off", **options)
    risks = naive.error_risks(whole) if criterion == "error" else whole.NodeRisk
    tree = fitctree(X, y, **options)
    assert naive.shape(tree) == naive.shape_of_leaves(whole, naive.merged(whole, risks))


def test_leaves_of_one_class_are_merged():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    y = [0] * 17 + [1] * 3
    assert fitctree(X, y, MergeLeaves="off").NodeClass.tolist() == [0, 0, 0]
    assert fitctree(X, y).NumNodes == 1
    assert fitctree(X, y, PruneCriterion="impurity").NumNodes == 3


def test_prune_off_shows_no_sequence():
    X, y = naive.noisy(1)
    tree = fitctree(X, y, Prune="off")
    assert tree.PruneList.size == tree.PruneAlpha.size == 0
    assert same(tree, fitctree(X, y))


def test_prune_criterion_changes_the_sequence():
    X, y = naive.noisy(1)
    one, other = (fitctree(X, y, PruneCriterion=c, **GRID) for c in ("error", "impurity"))
    assert same(one, other)
    assert one.PruneAlpha.tolist() != other.PruneAlpha.tolist()


def test_predictor_and_response_names():
    X, y = naive.noisy(1)
    tree = fitctree(X, y, PredictorNames=["a", "b", "c"], ResponseName="kind")
    assert tree.PredictorNames == ["a", "b", "c"]
    assert set(tree.CutPredictor) <= {"a", "b", "c", ""}
    assert tree.ResponseName == "kind"
    assert predict(tree, X).shape == (80,)


def test_class_names_select_and_order():
    X, y = naive.noisy(2)
    words = np.array(["low", "middle", "high"])[y]
    tree = fitctree(X, words)
    assert tree.ClassNames.tolist() == ["high", "low", "middle"]
    turned = fitctree(X, words, ClassNames=["low", "middle", "high"])
    assert turned.ClassNames.tolist() == ["low", "middle", "high"]
    np.testing.assert_array_equal(turned.ClassCount, tree.ClassCount[:, [1, 2, 0]])
    assert turned.Prior.tolist() == pytest.approx(tree.Prior[[1, 2, 0]].tolist())
    two = fitctree(X, words, ClassNames=["middle", "low"])
    part = np.isin(words, ["middle", "low"])
    assert two.NumObservations == part.sum()
    assert two.ClassCount.shape[1] == 2
    assert set(predict(two, X)) <= {"middle", "low"}
    label, score, _, cnum = predict(turned, X, nargout=4)
    assert (turned.ClassNames[cnum - 1] == label).all()
    assert (score.argmax(axis=1) == cnum - 1).all()


def test_weights_equal_repeated_rows():
    X, y = naive.noisy(4)
    w = np.random.default_rng(0).integers(0, 4, 80)
    options = {"MinParentSize": 1, "MergeLeaves": "off"}
    weighted = fitctree(X, y, Weights=w, **options)
    repeated = fitctree(np.repeat(X, w, axis=0), np.repeat(y, w), **options)
    assert weighted.CutPoint.tolist() == pytest.approx(repeated.CutPoint.tolist(), nan_ok=True)
    np.testing.assert_allclose(weighted.NodeProbability, repeated.NodeProbability)
    np.testing.assert_allclose(weighted.ClassProbability, repeated.ClassProbability)
    assert weighted.NumObservations == (w > 0).sum()
    assert weighted.ClassCount[0].sum() == (w > 0).sum()


def test_rows_without_a_response_are_left_out():
    X, y = naive.noisy(4)
    full = fitctree(X[:70], y[:70])
    for missing, kind in ((np.nan, float), (None, object)):
        late = y.astype(kind)
        late[70:] = missing
        assert same(fitctree(X, late), full)
    words = y.astype(str).astype(object)
    words[70:] = ""
    assert same(fitctree(X, words), full)
    target = X[:, 0].copy()
    target[70:] = np.nan
    assert same(fitrtree(X, target), fitrtree(X[:70], X[:70, 0]))


# Priors and costs


def test_priors_equal_class_weights():
    X, y = naive.noisy(5)
    counts = np.bincount(y)
    prior = np.array([0.6, 0.3, 0.1])
    tree = fitctree(X, y, Prior=prior * 7)  # they need not sum to one
    np.testing.assert_allclose(tree.Prior, prior)
    weighted = fitctree(X, y, Weights=(prior / counts)[y])
    np.testing.assert_allclose(tree.ClassProbability, weighted.ClassProbability, atol=1e-9)
    assert same(tree, weighted)
    assert not same(tree, fitctree(X, y))
    struct = {"ClassNames": [2, 0, 1], "ClassProbs": [0.1, 0.6, 0.3]}
    np.testing.assert_allclose(fitctree(X, y, Prior=struct).Prior, prior)
    uniform = fitctree(X, y, Prior="uniform")
    np.testing.assert_allclose(uniform.ClassProbability[0], [1 / 3] * 3)


def test_predicted_class_has_minimum_cost():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.array([0] * 40 + [1] * 10 + [1] * 50)
    plain = fitctree(X, y)
    assert plain.NodeClass.tolist() == [1, 0, 1]
    tree = fitctree(X, y, Cost=[[0, 1], [5, 0]], MergeLeaves="off")
    assert tree.Cost.tolist() == [[0, 1], [5, 0]]
    assert tree.NodeClass.tolist() == [1, 1, 1]  # 40 x 1 is less than 10 x 5
    assert predict(tree, [[0.0], [1.0]]).tolist() == [1, 1]
    assert tree.NodeError.tolist() == pytest.approx([0.4, 0.8, 0.0])
    np.testing.assert_allclose(tree.ClassProbability, plain.ClassProbability)
    assert fitctree(X, y, Cost=[[0, 1], [5, 0]]).NumNodes == 1  # merged: they are of one class
    struct = {"ClassNames": [1, 0], "ClassificationCosts": [[0, 5], [1, 0]]}
    assert fitctree(X, y, Cost=struct).Cost.tolist() == [[0, 1], [5, 0]]
    assert same(fitctree(X, y, Cost=[[0, 1], [1, 0]]), plain)


def test_costs_alter_priors_in_growing():
    X, y = naive.noisy(6)
    costs = np.array([[0, 4, 4], [1, 0, 1], [1, 1, 0]])
    grown = fitctree(X, y, Cost=costs, MergeLeaves="off")
    altered = np.bincount(y) * costs.sum(axis=1)
    prior = fitctree(X, y, Prior=altered, MergeLeaves="off")
    assert same(grown, prior)
    assert not same(grown, fitctree(X, y, MergeLeaves="off"))


# Missing values


def test_surrogates_route_missing_values():
    rng = np.random.default_rng(1)
    a = rng.normal(size=200)
    X = np.column_stack([a, a + rng.normal(scale=0.1, size=200)])
    y = (a > 0).astype(int)
    off, on = fitctree(X, y, MaxNumSplits=1), fitctree(X, y, MaxNumSplits=1, Surrogate="on")
    assert off.CutPredictor[0] == on.CutPredictor[0] == "x1"
    rows = [[np.nan, -2.0], [np.nan, 2.0]]
    assert predict(off, rows, nargout=4)[2].tolist() == [1, 1]
    assert predict(on, rows, nargout=4)[2].tolist() == [2, 3]
    for surrogate in ("all", 1, True):
        assert predict(fitctree(X, y, Surrogate=surrogate), rows).tolist() == [0, 1]


def test_splits_are_scored_on_known_values():
    # x1 is perfect among its known values, but half of them are missing, and x2 errs less.
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1]] * 10, float)
    y = np.array([0, 0, 1, 1] * 10)
    X[1::2, 0] = np.nan
    tree = fitctree(X, y)
    assert tree.CutPredictor[0] == "x2"


@pytest.mark.parametrize("surrogate", ["off", "on"])
def test_training_rows_with_missing_values_are_counted_where_they_go(surrogate):
    X, y = naive.noisy(2, 200)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    tree = fitctree(X, y, Surrogate=surrogate, MinParentSize=20)
    assert tree.NumNodes > 5
    assert tree.ClassCount.sum(axis=1).tolist() == tree.NodeSize.tolist()
    np.testing.assert_allclose(
        tree.ClassProbability, tree.ClassCount / tree.NodeSize[:, None], atol=1e-12
    )
    inner = np.flatnonzero(tree.IsBranchNode)
    for node in inner:
        assert tree.NodeSize[tree.Children[node] - 1].sum() == tree.NodeSize[node]
    node = predict(tree, X, nargout=4)[2]
    assert tree.IsBranchNode[node - 1].any() == (surrogate == "off")


# Regression


def test_quadratic_error_tolerance():
    X = np.arange(60.0)[:, None]
    y = np.where(X[:, 0] < 30, 0.0, 10.0) + 0.01 * X[:, 0]
    fine = fitrtree(X, y)
    rough = fitrtree(X, y, QuadraticErrorTolerance=0.01)
    assert rough.NumNodes == 3
    assert fine.NumNodes > 9
    fraction = rough.NodeError / rough.NodeError[0]
    assert (fraction[~rough.IsBranchNode] <= 0.01).all()


# Errors


@pytest.mark.parametrize(
    ("pairs", "named", "message"),
    [
        (("MinLeafSize",), {}, "options must be Name, value pairs, but 'MinLeafSize' has no value"),
        ((), {"MinLeafs": 3}, "no option 'MinLeafs'; the options are CategoricalPredictors"),
        (("MinLeafSize", 1), {"minleafsize": 2}, "given twice"),
        ((), {"KFold": 10}, "crossval"),
        ((), {"CrossVal": "on"}, "crossval"),
        ((), {"OptimizeHyperparameters": "auto"}, "GridSearchCV"),
        ((), {"NumVariablesToSample": 2}, "max_features"),
        ((), {"NumBins": 20}, "max_bins"),
        (
            (),
            {"SplitCriterion": "twoing"},
            "SplitCriterion must be 'gdi' or 'deviance', got 'twoing'",
        ),
        ((), {"PredictorSelection": "curvature"}, "must be 'allsplits', got 'curvature'"),
        ((), {"PruneCriterion": "mse"}, "PruneCriterion must be 'error' or 'impurity', got 'mse'"),
        ((), {"MergeLeaves": "yes"}, "MergeLeaves must be 'on' or 'off', got 'yes'"),
        ((), {"MinLeafSize": 0}, "MinLeafSize must be an int >= 1, got 0"),
        ((), {"MinLeafSize": 1.5}, "MinLeafSize must be an int >= 1, got 1.5"),
        ((), {"MaxNumSplits": -1}, "MaxNumSplits must be an int >= 0, got -1"),
        ((), {"Surrogate": "some"}, "Surrogate must be 'on' or 'off', got 'some'"),
        ((), {"Prior": "equal"}, "'empirical', 'uniform'"),
        ((), {"Prior": [1, 0, 1]}, "Prior must be > 0 for every class: leave"),
        ((), {"Prior": [1, 1]}, r"Prior must be finite numbers of shape \(3,\), got \(2,\)"),
        ((), {"Prior": {"ClassNames": [0, 1, 2]}}, "ClassNames and ClassProbs"),
        ((), {"Prior": {"ClassNames": [0, 1, 9], "ClassProbs": [1, 1, 1]}}, "Prior must list"),
        ((), {"Cost": [[0, 1], [1, 0]]}, r"Cost must be finite numbers of shape \(3, 3\),"),
        ((), {"Cost": np.ones((3, 3))}, "zeros on its diagonal"),
        ((), {"ClassNames": [0, 1, 7]}, "ClassNames lists 7, but no row has that class"),
        ((), {"ClassNames": [0, 0]}, "a class twice"),
        ((), {"Weights": [1.0]}, "80 finite numbers"),
        ((), {"Weights": -np.ones(80)}, "Weights must be 80 finite numbers >= 0"),
        (
            (),
            {"Weights": np.zeros(80)},
            "at least one row must have a response and a positive weight",
        ),
        (
            (),
            {"PredictorNames": ["a", "b"]},
            "PredictorNames must be 3 different names, one for each column, got 2",
        ),
        ((), {"PredictorNames": ["a", "b", "a"]}, "PredictorNames must be 3 different names"),
        ((), {"CategoricalPredictors": 4}, "names of columns, or numbers from 1 to 3, got 4"),
        ((), {"CategoricalPredictors": "x9"}, "must list names of columns, .*, got 'x9'"),
        ((), {"CategoricalPredictors": [True]}, "3 booleans, one for each column, got 1"),
        ((), {"AlgorithmForCategorical": "PullLeft"}, "leave the option out"),
        ((), {"MaxNumCategories": 20}, "MaxNumCategories must be 10: up to 10 categories every"),
    ],
)
def test_invalid_options_raise(pairs, named, message):
    X, y = naive.noisy(0)
    with pytest.raises(ValueError, match=message):
        fitctree(X, y, *pairs, **named)


def test_other_invalid_arguments_raise():
    X, y = naive.noisy(0)
    with pytest.raises(TypeError, match="the name of an option"):
        fitctree(X, y, 5, "MinLeafSize")
    with pytest.raises(ValueError, match="fitrtree has no option 'Cost'"):
        fitrtree(X, y, Cost=np.eye(2))
    with pytest.raises(ValueError, match="Y='y' is not a column of X: pass the"):
        fitctree(X, "y")
    with pytest.raises(ValueError, match="Y must be the response or the name of"):
        fitctree(pd.DataFrame({"y": y}), "y ~ a")
    with pytest.raises(ValueError, match="Y must have 80 values, one for each row"):
        fitctree(X, y[:5])
    times = pd.DataFrame({"t": pd.to_datetime(["2020-01-01"] * 80)})
    with pytest.raises(ValueError, match="column 't' must be numeric or categorical, got times:"):
        fitctree(times, y)


def test_algorithms_for_categorical_columns_that_are_used_in_any_case():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"few": rng.choice(list("abcd"), 90), "many": rng.choice(list("abcdefghijklm"), 90)}
    )
    two, three = rng.integers(0, 2, 90), rng.integers(0, 3, 90)
    assert same(fitctree(X, two, AlgorithmForCategorical="Exact"), fitctree(X, two))
    few, many = X[["few"]], X[["many"]]
    assert same(fitctree(few, three, AlgorithmForCategorical="exact"), fitctree(few, three))
    assert same(fitctree(many, three, AlgorithmForCategorical="PCA"), fitctree(many, three))
    for columns, algorithm in ((many, "Exact"), (few, "PCA"), (X, "PCA")):
        with pytest.raises(ValueError, match="AlgorithmForCategorical must be"):
            fitctree(columns, three, AlgorithmForCategorical=algorithm)
