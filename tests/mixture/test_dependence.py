"""Linearly dependent columns are named, and the advice of the messages works."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ceiba import GaussianMixture, GaussianMixtureClassifier, scan
from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit
from ceiba.mixture.events import CollapsedComponentWarning
from ceiba.stats.dependence import describe_dependences, find_dependences

ROWS = np.random.default_rng(0).normal(size=(120, 4)) * [1.0, 10.0, 0.1, 3.0] + [5.0, 0, 0, -2.0]


def pelvic(n=310):
    """Return rows as of the vertebral columns: incidence is tilt + slope, rounded to 1e-8."""
    random = np.random.default_rng(1)
    tilt, slope = random.normal(17.5, 10, n), random.normal(43, 13, n)
    others = random.normal([52, 118, 26], [18, 13, 37], (n, 3))
    return np.c_[tilt + slope, tilt, others[:, 0], slope, others[:, 1:]].round(8)


def sentences(X, tolerance=0.0):
    names = [f"c{j}" for j in range(X.shape[1])]
    found = find_dependences(X.mean(axis=0), np.cov(X.T, bias=True), names, tolerance)
    return [str(one) for one in found]


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (ROWS, []),
        (np.c_[ROWS, np.ones(120)], []),
        (np.c_[ROWS, ROWS[:, 1]], ["columns 'c1', 'c4' are linearly dependent: c1 = c4"]),
        (
            np.c_[ROWS[:, 0] + ROWS[:, 3], ROWS],
            ["columns 'c0', 'c1', 'c4' are linearly dependent: c0 = c1 + c4"],
        ),
        (
            np.c_[ROWS, 3.0 - 2.5 * ROWS[:, 2]],
            ["columns 'c2', 'c4' are linearly dependent: c2 = -0.4 c4 + 1.2"],
        ),
        (
            np.c_[ROWS[:, :2], 2e6 * ROWS[:, 1]],
            ["columns 'c1', 'c2' are linearly dependent: c1 = 5e-07 c2"],
        ),
        (
            np.c_[ROWS, ROWS[:, 0] - ROWS[:, 1], 2 * ROWS[:, 3]],
            [
                "columns 'c0', 'c1', 'c4' are linearly dependent: c0 = c1 + c4",
                "columns 'c3', 'c5' are linearly dependent: c3 = 0.5 c5",
            ],
        ),
    ],
    ids=["none", "constant", "copy", "sum", "affine", "other units", "two sets"],
)
def test_smallest_sets_and_equations(X, expected):
    assert sentences(X) == expected


def test_near_dependence():
    noise = np.random.default_rng(3).normal(size=120)
    X = np.c_[ROWS, ROWS[:, 0] + 1e-3 * noise]
    assert sentences(X) == []
    assert sentences(X, 1e-5)[0].startswith("columns 'c0', 'c4' are nearly linearly dependent")


@pytest.mark.parametrize("tolerance", [0.01, 1.0, 9.0])
def test_a_large_tolerance_makes_no_column_dependent(tolerance):
    """10 times a covariance_floor close to 1."""
    assert sentences(ROWS, tolerance) == []
    assert find_dependences(np.zeros(3), np.eye(3), ["a", "b", "c"], tolerance) == []


def test_many_columns():
    """Three of 300 columns depend on one another; a long sentence is shortened."""
    X = np.random.default_rng(4).normal(size=(1000, 300))
    X[:, 200] = X[:, 7] + 4 * X[:, 90]
    assert sentences(X) == ["columns 'c7', 'c90', 'c200' are linearly dependent: c200 = c7 + 4 c90"]
    X[:, 201:] = X[:, :99]
    found = find_dependences(X.mean(axis=0), np.cov(X.T, bias=True), list(map(str, range(300))))
    assert len(found) == 100
    text = describe_dependences(found)
    assert text.endswith("; and 97 more such sets. Drop one of each set.")


def test_mixture_names_dependent_columns_and_dropping_one_helps(tmp_path):
    X = pelvic()
    names = "Columns 'x0', 'x1', 'x3' are linearly dependent: x0 = x1 \\+ x3. Drop one of them."
    with pytest.warns(CollapsedComponentWarning, match=names):
        GaussianMixture(2).fit(X)
    with pytest.raises(ValueError, match=names):
        GaussianMixture(2, covariance_floor=0.0).fit(X)
    path = tmp_path / "pelvic.csv"
    header = "incidence,tilt,angle,slope,radius,degree"
    np.savetxt(path, X, delimiter=",", header=header, comments="", fmt="%.8f")
    with pytest.warns(CollapsedComponentWarning, match="incidence = tilt \\+ slope"):
        GaussianMixture(2).fit(scan(path))
    labels = X[:, 2] > 50
    with pytest.warns(CollapsedComponentWarning, match=names):
        GaussianMixtureClassifier().fit(X, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for column in (0, 1, 3):
            GaussianMixture(2, max_iter=300).fit(np.delete(X, column, axis=1))
        GaussianMixture(2, covariance_type="diag", max_iter=300).fit(X)


def test_few_rows_are_the_cause():
    with pytest.warns(CollapsedComponentWarning, match="only 4 rows for 6 columns"):
        GaussianMixture(1).fit(pelvic()[:4])


def test_floor_of_zero_sets_no_minimum():
    """The likelihood of separated components is the same without a floor."""
    X = np.r_[ROWS, ROWS + 100.0]
    free, floored = (GaussianMixture(2, covariance_floor=f).fit(X) for f in (0.0, 1e-6))
    np.testing.assert_array_equal(free.covariances_, floored.covariances_)
    assert len(free.fit_events_) == 0
    # A component with a variance of 1e-9 of the data's: at the floor of 1e-6, free without one.
    narrow = np.r_[ROWS, 50 + 1e-4 * ROWS]
    free = GaussianMixture(2, covariance_type="diag", covariance_floor=0.0).fit(narrow)
    tight = int(np.argmin(free.covariances_[:, 1]))
    np.testing.assert_allclose(free.covariances_[tight], 1e-8 * ROWS.var(axis=0), rtol=1e-6)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical", "VEI", "EVV", "VEV"])
def test_floor_of_zero_raises_where_a_component_collapses(form):
    X = np.r_[ROWS, np.repeat([[50.0, 50.0, 50.0, 50.0]], 20, axis=0)]
    start = np.repeat([[1.0, 0.0], [0.0, 1.0]], [120, 20], axis=0)
    model = GaussianMixture(
        2, covariance_type=form, covariance_floor=0.0, responsibilities_init=start
    )
    if form in ("tied", "VEI", "VEV"):  # they share a shape that is not singular
        assert np.isfinite(model.fit(X).lower_bound_)
        return
    with pytest.raises(ValueError, match=r"covariance_floor=0 is too low .* Set it to 1e-6"):
        model.fit(X)
    with pytest.warns(CollapsedComponentWarning):
        model.set_params(covariance_floor=1e-6).fit(X)


@pytest.mark.filterwarnings("ignore:constant columns")
def test_floor_of_zero_names_constant_columns():
    X = np.c_[ROWS, np.full(120, 7.0)]
    with pytest.raises(ValueError, match=r"Constant columns: 'x4'. Drop them."):
        GaussianMixture(1, covariance_floor=0.0).fit(X)
    assert np.isfinite(GaussianMixture(1, covariance_floor=0.0, reg_covar=0.1).fit(X).lower_bound_)


def netlab(X, switch, display=-1):
    options = foptions()
    options[[0, 4]] = display, switch
    start = gmminit(gmm(X.shape[1], 2, "full", random_state=0), X, options, random_state=0)
    return gmmem(start, X, options)


def test_netlab_names_dependent_columns_and_its_advice_helps():
    X = pelvic()
    equation = r"x\[:, 0\] = x\[:, 1\] \+ x\[:, 3\]. Drop one of them."
    with pytest.raises(ValueError, match=rf"set options\[4\] = 1 .*{equation}"):
        netlab(X, 0)
    mix, options, _ = netlab(X, 1)
    assert np.isfinite(options[7])
    assert np.linalg.eigvalsh(mix.covars[:, :, 0])[0] > 1e-6
    with pytest.warns(CollapsedComponentWarning, match=equation):
        netlab(X, 1, display=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        netlab(X[:, 1:], 0)
