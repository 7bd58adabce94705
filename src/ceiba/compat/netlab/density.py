"""Densities and posteriors of a mixture."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.netlab.mix import Mix, checked_mix
from ceiba.compat.netlab.rows import Rows
from ceiba.mixture.densities import Gaussians, LogDensities, Posteriors


def gmmactiv(mix: Mix, x: Any) -> Array:
    """Density of each component at each row, without its prior.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)

    Returns
    -------
    ndarray of shape (n, ncentres)
        0 where a density is too small for a number.

    Examples
    --------
    >>> from ceiba.compat.netlab import gmm
    >>> mix = gmm(1, 2, "spherical")
    >>> mix.centres = [[0.0], [1.0]]
    >>> gmmactiv(mix, [[0.0]]).round(3)
    array([[0.399, 0.242]])
    """
    model, rows = _asked(mix, x)
    return _activations(model, rows)


def gmmpost(mix: Mix, x: Any) -> tuple[Array, Array]:
    """Posterior probability of each component for each row.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)

    Returns
    -------
    post : ndarray of shape (n, ncentres)
        Found from logarithms, so that it is right where all densities are too small for numbers.
    a : ndarray of shape (n, ncentres)
        The densities, as `gmmactiv` gives them.

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
    model, rows = _asked(mix, x)
    post: Array = rows.ask(Posteriors.of, model).values
    return post, _activations(model, rows)


def gmmprob(mix: Mix, x: Any) -> Array:
    """Density of the mixture at each row.

    Parameters
    ----------
    mix : Mix
    x : array of shape (n, nin)

    Returns
    -------
    ndarray of shape (n,)
        0 where the density is too small for a number; ``score_samples`` of
        `ceiba.GaussianMixture` gives its logarithm.

    Examples
    --------
    >>> from ceiba.compat.netlab import gmm
    >>> mix = gmm(1, 2, "spherical")
    >>> mix.centres = [[0.0], [1.0]]
    >>> gmmprob(mix, [[0.0]]).round(3)
    array([0.32])
    """
    model, rows = _asked(mix, x)
    density: Array = np.exp(rows.ask(LogDensities.of, model).values)
    return density


def _asked(mix: Mix, x: Any) -> tuple[Gaussians, Rows]:
    mix = checked_mix(mix)
    return mix.gaussians(), Rows.of(x, mix.nin)


def _activations(model: Gaussians, rows: Rows) -> Array:
    """Each component alone, as a mixture of one."""
    alone = Gaussians(np.ones(len(model.weights)), model.means, model.covariances, model.factors)
    logs = [
        rows.ask(LogDensities.of, alone.take(slice(j, j + 1))).values
        for j in range(len(model.weights))
    ]
    densities: Array = np.exp(np.column_stack(logs))
    return densities
