"""Expected moments of a mixture's components: what the E step brings home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba.stats.component_moments import ComponentMoments, products
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.points import Array
from ceiba.stats.responsibility import Responsibility
from ceiba.stats.row_gaps import RowGaps

# Of a sum of squares about the pivot, this share must be about the mean: less of it would be
# rounding. 1e-4 leaves 11 of double's 15 digits.
_ENOUGH = 1e-4
# Rounding, of 1e-16 of the squares, is then less than a millionth of the least variance.
_HARMLESS = 1e-10


@dataclass(frozen=True, slots=True)
class MixtureSums:
    """Log-likelihood, and each component's responsibilities and moments about a pivot.

    The pivots are the current means (or what is given for them), the same in every part, so that
    parts add up. About them second moments lose no digits as long as a step moves a mean by no more
    than a hundred standard deviations; `lossy` tells when it did. A missing value counts with its
    conditional mean and variance.

    References
    ----------
    Dempster, Laird & Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
    JRSS B 39.
    Ghahramani & Jordan (1994), "Supervised learning from incomplete data via an EM approach",
    NIPS 6.
    """

    log_likelihood: float
    weights: Array
    first: Array
    second: Array
    pivots: Array

    @classmethod
    def of(
        cls,
        batch: Any,
        model: Gaussians,
        pivots: Array | None = None,
        given: Responsibility | None = None,
    ) -> MixtureSums:
        """The E step for a batch of points; with ``given`` responsibilities no density is taken.

        The model then only says what to expect of missing values.
        """
        k, d = model.shape
        arrays = model.arrays()
        pivots = arrays["means"] if pivots is None else np.ascontiguousarray(pivots)
        weights, first = np.empty(k), np.empty((k, d))
        second = np.empty_like(arrays["covariances"])
        more = RowGaps.of(batch, model.full).arguments()
        if given is not None:
            more |= given.arguments(batch)
        log_likelihood = _native.mixture_moments(
            batch.rows.X,
            batch.rows.weight,
            **arrays,
            pivots=pivots,
            weights=weights,
            first=first,
            second=second,
            **more,
            threads=batch.threads,
        )
        shape = model.covariances.shape
        return cls(log_likelihood, weights, first, second.reshape(shape), pivots)

    def merge(self, other: MixtureSums) -> MixtureSums:
        """Sums over both parts' rows."""
        return MixtureSums(
            self.log_likelihood + other.log_likelihood,
            self.weights + other.weights,
            self.first + other.first,
            self.second + other.second,
            self.pivots,
        )

    @classmethod
    def stacked(cls, groups: Sequence[MixtureSums]) -> MixtureSums:
        """The components of several groups of rows, one after the other."""
        if len(groups) == 1:
            return groups[0]
        joined = (
            np.concatenate([getattr(group, name) for group in groups])
            for name in ("weights", "first", "second", "pivots")
        )
        return cls(sum(group.log_likelihood for group in groups), *joined)

    @property
    def means(self) -> Array:
        """Mean of each component's rows; the pivot where it has none."""
        weights = self.weights[:, None]
        shift = np.divide(self.first, weights, out=np.zeros_like(self.first), where=weights > 0)
        means: Array = self.pivots + shift
        return means

    def centred(self) -> ComponentMoments:
        """The same moments about the components' own means."""
        means = self.means
        scatters = products(self.weights, means - self.pivots, self.second)
        np.subtract(self.second, scatters, out=scatters)
        variances = _diagonals(scatters)
        if (variances < 0).any():  # rounding of a sum that is zero
            np.maximum(variances, 0.0, out=variances)
        return ComponentMoments(self.weights, means, scatters)

    def lossy(self, least: Array) -> bool:
        """Whether a mean lies so far from its pivot that its scatter would be mostly rounding.

        Rounding far below ``least``, the variances of (d,) columns that count as none, is no loss.
        """
        weights, squares = self.weights[:, None], _diagonals(self.second)
        with np.errstate(over="ignore"):
            # Squares about the mean are squares - first² / weight: too small a share of them.
            far = ~(self.first * self.first <= (1.0 - _ENOUGH) * weights * squares)
            lost = far & ~(_HARMLESS * squares < weights * least)
        return bool(lost.any()) or not np.isfinite(squares).all()


def _diagonals(scatters: Array) -> Array:
    """A writable view of the diagonals, (k, d)."""
    if scatters.ndim == 2:
        return scatters
    k, d, _ = scatters.shape
    return scatters.reshape(k, d * d)[:, :: d + 1]
