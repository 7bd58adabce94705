"""Netlab's batch k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.statistics import Assignment, CenterSums
from ceiba.compat.netlab.inputs import Rows, as_matrix, netlab_seed
from ceiba.compat.netlab.options import Options
from ceiba.stats import Moments, Space


def kmeans(
    centres: Any, data: Any, options: Any, *, random_state: Any = None
) -> tuple[Array, Array, Array, Array]:
    """Run batch k-means until the centers converge.

    A center without rows does not move. (`ceiba.KMeans` has a better initialization and relocates
    such centers.)

    Parameters
    ----------
    centres : array of shape (ncentres, dim)
        Initial centers; only their number counts if ``options[4]`` is 1.
    data : array of shape (n, dim)
    options : array of shape (18,)
        See `foptions`. It ends when no coordinate of a center moved by ``options[1]`` or more and
        the error changed by less than ``options[2]``, or after ``options[13]`` cycles. With
        ``options[4] = 1`` it starts at random rows.
    random_state : int, RandomState, Generator or None
        Seed of these rows; None for NumPy's global state.

    Returns
    -------
    centres : ndarray of shape (ncentres, dim)
    options : ndarray of shape (18,)
        With the final error, the sum of squared distances, in ``options[7]``.
    post : ndarray of shape (n, ncentres)
        1 in the column of a row's cluster, else 0.
    errlog : ndarray
        The error at each cycle.

    Examples
    --------
    >>> from ceiba.compat.netlab import foptions
    >>> data = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
    >>> centres, options, post, errlog = kmeans([[0.0, 0.0], [1.0, 1.0]], data, foptions())
    >>> centres
    array([[0. , 0.5],
           [9. , 8.5]])
    >>> options[7]
    np.float64(1.0)

    References
    ----------
    Lloyd (1982), "Least squares quantization in PCM", IEEE Transactions on Information Theory 28.
    """
    config = Options.of(options)
    shape = np.shape(centres)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"centres must have shape (ncentres, dim), got {shape}.")
    rows = Rows.of(data, shape[1], "data")
    result = run_kmeans(rows, as_matrix(centres, shape[1], "centres"), config, random_state)
    return result.centers, config.with_error(result.errlog[-1]), result.post, result.errlog


@dataclass(frozen=True, slots=True)
class KMeansResult:
    """Result of k-means; the centers are the means of the clusters in ``post``."""

    centers: Array
    post: Array
    errlog: Array


def run_kmeans(rows: Rows, centers: Array, config: Options, random_state: Any) -> KMeansResult:
    """Assign rows and average them, cycle by cycle."""
    k = len(centers)
    if k > len(rows):
        raise ValueError(f"the number of centres, {k}, must not exceed the {len(rows)} rows.")
    if config.switch:
        chosen = np.random.default_rng(netlab_seed(random_state)).permutation(len(rows))[:k]
        centers = rows.values[chosen]
    space = Space.around(rows.reduce(Moments.of), centers)
    errlog: list[float] = []
    for cycle in range(1, config.max_cycles + 1):
        sums = rows.reduce(CenterSums.of, space, centers, None, True)
        previous, centers = centers, sums.solve(space, centers)
        errlog.append(sums.inertia)
        config.print_cycle(cycle, sums.inertia)
        if _has_converged(previous, centers, errlog, config):
            break
    else:
        config.warn_not_converged("k-means")
    labels = rows.reduce(Assignment.of, space, previous).labels
    return KMeansResult(centers, np.eye(k)[labels], np.array(errlog))


def _has_converged(previous: Array, centers: Array, errlog: list[float], config: Options) -> bool:
    if len(errlog) < 2:
        return False
    moved = float(np.abs(centers - previous).max())
    change = abs(errlog[-1] - errlog[-2])
    return moved < config.center_tolerance and change < config.error_tolerance
