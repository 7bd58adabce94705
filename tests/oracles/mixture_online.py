"""Online EM: every batch moves a running mean of the statistics.

The statistic after some batches is kept as what it is a mean of: all completed rows so far, each
with the share that is left of it. Nothing is merged, so there is no merging to get wrong.

References
----------
Cappé, O. and Moulines, E. (2009). On-line expectation-maximization algorithm for latent data
models. Journal of the Royal Statistical Society B 71.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ceiba._typing import Array
from tests.oracles.mixture_naive import Config, column_variances, m_step, ones, summarize
from tests.oracles.mixture_rows import Completed, Parameters, complete_all, row_responsibilities

Batch = tuple[Array, Array | None]


def online(
    batches: Sequence[Batch], parameters: Parameters, config: Config, decay: float
) -> list[Parameters]:
    """The parameters after each batch of rows and their weights."""
    rows: list[list[Completed]] = []
    shares = np.zeros((0, parameters.size))
    seen, found = 0.0, []
    for index, (X, w) in enumerate(batches):
        v = ones(X, w)
        seen += v.sum()
        gain = (v.sum() / seen) ** decay
        fresh = complete_all(X, parameters)
        own = np.array([row_responsibilities(row, parameters.weights) for row in fresh])
        shares = np.vstack([(1 - gain) * shares, gain * v[:, None] / v.sum() * own])
        rows += fresh
        parameters = m_step(summarize(rows, shares), config, variances(batches[: index + 1]))
        found.append(parameters)
    return found


def variances(batches: Sequence[Batch]) -> Array:
    """Variance of each column over all rows so far."""
    X = np.vstack([X for X, _ in batches])
    return column_variances(X, np.concatenate([ones(X, w) for X, w in batches]))
