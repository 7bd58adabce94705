"""Naive gradient boosting against derivatives, scikit-learn, a table by hand and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from tests.oracles import boosting_trees_naive as trees_naive
from tests.oracles.boosting_losses_naive import (
    gradient,
    hessian,
    initial_scores,
    loss_value,
    weighted_quantile,
)
from tests.oracles.boosting_naive import drop_rounds, fit, sample_rows
from tests.oracles.boosting_trees_naive import Config, allowed_columns, nodes_of

NAN = math.nan


def table(seed=0, n=90, n_columns=3, n_values=None):
    """Numeric columns and a smooth target; with ``n_values``, that many distinct values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    if n_values is not None:
        X = rng.integers(0, n_values, size=(n, n_columns)).astype(float)
    y = 2 * np.tanh(X[:, 0] - 1) + np.sin(3 * X[:, 1]) + rng.normal(size=n) / 2
    return X, y


def weights(n, seed=9):
    """Weights of which no sum is exactly a quantile of the total."""
    return np.random.default_rng(seed).uniform(0.5, 2, n)


def classes(y, n_classes):
    return np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


def leaves(tree):
    return [node for node in nodes_of(tree) if node.is_leaf]


def all_nodes(model):
    return [node for trees in model.rounds for tree in trees for node in nodes_of(tree)]


# Losses

TARGETS = {
    "log_loss": lambda rng, n: rng.integers(0, 2, n),
    "exponential": lambda rng, n: rng.integers(0, 2, n),
    "poisson": lambda rng, n: rng.poisson(2, n),
    "gamma": lambda rng, n: rng.gamma(2, 1, n),
    "tweedie": lambda rng, n: rng.poisson(1, n) * rng.gamma(2, 1, n),
}
LOSSES = (*TARGETS, "squared_error", "absolute_error", "quantile", "huber")


def loss_case(loss, n=20, seed=1):
    rng = np.random.default_rng(seed)
    y = TARGETS.get(loss, lambda rng, n: rng.normal(size=n))(rng, n)
    return y, rng.normal(size=(n, 1)), {"delta": np.array([0.6])} if loss == "huber" else {}


def difference(function, F, i, k, step):
    up, down = F.copy(), F.copy()
    up[i, k] += step
    down[i, k] -= step
    return (function(up) - function(down)) / (2 * step)


@pytest.mark.parametrize("loss", LOSSES)
def test_derivatives_match_differences(loss):
    y, F, options = loss_case(loss)
    g, h = gradient(loss, y, F, **options), hessian(loss, y, F)
    smooth = (*TARGETS, "squared_error")
    for i in range(len(y)):
        slope = difference(lambda F: loss_value(loss, y, F, **options), F, i, 0, 1e-6)
        assert g[i, 0] == pytest.approx(slope, abs=1e-7)
        slope = difference(lambda F, i=i: gradient(loss, y, F, **options)[i, 0], F, i, 0, 1e-6)
        assert h[i, 0] == (pytest.approx(slope, abs=1e-7) if loss in smooth else 1)


@pytest.mark.parametrize("n_classes", [3, 5])
def test_derivatives_of_many_classes(n_classes):
    rng = np.random.default_rng(0)
    y, F = np.arange(15) % n_classes, rng.normal(size=(15, n_classes))
    g, h = gradient("log_loss", y, F), hessian("log_loss", y, F)
    for i in range(15):
        for k in range(n_classes):
            slope = difference(lambda F: loss_value("log_loss", y, F), F, i, k, 1e-6)
            assert g[i, k] == pytest.approx(slope, abs=1e-7)
            slope = difference(lambda F, i=i, k=k: gradient("log_loss", y, F)[i, k], F, i, k, 1e-6)
            # Friedman's factor: the diagonal alone is K / (K - 1) too small for K scores.
            assert h[i, k] == pytest.approx(n_classes / (n_classes - 1) * slope, abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_initial_score_minimizes_the_loss(loss):
    y, _, _ = loss_case(loss, n=41)
    w = weights(41)
    # The initial score of the Huber loss is the median, which minimizes the absolute error.
    minimized = "absolute_error" if loss == "huber" else loss

    def total(score):
        return loss_value(minimized, y, np.full((41, 1), score), w)

    (init,) = initial_scores(loss, y, w)
    assert total(init) < min(total(init - 1e-3), total(init + 1e-3))


def test_weighted_quantile():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 10):
        values = rng.normal(size=n)
        for alpha in (0.1, 0.25, 0.5, 0.9, 1.0):
            expected = np.quantile(values, alpha, method="averaged_inverted_cdf")
            assert weighted_quantile(values, np.ones(n), alpha) == pytest.approx(expected)
    values, repeats = rng.normal(size=6), np.array([1, 3, 0, 2, 2, 4])
    for alpha in (0.25, 0.5, 0.75):
        found = weighted_quantile(values, repeats.astype(float), alpha)
        copies = np.repeat(values, repeats)
        assert found == weighted_quantile(copies, np.ones(len(copies)), alpha)


@pytest.mark.parametrize("loss", [x for x in LOSSES if x not in ("log_loss", "exponential")])
def test_line_search_minimizes_the_loss_in_a_leaf(loss):
    """Except for classes (a Newton step) and Huber (one step of Friedman's approximation)."""
    y, _, _ = loss_case(loss, n=40)
    y = y + 1.0 if loss in ("poisson", "tweedie") else y
    X, w = table(3, n=40)[0], weights(40)
    model = fit(X, y, loss=loss, weight=w, method="gradient", max_leaf_nodes=4, n_estimators=2)
    F = model.staged_raw_scores(X)[1]
    for leaf in leaves(model.rounds[1][0]):
        if loss == "huber":
            continue

        def total(step, rows=leaf.rows, value=leaf.value):
            return loss_value(loss, y[rows], F[rows] + value + step, w[rows])

        assert total(0.0) <= min(total(-1e-4), total(1e-4))


# scikit-learn's GradientBoosting: method="gradient", thresholds between the node's values
#
# Weighted quantiles of scikit-learn are the lower ones where the cumulated weight is exactly
# reached, the specification's are the mean of both values: with random weights it never is. At
# equality of F and y its gradients of absolute_error and quantile are those of F < y, the
# specification's are 0: with init="zero" there is no equality. Nodes of equal gradients have a
# gain of 0, but for rounding errors: both need a positive limit not to split them.


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
@pytest.mark.parametrize("limits", [{"max_depth": 3}, {"max_leaf_nodes": 5}])
def test_regressor_of_scikit_learn(loss, limits):
    X, y = table(1)
    w = weights(len(y))
    options = {"n_estimators": 12, "learning_rate": 0.3, "alpha": 0.8, "min_samples_leaf": 3}
    other = GradientBoostingRegressor(loss=loss, init="zero", random_state=0, **options)
    other.set_params(min_impurity_decrease=1e-12, **{"max_depth": None, **limits}).fit(X, y, w)
    options = {**options, **limits, "init": (0,), "min_split_gain": 1e-9}
    model = fit(X, y, loss=loss, weight=w, method="gradient", **options)
    np.testing.assert_allclose(model.raw_scores(X)[:, 0], other.predict(X), rtol=0, atol=1e-8)
    for ours, theirs in zip(model.staged_raw_scores(X)[1:], other.staged_predict(X), strict=True):
        np.testing.assert_allclose(ours[:, 0], theirs, rtol=0, atol=1e-8)


@pytest.mark.parametrize("loss", ["squared_error", "huber", "quantile"])
def test_initial_scores_of_scikit_learn(loss):
    X, y = table(2)
    w = weights(len(y))
    other = GradientBoostingRegressor(loss=loss, alpha=0.8, n_estimators=1).fit(X, y, w)
    init = initial_scores(loss, y, w, alpha=0.8)
    assert init[0] == pytest.approx(np.ravel(other.init_.constant_)[0])


@pytest.mark.parametrize(
    ("loss", "n_classes"), [("log_loss", 2), ("log_loss", 3), ("exponential", 2)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_classifier_of_scikit_learn(loss, n_classes, weighted):
    X, y = table(2)
    y = classes(y, n_classes)
    w = weights(len(y)) if weighted else None
    options = {"n_estimators": 12, "learning_rate": 0.3, "max_depth": 2, "min_samples_leaf": 3}
    other = GradientBoostingClassifier(loss=loss, random_state=0, **options).fit(X, y, w)
    model = fit(X, y, loss=loss, weight=w, method="gradient", **options)
    expected = other.decision_function(X).reshape(len(y), -1)
    np.testing.assert_allclose(model.raw_scores(X), expected, rtol=0, atol=1e-8)


# scikit-learn's HistGradientBoosting: method="newton", thresholds between the column's values
#
# Its gradients are float32, hence 1e-6. With more than two classes its Hessian lacks the factor
# K / (K - 1). Its min_child_weight is 1e-3.


def hist_options(**options):
    found = {"max_iter": 10, "learning_rate": 0.3, "max_leaf_nodes": 6, "max_depth": None}
    return {**found, "min_samples_leaf": 4, "early_stopping": False, **options}


def naive_options(**options):
    found = {"n_estimators": 10, "learning_rate": 0.3, "max_leaf_nodes": 6}
    return {**found, "min_samples_leaf": 4, "min_child_weight": 1e-3, **options}


def assert_hist_equal(model, other, X, Z=None):
    Z = X if Z is None else Z
    raw = other._raw_predict(Z).reshape(len(Z), -1)
    np.testing.assert_allclose(model.raw_scores(Z), raw, rtol=0, atol=1e-6)


@pytest.mark.parametrize("reg_lambda", [0.0, 2.5])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "gamma"])
def test_hist_regressor(loss, reg_lambda):
    X, y = table(3, n=151, n_values=9)
    # Gamma: targets of small spread, whose Newton steps stay below the limit of log links.
    y = {"poisson": np.round(np.exp(y / 2)), "gamma": np.exp(y / 4)}.get(loss, y)
    # The even number of rows at the median: no equality of F and y in the first round.
    X, y = X[:150], y[:150]
    other = HistGradientBoostingRegressor(
        loss=loss, **hist_options(l2_regularization=reg_lambda)
    ).fit(X, y)
    model = fit(X, y, loss=loss, **naive_options(reg_lambda=reg_lambda))
    assert_hist_equal(model, other, X)


@pytest.mark.parametrize("weighted", [False, True])
def test_hist_classifier(weighted):
    X, y = table(4, n=150, n_values=9)
    y = classes(y, 2)
    w = weights(len(y)) if weighted else None
    other = HistGradientBoostingClassifier(**hist_options()).fit(X, y, w)
    assert_hist_equal(fit(X, y, loss="log_loss", weight=w, **naive_options()), other, X)


def test_hist_classifier_of_three_classes():
    """With K / (K - 1) times the Hessian, reg_lambda and the rate make up for the factor."""
    X, y = table(4, n=150, n_values=9)
    y = classes(y, 3)
    options = hist_options(learning_rate=0.2, l2_regularization=2.0)
    other = HistGradientBoostingClassifier(**options).fit(X, y)
    options = naive_options(learning_rate=0.3, reg_lambda=3.0)
    assert_hist_equal(fit(X, y, loss="log_loss", **options), other, X)


def test_hist_missing_values():
    X, y = table(5, n=200, n_values=9)
    rng = np.random.default_rng(0)
    y = y + np.where(X[:, 2] > 6, 1.5, 0)
    X[rng.random(X.shape) < 0.15] = NAN
    X[X[:, 2] > 6, 2] = NAN
    other = HistGradientBoostingRegressor(**hist_options(l2_regularization=1.0)).fit(X, y)
    model = fit(X, y, **naive_options(reg_lambda=1.0))
    assert_hist_equal(model, other, X)
    assert {node.missing_left for node in all_nodes(model) if not node.is_leaf} == {True, False}


def test_hist_monotonic(monkeypatch):
    """Its score is -G v, which is the decrease of the objective only if v is not clipped."""

    def hist_score(G, H, low, high, config):
        return -math.fsum(G * trees_naive.clipped_value(G, H, low, high, config))

    X, y = table(6, n=200, n_values=12, n_columns=4)
    constraints = [1, -1, 0, 0]
    other = HistGradientBoostingRegressor(
        monotonic_cst=constraints, **hist_options(l2_regularization=0.5)
    ).fit(X, y)
    options = naive_options(reg_lambda=0.5, monotonic=constraints)
    own = fit(X, y, **options).raw_scores(X)
    monkeypatch.setattr(trees_naive, "score", hist_score)
    model = fit(X, y, **options)
    assert_hist_equal(model, other, X)
    assert abs(own - model.raw_scores(X)).max() > 0.01


def test_hist_interactions():
    X, y = table(6, n=200, n_values=12, n_columns=4)
    groups = [{0, 1}, {1, 2}]
    other = HistGradientBoostingRegressor(interaction_cst=groups, **hist_options()).fit(X, y)
    model = fit(X, y, interactions=groups, **naive_options())
    assert_hist_equal(model, other, X)
    assert all(
        any(set(node.tested) <= group for group in (*groups, {3})) for node in all_nodes(model)
    )


# A table by hand


def test_two_rounds_by_hand():
    """Four rows, y = 0, 0, 3, 9 at x = 1, 2, 3, 4; stumps with reg_lambda = 1, rate 1/2."""
    X, y = np.array([[1.0], [2], [3], [4]]), np.array([0.0, 0, 3, 9])
    model = fit(X, y, max_leaf_nodes=2, reg_lambda=1, learning_rate=0.5, n_estimators=2)
    assert model.init.tolist() == [3]
    first, second = (trees[0] for trees in model.rounds)
    # g = 3, 3, 0, -6: scores of the sides 9/2 + 9/4, 36/3 + 36/3, 36/4 + 36/2; the node has 0.
    assert (first.threshold, first.gain) == (3.5, 27)
    assert (first.left.value[0], first.right.value[0]) == (-1.5, 3)
    # F = 2.25, 2.25, 2.25, 4.5: g = 2.25, 2.25, -0.75, -4.5, whose sum is -0.75.
    sides = [2.25**2 / 2 + 3**2 / 4, 4.5**2 / 3 + 5.25**2 / 3, 3.75**2 / 4 + 4.5**2 / 2]
    assert (second.threshold, second.gain) == (2.5, pytest.approx(max(sides) - 0.75**2 / 5))
    assert (second.left.value[0], second.right.value[0]) == (-1.5, 1.75)
    assert model.raw_scores(X)[:, 0].tolist() == [1.5, 1.5, 3.125, 5.375]


def test_soft_threshold_by_hand():
    """The same table with reg_alpha = 2: T(G) = 4, -4 at 3.5 and at 2.5."""
    X, y = np.array([[1.0], [2], [3], [4]]), np.array([0.0, 0, 3, 9])
    tree = fit(X, y, max_leaf_nodes=2, reg_lambda=1, reg_alpha=2, n_estimators=1).rounds[0][0]
    assert (tree.threshold, tree.gain) == (3.5, 16 / 4 + 16 / 2)
    assert (tree.left.value[0], tree.right.value[0]) == (-1, 2)


def test_missing_and_nominal_by_hand():
    y = np.array([0.0, 0, 6, 6, 6, 0])
    tree = fit([[1], [2], [3], [4], [NAN], [2]], y, max_leaf_nodes=2, n_estimators=1).rounds[0][0]
    assert (tree.threshold, tree.missing_left, tree.gain) == (2.5, False, 54)
    # Known against missing: the numbers have nothing to do with y.
    X = [[1], [2], [NAN], [NAN], [NAN], [1]]
    tree = fit(X, y, max_leaf_nodes=2, n_estimators=1).rounds[0][0]
    assert (tree.threshold, tree.missing_left, tree.gain) == (math.inf, False, 54)
    # Sorted by G / H = -mean: categories 2, then 0; category 3 is not in the table.
    X = [[0], [0], [2], [2], [NAN], [0]]
    options = {"kinds": ["nominal"], "n_categories": [4], "max_leaf_nodes": 2}
    model = fit(X, y, n_estimators=1, learning_rate=1.0, **options)
    tree = model.rounds[0][0]
    assert (tree.left_categories, tree.right_categories) == ((2,), (0,))
    assert (tree.missing_left, tree.gain) == (True, 54)
    assert model.raw_scores([[2], [0], [NAN], [3], [7]])[:, 0].tolist() == [6, 0, 6, 6, 6]
    # Without missing values other categories follow the larger child; equal ones, the left.
    model = fit([[0], [0], [2], [2], [2], [2]], y, n_estimators=1, **options)
    assert not model.rounds[0][0].missing_left or model.rounds[0][0].left_categories == (2,)


# Properties


def test_gain_is_the_decrease_of_the_objective():
    """The gains of a tree sum to twice the decrease of the regularized quadratic objective."""
    X, y = table(7)
    options = {"reg_lambda": 0.7, "reg_alpha": 0.9, "max_leaf_nodes": 7, "n_estimators": 1}
    tree = fit(X, y, loss="poisson", **options) if (y >= 0).all() else fit(X, y, **options)
    tree = tree.rounds[0][0]

    def objective(node):
        v, G, H = node.value[0], node.G[0], node.H[0]
        return G * v + (H + 0.7) * v * v / 2 + 0.9 * abs(v)

    decrease = objective(tree) - sum(objective(leaf) for leaf in leaves(tree))
    gains = sum(node.gain for node in nodes_of(tree))
    assert gains == pytest.approx(2 * decrease)


def test_limits():
    X, y = table(8)
    y = classes(y, 2)
    options = {"loss": "log_loss", "n_estimators": 4}
    plain = fit(X, y, **options)
    model = fit(X, y, min_child_weight=1.5, **options)
    assert min(node.H[0] for node in all_nodes(model)) >= 1.5
    assert min(node.H[0] for node in all_nodes(plain)) < 1.5
    model = fit(X, y, min_split_gain=0.8, **options)
    assert min(node.gain for node in all_nodes(model) if not node.is_leaf) > 0.8
    model = fit(X, y, min_samples_leaf=7, max_depth=3, **options)
    assert min(node.n_rows for node in all_nodes(model)) >= 7
    assert max(node.depth for node in all_nodes(model)) == 3
    assert not any(fit(X, y, reg_alpha=1e3, **options).raw_scores(X)[:, 0] - plain.init)
    with pytest.raises(ValueError, match="newton"):
        fit(X, y, method="gradient", reg_lambda=1.0)


def test_growth():
    X, y = table(9)
    full = {"n_estimators": 3, "max_depth": 3}
    one, other = (fit(X, y, growth=g, **full) for g in ("best_first", "breadth_first"))
    np.testing.assert_array_equal(one.raw_scores(X), other.raw_scores(X))
    options = {"n_estimators": 1, "max_leaf_nodes": 6}
    first = fit(X, y, growth="best_first", **options).rounds[0][0]
    assert len(leaves(first)) == 6
    breadth = fit(X, y, growth="breadth_first", **options).rounds[0][0]
    assert [sum(n.depth == d for n in nodes_of(breadth)) for d in range(4)] == [1, 2, 4, 4]
    assert not breadth.left.left.is_leaf
    assert not breadth.left.right.is_leaf


def test_weights_are_copies_of_rows():
    X, y = table(10, n=40)
    repeats = np.random.default_rng(0).integers(0, 4, 40)
    # Values of rows of weight 0 have thresholds of their own, in the column's.
    options = {"max_leaf_nodes": 5, "reg_lambda": 1.0, "thresholds_of": "node"}
    for loss in ("squared_error", "absolute_error", "huber"):
        weighted = fit(X, y, loss=loss, weight=repeats, **options)
        copied = fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats), loss=loss, **options)
        np.testing.assert_allclose(weighted.raw_scores(X), copied.raw_scores(X), atol=1e-10)


@pytest.mark.parametrize("method", ["newton", "gradient"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "log_loss"])
def test_monotonic_on_probes(loss, method):
    X, y = table(11, n=100)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = NAN
    y = classes(y, 2) if loss == "log_loss" else y
    model = fit(X, y, loss=loss, method=method, monotonic=(1, -1, 0), max_leaf_nodes=8)
    values = np.linspace(-3, 3, 25)
    for row in X[:20]:
        for column, direction in ((0, 1), (1, -1)):
            probes = np.tile(row, (25, 1))
            probes[:, column] = values
            assert (direction * np.diff(model.raw_scores(probes)[:, 0]) >= -1e-12).all()
    for node in all_nodes(model):
        assert node.low <= node.value[0] <= node.high


def test_interaction_groups():
    assert allowed_columns(4, (), ({0, 1}, {1, 2})) == [0, 1, 2, 3]
    assert allowed_columns(4, (0,), ({0, 1}, {1, 2})) == [0, 1]
    assert allowed_columns(4, (1,), ({0, 1}, {1, 2})) == [0, 1, 2]
    assert allowed_columns(5, (3,), ({0, 1},)) == [2, 3, 4]


def test_subsample():
    X, y = table(12)
    draws = np.random.default_rng(0).random((5, len(y)))
    options = {"n_estimators": 5, "max_leaf_nodes": 4}
    model = fit(X, y, subsample=0.6, row_draws=draws, **options)
    for (tree,), u in zip(model.rounds, draws, strict=True):
        assert tree.rows.tolist() == np.flatnonzero(u < 0.6).tolist()
    # A round on the sample is a round on rows of weight 0 or 1.
    first = fit(X, y, subsample=0.6, row_draws=draws, **{**options, "n_estimators": 1})
    w = (draws[0] < 0.6).astype(float)
    same = fit(X, y, weight=w, init=first.init, **{**options, "n_estimators": 1})
    np.testing.assert_array_equal(first.raw_scores(X), same.raw_scores(X))


def test_one_side_sampling():
    g = np.array([[3.0], [-5], [1], [1], [-1], [0.5], [4], [-2], [0], [1]])
    draws = np.array([0.9, 0.9, 0.1, 0.3, 0.2, 0.24, 0.9, 0.9, 0.26, 0.9])
    config = Config(top_rate=0.35, other_rate=0.1625)  # 3.5 rows, rounded up; bound 0.25
    rows, factors = sample_rows(g, np.ones(10), draws, config)
    top = [0, 1, 6, 7]
    assert rows.tolist() == sorted([*top, 2, 4, 5])
    assert all(factors[i] == (1 if i in top else 4) for i in rows)
    X, y = table(13)
    u = np.random.default_rng(0).random((4, len(y)))
    options = {"top_rate": 0.3, "other_rate": 0.2, "row_draws": u, "n_estimators": 4}
    model = fit(X, y, max_leaf_nodes=4, **options)
    (tree,) = model.rounds[0]
    rest = tree.n_rows - math.ceil(0.3 * len(y))
    assert tree.H[0] == pytest.approx(math.ceil(0.3 * len(y)) + rest * 3.5)


def test_dropout():
    X, y = table(14)
    rng = np.random.default_rng(0)
    draws = [rng.random(r) for r in range(6)]
    options = {"n_estimators": 6, "max_leaf_nodes": 4, "learning_rate": 0.4}
    model = fit(X, y, dropout=0.5, round_draws=draws, **options)
    assert any(len(dropped) > 1 for dropped in model.dropped)
    expected = []
    for r, dropped in enumerate(model.dropped):
        assert dropped == [s for s in range(r) if draws[r][s] < 0.5]
        k = len(dropped)
        expected = [w * k / (k + 0.4) if s in dropped else w for s, w in enumerate(expected)]
        expected.append(0.4 / (k + 0.4) if k else 0.4)
    np.testing.assert_allclose(model.weights, expected)
    plain = fit(X, y, **options)
    never = fit(X, y, dropout=0.5, round_draws=[np.ones(r) for r in range(6)], **options)
    np.testing.assert_array_equal(never.raw_scores(X), plain.raw_scores(X))
    assert drop_rounds(3, [0.1, 0.6, 0.2], 0.5) == [0, 2]


def test_dropping_all_rounds_fits_the_first_tree_again():
    X, y = table(15)
    options = {"n_estimators": 3, "max_leaf_nodes": 4, "learning_rate": 0.5}
    model = fit(X, y, dropout=0.5, round_draws=[np.zeros(r) for r in range(3)], **options)
    first = fit(X, y, **{**options, "n_estimators": 1, "learning_rate": 1.0})
    # Weights 1/2; then both 1/3; then k = 2: 1/3 * 2 / 2.5 twice, and 0.5 / 2.5.
    total = 2 / 3 * 2 / 2.5 + 0.5 / 2.5
    expected = first.init + total * (first.raw_scores(X) - first.init)
    np.testing.assert_allclose(model.raw_scores(X), expected)


def test_many_categories_pay_for_chance():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 30, (300, 1)), rng.normal(size=300)
    options = {"kinds": ["nominal"], "n_estimators": 1, "max_leaf_nodes": 2}
    free = fit(X, y, n_categories=[30], **options, min_split_gain=-math.inf).rounds[0][0]
    assert free.gain < 0
    assert fit(X, y, n_categories=[30], **options).rounds[0][0].is_leaf
    few = fit(X % 10, y, n_categories=[10], **options).rounds[0][0]
    assert not few.is_leaf
    strong = fit(X, y + 5 * (X[:, 0] % 2), n_categories=[30], **options).rounds[0][0]
    assert strong.left_categories == tuple(range(1, 30, 2))


def test_sorted_prefixes_hold_the_best_partition():
    """Fisher (1958): without smoothing, no other partition of the categories has more gain."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 6, (60, 1)).astype(float), rng.normal(size=60)
    tree = fit(X, y, kinds=["nominal"], n_categories=[6], max_leaf_nodes=2, n_estimators=1)
    g = y.mean() - y
    gains = []
    for code in range(1, 2**5):
        left = np.isin(X[:, 0], [c for c in range(6) if code >> c & 1])
        gains.append(sum(g[side].sum() ** 2 / side.sum() for side in (left, ~left)))
    assert tree.rounds[0][0].gain == pytest.approx(max(gains))


# Vector leaves


def test_vector_leaves():
    X, y = table(16)
    y = classes(y, 3)
    options = {"loss": "log_loss", "max_leaf_nodes": 5, "reg_lambda": 1.0, "n_estimators": 4}
    model = fit(X, y, multi_output=True, min_child_weight=2.0, **options)
    for (tree,) in model.rounds:
        for node in nodes_of(tree):
            np.testing.assert_allclose(node.value, -node.G / (node.H + 1))
            assert node.H.mean() >= 2
            if not node.is_leaf:
                scores = [(n.G**2 / (n.H + 1)).sum() for n in (node.left, node.right, node)]
                assert node.gain == pytest.approx(scores[0] + scores[1] - scores[2])
    assert abs(model.raw_scores(X).sum(axis=1)).max() < 10
    # One score: the same as a tree per score.
    y = (y > 0).astype(int)
    pair = [fit(X, y, multi_output=m, **options).raw_scores(X) for m in (False, True)]
    np.testing.assert_array_equal(*pair)


def test_vector_leaves_of_equal_targets():
    """Two copies of a target: the trees of one, with twice the gains."""
    X, y = table(17)
    options = {"max_leaf_nodes": 5, "reg_alpha": 0.5, "n_estimators": 3}
    for loss in ("squared_error", "absolute_error", "huber"):
        one = fit(X, y, loss=loss, **options)
        two = fit(X, np.column_stack([y, y]), loss=loss, multi_output=True, **options)
        np.testing.assert_allclose(two.raw_scores(X), np.repeat(one.raw_scores(X), 2, axis=1))
        gains = [[node.gain for node in all_nodes(model)] for model in (one, two)]
        np.testing.assert_allclose(gains[1], 2 * np.array(gains[0]))


def test_categories_sorted_by_the_score_of_largest_differences():
    rng = np.random.default_rng(0)
    X = np.arange(60).reshape(-1, 1) % 5
    noise = rng.normal(size=60) / 10
    y = np.column_stack([noise, np.array([4, 0, 3, 1, 2])[X[:, 0]] + noise])
    options = {"kinds": ["nominal"], "n_categories": [5], "max_leaf_nodes": 2, "n_estimators": 1}
    tree = fit(X, y, multi_output=True, **options).rounds[0][0]
    assert tree.left_categories in {(0, 2), (0, 2, 4)}


# Custom losses


class HalfSquares:
    def gradient(self, y, raw):
        return raw - y

    def hessian(self, y, raw):
        return np.ones_like(raw)

    def init(self, y, weight):
        return np.average(y, weights=weight)


@pytest.mark.parametrize("method", ["newton", "gradient"])
def test_custom_loss(method):
    X, y = table(18)
    options = {"weight": weights(len(y)), "max_leaf_nodes": 5, "method": method}
    expected = fit(X, y, **options).raw_scores(X)
    np.testing.assert_allclose(fit(X, y, loss=HalfSquares(), **options).raw_scores(X), expected)
