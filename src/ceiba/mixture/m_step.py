"""EM for Gaussian mixtures on any engine: expect, maximise, until the likelihood rests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ceiba._typing import Array
from ceiba.mixture.covariance import Floor, Form
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.prior import Penalty
from ceiba.mixture.statistics import ComponentMoments


@dataclass(frozen=True, slots=True)
class Rules:
    """How parameters are found from moments.

    Parameters
    ----------
    form : Form
    floor : Floor
    reg_covar : float
        Added to every variance.
    penalty : Penalty or None
        A prior.
    groups : tuple of int
        Components of each group of rows: weights sum to one within a group. A plain mixture has
        one group, a classifier with a shared covariance one a class.
    """

    form: Form
    floor: Floor
    reg_covar: float = 0.0
    penalty: Penalty | None = None
    groups: tuple[int, ...] = ()

    def without(self, dropped: Array) -> Rules:
        """The rules for the components that stay; ``dropped`` is a truth value for each."""
        stay = [int((~dropped[a:b]).sum()) for a, b in pairwise(np.cumsum((0, *self.groups)))]
        return replace(self, groups=tuple(stay))

    def log_prior(self, model: Gaussians) -> float:
        """What the prior adds to the objective."""
        return 0.0 if self.penalty is None else self.penalty.log_density(model)


def maximise(moments: ComponentMoments, rules: Rules) -> tuple[Gaussians, Array]:
    """Parameters of greatest (penalised) likelihood, and which components the floor held."""
    weights = _shares(moments.weights, rules.groups)
    if rules.penalty is not None:
        moments = rules.penalty.regularised(moments)
    covariances, held = _covariances(moments, rules)
    return Gaussians.of(weights, moments.means, covariances), held


def _covariances(moments: ComponentMoments, rules: Rules) -> tuple[Array, Array]:
    form, floor = rules.form, rules.floor
    scatters, shrunk = _regular(moments, rules)
    with np.errstate(divide="ignore", invalid="ignore"):  # what is no covariance is found below
        covariances = form.solve(moments.weights, scatters)
    if rules.reg_covar:
        covariances = regularised(covariances, rules.reg_covar)
    covariances, held = floor.hold(covariances)
    return covariances, held | shrunk


def _regular(moments: ComponentMoments, rules: Rules) -> tuple[Array, Array]:
    """Scatters as regular as the form needs them, and which components had to be raised."""
    scatters, floor = moments.scatters, rules.floor
    weights = moments.weights.reshape(-1, *[1] * (scatters.ndim - 1))
    nobody = np.zeros(len(scatters), bool)
    if rules.form.regular == "own":
        own, shrunk = floor.hold(scatters / weights)
        return own * weights, shrunk
    if rules.form.regular == "pooled":
        pooled = scatters.sum(axis=0, keepdims=True) / weights.sum()
        raised, low = floor.hold(pooled)
        return scatters + weights * (raised - pooled), nobody | low
    return scatters, nobody


def regularised(covariances: Array, reg_covar: float) -> Array:
    """Covariances with ``reg_covar`` added to every variance."""
    if covariances.ndim == 2:
        return covariances + reg_covar
    return covariances + reg_covar * np.eye(covariances.shape[-1])


def _shares(weights: Array, groups: tuple[int, ...]) -> Array:
    if len(groups) == 1:
        shares: Array = weights / weights.sum()
        return shares
    parts = np.split(weights, np.cumsum(groups)[:-1])
    return np.concatenate([part / part.sum() for part in parts])
