"""Losses of positive means, whose logarithm is the raw score: Poisson, gamma and Tweedie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from ceiba import _native
from ceiba._typing import Array
from ceiba.ensemble.gradient_boosting.losses.base import (
    MAX_EXPONENT,
    LinkName,
    Loss,
    weighted_mean,
)

# Means beyond this, or below its inverse, are too close to exp(MAX_EXPONENT).
_MAX_MEAN = 1e140
# Larger scores, logarithms of predictions, would predict infinity.
_MAX_SCORE = 700.0


class _LogLink(Loss):
    """Base of losses of positive means, whose logarithm is the score."""

    link_name: ClassVar[LinkName] = "log"
    has_line_search = True
    _name: ClassVar[str]
    _allows_zero: ClassVar[bool] = True

    @staticmethod
    def link(prediction: Array) -> Array:
        """Return the logarithms of predictions, which must be positive."""
        return np.log(prediction)[:, None]

    @staticmethod
    def inverse_link(raw: Array) -> Array:
        """Return the exponentials of raw scores."""
        return np.exp(np.minimum(raw[:, 0], _MAX_SCORE))

    def check_domain(self, y: Array, row_number: Any, name: str = "y") -> None:
        """Raise ValueError if a target is outside of the loss's domain."""
        wrong = y < 0 if self._allows_zero else y <= 0
        if wrong.any():
            row = int(wrong.argmax())
            limit = "not negative" if self._allows_zero else "positive"
            raise ValueError(
                f"loss={self._name!r} requires that {name} is {limit}, got {y[row]:g} in row "
                f"{row_number(row)}."
            )
        positive = y[y > 0]
        if len(positive) and not 1 / _MAX_MEAN <= positive.min() <= positive.max() <= _MAX_MEAN:
            zero = "zero or " if self._allows_zero else ""
            raise ValueError(
                f"loss={self._name!r} requires that {name} is {zero}in [{1 / _MAX_MEAN:g}, "
                f"{_MAX_MEAN:g}], got {positive.min():g} to {positive.max():g}: scale {name}."
            )

    def check_target(self, row_number: Any) -> None:
        """Raise ValueError if the target of training is outside of the loss's domain."""
        super().check_target(row_number)
        if not self.y.any():
            raise ValueError(f"loss={self._name!r} requires that some y is positive, got zeros.")

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([np.log(weighted_mean(self.y, self.weight))])

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        """Return the parts of the gradient that decrease and increase the mean."""
        raise NotImplementedError

    def line_search(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None,
    ) -> Array:  # fmt: skip
        """Return the step of each leaf: the logarithm by which its mean must grow."""
        decrease, increase = self._terms(raw[0])
        if weight is not None:
            decrease, increase = decrease * weight, increase * weight
        sums = grower.leaf_sums(increase[None], decrease[None])[:, 0]
        # A leaf of zeros has no finite value of smallest loss.
        values = np.array(grower.newton_values(gradient, hessian, weight)[:, 0])
        solved = (sums > 0).all(axis=1)
        values[solved] = np.log(sums[solved, 0]) - np.log(sums[solved, 1])
        return values[:, None]

    def newton_steps(
        self, grower: _native.BoostingGrower, raw: Array, gradient: Array, hessian: Array | None,
        weight: Array | None, rate: float, leaf_bounds: Callable[[], Array] | None = None,
    ) -> Array:  # fmt: skip
        """Return the Newton step of each leaf, limited by its line search.

        Times the learning rate it goes at most to the minimum of the leaf. The curvature changes by
        orders of magnitude between small and large means: with gamma, steps of the default rate
        diverged where targets differed by a factor of a thousand.

        Under monotonic constraints a leaf may have to go beyond its own minimum to stay within its
        bounds, but no further than the minima of the other leaves: bounds that are limited alike
        for all leaves keep the leaves in order.
        """
        steps = super().newton_steps(grower, raw, gradient, hessian, weight, rate)
        best = self.line_search(grower, raw, gradient, hessian, weight) / rate
        lowest, highest = np.minimum(best, 0.0), np.maximum(best, 0.0)
        limited = np.clip(steps, lowest, highest)
        if leaf_bounds is not None:
            bounds = np.clip(leaf_bounds(), lowest.min(), highest.max())
            limited = np.clip(limited, bounds[:, :1], bounds[:, 1:])
        return np.asarray(limited)


class Poisson(_LogLink):
    """Half the Poisson deviance."""

    _name = "poisson"

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        mean = np.exp(np.minimum(raw, MAX_EXPONENT))
        np.subtract(mean, self.y, out=gradient)
        if hessian is not None:
            hessian[:] = mean

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        return np.exp(np.minimum(raw, MAX_EXPONENT)), self.y

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        mean = np.exp(np.minimum(raw[0], MAX_EXPONENT))
        return np.asarray(mean - y * raw[0] + xlogy(y, y) - y)


class Gamma(_LogLink):
    """Half the gamma deviance."""

    _name = "gamma"
    _allows_zero = False

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        ratio = self.y * np.exp(np.minimum(-raw, MAX_EXPONENT))
        np.subtract(1, ratio, out=gradient)
        if hessian is not None:
            hessian[:] = ratio

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        return np.ones_like(raw), self.y * np.exp(np.minimum(-raw, MAX_EXPONENT))

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(raw[0] - np.log(y) - 1 + y * np.exp(np.minimum(-raw[0], MAX_EXPONENT)))


class Tweedie(_LogLink):
    """Half the Tweedie deviance of a power between 1 and 2."""

    _name = "tweedie"
    parameters = ("power",)

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, power: float) -> None:
        super().__init__(y, weight, threads)
        self.power = power

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        decrease, increase = self._terms(raw)
        np.subtract(decrease, increase, out=gradient)
        if hessian is not None:
            hessian[:] = (2 - self.power) * decrease + (self.power - 1) * increase

    def _terms(self, raw: Array) -> tuple[Array, Array]:
        limited = np.clip(raw, -MAX_EXPONENT, MAX_EXPONENT)
        return (
            np.exp((2 - self.power) * limited),
            self.y * np.exp((1 - self.power) * limited),
        )

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        q, score = self.power, np.clip(raw[0], -MAX_EXPONENT, MAX_EXPONENT)
        best = np.power(y, 2 - q) / ((1 - q) * (2 - q))
        return np.asarray(
            best - y * np.exp((1 - q) * score) / (1 - q) + np.exp((2 - q) * score) / (2 - q)
        )
