"""Statistics of coded rows: counts, expected counts, and passes of discriminative training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ceiba import _native
from ceiba._native import ClassWeighting
from ceiba._typing import Array
from ceiba.bayes.families import Families
from ceiba.bayes.network import ClassTable
from ceiba.engine.contract import AdditiveStatistic, Batch

S = TypeVar("S", bound=Any)
# Of the draws that assign rows to folds.
_FOLD_STREAM = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Codes of the features, class indices and weights.

    Parameters
    ----------
    codes : ndarray of uint8 or uint16, shape (n_rows, n_features)
        The last code of a feature stands for a missing value.
    labels : ndarray of int32, shape (n_rows,), or None
        Class indices; None where the class is latent.
    weight : ndarray of float64 or None
    n_classes : int
    """

    codes: Array
    labels: Array | None
    weight: Array | None
    n_classes: int

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, index: Array | slice) -> CodedRows:
        """Return some of the rows."""
        labels = None if self.labels is None else self.labels[index]
        weight = None if self.weight is None else self.weight[index]
        return CodedRows(self.codes[index], labels, weight, self.n_classes)

    @property
    def native(self) -> _native.CodedRows:
        """The rows for the native passes."""
        return _native.CodedRows(self.codes, self.labels, self.weight, self.n_classes)


@dataclass(frozen=True, slots=True, eq=False)
class TableCounts(AdditiveStatistic):
    """Weight of the rows by table row and class, and by class."""

    table: Array
    bias: Array

    @classmethod
    def of(cls, batch: Batch[CodedRows], families: Families) -> TableCounts:
        """Count the rows of a batch."""
        rows = batch.rows
        table = np.zeros((families.n_table_rows, rows.n_classes))
        _native.bayes_family_counts(rows.native, families.native, table, batch.threads)
        assert rows.labels is not None
        classes = np.bincount(rows.labels, rows.weight, rows.n_classes)
        return cls(table, classes.astype(np.float64))


@dataclass(frozen=True, slots=True)
class PairBlock:
    """Pairs i < j of features, i and j in ranges of columns; in the order of i, then j.

    Parameters
    ----------
    firsts, seconds : tuple of (begin, end)
    """

    firsts: tuple[int, int]
    seconds: tuple[int, int]

    @classmethod
    def of_all(cls, n_features: int) -> PairBlock:
        """Return the block of all pairs."""
        return cls((0, n_features), (0, n_features))

    @property
    def native(self) -> tuple[int, int, int, int]:
        """The ranges for the native passes."""
        return (*self.firsts, *self.seconds)

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Iterate over the pairs."""
        for i in range(*self.firsts):
            for j in range(max(i + 1, self.seconds[0]), self.seconds[1]):
                yield i, j

    def n_entries(self, sizes: Array) -> int:
        """Return the number of combinations of codes of all pairs, without the class."""
        wide = sizes.astype(np.int64)
        ends = np.concatenate([[0], np.cumsum(wide)])
        first, last = self.firsts
        begins = np.clip(np.arange(first, last) + 1, self.seconds[0], self.seconds[1])
        return int((wide[first:last] * (ends[self.seconds[1]] - ends[begins])).sum())


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts(AdditiveStatistic):
    """Weight of the rows by the codes of each pair of features and the class."""

    counts: Array

    @classmethod
    def of(
        cls, batch: Batch[CodedRows], sizes: Array, block: PairBlock | None = None
    ) -> PairCounts:
        """Count the rows of a batch; ``sizes`` (int32) are the numbers of codes."""
        block = PairBlock.of_all(len(sizes)) if block is None else block
        counts = np.zeros(block.n_entries(sizes) * batch.rows.n_classes)
        _native.bayes_pair_counts(batch.rows.native, sizes, block.native, counts, batch.threads)
        return cls(counts)

    def tables(
        self, sizes: Array, n_classes: int, block: PairBlock | None = None
    ) -> Iterator[tuple[int, int, Array]]:
        """Iterate over (i, j, table), the table of shape (sizes[i], n_classes, sizes[j])."""
        block = PairBlock.of_all(len(sizes)) if block is None else block
        start = 0
        for i, j in block.pairs():
            size = int(sizes[i]) * n_classes * int(sizes[j])
            part = self.counts[start : start + size]
            yield i, j, part.reshape(sizes[i], n_classes, sizes[j])
            start += size


@dataclass(frozen=True, slots=True, eq=False)
class TableSums(AdditiveStatistic):
    """Class weights of the rows, summed by table row; what they are is the `ClassWeighting`.

    Attributes
    ----------
    objective : float
        Sum of log p(y | x) (RESIDUALS), log p(y, x) (LABELS), log p(x) (POSTERIORS), or of the
        divergence of p(c | x) from p(c) (INFORMATION).
    table, bias : ndarray
        Sums by table row and class, and by class. RESIDUALS: the gradient of the conditional
        log-likelihood; LABELS and POSTERIORS: expected counts.
    table_variances : ndarray or float
        Sums of p(c | x) * (1 - p(c | x)) by table row and class, the diagonal of the negative
        Hessian; 0.0 without ``variances``.
    """

    objective: float
    table: Array
    bias: Array
    table_variances: Any = 0.0

    @classmethod
    def of(
        cls,
        batch: Batch[CodedRows],
        families: Families,
        weights: ClassTable,
        weighting: ClassWeighting = ClassWeighting.RESIDUALS,
        target: Families | None = None,
        variances: bool = False,
        class_means: Array | None = None,
    ) -> TableSums:
        """Sum the class weights of a batch by the table rows of ``target`` (the families)."""
        rows, k = batch.rows, batch.rows.n_classes
        n = (target or families).n_table_rows
        table, bias = np.zeros((n, k)), np.zeros(k)
        table_variances = np.zeros((n, k)) if variances else None
        objective = _native.bayes_table_sums(
            rows.native,
            weights.native(families),
            None if target is None else target.native,
            weighting,
            class_means,
            _native.TableSumArrays(table, bias, table_variances),
            batch.threads,
        )
        return cls(objective, table, bias, 0.0 if table_variances is None else table_variances)


@dataclass(frozen=True, slots=True, eq=False)
class StepLikelihoods(AdditiveStatistic):
    """Conditional log-likelihood at several steps along a direction."""

    log_likelihoods: Array

    @classmethod
    def of(
        cls,
        batch: Batch[CodedRows],
        families: Families,
        weights: ClassTable,
        direction: ClassTable,
        steps: Array,
    ) -> StepLikelihoods:
        """Compute the log-likelihoods of a batch."""
        values = np.zeros(len(steps))
        _native.bayes_log_likelihoods(
            batch.rows.native,
            weights.native(families),
            direction.native(families),
            steps,
            values,
            batch.threads,
        )
        return cls(values)


@dataclass(frozen=True, slots=True, eq=False)
class ModelLikelihoods(AdditiveStatistic):
    """Conditional log-likelihood under several models, in one pass over the rows."""

    log_likelihoods: Array

    @classmethod
    def of(
        cls, batch: Batch[CodedRows], families: Families, models: Sequence[ClassTable]
    ) -> ModelLikelihoods:
        """Compute the log-likelihoods of a batch."""
        nothing = Families.empty(families.sizes)
        arguments = (ClassWeighting.RESIDUALS, nothing)
        found = [TableSums.of(batch, families, model, *arguments).objective for model in models]
        return cls(np.array(found))


@dataclass(frozen=True, slots=True)
class Fold:
    """Part of the rows for an inner cross-validation.

    A row belongs to the fold that a draw keyed by its number gives it, so that folds are the same
    for any partitioning.

    Parameters
    ----------
    index, n_folds : int
    held_out : bool
        Whether to take the rows of the fold, or all the others.
    seed : int
    """

    index: int
    n_folds: int
    held_out: bool
    seed: int

    def select(self, batch: Batch[Any]) -> Any:
        """Return the rows of a batch, which have ``take``, that belong to this part."""
        cached = batch.scratch.get(repr(self)) if batch.keeps_scratch else None
        if cached is None:
            drawn = np.empty(len(batch.rows))
            _native.uniforms(self.seed, _FOLD_STREAM, batch.first_row, drawn)
            chosen = np.flatnonzero((np.floor(drawn * self.n_folds) == self.index) == self.held_out)
            cached = batch.rows.take(chosen)
            if batch.keeps_scratch:
                batch.scratch[repr(self)] = cached
        return cached


def summarize_fold(batch: Batch[Any], fold: Fold, summarize: Callable[..., S], *model: Any) -> S:
    """Summarize the rows of a batch that belong to a fold."""
    return summarize(replace(batch, rows=fold.select(batch)), *model)


@dataclass(frozen=True, slots=True, eq=False)
class ClassificationErrors(AdditiveStatistic):
    """Weight of the rows whose most probable class is not their own."""

    weight: float

    @classmethod
    def of(
        cls, batch: Batch[CodedRows], families: Families, weights: ClassTable
    ) -> ClassificationErrors:
        """Sum the weight of the errors of a batch."""
        rows = batch.rows
        joint = np.empty((len(rows), rows.n_classes))
        _native.bayes_log_joint(rows.codes, weights.native(families), joint, batch.threads)
        wrong = joint.argmax(axis=1) != rows.labels
        return cls(float(wrong.sum() if rows.weight is None else rows.weight[wrong].sum()))
