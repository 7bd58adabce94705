"""Forms of covariances: what components share, how the M step finds it, how many numbers it is.

Letters are those of mclust: volume, shape and orientation, each equal (E) or varying (V) between
components, or the identity (I). Every solver is given the weight of each component's rows and
their scatter and returns one covariance a component.

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

import numpy as np
from scipy.linalg.lapack import dpotrf

from ceiba._typing import Array

Solver = Callable[[Array, Array], Array]

_CLOSE, _MOST = 1e-12, 1000  # of the volumes of forms that are solved by iteration


@dataclass(frozen=True, slots=True)
class Form:
    """One form of covariances.

    Parameters
    ----------
    name : str
    full : bool
        Whether it needs whole scatter matrices, or their diagonals only.
    solve : callable
        ``solve(weights (k,), scatters)`` gives covariances of the scatters' shape.
    numbers : callable
        ``numbers(k, d)``: free parameters of k covariances.
    isotropic : bool
        Whether it has no axes of its own, so that columns share one scale.
    regular : {"", "own", "pooled"}
        Whose scatters must not vanish in any direction for it to be solved: nobody's, each
        component's own, or that of all together.
    n_latent : int
        Latent dimensions of probabilistic principal components; 0 for other forms.
    """

    name: str
    full: bool
    solve: Solver
    numbers: Callable[[int, int], int]
    isotropic: bool = False
    regular: str = ""
    n_latent: int = 0

    def kept(self, covariances: Array) -> Array:
        """Covariances in the shape that a fitted model shows them in."""
        kept: Array = covariances
        if self.name == "tied":
            kept = covariances[0].copy()
        elif self.name in ("spherical", "EII"):
            kept = covariances[:, 0].copy()
        return kept

    def spread(self, kept: Array, k: int, d: int) -> Array:
        """One covariance a component, from the shape that a fitted model shows them in."""
        if self.name == "tied":
            return np.broadcast_to(kept, (k, d, d)).copy()
        if self.name in ("spherical", "EII"):
            return np.broadcast_to(kept[:, None], (k, d)).copy()
        return kept

    def shape(self, k: int, d: int) -> tuple[int, ...]:
        """The shape that a fitted model shows covariances in."""
        if self.name == "tied":
            return (d, d)
        if self.name in ("spherical", "EII"):
            return (k,)
        return (k, d, d) if self.full else (k, d)


def _pooled(weights: Array, scatters: Array) -> Array:
    one = scatters.sum(axis=0) / weights.sum()
    return np.broadcast_to(one, scatters.shape).copy()


def _own(weights: Array, scatters: Array) -> Array:
    covariances: Array = scatters / weights.reshape(-1, *[1] * (scatters.ndim - 1))
    return covariances


def _one_ball(weights: Array, scatters: Array) -> Array:
    return np.full_like(scatters, scatters.sum() / (weights.sum() * scatters.shape[1]))


def _own_balls(weights: Array, scatters: Array) -> Array:
    volumes = scatters.mean(axis=1) / weights
    return np.broadcast_to(volumes[:, None], scatters.shape).copy()


def _size(scatters: Array) -> Array:
    """|S|^(1/d) of each, by logarithms: determinants of many columns overflow."""
    if scatters.shape[-1] == 0:
        return np.ones(len(scatters))
    if scatters.ndim == 2:
        sizes: Array = np.exp(np.log(scatters).mean(axis=1))
        return sizes
    roots: Array = np.exp(np.linalg.slogdet(scatters)[1] / scatters.shape[-1])
    return roots


def _one_volume(weights: Array, scatters: Array) -> Array:
    """EVI and EVV: shapes of their own, one volume."""
    sizes = _size(scatters)
    volume = sizes.sum() / weights.sum()
    covariances: Array = scatters * (volume / sizes).reshape(-1, *[1] * (scatters.ndim - 1))
    return covariances


def _traces(scatters: Array, shape: Array) -> Array:
    """tr(S_k B^-1)."""
    if scatters.ndim == 2:
        sums: Array = (scatters / shape).sum(axis=1)
        return sums
    inverse = np.linalg.inv(shape)
    traces: Array = np.einsum("kij,ji->k", scatters, inverse)
    return traces


def _positive(volumes: Array) -> Array:
    """A component without any volume, as of a single row, gets the least that can be told apart."""
    positive: Array = np.maximum(volumes, _CLOSE * volumes.max())
    return positive


def _one_shape(weights: Array, scatters: Array) -> Array:
    """VEI and VEE: one shape (and orientation), volumes of their own; volumes and shape in turn."""
    d = scatters.shape[-1]
    flat = [1] * (scatters.ndim - 1)
    ones = np.ones(d) if scatters.ndim == 2 else np.eye(d)
    volumes = _positive(_traces(scatters, ones) / (d * weights))
    for _ in range(_MOST):
        shape = (scatters / volumes.reshape(-1, *flat)).sum(axis=0)
        shape = shape / _size(shape[None])[0]
        before, volumes = volumes, _positive(_traces(scatters, shape) / (d * weights))
        if (np.abs(volumes - before) <= _CLOSE * before).all():
            break
    covariances: Array = volumes.reshape(-1, *flat) * shape
    return covariances


def _turned(weights: Array, scatters: Array, diagonal: Solver) -> Array:
    """EEV and VEV: orientations of their own; eigenvalues, in order, as a diagonal form says."""
    values, vectors = _eigh(scatters)
    values = np.maximum(values, np.finfo(np.float64).tiny)  # logarithms are taken of them
    return _turned_back(vectors, diagonal(weights, values))


def _eigh(matrices: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and vectors, of matrices whose columns may differ in units.

    With the columns in the order of their variances, largest first, small eigenvalues keep their
    digits: 4e-9 of them at worst where variances are 1e10 apart, against all digits unordered.
    """
    order = np.argsort(-np.diagonal(matrices, axis1=1, axis2=2), axis=1, kind="stable")
    by_rows = np.take_along_axis(matrices, order[:, :, None], axis=1)
    values, vectors = np.linalg.eigh(np.take_along_axis(by_rows, order[:, None, :], axis=2))
    placed = np.empty_like(vectors)
    np.put_along_axis(placed, order[:, :, None], vectors, axis=1)
    return values, placed


def _turned_back(vectors: Array, values: Array) -> Array:
    matrices: Array = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1)
    return 0.5 * (matrices + matrices.transpose(0, 2, 1))


def _principal(weights: Array, scatters: Array, n_latent: int) -> Array:
    """The largest ``n_latent`` eigenvalues stay, the others become their mean (PPCA)."""
    values, vectors = _eigh(_own(weights, scatters))
    rest = scatters.shape[-1] - n_latent
    values[:, :rest] = values[:, :rest].mean(axis=1, keepdims=True)
    return _turned_back(vectors, values)


def _triangle(d: int) -> int:
    return d * (d + 1) // 2


_FORMS = {
    form.name: form
    for form in (
        Form("full", True, _own, lambda k, d: k * _triangle(d)),
        Form("tied", True, _pooled, lambda k, d: _triangle(d)),
        Form("diag", False, _own, lambda k, d: k * d),
        Form("spherical", False, _own_balls, lambda k, d: k, isotropic=True),
        Form("EII", False, _one_ball, lambda k, d: 1, isotropic=True),
        Form("EEI", False, _pooled, lambda k, d: d),
        Form("VEI", False, _one_shape, lambda k, d: k + d - 1, regular="pooled"),
        Form("EVI", False, _one_volume, lambda k, d: 1 + k * (d - 1), regular="own"),
        Form("VEE", True, _one_shape, lambda k, d: k + _triangle(d) - 1, regular="pooled"),
        Form("EVV", True, _one_volume, lambda k, d: 1 + k * (_triangle(d) - 1), regular="own"),
        Form(
            "EEV",
            True,
            partial(_turned, diagonal=_pooled),
            lambda k, d: d + k * _triangle(d - 1),
            regular="own",
        ),
        Form(
            "VEV",
            True,
            partial(_turned, diagonal=_one_shape),
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


def form_of(name: str, n_latent: int, d: int) -> Form:
    """The form of that name for ``d`` columns; ``n_latent`` is for ``"ppca"`` alone."""
    if name != "ppca":
        return _FORMS[_ALIASES.get(name, name)]
    if n_latent >= d:
        raise ValueError(
            f"n_latent={n_latent} must be less than the number of columns (n_features = {d}): the "
            "rest is noise"
        )
    return Form(
        "ppca",
        True,
        partial(_principal, n_latent=n_latent),
        lambda k, d: k * (d * n_latent + 1 - n_latent * (n_latent - 1) // 2),
        isotropic=True,
        n_latent=n_latent,
    )


def principal_parts(covariances: Array, n_latent: int) -> tuple[Array, Array, Array]:
    """Of covariances of the form ``ppca``: axes (largest first), variances along them, noise."""
    values, vectors = _eigh(covariances)
    axes = np.ascontiguousarray(vectors[:, :, ::-1][:, :, :n_latent])
    noise: Array = values[:, :-n_latent].mean(axis=1)
    return axes, np.ascontiguousarray(values[:, ::-1][:, :n_latent]), noise


def shared_form(name: str) -> Form:
    """The form in which all components have one covariance."""
    own = _ALIASES.get(name, name)
    if own not in _SHARED:
        raise ValueError(
            f"shared_covariance=True means one covariance for all components, and "
            f"covariance_type={name!r} has parts of its own for each: use 'full', 'diag' or "
            "'spherical'"
        )
    return _FORMS[_SHARED[own]]


@dataclass(frozen=True, slots=True)
class Floor:
    """No direction has less than ``share`` of the variance that the data have there.

    In units of the data's standard deviations every eigenvalue of a covariance stays at or above
    ``share``; for diagonal covariances these are the variances themselves. Raising what is lower is
    the maximum of the likelihood under this constraint, so that EM still climbs, where components
    share nothing or everything; forms that share a part may fall, and EM ends before they do.

    Parameters
    ----------
    share : float
    variances : ndarray of shape (d,)
        Of the data's columns.
    lift : ndarray of shape (d,), optional
        Variances of constant columns begin here, at the floor, and so it is not the floor that
        holds them.
    """

    share: float
    variances: Array
    lift: Array | None = None

    @classmethod
    def of(cls, share: float, variances: Array, constant: Array) -> Floor:
        """The floor for data of these variances; ``constant`` marks columns that have none."""
        return cls(share, variances, share * variances * constant if constant.any() else None)

    @classmethod
    def isotropic(cls, share: float, variances: Array) -> Floor:
        """The same for forms without axes of their own: one scale, the mean variance."""
        return cls(share, np.full_like(variances, variances.mean()))

    def hold(self, covariances: Array) -> tuple[Array, Array]:
        """The covariances, raised where needed, and which components were."""
        if self.lift is not None and covariances.ndim == 3:
            places = np.flatnonzero(self.lift)
            covariances = covariances.copy()
            lifted = np.maximum(covariances[:, places, places], self.lift[places])
            covariances[:, places, places] = lifted
        if covariances.ndim == 2:
            least = self.share * self.variances
            low = covariances < least
            raised = np.maximum(covariances, least) if low.any() else covariances
            if self.lift is not None:
                low[:, self.lift > 0] = False
            return raised, np.asarray(low.any(axis=1))
        if self._clear(covariances):
            return covariances, np.zeros(len(covariances), bool)
        return self._raised(covariances)

    def _clear(self, covariances: Array) -> bool:
        """Whether all lie above the floor: then what is left above it has Cholesky factors."""
        least = np.diag(self.share * self.variances)
        # One at a time: wide covariances take little memory so.
        return not any(dpotrf(one - least, clean=0, overwrite_a=1)[1] for one in covariances)

    def _raised(self, covariances: Array) -> tuple[Array, Array]:
        scale = np.sqrt(self.variances)
        units = scale[:, None] * scale
        values, vectors = np.linalg.eigh(covariances / units)
        # Less by no more than rounding is no less: such were raised before.
        low: Array = values[:, 0] < self.share * (1.0 - 1e-9)
        values = np.maximum(values, self.share)
        raised = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1) * units
        raised = 0.5 * (raised + raised.transpose(0, 2, 1))
        return np.where(low[:, None, None], raised, covariances), low
