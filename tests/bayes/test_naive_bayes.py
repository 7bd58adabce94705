"""Naive Bayes of categories: agreement with scikit-learn, weights, priors, unseen categories."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import BernoulliNB, CategoricalNB

from ceiba import NaiveBayesClassifier
from ceiba._typing import Array
from ceiba.data import Table
from ceiba.data.table import UnseenCategoryWarning
from tests.oracles.bayes_missing_naive import fit_available, observed_posteriors
from tests.oracles.bayes_naive import make_rows, naive_structure, to_weights


def nominal(X: Array, sizes: tuple[int, ...]) -> Table:
    """Codes as a table of nominal columns; negative codes are missing."""
    columns = {f"c{j}": list(map(str, range(r))) for j, r in enumerate(sizes)}
    rows = [{f"c{j}": None if v < 0 else str(v) for j, v in enumerate(row)} for row in X.tolist()]
    return Table.of(rows, kinds=columns)


def coded(n: int, sizes: tuple[int, ...], k: int, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    y[:k] = np.arange(k)
    X = np.stack([(rng.integers(0, r, n) + y * rng.integers(0, 2, n)) % r for r in sizes], axis=1)
    return X, y, rng.integers(1, 4, n).astype(float)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([0.3, 1.0, 5.0]), weighted=st.booleans())
def test_agrees_with_categorical_nb(seed: int, alpha: float, weighted: bool) -> None:
    sizes = (3, 2, 5)
    X, y, weight = coded(30, sizes, 3, seed)
    sample_weight = weight if weighted else None
    total = np.bincount(y, sample_weight)
    other = CategoricalNB(alpha=alpha, min_categories=sizes).fit(X, y, sample_weight)
    table = nominal(X, sizes)
    model = NaiveBayesClassifier(alpha=alpha, priors=total / total.sum())
    model.fit(table, y, sample_weight)
    assert np.allclose(model.predict_proba(table), other.predict_proba(X), rtol=1e-10)
    priors = np.array([0.1, 0.6, 0.3])
    other = CategoricalNB(alpha=alpha, min_categories=sizes, class_prior=priors).fit(X, y)
    model = NaiveBayesClassifier(alpha=alpha, priors=dict(enumerate(priors))).fit(table, y)
    joint = other.predict_joint_log_proba(X)
    assert np.allclose(model.predict_joint_log_proba(table), joint, rtol=1e-10)


def test_agrees_with_bernoulli_nb() -> None:
    X, y, weight = coded(50, (2,) * 6, 2, 3)
    prior = np.bincount(y, weight) / weight.sum()
    model = NaiveBayesClassifier(priors=prior).fit(nominal(X, (2,) * 6), y, weight)
    other = BernoulliNB().fit(X, y, weight)
    found = model.predict_log_proba(nominal(X, (2,) * 6))
    assert np.allclose(found, other.predict_log_proba(X), rtol=1e-10)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_missing_values_agree_with_enumeration(seed: int) -> None:
    sizes = (3, 2, 2)
    X, y, weight = coded(25, sizes, 2, seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.3] = -1
    codes = np.where(X < 0, sizes, X)
    rows = make_rows(codes, y, weight, sizes)
    structure = naive_structure(range(3))
    theta = fit_available(rows, structure)
    table = nominal(X, sizes)
    model = NaiveBayesClassifier().fit(table, y, weight)
    if len(model.dropped_columns_) == 0:
        found = model.predict_proba(table)
        wanted = observed_posteriors(to_weights(theta), structure, codes, sizes)
        assert np.allclose(found, wanted, atol=1e-10)


def test_unseen_categories_are_missing() -> None:
    table = Table.of([{"a": "x", "b": "u"}, {"a": "y", "b": "u"}, {"a": "y", "b": "v"}])
    model = NaiveBayesClassifier().fit(table, [0, 1, 1])
    with pytest.warns(UnseenCategoryWarning):
        unseen = model.predict_proba([{"a": "z", "b": "u"}])
    assert (unseen == model.predict_proba([{"a": None, "b": "u"}])).all()


def test_rows_of_weight_zero_are_absent_but_their_class_stays() -> None:
    X, y, weight = coded(30, (3, 2), 3, 0)
    weight[y == 1] = 0
    table = nominal(X, (3, 2))
    model = NaiveBayesClassifier().fit(table, y, weight)
    assert model.classes_.tolist() == [0, 1, 2]
    proba = model.predict_proba(table)
    assert (proba[:, 1] == 0).all()
    assert np.isneginf(model.predict_log_proba(table)[:, 1]).all()
    kept = np.flatnonzero(weight)
    rest = NaiveBayesClassifier().fit(nominal(X[kept], (3, 2)), y[kept], weight[kept])
    assert np.allclose(proba[:, [0, 2]], rest.predict_proba(table), atol=1e-14)
    numbers = X + np.random.default_rng(0).normal(size=X.shape)
    for name in ("gaussian", "kernel", "mixture"):
        model = NaiveBayesClassifier(distributions=name).fit(numbers, y, weight)
        assert (model.predict_proba(numbers)[:, 1] == 0).all()
        assert set(model.predict(numbers)) <= {0, 2}


def test_class_weights_are_factors_of_the_weights() -> None:
    X, y, weight = coded(40, (3, 2), 2, 1)
    table = nominal(X, (3, 2))
    factors = {0: 2.0, 1: 0.5}
    both = weight * np.array([2.0, 0.5])[y]
    one = NaiveBayesClassifier(class_weight=factors).fit(table, y, weight)
    two = NaiveBayesClassifier().fit(table, y, both)
    assert np.allclose(one.predict_proba(table), two.predict_proba(table), atol=1e-14)
    numbers = X + np.random.default_rng(0).normal(size=X.shape)
    one = NaiveBayesClassifier(distributions="gaussian", class_weight=factors)
    two = NaiveBayesClassifier(distributions="gaussian").fit(numbers, y, both)
    found = one.fit(numbers, y, weight).predict_proba(numbers)
    assert np.allclose(found, two.predict_proba(numbers), atol=1e-12)
    balanced = NaiveBayesClassifier(class_weight="balanced", alpha=0.0).fit(table, y)
    assert balanced.class_count_[0] == pytest.approx(balanced.class_count_[1])


def test_missing_values_as_a_category() -> None:
    X, y, _ = coded(40, (3, 2), 2, 1)
    X[::3, 0] = -1
    model = NaiveBayesClassifier(missing="category").fit(nominal(X, (3, 2)), y)
    as_category = np.where(X < 0, 3, X)
    other = NaiveBayesClassifier().fit(nominal(as_category, (4, 2)), y)
    found = model.predict_proba(nominal(X, (3, 2)))
    assert np.allclose(found, other.predict_proba(nominal(as_category, (4, 2))), atol=1e-14)


def test_identifiers_and_constant_columns_are_left_out() -> None:
    rows = [{"id": f"row {i}", "one": "x", "a": "uv"[i % 2]} for i in range(30)]
    y = [i % 2 for i in range(30)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NaiveBayesClassifier().fit(Table.of(rows), y)
        score = model.score(Table.of(rows), y)
    assert model.dropped_columns_ == ["id", "one"]
    assert score == 1.0


def test_one_row_and_one_class() -> None:
    with pytest.warns(UserWarning, match="two or more categories"):
        model = NaiveBayesClassifier().fit([[1.0, 2.0]], ["a"])
    assert model.predict([[7.0, 1.0]]).tolist() == ["a"]
    with pytest.warns(UserWarning, match="two or more categories"):
        model = NaiveBayesClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict_proba([[7.0]]).tolist() == [[1.0]]


def test_a_fit_that_ends_in_a_warning_replaces_all_attributes() -> None:
    """A warning that is an error, like Ctrl-C, must not leave half of the model before."""
    rng = np.random.default_rng(0)
    model = NaiveBayesClassifier().fit([{"a": x} for x in "uvuv"], [0, 1, 0, 1])
    rows = [{"b": x, "c": y} for x, y in rng.choice([*"uvw"], (60, 2))]
    model.set_params(training="tm", max_iter=1, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            model.fit(rows, rng.integers(0, 2, 60))
    assert [*model.distributions_] == ["b", "c"]
    assert not hasattr(model, "_counts")
