"""Netlab's batch k-means, and the initialization of EM from its clusters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.base.errstate import with_default_errstate
from ceiba.cluster.statistics import Assignment, CenterSums
from ceiba.compat.netlab.inputs import Options, Rows, as_matrix, netlab_seed
from ceiba.compat.netlab.mix import Mix, check_mix, covar_fields
from ceiba.mixture.statistics import (
    ExpectedMoments,
    Gaussians,
    given_responsibilities,
)
from ceiba.stats import Moments, PointSpace

# Netlab's GMM_WIDTH, added to variances below EPS: wide enough that a component has some rows.
_WIDTH = 1.0
_EPS = float(np.finfo(np.float64).eps)


@with_default_errstate
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
    initial = as_matrix(centres, shape[1], "centres")
    centres, post, errlog = _run_kmeans(rows, initial, config, random_state)
    return centres, config.with_error(errlog[-1]), post, errlog


def _run_kmeans(
    rows: Rows, centers: Array, config: Options, random_state: Any
) -> tuple[Array, Array, Array]:
    """Return centers, the clusters of the rows, one-hot, and the error at each cycle."""
    k = len(centers)
    if k > len(rows):
        raise ValueError(f"the number of centres, {k}, must not exceed the {len(rows)} rows.")
    if config.switch:
        chosen = np.random.default_rng(netlab_seed(random_state)).permutation(len(rows))[:k]
        centers = rows.values[chosen]
    space = PointSpace.of(rows.reduce(Moments.of), centers)
    errlog: list[float] = []
    for cycle in range(1, config.max_cycles + 1):
        sums = rows.reduce(CenterSums.of, space, centers, None, True)
        previous, centers = centers, sums.solve(space, centers)
        errlog.append(sums.inertia)
        config.print_cycle(cycle, sums.inertia)
        moved = float(np.abs(centers - previous).max())
        change = abs(errlog[-1] - errlog[-2]) if cycle > 1 else np.inf
        if moved < config.center_tolerance and change < config.error_tolerance:
            break
    else:
        config.warn_not_converged("k-means")
    labels = rows.reduce(Assignment.of, space, previous).labels
    return centers, np.eye(k)[labels], np.array(errlog)


@with_default_errstate
def gmminit(mix: Mix, x: Any, options: Any, *, random_state: Any = None) -> Mix:
    """Initialize a mixture from clusters of k-means, which starts at random rows.

    Priors are fractions of the rows. A spherical variance is the squared distance to the nearest
    other centre (for a single centre, the mean variance of the columns); other covariances are
    those of the rows of the cluster about its centre. 1 is added to a variance that is practically
    zero, to all variances of a singular matrix, and to those of a cluster without rows.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)
    options : array of shape (18,)
        For `kmeans`, see `foptions`: ``options[13]`` is the number of its cycles. ``options[4]``
        counts as 1.
    random_state : int, RandomState, Generator or None
        Seed of the rows at which k-means starts; None for NumPy's global state.

    Returns
    -------
    Mix
        A new one; the argument is not changed.

    Examples
    --------
    >>> from ceiba.compat.netlab import foptions, gmm
    >>> x = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]]
    >>> mix = gmminit(gmm(1, 2, "spherical"), x, foptions(), random_state=0)
    >>> mix.priors, mix.covars
    (array([0.5, 0.5]), array([25., 25.]))
    """
    mix = check_mix(mix)
    rows = Rows.of(x, mix.nin)
    config = Options.of(options).with_switch()
    centers, post, _ = _run_kmeans(rows, mix.means_, config, random_state)
    sizes = np.maximum(post.sum(axis=0), 1.0)
    covariances = _covariances(mix, rows, centers, post, sizes)
    fields = covar_fields(covariances, mix.covar_type, mix.ppca_dim)
    return replace(mix, priors=sizes / sizes.sum(), centres=centers, **fields)


def _covariances(mix: Mix, rows: Rows, centers: Array, post: Array, sizes: Array) -> Array:
    if mix.covar_type == "spherical":
        variances = _widen(_spherical_variances(rows.values, centers))
        return np.repeat(variances[:, None], mix.nin, axis=1)
    k, d = centers.shape
    unit = np.repeat(np.eye(d)[None], k, axis=0) if mix.form.full else np.ones((k, d))
    model = Gaussians.of(np.full(k, 1 / k), centers, unit)
    moments = rows.reduce(
        ExpectedMoments.of, model, None, partial(given_responsibilities, values=post)
    )
    covariances = mix.form.solve(sizes, moments.centered().scatters)
    if mix.covar_type == "diag":
        return _widen(covariances)
    if mix.covar_type == "full":
        singular = np.linalg.matrix_rank(covariances, hermitian=True) < mix.nin
        covariances += _WIDTH * singular[:, None, None] * np.eye(mix.nin)
    else:
        _check_principal(covariances)
    return covariances


def _spherical_variances(x: Array, centers: Array) -> Array:
    """Return squared distances to the nearest other center, or a mean variance."""
    if len(centers) == 1:
        return np.array([x.var(axis=0, ddof=1).mean() if len(x) > 1 else 0.0])
    distances = cdist(centers, centers, "sqeuclidean")
    np.fill_diagonal(distances, np.inf)
    return np.asarray(distances.min(axis=0))


def _widen(variances: Array) -> Array:
    return np.asarray(variances + _WIDTH * (variances < _EPS))


def _check_principal(covariances: Array) -> None:
    """Raise ValueError for clusters of lower dimension than there are principal axes."""
    values = np.linalg.eigvalsh(covariances)
    flat = ~(values[:, 0] > _EPS * values[:, -1])
    if flat.any():
        raise ValueError(
            f"the rows of cluster {int(np.argmax(flat))} must span more than ppca_dim dimensions: "
            "use fewer centres, a smaller ppca_dim or another covar_type."
        )
