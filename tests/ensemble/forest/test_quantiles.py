"""Quantiles and intervals: order, hand computation and coverage of new targets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import RandomForestRegressor
from ceiba._typing import Array


def waves(n: int, seed: int) -> tuple[Array, Array]:
    """Return targets whose spread grows with the first column."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(size=(n, 2))
    return rows, np.sin(5 * rows[:, 1]) + (0.1 + rows[:, 0]) * rng.normal(size=n)


@pytest.fixture(scope="module")
def wave_forest() -> RandomForestRegressor:
    rows, y = waves(1000, 0)
    options = {"oob_score": True, "quantiles": True, "min_samples_leaf": 5}
    return RandomForestRegressor(150, **options).fit(rows, y)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("method", ["oob", "quantiles"])
def test_intervals_cover_new_targets(
    wave_forest: RandomForestRegressor, coverage: float, method: Any
) -> None:
    rows, y = waves(2000, 1)
    found = wave_forest.predict_interval(rows, coverage, method=method)
    assert found.shape == (2000, 2)
    assert (found[:, 0] <= found[:, 1]).all()
    inside = ((found[:, 0] <= y) & (y <= found[:, 1])).mean()
    assert inside == pytest.approx(coverage, abs=0.06)


def test_quantile_intervals_are_wider_where_targets_vary_more(
    wave_forest: RandomForestRegressor,
) -> None:
    rows, y = waves(2000, 2)
    calm, wild = rows[:, 0] < 0.2, rows[:, 0] > 0.8
    widths = np.diff(wave_forest.predict_interval(rows, 0.9, method="quantiles"))[:, 0]
    assert widths[wild].mean() > 2.5 * widths[calm].mean()
    same = np.diff(wave_forest.predict_interval(rows, 0.9))[:, 0]
    np.testing.assert_allclose(same, same[0])
    found = wave_forest.predict_interval(rows, 0.9)
    np.testing.assert_allclose(
        found - wave_forest.predict(rows)[:, None],
        np.broadcast_to(np.quantile(wave_forest.oob_errors_, [0.05, 0.95]), (2000, 2)),
    )
    inside = ((found[:, 0] <= y) & (y <= found[:, 1]))[wild].mean()
    assert inside < 0.87  # the same width for all rows


def test_quantiles_are_ordered_training_targets(
    wave_forest: RandomForestRegressor,
) -> None:
    rows, _ = waves(300, 3)
    wanted = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]
    found = wave_forest.predict_quantiles(rows, wanted)
    assert found.shape == (300, 7)
    assert (np.diff(found, axis=1) >= 0).all()
    assert np.isin(found, wave_forest.leaf_targets_.target).all()
    for index, q in enumerate(wanted):
        one = wave_forest.predict_quantiles(rows, q)
        assert one.shape == (300,)
        np.testing.assert_array_equal(one, found[:, index])
    shuffled = wave_forest.predict_quantiles(rows, wanted[::-1])
    np.testing.assert_array_equal(shuffled, found[:, ::-1])
    assert wave_forest.predict_quantiles(rows, []).shape == (300, 0)


def test_quantiles_match_hand_computation() -> None:
    rows = np.array([0.0, 0, 0, 0, 9, 9, 9])[:, None]
    y = np.array([1.0, 2.0, 3.0, 4.0, 50.0, 60.0, 70.0])
    options = {"bootstrap": False, "max_depth": 1, "quantiles": True}
    model = RandomForestRegressor(3, **options).fit(rows, y)
    found = model.predict_quantiles([[0.0], [9.0]], [0.0, 0.25, 0.26, 0.5, 1.0])
    assert found.tolist() == [[1, 1, 2, 2, 4], [50, 50, 50, 60, 70]]
    weight = np.array([1.0, 1, 1, 5, 1, 1, 8])
    heavy = RandomForestRegressor(3, **options).fit(rows, y, weight)
    found = heavy.predict_quantiles([[0.0], [9.0]], [0.2, 0.38, 0.5])
    assert found.tolist() == [[2, 4, 4], [60, 70, 70]]


def test_rows_are_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.arange(20.0)[:, None]
    model = RandomForestRegressor(10, quantiles=True, oob_score=True).fit(rows, rows[:, 0])
    opened = []
    own = RandomForestRegressor._open_source

    def counted(self: Any, X: Any, *more: Any, **options: Any) -> Any:
        opened.append(X)
        return own(self, X, *more, **options)

    monkeypatch.setattr(RandomForestRegressor, "_open_source", counted)
    for predict in (
        lambda: model.predict_quantiles(rows, 0.5),
        lambda: model.predict_interval(rows, method="quantiles"),
        lambda: model.predict_interval(rows),
    ):
        opened.clear()
        predict()
        assert len(opened) == 1
