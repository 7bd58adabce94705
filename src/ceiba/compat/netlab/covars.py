"""Covariances in Netlab's shapes, and as Ceiba's components hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.netlab.rows import shaped
from ceiba.mixture.covariance import principal_parts

if TYPE_CHECKING:
    from ceiba.compat.netlab.mix import Mix

COVAR_TYPES = ("spherical", "diag", "full", "ppca")


def covariances_of(mix: Mix) -> Array:
    """One covariance a component, (k, d, d), or its diagonal, (k, d); refuses other shapes."""
    k, d = mix.ncentres, mix.nin
    if mix.covar_type == "spherical":
        return np.repeat(shaped(mix.covars, (k,), "mix.covars")[:, None], d, axis=1)
    if mix.covar_type == "diag":
        return shaped(mix.covars, (k, d), "mix.covars")
    if mix.covar_type == "full":
        matrices = np.moveaxis(shaped(mix.covars, (d, d, k), "mix.covars"), -1, 0)
        if not np.allclose(matrices, matrices.transpose(0, 2, 1)):
            raise ValueError("mix.covars must be symmetric: covars[:, :, j] is one matrix")
        return np.ascontiguousarray(matrices)
    return _ppca_covariances(mix)


def covars_of(covariances: Array, covar_type: str, ppca_dim: int | None) -> dict[str, Any]:
    """The fields of a mix that hold these covariances."""
    if covar_type == "spherical":
        return {"covars": covariances[:, 0]}
    if covar_type == "diag":
        return {"covars": covariances}
    if covar_type == "full":
        return {"covars": np.moveaxis(covariances, 0, -1)}
    assert ppca_dim is not None
    axes, variances, noise = principal_parts(covariances, ppca_dim)
    return {"covars": noise, "U": np.moveaxis(axes, 0, -1), "lambda_": variances}


def _ppca_covariances(mix: Mix) -> Array:
    """Variances ``lambda_`` along the columns of ``U``, ``covars`` in all other directions."""
    k, d, q = mix.ncentres, mix.nin, mix.ppca_dim
    assert q is not None
    noise = shaped(mix.covars, (k,), "mix.covars")[:, None]
    variances = shaped(mix.lambda_, (k, q), "mix.lambda_")
    axes = np.moveaxis(shaped(mix.U, (d, q, k), "mix.U"), -1, 0)
    turned = axes.transpose(0, 2, 1)
    if not np.allclose(turned @ axes, np.eye(q), atol=1e-6):
        raise ValueError("the columns of mix.U[:, :, j] must be orthonormal")
    if (variances < (1 - 1e-9) * noise).any():  # of a ball all are equal, but for rounding
        raise ValueError(
            "mix.lambda_ must not be less than mix.covars: variances along the principal axes are "
            "the largest"
        )
    covariances: Array = (axes * (variances - noise)[:, None, :]) @ turned
    covariances[:, np.arange(d), np.arange(d)] += noise
    return covariances
