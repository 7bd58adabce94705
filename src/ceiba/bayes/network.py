"""Parameters of a Bayesian network classifier, and their conversions.

The same classifier has three forms, each a `ClassTable`: conditional probabilities (a network),
log-linear weights (any real numbers), and mean values (expected counts under the network). Every
log-linear classifier is a network with the same class posteriors, if each family's parents lie in
the table of one other family (`Structure.containing_family`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from ceiba._native import LogLinear
from ceiba._typing import Array
from ceiba.bayes.families import Families

# Smallest probability before a logarithm: log 0 would make 0 * log 0 of a sum NaN.
MIN_PROBABILITY = 1e-290


@dataclass(frozen=True, eq=False)
class ClassTable:
    """A number for each table row and class, and one for each class.

    All quantities of a network have this form: its parameters, the *weights* of
    ``log p(c, x) = bias[c] + sum of table[row of each family, c]`` (log probabilities, or any
    log-linear weights), and counts, expected counts (*means*), gradients and residuals.

    Parameters
    ----------
    table : ndarray of shape (n_table_rows, n_classes)
    bias : ndarray of shape (n_classes,)
    """

    table: Array
    bias: Array

    def native(self, families: Families) -> LogLinear:
        """Return weights for the native passes; NaN marks missing values to be summed over."""
        sums_missing = families.structure.is_forest and bool(np.isnan(self.table).any())
        return LogLinear(families.native, self.table, self.bias, sums_missing)

    def plus(self, step: float, direction: ClassTable) -> ClassTable:
        """Return ``self + step * direction``."""
        return ClassTable(self.table + step * direction.table, self.bias + step * direction.bias)

    def times(self, factor: float) -> ClassTable:
        """Return all numbers times a factor."""
        return ClassTable(factor * self.table, factor * self.bias)

    def dot(self, other: ClassTable) -> float:
        """Return the inner product."""
        return float(np.vdot(self.table, other.table) + np.vdot(self.bias, other.bias))


@dataclass(frozen=True)
class Smoothing:
    """Pseudo-counts of the conditional distributions.

    Parameters
    ----------
    alpha : float
        Added to the count of each category (1: Laplace) and, without ``m_prior``, of each class.
    m_prior : float or None
        The m-estimate instead: so many rows with the distribution of the feature over all classes.
    """

    alpha: float = 1.0
    m_prior: float | None = None

    def apply(self, families: Families, counts: Array) -> Array:
        """Return the counts with pseudo-counts; rows with missing values get none."""
        if self.m_prior is None:
            return np.where(families.is_known[:, None], counts + self.alpha, 0.0)
        known = np.where(families.is_known[:, None], counts, 0.0)
        overall = np.zeros((families.n_table_rows, 1))
        for family in range(len(families.shapes)):
            view = families.view(known, family)
            of_feature = view.sum(axis=(*range(view.ndim - 2), view.ndim - 1))
            share = of_feature / max(of_feature.sum(), 1e-300)
            families.view(overall, family)[:] = share[:, None]
        return np.where(families.is_known[:, None], known + self.m_prior * overall, 0.0)


def probabilities(
    families: Families, counts: ClassTable, smoothing: Smoothing | None = None
) -> ClassTable:
    """Return the log probabilities of the network with the given counts.

    Without ``smoothing`` the counts are taken as they are. A group without counts is uniform.
    """
    known = families.is_known[:, None]
    smoothed = np.where(known, counts.table, 0.0)
    bias = counts.bias
    if smoothing is not None:
        smoothed = smoothing.apply(families, counts.table)
        bias = bias + (smoothing.alpha if smoothing.m_prior is None else 0.0)
    sums = families.group_sums(smoothed)
    uniform = np.repeat(1.0 / np.maximum(families.group_sizes - 1, 1), families.group_sizes)
    theta = np.divide(
        smoothed, sums, out=np.broadcast_to(uniform[:, None], smoothed.shape).copy(), where=sums > 0
    )
    return ClassTable(
        np.where(known, np.log(np.maximum(theta, MIN_PROBABILITY)), 0.0),
        np.log(np.maximum(bias / bias.sum(), MIN_PROBABILITY)),
    )


def mark_summed(families: Families, network: ClassTable) -> ClassTable:
    """Return a network whose missing values are summed over by the native passes."""
    if not families.is_summed.any():
        return network
    return ClassTable(np.where(families.is_summed[:, None], np.nan, network.table), network.bias)


def spread_missing(families: Families, network: ClassTable, sums: Array) -> Array:
    """Distribute what rows with a missing feature got over the categories of the feature.

    Given its parents and the class, the expectation of a missing feature without children is its
    conditional distribution.
    """
    known = families.is_known[:, None]
    unknown = np.where(known, 0.0, sums)
    if not unknown.any():
        return np.where(known, sums, 0.0)
    probability = np.where(known, np.exp(network.table), 0.0)
    return np.where(known, sums + families.group_sums(unknown) * probability, 0.0)


def mean_values(families: Families, network: ClassTable, total: float) -> ClassTable:
    """Return the expected counts ``total * p(c, parents, feature)`` of a network."""
    bias = total * np.exp(network.bias)
    table = np.where(families.is_known[:, None], np.exp(network.table), 0.0)
    for family in range(len(families.shapes)):
        margin = families.parent_marginal(table, family)
        families.view(table, family)[:] *= bias if margin is None else margin[..., None, :]
    return ClassTable(table, bias)


def feature_margins(families: Families, network: ClassTable, total: float) -> Array:
    """Return the expected number of rows in each table row, over all classes."""
    return np.asarray(mean_values(families, network, total).table.sum(axis=1))


def as_network(families: Families, weights: ClassTable) -> ClassTable:
    """Return the log probabilities of the network with the class posteriors of the weights.

    Each family, from the last to the first, is normalized; the normalizers, functions of its
    parents and the class, are added to the table that contains the parents.
    """
    network, _ = normalize(families, weights)
    return network


def normalize(families: Families, weights: ClassTable) -> tuple[ClassTable, float]:
    """Return the network of some weights, and the logarithm of their partition function.

    ``weights(c, x) = network(c, x) + log partition`` for every row x without missing values.
    """
    known = families.is_known[:, None]
    table, bias = np.where(known, weights.table, -np.inf), weights.bias.copy()
    for family in reversed(range(len(families.shapes))):
        view = families.view(table, family)
        top = view.max(axis=-2)
        top[~np.isfinite(top)] = 0.0
        sums = np.exp(view - top[..., None, :]).sum(axis=-2)
        normalizer = top + np.log(sums, out=np.zeros_like(sums), where=sums > 0)
        view -= normalizer[..., None, :]
        if not families.add_to_parents(table, family, normalizer):
            bias += normalizer
    log_partition = float(logsumexp(bias))
    return ClassTable(np.where(known, table, 0.0), bias - log_partition), log_partition


def match_margins(families: Families, weights: ClassTable, margins: Array) -> ClassTable:
    """Return the network with given class posteriors whose tables have given margins.

    Margins are how the features alone are distributed (`feature_margins`). A number h(row) is added
    to the weights of each table row, for all classes alike, which does not change p(c | x). The h
    of the wanted margins m minimize ``n log Z(h) - <m, h>``, a convex function whose gradient is
    the present minus the wanted margins. (Iterative proportional fitting has the same limit, but
    needs a pass over the tables for each family and step.)

    Parameters
    ----------
    families : Families
    weights : ClassTable
        Any log-linear weights.
    margins : ndarray of shape (n_table_rows,)
        Expected number of rows in each table row, over all classes.
    """
    start = as_network(families, weights)
    used = np.flatnonzero(families.is_known & (margins > 0))
    if not len(used):
        return start
    total = float(margins[: families.offsets[1]].sum())
    # In these units the curvature is about 1.
    unit = 1.0 / np.sqrt(margins[used])

    def shifted(h: Array) -> tuple[ClassTable, float]:
        table = start.table.copy()
        table[used] += (unit * h)[:, None]
        return normalize(families, ClassTable(table, start.bias))

    def objective(h: Array) -> tuple[float, Array]:
        network, log_partition = shifted(h)
        present = mean_values(families, network, total).table[used].sum(axis=1)
        value = total * log_partition - float(margins[used] @ (unit * h))
        return value, unit * (present - margins[used])

    options = {"maxiter": 1000, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-7}
    found = minimize(objective, np.zeros(len(used)), jac=True, method="L-BFGS-B", options=options)
    return shifted(found.x)[0]
