"""Naive M steps: each is the maximum within its form, above the floor too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from tests.oracles import mixture_naive as naive
from tests.oracles.mixture_forms import (
    FORMS,
    covariance_parameters,
    eigen,
    root,
    solve,
    solve_raised,
)
from tests.oracles.mixture_scatters import random_scatters


def perturbed(form, covariances, q, rng, size):
    """Nearby covariances of the same form: perturbed volumes, shapes and axes."""
    d = covariances.shape[1]
    if form == "ppca":
        return np.array([nearby_latent(c, q, rng, size) for c in covariances])
    volume, shape, axes = form
    one_factor, one_shape, one_turn = rng.normal(), rng.normal(size=d), rng.normal(size=(d, d))
    found = []
    for c in covariances:
        factor = one_factor if volume == "E" else rng.normal()
        stretch = {"I": np.zeros(d), "E": one_shape, "V": rng.normal(size=d)}[shape]
        turn = {"I": np.zeros((d, d)), "E": one_turn, "V": rng.normal(size=(d, d))}[axes]
        if axes == "I":
            values, vectors = np.diag(c), np.eye(d)
        else:
            values, vectors = eigen(c)
        values = values * np.exp(size * (factor + stretch - stretch.mean()))
        vectors = expm(size * (turn - turn.T)) @ vectors
        found.append(vectors @ np.diag(values) @ vectors.T)
    return np.array(found)


def nearby_latent(covariance, q, rng, size):
    d = len(covariance)
    values, vectors = eigen(covariance)
    values[:q] *= np.exp(size * rng.normal(size=q))
    values[q:] *= np.exp(size * rng.normal())
    turn = rng.normal(size=(d, d))
    vectors = expm(size * (turn - turn.T)) @ vectors
    return vectors @ np.diag(values) @ vectors.T


def expected_likelihood(N, W, covariances):
    """Expected complete-data log-likelihood, up to terms without covariances."""
    return -0.5 * sum(
        n * np.linalg.slogdet(c)[1] + np.trace(np.linalg.solve(c, w))
        for n, w, c in zip(N, W, covariances, strict=True)
    )


@pytest.mark.parametrize("q", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_m_step_is_a_maximum_within_its_form(form, q):
    rng = np.random.default_rng(FORMS.index(form))
    for _ in range(3):
        N, W = random_scatters(rng)
        best = solve(form, N, W, q)
        top = expected_likelihood(N, W, best)
        np.testing.assert_allclose(perturbed(form, best, q, rng, 0.0), best, rtol=0, atol=1e-10)
        for size in (1e-4, 1e-2, 0.1, 1.0):
            for _ in range(12):
                near = perturbed(form, best, q, rng, size)
                assert expected_likelihood(N, W, near) <= top + 1e-9


@pytest.mark.parametrize("form", [form for form in FORMS if form != "ppca"])
def test_equal_letters_are_equal_and_identities_diagonal(form):
    volume, shape, axes = form
    covariances = solve(form, *random_scatters(np.random.default_rng(5)))
    volumes = [root(c) for c in covariances]
    values = np.array([eigen(c)[0] / v for c, v in zip(covariances, volumes, strict=True)])
    assert (np.ptp(volumes) < 1e-10) == (volume == "E")
    assert (np.ptp(values, axis=0).max() < 1e-10) == (shape != "V")
    assert (np.abs(values - 1).max() < 1e-10) == (shape == "I")
    assert (np.abs(covariances * (1 - np.eye(3))).max() < 1e-10) == (axes == "I")
    if axes == "E":
        scaled = covariances / np.array(volumes)[:, None, None]
        assert np.ptp(scaled, axis=0).max() < 1e-10


def test_eigenvalues_keep_their_digits_in_uneven_units():
    """The smallest eigenvalue is one over the largest of the inverse."""
    rng = np.random.default_rng(9)
    units = 10.0 ** np.array([-4.0, 3.0, 0.0, -2.0, 4.0])
    matrix = random_scatters(rng, 1, 5)[1][0] * np.outer(units, units)
    values, vectors = eigen(matrix)
    assert 1 / eigen(np.linalg.inv(matrix))[0][0] == pytest.approx(values[-1], rel=1e-9)
    scale = np.sqrt(np.diag(matrix))
    again = vectors @ np.diag(values) @ vectors.T
    np.testing.assert_allclose(again, matrix, rtol=0, atol=1e-12 * np.outer(scale, scale).max())


@pytest.mark.parametrize("form", FORMS)
def test_one_component_needs_no_letters(form):
    """With one component a form is a spherical, diagonal or full matrix."""
    rng = np.random.default_rng(6)
    N, W = random_scatters(rng, k=1)
    kind = form if form == "ppca" else {"I": "VVI", "E": "VVV", "V": "VVV"}[form[2]]
    kind = "VII" if form[1] == "I" else kind
    np.testing.assert_allclose(solve(form, N, W), solve(kind, N, W), rtol=1e-10, atol=1e-12)
    assert covariance_parameters(form, 1, 3) == covariance_parameters(kind, 1, 3)


def test_numbers_of_parameters_match_the_paper():
    """Celeux & Govaert (1995), table 1, less the parts of means and weights; K = 3, d = 4."""
    expected = {"EII": 1, "VII": 3, "EEI": 4, "VEI": 6, "EVI": 10, "VVI": 12}
    expected |= {"EEE": 10, "VEE": 12, "EVV": 28, "EEV": 22, "VEV": 24, "VVV": 30}
    assert {form: covariance_parameters(form, 3, 4) for form in expected} == expected
    # Loadings d q, noise 1, minus rotations q (q - 1) / 2; with q = d - 1 it is a full matrix.
    assert covariance_parameters("ppca", 3, 4, 2) == 3 * (8 + 1 - 1)
    assert covariance_parameters("ppca", 3, 4, 3) == covariance_parameters("VVV", 3, 4)
    assert naive.n_parameters("VVV", 3, 4) == 30 + 12 + 2


@pytest.mark.parametrize("form", FORMS)
def test_floor_and_reg_covar_are_respected(form):
    N, W = random_scatters(np.random.default_rng(7))
    s2 = np.array([1.0, 4.0, 0.25])
    floor = 2.0
    scale = np.full(3, s2.mean()) if form in ("EII", "VII", "ppca") else s2
    found = solve_raised(form, N, W, 1, 0.0, floor, s2)
    for c in found:
        smallest = np.linalg.eigvalsh(c / np.sqrt(np.outer(scale, scale))).min()
        assert smallest >= floor * (1 - 1e-10)
    plain = solve(form, N, W)
    np.testing.assert_allclose(
        solve_raised(form, N, W, 1, 0.5, 0.0, s2), plain + 0.5 * np.eye(3), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("form", ["EII", "VII", "EEI", "VVI", "EEE", "VVV", "ppca"])
def test_floor_is_the_constrained_maximum(form):
    """The raised covariance has the largest likelihood of those above the floor."""
    rng = np.random.default_rng(8)
    N, W = random_scatters(rng)
    W = W * np.array([1.0, 1e-3, 1e-4])[:, None, None]
    s2, floor = np.ones(3), 0.3
    best = solve_raised(form, N, W, 1, 0.0, floor, s2)
    top = expected_likelihood(N, W, best)
    tried = 0
    for size in (1e-3, 1e-2, 0.1, 0.5):
        for _ in range(40):
            near = perturbed(form, best, 1, rng, size)
            if min(np.linalg.eigvalsh(c).min() for c in near) >= floor:
                tried += 1
                assert expected_likelihood(N, W, near) <= top + 1e-9
    assert tried
