"""Rows that are added to and removed from naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from ceiba import NaiveBayesClassifier
from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.data import Table
from ceiba.data.table import UnseenCategoryWarning

THRESHOLDS = {0: [0.0, 1.0], 1: [0.5], 2: [2.0], 3: [1.0]}
MIXED = {0: "gaussian", 1: "kernel", 2: "poisson"}


def numbers(seed: int, n: int = 40) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    y[:3] = range(3)
    X = np.round(rng.normal(size=(n, 4)) + y[:, None], 1)
    X[:, 2] = np.abs(np.round(X[:, 2]))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.integers(0, 4, n).astype(float)


def make(distributions: Any) -> NaiveBayesClassifier:
    thresholds = THRESHOLDS if distributions == "auto" else {3: [1.0]}
    return NaiveBayesClassifier(distributions=distributions, thresholds=thresholds)


@pytest.mark.parametrize("distributions", ["auto", MIXED])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), weighted=st.booleans())
def test_parts_equal_the_whole(distributions: Any, seed: int, weighted: bool) -> None:
    X, y, weight = numbers(seed)
    weight[0] = 1
    w = weight if weighted else np.ones(40)
    whole = make(distributions).fit(X, y, w)
    parts = make(distributions)
    for i in range(0, 40, 10):
        rows = slice(i, i + 10)
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=w[rows])
    a, b = whole.predict_proba(X), parts.predict_proba(X)
    assert (a == b).all() if distributions == "auto" else np.allclose(a, b, atol=1e-9)
    assert (whole.class_count_ == parts.class_count_).all()


@pytest.mark.parametrize("distributions", ["auto", MIXED])
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), whole_numbers=st.booleans())
def test_forget_equals_a_fit_on_the_rest(
    distributions: Any, seed: int, whole_numbers: bool
) -> None:
    X, y, weight = numbers(seed)
    weight = weight + 1 if whole_numbers else np.random.default_rng(seed).random(40) + 0.1
    model = make(distributions).fit(X, y, weight)
    removed, kept = slice(3, 15), np.r_[0:3, 15:40]
    model.forget(X[removed], y[removed], weight[removed])
    rest = make(distributions).fit(X[kept], y[kept], weight[kept])
    a, b = model.predict_proba(X), rest.predict_proba(X)
    exact = distributions == "auto" and whole_numbers
    assert (a == b).all() if exact else np.allclose(a, b, atol=1e-7)
    model.partial_fit(X[removed], y[removed], sample_weight=weight[removed])
    again = make(distributions).fit(X, y, weight).predict_proba(X)
    assert np.allclose(model.predict_proba(X), again, atol=1e-7)


@pytest.mark.parametrize("outlier", [1e3, 1e9, 1e15])
@pytest.mark.parametrize("weighted", [False, True])
def test_forgetting_an_outlier_keeps_the_variance(outlier: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)) + 7.0, np.arange(30) % 2
    weight = rng.random(30) + 0.1 if weighted else np.ones(30)
    X[7, 0] = outlier
    kept = np.arange(30) != 7
    model = NaiveBayesClassifier(distributions="gaussian").fit(X, y, weight)
    model.forget(X[7:8], y[7:8], weight[7:8])
    rest = NaiveBayesClassifier(distributions="gaussian").fit(X[kept], y[kept], weight[kept])
    found, wanted = (own.probability_table("x0").to_numpy(float) for own in (model, rest))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("outlier", [1e40, 1e200])
def test_a_variance_that_is_lost_beside_an_outlier_raises(outlier: float) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 1)), np.arange(30) % 2
    X[7, 0] = outlier
    model = NaiveBayesClassifier(distributions="gaussian").fit(X, y)
    with pytest.raises(ValueError, match=r"column 'x0' in class .* Fit the remaining rows again"):
        model.forget(X[7:8], y[7:8])


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0, 1.0], [0.1, 0.1, 0.1, 3e4]])
def test_a_column_that_becomes_constant_is_dropped(values: list[float]) -> None:
    X = np.column_stack([np.tile(values, 2), np.arange(8.0)])
    y = np.repeat([0, 1], 4)
    model = NaiveBayesClassifier(distributions="gaussian").fit(X, y)
    assert model.dropped_columns_ == []
    assert model.forget(X[[3, 7]], y[[3, 7]]).dropped_columns_ == ["x0"]


@pytest.mark.parametrize("distributions", ["gaussian", "kernel"])
def test_later_values_beyond_the_units_of_the_first_raise(distributions: str) -> None:
    X, y, _ = numbers(0)
    model = NaiveBayesClassifier(distributions=distributions).partial_fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=r"values up to 1e\+100 in column 'x1'.*got 1e\+300"):
        model.partial_fit([[0.0, 1e300, 0.0, 0.0]], [0])
    assert (model.predict_proba(X) == before).all()
    assert np.isfinite(model.partial_fit([[0.0, 1e99, 0.0, 0.0]], [0]).predict_proba(X)).all()


def test_forgetting_more_than_was_added_raises() -> None:
    X, y, _ = numbers(0)
    for distributions in ("auto", "kernel", "gaussian"):
        model = NaiveBayesClassifier(distributions=distributions).fit(X, y)
        before = model.predict_proba(X)
        with pytest.raises(ValueError, match="forget requires rows that were fitted before"):
            model.forget(np.repeat(X, 2, axis=0), np.repeat(y, 2))
        with pytest.raises(ValueError, match="forget must leave rows"):
            model.forget(X, y)
        assert (model.predict_proba(X) == before).all()
    model = NaiveBayesClassifier(distributions="kernel").fit(X, y)
    with pytest.raises(ValueError, match="forget requires rows"):
        model.forget(X[:1] + 0.01, y[:1])


def test_forgetting_a_class_leaves_probability_zero() -> None:
    X, y, _ = numbers(1)
    for distributions in ("auto", MIXED):
        model = make(distributions).fit(X, y)
        model.forget(X[y == 2], y[y == 2])
        assert (model.predict_proba(X)[:, 2] == 0).all()


def test_settings_that_cannot_be_updated_raise() -> None:
    X, y, _ = numbers(0)
    for parameters, message in [
        ({"training": "tm"}, "require training='ml'"),
        ({"distributions": "mixture"}, "other distributions than 'mixture'"),
    ]:
        model = NaiveBayesClassifier(**parameters)
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as error:
            model.forget(X, y)
        assert message in str(error.value.__cause__)
    model = NaiveBayesClassifier(class_weight="balanced")
    with pytest.raises(ParameterError, match="class_weight to be a mapping"):
        model.partial_fit(X, y)
    with pytest.raises(NotFittedError):
        NaiveBayesClassifier().forget(X, y)


def test_classes_and_categories_are_those_of_the_first_call() -> None:
    table = Table.of([{"a": "x"}, {"a": "y"}, {"a": "x"}])
    model = NaiveBayesClassifier().partial_fit(table, [0, 1, 0])
    with pytest.raises(ValueError, match="labels that are not in classes"):
        model.partial_fit(table, [0, 1, 2])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(table, [0, 1, 0], classes=[0, 1, 2])
    with pytest.warns(UnseenCategoryWarning):
        model.partial_fit(Table.of([{"a": "z"}, {"a": "y"}]), [1, 1])
    # "z" is missing: class 1 has two known values, of which both are "y".
    table_1 = np.exp(model.model_.table[:2, 1])
    assert table_1.tolist() == pytest.approx([0.25, 0.75])
    assert model.class_count_.tolist() == [2, 3]
    three = NaiveBayesClassifier().partial_fit(table, [0, 1, 0], classes=[0, 1, 2])
    assert (three.predict_proba(table)[:, 2] == 0).all()


def test_partial_fit_continues_a_fit() -> None:
    X, y, _ = numbers(2)
    one = NaiveBayesClassifier(distributions="gaussian").fit(X[:20], y[:20])
    one.partial_fit(X[20:], y[20:])
    whole = NaiveBayesClassifier(distributions="gaussian").fit(X, y)
    assert np.allclose(one.predict_proba(X), whole.predict_proba(X), atol=1e-10)


def test_missing_category_appears_later() -> None:
    X, y, _ = numbers(3)
    X = np.where(np.isnan(X), 0.0, X)
    later = X.copy()
    later[::2, 0] = np.nan
    both, labels = np.concatenate([X, later]), np.concatenate([y, y])
    parameters: dict[str, Any] = {"missing": "category", "thresholds": {j: [0.7] for j in range(4)}}
    parts = NaiveBayesClassifier(**parameters).partial_fit(X, y).partial_fit(later, y)
    whole = NaiveBayesClassifier(**parameters).fit(both, labels)
    assert (parts.predict_proba(both) == whole.predict_proba(both)).all()


@pytest.mark.parametrize("method", ["partial_fit", "forget"])
def test_discriminative_models_have_no_counts_to_change(method: str) -> None:
    X = [{"x": "u"}, {"x": "v"}, {"x": "u"}, {"x": "v"}]
    model = NaiveBayesClassifier(training="tm").fit(X, [0, 1, 1, 0]).set_params(training="ml")
    before = model.predict_proba(X)
    with pytest.raises(ParameterError, match="fitted with training='tm', which keeps no counts"):
        getattr(model, method)(X[:1], [0])
    assert (model.predict_proba(X) == before).all()
