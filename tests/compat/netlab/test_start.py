"""kmeans and gmminit: batch k-means, and mixtures initialized from its clusters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from ceiba.compat.netlab import foptions, gmm, gmminit, kmeans
from tests.budget import examples
from tests.compat.netlab import netlab_naive as naive
from tests.compat.netlab.netlab_naive import TYPES, quiet


@examples(40)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(3, 30),
    d=st.integers(1, 3),
    k=st.integers(1, 3),
    cycles=st.integers(1, 8),
    tied=st.booleans(),
)
def test_kmeans_equals_the_formulas(seed, n, d, k, cycles, tied):
    random = np.random.default_rng(seed)
    data, start = random.normal(size=(n, d)), random.normal(size=(k, d))
    if tied:
        # Few exact values: rows that coincide or are halfway between centres.
        data, start, cycles = np.round(data), np.round(start), 1
    expected = naive.kmeans(start, data, cycles, 1e-4, 1e-4)
    centres, options, post, errlog = kmeans(start, data, quiet(cycles))
    np.testing.assert_allclose(errlog, expected.errlog, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(centres, expected.centres, rtol=1e-9, atol=1e-12)
    assert post.tolist() == np.eye(k)[expected.labels].tolist()
    assert options[7] == errlog[-1]


def test_centre_without_rows_does_not_move():
    data = [[0.0], [1.0], [10.0], [11.0]]
    centres, _, post, _ = kmeans([[0.0], [10.0], [500.0]], data, quiet())
    assert centres.tolist() == [[0.5], [10.5], [500.0]]
    assert post.sum(axis=0).tolist() == [2, 2, 0]


def test_kmeans_converges_by_both_tolerances():
    data = np.random.default_rng(0).normal(size=(400, 2))
    start = data[:5]
    _, _, _, every = kmeans(start, data, quiet(60, _1=0, _2=0))
    assert len(every) == 60
    for moved, changed in [(1e-2, 1.0), (1e9, 1.0), (1e-2, 1e9), (1e9, 1e9)]:
        expected = naive.kmeans(start, data, 60, moved, changed)
        _, _, _, errlog = kmeans(start, data, quiet(60, _1=moved, _2=changed))
        assert len(errlog) == len(expected.errlog)
    assert len(errlog) == 2  # the first cycle has nothing to be compared with
    assert (np.diff(every) <= 1e-9).all()


def test_switch_starts_at_rows():
    data = np.random.default_rng(0).normal(size=(50, 2))
    far = np.full((3, 2), 1e3)
    centres, _, post, _ = kmeans(far, data, quiet(1, _4=1), random_state=4)
    assert (post.sum(axis=0) > 0).all()
    assert np.abs(centres).max() < 5
    again, _, _, _ = kmeans(far, data, quiet(1, _4=1), random_state=4)
    np.testing.assert_array_equal(centres, again)
    other, _, _, _ = kmeans(far, data, quiet(1, _4=1), random_state=5)
    assert not np.array_equal(centres, other)
    # As many centres as rows: each must be drawn once.
    all_rows, options, _, _ = kmeans(np.zeros((50, 2)), data, quiet(1, _4=1))
    np.testing.assert_allclose(np.sort(all_rows[:, 0]), np.sort(data[:, 0]), rtol=1e-12)
    assert options[7] < 1e-25


def test_kmeans_display_option(capsys):
    data, start = np.arange(8.0).reshape(8, 1), np.array([[0.0], [1.0]])
    options = foptions()
    options[[0, 13]] = 1, 2
    with pytest.warns(ConvergenceWarning, match="k-means did not converge in 2 cycles"):
        _, returned, _, errlog = kmeans(start, data, options)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"Cycle {n:4d}  Error {e:11.6f}" for n, e in enumerate(errlog, 1)]
    assert start.tolist() == [[0.0], [1.0]]
    assert options[7] == 0
    assert returned[7] == errlog[-1]
    options[[0, 13]] = 0, 50
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kmeans(start, data, options)


@pytest.mark.parametrize(
    ("centres", "data", "message"),
    [
        ([[0.0], [1.0], [2.0]], [[0.0], [1.0]], "the number of centres, 3, must not exceed the"),
        ([0.0, 1.0], [[0.0], [1.0]], r"centres must have shape \(ncentres, dim\), got \(2,\)"),
        ([[0.0, 1.0]], [[0.0], [1.0]], r"data must have shape \(n, 2\), got \(2, 1\)"),
        ([[np.nan]], [[0.0]], "centres contains NaN"),
        ([[0.0]], [[np.inf]], "data contains NaN or infinity"),
    ],
)
def test_invalid_arguments_of_kmeans_raise(centres, data, message):
    with pytest.raises(ValueError, match=message):
        kmeans(centres, data, foptions())


GROUPS = np.vstack(
    [
        centre + np.random.default_rng(seed).normal(size=(size, 3)) * (0.3, 0.6, 0.9)
        for seed, (centre, size) in enumerate([((0, 0, 0), 20), ((8, 0, 4), 30), ((0, 9, 0), 50)])
    ]
)


@pytest.mark.parametrize("covar_type", TYPES)
def test_gmminit_uses_the_clusters(covar_type):
    given = gmm(3, 3, covar_type, 2 if covar_type == "ppca" else None, random_state=0)
    mix = gmminit(given, GROUPS, quiet(100), random_state=1)
    nearest = [
        int(np.argmin([((row - centre) ** 2).sum() for centre in mix.centres])) for row in GROUPS
    ]
    assert sorted(np.bincount(nearest).tolist()) == [20, 30, 50]
    for j in range(3):
        mine = GROUPS[np.array(nearest) == j]
        assert mix.priors[j] == len(mine) / 100
        np.testing.assert_allclose(mix.centres[j], mine.mean(axis=0), rtol=1e-10, atol=1e-12)
        if covar_type == "spherical":
            apart = [((mix.centres[i] - mix.centres[j]) ** 2).sum() for i in range(3) if i != j]
            np.testing.assert_allclose(mix.covars[j], min(apart))
        else:
            spread = np.cov(mine.T, bias=True)
            expected = naive.restricted(spread, covar_type, mix.ppca_dim, 3)
            np.testing.assert_allclose(naive.covariance(mix, j), expected, rtol=1e-9, atol=1e-12)
    assert given.priors.tolist() == [1 / 3] * 3


def test_gmminit_uses_the_number_of_cycles():
    """One cycle gives other centres than many."""
    x = np.random.default_rng(3).normal(size=(500, 2))
    given = gmm(2, 6, "diag")
    one, more = (gmminit(given, x, quiet(cycles), random_state=2) for cycles in (1, 50))
    assert not np.allclose(one.centres, more.centres)
    with pytest.warns(ConvergenceWarning, match="k-means did not converge in 1 cycles") as warned:
        gmminit(given, x, quiet(1, _0=0), random_state=2)
    assert warned[0].filename == __file__


def test_single_spherical_component_has_the_variance_of_the_data():
    mix = gmminit(gmm(3, 1, "spherical"), GROUPS, quiet())
    np.testing.assert_allclose(mix.covars, [np.var(GROUPS, axis=0, ddof=1).mean()])
    np.testing.assert_allclose(mix.centres[0], GROUPS.mean(axis=0))
    assert mix.priors.tolist() == [1.0]


@pytest.mark.parametrize("covar_type", ["spherical", "diag", "full"])
def test_equal_rows_have_unit_variance(covar_type):
    """Three centres on two points: one has no rows, and none has any variance."""
    x = np.repeat([[0.0, 0.0], [4.0, 0.0]], 5, axis=0)
    starts = [gmminit(gmm(2, 3, covar_type), x, quiet(), random_state=seed) for seed in range(8)]
    assert any(mix.priors.tolist().count(1 / 11) == 1 for mix in starts)
    for mix in starts:
        assert np.isfinite(mix.centres).all()
        np.testing.assert_allclose(sum(mix.priors), 1.0)
        if covar_type == "spherical":
            assert set(mix.covars.tolist()) <= {1.0, 16.0}
        else:
            for j in range(3):
                np.testing.assert_array_equal(naive.covariance(mix, j), np.eye(2))


def test_singular_matrix_is_widened():
    line = np.column_stack([np.arange(10.0), 2 * np.arange(10.0)])
    mix = gmminit(gmm(2, 1, "full"), line, quiet())
    expected = np.cov(line.T, bias=True) + np.eye(2)
    np.testing.assert_allclose(mix.covars[:, :, 0], expected)
    diagonal = gmminit(gmm(2, 1, "diag"), line * (1, 0), quiet())
    np.testing.assert_allclose(diagonal.covars, [[line[:, 0].var(), 1.0]])


def test_single_row():
    for covar_type in ("spherical", "diag", "full"):
        mix = gmminit(gmm(2, 1, covar_type), [[1.0, 2.0]], quiet())
        np.testing.assert_array_equal(naive.covariance(mix, 0), np.eye(2))


def test_ppca_requires_rows_of_higher_dimension():
    line = np.column_stack([np.arange(10.0), 2 * np.arange(10.0)])
    with pytest.raises(ValueError, match="the rows of cluster 0 must span more than"):
        gmminit(gmm(2, 1, "ppca"), line, quiet())
    with pytest.raises(ValueError, match="use fewer centres"):
        gmminit(gmm(2, 2, "ppca"), np.repeat([[0.0, 0.0], [4.0, 0.0]], 5, axis=0), quiet())
