"""Methods of a fitted tree: predict, losses and cross-validation, against naive versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import datasets
from ceiba.compat.matlab import fitctree, fitrtree, predict, prune


def iris() -> tuple[np.ndarray, np.ndarray]:
    meas, species = datasets.load("iris", as_frame=True)
    return meas.to_numpy(), species.to_numpy()


def test_predict_is_a_method_and_a_function() -> None:
    X, Y = iris()
    tree = fitctree(X, Y)
    for a, b in zip(tree.predict(X, nargout=4), predict(tree, X, nargout=4), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="nargout must be"):
        tree.predict(X, nargout=5)


def test_the_tree_keeps_its_training_rows() -> None:
    X, Y = iris()
    weights = np.linspace(1, 2, 150)
    tree = fitctree(X, Y, Weights=weights)
    np.testing.assert_array_equal(tree.Y, Y)
    np.testing.assert_allclose(tree.W, weights / weights.sum())
    assert len(tree.X) == 150


def test_resubstitution_is_the_error_on_the_training_rows() -> None:
    X, Y = iris()
    tree = fitctree(X, Y)
    assert tree.resubLoss() == pytest.approx(np.mean(tree.predict(X) != Y))
    E, SE, nleaf, best = tree.resubLoss("Subtrees", "all", nargout=4)
    expected = [np.mean(prune(tree, Level=k).predict(X) != Y) for k in range(len(E))]
    np.testing.assert_allclose(E, expected)
    np.testing.assert_allclose(SE, np.sqrt(E * (1 - E) / 150))
    assert nleaf.tolist() == [5, 4, 3, 2, 1]
    assert best == max(k for k in range(5) if E[k] <= E[0] + SE[0])
    _, _, _, smallest = tree.resubLoss("Subtrees", "all", "TreeSize", "min", nargout=4)
    assert smallest == 0


def test_loss_weights_classes_by_their_prior() -> None:
    X, Y = iris()
    tree = fitctree(X[::2], Y[::2], Prior=[0.5, 0.25, 0.25], MaxNumSplits=1)
    wrong = tree.predict(X) != Y
    means = [wrong[name == Y].mean() for name in tree.ClassNames]
    assert tree.loss(X, Y) == pytest.approx(np.dot([0.5, 0.25, 0.25], means))
    few = Y != "setosa"
    assert tree.loss(X[few], Y[few]) == pytest.approx(np.mean(means[1:]))


def test_the_response_may_be_a_column() -> None:
    meas, species = datasets.load("iris", as_frame=True)
    frame = meas.assign(species=species)
    tree = fitctree(frame, "species", MaxNumSplits=2)
    assert tree.loss(frame, "species") == tree.loss(meas, species)


@pytest.mark.filterwarnings("error")
def test_cross_validation_of_a_tree_of_one_node() -> None:
    tree = fitctree(np.zeros((20, 1)), ["a"] * 15 + ["b"] * 5)
    assert tree.NumNodes == 1
    assert tree.cvLoss() == pytest.approx(0.25)


def test_predict_has_no_subtrees() -> None:
    tree = fitctree(np.arange(20.0)[:, None], ["a"] * 15 + ["b"] * 5)
    with pytest.raises(
        ValueError, match=r"predict does not support Subtrees: prune the tree first"
    ):
        predict(tree, [[0.0]], "Subtrees", 1)
    with pytest.raises(ValueError, match="predict has no option 'Color'; leave it out"):
        predict(tree, [[0.0]], Color="red")


def test_costs_enter_the_loss() -> None:
    X, Y = iris()
    cost = np.array([[0, 1, 1], [1, 0, 5], [1, 2, 0]])
    tree = fitctree(X, Y, Cost=cost, MaxNumSplits=2)
    names = tree.ClassNames.tolist()
    pairs = zip(Y, tree.predict(X), strict=True)
    expected = np.mean([cost[names.index(a), names.index(b)] for a, b in pairs])
    assert tree.resubLoss() == pytest.approx(expected)
    assert tree.resubLoss("LossFun", "classiferror") == pytest.approx(np.mean(tree.predict(X) != Y))


def test_regression_has_squared_errors() -> None:
    X, _ = iris()
    x, y = X[:, :3], X[:, 3]
    tree = fitrtree(x, y)
    assert tree.resubLoss() == pytest.approx(np.mean((tree.predict(x) - y) ** 2))
    assert tree.loss(x[:50], y[:50]) == pytest.approx(np.mean((tree.predict(x[:50]) - y[:50]) ** 2))
    assert tree.resubLoss() < tree.cvLoss() < np.var(y)
    with pytest.raises(ValueError, match="LossFun must be 'mse'"):
        tree.resubLoss(LossFun="mincost")


@pytest.mark.parametrize("learner", [fitctree, fitrtree])
def test_crossval_predicts_each_row_without_it(learner: Any) -> None:
    X, Y = iris()
    Y = Y if learner is fitctree else X[:, 3]
    X = X[:, :3]
    tree = learner(X, Y, MinLeafSize=3)
    cv = tree.crossval("KFold", 5)
    assert cv.KFold == 5 == len(cv.Trained)
    assert sorted(np.concatenate(cv.test).tolist()) == list(range(150))
    predicted = cv.kfoldPredict()
    for rows, own in zip(cv.test, cv.Trained, strict=True):
        rest = np.setdiff1d(np.arange(150), rows)
        again = learner(X[rest], Y[rest], MinLeafSize=3)
        np.testing.assert_array_equal(own.tree.nodes, again.tree.nodes)
        np.testing.assert_array_equal(predicted[rows], again.predict(X[rows]))
    losses = predicted != Y if learner is fitctree else (predicted - Y) ** 2
    assert cv.kfoldLoss() == pytest.approx(losses.mean())
    assert cv.kfoldLoss("Mode", "individual") == pytest.approx([losses[r].mean() for r in cv.test])
    assert tree.cvLoss("KFold", 5) == pytest.approx(cv.kfoldLoss())


def test_folds_have_the_class_proportions() -> None:
    X, Y = iris()
    for rows in fitctree(X, Y).crossval(KFold=5).test:
        assert [int((Y[rows] == name).sum()) for name in np.unique(Y)] == [10, 10, 10]


def test_holdout_and_leaveout() -> None:
    X, Y = iris()
    tree = fitctree(X[::5], Y[::5])
    held = tree.crossval("Holdout", 0.2)
    assert held.KFold == 1
    assert len(held.test[0]) == 6
    assert sum(label is not None for label in held.kfoldPredict()) == 6
    assert tree.crossval("Leaveout", "on").KFold == 30
    with pytest.raises(ValueError, match="one of KFold, Holdout and Leaveout"):
        tree.crossval("Holdout", 0.2, "KFold", 5)


def test_cross_validation_of_the_pruning_steps() -> None:
    X, Y = iris()
    E, SE, nleaf, best = fitctree(X, Y).cvloss("Subtrees", "all", nargout=4)
    assert E[-1] == pytest.approx(2 / 3)
    assert E[1] < 0.1 > SE[1] > 0
    assert nleaf[best] == 3
    with pytest.raises(ValueError, match="Subtrees must be"):
        fitctree(X, Y).cvLoss("Subtrees", 9)


def test_a_class_of_one_row_may_be_held_out() -> None:
    X, Y = iris()
    Y = Y.astype(object)
    Y[7] = "other"
    tree = fitctree(X, Y, Prior=[0.25] * 4, Cost=1 - np.eye(4))
    assert 0 < tree.cvLoss() < 0.5


def test_graphs_number_nodes_from_1() -> None:
    from ceiba.compat.matlab import view

    X, Y = iris()
    picture = view(fitctree(X, Y, MaxNumSplits=2), "Mode", "graph")
    texts = " ".join(text.get_text() for text in picture.axes[0].texts)
    assert "[1] 150 rows" in texts
    assert "[5]" in texts
    assert "[0]" not in texts


def test_trees_of_a_bag_have_no_training_rows() -> None:
    from ceiba.compat.matlab import TreeBagger

    X, Y = iris()
    tree = TreeBagger(2, X, Y).Trees[0]
    assert tree.loss(X, Y) < 0.2
    for call in (tree.resubLoss, tree.cvLoss, tree.crossval):
        with pytest.raises(ValueError, match="must have its training rows"):
            call()
