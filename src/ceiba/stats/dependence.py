"""Linearly dependent columns: find the smallest sets of them and their equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpstrf

from ceiba._typing import Array

# Fraction of a column's variance that rounding leaves to a column that others determine.
_ROUNDING = 1e-10
# Fraction of a column's variance above which the others do not nearly determine it.
_MAX_TOLERANCE = 0.01
# Coefficients, in standard deviations, that count as zero: 1e-6 of the variance.
_NEGLIGIBLE = 1e-3
# Equations in a message, and columns of an equation that is written out.
_MAX_EQUATIONS, _MAX_TERMS = 3, 8


@dataclass(frozen=True, slots=True)
class LinearDependence:
    """One column as a linear combination of others.

    No smaller set of them is dependent, unless the sum of many coefficients close to zero matters.
    """

    columns: tuple[str, ...]  # all columns of the set, in the order of the table
    column: str
    terms: tuple[tuple[float, str], ...]  # coefficient and column
    constant: float
    exact: bool  # whether only rounding is left of the column's variance

    @property
    def equation(self) -> str:
        """The equation, such as ``a = b + 2 c``."""
        signed = [
            (coefficient < 0, name if factor == "1" else f"{factor} {name}")
            for coefficient, name in self.terms
            for factor in (f"{abs(coefficient):.5g}",)
        ]
        if self.constant:
            signed.append((self.constant < 0, f"{abs(self.constant):.5g}"))
        first, *others = signed
        text = f"-{first[1]}" if first[0] else first[1]
        return f"{self.column} = {text}" + "".join(
            f" {'-' if negative else '+'} {term}" for negative, term in others
        )

    def __str__(self) -> str:
        nearly = "" if self.exact else "nearly "
        if len(self.columns) > _MAX_TERMS:
            shown = ", ".join(map(repr, self.columns[:_MAX_TERMS]))
            more = len(self.columns) - _MAX_TERMS
            return f"columns {shown} and {more} more are {nearly}linearly dependent"
        names = ", ".join(map(repr, self.columns))
        return f"columns {names} are {nearly}linearly dependent: {self.equation}"


def describe_dependences(found: Sequence[LinearDependence]) -> str:
    """Return a sentence that names dependent columns and the remedy; empty where there are none."""
    if not found:
        return ""
    shown = "; ".join(str(one) for one in found[:_MAX_EQUATIONS])
    more = f"; and {len(found) - _MAX_EQUATIONS} more such sets" * (len(found) > _MAX_EQUATIONS)
    each = "of them" if len(found) == 1 else "of each set"
    return f"{shown[0].upper()}{shown[1:]}{more}. Drop one {each}."


def find_dependences(
    mean: Array, covariance: Array, names: Sequence[str], tolerance: float = 0.0
) -> list[LinearDependence]:
    """Find columns that are linear combinations of others.

    A pivoted Cholesky factorization of the correlations selects independent columns; in terms of
    them, each of the others has unique coefficients, those that are not zero being the smallest
    dependent set. Where the others matter in sum, all are kept. Constant columns are left out.

    Parameters
    ----------
    mean : array of shape (d,)
    covariance : array of shape (d, d)
    names : sequence of str
    tolerance : float
        Fraction of a column's variance that the others may leave unexplained, at most 0.01.
    """
    scale = np.sqrt(np.diagonal(covariance))
    varying = np.flatnonzero(scale > 0)
    if len(varying) < 2:
        return []
    tolerance = min(max(tolerance, _ROUNDING), _MAX_TOLERANCE)
    units = scale[varying]
    correlations = covariance[np.ix_(varying, varying)] / units[:, None] / units
    factor, pivots, rank, _ = dpstrf(correlations, tol=tolerance, lower=1)
    order = pivots - 1
    basis = order[:rank]
    lower = factor[:rank, :rank]
    found = []
    for position in range(rank, len(order)):
        # The row of a dependent column holds its coordinates along the basis's factor.
        own = solve_triangular(lower, factor[position, :rank], lower=True, trans="T")
        found.append(
            _smallest_set(correlations, int(order[position]), basis, own, lower, tolerance)
        )
    return [
        _in_own_units(varying[columns], coefficients, residual, mean, scale, names)
        for columns, coefficients, residual in sorted(found, key=lambda one: tuple(one[0]))
    ]


def _smallest_set(
    correlations: Array, target: int, basis: Array, coefficients: Array, lower: Array, limit: float
) -> tuple[Array, Array, float]:
    """Leave out columns that are not needed.

    Return the columns, ascending, their coefficients in the equation ``sum = 0``, and the fraction
    of the target's variance that is left.
    """
    needed = np.abs(coefficients) > _NEGLIGIBLE
    kept = basis[needed]
    own, residual = _regress(correlations, target, kept)
    if not residual <= 10 * limit:
        kept = basis
        own = cho_solve((lower, True), correlations[kept, target])
        residual = float(1.0 - own @ correlations[kept, target])
    columns = np.append(kept, target)
    order = np.argsort(columns)
    return columns[order], np.append(own, -1.0)[order], residual


def _regress(correlations: Array, target: int, kept: Array) -> tuple[Array, float]:
    if not len(kept):
        return np.empty(0), 1.0
    own = np.linalg.solve(correlations[np.ix_(kept, kept)], correlations[kept, target])
    return own, float(1.0 - own @ correlations[kept, target])


def _in_own_units(
    columns: Array,
    coefficients: Array,
    residual: float,
    mean: Array,
    scale: Array,
    names: Sequence[str],
) -> LinearDependence:
    """Solve the equation for a column, if possible one with positive coefficients only."""
    zero = coefficients / scale[columns]
    chosen = int(np.argmax([(zero * -np.sign(one) > 0).sum() for one in zero]))
    solved = -zero / zero[chosen]
    integers = np.round(solved)
    # Relative below 1: small coefficients follow from the columns' units.
    close = np.abs(solved - integers) < 1e-5 * np.minimum(np.abs(solved), 1.0)
    rounded = np.where(close, integers, solved)
    others = [i for i in range(len(columns)) if i != chosen]
    parts = rounded[others] * mean[columns[others]]
    constant = float(mean[columns[chosen]] - parts.sum())
    size = np.abs(parts).sum() + abs(mean[columns[chosen]]) + scale[columns[chosen]]
    return LinearDependence(
        tuple(str(names[i]) for i in columns),
        str(names[columns[chosen]]),
        tuple((float(rounded[i]), str(names[columns[i]])) for i in others),
        constant if abs(constant) > 1e-6 * size else 0.0,
        bool(residual <= 10 * _ROUNDING),
    )
