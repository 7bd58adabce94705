"""Classes and columns that the mixture classifier accepts or rejects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import GaussianMixtureClassifier
from tests.mixture.parts import drop_values, groups, quiet

X = groups(1, 90, 3, 3, apart=2.0)
Y = np.arange(90) % 3
WITH_MISSING = drop_values(X)
WORDS = np.array(["ash", "birch", "cedar"])


def fitted(rows: Any, y: Any, n: Any = 1, **options: Any) -> Any:
    return quiet(GaussianMixtureClassifier(n, **options), rows, y=y)


# Classes


@pytest.mark.parametrize(
    "labels",
    [
        WORDS,
        np.array([-5, 3, 7], np.int8),
        np.array([0, 2**62, 2**63 + 1], np.uint64),
        np.array([-1.0, 0.0, 4.0]),
        np.array(["ash", "birch", "cedar"], dtype=object),
    ],
    ids=lambda labels: labels.dtype.name,
)
def test_labels_keep_their_type(labels):
    model, plain = fitted(X, labels[Y], 2), fitted(X, Y, 2)
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.predict(X), labels[plain.predict(X)])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    assert model.score(X, labels[Y]) == plain.score(X, Y)
    numbers = dict(zip(labels.tolist(), [1, 2, 3], strict=True))
    shares = dict(zip(labels.tolist(), [0.5, 0.2, 0.3], strict=True))
    found = fitted(X, labels[Y], numbers, priors=shares)
    assert [m.n_components_ for m in found.mixtures_] == [1, 2, 3]
    np.testing.assert_allclose(found.class_prior_, [0.5, 0.2, 0.3])


def test_bool_labels():
    model = fitted(X, Y == 1, {True: 2, False: 1}, priors={True: 0.25, False: 0.75})
    assert model.classes_.dtype == bool
    assert model.predict(X).dtype == bool
    assert [m.n_components_ for m in model.mixtures_] == [1, 2]
    np.testing.assert_allclose(model.class_prior_, [0.75, 0.25])


# Wrong input


@pytest.mark.parametrize("method", ["fit", "predict", "predict_proba", "score_samples", "score"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_raises_and_names_its_row(method, value):
    rows = WITH_MISSING.copy()
    rows[41, 2] = value
    y = (Y,) if method in ("fit", "score") else ()
    with pytest.raises(ValueError, match="contains infinity: row 41"):
        getattr(fitted(X, Y), method)(rows, *y)


def test_nominal_columns_raise():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[*"abc"]).assign(color=WORDS[Y])
    with pytest.raises(ValueError, match=r"nominal column 'color'.*ceiba\.RandomForestClassifier"):
        GaussianMixtureClassifier().fit(frame, Y)


def test_ordinal_columns_and_dates_are_used():
    pd = pytest.importorskip("pandas")
    size = pd.Categorical.from_codes(Y, ["small", "middle", "large"], ordered=True)
    days = pd.Timestamp("2024-02-01") + pd.to_timedelta(np.arange(90) // 30, unit="D")
    frame = pd.DataFrame({"a": X[:, 0], "size": size, "day": days})
    model = fitted(frame, np.arange(90) // 30)
    assert model.mixtures_[0].means_[0, 1] == pytest.approx(0.5)
    assert model.score(frame, np.arange(90) // 30) == 1.0
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "size", "day"])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "score_samples",
                                    "class_log_densities", "predict_log_proba"])  # fmt: skip
def test_wrong_number_of_columns_raises(method):
    with pytest.raises(ValueError, match="X has 2 features, but GaussianMixtureClassifier"):
        getattr(fitted(X, Y), method)(X[:, :2])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:80], "80"),
        (None, "requires y"),
        (np.where(Y == 1, np.nan, Y), "NaN"),
        (X[:, 0], "Unknown label type"),
        (np.c_[Y, Y], r"1d|one column|shape"),
    ],
)
def test_wrong_targets_raise(y, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixtureClassifier().fit(X, y)


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([0.5, 0.5], "3 entries, one per class, got 2"),
        ([0.5, 0.4, 0.3], "sum to 1"),
        ([0.5, 0.6, -0.1], ">= 0"),
        ([0.5, np.nan, 0.5], "priors must"),
        ([np.inf, 0.5, 0.5], "priors must"),
        ([0.0, 0.0, 0.0], "sum to 1"),
        ({0: 0.5, 1: 0.5}, "got none for 2"),
        (np.full((3, 1), 1 / 3), "priors"),
        (np.full((3, 2), 1 / 6), "priors"),
        ("equal", "priors. parameter of GaussianMixtureClassifier must be"),
        (1, "priors. parameter of GaussianMixtureClassifier must be"),
        (["a", "b", "c"], "priors must"),
    ],
    ids=str,
)
def test_wrong_priors_raise(priors, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixtureClassifier(priors=priors).fit(X, Y)


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "best", [1, 1, 1], None], ids=str)
def test_wrong_n_components_raise(n):
    with pytest.raises(
        ValueError, match="'n_components' parameter of GaussianMixtureClassifier must be"
    ):
        GaussianMixtureClassifier(n).fit(X, Y)


@pytest.mark.parametrize("n", [0, -2, 1.5, True, "bic", None], ids=str)
def test_wrong_n_components_of_one_class_raise(n):
    with pytest.raises(ValueError, match=r"n_components must be .* for class 'birch'"):
        GaussianMixtureClassifier({"ash": 1, "birch": n, "cedar": 1}).fit(X, WORDS[Y])


def test_incomplete_mapping_or_too_few_rows_raise():
    with pytest.raises(
        ValueError, match="n_components must have an entry for every class, got none for 'birch'"
    ):
        GaussianMixtureClassifier({"ash": 1, "cedar": 1}).fit(X, WORDS[Y])
    with pytest.raises(ValueError, match=r"n_components = 31, n_samples = 30 for class 'ash'"):
        GaussianMixtureClassifier({"ash": 31, "birch": 1, "cedar": 1}).fit(X, WORDS[Y])
    w = np.where((Y == 0) & (np.arange(90) > 6), 0.0, 1.0)
    with pytest.raises(ValueError, match=r"n_components = 4, n_samples = 3 for class 0"):
        GaussianMixtureClassifier(4).fit(X, Y, sample_weight=w)


def test_failed_fit_leaves_the_model_unchanged():
    model = fitted(X, Y)
    before = model.predict_log_proba(X)
    for rows, y, priors in ((X[:, :2], Y, [0.9, 0.9, 0.9]), (X[:4], [0, 0, 1, 1], [1.0])):
        model.set_params(priors=priors)
        with pytest.raises(ValueError, match="priors"):
            model.fit(rows, y)
        np.testing.assert_array_equal(model.predict_log_proba(X), before)
