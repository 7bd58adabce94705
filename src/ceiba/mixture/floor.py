"""The floor under covariances: a component must not collapse onto a point or a plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf

from ceiba.stats.points import Array


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
