"""Losses of numbers: the squared error, and robust losses whose leaf values are solved anew.

Leaves of the quantile losses have quantiles of their residuals; those of Huber's loss have Newton
steps, or with method="gradient" an estimate of location.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.ensemble.gradient_boosting.losses.base import Loss, weighted_mean, weighted_quantile

# Gains are squares of gradients: those of targets up to this do not overflow.
_MAX_TARGET = 1e100
# Squared errors are in units squared: sums of those of validation targets up to this many units do
# not overflow.
_MAX_UNITS = 1e140


class _InUnits(Loss):
    """Base of losses with squares of errors, which are in units squared."""

    constant_hessian = True

    def __init__(self, y: Array, weight: Array | None, threads: int = 1) -> None:
        super().__init__(y, weight, threads)
        self.unit = _unit_of(y)

    def check_domain(self, y: Array, row_number: Any, name: str = "y") -> None:
        """Raise ValueError if a target is outside of the loss's domain."""
        super().check_domain(y, row_number, name)
        size, limit = np.abs(y), _MAX_UNITS * self.unit
        if size.max() > limit:
            row = int(size.argmax())
            raise ValueError(
                f"{name} must be in [{-limit:g}, {limit:g}], got {y[row]:g} in row "
                f"{row_number(row)}: squared errors so far beyond the targets of the training rows "
                f"({self.y.min():g} to {self.y.max():g}) would overflow; correct or leave out the "
                "row."
            )


class SquaredError(_InUnits):
    """Half the squared error, in units squared."""

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([weighted_mean(self.y, self.weight)])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        np.subtract(raw, self.y, out=gradient)
        if self.unit != 1:
            gradient /= self.unit

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(((y - raw[0]) / self.unit) ** 2 / 2)


class Quantile(Loss):
    """Pinball loss; leaf values are quantiles of the residuals."""

    constant_hessian = True
    parameters: ClassVar[tuple[str, ...]] = ("alpha",)

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, alpha: float) -> None:
        super().__init__(y, weight, threads)
        self.leaf_quantile = alpha

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        assert self.leaf_quantile is not None
        return np.array([weighted_quantile(self.y, self.weight, self.leaf_quantile)])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        alpha = self.leaf_quantile
        assert alpha is not None
        gradient[:] = np.select([raw < self.y, raw > self.y], [-alpha, 1 - alpha], 0.0)

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        alpha, residual = self.leaf_quantile, y - raw[0]
        assert alpha is not None
        return np.asarray(np.maximum(alpha * residual, (alpha - 1) * residual))


class AbsoluteError(Quantile):
    """Absolute error: twice the pinball loss of the median."""

    parameters = ()

    def __init__(self, y: Array, weight: Array | None, threads: int = 1) -> None:
        super().__init__(y, weight, threads, alpha=0.5)

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        np.sign(raw - self.y, out=gradient)

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(np.abs(y - raw[0]))


class Huber(_InUnits):
    """Squared error up to delta, linear beyond; delta is a quantile of the residuals.

    ``delta`` is the ``alpha`` quantile of the absolute residuals, computed anew in each round.
    Losses of rows are those of the first delta: as delta shrinks while the fit improves, those of
    the current one would decrease in every round, and early stopping would never stop.
    """

    parameters = ("alpha",)
    has_line_search = True

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, alpha: float) -> None:
        super().__init__(y, weight, threads)
        self.alpha = alpha
        self.delta = np.inf  # in units

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([weighted_quantile(self.y, self.weight, 0.5)])

    def prepare_row_losses(self, raw: Array) -> None:
        """Set the threshold of the losses of rows."""
        self._set_delta((raw[0] - self.y) / self.unit)

    def _set_delta(self, residual: Array) -> None:
        self.delta = weighted_quantile(np.abs(residual), self.weight, self.alpha)
        if self.first_delta is None:
            self.first_delta = self.delta

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        residual = (raw - self.y) / self.unit
        self._set_delta(residual)
        np.clip(residual, -self.delta, self.delta, out=gradient)

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        size, delta = np.abs(y - raw[0]) / self.unit, self.first_delta
        if delta is None:
            return np.asarray(size**2 / 2)
        return np.asarray(np.where(size <= delta, size**2 / 2, delta * (size - delta / 2)))

    def line_search(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None,
    ) -> Array:  # fmt: skip
        """Return the step of each leaf: its median plus the mean clipped residual about it."""
        residual = (self.y - raw[0]) / self.unit
        median = grower.leaf_quantiles(residual, weight, 0.5)[:, None]
        shifted = np.zeros((1, len(residual)))
        grower.add_values(median, shifted)
        about = np.clip(residual - shifted, -self.delta, self.delta)
        about = about if weight is None else about * weight
        sums = grower.leaf_sums(about, None, weight)[:, 0]
        return np.asarray(median + (sums[:, 0] / sums[:, 1])[:, None]) * self.unit


def _unit_of(y: Array) -> float:
    """Return 1, or for targets beyond 1e100 or below 1e-100 a power of two of their size."""
    largest = float(np.abs(y).max())
    if largest == 0 or 1 / _MAX_TARGET <= largest <= _MAX_TARGET:
        return 1.0
    return float(2.0 ** np.clip(np.frexp(largest)[1], -1021, 1023))
