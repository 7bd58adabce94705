"""Out-of-bag results: the error curve and its summary, scores computed again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import accuracy_score, r2_score

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from ceiba.ensemble.common.sampling import RowSampler
from ceiba.ensemble.forest.oob import OobCurve
from ceiba.inference import wilson
from tests.ensemble.forest.parts import CLASSES, NUMBERS, X, classes, record_bits

Z95 = float(norm.ppf(0.975))
KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])


# The curve, by hand


def curve(error: list[float], half: float = 0.0, **more: Any) -> OobCurve:
    """Return a curve with a band of constant half-width."""
    values = np.array(error)
    parts = {
        "n_trees": np.arange(1, len(values) + 1),
        "error": values,
        "lower": values - half,
        "upper": values + half,
        "n_rows": np.full(len(values), 50),
        "confidence_level": 0.95,
        "measure": "error rate",
    }
    return OobCurve(**{**parts, **more})


@pytest.mark.parametrize(
    ("error", "half", "sufficient"),
    [
        ([0.3] * 10, 0.0, 1),
        ([0.5, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2], 0.0, 4),
        ([0.5, 0.4, 0.3, 0.2, 0.2, 0.2, 0.2], 0.0, None),  # 4 of 7 is more than half
        ([0.5, 0.4, 0.3, 0.25, 0.2, 0.2, 0.2, 0.2], 0.06 * Z95, 4),
        ([0.5, 0.4, 0.3, 0.25, 0.2, 0.2, 0.2, 0.2], 0.04 * Z95, None),
        ([0.5, 0.4, 0.3, 0.25, 0.2, 0.2, 0.2, 0.2], 0.11 * Z95, 3),
        ([0.2, 0.2, 0.2, 0.2, 0.2, 0.9, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2], 0.0, None),
        ([0.1, 0.2, 0.2, 0.2], 0.0, 2),
        ([np.nan, 0.2, 0.2, 0.2, 0.2, 0.2], 0.0, 2),
        ([np.nan, np.nan, np.nan, 0.2, 0.2, 0.2], 0.0, None),
        ([np.nan, np.nan], 0.0, None),
        ([0.2], 0.0, 1),
        ([0.5, 0.2], 0.0, None),
    ],
)
def test_n_trees_sufficient_is_where_the_curve_settles(
    error: list[float], half: float, sufficient: int | None
) -> None:
    assert curve(error, half).n_trees_sufficient == sufficient


def test_standard_error_follows_from_the_band() -> None:
    assert curve([0.5, 0.3], 0.1).standard_error == pytest.approx(0.1 / Z95)
    assert curve([0.5, 0.3], 0.1, confidence_level=0.5).standard_error == pytest.approx(
        0.1 / norm.ppf(0.75)
    )


def test_summary_of_the_curve() -> None:
    settled = curve([0.5, 0.25, 0.25, 0.25], 0.05).summary()
    assert settled.startswith("The error of 4 trees is 0.25 (95%: 0.2 to 0.3).")
    assert "From 2 trees on it stays within 0.026 of that." in settled
    falling = curve([0.5, 0.4, 0.3, 0.2]).summary()
    assert "It has not settled: add trees, for example 8, by warm_start=True." in falling
    nothing = curve([np.nan, np.nan]).summary()
    assert nothing.startswith("No row is out of bag")
    assert "nan" not in nothing


def test_curve_of_an_error_rate() -> None:
    rows, wrong = np.array([0, 10, 20]), np.array([0.0, 3.0, 5.0])
    found = OobCurve.of(rows, wrong, wrong, "error rate")
    np.testing.assert_array_equal(found.error, [np.nan, 0.3, 0.25])
    assert np.isnan([found.lower[0], found.upper[0]]).all()
    for index, (k, n) in enumerate([(3, 10), (5, 20)], 1):
        band = wilson(k, n, 0.95)
        assert (found.lower[index], found.upper[index]) == (band.lower, band.upper)
    assert found.measure == "error rate"
    assert found.n_trees.tolist() == [1, 2, 3]


def test_curve_of_a_squared_error() -> None:
    losses = np.array([0.5, 2.0, 0.25, 4.0])
    found = OobCurve.of(
        np.array([0, 1, 4]),
        np.array([0.0, 0.5, losses.sum()]),
        np.array([0.0, 0.25, (losses**2).sum()]),
        "mean squared error",
    )
    half = Z95 * losses.std(ddof=1) / 2
    assert found.error[2] == losses.mean()
    assert found.upper[2] == pytest.approx(losses.mean() + half)
    assert found.lower[2] == max(0.0, losses.mean() - half)
    assert np.isnan(found.error[0])
    assert found.measure == "mean squared error"


GOOD = curve([0.3, 0.2], 0.1).to_json()
BAD_CURVES: list[tuple[dict[str, Any], str]] = [
    ({"confidence_level": 0.0}, "confidence_level must be"),
    ({"confidence_level": 1.0}, "confidence_level must be"),
    ({"confidence_level": 95}, "confidence_level must be"),
    ({"confidence_level": float("nan")}, "confidence_level must be"),
    ({"measure": "accuracy"}, "measure must be"),
    ({"measure": None}, "measure must be"),
    ({"error": np.array([0.3])}, "error must be an array of float64"),
    ({"error": np.array([[0.3, 0.2]])}, "error must be an array of float64"),
    ({"error": [0.3, 0.2]}, "error must be an array of float64"),
    ({"n_rows": np.array([], np.int64)}, "n_rows must be an array of int64"),
    (
        {
            **{name: np.array([]) for name in ("error", "lower", "upper")},
            **{name: np.array([], np.int64) for name in ("n_trees", "n_rows")},
        },
        "n_trees must be 1, 2",
    ),
    ({"error": np.array(["a", "b"])}, "error must be an array of float64"),
    ({"n_trees": np.array([2, 1])}, "n_trees must be 1, 2"),
    ({"n_rows": np.array([50, 40])}, "n_rows must not decrease"),
    ({"other": 1}, "OobCurve must have the fields"),
]


@pytest.mark.parametrize(("change", "message"), BAD_CURVES)
def test_inconsistent_curve_is_rejected(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OobCurve.from_json({**GOOD, **change})


def test_curve_round_trip() -> None:
    for one in (curve([0.3, 0.2], 0.1), classes(30, oob_score=True).oob_curve_):
        assert record_bits(OobCurve.from_json(one.to_json())) == record_bits(one)
    for name in GOOD:
        with pytest.raises(ValueError, match="OobCurve must have the fields"):
            OobCurve.from_json({k: v for k, v in GOOD.items() if k != name})


# Scores recomputed


def outside_of(model: Any, kept: Array) -> Array:
    """Return whether each row of positive weight is out of bag for each tree."""
    sampler = RowSampler.of(int(kept.sum()), None, model.max_samples, model.bootstrap)
    return np.array([sampler.counts(int(seed)) == 0 for seed in model.forest_.tree_seeds]).T


def tree_predictions(model: Any, rows: Any) -> Array:
    """Return the prediction of each tree for each row: probabilities or a number."""
    predictions = []
    for t in range(model.forest_.n_trees):
        value = model.tree(t).node_values[model.apply(rows)[:, t]]
        predictions.append(
            value / value.sum(axis=1, keepdims=True) if value.shape[1] > 1 else value
        )
    return np.array(predictions).transpose(1, 0, 2)


@pytest.mark.parametrize(
    "options", [{}, {"max_samples": 0.5}, {"bootstrap": False, "max_samples": 0.7}], ids=str
)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")
@KINDS
def test_oob_results_match_naive(kind: Any, zeros: bool, options: dict[str, Any]) -> None:
    y = CLASSES if kind is RandomForestClassifier else NUMBERS
    weight = np.ones(len(X))
    if zeros:
        weight[::7] = 0
    kept = weight > 0
    model = kind(8, oob_score=True, max_depth=4, **options).fit(X, y, weight if zeros else None)
    outside, predictions = outside_of(model, kept), tree_predictions(model, X[kept])
    count = outside.sum(axis=1)
    known = count > 0
    assert 0 < known.sum() <= len(known)
    mean = (predictions * outside[:, :, None]).sum(axis=1)[known] / count[known, None]
    found = (
        model.oob_decision_function_ if predictions.shape[2] > 1 else model.oob_prediction_[:, None]
    )
    assert len(found) == len(X)
    expected = np.full((len(X), predictions.shape[2]), np.nan)
    expected[np.flatnonzero(kept)[known]] = mean
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    truth = y[kept][known]
    if kind is RandomForestClassifier:
        score = accuracy_score(truth, mean.argmax(axis=1))
        assert model.oob_curve_.error[-1] == pytest.approx(1 - score)
    else:
        score = r2_score(truth, mean[:, 0])
        assert model.oob_curve_.error[-1] == pytest.approx(((truth - mean[:, 0]) ** 2).mean())
        np.testing.assert_allclose(model.oob_errors_, np.sort(truth - mean[:, 0]), atol=1e-12)
    assert model.oob_score_ == pytest.approx(score)
    assert model.oob_curve_.n_rows[-1] == known.sum()
    assert (np.diff(model.oob_curve_.n_rows) >= 0).all()


@KINDS
def test_warning_counts_rows_never_out_of_bag(kind: Any) -> None:
    y = CLASSES if kind is RandomForestClassifier else NUMBERS
    with pytest.warns(UserWarning, match=r"\d+ of 240 rows"):
        model = kind(2, oob_score=True).fit(X, y)
    found = model.oob_decision_function_ if y is CLASSES else model.oob_prediction_[:, None]
    gone = np.isnan(found).all(axis=1)
    assert 0 < gone.sum() < len(X)
    assert not np.isnan(found[~gone]).any()


@KINDS
def test_no_row_is_out_of_bag(kind: Any) -> None:
    """A warning, no score and no interval."""
    rows, y = np.eye(3), np.array([0, 1, 0])
    with pytest.warns(UserWarning, match="3 of 3 rows"):
        model = kind(1, oob_score=True, bootstrap=False, max_samples=1.0).fit(rows, y)
    assert np.isnan(model.oob_score_)
    assert model.n_trees_sufficient() is None
    assert model.oob_curve_.summary().startswith("No row is out of bag")
    if kind is RandomForestRegressor:
        with pytest.raises(ValueError, match="out"):
            model.predict_interval(rows)


@KINDS
def test_curve_settles_as_trees_are_added(kind: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 4))
    score = rows[:, 0] + rows[:, 1] + rng.normal(size=400) / 2
    y = score > 0 if kind is RandomForestClassifier else score
    model = kind(300, oob_score=True).fit(rows, y)
    found = model.oob_curve_
    assert model.n_trees_sufficient() == found.n_trees_sufficient
    assert found.n_trees_sufficient is not None
    assert 3 < found.n_trees_sufficient <= 150
    assert found.error[-1] < found.error[5]
    assert ((found.lower <= found.error) & (found.error <= found.upper)).all()
    few = kind(4, oob_score=True, warm_start=True)
    with pytest.warns(UserWarning, match="no out-of-bag prediction"):
        few.fit(rows, y)
    np.testing.assert_allclose(few.oob_curve_.error, found.error[:4])
