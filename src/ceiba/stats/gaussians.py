"""The parameters of a Gaussian mixture, as its statistics are given them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtri

from ceiba.stats.points import Array


@dataclass(frozen=True, slots=True)
class Gaussians:
    """Weights, means and covariances of components, with the factors that densities are made of.

    Parameters
    ----------
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, d)
    covariances : ndarray of shape (k, d, d) or, where they are diagonal, (k, d)
    factors : ndarray of the covariances' shape
        Inverse of the lower Cholesky factor, or one over the standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> one = Gaussians.of(np.ones(1), np.zeros((1, 2)), np.array([[[4.0, 2.0], [2.0, 2.0]]]))
    >>> one.factors
    array([[[ 0.5,  0. ],
            [-0.5,  1. ]]])
    """

    weights: Array
    means: Array
    covariances: Array
    factors: Array

    @classmethod
    def of(cls, weights: Array, means: Array, covariances: Array) -> Gaussians:
        """Components of these parameters; LinAlgError where a covariance is not one."""
        covariances = np.ascontiguousarray(covariances)
        if not np.isfinite(covariances).all():
            raise np.linalg.LinAlgError("a covariance is not finite")
        if covariances.ndim == 2:
            if not (covariances > 0).all():
                raise np.linalg.LinAlgError("a variance is not positive")
            return cls(weights, means, covariances, 1.0 / np.sqrt(covariances))
        factors = np.linalg.cholesky(covariances)
        for place, lower in enumerate(factors):
            # The transpose is LAPACK's own order: an upper triangle, inverted without a copy.
            factors[place] = dtrtri(lower.T, lower=0)[0].T
        return cls(weights, means, covariances, factors)

    @property
    def full(self) -> bool:
        """Whether covariances are matrices."""
        return self.covariances.ndim == 3

    @property
    def shape(self) -> tuple[int, int]:
        """Number of components and of columns."""
        k, d = self.means.shape
        return k, d

    @property
    def log_dets(self) -> Array:
        """Logarithm of each covariance's determinant."""
        diagonals = np.diagonal(self.factors, axis1=1, axis2=2) if self.full else self.factors
        sums: Array = -2.0 * np.log(diagonals).sum(axis=1)
        return sums

    def take(self, places: Any) -> Gaussians:
        """Some of the components, with their weights as they are."""
        return Gaussians(
            self.weights[places], self.means[places], self.covariances[places], self.factors[places]
        )

    def arrays(self) -> dict[str, Any]:
        """What crosses to the native kernels."""
        k = len(self.means)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return {
            "log_weights": log_weights,
            "means": np.ascontiguousarray(self.means),
            "covariances": np.ascontiguousarray(self.covariances.reshape(k, -1)),
            "factors": np.ascontiguousarray(self.factors.reshape(k, -1)),
        }
