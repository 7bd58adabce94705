"""Weighted mean and scatter of every component's rows: what the M step of a mixture needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.stats.points import Array


@dataclass(frozen=True, slots=True)
class ComponentMoments:
    """For each component the weight of its rows, their mean, and their scatter about it.

    Parameters
    ----------
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, d)
    scatters : ndarray of shape (k, d, d) or, for diagonal covariances, (k, d)
        Centred sums of products, or of squares.
    """

    weights: Array
    means: Array
    scatters: Array

    def scaled(self, factor: float) -> ComponentMoments:
        """As if every row weighed ``factor`` times as much."""
        return ComponentMoments(factor * self.weights, self.means, factor * self.scatters)

    def merge(self, other: ComponentMoments) -> ComponentMoments:
        """Moments of both parts' rows, centred (Chan, Golub & LeVeque 1983)."""
        weights = self.weights + other.weights
        share = np.divide(other.weights, weights, out=np.zeros_like(weights), where=weights > 0)
        shift = other.means - self.means
        return ComponentMoments(
            weights,
            self.means + share[:, None] * shift,
            self.scatters + other.scatters + products(self.weights * share, shift, self.scatters),
        )

    def take(self, places: Any) -> ComponentMoments:
        """Some of the components."""
        return ComponentMoments(self.weights[places], self.means[places], self.scatters[places])

    def suits(self, k: int, d: int, full: bool) -> bool:
        """Whether these are finite moments of ``k`` components of ``d`` columns."""
        shapes = ((k,), (k, d), (k, d, d) if full else (k, d))
        arrays = (self.weights, self.means, self.scatters)
        return all(
            isinstance(array, np.ndarray) and array.shape == shape and np.isfinite(array).all()
            for array, shape in zip(arrays, shapes, strict=True)
        )

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {"weights": self.weights, "means": self.means, "scatters": self.scatters}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ComponentMoments:
        """The moments that `to_json` wrote."""
        return cls(record["weights"], record["means"], record["scatters"])


def products(weights: Array, shifts: Array, like: Array) -> Array:
    """``weight × shift shift'`` of each component, or its diagonal, in the shape of ``like``."""
    if like.ndim == 2:
        squares: Array = weights[:, None] * shifts**2
        return squares
    outer: Array = (weights[:, None] * shifts)[:, :, None] * shifts[:, None, :]
    return outer
