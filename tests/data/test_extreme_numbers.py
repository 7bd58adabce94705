"""Numbers beyond 64 bits, complex numbers and what is no number, in X, y and weights."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    KMeans,
    RandomForestClassifier,
)
from ceiba.data import Table

HUGE = 10**400
MODELS = [
    DecisionTreeClassifier(),
    RandomForestClassifier(2),
    BaggingClassifier(n_estimators=2),
    AdaBoostClassifier(n_estimators=2),
]


@pytest.mark.parametrize(
    "make",
    [
        lambda values: [[value] for value in values],
        lambda values: [{"x0": value} for value in values],
        lambda values: np.array(values, dtype=object)[:, None],
        lambda values: pd.DataFrame({"x0": pd.Series(values, dtype=object)}),
    ],
)
@pytest.mark.parametrize(
    "value", [HUGE, -HUGE, 2**64 + 1, -(2**63) - 1, Fraction(HUGE), Decimal("1e400")]
)
def test_whole_numbers_that_would_be_rounded_are_refused(make, value):
    with pytest.raises(ValueError, match=r"Column 'x0', row 1: .* not representable .* to text"):
        Table.of(make([1, value, 2]))


def test_numbers_that_float64_holds_exactly_are_kept():
    table = Table.of([[2**64], [2**70], [-(2**64)]])
    assert table.column(0).tolist() == [2.0**64, 2.0**70, -(2.0**64)]
    assert Table.of([[2**64 - 1], [0]]).column(0).tolist() == [2**64 - 1, 0]
    assert Table.of([[Fraction(1, 3)], [Decimal("nan")]]).column(0)[0] == 1 / 3
    text = Table.of([[str(HUGE)], ["1.5"]], kinds={"x0": "numeric"})
    assert text.column(0).tolist() == [np.inf, 1.5]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_bad_targets_are_called_y(model):
    X = np.arange(4.0)[:, None]
    for y in ([0, 1, HUGE, 2**64 + 1], np.array([0, 1, HUGE, 2], dtype=object)):
        with pytest.raises(ValueError, match=r"Column 'y', row 2: .* not representable"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="Complex data not supported: y"):
        model.fit(X, np.array([0, 1j, 1, 0]))
    with pytest.raises(TypeError, match="Column 'y', row 1"):
        model.fit(X, np.array([0, {}, 1, 0], dtype=object))


def test_targets_of_a_regression():
    with pytest.raises(ValueError, match="Column 'y', row 0: an integer of 1,329 bits"):
        DecisionTreeRegressor().fit([[1.0], [2.0]], [HUGE, 1])


@pytest.mark.parametrize("model", [*MODELS, KMeans(2)], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    "weight",
    [
        [1, HUGE, 1, 1],
        np.array([1, 1j, 1, 1]),
        [1, "a", 1, 1],
        [1, None, 1, 1],
        [1, [2], 1, 1],
        np.array([1, 2, 3, 4], "timedelta64[s]"),
        pd.Series([1, None, 1, 1], dtype="Int64"),
    ],
    ids=lambda weight: str(weight)[:20],
)
def test_bad_weights_are_called_sample_weight(model, weight):
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X, [0, 1, 0, 1], sample_weight=weight)
