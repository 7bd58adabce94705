"""Netlab's mixture structure: creation, and covariances in its shapes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._repr import fields_repr
from ceiba._typing import Array
from ceiba.base import unused_error
from ceiba.compat.netlab.inputs import as_floats, as_shape, check_count, netlab_seed
from ceiba.mixture.covariance import CovarianceForm, covariance_form, principal_parts
from ceiba.mixture.statistics import Gaussians

COVAR_TYPES = ("spherical", "diag", "full", "ppca")
_ARRAY_FIELDS = ("priors", "centres", "covars", "U", "lambda_")
_ONE_VARIANCE = ("spherical", "ppca")
_PPCA_NOISE = 0.1  # less than the variances along the principal axes, which are 1 at first


@dataclass(slots=True, eq=False)
class Mix:
    """A Gaussian mixture as Netlab holds it, made by `gmm`; mutable.

    An array that is assigned is copied; a matrix of one row or column becomes a vector where a
    vector is expected.
    `ceiba.plots.mixture` draws it as it draws a fitted `ceiba.GaussianMixture`.

    Attributes
    ----------
    type : str
        ``"gmm"``.
    nin : int
        Number of columns of the data.
    ncentres : int
        Number of components.
    covar_type : {"spherical", "diag", "full", "ppca"}
    priors : ndarray of shape (ncentres,)
        Weights of the components.
    centres : ndarray of shape (ncentres, nin)
    covars : ndarray
        ``spherical``: a variance for each component, (ncentres,). ``diag``: a row of variances for
        each, (ncentres, nin). ``full``: ``covars[:, :, j]`` is the matrix of component j,
        (nin, nin, ncentres). ``ppca``: the variance off the principal axes, (ncentres,).
    nwts : int
        Number of parameters in priors, centres and covariances.
    ppca_dim : int or None
        Number of principal axes of each component; only for ``ppca``, as the next two.
    U : ndarray of shape (nin, ppca_dim, ncentres) or None
        ``U[:, :, j]`` has the principal axes of component j as columns.
    lambda_ : ndarray of shape (ncentres, ppca_dim) or None
        Variances along the axes, largest first. Netlab calls it ``lambda``.
    """

    type: str
    nin: int
    ncentres: int
    covar_type: str
    priors: Any
    centres: Any
    covars: Any
    nwts: int
    ppca_dim: int | None = None
    U: Any = None
    lambda_: Any = None

    __repr__ = fields_repr

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ARRAY_FIELDS and value is not None:
            value = as_floats(value, f"mix.{name}")
            is_vector = name == "priors" or (name == "covars" and self.covar_type in _ONE_VARIANCE)
            if is_vector and value.ndim == 2 and 1 in value.shape:
                value = value.reshape(-1)
        object.__setattr__(self, name, value)

    @property
    def form(self) -> CovarianceForm:
        """Ceiba's form of these covariances."""
        return covariance_form(self.covar_type, self.ppca_dim or 0, self.nin)

    def gaussians(self) -> Gaussians:
        """Return the components as Ceiba's own; ValueError for fields that do not match."""
        covariances = _covariances(self)
        try:
            return Gaussians.of(self.weights_, self.means_, covariances)
        except np.linalg.LinAlgError:
            raise ValueError(
                "mix.covars must be positive, and matrices positive definite."
            ) from None

    def with_gaussians(self, model: Gaussians) -> Mix:
        """Return the mixture with other parameters."""
        fields = covar_fields(model.covariances, self.covar_type, self.ppca_dim)
        return replace(self, priors=model.weights, centres=model.means, **fields)

    @property
    def weights_(self) -> Array:
        """``priors``, checked."""
        weights = as_shape(self.priors, (self.ncentres,), "mix.priors")
        if (weights < 0).any() or not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-6):
            raise ValueError(
                f"mix.priors must be >= 0 and sum to 1, got numbers that sum to {weights.sum():g}."
            )
        return weights

    @property
    def means_(self) -> Array:
        """``centres``, checked."""
        return as_shape(self.centres, (self.ncentres, self.nin), "mix.centres")

    @property
    def covariances_(self) -> Array:
        """Covariances (ncentres, nin, nin), or their diagonals (ncentres, nin)."""
        return self.gaussians().covariances


def check_mix(mix: Any) -> Mix:
    """Return the mix of a call; TypeError or ValueError if it is none."""
    if not isinstance(mix, Mix):
        raise TypeError(
            f"mix must be made by gmm(dim, ncentres, covar_type), got {type(mix).__name__}."
        )
    _check_covar_type(mix.covar_type)
    if mix.covar_type == "ppca" and mix.ppca_dim is None:
        raise ValueError(
            "mix.ppca_dim must be set: make the mix by gmm(dim, ncentres, 'ppca', ppca_dim)."
        )
    return mix


def _check_covar_type(given: Any) -> None:
    if given not in COVAR_TYPES:
        raise ValueError(f"covar_type must be one of {COVAR_TYPES}, got {given!r}.")


def gmm(
    dim: int,
    ncentres: int,
    covar_type: str,
    ppca_dim: int | None = None,
    *,
    random_state: Any = None,
) -> Mix:
    """Make a mixture of equal priors, random centres and unit covariances.

    Parameters
    ----------
    dim : int
        Number of columns of the data.
    ncentres : int
        Number of components.
    covar_type : {"spherical", "diag", "full", "ppca"}
        One variance for each component, one for each of its columns, a matrix, or probabilistic
        principal components.
    ppca_dim : int, optional
        Number of principal axes of ``"ppca"``, less than ``dim``; by default 1. At first variances
        are 1 along them and 0.1 off them. Netlab's first axes are not orthonormal, which no density
        has; these span the same space.
    random_state : int, RandomState, Generator or None
        Seed of the centres; None for NumPy's global state.

    Returns
    -------
    Mix

    Examples
    --------
    >>> mix = gmm(2, 3, "full", random_state=0)
    >>> mix.priors, mix.covars.shape, mix.nwts
    (array([0.33333333, 0.33333333, 0.33333333]), (2, 2, 3), 21)
    """
    _check_covar_type(covar_type)
    check_count("dim", dim)
    check_count("ncentres", ncentres)
    d, k = int(dim), int(ncentres)
    q = _check_ppca_dim(ppca_dim, covar_type, d)
    centres = np.random.default_rng(netlab_seed(random_state)).standard_normal((k, d))
    fields = _initial_covars(covar_type, d, k, q)
    return Mix(
        type="gmm",
        nin=d,
        ncentres=k,
        covar_type=covar_type,
        priors=np.full(k, 1 / k),
        centres=centres,
        nwts=k + k * d + sum(array.size for array in fields.values()),
        ppca_dim=q,
        **fields,
    )


def _initial_covars(covar_type: str, d: int, k: int, q: int | None) -> dict[str, Any]:
    """Return the fields of unit covariances, or those of the first principal axes."""
    if q is None:
        unit = np.repeat(np.eye(d)[None], k, axis=0) if covar_type == "full" else np.ones((k, d))
        return covar_fields(unit, covar_type, None)
    # The axes are an orthonormal basis of the columns of an identity matrix above ones.
    axes, upper = np.linalg.qr(np.vstack([np.eye(q), np.ones((d - q, q))]))
    U = np.repeat((axes * np.sign(np.diag(upper)))[:, :, None], k, axis=2)
    return {"covars": np.full(k, _PPCA_NOISE), "U": U, "lambda_": np.ones((k, q))}


def _check_ppca_dim(given: Any, covar_type: str, d: int) -> int | None:
    if covar_type != "ppca":
        if given is not None:
            raise unused_error("ppca_dim", f"covar_type={covar_type!r}", given)
        return None
    q = 1 if given is None else given
    check_count("ppca_dim", q)
    if q >= d:
        raise ValueError(f"ppca_dim must be less than dim={d}, got {q}.")
    return int(q)


def covar_fields(covariances: Array, covar_type: str, ppca_dim: int | None) -> dict[str, Any]:
    """Return the fields of a mix that hold covariances."""
    if covar_type == "spherical":
        return {"covars": covariances[:, 0]}
    if covar_type == "diag":
        return {"covars": covariances}
    if covar_type == "full":
        return {"covars": np.moveaxis(covariances, 0, -1)}
    assert ppca_dim is not None
    axes, variances, noise = principal_parts(covariances, ppca_dim)
    return {"covars": noise, "U": np.moveaxis(axes, 0, -1), "lambda_": variances}


def _covariances(mix: Mix) -> Array:
    """Return the covariances of a mix, (k, d, d), or their diagonals, (k, d)."""
    k, d = mix.ncentres, mix.nin
    if mix.covar_type == "spherical":
        return np.repeat(as_shape(mix.covars, (k,), "mix.covars")[:, None], d, axis=1)
    if mix.covar_type == "diag":
        return as_shape(mix.covars, (k, d), "mix.covars")
    if mix.covar_type == "full":
        matrices = np.moveaxis(as_shape(mix.covars, (d, d, k), "mix.covars"), -1, 0)
        if not np.allclose(matrices, matrices.transpose(0, 2, 1)):
            raise ValueError("mix.covars must be symmetric: covars[:, :, j] is one matrix.")
        return np.ascontiguousarray(matrices)
    return _ppca_covariances(mix)


def _ppca_covariances(mix: Mix) -> Array:
    """Return variances ``lambda_`` along ``U``, ``covars`` in other directions."""
    k, d, q = mix.ncentres, mix.nin, mix.ppca_dim
    assert q is not None
    noise = as_shape(mix.covars, (k,), "mix.covars")[:, None]
    variances = as_shape(mix.lambda_, (k, q), "mix.lambda_")
    axes = np.moveaxis(as_shape(mix.U, (d, q, k), "mix.U"), -1, 0)
    transposed = axes.transpose(0, 2, 1)
    if not np.allclose(transposed @ axes, np.eye(q), atol=1e-6):
        raise ValueError("the columns of mix.U[:, :, j] must be orthonormal.")
    if (variances < (1 - 1e-9) * noise).any():  # equal, up to rounding, in a spherical component
        raise ValueError(
            "mix.lambda_ must not be less than mix.covars: variances along the principal axes are "
            "the largest."
        )
    covariances: Array = (axes * (variances - noise)[:, None, :]) @ transposed
    covariances[:, np.arange(d), np.arange(d)] += noise
    return covariances
