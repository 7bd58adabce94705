"""Where Netlab's EM starts: clusters of k-means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.compat.netlab.covars import covars_of
from ceiba.compat.netlab.kmeans import cluster
from ceiba.compat.netlab.mix import Mix, checked_mix
from ceiba.compat.netlab.options import Options
from ceiba.compat.netlab.rows import Rows
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.statistics import ComponentMoments, MixtureSums, Shares

# Netlab's GMM_WIDTH, added to variances below EPS: wide, so that a centre has some rows.
_WIDTH = 1.0
_EPS = float(np.finfo(np.float64).eps)


def gmminit(mix: Mix, x: Any, options: Any, *, random_state: Any = None) -> Mix:
    """Start a mixture from clusters: k-means from random rows, then what each cluster shows.

    Priors are shares of the rows. A spherical variance is the squared distance to the nearest
    other centre (of a single centre, the mean variance of the columns); other covariances are those
    of the cluster's rows about its centre. 1 is added to a variance that is practically zero, and
    to all variances of a matrix that has not full rank; a cluster without rows begins as wide.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)
    options : array of shape (18,)
        For `kmeans`, see `foptions`: ``options[13]`` is the number of its cycles. ``options[4]``
        is taken as 1.
    random_state : int, RandomState, Generator or None
        Draws the rows that k-means starts at; None for NumPy's global state.

    Returns
    -------
    Mix
        A new one; that which is passed in stays as it is.

    Examples
    --------
    >>> from ceiba.compat.netlab import foptions, gmm
    >>> x = [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]]
    >>> mix = gmminit(gmm(1, 2, "spherical"), x, foptions(), random_state=0)
    >>> mix.priors, mix.covars
    (array([0.5, 0.5]), array([25., 25.]))
    """
    mix = checked_mix(mix)
    rows = Rows.of(x, mix.nin)
    found = cluster(rows, mix.means_, Options.of(options).switched_on(), random_state)
    sizes = np.maximum(found.post.sum(axis=0), 1.0)
    covariances = _covariances(mix, rows, found.centres, found.post, sizes)
    parts = covars_of(covariances, mix.covar_type, mix.ppca_dim)
    return replace(mix, priors=sizes / sizes.sum(), centres=found.centres, **parts)


def _covariances(mix: Mix, rows: Rows, centres: Array, post: Array, sizes: Array) -> Array:
    if mix.covar_type == "spherical":
        widths = _widened(_spherical(rows.values, centres))
        return np.repeat(widths[:, None], mix.nin, axis=1)
    scatters = _moments(mix, rows, centres, post).scatters
    found = mix.form.solve(sizes, scatters)
    if mix.covar_type == "diag":
        return _widened(found)
    if mix.covar_type == "full":
        flat = np.linalg.matrix_rank(found, hermitian=True) < mix.nin
        found += _WIDTH * flat[:, None, None] * np.eye(mix.nin)
    else:
        _check_principal(found)
    return found


def _spherical(x: Array, centres: Array) -> Array:
    """How far the nearest other centre is, squared, or how wide all rows are."""
    if len(centres) == 1:
        return np.array([x.var(axis=0, ddof=1).mean() if len(x) > 1 else 0.0])
    apart = cdist(centres, centres, "sqeuclidean")
    np.fill_diagonal(apart, np.inf)
    nearest: Array = apart.min(axis=0)
    return nearest


def _widened(variances: Array) -> Array:
    widened: Array = variances + _WIDTH * (variances < _EPS)
    return widened


def _moments(mix: Mix, rows: Rows, centres: Array, post: Array) -> ComponentMoments:
    """Of every cluster's rows; they are summed about the centres, so that no digits are lost."""
    k, d = centres.shape
    unit = np.repeat(np.eye(d)[None], k, axis=0) if mix.form.full else np.ones((k, d))
    about = Gaussians.of(np.full(k, 1 / k), centres, unit)
    sums: MixtureSums = rows.ask(MixtureSums.of, about, None, Shares(post))
    return sums.centred()


def _check_principal(covariances: Array) -> None:
    """Refuse clusters that lie in fewer directions than there are principal axes."""
    values = np.linalg.eigvalsh(covariances)
    flat = ~(values[:, 0] > _EPS * values[:, -1])
    if flat.any():
        raise ValueError(
            f"the rows of cluster {int(np.argmax(flat))} do not spread beyond ppca_dim directions: "
            "use fewer centres, a smaller ppca_dim or another covar_type"
        )
