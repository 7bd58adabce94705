"""A new mixture, before it has seen data."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.netlab.covars import COVAR_TYPES
from ceiba.compat.netlab.draws import netlab_seed
from ceiba.compat.netlab.mix import Mix, unknown_type

_PPCA_NOISE = 0.1  # less than the variances along the principal axes, which begin at 1


def gmm(
    dim: int,
    ncentres: int,
    covar_type: str,
    ppca_dim: int | None = None,
    *,
    random_state: Any = None,
) -> Mix:
    """Make a Gaussian mixture: equal priors, standard normal centres, unit covariances.

    Parameters
    ----------
    dim : int
        Columns of the data.
    ncentres : int
        Components.
    covar_type : {"spherical", "diag", "full", "ppca"}
        One variance for each component, one for each of its columns, a matrix, or probabilistic
        principal components.
    ppca_dim : int, optional
        Principal axes of ``"ppca"``, less than ``dim``; 1 unless given. They begin with variances
        of 1 and 0.1 off them. Netlab begins with axes that are not orthonormal, which no density
        has; here they span the same space.
    random_state : int, RandomState, Generator or None
        Draws the centres; None for NumPy's global state.

    Returns
    -------
    Mix

    Examples
    --------
    >>> mix = gmm(2, 3, "full", random_state=0)
    >>> mix.priors, mix.covars.shape, mix.nwts
    (array([0.33333333, 0.33333333, 0.33333333]), (2, 2, 3), 21)
    """
    if covar_type not in COVAR_TYPES:
        raise ValueError(unknown_type(covar_type))
    _check_count("dim", dim)
    _check_count("ncentres", ncentres)
    d, k = int(dim), int(ncentres)
    q = _ppca_dim(ppca_dim, covar_type, d)
    centres = np.random.default_rng(netlab_seed(random_state)).standard_normal((k, d))
    parts, numbers = _unit_covars(covar_type, d, k, q)
    return Mix(
        type="gmm",
        nin=d,
        ncentres=k,
        covar_type=covar_type,
        priors=np.full(k, 1 / k),
        centres=centres,
        nwts=k + k * d + numbers,
        ppca_dim=q,
        **parts,
    )


def _unit_covars(covar_type: str, d: int, k: int, q: int | None) -> tuple[dict[str, Any], int]:
    """The fields that hold the first covariances, and how many numbers Netlab counts in them."""
    if covar_type == "spherical":
        return {"covars": np.ones(k)}, k
    if covar_type == "diag":
        return {"covars": np.ones((k, d))}, k * d
    if covar_type == "full":
        return {"covars": np.repeat(np.eye(d)[:, :, None], k, axis=2)}, k * d * d
    assert q is not None
    U = np.repeat(_first_axes(d, q)[:, :, None], k, axis=2)
    parts = {"covars": np.full(k, _PPCA_NOISE), "U": U, "lambda_": np.ones((k, q))}
    return parts, k + k * q + k * d * q


def _first_axes(d: int, q: int) -> Array:
    """Orthonormal columns of the space that a column of each latent axis and of ones spans."""
    columns = np.vstack([np.eye(q), np.ones((d - q, q))])
    axes, upper = np.linalg.qr(columns)
    turned: Array = axes * np.sign(np.diag(upper))
    return turned


def _ppca_dim(given: Any, covar_type: str, d: int) -> int | None:
    if covar_type != "ppca":
        if given is not None:
            raise ValueError(f"ppca_dim={given} is for covar_type='ppca' alone: leave it out")
        return None
    q = 1 if given is None else given
    _check_count("ppca_dim", q)
    if q >= d:
        raise ValueError(f"ppca_dim={q} must be less than dim={d}: the rest is noise")
    return int(q)


def _check_count(name: str, given: Any) -> None:
    if not isinstance(given, Integral) or given < 1:
        raise ValueError(f"{name}={given!r}: give a whole number, 1 or more")
