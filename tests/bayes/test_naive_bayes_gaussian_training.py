"""Discriminative training of naive Bayes with normal columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from ceiba import NaiveBayesClassifier
from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.data import Table

BOTH = {"x": "gaussian", "y": "gaussian"}


def rows_of(n: int = 150, k: int = 3, seed: int = 0) -> tuple[Table, Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(n, 2)) * (1 + 0.4 * y[:, None]) + y[:, None]
    color = rng.integers(0, 3, n) * (y > 0)
    rows = [{"x": 5 * a + 3, "y": b, "color": "rgb"[c]} for (a, b), c in zip(X, color, strict=True)]
    return Table.of(rows), y, X * [5, 1] + [3, 0], color


def design(X: Array, color: Array) -> Array:
    """Terms of the classifier: standardized values, their squares, and indicators."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.concatenate([Z, Z**2, np.eye(3)[color]], axis=1)


@pytest.mark.parametrize("k", [2, 3])
def test_ridge_is_that_of_logistic_regression(k: int) -> None:
    table, y, X, color = rows_of(k=k)
    model = NaiveBayesClassifier(training="tm", distributions=BOTH, tol=1e-13).fit(table, y)
    C = (2 if k == 2 else 1) / 3
    other = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(design(X, color), y)
    wanted = other.predict_proba(design(X, color))
    assert np.allclose(model.predict_proba(table), wanted, atol=1e-5)
    found = np.log(wanted[np.arange(len(y)), y]).sum()
    assert model.conditional_log_likelihood_ == pytest.approx(found, abs=1e-4)


def test_tm_ascends_to_the_maximum() -> None:
    table, y, X, color = rows_of(k=2)
    color = np.where(np.arange(len(y)) % 5 == 0, 1, color)  # no empty cell
    names = ["x", "y", "color"]
    rows = [dict(zip(names, (*x, "rgb"[c]), strict=True)) for x, c in zip(X, color, strict=True)]
    color[:6] = [0, 1, 2, 0, 1, 2]
    rows = [{**row, "color": "rgb"[c]} for row, c in zip(rows, color, strict=True)]
    y[:6] = [0, 0, 0, 1, 1, 1]
    table = Table.of(rows)
    model = NaiveBayesClassifier(
        training="tm", solver="tm", distributions=BOTH, trace=True, max_iter=2000, tol=1e-8
    ).fit(table, y)
    path = np.array([frame["conditional_log_likelihood"] for frame in model.trace_])
    assert (np.diff(path) > 0).all()
    Phi = np.concatenate([design(X, color), np.ones((len(y), 1))], axis=1)

    def loss(w: Array) -> tuple[float, Array]:
        s = Phi @ w
        both = np.stack([np.zeros_like(s), s], axis=1)
        p = np.exp(s - logsumexp(both, axis=1))
        value = -(both[np.arange(len(y)), y] - logsumexp(both, axis=1)).sum()
        return float(value), Phi.T @ (p - y)

    best = -minimize(loss, np.zeros(Phi.shape[1]), jac=True, options={"gtol": 1e-8}).fun
    assert model.conditional_log_likelihood_ == pytest.approx(best, abs=1e-2)
    lbfgs = NaiveBayesClassifier(training="tm", penalty=0.0, distributions=BOTH).fit(table, y)
    assert lbfgs.conditional_log_likelihood_ == pytest.approx(best, abs=1e-3)
    assert np.allclose(lbfgs.predict_proba(table), model.predict_proba(table), atol=0.02)


def test_joint_distribution_has_these_class_probabilities() -> None:
    table, y, _, _ = rows_of()
    model = NaiveBayesClassifier(training="tm", distributions=BOTH).fit(table, y)
    joint = model.predict_joint_log_proba(table)
    posterior = joint - logsumexp(joint, axis=1, keepdims=True)
    assert np.allclose(posterior, model.predict_log_proba(table), atol=1e-6)
    assert (model.probability_table("x")["standard_deviation"] > 0).all()
    found = model.evidence(table[:1], 1)
    p = model.predict_proba(table[:1])[0, 1]
    assert found.log_odds == pytest.approx(np.log(p / (1 - p)), abs=1e-6)


def test_units_do_not_matter() -> None:
    _, y, X, _ = rows_of()
    make = lambda: NaiveBayesClassifier(training="tm", distributions="gaussian")  # noqa: E731
    one = make().fit(X, y).predict_proba(X)
    for factor, shift in [(1e-200, 0.0), (1e200, 0.0), (1.0, 1e6)]:
        Z = X * factor + shift
        assert np.allclose(make().fit(Z, y).predict_proba(Z), one, atol=1e-5)


def test_weights_are_repetitions() -> None:
    table, y, _, _ = rows_of(60)
    weight = np.random.default_rng(0).integers(1, 4, 60)
    again = np.repeat(np.arange(60), weight)
    make = lambda: NaiveBayesClassifier(  # noqa: E731
        training="tm", distributions=BOTH, tol=1e-13
    )
    one = make().fit(table, y, weight).predict_proba(table)
    two = make().fit(table[again], y[again]).predict_proba(table)
    assert np.allclose(one, two, atol=1e-5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "newton"}, "solver='newton' requires columns of categories"),
        ({"penalty": "generative"}, "penalty='generative' requires columns of categories"),
        ({"early_stopping": True}, "early_stopping=True requires"),
        ({"distributions": "kernel"}, "got 'kernel'"),
        ({"distributions": "poisson"}, "got 'poisson'"),
    ],
)
def test_settings_without_normal_columns_raise(parameters: dict[str, Any], message: str) -> None:
    X = np.abs(rows_of(30)[2])
    with pytest.raises(ParameterError, match=message):
        NaiveBayesClassifier(**{"training": "tm", "distributions": "gaussian", **parameters}).fit(
            X, np.arange(30) % 2
        )


def test_missing_values_raise() -> None:
    _, y, X, _ = rows_of(30)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="requires rows without missing values"):
        NaiveBayesClassifier(training="tm", distributions="gaussian").fit(X, y)
