"""Naive Bayes of columns of categories and columns of exponential families, as the solvers need it.

The coefficients of the sufficient statistics (*terms*) of the numeric columns are further rows of
the table of weights, below those of the families. Sums of terms are to them what counts are to
categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.discriminative.exponential import ExponentialColumns
from ceiba.bayes.discriminative.metrics import Metric, RidgeMetric, natural_gradient
from ceiba.bayes.discriminative.table_model import DYING, TableModel
from ceiba.bayes.network import ClassTable, mean_values, normalize, probabilities, spread_missing

# A class without rows has a curvature of zero; in the metrics it has this share of the rows.
_MIN_CLASS_SHARE = 1e-6


@dataclass(frozen=True, eq=False)
class DensityModel(TableModel):
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

    blocks: tuple[ExponentialColumns, ...] = ()
    sums_missing: bool = False

    @property
    def is_known(self) -> Array:
        """Whether each row of the weights belongs to known values, or is a term."""
        return np.concatenate([self.families.is_known, np.ones(len(self._columns), bool)])

    @property
    def _columns(self) -> Array:
        """Numeric column of each term."""
        found, first = [], 0
        for block in self.blocks:
            m = len(block.columns)
            found.append(np.tile(np.arange(first, first + m), block.n_terms))
            first += m
        return np.concatenate(found)

    def tables(self, weights: ClassTable) -> ClassTable:
        """Return the weights of the families."""
        return ClassTable(weights.table[: self.families.n_table_rows], weights.bias)

    def terms(self, weights: ClassTable) -> Array:
        """Return the rows of the terms."""
        return weights.table[self.families.n_table_rows :]

    def parts(self, *terms: Array) -> Iterator[tuple[Any, ...]]:
        """Iterate over the blocks, each with its part of the terms."""
        first = 0
        for block in self.blocks:
            last = first + block.n_terms * len(block.columns)
            shape = (block.n_terms, len(block.columns), -1)
            yield block, *(rows[first:last].reshape(shape) for rows in terms)
            first = last

    def joined(self, tables: ClassTable, terms: Iterable[Array]) -> ClassTable:
        """Return tables with the terms of the blocks below."""
        k = len(tables.bias)
        rows = [part.reshape(-1, k) for part in terms]
        return ClassTable(np.concatenate([tables.table, *rows]), tables.bias)

    def log_normalizers(self, weights: ClassTable) -> Array:
        """Return the log normalizer of each numeric column and class; inf without a density."""
        parts = self.parts(self.terms(weights))
        return np.concatenate([block.log_normalizer(natural) for block, natural in parts])

    def term_means(self, weights: ClassTable) -> Array:
        """Return the expectation of each term, given the class."""
        parts = self.parts(self.terms(weights))
        k = len(weights.bias)
        return np.concatenate([block.means(own).reshape(-1, k) for block, own in parts])

    def start(self, network: ClassTable, fitted: Iterable[Any]) -> ClassTable:
        """Return the weights of a network and fitted distributions of the numeric columns."""
        pairs = zip(self.blocks, fitted, strict=True)
        return self._of_normalized(
            self.joined(network, [block.natural(block.means_of(own)) for block, own in pairs])
        )

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
        of_terms = self.parts(self.terms(means) / means.bias)
        return self._of_normalized(
            self.joined(tables, [block.natural(own) for block, own in of_terms])
        )

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
            terms = terms + missing[self._columns] * self.term_means(weights)
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
        own = self.terms(means) / means.bias
        change = self.solve_covariances(means, self.terms(residuals) - own * residuals.bias)
        bias = tables.bias - (own * change).sum(axis=0)
        return self.joined(ClassTable(tables.table, bias), [change])

    def solve_covariances(self, means: ClassTable, values: Array, ridge: float = 0.0) -> Array:
        """Return the inverse of (weight of the class * covariance + ridge) times the values."""
        weight = means.bias
        parts = self.parts(self.terms(means) / weight, values / weight)
        found = [
            block.solve_covariance(own, part, ridge / weight).reshape(-1, len(weight))
            for block, own, part in parts
        ]
        return np.concatenate(found)

    def without_dying(self, residuals: ClassTable, means: ClassTable) -> ClassTable:
        """Keep dying counts, columns whose variance or rate dies, and classes that die."""
        tables = super().without_dying(self.tables(residuals), self.tables(means))
        given = self.terms(means) / means.bias
        # With these residuals the distributions of the columns stay as they are.
        still = given * residuals.bias
        terms = []
        for block, mean, kept, own in self.parts(given, still, self.terms(residuals)):
            scale = block.scale(mean)
            dying = scale <= DYING * scale.mean(axis=1, keepdims=True)
            falling = block.scale_slope(mean, own - kept) < 0
            terms.append(np.where(dying & falling, kept, own))
        found = self.joined(tables, terms)
        gone = (means.bias <= DYING * means.bias.mean()) & (residuals.bias < 0)
        return ClassTable(np.where(gone, 0.0, found.table), np.where(gone, 0.0, found.bias))

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
            self._dispersed(means, total, tau),
            0.0,
            lambda gradient: natural_gradient(self.families, tables, gradient),
            np.zeros_like(self.terms(means)) if self.sums_missing else self.term_means(weights),
        )

    def ridge_metric(self, weights: ClassTable, total: float, ridge: float) -> DensityMetric:
        """Return the metric with a ridge."""
        means = self._dispersed(self.mean_values(weights, total), total, 0.0)
        network, _ = self.network(weights)
        tables = RidgeMetric.of(self.families, self.tables(network), total, ridge)
        return DensityMetric(self, means, ridge, tables, self.term_means(weights))

    def _dispersed(self, means: ClassTable, total: float, tau: float) -> ClassTable:
        """Return expected sums with the dispersion of the rows, and no class without rows.

        The curvature of the conditional likelihood is that of the rows, the curvature of tau times
        the joint one that of the model.
        """
        bias = np.maximum(means.bias, _MIN_CLASS_SHARE * total)
        parts = self.parts(self.terms(means) / means.bias)
        terms = [
            bias * (block.dispersed(own) + tau * own).reshape(-1, len(bias)) / (1 + tau)
            for block, own in parts
        ]
        return self.joined(ClassTable(self.tables(means).table, bias), terms)

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
            within = self._covariance(mean, terms[:, c : c + 1])
            curvature[c, :, c] = shares[c] * (within + np.outer(mean, mean))
        joint = (shares[:, None] * means).ravel()
        return np.asarray(total * (curvature.reshape(len(joint), -1) - np.outer(joint, joint)))

    def _covariance(self, mean: Array, terms: Array) -> Array:
        """Return the covariances of bias, indicators and terms given a class, from their means."""
        families = self.families
        group = np.repeat(np.arange(len(families.group_sizes)), families.group_sizes)
        group = group[families.is_known]
        theta, first = mean[1 : 1 + len(group)], 1 + len(group)
        found = np.zeros((len(mean), len(mean)))
        within = np.diag(theta) - np.outer(theta, theta)
        found[1:first, 1:first] = np.where(group[:, None] == group, within, 0.0)
        for block, own in self.parts(terms):
            covariance = block.covariance(own)[..., 0]
            index = first + np.arange(own[..., 0].size).reshape(block.n_terms, -1)
            for i, j in np.ndindex(covariance.shape[:2]):
                found[index[i], index[j]] = covariance[i, j]
            first += index.size
        return found

    def term_variances(self, weights: ClassTable) -> Array:
        """Return the variance of each term over all classes."""
        shares, given = np.exp(self.network(weights)[0].bias), self.term_means(weights)
        within: list[Array] = []
        for block, own in self.parts(given):
            covariance = block.covariance(own)
            within += [covariance[i, i] for i in range(block.n_terms)]
        return np.asarray((np.concatenate(within) + given**2) @ shares - (given @ shares) ** 2)

    def statistics(self, X: Array) -> Array:
        """Return the terms of each row of numeric values."""
        found, first = [], 0
        for block in self.blocks:
            last = first + len(block.columns)
            found.append(block.statistics(X[:, first:last]))
            first = last
        return np.concatenate(found, axis=1)

    def design(self, rows: Any) -> Array:
        """Return the indicators of each row and its terms."""
        return np.concatenate([super().design(rows), self.statistics(rows.X)], axis=1)

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


@dataclass(frozen=True, eq=False)
class DensityMetric:
    """Metric of the TM step, or its form with a ridge, with numeric columns.

    Parameters
    ----------
    model : DensityModel
    means : ClassTable
        Expected sums of the terms, whose covariances are the curvature.
    ridge : float
    tables : callable
        The metric of the families.
    offsets : ndarray of shape (n_terms, n_classes)
        Means of the terms, which log-linear weights have in the bias; 0 for normalized ones.
    """

    model: DensityModel
    means: ClassTable
    ridge: float
    tables: Any
    offsets: Array

    def __call__(self, gradient: ClassTable) -> ClassTable:
        """Return the metric applied to a gradient."""
        model = self.model
        tables = self.tables(model.tables(gradient))
        terms = self._center(model.terms(gradient)) - self.offsets * gradient.bias
        change = model.solve_covariances(self.means, terms, self.ridge)
        bias = tables.bias - (self.offsets * change).sum(axis=0)
        return model.joined(ClassTable(tables.table, bias), [self._center(change)])

    def smallest(self, weights: ClassTable) -> ClassTable:
        """Return the weights with the same p(c | x) whose sum of squares is minimal."""
        tables = self.tables.smallest(self.model.tables(weights))
        return self.model.joined(tables, [self._center(self.model.terms(weights))])

    def _center(self, terms: Array) -> Array:
        """With a ridge, subtract the mean over the classes, which does not change p(c | x)."""
        return terms - terms.mean(axis=1, keepdims=True) if self.ridge else terms
