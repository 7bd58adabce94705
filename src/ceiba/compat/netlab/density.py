"""Densities, posteriors and samples of a mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base.errstate import with_default_errstate
from ceiba.compat.netlab.inputs import Rows, check_count, netlab_seed
from ceiba.compat.netlab.mix import Mix, check_mix
from ceiba.mixture.base import draw_rows
from ceiba.mixture.densities import log_densities, posteriors
from ceiba.mixture.statistics import Gaussians


@with_default_errstate
def gmmactiv(mix: Mix, x: Any) -> Array:
    """Compute the density of each component at each row, without its prior.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)

    Returns
    -------
    ndarray of shape (n, ncentres)
        0 where a density underflows.

    Examples
    --------
    >>> from ceiba.compat.netlab import gmm
    >>> mix = gmm(1, 2, "spherical")
    >>> mix.centres = [[0.0], [1.0]]
    >>> gmmactiv(mix, [[0.0]]).round(3)
    array([[0.399, 0.242]])
    """
    model, rows = _check_arguments(mix, x)
    return _activations(model, rows)


@with_default_errstate
def gmmpost(mix: Mix, x: Any) -> tuple[Array, Array]:
    """Compute the posterior probability of each component for each row.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)

    Returns
    -------
    post : ndarray of shape (n, ncentres)
        Computed from logarithms, so that it is right where all densities underflow.
    a : ndarray of shape (n, ncentres)
        The densities, as `gmmactiv` returns them.

    Examples
    --------
    >>> from ceiba.compat.netlab import gmm
    >>> mix = gmm(1, 2, "spherical")
    >>> mix.centres = [[0.0], [1.0]]
    >>> post, a = gmmpost(mix, [[0.5], [60.0]])
    >>> post.round(3)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    model, rows = _check_arguments(mix, x)
    return rows.predict(posteriors, model), _activations(model, rows)


@with_default_errstate
def gmmprob(mix: Mix, x: Any) -> Array:
    """Compute the density of the mixture at each row.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)

    Returns
    -------
    ndarray of shape (n,)
        0 where the density underflows; ``score_samples`` of `ceiba.GaussianMixture` returns its
        logarithm.

    Examples
    --------
    >>> from ceiba.compat.netlab import gmm
    >>> mix = gmm(1, 2, "spherical")
    >>> mix.centres = [[0.0], [1.0]]
    >>> gmmprob(mix, [[0.0]]).round(3)
    array([0.32])
    """
    model, rows = _check_arguments(mix, x)
    return np.asarray(np.exp(rows.predict(log_densities, model)))


def _check_arguments(mix: Mix, x: Any) -> tuple[Gaussians, Rows]:
    mix = check_mix(mix)
    return mix.gaussians(), Rows.of(x, mix.nin)


def _activations(model: Gaussians, rows: Rows) -> Array:
    """Compute the density of each component as a mixture of one."""
    k = len(model.weights)
    unweighted = Gaussians(np.ones(k), model.means, model.covariances, model.factors)
    logs = [rows.predict(log_densities, unweighted.take(slice(j, j + 1))) for j in range(k)]
    return np.asarray(np.exp(np.column_stack(logs)))


@with_default_errstate
def gmmsamp(mix: Mix, n: int, *, random_state: Any = None) -> tuple[Array, Array]:
    """Draw rows from a mixture.

    Parameters
    ----------
    mix : Mix
    n : int
        Number of rows.
    random_state : int, RandomState, Generator or None
        Seed of the draws; None for NumPy's global state.

    Returns
    -------
    data : ndarray of shape (n, nin)
        Sorted by component.
    label : ndarray of shape (n,)
        The component of each row, from 0: ``mix.centres[label]``. (Netlab's start at 1.)

    Examples
    --------
    >>> from ceiba.compat.netlab import gmm
    >>> data, label = gmmsamp(gmm(3, 2, "diag"), 100, random_state=0)
    >>> data.shape, label.shape
    ((100, 3), (100,))
    """
    check_count("n", n)
    return draw_rows(check_mix(mix).gaussians(), int(n), netlab_seed(random_state))
