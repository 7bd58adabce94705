"""Netlab's mixture structure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.netlab.covars import COVAR_TYPES, covariances_of, covars_of
from ceiba.compat.netlab.rows import floats, shaped
from ceiba.mixture.covariance import Form, form_of
from ceiba.mixture.densities import Gaussians

_NUMBERS = ("priors", "centres", "covars", "U", "lambda_")
_ONE_VARIANCE = ("spherical", "ppca")


@dataclass(slots=True, eq=False)
class Mix:
    """A Gaussian mixture as Netlab holds it; made by `gmm`, and free to be written to.

    What is assigned to a field of numbers is copied into an array; a matrix of one row or column
    becomes a vector where a vector stands.
    `ceiba.plots.mixtures.mixture` draws it as it draws a fitted `ceiba.GaussianMixture`.

    Attributes
    ----------
    type : str
        ``"gmm"``.
    nin : int
        Columns of the data.
    ncentres : int
        Components.
    covar_type : {"spherical", "diag", "full", "ppca"}
    priors : ndarray of shape (ncentres,)
        Weights of the components.
    centres : ndarray of shape (ncentres, nin)
    covars : ndarray
        ``spherical``: a variance for each component, (ncentres,). ``diag``: a row of variances for
        each, (ncentres, nin). ``full``: ``covars[:, :, j]`` is the matrix of component j,
        (nin, nin, ncentres). ``ppca``: the variance off the principal axes, (ncentres,).
    nwts : int
        Numbers in priors, centres and covariances together.
    ppca_dim : int or None
        Principal axes of each component; for ``ppca`` alone, as the next two.
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

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _NUMBERS and value is not None:
            value = floats(value, f"mix.{name}")
            vector = name == "priors" or (name == "covars" and self.covar_type in _ONE_VARIANCE)
            if vector and value.ndim == 2 and 1 in value.shape:
                value = value.reshape(-1)
        object.__setattr__(self, name, value)

    @property
    def form(self) -> Form:
        """Ceiba's form of these covariances."""
        return form_of(self.covar_type, self.ppca_dim or 0, self.nin)

    def gaussians(self) -> Gaussians:
        """The components as Ceiba's own; refuses fields that do not fit together."""
        covariances = covariances_of(self)
        try:
            return Gaussians.of(self.weights_, self.means_, covariances)
        except np.linalg.LinAlgError:
            raise ValueError(
                "mix.covars must be positive, and matrices positive definite"
            ) from None

    def with_gaussians(self, model: Gaussians) -> Mix:
        """The same mixture with other parameters."""
        parts = covars_of(model.covariances, self.covar_type, self.ppca_dim)
        return replace(self, priors=model.weights, centres=model.means, **parts)

    @property
    def weights_(self) -> Array:
        """``priors``, checked."""
        weights = shaped(self.priors, (self.ncentres,), "mix.priors")
        if (weights < 0).any() or not np.isclose(weights.sum(), 1.0, rtol=0, atol=1e-6):
            raise ValueError(
                f"mix.priors must be at least 0 and sum to 1; they sum to {weights.sum():g}"
            )
        return weights

    @property
    def means_(self) -> Array:
        """``centres``, checked."""
        return shaped(self.centres, (self.ncentres, self.nin), "mix.centres")

    @property
    def covariances_(self) -> Array:
        """One covariance a component, (ncentres, nin, nin), or its diagonal, (ncentres, nin)."""
        return self.gaussians().covariances


def checked_mix(mix: Any) -> Mix:
    """The mix that a function was given."""
    if not isinstance(mix, Mix):
        raise TypeError(
            f"mix must be made by gmm(dim, ncentres, covar_type), not {type(mix).__name__}"
        )
    if mix.covar_type not in COVAR_TYPES:
        raise ValueError(unknown_type(mix.covar_type))
    if mix.covar_type == "ppca" and mix.ppca_dim is None:
        raise ValueError("mix has no ppca_dim: make it by gmm(dim, ncentres, 'ppca', ppca_dim)")
    return mix


def unknown_type(given: Any) -> str:
    """What to say of a type of covariance that there is not."""
    return f"covar_type={given!r}: give one of {', '.join(repr(name) for name in COVAR_TYPES)}"
