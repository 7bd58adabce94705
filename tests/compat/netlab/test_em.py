"""gmmem: cycles, convergence, errors and resets of covariances."""

from __future__ import annotations

import warnings
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from ceiba import GaussianMixture, datasets
from ceiba.compat.netlab import gmm, gmmem, gmmprob, gmmsamp
from tests.budget import examples
from tests.compat.netlab import netlab_naive as naive
from tests.compat.netlab.netlab_naive import TYPES, quiet, some_mix

EPS = np.finfo(float).eps


def rows_of(covar_type, seed, n=60):
    """Draw rows of one mixture, and another mixture to start from."""
    x, _ = gmmsamp(some_mix(covar_type, 3, 3, seed), n, random_state=seed)
    mix = some_mix(covar_type, 3, 3, seed + 1)
    mix.centres = x[[0, n // 2, n - 1]]
    return x, mix


@pytest.mark.parametrize("covar_type", TYPES)
@examples(8)
@given(seed=st.integers(0, 1000))
def test_cycles_equal_the_formulas(covar_type, seed):
    x, mix = rows_of(covar_type, seed)
    for _ in range(3):
        expected, before = naive.cycle(mix, x), naive.error(mix, x)
        assume(np.linalg.eigvalsh(expected.covariances).min() > 1e-3)  # no collapse
        mix, options, errlog = gmmem(mix, x, quiet(1))
        np.testing.assert_allclose(mix.priors, expected.priors, rtol=1e-8)
        np.testing.assert_allclose(mix.centres, expected.centres, rtol=1e-8, atol=1e-10)
        for j in range(3):
            np.testing.assert_allclose(
                naive.covariance(mix, j), expected.covariances[j], rtol=1e-7, atol=1e-9
            )
        np.testing.assert_allclose(errlog, [before], rtol=1e-10)
        np.testing.assert_allclose(options[7], naive.error(mix, x), rtol=1e-10)


@pytest.mark.parametrize("covar_type", TYPES)
def test_many_cycles_equal_many_calls(covar_type):
    x, mix = rows_of(covar_type, 3)
    whole, options, errlog = gmmem(mix, x, quiet(6, _2=0))
    assert errlog.shape == (6,)
    single, logged = mix, []
    for _ in range(6):
        single, _, one = gmmem(single, x, quiet(1))
        logged.append(one[0])
    np.testing.assert_allclose(errlog, logged, rtol=1e-12)
    np.testing.assert_allclose(whole.centres, single.centres, rtol=1e-9)
    np.testing.assert_allclose(whole.covars, single.covars, rtol=1e-9)
    assert options[7] < errlog[-1]


@pytest.mark.parametrize("covar_type", TYPES)
def test_error_never_increases(covar_type):
    x, mix = rows_of(covar_type, 11, n=200)
    mix, options, errlog = gmmem(mix, x, quiet(60, _2=0))
    assert len(errlog) == 60
    assert (np.diff(errlog) <= 1e-9 * abs(errlog[0])).all()
    np.testing.assert_allclose(options[7], -np.log(gmmprob(mix, x)).sum(), rtol=1e-10)


def test_principal_axes_are_in_descending_order():
    mix = some_mix("ppca", 4, 2, 0)
    x, _ = gmmsamp(mix, 400, random_state=0)
    mix, _, _ = gmmem(mix, x, quiet(20, _2=0))
    assert (np.diff(mix.lambda_, axis=1) <= 0).all()
    assert (mix.lambda_[:, -1] > mix.covars).all()
    for j in range(2):
        u = mix.U[:, :, j]
        np.testing.assert_allclose(u.T @ u, np.eye(2), atol=1e-10)
        turned = naive.covariance(mix, j) @ u
        np.testing.assert_allclose(turned, u * mix.lambda_[j], rtol=1e-8, atol=1e-10)


def test_converges_by_the_absolute_change_of_the_error():
    x, mix = rows_of("full", 7, n=300)
    _, _, every = gmmem(mix, x, quiet(80, _2=0))
    for precision in (10.0, 0.1, 1e-3):
        stopped = 1 + int(np.argmax(np.abs(np.diff(every)) < precision)) + 1
        found, options, errlog = gmmem(mix, x, quiet(80, _2=precision))
        assert len(errlog) == stopped < 80
        np.testing.assert_allclose(errlog, every[:stopped], rtol=1e-12)
        assert options[7] == errlog[-1]
        # The final error is that of the returned parameters.
        np.testing.assert_allclose(naive.error(found, x), options[7], rtol=1e-10)


def test_default_is_a_hundred_cycles():
    x, mix = rows_of("diag", 5)
    assert len(gmmem(mix, x, quiet(0, _2=0))[2]) == 100


def test_arguments_are_not_changed():
    x, mix = rows_of("ppca", 2)
    kept, options = deepcopy(mix), quiet(3)
    given = x.copy()
    found, returned, _ = gmmem(mix, x, options)
    for name in ("priors", "centres", "covars", "U", "lambda_"):
        np.testing.assert_array_equal(getattr(mix, name), getattr(kept, name))
        assert not np.shares_memory(getattr(mix, name), getattr(found, name))
    np.testing.assert_array_equal(x, given)
    assert options[7] == 0
    assert np.flatnonzero(returned != options).tolist() == [7]


def test_display_option(capsys):
    x, mix = rows_of("spherical", 1)
    options = quiet(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gmmem(mix, x, options)
    assert capsys.readouterr().out == ""
    options[0] = 0
    with pytest.warns(ConvergenceWarning, match="EM did not converge in 3 cycles") as warned:
        gmmem(mix, x, options)
    assert warned[0].filename == __file__
    assert capsys.readouterr().out == ""
    options[0] = 1
    with pytest.warns(ConvergenceWarning):
        _, _, errlog = gmmem(mix, x, options)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"Cycle {n:4d}  Error {e:11.6f}" for n, e in enumerate(errlog, 1)]
    options[[2, 13]] = 1e6, 5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(gmmem(mix, x, options)[2]) == 2


# Two columns: ten rows on one point or line, and others far away.
POINT = np.vstack([np.full((10, 2), 3.0), 100 + np.random.default_rng(0).normal(size=(20, 2))])
LINE = POINT + np.outer(np.r_[np.arange(10.0), np.zeros(20)], [1.0, 1.0])


def collapsing(covar_type, x):
    mix = gmm(2, 2, covar_type)
    mix.centres = [x[:10].mean(axis=0), [100.0, 100.0]]
    return mix


@pytest.mark.parametrize(
    ("covar_type", "x"),
    [(covar_type, POINT) for covar_type in TYPES] + [("full", LINE), ("ppca", LINE)],
)
def test_collapsed_covariances_are_reset(covar_type, x):
    mix = collapsing(covar_type, x)
    found, options, errlog = gmmem(mix, x, quiet(5, _2=0, _4=1))
    np.testing.assert_allclose(
        naive.covariance(found, 0), naive.covariance(mix, 0), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(found.centres[0], x[:10].mean(axis=0))
    assert not np.allclose(naive.covariance(found, 1), naive.covariance(mix, 1))
    assert np.isfinite(errlog).all()
    np.testing.assert_allclose(options[7], naive.error(found, x), rtol=1e-10)
    with pytest.raises(ValueError, match="the covariance of a component is not positive definite"):
        gmmem(mix, x, quiet(5, _2=0))


def test_reset_is_below_machine_precision():
    x = np.vstack([[[3.0], [3.0 + 1e-6]], 100 + np.arange(9.0).reshape(9, 1)])
    mix = gmm(1, 2, "spherical")
    mix.centres = [[3.0], [104.0]]
    found, _, _ = gmmem(mix, x, quiet(4, _2=0, _4=1))
    assert EPS < found.covars[0] < 1e-12  # small, but not too small
    x[1] = 3.0 + 1e-8
    found, _, _ = gmmem(mix, x, quiet(4, _2=0, _4=1))
    assert found.covars[0] == 1.0


def test_component_without_rows():
    x = np.random.default_rng(0).normal(size=(30, 2))
    for covar_type in TYPES:
        mix = gmm(2, 2, covar_type)
        mix.centres = [[0.0, 0.0], [1e6, 1e6]]
        found, _, errlog = gmmem(mix, x, quiet(3, _2=0, _4=1))
        assert found.priors.tolist() == [1.0, 0.0]
        assert found.centres[1].tolist() == [1e6, 1e6]
        np.testing.assert_allclose(naive.covariance(found, 1), naive.covariance(mix, 1))
        assert np.isfinite(errlog).all()
        with pytest.raises(ValueError, match="not positive definite"):
            gmmem(mix, x, quiet(3, _2=0))


@pytest.mark.parametrize("covar_type", ["spherical", "diag", "full"])
def test_em_equals_the_estimator(covar_type):
    X, _ = datasets.load("iris")
    mix = gmm(4, 3, covar_type)
    mix.centres = X[[0, 60, 120]]
    start = mix.gaussians().covariances
    found, options, _ = gmmem(mix, X, quiet(15, _2=0))
    if covar_type == "spherical":
        start = start[:, 0]
    model = GaussianMixture(
        3, covariance_type=covar_type, tol=0, max_iter=15, covariance_floor=1e-12,
        weights_init=mix.priors, means_init=mix.centres,
        precisions_init=start,  # the identity, or ones: its own inverse
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    np.testing.assert_allclose(found.centres, model.means_, rtol=1e-9)
    np.testing.assert_allclose(found.priors, model.weights_, rtol=1e-9)
    np.testing.assert_allclose(found.covariances_.reshape(3, -1)[:, 0],
                               model.covariances_.reshape(3, -1)[:, 0], rtol=1e-8)  # fmt: skip
    np.testing.assert_allclose(options[7], -model.log_likelihood_, rtol=1e-10)
