"""Rows of a round: all of them, a uniform sample, or gradient-based one-side sampling.

A uniform sample has each row with probability ``subsample``. Gradient-based one-side sampling
(GOSS), with a = ``top_rate``, b = ``other_rate`` and n rows, keeps the ceil(a n) rows with the
largest sum of |g| over the outputs, and each other row with probability b / (1 - a). Gradients,
Hessians and weights of the others are multiplied by (1 - a) / b, so that their sums are unbiased.

Draws are keyed by the round and the position of the row. Friedman (2002), "Stochastic gradient
boosting", Computational Statistics & Data Analysis 38. Ke et al. (2017), "LightGBM: a highly
efficient gradient boosting decision tree", NeurIPS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.ensemble.gradient_boosting.parameters import BoostingParameters

ROW_STREAM = 0x67726164726F7773  # of random bits


@dataclass(frozen=True, eq=False)
class RoundSample:
    """Rows of a round, and what the trees are fitted to.

    Parameters
    ----------
    rows : ndarray of uint32 or None
        Numbers of the rows; None for all.
    gradient, hessian : ndarray of shape (n_outputs, n_rows), and the same or None
        Of all rows of the fit, multiplied by the factors of the sample.
    weight : ndarray of shape (n_rows,) or None
        Weights, multiplied by these factors.
    """

    rows: Array | None
    gradient: Array
    hessian: Array | None
    weight: Array | None

    def derivatives_of(self, outputs: slice) -> tuple[Array, Array | None]:
        """Return the gradients and Hessians of some outputs."""
        return self.gradient[outputs], None if self.hessian is None else self.hessian[outputs]


def sample_rows(
    parameters: BoostingParameters, seed: int, number: int, gradient: Array,
    hessian: Array | None, weight: Array | None,
) -> RoundSample:  # fmt: skip
    """Draw the rows of a round."""
    n_rows = gradient.shape[1]
    if parameters.sampling == "goss":
        draws = _uniforms(seed, number, n_rows)
        return _one_side_sample(parameters, draws, gradient, hessian, weight)
    if parameters.subsample >= 1.0:
        return RoundSample(None, gradient, hessian, weight)
    draws = _uniforms(seed, number, n_rows)
    drawn = draws < parameters.subsample
    drawn[draws.argmin()] = True  # at least one, also if all draws exceed subsample
    return RoundSample(_row_indices(drawn), gradient, hessian, weight)


def _one_side_sample(
    parameters: BoostingParameters, draws: Array, gradient: Array, hessian: Array | None,
    weight: Array | None,
) -> RoundSample:  # fmt: skip
    a, b = parameters.top_rate, parameters.other_rate
    size = np.abs(gradient).sum(axis=0)
    is_top = np.zeros(len(size), bool)
    is_top[np.argsort(-size, kind="stable")[: math.ceil(a * len(size))]] = True
    factor = np.where(is_top, 1.0, (1 - a) / b)
    return RoundSample(
        _row_indices(is_top | (draws < b / (1 - a))),
        gradient * factor,
        None if hessian is None else hessian * factor,
        factor if weight is None else factor * weight,
    )


def _uniforms(seed: int, number: int, n_rows: int) -> Array:
    draws = np.empty(n_rows)
    _native.uniforms(seed, ROW_STREAM + number, 0, draws)
    return draws


def _row_indices(mask: Array) -> Array:
    return np.flatnonzero(mask).astype(np.uint32)
