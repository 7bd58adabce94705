"""Fitted trees of the MATLAB bridge: attributes, predictions, printing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba import datasets
from ceiba.compat.matlab import fitctree, fitrtree, predict, view
from tests.compat.matlab import matlab_naive as naive


@pytest.fixture(scope="module")
def iris():
    meas, species = datasets.load("iris", as_frame=True)
    return meas.to_numpy(), np.asarray(species)


@pytest.fixture(scope="module")
def ctree(iris):
    return fitctree(*iris)


# The documented tree of Fisher's iris


def test_iris_equals_the_documented_tree(ctree):
    assert ctree.NumNodes == 9
    assert ctree.CutPredictor == ["x3", "", "x4", "x3", "", "x4", "", "", ""]
    assert ctree.CutPoint[[0, 2, 3, 5]].tolist() == pytest.approx([2.45, 1.75, 4.95, 1.65])
    assert np.isnan(ctree.CutPoint[[1, 4, 6, 7, 8]]).all()
    assert ctree.Children.tolist() == [
        [2, 3], [0, 0], [4, 5], [6, 7], [0, 0], [8, 9], [0, 0], [0, 0], [0, 0],
    ]  # fmt: skip
    assert ctree.Parent.tolist() == [0, 1, 1, 3, 3, 4, 4, 6, 6]
    assert ctree.IsBranchNode.tolist() == [
        True,
        False,
        True,
        True,
        False,
        True,
        False,
        False,
        False,
    ]
    assert ctree.NodeClass.tolist() == [
        "setosa", "setosa", "versicolor", "versicolor", "virginica",
        "versicolor", "virginica", "versicolor", "virginica",
    ]  # fmt: skip
    assert ctree.NodeSize.tolist() == [150, 50, 100, 54, 46, 48, 6, 47, 1]
    assert ctree.ClassCount.tolist() == [
        [50, 50, 50], [50, 0, 0], [0, 50, 50], [0, 49, 5], [0, 1, 45],
        [0, 47, 1], [0, 2, 4], [0, 47, 0], [0, 0, 1],
    ]  # fmt: skip
    assert ctree.ClassNames.tolist() == ["setosa", "versicolor", "virginica"]
    assert ctree.PredictorNames == ["x1", "x2", "x3", "x4"]
    assert ctree.ResponseName == "Y"
    assert ctree.Prior.tolist() == pytest.approx([1 / 3] * 3)
    assert ctree.Cost.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert ctree.CutType[0] == "continuous"
    assert ctree.CutType[1] == ""


def test_iris_pruning_sequence(ctree):
    # From the counts: risks in 150ths are 100, 0, 50, 5, 1, 1, 2, 0, 0.
    assert ctree.PruneAlpha.tolist() == pytest.approx([0, 1 / 150, 2 / 150, 44 / 150, 50 / 150])
    assert ctree.PruneList.tolist() == [4, 0, 3, 2, 0, 1, 0, 0, 0]


def test_print_of_iris(ctree, capsys):
    assert view(ctree) is None
    assert capsys.readouterr().out.splitlines() == [
        "Decision tree for classification",
        "1  if x3<2.45 then node 2 elseif x3>=2.45 then node 3 else setosa",
        "2  class = setosa",
        "3  if x4<1.75 then node 4 elseif x4>=1.75 then node 5 else versicolor",
        "4  if x3<4.95 then node 6 elseif x3>=4.95 then node 7 else versicolor",
        "5  class = virginica",
        "6  if x4<1.65 then node 8 elseif x4>=1.65 then node 9 else versicolor",
        "7  class = virginica",
        "8  class = versicolor",
        "9  class = virginica",
    ]


def test_repr(ctree):
    assert repr(ctree).splitlines() == [
        "ClassificationTree",
        "            ResponseName: 'Y'",
        "   CategoricalPredictors: []",
        "              ClassNames: ['setosa', 'versicolor', 'virginica']",
        "         NumObservations: 150",
        "                NumNodes: 9",
    ]


# Attributes, from the rows


@pytest.mark.parametrize("prior", ["empirical", "uniform", [5, 3, 2]])
@pytest.mark.parametrize("seed", range(3))
def test_node_attributes_equal_counts_of_rows(seed, prior):
    X, y = naive.noisy(seed)
    tree = fitctree(X, y, Prior=prior, MinParentSize=5, MergeLeaves="off")
    rows_of_nodes = [[] for _ in range(tree.NumNodes)]
    for i, row in enumerate(X.tolist()):
        node = naive.node_of(tree, row)
        while node:
            rows_of_nodes[node - 1].append(i)
            node = int(tree.Parent[node - 1])
    totals = np.bincount(y, minlength=3)
    expected = {"empirical": totals / 80, "uniform": np.ones(3) / 3}
    fraction = expected[prior] if isinstance(prior, str) else np.array(prior) / 10
    np.testing.assert_allclose(tree.Prior, fraction)
    for node, rows in enumerate(rows_of_nodes):
        counts = np.bincount(y[rows], minlength=3)
        assert tree.NodeSize[node] == len(rows)
        assert tree.ClassCount[node].tolist() == counts.tolist()
        joint = fraction * counts / totals
        assert tree.NodeProbability[node] == pytest.approx(joint.sum())
        p = joint / joint.sum()
        np.testing.assert_allclose(tree.ClassProbability[node], p, atol=1e-12)
        assert tree.NodeError[node] == pytest.approx(1 - p.max())
        assert tree.NodeRisk[node] == pytest.approx((1 - (p**2).sum()) * joint.sum(), abs=1e-12)
        assert tree.NodeClass[node] == tree.ClassProbability[node].argmax()


def test_parents_and_children_match():
    X, y = naive.noisy(7)
    tree = fitctree(X, y, "MinParentSize", 4)
    for node in range(1, tree.NumNodes + 1):
        one, other = tree.Children[node - 1].tolist()
        assert (one > 0) == (other > 0) == tree.IsBranchNode[node - 1]
        if one:
            assert tree.Parent[one - 1] == tree.Parent[other - 1] == node
            assert tree.NodeSize[one - 1] + tree.NodeSize[other - 1] == tree.NodeSize[node - 1]
    assert naive.depths(tree) == sorted(naive.depths(tree))  # layer by layer


def test_regression_nodes_are_means_of_their_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2))
    y = X[:, 0] * 3 + (X[:, 1] > 0) + rng.normal(size=90)
    w = rng.integers(1, 4, 90)
    tree = fitrtree(X, y, Weights=w, MinLeafSize=4)
    at = np.array([naive.node_of(tree, row) for row in X.tolist()])
    for node in range(1, tree.NumNodes + 1):
        inside = np.isin(at, [node, *naive.below(tree, node)])
        mean = np.average(y[inside], weights=w[inside])
        error = np.average((y[inside] - mean) ** 2, weights=w[inside])
        assert tree.NodeMean[node - 1] == pytest.approx(mean)
        assert tree.NodeError[node - 1] == pytest.approx(error)
        fraction = w[inside].sum() / w.sum()
        assert tree.NodeProbability[node - 1] == pytest.approx(fraction)
        assert tree.NodeRisk[node - 1] == pytest.approx(error * fraction)
    fit, node = predict(tree, X, nargout=2)
    assert node.tolist() == at.tolist()
    assert fit.tolist() == tree.NodeMean[at - 1].tolist()
    assert repr(tree).startswith("RegressionTree\n            ResponseName: 'Y'")


def test_print_of_a_regression_tree(capsys):
    tree = fitrtree([[float(k), 0.0] for k in range(40)], np.repeat([1.0, 2.5, 7.0, 7.25], 10),
                    PredictorNames=["Weight", "Rest"])  # fmt: skip
    view(tree, "Mode", "text")
    assert capsys.readouterr().out.splitlines() == [
        "Decision tree for regression",
        "1  if Weight<19.5 then node 2 elseif Weight>=19.5 then node 3 else 4.4375",
        "2  if Weight<9.5 then node 4 elseif Weight>=9.5 then node 5 else 1.75",
        "3  if Weight<29.5 then node 6 elseif Weight>=29.5 then node 7 else 7.125",
        "4  fit = 1",
        "5  fit = 2.5",
        "6  fit = 7",
        "7  fit = 7.25",
    ]


# Categorical columns


@pytest.fixture(scope="module")
def cars():
    rng = np.random.default_rng(2)
    n = 120
    size = pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True)
    frame = pd.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], n),
            "size": size,
            "doors": rng.integers(2, 6, n),
        }
    )
    label = np.where((frame["color"] == "red") ^ (frame["doors"] > 3), "yes", "no")
    label = np.where((frame["size"] == "L") & (rng.random(n) < 0.8), "maybe", label)
    return frame.assign(label=label)


def test_categorical_splits_and_names(cars, capsys):
    tree = fitctree(cars, "label")
    assert tree.ResponseName == "label"
    assert tree.PredictorNames == ["color", "size", "doors"]
    assert tree.CategoricalPredictors.tolist() == [1, 2]
    used = set(tree.CutPredictor)
    assert used == {"", "color", "size", "doors"}
    for node in range(tree.NumNodes):
        left, right = tree.CutCategories[node]
        if tree.CutType[node] == "categorical":
            categories = {"color": ["red", "green", "blue"], "size": ["S", "M", "L"]}
            assert sorted(left + right) == sorted(categories[tree.CutPredictor[node]])
            assert np.isnan(tree.CutPoint[node])
            if tree.CutPredictor[node] == "size":
                assert [*left, *right] == ["S", "M", "L"]
        else:
            assert (left, right) == ((), ())
    doors = [tree.CutPoint[k] for k in range(tree.NumNodes) if tree.CutPredictor[k] == "doors"]
    assert set(doors) <= {2.5, 3.5, 4.5}  # thresholds of integers are midpoints
    rows = cars[tree.PredictorNames].astype(object).to_numpy().tolist()
    assert predict(tree, cars, nargout=4)[2].tolist() == [naive.node_of(tree, row) for row in rows]
    view(tree)
    text = capsys.readouterr().out
    assert " if size in {S M} then node" in text or " if size in {S} then node" in text
    assert " color in {" in text


def test_categorical_predictors_of_a_matrix():
    X = np.column_stack([np.arange(60) % 3, np.arange(60.0)])
    y = np.where(X[:, 0] == 1, "b", "a")
    numbers = fitctree(X, y)
    assert numbers.CutType[0] == "continuous"
    assert numbers.NumNodes == 5
    for listed in ([1], 1, [True, False], "x1", ["x1"], np.array([1.0])):
        categories = fitctree(X, y, CategoricalPredictors=listed)
        assert categories.CategoricalPredictors.tolist() == [1]
        assert categories.NumNodes == 3
        assert {frozenset(group) for group in categories.CutCategories[0]} == {
            frozenset([0.0, 2.0]), frozenset([1.0]),
        }  # fmt: skip
        assert predict(categories, X).tolist() == y.tolist()
    assert fitctree(X, y, CategoricalPredictors="all").CategoricalPredictors.tolist() == [1, 2]


def test_frames_are_matched_by_name(cars):
    tree = fitctree(cars, "label", PredictorNames=["doors", "color"])
    assert tree.PredictorNames == ["doors", "color"]
    turned = cars[["label", "color", "size", "doors"]]
    assert predict(tree, turned).tolist() == predict(tree, cars).tolist()
    with pytest.raises(ValueError, match="no column 'color'"):
        predict(tree, cars.drop(columns="color"))


# Prediction


def test_outputs_of_predict(ctree, iris):
    X, species = iris
    label = predict(ctree, X)
    assert (label == species).mean() == pytest.approx(147 / 150)
    both = predict(ctree, X, nargout=2)
    assert len(both) == 2
    label4, score, node, cnum = predict(ctree, X, nargout=4)
    assert (label == both[0]).all()
    assert (label == label4).all()
    assert node.tolist() == [naive.node_of(ctree, row) for row in X.tolist()]
    np.testing.assert_array_equal(score, ctree.ClassProbability[node - 1])
    assert (ctree.ClassNames[cnum - 1] == label).all()
    for wrong in (0, 5, True, "2"):
        with pytest.raises(ValueError, match=r"nargout must be an int in \[1, 4\]"):
            predict(ctree, X, nargout=wrong)
    with pytest.raises(ValueError, match=r"nargout must be an int in \[1, 2\]"):
        predict(fitrtree(X, X[:, 0]), X, nargout=3)
    with pytest.raises(TypeError, match="fitctree, fitrtree or fitcensemble"):
        predict("tree", X)


def test_rows_stop_at_a_missing_value(ctree):
    nan = np.nan
    rows = [[nan] * 4, [5, 3, 4.0, nan], [5, 3, nan, 1.0], [nan, nan, 4.0, 1.0], [5, 3, 1.0, nan]]
    label, score, node, _ = predict(ctree, rows, nargout=4)
    assert node.tolist() == [1, 3, 1, 8, 2]
    assert label.tolist() == ["setosa", "versicolor", "setosa", "versicolor", "setosa"]
    assert score[0].tolist() == pytest.approx([1 / 3] * 3)
    assert score[1].tolist() == pytest.approx([0, 0.5, 0.5])


def test_unseen_category_is_missing(cars):
    tree = fitctree(cars, "label")
    row = cars.head(1).assign(color="pink")
    cells = [None, *cars.head(1)[["size", "doors"]].to_numpy()[0].tolist()]
    assert predict(tree, row, nargout=4)[2].tolist() == [naive.node_of(tree, cells)]


@pytest.mark.parametrize("seed", range(4))
def test_predictions_with_missing_values_equal_naive_ones(seed):
    X, y = naive.noisy(seed, 150)
    tree = fitctree(X, y, MinParentSize=6)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.2] = np.nan
    label, _, node, cnum = predict(tree, X, nargout=4)
    assert node.tolist() == [naive.node_of(tree, row) for row in X.tolist()]
    assert label.tolist() == tree.NodeClass[node - 1].tolist()
    assert (cnum == label + 1).all()
    assert tree.IsBranchNode[node - 1].any()


def test_graph_mode_draws(ctree):
    picture = view(ctree, Mode="graph")
    words = " ".join(text.get_text() for axes in picture.axes for text in axes.texts)
    for word in ("x3", "x4", "virginica"):
        assert word in words
    assert view(fitrtree(np.arange(30.0)[:, None], np.arange(30.0)), "mode", "Graph").axes
    with pytest.raises(ValueError, match="'text' or 'graph'"):
        view(ctree, Mode="figure")
    with pytest.raises(TypeError, match="fitctree or fitrtree"):
        view("tree")
