"""Numeric columns whose distribution, given the class, is of an exponential family.

With z = (x - center) / spread, class c has the log density

    log p(z | c) = <natural[c], T(z)> - log_normalizer[c] + (a function of z alone)

T(z) are the *sufficient statistics*, their coefficients the *natural parameters*, and their
expectations given the class the *mean parameters*. The sums of T(z) by class are to such a column
what counts are to a column of categories: a TM step moves them along a straight line, and p(c | x)
is a softmax regression on T(z). Arrays of parameters have the shape
(n_terms, n_columns, n_classes), n_terms being the length of T(z).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ceiba._typing import Array
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.distributions.gaussian import GaussianColumns
from ceiba.bayes.distributions.poisson import PoissonColumns
from ceiba.bayes.network import MIN_PROBABILITY


@dataclass(frozen=True, eq=False)
class ExponentialColumns(ABC):
    """Columns of one exponential family.

    Parameters
    ----------
    columns : ndarray of int64
        Indices of the columns in the schema.
    center, spread : ndarray of shape (n_columns,)
        Mean and standard deviation of the known values of all rows.
    """

    columns: Array
    center: Array
    spread: Array

    n_terms: ClassVar[int]

    @abstractmethod
    def statistics(self, Z: Array) -> Array:
        """Return the sufficient statistics, of shape (n_rows, n_terms * n_columns)."""

    @abstractmethod
    def log_normalizer(self, natural: Array) -> Array:
        """Return the log normalizer of each column and class; inf where there is none."""

    @abstractmethod
    def means(self, natural: Array) -> Array:
        """Return the mean parameters of natural ones."""

    @abstractmethod
    def natural(self, means: Array) -> Array:
        """Return the natural parameters of mean ones."""

    @abstractmethod
    def covariance(self, means: Array) -> Array:
        """Return the covariances of T(z), of shape (n_terms, n_terms, n_columns, n_classes)."""

    @abstractmethod
    def solve_covariance(self, means: Array, values: Array, ridge: Array) -> Array:
        """Return (covariance + ridge * identity)^-1 times the values; a ridge for each class."""

    def dispersed(self, means: Array) -> Array:
        """Return mean parameters whose covariances are no less than those of the rows."""
        return means

    @abstractmethod
    def scale(self, means: Array) -> Array:
        """Return what must be positive for the distribution to exist, by column and class."""

    @abstractmethod
    def scale_slope(self, means: Array, change: Array) -> Array:
        """Return the derivative of `scale` along a change of the mean parameters."""

    @abstractmethod
    def scale_polynomial(
        self, weight: Array, sums: Array, weight_change: Array, change: Array
    ) -> tuple[Array, Array, Array]:
        """Return a, b, c: a t^2 + b t + c has the sign of `scale` after a step t of the sums.

        ``weight`` is that of each class, ``sums`` are its weight times its mean parameters.
        """

    @abstractmethod
    def shifted(self, natural: Array, free: Array) -> tuple[Array, Array, Array]:
        """Return parameters to which the same is added in all classes, this, and its derivative.

        The derivative is that in ``free``, any numbers of shape (n_terms, n_columns), with which
        all distributions exist.
        """

    @abstractmethod
    def first_shift(self, natural: Array) -> Array:
        """Return numbers ``free`` with which a search for the best ones can begin."""

    @abstractmethod
    def fitted(self, natural: Array) -> GaussianColumns | PoissonColumns:
        """Return the distributions in the units of the fit."""

    @abstractmethod
    def means_of(self, fitted: GaussianColumns | PoissonColumns) -> Array:
        """Return the mean parameters of distributions in the units of the fit."""

    def max_step(self, weight: Array, sums: Array, weight_change: Array, change: Array) -> float:
        """Return the largest step of the sums for which all distributions exist."""
        polynomial = self.scale_polynomial(weight, sums, weight_change, change)
        return float(_first_positive_root(*polynomial).min(initial=np.inf))


@dataclass(frozen=True, eq=False)
class GaussianExponential(ExponentialColumns):
    """Normal columns: T(z) = (z, z^2)."""

    scaling: StoredScaling

    n_terms = 2

    def statistics(self, Z: Array) -> Array:
        """Return z and z^2."""
        return np.concatenate([Z, Z * Z], axis=1)

    def log_normalizer(self, natural: Array) -> Array:
        """Return log(deviation) + mean^2 / (2 variance); inf unless the variance is positive."""
        linear, quadratic = natural
        inside = quadratic < 0
        with np.errstate(over="ignore", divide="ignore"):
            variance = -0.5 / np.where(inside, quadratic, -0.5)
            found = 0.5 * np.log(variance) + 0.5 * linear**2 * variance
        return np.where(inside, found, np.inf)

    def means(self, natural: Array) -> Array:
        """Return the means of z and z^2."""
        linear, quadratic = natural
        variance = -0.5 / quadratic
        mean = linear * variance
        return np.stack([mean, variance + mean**2])

    def natural(self, means: Array) -> Array:
        """Return mean / variance and -1 / (2 variance)."""
        variance = self.scale(means)
        return np.stack([means[0] / variance, -0.5 / variance])

    def covariance(self, means: Array) -> Array:
        """Return the covariances of z and z^2."""
        mean, variance = means[0], self.scale(means)
        both = 2 * mean * variance
        return np.array([[variance, both], [both, 2 * variance**2 + 2 * mean * both]])

    def solve_covariance(self, means: Array, values: Array, ridge: Array) -> Array:
        """Invert the matrices of z and z^2; their determinants are sums of positive numbers."""
        (a, b), (_, d) = self.covariance(means)
        determinant = 2 * a**3 + ridge * (a + d) + ridge**2
        first = (d + ridge) * values[0] - b * values[1]
        second = (a + ridge) * values[1] - b * values[0]
        return np.asarray(np.stack([first, second]) / determinant)

    def scale(self, means: Array) -> Array:
        """Return the variances."""
        return np.asarray(means[1] - means[0] ** 2)

    def scale_slope(self, means: Array, change: Array) -> Array:
        """Return the derivative of the variances."""
        return np.asarray(change[1] - 2 * means[0] * change[0])

    def scale_polynomial(
        self, weight: Array, sums: Array, weight_change: Array, change: Array
    ) -> tuple[Array, Array, Array]:
        """Return weight * sum of z^2 - (sum of z)^2, which is weight^2 times the variance."""
        a = weight_change * change[1] - change[0] ** 2
        b = weight_change * sums[1] + weight * change[1] - 2 * sums[0] * change[0]
        return a, b, weight * sums[1] - sums[0] ** 2

    def shifted(self, natural: Array, free: Array) -> tuple[Array, Array, Array]:
        """Add free[0] to the coefficients of z; exp(free[1]) becomes the largest variance."""
        linear, quadratic = natural
        largest, now = -0.5 * np.exp(-free[1]), quadratic.max(axis=1)
        # In this order, the largest coefficient is exact.
        quadratic = (quadratic - now[:, None]) + largest[:, None]
        moved = np.stack([linear + free[0][:, None], quadratic])
        shift = np.stack([free[0], largest - now])
        return moved, shift, np.stack([np.ones_like(largest), -largest])

    def first_shift(self, natural: Array) -> Array:
        """Begin with a largest variance of 1 and means that average to 0."""
        free = np.zeros(natural.shape[:2])
        share = 1 / self.shifted(natural, free)[0][1]
        free[0] = -(share * natural[0]).sum(axis=1) / share.sum(axis=1)
        return free

    def fitted(self, natural: Array) -> GaussianColumns:
        """Return means and deviations in the units of the fit."""
        linear, quadratic = natural
        variance = -0.5 / quadratic
        mean = self.center + self.spread * (linear * variance).T
        return GaussianColumns(self.columns, self.scaling, mean, self.spread * np.sqrt(variance).T)

    def means_of(self, fitted: GaussianColumns | PoissonColumns) -> Array:
        """Return the means of z and z^2; a column that is constant in its rows has variance 1."""
        assert isinstance(fitted, GaussianColumns)
        mean = ((fitted.mean - self.center) / self.spread).T
        deviation = np.where(np.isfinite(fitted.deviation), fitted.deviation, self.spread)
        return np.stack([mean, (deviation / self.spread).T ** 2 + mean**2])


@dataclass(frozen=True, eq=False)
class PoissonExponential(ExponentialColumns):
    """Poisson columns: T(z) = z, with the coefficient spread * log(rate / center).

    The logarithm is that of a ratio, so that rates of 1e9 lose no digits.
    """

    n_terms = 1

    def statistics(self, Z: Array) -> Array:
        """Return z."""
        return Z

    def _log_ratio(self, natural: Array) -> Array:
        return np.asarray(natural[0] / self.spread[:, None])

    def log_normalizer(self, natural: Array) -> Array:
        """Return rate - center - center * log(rate / center)."""
        with np.errstate(over="ignore"):
            log_ratio = self._log_ratio(natural)
            return np.asarray(self.center[:, None] * (np.expm1(log_ratio) - log_ratio))

    def means(self, natural: Array) -> Array:
        """Return (rate - center) / spread."""
        ratio = (self.center / self.spread)[:, None]
        return np.asarray(ratio * np.expm1(self._log_ratio(natural)))[None]

    def natural(self, means: Array) -> Array:
        """Return spread * log(rate / center)."""
        ratio = (self.spread / self.center)[:, None]
        return np.asarray(self.spread[:, None] * np.log1p(ratio * means[0]))[None]

    def covariance(self, means: Array) -> Array:
        """Return rate / spread^2."""
        unit = (self.center / self.spread / self.spread)[:, None]
        return np.asarray(unit * self.scale(means))[None, None]

    def solve_covariance(self, means: Array, values: Array, ridge: Array) -> Array:
        """Divide by the variances."""
        return np.asarray(values / (self.covariance(means)[0] + ridge))

    def dispersed(self, means: Array) -> Array:
        """Raise rates to the variance of the rows, which a Poisson distribution does not fit."""
        return np.maximum(means, (self.spread - self.center / self.spread)[:, None])

    def scale(self, means: Array) -> Array:
        """Return rate / center."""
        return np.asarray(1 + (self.spread / self.center)[:, None] * means[0])

    def scale_slope(self, means: Array, change: Array) -> Array:
        """Return the derivative of rate / center."""
        return np.asarray((self.spread / self.center)[:, None] * change[0])

    def scale_polynomial(
        self, weight: Array, sums: Array, weight_change: Array, change: Array
    ) -> tuple[Array, Array, Array]:
        """Return weight * rate / center."""
        ratio = (self.spread / self.center)[:, None]
        b, c = weight_change + ratio * change[0], weight + ratio * sums[0]
        return np.zeros_like(b), b, c

    def shifted(self, natural: Array, free: Array) -> tuple[Array, Array, Array]:
        """Let center * exp(free) be the largest rate."""
        largest, now = self.spread * free[0], natural[0].max(axis=1)
        moved = (natural - now[:, None]) + largest[:, None]
        return moved, (largest - now)[None], self.spread[None]

    def first_shift(self, natural: Array) -> Array:
        """Begin with the mean of all rows as the largest rate."""
        return np.zeros(natural.shape[:2])

    def fitted(self, natural: Array) -> PoissonColumns:
        """Return the rates."""
        rate = self.center * np.exp(self._log_ratio(natural)).T
        return PoissonColumns(self.columns, np.maximum(rate, MIN_PROBABILITY))

    def means_of(self, fitted: GaussianColumns | PoissonColumns) -> Array:
        """Return (rate - center) / spread."""
        assert isinstance(fitted, PoissonColumns)
        return ((fitted.rate - self.center) / self.spread).T[None]


def _first_positive_root(a: Array, b: Array, c: Array) -> Array:
    """Return the smallest positive root of a t^2 + b t + c; inf without one."""
    discriminant = b * b - 4 * a * c
    # Of the two forms of each root, this one does not subtract equal numbers.
    q = -0.5 * (b + np.copysign(np.sqrt(np.maximum(discriminant, 0.0)), b))
    none = np.full_like(q, np.inf)
    roots = np.stack(
        [
            np.divide(q, a, out=none.copy(), where=a != 0),
            np.divide(c, q, out=none.copy(), where=q != 0),
        ]
    )
    valid = (roots > 0) & (discriminant >= 0)
    return np.asarray(np.where(valid, roots, np.inf).min(axis=0))
