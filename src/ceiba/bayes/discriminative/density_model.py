"""Naive Bayes of columns of categories and columns of exponential families, as the solvers need it.

Layout and terms are those of `TermLayout`. The model converts weights to expected values (the M
step is the way back), and has the natural gradient and the step limits of the TM algorithm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.discriminative.density_layout import TermLayout
from ceiba.bayes.discriminative.density_metrics import DensityMetric, class_covariance, dispersed
from ceiba.bayes.discriminative.metrics import Metric, RidgeMetric, natural_gradient
from ceiba.bayes.discriminative.table_model import VANISHING
from ceiba.bayes.network import ClassTable, mean_values, normalize, probabilities, spread_missing


@dataclass(frozen=True, eq=False)
class DensityModel(TermLayout):
    """Expected sums, natural gradient and scores of naive Bayes with numeric columns.

    Parameters
    ----------
    families : Families
        Of the columns of categories.
    blocks : tuple of ExponentialColumns
        The numeric columns, in their order in the rows.
    sums_missing : bool
        Whether missing values are summed over. The weights are then *normalized*: log
        probabilities of categories and classes, while a known value adds its log density. Otherwise
        they are log-linear: any real numbers, with all normalizers in the bias.
    """

    sums_missing: bool = False

    def start(self, network: ClassTable, fitted: Iterable[Any]) -> ClassTable:
        """Return the weights of a network and fitted distributions of the numeric columns."""
        pairs = zip(self.blocks, fitted, strict=True)
        terms = [block.natural(block.means_of(density)) for block, density in pairs]
        return self._of_normalized(self.joined(network, terms))

    def fitted(self, weights: ClassTable) -> list[Any]:
        """Return the distributions of the numeric columns in the units of the fit."""
        return [block.fitted(natural) for block, natural in self.parts(self.terms(weights))]

    def _of_normalized(self, weights: ClassTable) -> ClassTable:
        """Return normalized weights in the form of this model."""
        if self.sums_missing:
            return weights
        return ClassTable(weights.table, weights.bias - self.log_normalizers(weights).sum(axis=0))

    def network(self, weights: ClassTable) -> tuple[ClassTable, float]:
        """Return the normalized weights, and the logarithm of the partition function."""
        tables, bias = self.tables(weights), weights.bias
        if self.sums_missing:
            # The columns are independent given the class, so that this normalizes each one.
            table = normalize(self.families, tables)[0].table
            found, log_partition = ClassTable(table, bias - logsumexp(bias)), 0.0
        else:
            bias = bias + self.log_normalizers(weights).sum(axis=0)
            found, log_partition = normalize(self.families, ClassTable(tables.table, bias))
        return self.joined(found, [self.terms(weights)]), log_partition

    def mean_values(self, weights: ClassTable, total: float) -> ClassTable:
        """Return the expected counts and sums of terms of ``total`` rows."""
        network, _ = self.network(weights)
        counts = mean_values(self.families, self.tables(network), total)
        return self.joined(counts, [counts.bias * self.term_means(weights)])

    def from_means(self, means: ClassTable) -> ClassTable:
        """Return the weights of the model with some expected counts and sums (M step)."""
        tables = probabilities(self.families, self.tables(means))
        parts = self.parts(self.terms(means) / means.bias)
        terms = [block.natural(mean) for block, mean in parts]
        return self._of_normalized(self.joined(tables, terms))

    def pooled(self, weights: ClassTable) -> ClassTable:
        """Return the weights of a model in which the classes differ in their frequencies only."""
        means = self.mean_values(weights, 1.0)
        return self.from_means(
            ClassTable(np.outer(means.table.sum(axis=1), means.bias), means.bias)
        )

    def complete(self, weights: ClassTable, sums: ClassTable, missing: Array) -> ClassTable:
        """Add what rows with missing values are expected to have, given the class.

        ``sums`` are over known values, ``missing`` over the rows in which a column is missing.
        """
        tables = self.tables(sums)
        table = spread_missing(self.families, self.tables(weights), tables.table)
        terms = self.terms(sums)
        if self.sums_missing:
            terms = terms + missing[self.term_columns] * self.term_means(weights)
        return self.joined(ClassTable(table, tables.bias), [terms])

    def along_networks(self, network: ClassTable, gradient: ClassTable) -> ClassTable:
        """Return the gradient in weights that are normalized afterwards."""
        families, tables = self.families, self.tables(gradient)
        theta = np.where(families.is_known[:, None], np.exp(self.tables(network).table), 0.0)
        table = tables.table - theta * families.group_sums(tables.table)
        terms = self.terms(gradient) - self.term_means(network) * gradient.bias
        bias = gradient.bias - np.exp(network.bias) * gradient.bias.sum()
        return self.joined(ClassTable(table, bias), [terms])

    def natural_gradient(self, means: ClassTable, residuals: ClassTable) -> ClassTable:
        """Return the change of log-linear weights per unit of a step in the expected values."""
        tables = natural_gradient(self.families, self.tables(means), self.tables(residuals))
        given = self.terms(means) / means.bias
        change = self.solve_covariances(means, self.terms(residuals) - given * residuals.bias)
        bias = tables.bias - (given * change).sum(axis=0)
        return self.joined(ClassTable(tables.table, bias), [change])

    def freeze_vanishing(self, residuals: ClassTable, means: ClassTable) -> ClassTable:
        """Keep vanishing counts, columns whose variance or rate vanishes, and such classes."""
        tables = super().freeze_vanishing(self.tables(residuals), self.tables(means))
        given = self.terms(means) / means.bias
        # With these residuals the distributions of the columns stay as they are.
        keeping = given * residuals.bias
        terms = []
        for block, mean, kept, found in self.parts(given, keeping, self.terms(residuals)):
            scale = block.scale(mean)
            vanishing = scale <= VANISHING * scale.mean(axis=1, keepdims=True)
            falling = block.scale_slope(mean, found - kept) < 0
            terms.append(np.where(vanishing & falling, kept, found))
        joined = self.joined(tables, terms)
        vanishing_class = (means.bias <= VANISHING * means.bias.mean()) & (residuals.bias < 0)
        return ClassTable(
            np.where(vanishing_class, 0.0, joined.table),
            np.where(vanishing_class, 0.0, joined.bias),
        )

    def max_step(self, means: ClassTable, residuals: ClassTable) -> float:
        """Return the largest step for which no count is negative and all densities exist."""
        limits = [super().max_step(self.tables(means), self.tables(residuals))]
        for block, sums, change in self.parts(self.terms(means), self.terms(residuals)):
            limits.append(block.max_step(means.bias, sums, residuals.bias, change))
        return min(limits)

    def metric(self, weights: ClassTable, total: float, tau: float = 0.0) -> Metric:
        """Return the metric of the TM step, in weights of the form of this model."""
        means = self.mean_values(weights, (1 + tau) * total)
        tables = self.tables(means)
        return DensityMetric(
            self,
            dispersed(self, means, total, tau),
            0.0,
            lambda gradient: natural_gradient(self.families, tables, gradient),
            np.zeros_like(self.terms(means)) if self.sums_missing else self.term_means(weights),
        )

    def ridge_metric(self, weights: ClassTable, total: float, ridge: float) -> DensityMetric:
        """Return the metric with a ridge."""
        means = dispersed(self, self.mean_values(weights, total), total, 0.0)
        network, _ = self.network(weights)
        tables = RidgeMetric.of(self.families, self.tables(network), total, ridge)
        return DensityMetric(self, means, ridge, tables, self.term_means(weights))

    def joint_curvature(self, weights: ClassTable, total: float) -> Array:
        """Return the curvature of the joint log-likelihood, in the order of `flatten`."""
        network, _ = self.network(weights)
        shares, theta = np.exp(network.bias), np.exp(self.tables(network).table)
        terms = self.term_means(weights)
        # Expectations of the bias, which is 1, the indicators and the terms, given each class.
        given = self.joined(ClassTable(theta, np.ones_like(shares)), [terms])
        means = self.flatten(given).reshape(len(shares), -1)
        width = means.shape[1]
        curvature = np.zeros((len(shares), width, len(shares), width))
        for c, mean in enumerate(means):
            within = class_covariance(self, mean, terms[:, c : c + 1])
            curvature[c, :, c] = shares[c] * (within + np.outer(mean, mean))
        joint = (shares[:, None] * means).ravel()
        return np.asarray(total * (curvature.reshape(len(joint), -1) - np.outer(joint, joint)))

    def term_variances(self, weights: ClassTable) -> Array:
        """Return the variance of each term over all classes."""
        shares, given = np.exp(self.network(weights)[0].bias), self.term_means(weights)
        within: list[Array] = []
        for block, means in self.parts(given):
            covariance = block.covariance(means)
            within += [covariance[i, i] for i in range(block.n_terms)]
        return np.asarray((np.concatenate(within) + given**2) @ shares - (given @ shares) ** 2)

    def log_scores(self, rows: Any, weights: ClassTable, threads: int) -> Array:
        """Return the log scores of the classes for each row of data."""
        table, bias = np.ascontiguousarray(self.tables(weights).table), weights.bias
        X = rows.X
        if self.sums_missing:
            normalizers = self.log_normalizers(weights)
            missing = np.isnan(X)
            X, bias = np.where(missing, 0.0, X), bias - normalizers.sum(axis=0)
        scores = np.empty((len(X), len(bias)))
        native = ClassTable(table, bias).native(self.families)
        _native.bayes_log_joint(rows.codes, native, scores, threads)
        scores += self.statistics(X) @ self.terms(weights)
        if self.sums_missing:
            scores += missing @ normalizers
        return scores
