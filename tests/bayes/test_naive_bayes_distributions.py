"""Naive Bayes with densities: agreement with scikit-learn, definitions and extreme numbers."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde, norm, poisson
from sklearn.naive_bayes import GaussianNB

import ceiba
from ceiba import NaiveBayesClassifier
from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.bayes.distributions import kernel
from ceiba.data import Table

DENSITIES = ["gaussian", "kernel", "mixture", "poisson"]


def classes_of(n: int, seed: int = 0, k: int = 3) -> tuple[Array, Array]:
    """Rows whose classes differ in mean and spread, in four columns."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    X = rng.normal(size=(n, 4)) * (1 + y[:, None]) + 2 * y[:, None] * [1.0, -1.0, 0.0, 0.5]
    return X, y


def suited(X: Array, name: str) -> Array:
    """Values that a distribution accepts."""
    return np.round(np.abs(X)) if name == "poisson" else X


def gaussian(**parameters: Any) -> NaiveBayesClassifier:
    return NaiveBayesClassifier(distributions="gaussian", alpha=0.0, **parameters)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 60), shift=st.sampled_from([0.0, 1e9]))
def test_gaussian_agrees_with_scikit_learn(seed: int, n: int, shift: float) -> None:
    X, y = classes_of(n, seed)
    X = X + shift
    model, other = gaussian().fit(X, y), GaussianNB().fit(X, y)
    ours, theirs = model.predict_log_proba(X), other.predict_log_proba(X)
    if not shift:
        assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-10)
        joint = other.predict_joint_log_proba(X)
        assert np.allclose(model.predict_joint_log_proba(X), joint, rtol=1e-10, atol=1e-10)
    else:  # far from zero both have the precision of the values
        assert np.allclose(ours, gaussian().fit(X - shift, y).predict_log_proba(X - shift))


def test_gaussian_agrees_with_weights_and_priors() -> None:
    X, y = classes_of(80)
    weight = np.random.default_rng(1).integers(0, 4, 80).astype(float)
    weight[:3] = 1
    # scikit-learn's share of the variance ignores the weights.
    ours = gaussian(var_smoothing=0.0).fit(X, y, sample_weight=weight)
    theirs = GaussianNB(var_smoothing=0.0).fit(X, y, sample_weight=weight)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)
    priors = [0.2, 0.5, 0.3]
    ours = gaussian(priors=np.array(priors)).fit(X, y)
    theirs = GaussianNB(priors=priors).fit(X, y)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("name", ["gaussian", "kernel", "poisson"])
def test_weights_are_repetitions(name: str) -> None:
    X, y = classes_of(40)
    X = suited(np.round(X, 1), name)
    weight = np.random.default_rng(2).integers(0, 3, 40)
    weight[:3] = 1
    rows = np.repeat(np.arange(40), weight)
    one = NaiveBayesClassifier(distributions=name).fit(X, y, sample_weight=weight)
    two = NaiveBayesClassifier(distributions=name).fit(X[rows], y[rows])
    assert np.allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("name", DENSITIES)
def test_missing_values_are_left_out(name: str) -> None:
    X, y = classes_of(60)
    X = suited(X, name)
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    model = NaiveBayesClassifier(distributions=name).fit(X, y)
    joint = model.predict_joint_log_proba(X)
    prior = model.predict_joint_log_proba(np.full((1, 4), np.nan))
    assert np.allclose(np.exp(prior).sum(), 1.0)
    parts = []
    for j in range(4):
        known = ~np.isnan(X[:, j])
        alone = NaiveBayesClassifier(distributions=name, priors=np.exp(prior[0]))
        alone.fit(X[known][:, [j]], y[known])
        part = np.zeros((len(X), 3))
        part[known] = alone.predict_joint_log_proba(X[known][:, [j]]) - prior
        parts.append(part)
    if name != "gaussian":  # whose share of the largest variance is over all columns
        assert np.allclose(joint, prior + sum(parts), atol=1e-8)
    assert np.isfinite(joint).all()


def test_kernels_are_those_of_scipy() -> None:
    X, y = classes_of(50)
    model = NaiveBayesClassifier(distributions="kernel").fit(X[:, :1], y)
    queries = np.array([[-3.0], [0.1], [4.0], [2000.0]])
    found = model.predict_joint_log_proba(queries)
    for c in range(3):
        own = X[y == c, 0]
        below = np.sort(own)[np.ceil(np.array([0.25, 0.75]) * len(own)).astype(int) - 1]
        h = 0.9 * min(own.std(), (below[1] - below[0]) / 1.34) * len(own) ** -0.2
        density = gaussian_kde(own, bw_method=h / own.std(ddof=1))
        wanted = np.log(density(queries[:3, 0])) + np.log((len(own) + 1) / (len(y) + 3))
        assert np.allclose(found[:3, c], wanted, rtol=1e-9)
    assert np.isfinite(found).all()


def test_many_values_are_rounded_to_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes_of(600)
    exact = NaiveBayesClassifier(distributions="kernel").fit(X, y).predict_proba(X)
    monkeypatch.setattr(kernel, "MAX_VALUES", 500)
    model = NaiveBayesClassifier(distributions="kernel").fit(X, y)
    assert all(own.values.rounded for own in model._densities)
    assert np.abs(model.predict_proba(X) - exact).max() < 0.02
    # The cells are those of the first rows, whose range is narrower.
    streamed = NaiveBayesClassifier(distributions="kernel").fit(X[:300], y[:300])
    assert not any(own.values.rounded for own in streamed._densities)
    streamed.partial_fit(X[300:], y[300:])
    assert all(own.values.rounded for own in streamed._densities)
    assert np.abs(streamed.predict_proba(X) - exact).max() < 0.02


def test_mixtures_describe_two_modes() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 400)
    x = rng.normal(size=800) + np.where(y == 0, rng.choice([-6.0, 6.0], 800), 0.0)
    model = NaiveBayesClassifier(distributions="mixture").fit(x[:, None], y)
    (columns,) = model._densities
    assert np.diff(columns.starts).tolist() == [2, 1]
    found = np.exp(model.predict_joint_log_proba([[0.5]]))[0]
    own = slice(0, 2)
    wanted = (columns.weight[own] * norm.pdf(0.5, columns.mean[own], columns.deviation[own])).sum()
    assert found[0] == pytest.approx(0.5 * wanted)
    assert model.score(x[:, None], y) > 0.99


def test_far_values_and_a_class_without_rows() -> None:
    """The class has the moments of all rows, whose density is positive where the others are 0."""
    model = NaiveBayesClassifier(distributions="gaussian", var_smoothing=0.0)
    model.partial_fit([[0.0], [1e-3], [100.0], [100.001]], [0, 0, 1, 1], classes=[0, 1, 2])
    np.testing.assert_allclose(model.predict_proba([[1e153]]), [[0.5, 0.5, 0.0]])


def test_poisson_rates_have_pseudo_counts() -> None:
    X = np.array([[0.0, 3.0], [0.0, 1.0], [4.0, 2.0], [2.0, np.nan]])
    y = np.array([0, 0, 1, 1])
    model = NaiveBayesClassifier(distributions="poisson", alpha=2.0).fit(X, y)
    overall = (np.array([6.0, 6.0]) + 1) / (np.array([4.0, 3.0]) + 1)
    rate = (np.array([[0.0, 4.0], [6.0, 2.0]]) + 2 * overall) / (np.array([[2, 2], [2, 1.0]]) + 2)
    wanted = np.log(0.5) + poisson.logpmf([[[3, 5]]], rate).sum(axis=2)[0]
    assert np.allclose(model.predict_joint_log_proba([[3.0, 5.0]])[0], wanted)
    zero = NaiveBayesClassifier(distributions="poisson", alpha=0.0).fit(X, y)
    assert np.isfinite(zero.predict_log_proba([[3.0, 5.0]])).all()


@pytest.mark.parametrize("wrong", [-1.0, 0.5, 1e6 + 0.25])
def test_poisson_requires_counts(wrong: float) -> None:
    message = rf"'poisson' requires counts, whole numbers.*{wrong} in column 'x1'"
    model = NaiveBayesClassifier(distributions="poisson")
    with pytest.raises(ValueError, match=message):
        model.fit([[1.0, wrong], [2.0, 3.0]], [0, 1])
    model.fit([[1.0, wrong], [2.0, 3.0], [1.0, 2.0]], [0, 1, 0], sample_weight=[0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=message):
        model.partial_fit([[1.0, wrong]], [0])
    with pytest.raises(ValueError, match=message):
        model.predict([[1.0, wrong]])
    with pytest.raises(ValueError, match=r"counts up to 1e\+100"):
        model.partial_fit([[1e200, 1.0]], [0])


@pytest.mark.parametrize("name", ["gaussian", "kernel", "mixture", "discretized"])
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_units_do_not_matter(name: str, factor: float) -> None:
    X, y = classes_of(40)
    X = X[:, :2]
    one = NaiveBayesClassifier(distributions=name).fit(X, y).predict_proba(X)
    two = NaiveBayesClassifier(distributions=name).fit(X * factor, y).predict_proba(X * factor)
    assert np.allclose(one, two, atol=1e-8)


@pytest.mark.parametrize("name", ["gaussian", "kernel", "mixture"])
def test_large_integers_are_resolved(name: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    small = (10 * y + rng.integers(0, 5, 100))[:, None]
    one = NaiveBayesClassifier(distributions=name).fit(small, y).predict_proba(small)
    large = small + 2**60
    two = NaiveBayesClassifier(distributions=name).fit(large, y).predict_proba(large)
    assert np.allclose(one, two, atol=1e-9)


@pytest.mark.parametrize("name", DENSITIES)
def test_degenerate_rows(name: str) -> None:
    make = lambda: NaiveBayesClassifier(distributions=name)  # noqa: E731
    one = make().fit([[1.0, 2.0]], ["a"])
    assert one.predict([[5.0, 2.0]]).tolist() == ["a"]
    assert one.predict_proba([[5.0, 2.0]]).tolist() == [[1.0]]
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [9.0, 5.0]])
    model = make().fit(X, [0, 0, 1, 1])
    if name != "poisson":
        assert model.dropped_columns_ == ["x1"]
    assert model.predict([[1.0, 5.0], [9.0, 7.0]]).tolist() == [0, 1]
    pair = make().fit([[1.0], [9.0]], [0, 1])
    assert pair.predict([[1.0], [9.0]]).tolist() == [0, 1]
    empty = X.copy()
    empty[:, 1] = np.nan
    assert make().fit(empty, [0, 0, 1, 1]).predict([[9.0, 1.0]]).tolist() == [1]
    with pytest.raises(ValueError, match="infinity"):
        make().fit([[1.0], [np.inf]], [0, 1])


def test_columns_that_are_the_same_in_all_rows_are_dropped() -> None:
    # The mean of 0.3 over three classes of unequal size is rounded; 1e200 has no finite square.
    X = np.column_stack([np.full(7, 0.3), np.full(7, 1e200), np.arange(7.0)])
    y = [0, 1, 1, 1, 2, 2, 2]
    weight = np.array([0.3, 0.1, 0.7, 1.1, 0.2, 0.9, 1.3])
    for model in (gaussian().fit(X, y), gaussian().fit(X, y, sample_weight=weight)):
        assert model.dropped_columns_ == ["x0", "x1"]
        assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize("name", DENSITIES)
def test_class_without_values_in_a_column(name: str) -> None:
    X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, np.nan], [4.0, np.nan]])
    model = NaiveBayesClassifier(distributions=name).fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.predict_log_proba(X)).all()
    # The second column is the same for both classes.
    if name in ("gaussian", "kernel"):
        proba = model.predict_proba([[2.5, 5.5], [2.5, np.nan]])
        assert np.allclose(proba[0], proba[1], atol=0.2)


def test_five_thousand_columns_do_not_underflow() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 5000)) + 0.2 * y[:, None]
    thresholds = {j: [0.0] for j in range(5000)}
    for model in (gaussian(), NaiveBayesClassifier(thresholds=thresholds)):
        log_proba = model.fit(X, y).predict_log_proba(X)
        assert not np.isnan(log_proba).any()
        assert model.predict_joint_log_proba(X).max() < -1000
        assert (log_proba.argmax(axis=1) == y).all()


@pytest.mark.parametrize("name", DENSITIES)
def test_values_far_from_all_rows_have_the_class_of_the_widest_density(name: str) -> None:
    X, y = classes_of(40, k=2)
    X = suited(X + 9.0 * y[:, None], name)
    model = NaiveBayesClassifier(distributions=name).fit(X, y)
    far = np.array([[1e8], [1e100], [1e150]]) * np.ones(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(model.predict_joint_log_proba(far)).all()
        assert model.predict_proba(far).tolist() == [[0, 1]] * 3
        # Beyond, squares overflow.
        extreme = np.array([[1e200], [1.7e308]]) * np.ones(4)
        shares = [[0, 1]] if name == "poisson" else np.exp(model.model_.bias)[None]
        np.testing.assert_allclose(model.predict_proba(extreme), np.repeat(shares, 2, axis=0))


def test_a_class_without_rows_does_not_hide_that_all_densities_are_zero() -> None:
    X = np.array([[0.0], [1e-3], [1e3], [1e3 + 1e-3], [5.0]])
    model = gaussian(var_smoothing=0.0).fit(X, [0, 0, 2, 2, 1], sample_weight=[1, 1, 1, 1, 0])
    np.testing.assert_allclose(model.predict_proba([[1e152]]), [[0.5, 0.0, 0.5]])


def test_columns_of_several_distributions() -> None:
    X, y = classes_of(60)
    colors = np.array(["red", "green", "blue"])[(y + np.arange(60) % 2) % 3]
    names = ["a", "b", "c", "d"]
    rows = [dict(zip(names, x, strict=True)) | {"color": c} for x, c in zip(X, colors, strict=True)]
    table = Table.of(rows)
    chosen = {"a": "gaussian", "b": "kernel", "c": "discretized", "color": "categorical"}
    model = NaiveBayesClassifier(distributions=chosen).fit(table, y)
    wanted = {"a": "gaussian", "b": "kernel", "c": "discretized", "d": "discretized"}
    assert model.distributions_ == wanted | {"color": "categorical"}
    parts = [
        NaiveBayesClassifier(distributions=own).fit(table[columns], y)
        for own, columns in [("gaussian", ["a"]), ("kernel", ["b"]), ("auto", ["c", "d", "color"])]
    ]
    log_prior = np.log((np.bincount(y) + 1) / 63)
    joint = [part.predict_joint_log_proba(table[part.schema_.names]) - log_prior for part in parts]
    assert np.allclose(model.predict_joint_log_proba(table), log_prior + sum(joint))


def test_invalid_distributions_raise() -> None:
    table = Table.of([{"color": "red", "size": 1.0}, {"color": "blue", "size": 2.0}])
    for wrong, message in [
        ({"color": "gaussian"}, "'categorical' for column 'color', which is nominal"),
        ({"size": "categorical"}, "which is numeric, got 'categorical'"),
        ({"size": "gamma"}, "distributions must be 'auto'"),
        ({"length": "gaussian"}, "keys of distributions must name columns of X"),
        ({7: "gaussian"}, "indices below 2"),
        ({None: "gaussian"}, "indices below 2, got None"),
        ({1.0: "gaussian"}, "indices below 2, got 1.0"),
        ({1: "gaussian", "size": "poisson"}, "one entry per column, got 'size' twice"),
    ]:
        with pytest.raises(ParameterError, match=message):
            NaiveBayesClassifier(distributions=wrong).fit(table, [0, 1])
    with pytest.raises(ParameterError, match="thresholds must be those of discretized columns"):
        NaiveBayesClassifier(distributions="gaussian", thresholds={"size": [1.5]}).fit(
            table, [0, 1]
        )
    with pytest.raises(ParameterError, match="var_smoothing"):
        NaiveBayesClassifier(var_smoothing=1e-3).fit(table, [0, 1])
    with pytest.raises(ValueError, match="var_smoothing must be positive"):
        gaussian(var_smoothing=0.0).fit([[1.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


@pytest.mark.parametrize("name", ["auto", *DENSITIES])
def test_model_files_keep_predictions(name: str, tmp_path: Any) -> None:
    X, y = classes_of(50)
    X = suited(X, name)
    model = NaiveBayesClassifier(distributions=name).fit(X, y)
    ceiba.save(model, tmp_path / "model.ceiba")
    loaded = ceiba.load(tmp_path / "model.ceiba")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    copied = pickle.loads(pickle.dumps(model))  # after a prediction
    assert (copied.predict_proba(X) == model.predict_proba(X)).all()
    if name != "mixture":
        assert (
            loaded.partial_fit(X, y).predict_proba(X) == model.partial_fit(X, y).predict_proba(X)
        ).all()


def test_damaged_model_files_raise(tmp_path: Any) -> None:
    X, y = classes_of(50)
    model = gaussian().fit(X, y)
    (columns,) = model._densities
    for name, wrong in [
        ("_densities", [replace(columns, columns=np.array([0, 1, 2, 9]))]),
        ("_densities", [replace(columns, mean=columns.mean[:2], deviation=columns.mean[:2] ** 2)]),
        ("_densities", [replace(columns, deviation=-columns.deviation)]),
        ("_counts", np.zeros((5, 3))),
    ]:
        damaged = gaussian().fit(X, y)
        setattr(damaged, name, wrong)
        with pytest.raises(ValueError, match=r"_densities|_counts|deviation"):
            save_and_load(damaged, tmp_path / "model.ceiba")


def save_and_load(model: Any, path: Any) -> Any:
    ceiba.save(model, path)
    return ceiba.load(path)


def test_no_warning_without_categories() -> None:
    X, y = classes_of(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gaussian().fit(X, y).predict(X)


def test_constant_counts_have_no_effect() -> None:
    y = np.repeat(["a", "b"], [10, 1])
    x = np.arange(11.0) % 3
    X = np.column_stack([x, np.full(11, 5.0)])
    model = NaiveBayesClassifier(distributions="poisson").fit(X, y)
    assert model.dropped_columns_ == ["x1"]
    alone = NaiveBayesClassifier(distributions="poisson").fit(X[:, :1], y)
    wanted = alone.predict_joint_log_proba(X[:, :1])
    assert (model.predict_joint_log_proba(X) == wanted).all()
    X[:, 1] = 50
    assert (model.predict_joint_log_proba(X) == wanted).all()
    # Later rows in which the column varies make it part of the model.
    y[:1] = "b"
    both = NaiveBayesClassifier(distributions="poisson")
    both.fit(np.concatenate([np.column_stack([x, np.full(11, 5.0)]), X]), np.append(y, y))
    first = NaiveBayesClassifier(distributions="poisson")
    first.partial_fit(np.column_stack([x, np.full(11, 5.0)]), y).partial_fit(X, y)
    assert first.dropped_columns_ == []
    assert np.allclose(first.predict_proba(X), both.predict_proba(X), rtol=1e-12)
