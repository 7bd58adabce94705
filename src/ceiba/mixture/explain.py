"""Log densities of one row under Gaussian components, column by column."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log, pi
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.mixture.statistics import Gaussians
from ceiba.stats import ToPoints


@dataclass(frozen=True, slots=True, eq=False)
class RowDensities:
    """Log densities of the columns of one row, given the columns before, for each component.

    Parameters
    ----------
    terms : ndarray of shape (n_columns, k)
        log p(value | component, columns before); 0 where the value is missing. With diagonal
        covariances the columns before do not matter.
    distances : ndarray of shape (k,)
        Mahalanobis distance to each mean, over the observed columns.
    """

    terms: Array
    distances: Array

    @classmethod
    def of(cls, model: Gaussians, row: Array) -> RowDensities:
        """Compute the densities of a row in the units of the model.

        The joint density is the product of the conditional ones, whose standardized residuals are
        L^-1 (x - mean), with L the Cholesky factor of the covariance of the observed columns.
        """
        k, d = model.shape
        observed = np.flatnonzero(~np.isnan(row))
        residuals, scales = np.empty((k, len(observed))), np.empty((k, len(observed)))
        shifts = row[observed] - model.means[:, observed]
        for component, shift in enumerate(shifts):
            if model.full:
                covariance = model.covariances[component][np.ix_(observed, observed)]
                lower = np.linalg.cholesky(covariance)
                residuals[component] = solve_triangular(lower, shift, lower=True)
                scales[component] = np.diagonal(lower)
            else:
                scales[component] = np.sqrt(model.covariances[component, observed])
                residuals[component] = shift / scales[component]
        terms = np.zeros((d, k))
        terms[observed] = -(np.log(scales) + 0.5 * log(2 * pi) + 0.5 * residuals**2).T
        return cls(terms, np.linalg.norm(residuals, axis=1))


def unit_row(table: Table, scaling: Any) -> Array:
    """Return the only row of a table as a point in the units of a fit."""
    return np.asarray(ToPoints("float64", scaling=scaling)(Chunk(table)).X[0])


def by_table_column(table: Table, terms: Array) -> Array:
    """Return terms of the columns of points as those of a table; 0 of identifiers."""
    parts = pairwise(Encoding.of(table.schema).offsets)
    return np.array([terms[first:end].sum(axis=0) for first, end in parts])


def class_terms(model: Gaussians | None, row: Array) -> Array:
    """Return log p(value | class, columns before) of each column under the mixture of a class."""
    if model is None:  # a class without rows
        return np.zeros(len(row))
    with np.errstate(divide="ignore"):
        first = np.log(model.weights)
    joint = np.cumsum(np.vstack([first, RowDensities.of(model, row).terms]), axis=0)
    return np.diff(np.logaddexp.reduce(joint, axis=1))
