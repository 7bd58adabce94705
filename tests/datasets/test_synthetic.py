"""The synthetic tables: their rules hold, seeds decide, and the stream never changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba import datasets
from ceiba.data import Kind

NAMES = datasets.names(source="synthetic")
SIZES = {
    "corral": 128,
    "three_groups": 300,
    "two_moons": 200,
    "xor": 200,
    "linear_boundary": 100,
    "nonlinear_boundary": 100,
}
draws = given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 300))


def values(dataset) -> np.ndarray:
    return np.column_stack([dataset.table.column(j) for j in range(len(dataset.schema))])


@pytest.mark.parametrize("name", NAMES)
def test_default_is_seed_zero_and_the_stated_size(name):
    default = datasets.load(name)
    assert len(default.y) == SIZES[name]
    assert f"{SIZES[name]} rows by default" in default.description
    zero = datasets.load(name, seed=0, n_rows=SIZES[name])
    np.testing.assert_array_equal(values(default), values(zero))
    np.testing.assert_array_equal(default.y, zero.y)


@pytest.mark.parametrize("name", NAMES)
def test_seed_changes_the_table(name):
    assert not np.array_equal(values(datasets.load(name)), values(datasets.load(name, seed=1)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_rows", [1, 2, 1000])
def test_number_of_rows(name, n_rows):
    dataset = datasets.load(name, n_rows=n_rows)
    assert len(dataset.y) == dataset.table.n_rows == n_rows


def test_the_stream_is_frozen():
    # Written down once: a seed must give the same table in every release.
    first = {name: values(datasets.load(name, seed=7))[0].tolist() for name in NAMES}
    assert first == {name: pytest.approx(row, abs=1e-9) for name, row in GOLDEN.items()}


GOLDEN = {
    "corral": [1, 0, 1, 0, 1, 0],
    "linear_boundary": [0.0763082894, 0.7799187922],
    "nonlinear_boundary": [0.0763082894, 0.7799187922],
    "three_groups": [0.6727535245, 3.3925440206],
    "two_moons": [-0.0763026229, 0.9488995614],
    "xor": [-0.8473834213, 0.5598375845],
}


@settings(deadline=None)
@draws
def test_corral_rule(seed, n_rows):
    dataset = datasets.load("corral", seed=seed, n_rows=n_rows)
    a0, a1, b0, b1, _, correlated = values(dataset).T
    np.testing.assert_array_equal(dataset.y, (a0 & a1) | (b0 & b1))
    assert (correlated != dataset.y).sum() == round(n_rows / 4)
    assert {column.kind for column in dataset.schema} == {Kind.NOMINAL}
    assert {column.categories for column in dataset.schema} == {(0, 1)}


def test_corral_bits_are_fair_and_independent():
    dataset = datasets.load("corral", seed=5, n_rows=20_000)
    bits = values(dataset)
    correlation = np.corrcoef(np.column_stack([bits[:, :5], dataset.y]).T)
    assert np.abs(bits[:, :5].mean(axis=0) - 0.5).max() < 0.02
    assert np.abs(correlation[:5, :5] - np.eye(5)).max() < 0.03
    assert abs(correlation[4, 5]) < 0.03  # the irrelevant bit is independent of the class
    assert dataset.y.mean() == pytest.approx(7 / 16, abs=0.02)


@settings(deadline=None)
@draws
def test_xor_rule(seed, n_rows):
    X, y = datasets.load("xor", seed=seed, n_rows=n_rows)
    assert np.abs(X).max() <= 1
    np.testing.assert_array_equal(y, X.prod(axis=1) < 0)


@settings(deadline=None)
@draws
def test_boundary_rules(seed, n_rows):
    linear, curved = (
        datasets.load(f"{form}_boundary", seed=seed, n_rows=n_rows)
        for form in ("linear", "nonlinear")
    )
    assert 0 <= min(linear.X.min(), curved.X.min()) <= max(linear.X.max(), curved.X.max()) < 1
    np.testing.assert_array_equal(linear.y, linear.X.sum(axis=1) > 1)
    x1, x2 = curved.X.T
    np.testing.assert_array_equal(curved.y, x2 * (1 + np.exp(-25 * (x1 - 0.5))) > 1)


def test_boundaries_fill_the_square_with_both_classes():
    for name in ("linear_boundary", "nonlinear_boundary"):
        X, y = datasets.load(name, n_rows=4000)
        counts = np.histogram2d(*X.T, bins=2, range=[[0, 1], [0, 1]])[0]
        assert counts.min() > 900
        assert y.mean() == pytest.approx(0.5, abs=0.03)


@settings(deadline=None)
@draws
def test_three_groups_are_of_equal_size(seed, n_rows):
    y = datasets.load("three_groups", seed=seed, n_rows=n_rows).y
    counts = np.bincount(y, minlength=3)
    assert counts.max() - counts.min() <= 1
    assert len(counts) == 3


def test_three_groups_have_the_stated_moments():
    X, y = datasets.load("three_groups", n_rows=30_000)
    for group, center in enumerate([(-2, 0), (2, 0), (0, 3)]):
        part = X[y == group]
        np.testing.assert_allclose(part.mean(axis=0), center, atol=0.03)
        np.testing.assert_allclose(np.cov(part.T), 0.49 * np.eye(2), atol=0.02)


def test_two_moons_lie_on_their_half_circles():
    X, y = datasets.load("two_moons", n_rows=20_000)
    upper, lower = X[y == 0], X[y == 1] - (1, 0.5)
    for arc in (upper, lower):
        off = np.hypot(*arc.T) - 1
        assert abs(off.mean()) < 0.02
        assert off.std() == pytest.approx(0.1, abs=0.01)
    assert (upper[:, 1] > -0.5).all()
    assert (lower[:, 1] < 0.5).all()
    assert upper[:, 1].mean() == pytest.approx(2 / np.pi, abs=0.02)
    assert lower[:, 1].mean() == pytest.approx(-2 / np.pi, abs=0.02)


def test_groups_and_moons_are_in_random_order():
    for name in ("three_groups", "two_moons"):
        y = datasets.load(name).y
        assert (np.diff(y) != 0).mean() > 0.3
