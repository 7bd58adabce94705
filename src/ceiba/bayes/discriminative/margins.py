"""The joint distribution of naive Bayes with numeric columns after discriminative training.

What is added to the weight of a category, or to the coefficient of a term, for all classes alike
does not change p(c | x) of complete rows. Of all joint distributions with the same p(c | x), the
one is taken whose columns have, over all classes, the margins of the generative model: the
frequencies of categories, the mean and variance of normal columns, the mean of Poisson columns. TM
steps keep these margins, so that the result of the TM algorithm stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ceiba._typing import Array
from ceiba.bayes.discriminative.density_model import DensityModel
from ceiba.bayes.network import ClassTable, normalize

# Logarithm of the largest and smallest scale of a column, relative to its spread, that are tried:
# squares of exp(200) are finite.
_MAX_LOG_SCALE = 200.0


@dataclass(frozen=True, eq=False)
class _Shifts:
    """Weights as a function of numbers that are added for all classes alike.

    Parameters
    ----------
    model : DensityModel
    weights : ClassTable
        Log-linear; the families are normalized.
    used : ndarray of int64
        Rows of the tables that get a number.
    """

    model: DensityModel
    weights: ClassTable
    used: Array

    def first(self) -> Array:
        """Return the numbers where the search begins."""
        parts = self.model.parts(self.model.terms(self.weights))
        free = [block.first_shift(natural).ravel() for block, natural in parts]
        return np.concatenate([np.zeros(len(self.used)), *free])

    def is_scale(self) -> Array:
        """Return which numbers are the logarithm of a scale."""
        found = [np.zeros(len(self.used), bool)]
        for block in self.model.blocks:
            last = np.zeros((block.n_terms, len(block.columns)), bool)
            last[-1] = True
            found.append(last.ravel())
        return np.concatenate(found)

    def apply(self, free: Array) -> tuple[ClassTable, Array, Array]:
        """Return the shifted weights, the shifts, and their derivatives in the numbers."""
        n, model = len(self.used), self.model
        terms, shifts, slopes = [], [free[:n]], [np.ones(n)]
        for block, natural, numbers in model.parts(model.terms(self.weights), free[n:, None]):
            moved, shift, slope = block.shifted(natural, numbers[..., 0])
            terms.append(moved)
            shifts.append(shift.ravel())
            slopes.append(slope.ravel())
        tables = model.tables(self.weights)
        table = tables.table.copy()
        table[self.used] += free[:n, None]
        found = model.joined(ClassTable(table, tables.bias), terms)
        return found, np.concatenate(shifts), np.concatenate(slopes)

    @property
    def rows(self) -> Array:
        """Rows of the weights that are shifted."""
        return np.concatenate(
            [self.used, np.arange(self.model.families.n_table_rows, len(self.weights.table))]
        )


def match_column_margins(model: DensityModel, weights: ClassTable, start: ClassTable) -> ClassTable:
    """Return normalized weights with the p(c | x) of the weights and the margins of the ``start``.

    As in `match_margins`, the numbers h that are added minimize log Z(h) - <margins, h>, a convex
    function whose gradient is the present minus the wanted margins. Where missing values are summed
    over, the weights are those of one joint distribution, which is returned.
    """
    if model.sums_missing:
        return model.network(weights)[0]
    margins = model.mean_values(start, 1.0).table.sum(axis=1)
    known = model.families.is_known
    used = np.flatnonzero(known & (margins[: len(known)] > 0))
    tables = normalize(model.families, model.tables(weights))[0]
    shifts = _Shifts(model, model.joined(tables, [model.terms(weights)]), used)
    rows, first = shifts.rows, shifts.first()
    if not len(rows):
        return model.network(weights)[0]
    # In these units the curvature at the start is about 1.
    curvature = np.concatenate([margins[used], model.term_variances(start)])
    unit = 1 / (shifts.apply(first)[2] * np.sqrt(curvature))

    def loss(x: Array) -> tuple[float, Array]:
        moved, shift, slope = shifts.apply(first + unit * x)
        present = model.mean_values(moved, 1.0).table.sum(axis=1)
        value = model.network(moved)[1] - float(margins[rows] @ shift)
        return value, unit * slope * (present - margins)[rows]

    limit = np.where(shifts.is_scale(), _MAX_LOG_SCALE / unit, np.inf)
    found = minimize(
        loss, np.zeros(len(rows)), jac=True, method="L-BFGS-B",
        bounds=np.column_stack([-limit, limit]),
        options={"maxiter": 1000, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    return model.network(shifts.apply(first + unit * found.x)[0])[0]
