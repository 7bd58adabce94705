"""Curvature of naive Bayes with numeric columns: metrics of the solvers, and covariances.

As in `ceiba.bayes.discriminative.metrics`, with the covariances of the terms given the class for
the numeric columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discriminative.density_layout import TermLayout
from ceiba.bayes.discriminative.metrics import MIN_CLASS_SHARE
from ceiba.bayes.network import ClassTable


@dataclass(frozen=True, eq=False)
class DensityMetric:
    """Metric of the TM step, or its form with a ridge, with numeric columns.

    Parameters
    ----------
    layout : TermLayout
    means : ClassTable
        Expected sums of the terms, whose covariances are the curvature.
    ridge : float
    tables : callable
        The metric of the families.
    offsets : ndarray of shape (n_terms, n_classes)
        Means of the terms, which log-linear weights have in the bias; 0 for normalized ones.
    """

    layout: TermLayout
    means: ClassTable
    ridge: float
    tables: Any
    offsets: Array

    def __call__(self, gradient: ClassTable) -> ClassTable:
        """Return the metric applied to a gradient."""
        layout = self.layout
        tables = self.tables(layout.tables(gradient))
        terms = self._center(layout.terms(gradient)) - self.offsets * gradient.bias
        change = layout.solve_covariances(self.means, terms, self.ridge)
        bias = tables.bias - (self.offsets * change).sum(axis=0)
        return layout.joined(ClassTable(tables.table, bias), [self._center(change)])

    def min_norm(self, weights: ClassTable) -> ClassTable:
        """Return the weights with the same p(c | x) whose sum of squares is minimal."""
        tables = self.tables.min_norm(self.layout.tables(weights))
        return self.layout.joined(tables, [self._center(self.layout.terms(weights))])

    def _center(self, terms: Array) -> Array:
        """With a ridge, subtract the mean over the classes, which does not change p(c | x)."""
        return terms - terms.mean(axis=1, keepdims=True) if self.ridge else terms


def dispersed(layout: TermLayout, means: ClassTable, total: float, tau: float) -> ClassTable:
    """Return expected sums with the dispersion of the rows, and no class without rows.

    The curvature of the conditional likelihood is that of the rows, the curvature of tau times
    the joint one that of the model.
    """
    bias = np.maximum(means.bias, MIN_CLASS_SHARE * total)
    parts = layout.parts(layout.terms(means) / means.bias)
    terms = [
        bias * (block.dispersed(mean) + tau * mean).reshape(-1, len(bias)) / (1 + tau)
        for block, mean in parts
    ]
    return layout.joined(ClassTable(layout.tables(means).table, bias), terms)


def class_covariance(layout: TermLayout, mean: Array, terms: Array) -> Array:
    """Return the covariances of bias, indicators and terms given a class, from their means.

    ``mean`` has the means of all of them in the order of `flatten`, ``terms`` those of the terms.
    """
    families = layout.families
    group = np.repeat(np.arange(len(families.group_sizes)), families.group_sizes)
    group = group[families.is_known]
    theta, first = mean[1 : 1 + len(group)], 1 + len(group)
    found = np.zeros((len(mean), len(mean)))
    within = np.diag(theta) - np.outer(theta, theta)
    found[1:first, 1:first] = np.where(group[:, None] == group, within, 0.0)
    for block, term_means in layout.parts(terms):
        covariance = block.covariance(term_means)[..., 0]
        index = first + np.arange(term_means[..., 0].size).reshape(block.n_terms, -1)
        for i, j in np.ndindex(covariance.shape[:2]):
            found[index[i], index[j]] = covariance[i, j]
        first += index.size
    return found
