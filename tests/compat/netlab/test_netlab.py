"""The Netlab bridge: structure, densities, samples, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import plots
from ceiba.compat import netlab
from ceiba.compat.netlab import foptions, gmm, gmmactiv, gmmpost, gmmprob, gmmsamp
from tests.budget import examples
from tests.compat.netlab import netlab_naive as naive
from tests.compat.netlab.netlab_naive import TYPES, quiet, some_mix


def test_foptions():
    options = foptions()
    assert options.dtype == np.float64
    defaults = {2: 1e-4, 3: 1e-4, 4: 1e-6, 16: 1e-8, 17: 0.1}  # MATLAB's indices
    assert options.tolist() == [defaults.get(index, 0.0) for index in range(1, 19)]
    options[13] = 7
    assert foptions()[13] == 0


@pytest.mark.parametrize(
    ("covar_type", "shape", "numbers"),
    [
        ("spherical", (4,), 4 + 4 * 3 + 4),
        ("diag", (4, 3), 4 + 4 * 3 + 4 * 3),
        ("full", (3, 3, 4), 4 + 4 * 3 + 4 * 9),
        ("ppca", (4,), 4 + 4 * 3 + 4 + 4 * 2 + 4 * 3 * 2),
    ],
)
def test_new_mixture(covar_type, shape, numbers):
    mix = gmm(3, 4, covar_type, 2 if covar_type == "ppca" else None, random_state=1)
    assert (mix.type, mix.nin, mix.ncentres, mix.covar_type) == ("gmm", 3, 4, covar_type)
    assert mix.priors.tolist() == [0.25] * 4
    assert mix.centres.shape == (4, 3)
    assert mix.covars.shape == shape
    assert mix.nwts == numbers
    if covar_type == "ppca":
        assert (mix.ppca_dim, mix.U.shape, mix.lambda_.shape) == (2, (3, 2, 4), (4, 2))
        assert mix.lambda_.tolist() == [[1.0, 1.0]] * 4
        assert mix.covars.tolist() == [0.1] * 4
        for j in range(4):
            np.testing.assert_allclose(mix.U[:, :, j].T @ mix.U[:, :, j], np.eye(2), atol=1e-12)
            # Netlab's own axes are in the span of these.
            columns = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
            inside = mix.U[:, :, j] @ mix.U[:, :, j].T @ columns
            np.testing.assert_allclose(inside, columns, atol=1e-12)
    else:
        assert (mix.ppca_dim, mix.U, mix.lambda_) == (None, None, None)
        for j in range(4):
            assert naive.covariance(mix, j).tolist() == np.eye(3).tolist()


def test_centres_are_standard_normal():
    centres = gmm(50, 400, "spherical", random_state=0).centres
    assert abs(centres.mean()) < 0.03
    assert abs(centres.std() - 1) < 0.02


def test_ppca_dim_is_one_by_default():
    assert gmm(4, 2, "ppca").ppca_dim == 1


@pytest.mark.parametrize("covar_type", TYPES)
@examples(10)
@given(seed=st.integers(0, 10_000), d=st.integers(1, 4), k=st.integers(1, 4))
def test_densities_equal_the_formulas(covar_type, seed, d, k):
    mix = some_mix(covar_type, max(d, 2) if covar_type == "ppca" else d, k, seed)
    x = 2 * np.random.default_rng(seed + 1).standard_normal((9, mix.nin))
    a = naive.activations(mix, x)
    np.testing.assert_allclose(gmmactiv(mix, x), a, rtol=1e-9)
    np.testing.assert_allclose(gmmprob(mix, x), a @ mix.priors, rtol=1e-9)
    post, again = gmmpost(mix, x)
    np.testing.assert_allclose(post, naive.posteriors(mix, x), rtol=1e-8, atol=1e-14)
    np.testing.assert_array_equal(again, gmmactiv(mix, x))


def test_posteriors_where_densities_underflow():
    mix = gmm(1, 2, "spherical")
    mix.centres = [[0.0], [1.0]]
    post, a = gmmpost(mix, [[-100.0], [200.0]])
    assert a.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(post, [[1, 0], [0, 1]], atol=1e-12)
    assert gmmprob(mix, [[-100.0]]).tolist() == [0.0]


def test_prior_of_zero():
    mix = some_mix("diag", 2, 3, 0)
    mix.priors = [0.4, 0.6, 0.0]
    x = np.random.default_rng(0).standard_normal((5, 2))
    post, a = gmmpost(mix, x)
    assert (post[:, 2] == 0).all()
    assert (a[:, 2] > 0).all()
    np.testing.assert_allclose(gmmprob(mix, x), a[:, :2] @ [0.4, 0.6])


@pytest.mark.parametrize("covar_type", TYPES)
def test_samples_follow_the_mixture(covar_type):
    mix = some_mix(covar_type, 3, 3, 5)
    data, label = gmmsamp(mix, 60_000, random_state=0)
    assert data.shape == (60_000, 3)
    assert (np.diff(label) >= 0).all()
    np.testing.assert_allclose(np.bincount(label) / 60_000, mix.priors, atol=0.01)
    for j in range(3):
        mine = data[label == j]
        np.testing.assert_allclose(mine.mean(axis=0), mix.centres[j], atol=0.08)
        np.testing.assert_allclose(np.cov(mine.T), naive.covariance(mix, j), atol=0.2)


def test_global_state_seeds_the_draws():
    def script():
        np.random.seed(42)  # noqa: NPY002 - it replaces randn('state', 42)
        mix = gmm(2, 3, "diag")
        data, _ = gmmsamp(mix, 30)
        mix = netlab.gmminit(mix, data, quiet(3))
        return mix.centres, data

    for first, second in zip(script(), script(), strict=True):
        np.testing.assert_array_equal(first, second)
    assert not np.array_equal(gmm(2, 3, "diag").centres, gmm(2, 3, "diag").centres)
    state = np.random.RandomState(3)
    assert not np.array_equal(
        gmm(1, 1, "diag", random_state=state).centres, gmm(1, 1, "diag", random_state=state).centres
    )


def test_accepts_matlab_shapes_and_lists():
    mix = some_mix("spherical", 2, 3, 1)
    x = [[0.0, 1.0], [2.0, 3.0]]
    expected = gmmprob(mix, x)
    mix.priors, mix.covars = mix.priors[None, :].tolist(), mix.covars[:, None]
    mix.centres = mix.centres.tolist()
    assert (mix.priors.shape, mix.covars.shape, mix.centres.shape) == ((3,), (3,), (3, 2))
    np.testing.assert_array_equal(gmmprob(mix, x), expected)
    np.testing.assert_array_equal(gmmprob(mix, np.array(x, dtype=int)), expected)
    np.testing.assert_array_equal(gmmprob(mix, x[0]), expected[:1])  # one row
    line = gmm(1, 1, "spherical", random_state=0)
    assert gmmprob(line, [1.0, 2.0, 3.0]).shape == (3,)  # one column


def test_fields_are_copied():
    mix, centres = gmm(1, 2, "diag"), np.array([[1], [2]])
    mix.centres = centres
    centres[0] = 9
    assert mix.centres.tolist() == [[1.0], [2.0]]
    mix.centres[0] = 0.5  # as mix.centres(1, :) = 0.5
    assert mix.centres.tolist() == [[0.5], [2.0]]


def test_plots_accept_a_mix():
    mix = some_mix("ppca", 2, 2, 3)
    x, _ = gmmsamp(mix, 50, random_state=0)
    assert "Mix, 2 components of 50 rows" in plots.mixture(mix, x).axes[0].get_title(loc="left")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 2, "tied"), "covar_type must be one of .*, got 'tied'"),
        ((0, 2, "full"), "dim must be an int >= 1, got 0"),
        ((2, 1.5, "full"), "ncentres must be an int >= 1, got 1.5"),
        ((2, 2, "full", 1), "'ppca_dim' has no effect with covar_type='full'"),
        ((2, 2, "ppca", 2), "ppca_dim must be less than dim=2, got 2"),
        ((2, 2, "ppca", 0), "ppca_dim must be an int >= 1, got 0"),
    ],
)
def test_invalid_mixtures_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        gmm(*arguments)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1.0, 2.0, 3.0]], r"x must have shape \(n, 2\), got \(1, 3\)"),
        ([1.0, 2.0, 3.0], r"x must have shape \(n, 2\), got \(3,\)"),
        (np.empty((0, 2)), "x must have at least one row"),
        ([[1.0, np.nan]], "x contains NaN or infinity.*ceiba.GaussianMixture"),
        ([["a", "b"]], "x must be an array of numbers"),
        (np.zeros((2, 2, 2)), r"x must have shape \(n, 2\), got \(2, 2,"),
    ],
)
def test_invalid_rows_raise(x, message):
    mix = gmm(2, 2, "full")
    for function in (gmmprob, gmmpost, gmmactiv):
        with pytest.raises(ValueError, match=message):
            function(mix, x)
    for train in (netlab.gmmem, netlab.gmminit):
        with pytest.raises(ValueError, match=message):
            train(mix, x, quiet())


@pytest.mark.parametrize(
    ("covar_type", "field", "value", "message"),
    [
        ("full", "priors", [0.5, 0.4], "sum to 1, got numbers that sum to 0.9"),
        ("full", "priors", [1.5, -0.5], r"mix\.priors must be >= 0 and sum to 1,"),
        ("full", "priors", [1.0], r"mix.priors must have shape \(2,\), got \(1,\)"),
        ("full", "centres", [[0.0, 0.0]], r"mix.centres must have shape \(2, 2\), got \(1, 2\)"),
        ("full", "covars", np.ones((2, 2)), r"mix\.covars must have shape \(2, 2, 2\), got \(2,"),
        ("full", "covars", np.ones((2, 2, 2)), "positive definite"),
        ("full", "covars", np.arange(8.0).reshape(2, 2, 2), "symmetric"),
        ("full", "covars", np.full((2, 2, 2), np.nan), "mix.covars contains NaN"),
        ("diag", "covars", [[1.0, 0.0], [1.0, 1.0]], "must be positive"),
        ("spherical", "covars", [1.0, 1.0, 1.0], r"mix.covars must have shape \(2,\), got \(3,\)"),
        ("ppca", "U", np.ones((2, 1, 2)), "orthonormal"),
        ("ppca", "U", None, "mix.U"),
        ("ppca", "lambda_", [[0.05], [0.05]], "not be less than mix.covars"),
        ("ppca", "ppca_dim", None, r"mix\.ppca_dim must be set: make the mix by gmm\(dim,"),
        ("full", "covar_type", "tied", "covar_type must be one of"),
    ],
)
def test_invalid_fields_raise(covar_type, field, value, message):
    for use in (lambda mix: gmmprob(mix, [[0.0, 0.0]]), lambda mix: gmmsamp(mix, 2)):
        mix = gmm(2, 2, covar_type)
        with pytest.raises(ValueError, match=message):  # noqa: PT012 - one of the two raises
            setattr(mix, field, value)
            use(mix)


def test_invalid_arguments_raise():
    with pytest.raises(TypeError, match="made by gmm"):
        gmmprob({"centres": [[0.0]]}, [[0.0]])
    for n in (0, 2.5, "3"):
        with pytest.raises(ValueError, match="n must be an int >= 1"):
            gmmsamp(gmm(1, 1, "full"), n)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (np.zeros(14), "options must be 18 numbers: start from foptions"),
        ("none", "options must be 18 numbers"),
        (np.full(18, np.nan), "finite"),
        (quiet(-1), r"options\[13\] must be an int >= 1, or 0 for 100 cycles, got -1"),
        (quiet(2.5), r"options\[13\] must be an int >= 1, or 0"),
    ],
)
def test_invalid_options_raise(options, message):
    mix, x = gmm(1, 1, "full"), [[0.0], [1.0]]
    for train in (netlab.gmmem, netlab.gmminit):
        with pytest.raises(ValueError, match=message):
            train(mix, x, options)
    with pytest.raises(ValueError, match=message):
        netlab.kmeans([[0.0]], x, options)
