"""Predictions, stages, custom losses, init predictors and model files."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ceiba
from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.data.table import Table
from ceiba.export import load, save
from tests.ensemble.gradient_boosting.parts import (
    CLASSES,
    KINDS,
    NUMBERS,
    X,
    bits,
    raw_scores,
    target_of,
)

PLAIN = X[["b", "c", "d"]]


class LogCosh:
    """log(cosh(raw - y)), which counts its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def gradient(self, y: Array, raw: Array) -> Array:
        self.calls.append("gradient")
        return np.tanh(raw - y)

    def hessian(self, y: Array, raw: Array) -> Array:
        self.calls.append("hessian")
        return 1 / np.cosh(raw - y) ** 2

    def loss(self, y: Array, raw: Array) -> Array:
        return np.log(np.cosh(raw - y))

    def init(self, y: Array, weight: Array | None) -> float:
        return float(np.median(y))


class Squared:
    """The squared error as a loss of the user."""

    def gradient(self, y: Array, raw: Array) -> Array:
        return raw - y

    def hessian(self, y: Array, raw: Array) -> Array:
        return np.ones_like(y)

    def init(self, y: Array, weight: Array | None) -> float:
        return float(np.average(y, weights=weight))


class LogPoisson:
    """The Poisson loss as a loss of the user, with its link."""

    def gradient(self, y: Array, raw: Array) -> Array:
        return np.exp(raw) - y

    def hessian(self, y: Array, raw: Array) -> Array:
        return np.exp(raw)

    def init(self, y: Array, weight: Array | None) -> float:
        return float(np.log(np.average(y, weights=weight)))

    def inverse_link(self, raw: Array) -> Array:
        return np.exp(raw)


class LinkedPoisson(LogPoisson):
    """The same with the inverse of `inverse_link`, which an init predictor requires."""

    def link(self, prediction: Array) -> Array:
        return np.log(prediction)


# Custom losses


@pytest.mark.parametrize("weight", [None, 0.5 + np.arange(len(X)) % 3], ids=["", "weighted"])
@pytest.mark.parametrize(
    ("name", "custom"), [("squared_error", Squared()), ("poisson", LogPoisson())]
)
def test_a_custom_loss_equals_the_built_in_one(name: str, custom: Any, weight: Any) -> None:
    y = np.round(np.exp(NUMBERS / 3), 2)
    one, other = (
        GradientBoostingRegressor(8, loss=loss).fit(X, y, sample_weight=weight)
        for loss in (name, custom)
    )
    # numpy.average divides weights by a power of two in the built-in losses only: rounding.
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-12)
    assert one.boosted_trees_.n_nodes == other.boosted_trees_.n_nodes


def test_a_custom_loss_is_called_once_per_round() -> None:
    loss = LogCosh()
    model = GradientBoostingRegressor(7, loss=loss, subsample=0.8).fit(X, NUMBERS)
    assert loss.calls == ["gradient", "hessian"] * 7
    assert np.corrcoef(model.predict(X), NUMBERS)[0, 1] > 0.7


class Wrong(Squared):
    def __init__(self, **results: Any) -> None:
        self.results = results

    def gradient(self, y: Array, raw: Array) -> Array:
        return np.asarray(self.results.get("gradient", super().gradient)(y, raw))

    def hessian(self, y: Array, raw: Array) -> Array:
        return np.asarray(self.results.get("hessian", super().hessian)(y, raw))

    def init(self, y: Array, weight: Array | None) -> float:
        return float(self.results.get("init", 0.0))


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"gradient": lambda y, raw: (raw - y)[:-1]}, "gradient of the loss must return an array of"),
    (
        {"gradient": lambda y, raw: raw * np.nan},
        r"gradient of the loss must return finite .* got nan at",
    ),
    ({"hessian": lambda y, raw: np.ones((2, len(y)))}, "hessian of the loss must return an array"),
    ({"hessian": lambda y, raw: y * np.inf}, "hessian of the loss must return finite numbers, got"),
    (
        {"hessian": lambda y, raw: np.where(np.arange(len(y)) == 3, -2.0, 1.0)},
        "hessian of the loss must return numbers >= 0, got -2 at index 3",
    ),
    (
        {"hessian": lambda y, raw: np.full(len(y), "h")},
        r"numbers of shape \(400,\), .* got an array of <U",
    ),
    (
        {"hessian": lambda y, raw: None},
        r"hessian .* must return an array of .* got an array of obj",
    ),
    ({"hessian": lambda y, raw: np.zeros_like(y)}, "some Hessian must be at least"),
    ({"hessian": lambda y, raw: np.full_like(y, 1e-310)}, "some Hessian must be at least"),
    ({"gradient": lambda y, raw: np.full_like(y, 1e308)}, "decrease learning_rate, or scale y"),
    ({"init": np.nan}, "init of the loss must return a finite number"),
]


@pytest.mark.parametrize(("results", "message"), WRONG)
def test_wrong_results_of_a_custom_loss(results: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(2, loss=Wrong(**results)).fit(X, NUMBERS)


class Careless(Squared):
    """A loss that writes into its arguments, or has values of a wrong kind."""

    def __init__(self, **results: Any) -> None:
        self.results = results

    def gradient(self, y: Array, raw: Array) -> Array:
        if self.results.get("writes"):
            raw -= y
        return np.asarray(raw - y)

    def loss(self, y: Array, raw: Array) -> Array:
        return np.asarray(self.results.get("loss", (raw - y) ** 2))

    def inverse_link(self, raw: Array) -> Array:
        return np.asarray(self.results.get("inverse_link", raw))


def test_a_custom_loss_cannot_change_rows_and_scores() -> None:
    y = NUMBERS.copy()
    with pytest.raises(ValueError, match="read-only"):
        GradientBoostingRegressor(2, loss=Careless(writes=True)).fit(X, y)
    np.testing.assert_array_equal(y, NUMBERS)


def test_init_of_a_custom_loss_cannot_change_the_weights() -> None:
    class Scaling(Squared):
        def init(self, y: Array, weight: Array | None) -> float:
            assert weight is not None
            weight /= weight.sum()
            return 0.0

    weight = np.full(len(X), 2.0)
    with pytest.raises(ValueError, match="read-only"):
        GradientBoostingRegressor(2, loss=Scaling()).fit(X, NUMBERS, sample_weight=weight)
    assert (weight == 2.0).all()


@pytest.mark.parametrize("values", [np.full(len(X), np.nan), np.zeros(3)])
def test_values_of_a_custom_loss_and_its_link_are_checked(values: Array) -> None:
    message = "of the loss must return (finite numbers|an array)"
    model = GradientBoostingRegressor(3, loss=Careless(loss=values))
    with pytest.raises(ValueError, match="loss " + message):
        model.fit(X, NUMBERS, X_val=X, y_val=NUMBERS, sample_weight_val=None)
    model = GradientBoostingRegressor(3, loss=Careless(inverse_link=values)).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="inverse_link " + message):
        model.predict(X)


def test_an_init_predictor_with_the_link_of_a_custom_loss() -> None:
    y = np.exp(NUMBERS / 3)
    init = DecisionTreeRegressor(max_depth=2)
    one, other = (
        GradientBoostingRegressor(4, loss=loss, init=init).fit(PLAIN, y, X_val=PLAIN, y_val=y)
        if loss == "poisson"
        else GradientBoostingRegressor(4, loss=loss, init=init).fit(PLAIN, y)
        for loss in ("poisson", LinkedPoisson())
    )
    np.testing.assert_allclose(one.predict(PLAIN), other.predict(PLAIN), rtol=1e-9)
    message = r"init=DecisionTreeRegressor requires .* class LogPoisson without link: add the meth"
    with pytest.raises(ParameterError, match=message):
        GradientBoostingRegressor(4, loss=LogPoisson(), init=init).fit(PLAIN, y)
    LinkedPoisson.link, link = lambda self, p: p * np.nan, LinkedPoisson.link
    try:
        with pytest.raises(ValueError, match="link of the loss must return finite numbers, got na"):
            other.predict(PLAIN)
    finally:
        LinkedPoisson.link = link


def test_a_class_as_loss_raises() -> None:
    with pytest.raises(ParameterError, match=r"got the class LogCosh: pass an .*LogCosh\(\)"):
        GradientBoostingRegressor(2, loss=LogCosh).fit(X, NUMBERS)


def test_objects_that_are_no_loss() -> None:
    with pytest.raises(ValueError, match="'loss' parameter"):
        GradientBoostingRegressor(2, loss=3).fit(X, NUMBERS)
    without = "an object of class Half without"
    half = type("Half", (), {"gradient": Squared.gradient})()
    with pytest.raises(ValueError, match=rf"'loss' parameter .* got {without} hessian\(y, raw\)"):
        GradientBoostingRegressor(2, loss=half).fit(X, NUMBERS)
    half.hessian = 1.0
    with pytest.raises(TypeError, match=r"must be a method hessian\(y, raw\), got 1.0"):
        GradientBoostingRegressor(2, loss=half).fit(X, NUMBERS)
    with pytest.raises(ValueError, match=rf"trace requires .* got {without} loss\(y, raw\): add"):
        GradientBoostingRegressor(2, loss=half, trace=True).fit(X, NUMBERS)


# Stages


@pytest.mark.parametrize("options", [{}, {"dropout": 0.5}, {"subsample": 0.5}], ids=str)
def test_stages_end_in_the_prediction(options: dict[str, Any]) -> None:
    classifier = GradientBoostingClassifier(6, **options).fit(X, CLASSES)
    for name in ("decision_function", "predict_proba", "predict"):
        stages = list(getattr(classifier, f"staged_{name}")(X))
        assert len(stages) == 6
        np.testing.assert_array_equal(stages[-1], getattr(classifier, name)(X))
    regressor = GradientBoostingRegressor(6, **options).fit(X, NUMBERS)
    stages = list(regressor.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], regressor.predict(X))
    if "dropout" in options:  # later rounds change the trees of earlier ones
        return
    for number in (1, 4):
        short = GradientBoostingRegressor(number, **options).fit(X, NUMBERS)
        np.testing.assert_array_equal(stages[number - 1], short.predict(X))


@pytest.mark.parametrize("options", [{}, {"dropout": 0.5}, {"sampling": "goss"}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_training_losses_are_those_of_the_stages(kind: Any, options: dict[str, Any]) -> None:
    """Scores of the fit are those of the prediction, also of rows outside of the sample."""
    y = target_of(kind)
    model = kind(6, trace=True, **options).fit(X, y)
    stages = list(model._staged_raw_scores(X))
    if kind is GradientBoostingClassifier:
        values = [np.logaddexp.reduce(raw, axis=1) - raw[np.arange(len(y)), y] for raw in stages]
    else:
        values = [(raw[:, 0] - y) ** 2 / 2 for raw in stages]
    expected = [value.mean() for value in values]
    assert model.losses_["training"][-1] == pytest.approx(expected[-1], rel=1e-12)
    if "dropout" not in options:
        np.testing.assert_allclose(model.losses_["training"], expected, rtol=1e-12)


def test_probabilities_sum_to_one() -> None:
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        model = GradientBoostingClassifier(5, multi_strategy=strategy).fit(X, CLASSES)
        proba = model.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-14)
        np.testing.assert_array_equal(model.predict(X), proba.argmax(axis=1))
        np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba, rtol=1e-14)
        assert model.score(X, CLASSES) > 0.7


def test_trees_and_leaves() -> None:
    model = GradientBoostingClassifier(3).fit(X, CLASSES)
    leaf = model.apply(X)
    assert leaf.shape == (len(X), 3, 3)
    assert GradientBoostingClassifier(2).fit(X, CLASSES > 0).apply(X).shape == (len(X), 2, 1)
    assert GradientBoostingRegressor(2).fit(X, NUMBERS).apply(X).shape == (len(X), 2)
    assert leaf.dtype == np.int32
    for number in range(3):
        for k in range(3):
            tree = model.tree(number, k)
            tree_leaf = leaf[:, number, k]
            assert tree.is_leaf[tree_leaf].all()
            rows = np.bincount(tree_leaf, minlength=len(tree.is_leaf))
            first, end = model.boosted_trees_.tree_offsets[3 * number + k :][:2]
            node_rows = model.boosted_trees_.node_rows[first:end]
            np.testing.assert_array_equal(rows[tree.is_leaf], node_rows[tree.is_leaf])
            assert node_rows[0] == len(X)
    for wrong in ((3, 0), (-1, 0), (0, 3)):
        with pytest.raises(ValueError, match="number must be in"):
            model.tree(*wrong)


@pytest.mark.parametrize("columns", [["a", "b"], ["a", "b", "few"]])
def test_one_tree_for_all_classes_predicts_as_its_copies(columns: list[str]) -> None:
    """Rows walk through the tree of a round once, the same as through each of its copies."""
    rows = pd.concat([X[columns]] * 4)  # enough to walk in lanes
    model = GradientBoostingClassifier(5, multi_strategy="multi_output_tree")
    model.fit(X[columns], CLASSES)
    for table in (rows, rows.iloc[:7]):
        expected = np.tile(model.boosted_trees_.first_scores, (len(table), 1))
        for number in range(5):
            for k in range(3):
                expected[:, k] += model.tree(number, k).predict(Table.of(table, model.schema_))
        np.testing.assert_allclose(raw_scores(model, table), expected, rtol=1e-12, atol=1e-12)


def test_rounds_are_sliced_without_the_other_trees(monkeypatch: Any) -> None:
    """Where each tree takes time that depends on all of them, all trees take quadratic time."""
    codes = np.random.default_rng(0).integers(0, 100, 2000)
    names = pd.DataFrame({"name": [f"c{code:02d}" for code in codes], "noise": codes % 7})
    table = Table.of(names, kinds={"name": "nominal"})
    trees = GradientBoostingClassifier(4).fit(table, codes % 3).boosted_trees_
    assert len(trees.words) > 0
    forest, raw = trees.to_forest(), trees.raw_scores(table)
    monkeypatch.setattr(type(trees), "to_forest", None)
    for number in range(trees.n_trees):
        one, other = trees.tree(number), forest.tree(number)
        np.testing.assert_array_equal(one.predict(table), other.predict(table))
    with pytest.raises(IndexError, match=r"number must be in \[-12, 11\], got 12"):
        trees.tree(12)
    singles = trees.single_rounds()
    assert sum(len(single.words) for single in singles) == len(trees.words)
    sums = sum(single.raw_scores(table) - trees.first_scores for single in singles)
    np.testing.assert_allclose(sums + trees.first_scores, raw, rtol=1e-12, atol=1e-12)
    first = trees.first_rounds(2).raw_scores(table)
    np.testing.assert_array_equal(first, trees.raw_scores(table, 1, 2))


def test_trees_of_an_unfitted_model_raise() -> None:
    for method in ("tree", "split_arithmetic"):
        with pytest.raises(NotFittedError):
            getattr(GradientBoostingRegressor(), method)(0)


class WithoutLoss:
    """A loss without values, which counts the rounds."""

    n_rounds = 0

    def gradient(self, y: Any, raw: Any) -> Any:
        self.n_rounds += 1
        return raw - y

    def hessian(self, y: Any, raw: Any) -> Any:
        return np.ones_like(y)


@pytest.mark.parametrize("name", ["early_stopping", "X_val", "trace", "verbose"])
def test_a_loss_without_values_raises_before_the_first_round(name: str) -> None:
    loss = WithoutLoss()
    data = {"X_val": X, "y_val": NUMBERS} if name == "X_val" else {}
    options = {} if data else {name: True}
    with pytest.raises(ValueError, match=rf"{name} require.* method loss\(y, raw\)"):
        GradientBoostingRegressor(2, loss=loss, **options).fit(X, NUMBERS, **data)
    assert loss.n_rounds == 0


def test_a_wrong_loss_object_raises() -> None:
    message = r"an object with gradient\(y, raw\) and hessian\(y, raw\)"
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(2, loss=object()).fit(X, NUMBERS)


class Recorder(Ridge):
    """An init predictor that keeps what it was fitted to."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.seen_ = X, y, sample_weight
        return super().fit(X, y, sample_weight)


def test_init_is_fitted_to_the_training_rows() -> None:
    rows, weight = X[["b", "c", "d"]], np.arange(len(X)) % 3
    model = GradientBoostingRegressor(2, init=Recorder(), early_stopping=True)
    model.fit(rows, NUMBERS, sample_weight=weight)
    seen, y, seen_weight = model.init_.seen_
    assert len(seen) == model.boosted_trees_.node_rows[0] < (weight > 0).sum()
    kept = seen.index
    np.testing.assert_array_equal(y, NUMBERS[kept])
    np.testing.assert_array_equal(seen_weight, weight[kept])


def test_importances() -> None:
    model = GradientBoostingRegressor(20).fit(X, NUMBERS)
    trees = model.boosted_trees_
    gains, counts = np.zeros(6), np.zeros(6)
    for number in range(20):
        tree = model.tree(number)
        first, end = trees.tree_offsets[number : number + 2]
        inner = ~tree.is_leaf
        np.add.at(gains, tree.column[inner], trees.node_gains[first:end][inner])
        np.add.at(counts, tree.column[inner], 1)
    np.testing.assert_allclose(model.feature_importances_, gains / gains.sum())
    np.testing.assert_allclose(model.importances("split"), counts / counts.sum())
    assert model.feature_importances_.argmax() == 0
    with pytest.raises(ValueError, match="kind must be"):
        model.importances("cover")


# The init predictor


def test_init_predictors_are_added() -> None:
    for loss, y in (("squared_error", NUMBERS), ("huber", NUMBERS), ("poisson", np.exp(NUMBERS))):
        init = DecisionTreeRegressor(max_depth=2, random_state=0)
        model = GradientBoostingRegressor(5, loss=loss, init=init).fit(PLAIN, y)
        expected = init.fit(PLAIN, y).predict(PLAIN)
        start = np.log(expected) if loss == "poisson" else expected
        sums = model.boosted_trees_.raw_scores(model._table(PLAIN)[1])[:, 0]
        np.testing.assert_allclose(raw_scores(model, PLAIN)[:, 0], start + sums, rtol=1e-12)
        assert model.boosted_trees_.first_scores == [0.0]
        fitted = np.mean((model.predict(PLAIN) - y) ** 2)
        assert fitted < np.mean((expected - y) ** 2)
    assert not hasattr(init, "coef_")
    assert model.init_ is not init


def test_boosting_of_residuals_equals_an_init_predictor() -> None:
    init = LinearRegression().fit(PLAIN, NUMBERS)
    one = GradientBoostingRegressor(5, init=LinearRegression()).fit(PLAIN, NUMBERS)
    other = GradientBoostingRegressor(5, init="zero").fit(PLAIN, NUMBERS - init.predict(PLAIN))
    np.testing.assert_allclose(
        one.predict(PLAIN), init.predict(PLAIN) + other.predict(PLAIN), rtol=1e-9
    )


def test_init_of_classes() -> None:
    for y in (CLASSES, CLASSES > 0):
        init = LogisticRegression().fit(PLAIN, y)
        model = GradientBoostingClassifier(1, init=init, learning_rate=1e-12).fit(PLAIN, y)
        np.testing.assert_allclose(
            model.predict_proba(PLAIN), init.predict_proba(PLAIN), rtol=1e-6, atol=1e-9
        )
    certain = GradientBoostingClassifier(3, init=DecisionTreeClassifier()).fit(PLAIN, CLASSES)
    assert np.isfinite(certain.decision_function(PLAIN)).all()


def test_init_zero_and_constant() -> None:
    zero = GradientBoostingRegressor(3, init="zero").fit(X, NUMBERS + 10)
    constant = GradientBoostingRegressor(3).fit(X, NUMBERS + 10)
    assert zero.boosted_trees_.first_scores == [0.0]
    assert constant.boosted_trees_.first_scores == pytest.approx([NUMBERS.mean() + 10])
    assert zero.init_ is None
    assert constant.init_ is None


class NoWeights(LinearRegression):
    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y)


def test_wrong_init_predictors() -> None:
    weight = np.ones(len(X))
    with pytest.raises(ValueError, match="init must accept sample_weight, got NoWeights"):
        GradientBoostingRegressor(2, init=NoWeights()).fit(PLAIN, NUMBERS, weight)
    with pytest.raises(ValueError, match="init must have predict_proba"):
        GradientBoostingClassifier(2, init=RidgeClassifier()).fit(PLAIN, CLASSES)
    with pytest.raises(ValueError, match="init must predict positive numbers"):
        GradientBoostingRegressor(2, init=LinearRegression(), loss="poisson").fit(
            PLAIN, np.exp(3 * NUMBERS)
        )
    with pytest.raises(ValueError, match="'init' parameter"):
        GradientBoostingRegressor(2, init="mean").fit(PLAIN, NUMBERS)


class Undefined(DecisionTreeRegressor):
    """An init predictor without finite predictions where ``d`` is above a limit."""

    limit = np.inf
    value = np.nan

    def predict(self, X: Any) -> Any:
        return np.where(np.asarray(X)[:, 2] > self.limit, self.value, super().predict(X))


@pytest.mark.parametrize("loss", ["squared_error", "quantile", "poisson"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_init_predictions_that_are_not_finite_raise(
    loss: str, value: float, monkeypatch: Any
) -> None:
    y, row = np.exp(NUMBERS / 3), int(PLAIN["d"].to_numpy().argmax())
    limit = float(np.sort(PLAIN["d"])[-2])
    message = rf"init must predict finite numbers, got {value:g} in row {row}\."
    model = GradientBoostingRegressor(2, loss=loss, init=Undefined(max_depth=2)).fit(PLAIN, y)
    monkeypatch.setattr(Undefined, "value", value)
    monkeypatch.setattr(Undefined, "limit", limit)
    with pytest.raises(ValueError, match=message):
        model.predict(PLAIN)
    with pytest.raises(ValueError, match=message):
        model.fit(PLAIN, y)
    known = np.arange(len(y)) != row
    with pytest.raises(ValueError, match=message):
        model.fit(PLAIN[known], y[known], X_val=PLAIN, y_val=y)
    weight = np.where(np.arange(len(y)) < 10, 0.0, 1.0)
    with pytest.raises(ValueError, match=message):  # the number in X, not among the kept rows
        model.fit(PLAIN, y, sample_weight=weight)


class UndefinedClasses(DecisionTreeClassifier):
    def predict_proba(self, X: Any) -> Any:
        return np.where(np.arange(len(X))[:, None] == 3, np.nan, super().predict_proba(X))


def test_init_probabilities_that_are_not_finite_raise() -> None:
    for y in (CLASSES, CLASSES > 0):
        with pytest.raises(ValueError, match="init must predict finite numbers, got nan in row 3"):
            GradientBoostingClassifier(2, init=UndefinedClasses()).fit(PLAIN, y)


@pytest.mark.parametrize("name", ["monotonic_cst", "interaction_cst"])
def test_constraints_exclude_an_init_estimator(name: str) -> None:
    constraint: Any = [1, 0, 0] if name == "monotonic_cst" else "no_interactions"
    message = f"{name} requires init=None or init='zero', got LinearRegression"
    with pytest.raises(ParameterError, match=message):
        GradientBoostingRegressor(2, init=LinearRegression(), **{name: constraint}).fit(
            PLAIN, NUMBERS
        )
    GradientBoostingRegressor(2, init="zero", **{name: constraint}).fit(PLAIN, NUMBERS)


@pytest.mark.parametrize("init", [KMeans(2), DecisionTreeClassifier()], ids=["clusters", "classes"])
def test_init_of_another_task(init: Any) -> None:
    """Numbers of clusters or classes are no predictions of the target."""
    with pytest.raises(ValueError, match=f"init must be a regressor, got {type(init).__name__}"):
        GradientBoostingRegressor(2, init=init).fit(PLAIN, NUMBERS)


def test_init_of_numbers_for_classes() -> None:
    with pytest.raises(ValueError, match="init must be a classifier, got LinearRegression"):
        GradientBoostingClassifier(2, init=LinearRegression()).fit(PLAIN, CLASSES)


# Storage


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"init": "zero", "dropout": 0.2}], ids=str)
def test_pickles_and_files_keep_every_bit(
    kind: Any, options: dict[str, Any], tmp_path: Any
) -> None:
    model = kind(5, **options).fit(X, target_of(kind))
    save(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), load(tmp_path / "model")):
        assert bits(copy) == bits(model)
        np.testing.assert_array_equal(raw_scores(copy), raw_scores(model))
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
        assert copy.get_params() == model.get_params()
    copy.set_params(warm_start=True, n_estimators=7).fit(X, target_of(kind))
    longer = kind(7, **options).fit(X, target_of(kind))
    np.testing.assert_allclose(raw_scores(copy), raw_scores(longer), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"loss": "quantile", "alpha": 0.1}, {"alpha": 0.9}),
        ({"loss": "tweedie"}, {"power": 1.2}),
        ({}, {"monotonic_cst": [1] + [0] * (X.shape[1] - 1)}),
        (
            {"monotonic_cst": pd.Series([1] + [0] * (X.shape[1] - 1))},
            {"monotonic_cst": pd.Series([-1] + [0] * (X.shape[1] - 1))},
        ),
        ({}, {"interaction_cst": "no_interactions"}),
    ],
    ids=["alpha", "power", "monotonic_cst", "monotonic series", "interaction_cst"],
)
def test_a_warm_start_keeps_what_the_trees_mean(before: dict[str, Any], after: Any) -> None:
    y = np.abs(NUMBERS) + 0.1
    model = GradientBoostingRegressor(2, warm_start=True, **before).fit(X, y)
    (name,) = after
    with pytest.raises(
        ValueError, match=f"warm_start=True requires the same {name} as the previous fit"
    ):
        model.set_params(n_estimators=4, **after).fit(X, y)


def test_predictions_are_those_of_the_loss_of_the_fit(tmp_path: Any) -> None:
    y = np.abs(NUMBERS) + 0.1
    for model, loss in (
        (GradientBoostingRegressor(3, loss="poisson").fit(X, y), "squared_error"),
        (GradientBoostingClassifier(3).fit(X, CLASSES > 0), "exponential"),
    ):
        predict = "predict_proba" if hasattr(model, "predict_proba") else "predict"
        before = getattr(model, predict)(X)
        save(model.set_params(loss=loss), tmp_path / "model")
        for changed in (model, load(tmp_path / "model")):
            np.testing.assert_array_equal(getattr(changed, predict)(X), before)


@pytest.mark.filterwarnings("ignore:'alpha' has no effect:UserWarning")
def test_a_warm_start_may_change_parameters_that_its_loss_does_not_have() -> None:
    y = np.abs(NUMBERS) + 0.1
    model = GradientBoostingRegressor(2, warm_start=True).fit(X, y)
    model.set_params(n_estimators=4, alpha=0.3).fit(X, y)
    assert model.n_estimators_ == 4
    # Older model files have texts of alpha and power with every loss.
    model._warm_start_parameters |= {"alpha": "0.9", "power": "1.7"}
    assert model.set_params(n_estimators=5).fit(X, y).n_estimators_ == 5


# Rows outside of memory


INITS = [
    (GradientBoostingRegressor, Ridge()),
    (GradientBoostingClassifier, LogisticRegression()),
    (GradientBoostingRegressor, ceiba.DecisionTreeRegressor(max_depth=3)),
]


@pytest.mark.parametrize("fitted_to", ["frame", "array"])
@pytest.mark.parametrize(("kind", "init"), INITS, ids=["numbers", "classes", "ceiba"])
def test_init_predicts_rows_of_files(kind: Any, init: Any, fitted_to: str, tmp_path: Any) -> None:
    pytest.importorskip("pyarrow")
    y = target_of(kind)
    rows = PLAIN if fitted_to == "frame" else PLAIN.set_axis(["x0", "x1", "x2"], axis=1)
    paths = [tmp_path / f"{part}.parquet" for part in range(2)]
    for part, path in enumerate(paths):
        rows.assign(y=y)[part::2].to_parquet(path)
    order = np.r_[0 : len(X) : 2, 1 : len(X) : 2]
    model = kind(3, init=init).fit(rows if fitted_to == "frame" else rows.to_numpy(), y)
    in_memory = rows if fitted_to == "frame" else rows.to_numpy()
    scan = ceiba.scan(paths, target="y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(
            raw_scores(model, scan), raw_scores(model, in_memory)[order], rtol=1e-12
        )
        assert model.score(scan) == pytest.approx(model.score(in_memory, y), rel=1e-12)
    without = kind(3, init="zero").fit(in_memory, y)
    assert model.score(scan) != pytest.approx(without.score(scan), rel=1e-6)
