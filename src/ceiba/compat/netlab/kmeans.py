"""Netlab's batch k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.statistics import Assignment, CentreSums
from ceiba.compat.netlab.draws import netlab_seed
from ceiba.compat.netlab.options import Options
from ceiba.compat.netlab.rows import Rows, matrix
from ceiba.stats import Moments, Space


def kmeans(
    centres: Any, data: Any, options: Any, *, random_state: Any = None
) -> tuple[Array, Array, Array, Array]:
    """Move centres to the means of the rows nearest to them, until they rest.

    A centre that no row is nearest to stays where it is. (`ceiba.KMeans` starts better and starts
    such centres again.)

    Parameters
    ----------
    centres : array of shape (ncentres, dim)
        Where to start; only their number counts if ``options[4]`` is 1.
    data : array of shape (n, dim)
    options : array of shape (18,)
        See `foptions`. It ends when no coordinate of a centre moved by ``options[1]`` or more and
        the error changed by less than ``options[2]``, or after ``options[13]`` cycles. With
        ``options[4] = 1`` it starts at random rows.
    random_state : int, RandomState, Generator or None
        Draws these rows; None for NumPy's global state.

    Returns
    -------
    centres : ndarray of shape (ncentres, dim)
    options : ndarray of shape (18,)
        With the final error, the sum of squared distances, in ``options[7]``.
    post : ndarray of shape (n, ncentres)
        1 in the column of a row's cluster, else 0.
    errlog : ndarray
        The error at each cycle that was made.

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
    wish = Options.of(options)
    shape = np.shape(centres)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"centres has shape {shape} and needs a row for each centre")
    rows = Rows.of(data, shape[1], "data")
    run = cluster(rows, matrix(centres, shape[1], "centres"), wish, random_state)
    return run.centres, wish.ended(run.errlog[-1]), run.post, run.errlog


@dataclass(frozen=True, slots=True)
class Clusters:
    """What `kmeans` ends with; the centres are the means of the clusters in ``post``."""

    centres: Array
    post: Array
    errlog: Array


def cluster(rows: Rows, centres: Array, wish: Options, random_state: Any) -> Clusters:
    """Assign and average, cycle by cycle."""
    k = len(centres)
    if k > len(rows):
        raise ValueError(f"{k} centres are more than the {len(rows)} rows of data")
    if wish.switch:
        chosen = np.random.default_rng(netlab_seed(random_state)).permutation(len(rows))[:k]
        centres = rows.values[chosen]
    space = Space.around(rows.ask(Moments.of), centres)
    errlog: list[float] = []
    for cycle in range(1, wish.cycles + 1):
        sums = rows.ask(CentreSums.of, space, centres, None, True)
        before, centres = centres, sums.solve(space, centres)
        errlog.append(sums.inertia)
        wish.show(cycle, sums.inertia)
        if _rest(before, centres, errlog, wish):
            break
    else:
        wish.warn("k-means")
    labels = rows.ask(Assignment.of, space, before).labels
    return Clusters(centres, np.eye(k)[labels], np.array(errlog))


def _rest(before: Array, after: Array, errlog: list[float], wish: Options) -> bool:
    if len(errlog) < 2:
        return False
    moved = float(np.abs(after - before).max())
    return moved < wish.centre_precision and abs(errlog[-1] - errlog[-2]) < wish.error_precision
