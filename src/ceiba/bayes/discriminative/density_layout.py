"""Tables of families with the terms of numeric columns below.

The coefficients of the sufficient statistics (*terms*) of the numeric columns are further rows of
a `ClassTable`, below the table rows of the families. Sums of terms are to them what counts are to
categories.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discriminative.exponential import ExponentialColumns
from ceiba.bayes.discriminative.table_model import TableModel
from ceiba.bayes.network import ClassTable


@dataclass(frozen=True, eq=False)
class TermLayout(TableModel):
    """Layout of class tables with terms, and the distributions of the terms given the class.

    Parameters
    ----------
    families : Families
        Of the columns of categories.
    blocks : tuple of ExponentialColumns
        The numeric columns, in their order in the rows.
    """

    blocks: tuple[ExponentialColumns, ...] = ()

    @property
    def is_known(self) -> Array:
        """Whether each row of the weights belongs to known values, or is a term."""
        return np.concatenate([self.families.is_known, np.ones(len(self.term_columns), bool)])

    @property
    def term_columns(self) -> Array:
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
        return np.concatenate([block.means(natural).reshape(-1, k) for block, natural in parts])

    def solve_covariances(self, means: ClassTable, values: Array, ridge: float = 0.0) -> Array:
        """Return the inverse of (weight of the class * covariance + ridge) times the values."""
        weight = means.bias
        parts = self.parts(self.terms(means) / weight, values / weight)
        found = [
            block.solve_covariance(mean, part, ridge / weight).reshape(-1, len(weight))
            for block, mean, part in parts
        ]
        return np.concatenate(found)

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
