"""Importances: noise reads as zero, with permutations and with impurity corrected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from ceiba.ensemble.common.sampling import Sampling
from ceiba.ensemble.forest.importance import PermutationImportance
from tests.ensemble.forest.parts import CLASSES, NUMBERS, X, classes, numbers, record_bits

KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])


# Permutation importance of noise


def noisy(seed: int, kind: Any, signal: bool, n: int = 200) -> tuple[Array, Array]:
    """Six columns, of many and few values; the first two tell something, or none does."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 6))
    rows[:, 3], rows[:, 4] = rng.integers(2, size=n), rng.integers(5, size=n)
    score = rng.normal(size=n) + (1.5 * (rows[:, 0] + rows[:, 1]) if signal else 0)
    return rows, (score > 0 if kind is RandomForestClassifier else score)


SEEDS = 60


@KINDS
def test_noise_beside_signal_reads_as_zero(kind: Any) -> None:
    wrong = 0
    for seed in range(SEEDS):
        rows, y = noisy(seed, kind, signal=True)
        found = kind(30, importance=True, random_state=seed).fit(rows, y).oob_importance_
        wrong += bool((found.reads[2:] > 0).any())
        assert (found.reads[:2] > 0).all()
        assert found.reads[:2].tolist() == found.value[:2].tolist()
    # Five in a hundred are allowed; this many by chance once in a thousand.
    assert wrong <= binom.ppf(0.999, SEEDS, 0.05)


@KINDS
def test_tables_of_noise_alone(kind: Any) -> None:
    values, wrong = [], 0
    for seed in range(SEEDS):
        rows, y = noisy(seed, kind, signal=False)
        found = kind(30, importance=True, random_state=seed).fit(rows, y).oob_importance_
        values.append(found.value / found.error)
        wrong += bool((found.reads > 0).any())
    assert wrong <= binom.ppf(0.999, SEEDS, 0.05)
    z = np.array(values)
    # Chance alone: about zero on average, about as far from it as the standard error says.
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(SEEDS)
    assert 0.7 < z.std() < 1.4


def test_a_band_knows_that_rows_learn_from_each_other() -> None:
    """Large leaves find what rows have in common by chance, and all trees say so."""
    values, outside, above = [], 0, 0
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        rows, y = rng.normal(size=(100, 5)), rng.integers(2, size=100)
        model = RandomForestClassifier(100, min_samples_leaf=10, importance=True, random_state=seed)
        found = model.fit(rows, y).oob_importance_
        values.append(found.value / found.error)
        outside += bool((np.abs(found.value) > found.band).any())
        above += bool((found.reads > 0).any())
    assert np.std(values) > 1.15
    assert outside <= binom.ppf(0.999, SEEDS, 0.05)
    assert above <= binom.ppf(0.999, SEEDS, 0.025)


@KINDS
def test_more_repeats_and_other_levels(kind: Any) -> None:
    rows, y = noisy(1, kind, signal=True)
    model = kind(30, importance=True).fit(rows, y)
    one = model.oob_importance_
    np.testing.assert_array_equal(model.oob_importance(rows, y).value, one.value)
    many = model.oob_importance(rows, y, repeats=20)
    np.testing.assert_allclose(many.value[:2], one.value[:2], rtol=0.5)
    assert (many.error[2:] < one.error[2:]).all()
    assert (many.repeats, one.repeats) == (20, 1)
    wide = model.oob_importance(rows, y, level=0.999)
    np.testing.assert_array_equal(wide.value, one.value)
    np.testing.assert_allclose(
        wide.band / one.band, norm.ppf(1 - 0.001 / 12) / norm.ppf(1 - 0.05 / 12)
    )
    assert one.measure == ("error rate" if kind is RandomForestClassifier else "mean squared error")


def test_importances_as_a_table() -> None:
    found = PermutationImportance(
        ["long name", "b"], np.array([0.01, 0.2]), np.array([0.01, 0.02]), np.array([0.02, 0.04]),
        0.95, "error rate", 1,
    )  # fmt: skip
    np.testing.assert_array_equal(found.reads, [0.0, 0.2])
    head, first, second = found.to_table().splitlines()
    assert head.split()[0] == "column"
    assert first.split() == ["b", "0.2", "0.02", "0.04", "0.2"]
    assert second.split()[-1] == "0"
    assert second.startswith("long name")


BAD_IMPORTANCES: list[tuple[dict[str, Any], str]] = [
    ({"names": ["a"]}, "an entry for each column"),
    ({"names": ("a", "b")}, "names must be a list of text"),
    ({"names": ["a", 3]}, "names must be a list of text"),
    ({"value": np.zeros(3)}, "value must have an entry for each column"),
    ({"error": [0.0, 0.0]}, "error must have an entry for each column"),
    ({"band": np.zeros((2, 1))}, "band must have an entry for each column"),
    ({"band": np.array(["x", "y"])}, "band"),
    ({"level": 2.0}, "level must be between 0 and 1"),
    ({"level": "0.95"}, "level must be between 0 and 1"),
    ({"repeats": 0}, "repeats must be a count"),
    ({"repeats": 1.0}, "repeats must be a count"),
    ({"measure": "gini"}, "the measure is not known"),
    ({"more": 1}, "these are not the parts of an importance"),
]


@pytest.mark.parametrize(("change", "message"), BAD_IMPORTANCES)
def test_importances_that_contradict_themselves_are_refused(
    change: dict[str, Any], message: str
) -> None:
    good = PermutationImportance(
        ["a", "b"], np.zeros(2), np.ones(2), np.ones(2), 0.95, "error rate", 1
    )
    assert record_bits(PermutationImportance.from_json(good.to_json())) == record_bits(good)
    with pytest.raises(ValueError, match=message):
        PermutationImportance.from_json({**good.to_json(), **change})


def test_importance_asks_for_the_rows_of_the_fit() -> None:
    model = classes(20)
    for rows, y, weight in [
        (X.iloc[1:], CLASSES[1:], None),
        (X.assign(a=0.0), CLASSES, None),
        (X, np.roll(CLASSES, 1), None),
        (X, CLASSES, np.full(len(X), 2)),
        (X.iloc[::-1], CLASSES[::-1], None),
    ]:
        for ask in (model.oob_importance, model.corrected_importances):
            with pytest.raises(ValueError, match="X, y and sample_weight as they were given"):
                ask(rows, y, weight)
    again = model.oob_importance(X.copy(), CLASSES.tolist())
    np.testing.assert_array_equal(again.value, model.oob_importance(X, CLASSES).value)
    with pytest.raises(ValueError, match=r"no row is out|as they were given"):
        classes(3, bootstrap=False).corrected_importances(X, CLASSES)


# Decrease of impurity, corrected


@KINDS
def test_noise_of_many_values_has_no_corrected_importance(kind: Any) -> None:
    """Where the plain one is large, and larger than that of a column that tells something."""
    corrected, plain = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = np.column_stack([rng.normal(size=200), rng.integers(2, size=200)])
        score = rows[:, 1] - 0.5 + rng.normal(size=200)
        y = score > 0 if kind is RandomForestClassifier else score
        model = kind(20, max_features=1, random_state=seed).fit(rows, y)
        corrected.append(model.corrected_importances(rows, y))
        plain.append(model.feature_importances_)
    noise, telling = np.array(corrected).T
    assert abs(noise.mean()) < 4 * noise.std(ddof=1) / np.sqrt(30)
    assert noise.min() < 0 < noise.max()
    assert telling.mean() > 10 * abs(noise.mean())
    assert (telling > noise).mean() > 0.9
    assert np.array(plain)[:, 0].min() > 0.5


def test_corrected_importances_of_classes_and_gaps() -> None:
    for model, y in ((classes(60), CLASSES), (numbers(60), NUMBERS)):
        found = model.corrected_importances(X, y)
        named = dict(zip(X.columns, found, strict=True))
        assert min(named["a"], named["b"], named["word"]) > 2 * max(
            named[name] for name in ("c", "d", "e", "f", "size")
        )


@KINDS
def test_trees_whose_bags_hold_every_row_do_not_count(kind: Any) -> None:
    """Of four rows; a tree that has such rows and no split counts, with nothing."""
    rows, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    model = kind(300).fit(rows, y)
    bags = Sampling.of(4, None, None, True)
    outside = [(bags.counts(int(key)) == 0).any() for key in model.forest_.keys[:, 0]]
    alone = np.array([model.forest_.tree(t).n_nodes == 1 for t in range(300)])
    assert (alone & outside).any()
    assert not all(outside)
    whole = model.without(np.flatnonzero(~np.array(outside)).tolist())
    found = model.corrected_importances(rows, y)
    np.testing.assert_allclose(found, whole.corrected_importances(rows, y), rtol=1e-12)
    each = [
        model.without([u for u in range(300) if u != t]).corrected_importances(rows, y)
        for t in np.flatnonzero(outside)
    ]
    np.testing.assert_allclose(found, np.mean(each, axis=0), rtol=1e-12)
