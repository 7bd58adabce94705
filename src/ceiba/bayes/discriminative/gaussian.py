"""Discriminative training of naive Bayes with normal columns beside columns of categories.

A normal column is an exponential family: with the value z in units of the standard deviation of all
rows, class c adds ``linear[c] * z + quadratic[c] * z ** 2`` to its log score, and the normalizer is
part of the bias. The sums of 1, z and z^2 by class replace counts, so that the T and M
steps, L-BFGS and the ridge are those of categories. The terms z and z^2 are further rows of the
table of weights, below those of the families.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.coding import ToCodedRows
from ceiba.bayes.discriminative.metrics import natural_gradient
from ceiba.bayes.discriminative.objective import ConditionalLikelihood, SolverStep, Value
from ceiba.bayes.distributions.rows import ToNumericRows
from ceiba.bayes.families import Families
from ceiba.bayes.network import Weights, mean_values, probabilities
from ceiba.bayes.statistics import CodedRows
from ceiba.data.source import Chunk
from ceiba.engine import Batch
from ceiba.engine.contract import AdditiveStatistic

_ROWS = 65_536
_ARMIJO, _INSIDE, _MIN_STEP = 1e-4, 0.99, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MixedRows:
    """Coded rows with the values of normal columns, each with mean 0 and variance 1."""

    coded: CodedRows
    Z: Array

    def __len__(self) -> int:
        return len(self.Z)


@dataclass(frozen=True, eq=False)
class ToMixedRows:
    """Prepare a partition as mixed rows; ``center`` and ``spread`` are those of all rows."""

    codes: ToCodedRows
    numbers: ToNumericRows
    center: Array
    spread: Array

    def __call__(self, chunk: Chunk) -> MixedRows:
        """Return the rows of one chunk."""
        coded = self.codes(chunk)
        return MixedRows(coded, (self.numbers(chunk).X - self.center) / self.spread)


@dataclass(frozen=True, slots=True, eq=False)
class MixedSums(AdditiveStatistic):
    """Conditional log-likelihood, its gradient, and the diagonal of its negative Hessian."""

    objective: float
    table: Array
    bias: Array
    table_curvature: Array
    bias_curvature: Array

    @classmethod
    def of(cls, batch: Batch[MixedRows], families: Families, weights: Weights) -> MixedSums:
        """Sum over the rows of a batch."""
        found = cls(
            0.0, np.zeros_like(weights.table), np.zeros_like(weights.bias),
            np.zeros_like(weights.table), np.zeros_like(weights.bias),
        )  # fmt: skip
        for rows in _blocks(batch.rows):
            found = found.merge(cls._of_block(rows, families, weights, batch.threads))
        return found

    @classmethod
    def _of_block(
        cls, rows: MixedRows, families: Families, weights: Weights, threads: int
    ) -> MixedSums:
        scores = _scores(rows, families, weights, threads)
        log_p = scores - logsumexp(scores, axis=1, keepdims=True)
        labels, w = rows.coded.labels, rows.coded.weight
        assert labels is not None
        n = np.arange(len(rows))
        p = np.exp(log_p)
        own = np.ones(len(rows)) if w is None else w
        objective = float(own @ log_p[n, labels])
        residuals = -p
        residuals[n, labels] += 1.0
        residuals *= own[:, None]
        variances = own[:, None] * p * (1 - p)
        terms = np.concatenate([rows.Z, rows.Z**2], axis=1)
        table = np.concatenate([_table_sums(rows, families, residuals), terms.T @ residuals])
        curvature = np.concatenate(
            [_table_sums(rows, families, variances), (terms**2).T @ variances]
        )
        return cls(objective, table, residuals.sum(axis=0), curvature, variances.sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class MixedSteps(AdditiveStatistic):
    """Conditional log-likelihood at several steps along a direction."""

    log_likelihoods: Array

    @classmethod
    def of(
        cls,
        batch: Batch[MixedRows],
        families: Families,
        weights: Weights,
        direction: Weights,
        steps: Array,
    ) -> MixedSteps:
        """Compute the log-likelihoods of a batch."""
        found = np.zeros(len(steps))
        for rows in _blocks(batch.rows):
            start = _scores(rows, families, weights, batch.threads)
            along = _scores(rows, families, direction, batch.threads)
            n, w = np.arange(len(rows)), rows.coded.weight
            own = np.ones(len(rows)) if w is None else w
            for i, step in enumerate(steps):
                scores = start + step * along
                found[i] += own @ (scores[n, rows.coded.labels] - logsumexp(scores, axis=1))
        return cls(found)


@dataclass(frozen=True, slots=True, eq=False)
class MixedErrors(AdditiveStatistic):
    """Weight of the rows whose most probable class is not their own."""

    weight: float

    @classmethod
    def of(cls, batch: Batch[MixedRows], families: Families, weights: Weights) -> MixedErrors:
        """Sum the weight of the errors of a batch."""
        rows = batch.rows
        wrong = _scores(rows, families, weights, batch.threads).argmax(axis=1) != rows.coded.labels
        w = rows.coded.weight
        return cls(float(wrong.sum() if w is None else w[wrong].sum()))


def _blocks(rows: MixedRows) -> Iterator[MixedRows]:
    coded = rows.coded
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        labels = None if coded.labels is None else coded.labels[part]
        weight = None if coded.weight is None else coded.weight[part]
        yield MixedRows(CodedRows(coded.codes[part], labels, weight, coded.n_classes), rows.Z[part])


def _scores(rows: MixedRows, families: Families, weights: Weights, threads: int) -> Array:
    n, m = families.n_rows, rows.Z.shape[1]
    scores = np.empty((len(rows), len(weights.bias)))
    model = Weights(np.ascontiguousarray(weights.table[:n]), weights.bias)
    _native.bayes_log_joint(rows.coded.codes, model.native(families), scores, threads)
    scores += rows.Z @ weights.table[n : n + m]
    scores += rows.Z**2 @ weights.table[n + m :]
    return scores


def _table_sums(rows: MixedRows, families: Families, values: Array) -> Array:
    """Sum values of the rows and classes by the table rows of the families."""
    sums = np.zeros((families.n_rows, values.shape[1]))
    for own in families.table_rows(rows.coded.codes):
        for c in range(values.shape[1]):
            sums[:, c] += np.bincount(own, values[:, c], families.n_rows)
    return sums


@dataclass(frozen=True, eq=False)
class MixedLikelihood(ConditionalLikelihood):
    """Conditional log-likelihood with normal columns, minus a ridge on all weights but the bias.

    The ridge is on the weights of z and z^2, of columns divided by their standard deviation.
    """

    def value(self, weights: Weights, curvature: bool = False) -> Value:
        """Compute objective and derivatives in one pass."""
        sums = self.reduce(MixedSums.of, self.families, weights)
        residuals = Weights(sums.table, sums.bias)
        gradient = Weights(sums.table - self.ridge * weights.table, sums.bias)
        diagonal = Weights(sums.table_curvature + self.ridge, sums.bias_curvature)
        objective = sums.objective + self._penalty(weights)
        return Value(weights, objective, sums.objective, residuals, gradient, diagonal)

    def along(self, value: Value, direction: Weights, steps: Array) -> Array:
        """Compute the objective at several steps along a direction, in one pass."""
        sums = self.reduce(MixedSteps.of, self.families, value.weights, direction, steps)
        penalties = [self._penalty(value.weights.plus(float(t), direction)) for t in steps]
        return np.asarray(sums.log_likelihoods + penalties)

    def _penalty(self, weights: Weights) -> float:
        return -0.5 * self.ridge * float(np.vdot(weights.table, weights.table))


def diagonal_metric(value: Value) -> Any:
    """Return the inverse of the diagonal of the negative Hessian, where it is not zero."""
    assert value.curvature is not None
    table = np.maximum(value.curvature.table, 1e-6)
    bias = np.maximum(value.curvature.bias, 1e-6)
    return lambda gradient: Weights(gradient.table / table, gradient.bias / bias)


@dataclass(frozen=True, eq=False)
class MixedMeans:
    """Expected counts of the tables, and expected sums of z and z^2 of each class.

    Parameters
    ----------
    counts : Weights
    sums, squares : ndarray of shape (n_columns, n_classes)
    """

    counts: Weights
    sums: Array
    squares: Array

    @classmethod
    def of(
        cls, families: Families, network: Weights, mean: Array, variance: Array, total: float
    ) -> MixedMeans:
        """Return the expectations of a network with normal columns of given moments."""
        counts = mean_values(families, network, total)
        return cls(counts, counts.bias * mean, counts.bias * (variance + mean**2))

    def moved(self, step: float, residuals: Weights, n: int) -> MixedMeans:
        """Return the expectations plus ``step`` times the residuals; ``n`` rows are of tables."""
        m = len(self.sums)
        counts = self.counts.plus(step, Weights(residuals.table[:n], residuals.bias))
        sums = self.sums + step * residuals.table[n : n + m]
        return MixedMeans(counts, sums, self.squares + step * residuals.table[n + m :])

    @property
    def mean(self) -> Array:
        """Mean of each column and class."""
        return np.asarray(self.sums / self.counts.bias)

    @property
    def variance(self) -> Array:
        """Variance of each column and class."""
        return np.asarray(self.squares / self.counts.bias - self.mean**2)

    def weights(self, families: Families) -> Weights:
        """Return the log-linear weights of the model with these expectations (M step)."""
        return natural_weights(probabilities(families, self.counts), self.mean, self.variance)

    def max_step(self, residuals: Weights, n: int) -> float:
        """Return the largest step for which counts and variances are positive."""
        limits = [_limit(self.counts.table, residuals.table[:n])]
        limits.append(_limit(self.counts.bias, residuals.bias))
        # (squares + t g2) (counts + t g0) - (sums + t g1)^2 > 0
        m = len(self.sums)
        g0, g1, g2 = residuals.bias, residuals.table[n : n + m], residuals.table[n + m :]
        n0 = self.counts.bias
        a = g2 * g0 - g1**2
        b = self.squares * g0 + n0 * g2 - 2 * self.sums * g1
        c = self.squares * n0 - self.sums**2
        for coefficients in zip(a.ravel(), b.ravel(), c.ravel(), strict=True):
            roots = np.roots(coefficients)
            real = roots[np.isreal(roots)].real
            limits.append(float(real[real > 0].min(initial=np.inf)))
        return min(limits)

    def slope(self, families: Families, residuals: Weights) -> float:
        """Return the derivative of the conditional likelihood along a TM step."""
        n, m = families.n_rows, len(self.sums)
        g0, g1, g2 = residuals.bias, residuals.table[n : n + m], residuals.table[n + m :]
        of_tables = Weights(residuals.table[:n], residuals.bias)
        found = of_tables.dot(natural_gradient(families, self.counts, of_tables))
        mean, v = self.mean, self.variance
        d_mean = (g1 - mean * g0) / self.counts.bias
        d_square = (g2 - (v + mean**2) * g0) / self.counts.bias
        d_v = d_square - 2 * mean * d_mean
        linear = d_mean / v - mean * d_v / v**2
        quadratic = d_v / (2 * v**2)
        constant = -d_v / (2 * v) - mean * d_mean / v + mean**2 * d_v / (2 * v**2)
        return found + float((g1 * linear + g2 * quadratic + g0 * constant).sum())


def natural_weights(network: Weights, mean: Array, variance: Array) -> Weights:
    """Return the weights of a network with normal columns, (n_columns, n_classes) each."""
    table = np.concatenate([network.table, mean / variance, -0.5 / variance])
    constant = -0.5 * np.log(2 * np.pi * variance) - 0.5 * mean**2 / variance
    return Weights(table, network.bias + constant.sum(axis=0))


def normal_columns(weights: Weights, n: int, start: Weights) -> tuple[Weights, Array, Array]:
    """Return the weights of the families, and means and variances of the normal columns.

    What is added to the terms of all classes alike does not change p(c | x): it is chosen so that
    the largest variance of a column is that at the ``start``, and the means average to zero.
    """
    m = (len(weights.table) - n) // 2
    linear, quadratic = weights.table[n : n + m], weights.table[n + m :]
    largest = start.table[n + m :].max(axis=1, keepdims=True)
    quadratic = quadratic - quadratic.max(axis=1, keepdims=True) + largest
    variance = -0.5 / quadratic
    share = np.exp(start.bias - logsumexp(start.bias)) * variance
    linear = linear - (share * linear).sum(axis=1, keepdims=True) / share.sum(axis=1, keepdims=True)
    mean = linear * variance
    normalizer = 0.5 * np.log(2 * np.pi * variance) + 0.5 * mean**2 / variance
    return Weights(weights.table[:n], weights.bias + normalizer.sum(axis=0)), mean, variance


def mixed_tm_steps(
    objective: MixedLikelihood, value: Value, means: MixedMeans, tol: float
) -> Iterator[SolverStep]:
    """Iterate the TM algorithm until an iteration gains less than ``tol``."""
    families, n = objective.families, objective.families.n_rows
    step, at_once, gain = 1.0, False, np.inf
    while gain >= tol:
        residuals = value.residuals
        slope = means.slope(families, residuals)
        if not slope > 0:
            return
        max_step = means.max_step(residuals, n)
        step = min(2 * step if at_once else step, _INSIDE * max_step)
        first, new = step, None
        while step > _MIN_STEP:
            new = objective.value(means.moved(step, residuals, n).weights(families))
            if new.objective >= value.objective + _ARMIJO * step * slope:
                break
            step, new = 0.5 * step, None
        if new is None:
            return
        at_once, gain = step == first, new.objective - value.objective
        value, means = new, means.moved(step, residuals, n)
        yield SolverStep(value, step, {"max_step": max_step})


def _limit(means: Array, residuals: Array) -> float:
    falling = residuals < 0
    return float((means[falling] / -residuals[falling]).min(initial=np.inf))
