"""Many rows at once, which walk compact or coded trees, are predicted as single rows are.

Bit for bit. Trees from few bins are coded; those from exact values test too many thresholds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor

N = 3_000


def near_ties(rng: np.random.Generator) -> Any:
    """Values that differ by less than a float32 can hold, of both signs and around zero."""
    base = rng.choice([-3.0, -1.0, 0.0, 1e-42, 1.0, 1e30], size=(N, 4))
    return base * (1 + 1e-12 * rng.integers(-3, 4, size=base.shape))


def extremes(rng: np.random.Generator) -> Any:
    """Infinities, zeros with a sign, subnormal numbers, and numbers beyond float32."""
    values = [-np.inf, -1e300, -1e-300, -0.0, 0.0, 5e-324, 1e-45, 1e39, 1.7e308, np.inf]
    return rng.choice(values, size=(N, 4))


def integers(rng: np.random.Generator) -> Any:
    return rng.integers(-20, 20, size=(N, 4)).astype(float)


def normal(rng: np.random.Generator) -> Any:
    return rng.normal(size=(N, 4))


def missing(rng: np.random.Generator) -> Any:
    """One block with a missing value: its rows walk the packed trees."""
    values = normal(rng)
    values[17, 2] = np.nan
    return values


TABLES = pytest.mark.parametrize("make", [near_ties, extremes, integers, normal, missing])
DTYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@TABLES
@DTYPES
@pytest.mark.parametrize("options", [{}, {"max_bins": 16}], ids=str)
def test_many_rows_equal_single_rows(make: Any, dtype: Any, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        rows = make(rng)
        test = rows.astype(dtype)
    y = rng.integers(3, size=N)
    for model in (RandomForestClassifier(4, **options), RandomForestRegressor(4, **options)):
        model.fit(rows, y)
        assert model.forest_.n_nodes > 40
        many = model._predict(test)
        few = np.concatenate([model._predict(test[i : i + 1]) for i in range(0, N, 7)])
        np.testing.assert_array_equal(many[::7], few)
        # As many rows as lanes, and one more or less.
        for n in (15, 16, 17, 250):
            np.testing.assert_array_equal(model._predict(test[:n]), many[:n])


@pytest.mark.parametrize("n_thresholds", [254, 255, 256])
def test_codes_hold_255_thresholds(n_thresholds: int) -> None:
    # One tree with a threshold between all neighbors; one more than a byte can code is compact.
    values = np.arange(n_thresholds + 1.0)
    model = RandomForestClassifier(1, bootstrap=False, max_bins=None).fit(
        values[:, None], values.astype(int) % 2
    )
    assert (model.forest_.n_nodes - 1) // 2 == n_thresholds
    test = np.repeat(np.concatenate([values, values + 0.5, [-np.inf, np.inf]]), 2)[:, None]
    for rows in (test, np.nextafter(test, np.inf), test.astype(np.float32)):
        few = np.concatenate([model.predict_proba(rows[i : i + 1]) for i in range(len(rows))])
        np.testing.assert_array_equal(model.predict_proba(rows), few)


@pytest.mark.parametrize("n_classes", [31, 32, 300])
def test_classes_in_the_bits_of_a_column(n_classes: int) -> None:
    rng = np.random.default_rng(3)
    rows, y = rng.normal(size=(N, 2)), rng.integers(n_classes, size=N)
    model = RandomForestClassifier(2, max_bins=64).fit(rows, y)
    few = np.concatenate([model.predict_proba(rows[i : i + 1]) for i in range(0, N, 50)])
    np.testing.assert_array_equal(model.predict_proba(rows)[::50], few)


@DTYPES
def test_blocks_and_threads_have_the_same_predictions(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(140_000, 2)).astype(dtype)
    model = RandomForestClassifier(3, max_depth=7).fit(rows[:4_000], rows[:4_000, 0] > 0.3)
    expected = model.predict_proba(rows)
    rows[3, 1] = np.nan  # the block of this row walks the packed trees
    for n_jobs in (1, 2, 3):
        found = model.set_params(n_jobs=n_jobs).predict_proba(rows)
        np.testing.assert_array_equal(np.delete(found, 3, axis=0), np.delete(expected, 3, axis=0))


@pytest.mark.parametrize("leaf_probability", ["plain", "laplace"])
def test_leaves_of_several_classes(leaf_probability: Any) -> None:
    rng = np.random.default_rng(2)
    rows, y = rng.normal(size=(N, 3)), rng.integers(5, size=N)
    options = {"min_samples_leaf": 5, "leaf_probability": leaf_probability}
    model = RandomForestClassifier(5, **options).fit(rows, y)
    many = model.predict_proba(rows)
    few = np.concatenate([model.predict_proba(rows[i : i + 1]) for i in range(0, N, 11)])
    np.testing.assert_array_equal(many[::11], few)
