"""Initialization of Netlab's EM from clusters of k-means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.compat.netlab.inputs import Rows
from ceiba.compat.netlab.kmeans import run_kmeans
from ceiba.compat.netlab.mix import Mix, check_mix, covar_fields
from ceiba.compat.netlab.options import Options
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.statistics import ComponentMoments, ExpectedMoments, GivenResponsibilities

# Netlab's GMM_WIDTH, added to variances below EPS: wide enough that a component has some rows.
_WIDTH = 1.0
_EPS = float(np.finfo(np.float64).eps)


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
    clusters = run_kmeans(rows, mix.means_, Options.of(options).with_switch(), random_state)
    sizes = np.maximum(clusters.post.sum(axis=0), 1.0)
    covariances = _covariances(mix, rows, clusters.centers, clusters.post, sizes)
    fields = covar_fields(covariances, mix.covar_type, mix.ppca_dim)
    return replace(mix, priors=sizes / sizes.sum(), centres=clusters.centers, **fields)


def _covariances(mix: Mix, rows: Rows, centers: Array, post: Array, sizes: Array) -> Array:
    if mix.covar_type == "spherical":
        variances = _widen(_spherical_variances(rows.values, centers))
        return np.repeat(variances[:, None], mix.nin, axis=1)
    scatters = _cluster_moments(mix, rows, centers, post).scatters
    covariances = mix.form.solve(sizes, scatters)
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
    nearest: Array = distances.min(axis=0)
    return nearest


def _widen(variances: Array) -> Array:
    widened: Array = variances + _WIDTH * (variances < _EPS)
    return widened


def _cluster_moments(mix: Mix, rows: Rows, centers: Array, post: Array) -> ComponentMoments:
    """Return the moments of each cluster, summed about its center."""
    k, d = centers.shape
    unit = np.repeat(np.eye(d)[None], k, axis=0) if mix.form.full else np.ones((k, d))
    model = Gaussians.of(np.full(k, 1 / k), centers, unit)
    moments: ExpectedMoments = rows.reduce(
        ExpectedMoments.of, model, None, GivenResponsibilities(post)
    )
    return moments.centered()


def _check_principal(covariances: Array) -> None:
    """Raise ValueError for clusters of lower dimension than there are principal axes."""
    values = np.linalg.eigvalsh(covariances)
    flat = ~(values[:, 0] > _EPS * values[:, -1])
    if flat.any():
        raise ValueError(
            f"the rows of cluster {int(np.argmax(flat))} must span more than ppca_dim dimensions: "
            "use fewer centres, a smaller ppca_dim or another covar_type."
        )
