"""Out-of-bag numbers: the curve and its answer, scores recomputed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import accuracy_score, r2_score

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from ceiba.ensemble.common.sampling import Sampling
from ceiba.ensemble.forest.oob import OobCurve
from ceiba.inference import wilson
from tests.ensemble.forest.parts import CLASSES, NUMBERS, X, classes, record_bits

Z95 = float(norm.ppf(0.975))
KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])


# The curve, by hand


def curve(error: list[float], half: float = 0.0, **more: Any) -> OobCurve:
    """A curve with a band of the same half-width everywhere."""
    values = np.array(error)
    parts = {
        "trees": np.arange(1, len(values) + 1),
        "error": values,
        "low": values - half,
        "high": values + half,
        "rows": np.full(len(values), 50),
        "level": 0.95,
        "measure": "error rate",
    }
    return OobCurve(**{**parts, **more})


@pytest.mark.parametrize(
    ("error", "half", "enough"),
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
def test_enough_is_the_first_number_from_which_the_curve_stays(
    error: list[float], half: float, enough: int | None
) -> None:
    assert curve(error, half).enough == enough


def test_the_tolerance_is_one_standard_error() -> None:
    assert curve([0.5, 0.3], 0.1).tolerance == pytest.approx(0.1 / Z95)
    assert curve([0.5, 0.3], 0.1, level=0.5).tolerance == pytest.approx(0.1 / norm.ppf(0.75))


def test_the_answer_is_a_sentence() -> None:
    settled = curve([0.5, 0.25, 0.25, 0.25], 0.05).answer()
    assert settled.startswith("The error of 4 trees is 0.25 (95%: 0.2 to 0.3).")
    assert "From 2 trees on it stays within 0.026 of that." in settled
    falling = curve([0.5, 0.4, 0.3, 0.2]).answer()
    assert "It has not settled: add trees, 8 say, with warm_start=True." in falling
    nothing = curve([np.nan, np.nan]).answer()
    assert nothing.startswith("No row is out of any bag")
    assert "nan" not in nothing


def test_a_curve_of_counts() -> None:
    rows, wrong = np.array([0, 10, 20]), np.array([0.0, 3.0, 5.0])
    found = OobCurve.of(rows, wrong, wrong, True)
    np.testing.assert_array_equal(found.error, [np.nan, 0.3, 0.25])
    assert np.isnan([found.low[0], found.high[0]]).all()
    for place, (k, n) in enumerate([(3, 10), (5, 20)], 1):
        band = wilson(k, n, 0.95)
        assert (found.low[place], found.high[place]) == (band.lower, band.upper)
    assert found.measure == "error rate"
    assert found.trees.tolist() == [1, 2, 3]


def test_a_curve_of_squares() -> None:
    losses = np.array([0.5, 2.0, 0.25, 4.0])
    found = OobCurve.of(
        np.array([0, 1, 4]),
        np.array([0.0, 0.5, losses.sum()]),
        np.array([0.0, 0.25, (losses**2).sum()]),
        False,
    )
    half = Z95 * losses.std(ddof=1) / 2
    assert found.error[2] == losses.mean()
    assert found.high[2] == pytest.approx(losses.mean() + half)
    assert found.low[2] == max(0.0, losses.mean() - half)
    assert np.isnan(found.error[0])
    assert found.measure == "mean squared error"


GOOD = curve([0.3, 0.2], 0.1).to_json()
BAD_CURVES: list[tuple[dict[str, Any], str]] = [
    ({"level": 0.0}, "level must be between 0 and 1"),
    ({"level": 1.0}, "level must be between 0 and 1"),
    ({"level": 95}, "level must be between 0 and 1"),
    ({"level": float("nan")}, "level must be between 0 and 1"),
    ({"measure": "accuracy"}, "the measure is not known"),
    ({"measure": None}, "the measure is not known"),
    ({"error": np.array([0.3])}, "a value for each number of trees"),
    ({"error": np.array([[0.3, 0.2]])}, "a value for each number of trees"),
    ({"error": [0.3, 0.2]}, "a value for each number of trees"),
    ({"rows": np.array([])}, "a value for each number of trees"),
    (
        {name: np.array([]) for name in ("trees", "error", "low", "high", "rows")},
        "a value for each number of trees",
    ),
    ({"error": np.array(["a", "b"])}, "."),
    ({"trees": np.array([2, 1])}, "."),
    ({"rows": np.array([50, 40])}, "."),
    ({"other": 1}, "these are not the parts of a curve"),
]


@pytest.mark.parametrize(("change", "message"), BAD_CURVES)
def test_a_curve_that_contradicts_itself_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OobCurve.from_json({**GOOD, **change})


def test_a_curve_comes_back() -> None:
    for one in (curve([0.3, 0.2], 0.1), classes(30, oob_score=True).oob_curve_):
        assert record_bits(OobCurve.from_json(one.to_json())) == record_bits(one)
    for name in GOOD:
        with pytest.raises(ValueError, match="these are not the parts of a curve"):
            OobCurve.from_json({k: v for k, v in GOOD.items() if k != name})


# Scores recomputed


def outside_of(model: Any, kept: Array) -> Array:
    """Whether each of the rows that count is out of the bag of each tree."""
    sampling = Sampling.of(int(kept.sum()), None, model.max_samples, model.bootstrap)
    return np.array([sampling.counts(int(key)) == 0 for key in model.forest_.keys[:, 0]]).T


def told_by_each(model: Any, rows: Any) -> Array:
    """What each tree says of each row: class shares or a number."""
    said = []
    for t in range(model.forest_.n_trees):
        value = model.tree(t).value[model.apply(rows)[:, t]]
        said.append(value / value.sum(axis=1, keepdims=True) if value.shape[1] > 1 else value)
    return np.array(said).transpose(1, 0, 2)


@pytest.mark.parametrize(
    "options", [{}, {"max_samples": 0.5}, {"bootstrap": False, "max_samples": 0.7}], ids=str
)
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")
@KINDS
def test_out_of_bag_numbers_are_those_of_the_other_trees(
    kind: Any, zeros: bool, options: dict[str, Any]
) -> None:
    y = CLASSES if kind is RandomForestClassifier else NUMBERS
    weight = np.ones(len(X))
    if zeros:
        weight[::7] = 0
    kept = weight > 0
    model = kind(8, oob_score=True, max_depth=4, **options).fit(X, y, weight if zeros else None)
    outside, said = outside_of(model, kept), told_by_each(model, X[kept])
    count = outside.sum(axis=1)
    known = count > 0
    assert 0 < known.sum() <= len(known)
    mean = (said * outside[:, :, None]).sum(axis=1)[known] / count[known, None]
    told = model.oob_decision_function_ if said.shape[2] > 1 else model.oob_prediction_[:, None]
    assert len(told) == len(X)
    expected = np.full((len(X), said.shape[2]), np.nan)
    expected[np.flatnonzero(kept)[known]] = mean
    np.testing.assert_allclose(told, expected, rtol=1e-12, atol=1e-12)
    truth = y[kept][known]
    if kind is RandomForestClassifier:
        score = accuracy_score(truth, mean.argmax(axis=1))
        assert model.oob_curve_.error[-1] == pytest.approx(1 - score)
    else:
        score = r2_score(truth, mean[:, 0])
        assert model.oob_curve_.error[-1] == pytest.approx(((truth - mean[:, 0]) ** 2).mean())
        np.testing.assert_allclose(model.oob_errors_, np.sort(truth - mean[:, 0]), atol=1e-12)
    assert model.oob_score_ == pytest.approx(score)
    assert model.oob_curve_.rows[-1] == known.sum()
    assert (np.diff(model.oob_curve_.rows) >= 0).all()


@KINDS
def test_rows_in_every_bag_are_said_in_a_warning(kind: Any) -> None:
    y = CLASSES if kind is RandomForestClassifier else NUMBERS
    with pytest.warns(UserWarning, match=r"\d+ of 240 rows"):
        model = kind(2, oob_score=True).fit(X, y)
    told = model.oob_decision_function_ if y is CLASSES else model.oob_prediction_[:, None]
    gone = np.isnan(told).all(axis=1)
    assert 0 < gone.sum() < len(X)
    assert not np.isnan(told[~gone]).any()


@KINDS
def test_no_row_out_of_any_bag(kind: Any) -> None:
    """That is said, there is no score, and no interval is made up."""
    rows, y = np.eye(3), np.array([0, 1, 0])
    with pytest.warns(UserWarning, match="3 of 3 rows"):
        model = kind(1, oob_score=True, bootstrap=False, max_samples=1.0).fit(rows, y)
    assert np.isnan(model.oob_score_)
    assert model.enough_trees() is None
    assert model.oob_curve_.answer().startswith("No row is out of any bag")
    if kind is RandomForestRegressor:
        with pytest.raises(ValueError, match="out"):
            model.predict_interval(rows)


@KINDS
def test_the_curve_settles_as_trees_are_added(kind: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 4))
    score = rows[:, 0] + rows[:, 1] + rng.normal(size=400) / 2
    y = score > 0 if kind is RandomForestClassifier else score
    model = kind(300, oob_score=True).fit(rows, y)
    found = model.oob_curve_
    assert model.enough_trees() == found.enough
    assert found.enough is not None
    assert 3 < found.enough <= 150
    assert found.error[-1] < found.error[5]
    assert ((found.low <= found.error) & (found.error <= found.high)).all()
    few = kind(4, oob_score=True, warm_start=True)
    with pytest.warns(UserWarning, match="no out-of-bag prediction"):
        few.fit(rows, y)
    np.testing.assert_allclose(few.oob_curve_.error, found.error[:4])
