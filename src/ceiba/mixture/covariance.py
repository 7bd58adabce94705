"""Covariance forms: what components share, and how the M step solves for it.

The letters are those of mclust: volume, shape and orientation, each equal (E) or varying (V)
between components, or the identity (I). Every solver takes the weight and the scatter of each
component's rows and returns one covariance per component.

References
----------
Celeux & Govaert (1995), "Gaussian parsimonious clustering models", Pattern Recognition 28.
Banfield & Raftery (1993), "Model-based Gaussian and non-Gaussian clustering", Biometrics 49.
Tipping & Bishop (1999), "Mixtures of probabilistic principal component analysers", Neural
Computation 11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from scipy.linalg.lapack import dpotrf

from ceiba._typing import Array
from ceiba.mixture import linalg

Solver = Callable[[Array, Array], Array]

# Relative change and iterations at which the volumes of iteratively solved forms are final.
_VOLUME_TOL, _MAX_VOLUME_ITER = 1e-12, 1000


@dataclass(frozen=True, slots=True)
class CovarianceForm:
    """One form of covariances."""

    name: str
    full: bool  # whether it needs whole scatter matrices, or their diagonals only
    solve: Solver  # ``solve(weights (k,), scatters)`` returns covariances of the scatters' shape
    # ``n_parameters(k, d)``: number of free parameters of k covariances.
    n_parameters: Callable[[int, int], int]
    isotropic: bool = False  # whether it has no axes of its own, so that columns share one scale
    # Scatters that must have full rank for the solver: none, each component's own, or their sum.
    regular: Literal["none", "own", "pooled"] = "none"
    n_latent: int = 0  # latent dimensions of probabilistic principal components; 0 for other forms

    def to_fitted(self, covariances: Array) -> Array:
        """Convert one covariance per component to the shape of ``covariances_``."""
        if self.name == "tied":
            return np.asarray(covariances[0].copy())
        if self.name in ("spherical", "EII"):
            return np.asarray(covariances[:, 0].copy())
        return covariances

    def from_fitted(self, covariances: Array, k: int, d: int) -> Array:
        """Convert ``covariances_`` to one covariance per component."""
        if self.name == "tied":
            return np.broadcast_to(covariances, (k, d, d)).copy()
        if self.name in ("spherical", "EII"):
            return np.broadcast_to(covariances[:, None], (k, d)).copy()
        return covariances

    def fitted_shape(self, k: int, d: int) -> tuple[int, ...]:
        """Return the shape of ``covariances_``."""
        if self.name == "tied":
            return (d, d)
        if self.name in ("spherical", "EII"):
            return (k,)
        return (k, d, d) if self.full else (k, d)


def _solve_pooled(weights: Array, scatters: Array) -> Array:
    pooled = scatters.sum(axis=0) / weights.sum()
    return np.broadcast_to(pooled, scatters.shape).copy()


def _solve_own(weights: Array, scatters: Array) -> Array:
    return np.asarray(scatters / weights.reshape(-1, *[1] * (scatters.ndim - 1)))


def _solve_equal_spherical(weights: Array, scatters: Array) -> Array:
    return np.full_like(scatters, scatters.sum() / (weights.sum() * scatters.shape[1]))


def _solve_own_spherical(weights: Array, scatters: Array) -> Array:
    volumes = scatters.mean(axis=1) / weights
    return np.broadcast_to(volumes[:, None], scatters.shape).copy()


def _volumes(scatters: Array) -> Array:
    """Compute |S|^(1/d) by logarithms: determinants of many columns overflow."""
    if scatters.shape[-1] == 0:
        return np.ones(len(scatters))
    if scatters.ndim == 2:
        return np.asarray(np.exp(np.log(scatters).mean(axis=1)))
    roots: Array = np.exp(np.linalg.slogdet(scatters)[1] / scatters.shape[-1])
    return roots


def _solve_equal_volume(weights: Array, scatters: Array) -> Array:
    """Solve EVI and EVV: own shapes, one volume."""
    own = _volumes(scatters)
    volume = own.sum() / weights.sum()
    return np.asarray(scatters * (volume / own).reshape(-1, *[1] * (scatters.ndim - 1)))


def _traces(scatters: Array, shape: Array) -> Array:
    """Compute tr(S_k B^-1)."""
    if scatters.ndim == 2:
        return np.asarray((scatters / shape).sum(axis=1))
    inverse = np.linalg.inv(shape)
    return np.asarray(np.einsum("kij,ji->k", scatters, inverse))


def _positive(volumes: Array) -> Array:
    """Raise zero volumes, as of a single row, to the smallest one of numerical effect."""
    return np.asarray(np.maximum(volumes, _VOLUME_TOL * volumes.max()))


def _solve_equal_shape(weights: Array, scatters: Array) -> Array:
    """Solve VEI and VEE: one shape (and orientation), own volumes, by alternation."""
    d = scatters.shape[-1]
    axes = [1] * (scatters.ndim - 1)
    identity = np.ones(d) if scatters.ndim == 2 else np.eye(d)
    volumes = _positive(_traces(scatters, identity) / (d * weights))
    for _ in range(_MAX_VOLUME_ITER):
        shape = (scatters / volumes.reshape(-1, *axes)).sum(axis=0)
        shape = shape / _volumes(shape[None])[0]
        previous, volumes = volumes, _positive(_traces(scatters, shape) / (d * weights))
        if (np.abs(volumes - previous) <= _VOLUME_TOL * previous).all():
            break
    return np.asarray(volumes.reshape(-1, *axes) * shape)


def _solve_own_axes(weights: Array, scatters: Array, diagonal: Solver) -> Array:
    """Solve EEV and VEV: own orientations; ordered eigenvalues by a diagonal form."""
    values, vectors = _eigh(scatters)
    values = np.maximum(values, np.finfo(np.float64).tiny)  # the solver takes logarithms
    return _from_eigen(vectors, diagonal(weights, values))


def _eigh(matrices: Array) -> tuple[Array, Array]:
    """Compute eigenvalues, ascending, and eigenvectors of matrices with columns of any units.

    With the columns in the order of their variances, largest first, small eigenvalues keep their
    digits: 4e-9 of them at worst where variances are 1e10 apart, against all digits unordered.
    """
    order = np.argsort(-np.diagonal(matrices, axis1=1, axis2=2), axis=1, kind="stable")
    by_rows = np.take_along_axis(matrices, order[:, :, None], axis=1)
    values, vectors = linalg.eigh(np.take_along_axis(by_rows, order[:, None, :], axis=2))
    reordered = np.empty_like(vectors)
    np.put_along_axis(reordered, order[:, :, None], vectors, axis=1)
    return values, reordered


def _from_eigen(vectors: Array, values: Array) -> Array:
    matrices = linalg.multiply_eigen(vectors, values)
    return 0.5 * (matrices + matrices.transpose(0, 2, 1))


def _solve_ppca(weights: Array, scatters: Array, n_latent: int) -> Array:
    """Solve PPCA: keep the largest ``n_latent`` eigenvalues, average the others."""
    values, vectors = _eigh(_solve_own(weights, scatters))
    n_noise = scatters.shape[-1] - n_latent
    values[:, :n_noise] = values[:, :n_noise].mean(axis=1, keepdims=True)
    return _from_eigen(vectors, values)


def _triangle(d: int) -> int:
    return d * (d + 1) // 2


_FORMS = {
    form.name: form
    for form in (
        CovarianceForm("full", True, _solve_own, lambda k, d: k * _triangle(d)),
        CovarianceForm("tied", True, _solve_pooled, lambda k, d: _triangle(d)),
        CovarianceForm("diag", False, _solve_own, lambda k, d: k * d),
        CovarianceForm("spherical", False, _solve_own_spherical, lambda k, d: k, isotropic=True),
        CovarianceForm("EII", False, _solve_equal_spherical, lambda k, d: 1, isotropic=True),
        CovarianceForm("EEI", False, _solve_pooled, lambda k, d: d),
        CovarianceForm("VEI", False, _solve_equal_shape, lambda k, d: k + d - 1, regular="pooled"),
        CovarianceForm(
            "EVI", False, _solve_equal_volume, lambda k, d: 1 + k * (d - 1), regular="own"
        ),
        CovarianceForm(
            "VEE", True, _solve_equal_shape, lambda k, d: k + _triangle(d) - 1, regular="pooled"
        ),
        CovarianceForm(
            "EVV", True, _solve_equal_volume, lambda k, d: 1 + k * (_triangle(d) - 1), regular="own"
        ),
        CovarianceForm(
            "EEV",
            True,
            partial(_solve_own_axes, diagonal=_solve_pooled),
            lambda k, d: d + k * _triangle(d - 1),
            regular="own",
        ),
        CovarianceForm(
            "VEV",
            True,
            partial(_solve_own_axes, diagonal=_solve_equal_shape),
            lambda k, d: k + d - 1 + k * _triangle(d - 1),
            regular="own",
        ),
    )
}
_ALIASES = {"VVV": "full", "EEE": "tied", "VVI": "diag", "VII": "spherical"}
_SHARED = {"full": "tied", "tied": "tied", "diag": "EEI", "EEI": "EEI"} | {
    "spherical": "EII",
    "EII": "EII",
}


def is_isotropic(name: str) -> bool:
    """Whether a ``covariance_type`` has no axes of its own, so that columns share one scale."""
    return name == "ppca" or _FORMS[_ALIASES.get(name, name)].isotropic


def covariance_form(name: str, n_latent: int, d: int) -> CovarianceForm:
    """Return the form of a ``covariance_type``; ``n_latent`` is for ``"ppca"`` alone."""
    if name != "ppca":
        return _FORMS[_ALIASES.get(name, name)]
    if n_latent >= d:
        raise ValueError(f"n_latent must be < n_features={d}, got {n_latent}.")
    return CovarianceForm(
        "ppca",
        True,
        partial(_solve_ppca, n_latent=n_latent),
        lambda k, d: k * (d * n_latent + 1 - n_latent * (n_latent - 1) // 2),
        isotropic=True,
        n_latent=n_latent,
    )


def principal_parts(covariances: Array, n_latent: int) -> tuple[Array, Array, Array]:
    """Split ``ppca`` covariances into axes (largest first), variances along them, and noise."""
    values, vectors = _eigh(covariances)
    axes = np.ascontiguousarray(vectors[:, :, ::-1][:, :, :n_latent])
    noise: Array = values[:, :-n_latent].mean(axis=1)
    return axes, np.ascontiguousarray(values[:, ::-1][:, :n_latent]), noise


def shared_form(name: str) -> CovarianceForm:
    """Return the form in which all components have one covariance."""
    own = _ALIASES.get(name, name)
    if own not in _SHARED:
        raise ValueError(
            "shared_covariance=True requires covariance_type='full', 'diag' or 'spherical', got "
            f"{name!r}."
        )
    return _FORMS[_SHARED[own]]


def is_symmetric(matrices: Array) -> bool:
    """Whether matrices are symmetric, to rounding relative to their diagonals."""
    diagonal = np.sqrt(np.abs(np.diagonal(matrices, axis1=-2, axis2=-1)))
    size = diagonal[..., :, None] * diagonal[..., None, :]
    return bool((np.abs(matrices - np.swapaxes(matrices, -1, -2)) <= 1e-6 * size).all())


def check_array(given: Any, shape: tuple[int, ...], name: str) -> Array:
    """Return an array of finite floats of a shape; raise for others."""
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers of shape {shape}.") from None
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite.")
    return array


def check_probabilities(given: Any, n: int, name: str) -> Array:
    """Return ``n`` probabilities, divided by their sum; raise unless they are >= 0 and sum to 1."""
    values = check_array(given, (n,), name)
    if (values < 0).any() or not np.isclose(values.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(
            f"{name} must be >= 0 and sum to 1, got {values.min():g} as the smallest and "
            f"{values.sum():g} as the sum."
        )
    return np.asarray(values / values.sum())


@dataclass(frozen=True, slots=True)
class CovarianceFloor:
    """Lower bound of covariances: a fraction of the variance of the data in any direction.

    In units of the data's standard deviations every eigenvalue of a covariance stays at or above
    ``fraction``; for diagonal covariances these are the variances themselves. A fraction of 0 is no
    bound, and singular covariances stay so. Raising lower ones is the maximum of the likelihood
    under this constraint, so that EM still increases the objective where components share nothing
    or everything; with forms that share a part it may decrease, and EM ends before it does.
    """

    fraction: float
    variances: Array  # shape (d,): variances of the columns
    # Minimum variance of constant columns, which does not count as floored; 0 for the others.
    constant_minimum: Array | None = None

    @classmethod
    def of(
        cls, fraction: float, variances: Array, constant: Array, isotropic: bool
    ) -> CovarianceFloor:
        """Return the floor for columns of these variances; ``constant`` marks constant columns.

        Isotropic forms have one scale for all columns: the mean variance.
        """
        if isotropic:
            return cls(fraction, np.full_like(variances, variances.mean()))
        minimum = fraction * variances * constant if constant.any() else None
        return cls(fraction, variances, minimum)

    def apply(self, covariances: Array) -> tuple[Array, Array]:
        """Return the covariances, raised where needed, and which components were raised."""
        if not self.fraction:
            return covariances, np.zeros(len(covariances), bool)
        if self.constant_minimum is not None and covariances.ndim == 3:
            columns = np.flatnonzero(self.constant_minimum)
            covariances = covariances.copy()
            raised = np.maximum(covariances[:, columns, columns], self.constant_minimum[columns])
            covariances[:, columns, columns] = raised
        if covariances.ndim == 2:
            minimum = self.fraction * self.variances
            low = covariances < minimum
            raised = np.maximum(covariances, minimum) if low.any() else covariances
            if self.constant_minimum is not None:
                low[:, self.constant_minimum > 0] = False
            return raised, np.asarray(low.any(axis=1))
        if self._all_above(covariances):
            return covariances, np.zeros(len(covariances), bool)
        return self._raise_eigenvalues(covariances)

    def _all_above(self, covariances: Array) -> bool:
        """Whether all are above the floor: their differences to it have Cholesky factors."""
        minimum = np.diag(self.fraction * self.variances)
        # One matrix at a time, which limits the memory for many columns.
        return not any(dpotrf(one - minimum, clean=0, overwrite_a=1)[1] for one in covariances)

    def _raise_eigenvalues(self, covariances: Array) -> tuple[Array, Array]:
        scale = np.sqrt(self.variances)
        units = scale[:, None] * scale
        values, vectors = linalg.eigh(covariances / units)
        # Eigenvalues below by rounding alone were raised before.
        low: Array = values[:, 0] < self.fraction * (1.0 - 1e-9)
        values = np.maximum(values, self.fraction)
        raised = linalg.multiply_eigen(vectors, values) * units
        raised = 0.5 * (raised + raised.transpose(0, 2, 1))
        return np.where(low[:, None, None], raised, covariances), low
