"""The floor under covariances: a component must not collapse onto a point or a plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba.stats.points import Array


@dataclass(frozen=True, slots=True)
class Floor:
    """No direction has less than ``share`` of the variance that the data have there.

    In units of the data's standard deviations every eigenvalue of a covariance stays at or above
    ``share``; for diagonal covariances these are the variances themselves. Raising what is lower is
    the maximum of the likelihood under this constraint, so that EM still climbs.

    Parameters
    ----------
    share : float
    variances : ndarray of shape (d,)
        Of the data's columns.
    """

    share: float
    variances: Array

    @classmethod
    def isotropic(cls, share: float, variances: Array) -> Floor:
        """The same for forms without axes of their own: one scale, the mean variance."""
        return cls(share, np.full_like(variances, variances.mean()))

    def hold(self, covariances: Array) -> tuple[Array, Array]:
        """The covariances, raised where needed, and which components were."""
        if covariances.ndim == 2:
            least = self.share * self.variances
            held = np.asarray((covariances < least).any(axis=1))
            return (np.maximum(covariances, least) if held.any() else covariances), held
        if self._clear(covariances):
            return covariances, np.zeros(len(covariances), bool)
        return self._raised(covariances)

    def _clear(self, covariances: Array) -> bool:
        """Whether all lie above the floor: then what is left above it has Cholesky factors."""
        reduced = covariances.copy()
        d = len(self.variances)
        reduced[:, np.arange(d), np.arange(d)] -= self.share * self.variances
        try:
            np.linalg.cholesky(reduced)
        except np.linalg.LinAlgError:
            return False
        return True

    def _raised(self, covariances: Array) -> tuple[Array, Array]:
        scale = np.sqrt(self.variances)
        units = scale[:, None] * scale
        values, vectors = np.linalg.eigh(covariances / units)
        low: Array = values[:, 0] < self.share
        values = np.maximum(values, self.share)
        raised = (vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1) * units
        raised = 0.5 * (raised + raised.transpose(0, 2, 1))
        return np.where(low[:, None, None], raised, covariances), low
