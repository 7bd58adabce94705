"""Statistics of coded rows whose class is latent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.families import Families
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable
from ceiba.bayes.statistics import CodedRows, TableSums
from ceiba.cluster.lloyd import DrawKey
from ceiba.engine.contract import AdditiveStatistic, Batch


def latent_sums(
    batch: Batch[CodedRows], families: Families, network: ClassTable, *more: Any
) -> TableSums:
    """Sum class weights as `TableSums.of`, with the components of the network as classes."""
    rows = replace(batch.rows, labels=None, n_classes=len(network.bias))
    return TableSums.of(replace(batch, rows=rows), families, network, *more)


@dataclass(frozen=True, slots=True, eq=False)
class RandomCounts(AdditiveStatistic):
    """Weight of the rows by table row and component, under random responsibilities.

    The responsibilities of a row are uniform on the simplex and keyed by its number.
    """

    table: Array
    bias: Array

    @classmethod
    def of(cls, batch: Batch[CodedRows], families: Families, k: int, key: DrawKey) -> RandomCounts:
        """Count the rows of a batch."""
        rows = batch.rows
        drawn = np.empty((k, len(rows)))
        for c in range(k):
            _native.uniforms(key.seed, key.stream + c, batch.first_row, drawn[c])
        shares = -np.log1p(-drawn)
        # All zero happens with probability 2^-53k.
        shares /= np.maximum(shares.sum(axis=0), 1e-300)
        if rows.weight is not None:
            shares *= rows.weight
        table = np.zeros((families.n_table_rows, k))
        bounds = zip(families.offsets[:-1], families.offsets[1:], strict=True)
        for table_row, (first, last) in zip(families.table_rows(rows.codes), bounds, strict=True):
            for c in range(k):
                table[first:last, c] = np.bincount(table_row - first, shares[c], last - first)
        return cls(table, shares.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class DrawnRows:
    """Some rows, drawn with probability proportional to weight times distance to given rows.

    Every row gets an exponential random number of that rate, keyed by its number: the rows with the
    smallest ones are drawn. The distance is the number of columns that differ from the nearest of
    the given rows; a missing value differs from nothing.

    Parameters
    ----------
    keys : ndarray of shape (n_drawn,)
        Ascending; infinite for rows at distance zero.
    numbers : ndarray of int64 of shape (n_drawn,)
    codes : ndarray of shape (n_drawn, n_features)
    n_wanted : int
    """

    keys: Array
    numbers: Array
    codes: Array
    n_wanted: int

    @classmethod
    def of(
        cls, batch: Batch[CodedRows], n_wanted: int, sizes: Array, near: Array, key: DrawKey
    ) -> DrawnRows:
        """Draw from a batch; ``near`` are the codes of the given rows, none for equal distances."""
        rows = batch.rows
        keys = np.empty(len(rows))
        _native.uniforms(key.seed, key.stream, batch.first_row, keys)
        keys = -np.log1p(-keys)
        rates = np.ones(len(rows)) if rows.weight is None else rows.weight.copy()
        if len(near):
            rates *= _mismatches(rows.codes, near, sizes)
        keys = np.divide(keys, rates, out=np.full(len(rows), np.inf), where=rates > 0)
        numbers = batch.first_row + np.arange(len(rows), dtype=np.int64)
        return cls(keys, numbers, rows.codes, n_wanted)._smallest()

    def merge(self, other: DrawnRows) -> DrawnRows:
        """Return the rows drawn from both parts."""
        return DrawnRows(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.codes, other.codes]),
            self.n_wanted,
        )._smallest()

    def _smallest(self) -> DrawnRows:
        chosen = np.lexsort((self.numbers, self.keys))[: self.n_wanted]
        return replace(
            self, keys=self.keys[chosen], numbers=self.numbers[chosen], codes=self.codes[chosen]
        )


def _mismatches(codes: Array, near: Array, sizes: Array) -> Array:
    """Return the number of columns in which each row differs from the nearest given row."""
    unknown = sizes - 1
    known = codes != unknown
    found = np.full(len(codes), np.inf)
    for row in near:
        differs = (codes != row) & known & (row != unknown)
        np.minimum(found, differs.sum(axis=1), out=found)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class LatentLikelihood(AdditiveStatistic):
    """Log-likelihood of the rows under a mixture, and their weight."""

    log_likelihood: float
    weight: float

    @classmethod
    def of(cls, batch: Batch[CodedRows], model: NetworkModel) -> LatentLikelihood:
        """Sum over a batch."""
        rows = batch.rows
        joint = model.log_joint(rows.codes, batch.threads)
        each = np.logaddexp.reduce(joint, axis=1)
        if rows.weight is None:
            return cls(float(each.sum()), float(len(rows)))
        return cls(float(rows.weight @ each), float(rows.weight.sum()))
