"""Importances: noise is inside the null band, and corrected importances are unbiased."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from ceiba.ensemble.common.sampling import RowSampler
from ceiba.ensemble.forest.oob import PermutationImportance
from tests.ensemble.forest.parts import CLASSES, NUMBERS, X, classes, numbers, record_bits

KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])


# Permutation importance of noise


def noisy(seed: int, kind: Any, signal: bool, n: int = 200) -> tuple[Array, Array]:
    """Return six columns of many and few values; the first two are informative, or none is."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 6))
    rows[:, 3], rows[:, 4] = rng.integers(2, size=n), rng.integers(5, size=n)
    score = rng.normal(size=n) + (1.5 * (rows[:, 0] + rows[:, 1]) if signal else 0)
    return rows, (score > 0 if kind is RandomForestClassifier else score)


SEEDS = 60


@KINDS
def test_noise_beside_signal_is_inside_the_null_band(kind: Any) -> None:
    wrong = 0
    for seed in range(SEEDS):
        rows, y = noisy(seed, kind, signal=True)
        found = kind(30, importance=True, random_state=seed).fit(rows, y).oob_importance_
        wrong += bool((found.above_noise[2:] > 0).any())
        assert (found.above_noise[:2] > 0).all()
        assert found.above_noise[:2].tolist() == found.importances[:2].tolist()
    # Five in a hundred are expected at worst; more than this occurs once in a thousand.
    assert wrong <= binom.ppf(0.999, SEEDS, 0.05)


@KINDS
def test_noise_alone_is_inside_the_null_band(kind: Any) -> None:
    values, wrong = [], 0
    for seed in range(SEEDS):
        rows, y = noisy(seed, kind, signal=False)
        found = kind(30, importance=True, random_state=seed).fit(rows, y).oob_importance_
        values.append(found.importances / found.standard_errors)
        wrong += bool((found.above_noise > 0).any())
    assert wrong <= binom.ppf(0.999, SEEDS, 0.05)
    z = np.array(values)
    # By chance: about zero on average, with a spread of about the standard error.
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(SEEDS)
    assert 0.7 < z.std() < 1.4


def test_null_band_allows_for_dependent_rows() -> None:
    """Large leaves fit what rows have in common by chance, in all trees."""
    values, outside, above = [], 0, 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        rows, y = rng.normal(size=(100, 5)), rng.integers(2, size=100)
        model = RandomForestClassifier(100, min_samples_leaf=10, importance=True, random_state=seed)
        found = model.fit(rows, y).oob_importance_
        values.append(found.importances / found.standard_errors)
        outside += bool((np.abs(found.importances) > found.null_band).any())
        above += bool((found.above_noise > 0).any())
    assert np.std(values) > 1.15
    assert outside <= binom.ppf(0.999, SEEDS, 0.05)
    assert above <= binom.ppf(0.999, SEEDS, 0.025)


@KINDS
def test_repeats_and_confidence_level(kind: Any) -> None:
    rows, y = noisy(1, kind, signal=True)
    model = kind(30, importance=True).fit(rows, y)
    one = model.oob_importance_
    np.testing.assert_array_equal(model.oob_importance(rows, y).importances, one.importances)
    many = model.oob_importance(rows, y, n_repeats=20)
    np.testing.assert_allclose(many.importances[:2], one.importances[:2], rtol=0.5)
    assert (many.standard_errors[2:] < one.standard_errors[2:]).all()
    assert (many.n_repeats, one.n_repeats) == (20, 1)
    wide = model.oob_importance(rows, y, confidence_level=0.999)
    np.testing.assert_array_equal(wide.importances, one.importances)
    np.testing.assert_allclose(
        wide.null_band / one.null_band, norm.ppf(1 - 0.001 / 12) / norm.ppf(1 - 0.05 / 12)
    )
    assert one.measure == ("error rate" if kind is RandomForestClassifier else "mean squared error")


def test_importance_table() -> None:
    found = PermutationImportance(
        ["long name", "b"], np.array([0.01, 0.2]), np.array([0.01, 0.02]), np.array([0.02, 0.04]),
        0.95, "error rate", 1,
    )  # fmt: skip
    np.testing.assert_array_equal(found.above_noise, [0.0, 0.2])
    head, first, second = found.to_table().splitlines()
    assert head.split()[0] == "column"
    assert first.split() == ["b", "0.2", "0.02", "0.04", "0.2"]
    assert second.split()[-1] == "0"
    assert second.startswith("long name")


BAD_IMPORTANCES: list[tuple[dict[str, Any], str]] = [
    ({"feature_names": ["a"]}, "names, one per column"),
    ({"feature_names": "ab"}, "feature_names must be a list"),
    ({"feature_names": ["a", 3]}, r"feature_names\[1\] must be a str"),
    ({"importances": np.zeros(3)}, "must be an array of float64"),
    ({"standard_errors": [0.0, 0.0]}, "standard_errors must be an array of float64"),
    ({"null_band": np.zeros((2, 1))}, "null_band must be an array of float64"),
    ({"null_band": np.array(["x", "y"])}, "null_band must be an array of float64"),
    ({"confidence_level": 2.0}, "confidence_level must be"),
    ({"confidence_level": "0.95"}, "confidence_level must be"),
    ({"n_repeats": 0}, "n_repeats must be an int >= 1"),
    ({"n_repeats": 1.0}, "n_repeats must be an int >= 1"),
    ({"measure": "gini"}, "measure must be"),
    ({"more": 1}, "PermutationImportance must have the fields"),
]


@pytest.mark.parametrize(("change", "message"), BAD_IMPORTANCES)
def test_inconsistent_importance_record_is_rejected(change: dict[str, Any], message: str) -> None:
    good = PermutationImportance(
        ["a", "b"], np.zeros(2), np.ones(2), np.ones(2), 0.95, "error rate", 1
    )
    assert record_bits(PermutationImportance.from_json(good.to_json())) == record_bits(good)
    with pytest.raises(ValueError, match=message):
        PermutationImportance.from_json({**good.to_json(), **change})


def test_importance_requires_the_rows_of_the_fit() -> None:
    model = classes(20)
    for rows, y, weight in [
        (X.iloc[1:], CLASSES[1:], None),
        (X.assign(a=0.0), CLASSES, None),
        (X, np.roll(CLASSES, 1), None),
        (X, CLASSES, np.full(len(X), 2)),
        (X.iloc[::-1], CLASSES[::-1], None),
    ]:
        for compute in (model.oob_importance, model.corrected_importances):
            with pytest.raises(ValueError, match="X, y and sample_weight as passed to fit"):
                compute(rows, y, weight)
    again = model.oob_importance(X.copy(), CLASSES.tolist())
    np.testing.assert_array_equal(again.importances, model.oob_importance(X, CLASSES).importances)
    with pytest.raises(ValueError, match=r"there are none|as passed to fit"):
        classes(3, bootstrap=False).corrected_importances(X, CLASSES)


# Decrease of impurity, corrected


@KINDS
def test_noise_with_many_values_has_zero_corrected_importance(kind: Any) -> None:
    """The plain importance of such a column exceeds that of an informative one."""
    corrected, plain = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = np.column_stack([rng.normal(size=200), rng.integers(2, size=200)])
        score = rows[:, 1] - 0.5 + rng.normal(size=200)
        y = score > 0 if kind is RandomForestClassifier else score
        model = kind(20, max_features=1, random_state=seed).fit(rows, y)
        corrected.append(model.corrected_importances(rows, y))
        plain.append(model.feature_importances_)
    noise, informative = np.array(corrected).T
    assert abs(noise.mean()) < 4 * noise.std(ddof=1) / np.sqrt(30)
    assert noise.min() < 0 < noise.max()
    assert informative.mean() > 10 * abs(noise.mean())
    assert (informative > noise).mean() > 0.9
    assert np.array(plain)[:, 0].min() > 0.5


def test_corrected_importances_rank_the_signal_first() -> None:
    for model, y in ((classes(60), CLASSES), (numbers(60), NUMBERS)):
        found = model.corrected_importances(X, y)
        named = dict(zip(X.columns, found, strict=True))
        assert min(named["a"], named["b"], named["word"]) > 2 * max(
            named[name] for name in ("c", "d", "e", "f", "size")
        )


@KINDS
def test_trees_without_oob_rows_do_not_count(kind: Any) -> None:
    """Trees with such rows but without splits count, with importance zero."""
    rows, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    model = kind(300).fit(rows, y)
    sampler = RowSampler.of(4, None, None, True)
    outside = [(sampler.counts(int(seed)) == 0).any() for seed in model.forest_.tree_seeds]
    alone = np.array([model.forest_.tree(t).n_nodes == 1 for t in range(300)])
    assert (alone & outside).any()
    assert not all(outside)
    whole = model.drop_trees(np.flatnonzero(~np.array(outside)).tolist())
    found = model.corrected_importances(rows, y)
    np.testing.assert_allclose(found, whole.corrected_importances(rows, y), rtol=1e-12)
    each = [
        model.drop_trees([u for u in range(300) if u != t]).corrected_importances(rows, y)
        for t in np.flatnonzero(outside)
    ]
    np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-12)
