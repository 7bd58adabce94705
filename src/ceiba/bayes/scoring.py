"""Class scores of tables under a fitted network and the densities of numeric columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.model import NetworkModel
from ceiba.data.table import Table
from ceiba.engine import Batch


@dataclass(frozen=True, eq=False)
class ClassScorer:
    """Compute the log scores of the classes.

    Parameters
    ----------
    encoding : CategoryEncoding
    model : NetworkModel
    has_rows : ndarray of bool and shape (n_classes,)
        Whether each class has weight; the others have probability 0.
    densities : tuple
        Distributions of numeric columns outside of the network, with ``add_log_densities``.
    """

    encoding: CategoryEncoding
    model: NetworkModel
    has_rows: Array
    densities: tuple[Any, ...] = ()

    def log_scores(self, table: Table, threads: int = 1) -> Array:
        """Return log p(c | x) of each row, up to a constant of the row."""
        codes = self.encoding.encode(table, threads)
        return self._complete(self.model.log_scores(codes, threads), table, threads)

    def log_joint(self, table: Table, threads: int = 1) -> Array:
        """Return log p(c, x) of each row."""
        codes = self.encoding.encode(table, threads)
        return self._complete(self.model.log_joint(codes, threads), table, threads)

    def _complete(self, scores: Array, table: Table, threads: int) -> Array:
        for densities in self.densities:
            densities.add_log_densities(table, threads, scores)
        if self.densities:
            self._replace_underflow(scores)
        if not self.has_rows.all():
            scores[:, ~self.has_rows] = -np.inf
        return scores

    def _replace_underflow(self, scores: Array) -> None:
        """Give rows whose densities underflow for every class the prior probabilities.

        The square of a deviation overflows, and its density is 0, beyond 1e154 standard deviations.
        """
        used = np.flatnonzero(self.has_rows)
        low = np.flatnonzero(~np.isfinite(scores[:, used[0]]))
        underflowing = low[~np.isfinite(scores[np.ix_(low, used)]).any(axis=1)]
        if len(underflowing):
            scores[underflowing] = self.model.network.bias


def class_probabilities(
    batch: Batch[Table], scorer: ClassScorer, logarithms: bool = False
) -> Array:
    """Return the probabilities of the classes of each row of a batch, or their logarithms."""
    scores = scorer.log_scores(batch.rows, batch.threads)
    _native.bayes_normalize(scores, logarithms, batch.threads)
    return scores


def log_joint(batch: Batch[Table], scorer: ClassScorer) -> Array:
    """Return log p(c, x) of a batch."""
    return scorer.log_joint(batch.rows, batch.threads)


def class_indices(batch: Batch[Table], scorer: ClassScorer) -> Array:
    """Return the index of the most probable class of each row of a batch."""
    return predict_indices(scorer, batch.rows, batch.threads)


def predict_indices(scorer: ClassScorer, table: Table, threads: int) -> Array:
    """Return the index of the most probable class of each row."""
    scores = scorer.log_scores(table, threads)
    indices = np.empty(len(scores), np.int64)
    _native.bayes_largest(scores, indices, threads)
    return indices
