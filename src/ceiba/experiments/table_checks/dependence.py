"""Numeric columns that are linear combinations of others, with the relation spelled out.

A factorization QR with column pivoting of the centered columns, each of length 1, divides them into
independent ones and those that depend on them: whatever the units are, a column depends on others
if its distance from their span is below a millionth of its own standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq, qr, solve_triangular

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.experiments.table_checks.columns import numeric_column
from ceiba.experiments.table_checks.result import ColumnSummary, Finding, listed, quoted

TOLERANCE = 1e-6  # standard deviations
_ROUNDING = 1e-10  # of a constant, relative to the terms that it is the sum of
# A factorization of 4,000 rows and so many columns takes about 3 s.
MAX_COLUMNS = 1000
_ROWS_PER_COLUMN = 4
_MIN_ROWS_PER_COLUMN = 3  # fewer rows may fulfil a relation by chance
_MIN_ROWS = 2000  # that are used where there are as many
_MAX_MISSING = 0.2  # share of missing values, above which a column is not checked
_MAX_TERMS = 8
_MAX_FINDINGS = 10


@dataclass(frozen=True, slots=True)
class Relation:
    """A linear combination of columns that is constant in all rows.

    Parameters
    ----------
    columns : tuple of int
        Positions in the matrix, ascending.
    coefficients : tuple of float
        One for each column.
    constant : float
        Sum of coefficient times column, in every row.
    """

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    constant: float

    @property
    def is_copy(self) -> bool:
        """Whether two columns are equal, which is found by their values."""
        return len(self.columns) == 2 and self.constant == 0 and abs(sum(self.coefficients)) < 1e-12

    def holds(self, matrix: Array) -> bool:
        """Return whether the relation holds in all rows of a matrix."""
        terms = matrix[:, self.columns] * self.coefficients
        scale = np.abs(terms).max() + abs(self.constant)
        return bool(np.abs(terms.sum(axis=1) - self.constant).max() <= TOLERANCE * scale)

    def text(self, names: Sequence[str], *, for_last: bool = False) -> str:
        """Return the relation solved for one column, or a sum that is constant.

        Solved for the last column with ``for_last``, else for the one that reads best.

        Examples
        --------
        >>> Relation((0, 1, 2), (1.0, 1.0, -1.0), 0.0).text(["a", "b", "total"])
        'total = a + b'
        >>> Relation((0, 1, 2), (2.0, 2.0, 2.0), 2.0).text(["red", "green", "blue"])
        'red + green + blue = 1'
        """
        values = np.array(self.coefficients)
        positive = values > 0
        shown = [names[j] for j in self.columns]
        is_free = len(values) > 2 and not for_last
        if is_free and (positive.all() or not positive.any()):
            left = _terms(values / values[0], shown)
            return f"{left} = {_number(self.constant / values[0])}"
        solved = len(values) - 1
        if is_free:
            # The only one of its sign: "total = a + b" rather than "b = total - a".
            for sign in (positive, ~positive):
                solved = int(sign.argmax()) if sign.sum() == 1 else solved
        others = [i for i in range(len(values)) if i != solved]
        right = _terms(-values[others] / values[solved], [shown[i] for i in others])
        constant = self.constant / values[solved]
        if constant:
            right += f" {'+' if constant > 0 else '−'} {_number(abs(constant))}"
        return f"{shown[solved]} = {right}"


def _terms(values: Array, names: Sequence[str]) -> str:
    """Return a sum of numbers times names, without factors of 1."""
    text = ""
    for value, name in zip(values, names, strict=True):
        factor = "" if _number(abs(value)) == "1" else f"{_number(abs(value))} × "
        sign = "−" if value < 0 else ("+" if text else "")
        text += f" {sign} {factor}{name}" if text else f"{sign}{factor}{name}"
    return text


def _number(value: float) -> str:
    """Return five significant digits; whole numbers in full."""
    whole = round(value)
    is_whole = abs(value - whole) <= TOLERANCE * max(abs(value), 1) and abs(whole) < 1e15
    return (f"{whole}" if is_whole else f"{value:.5g}").replace("-", "−")


def find_relations(matrix: Array) -> list[Relation]:
    """Return a relation for each column that depends linearly on others.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_columns)
        Finite numbers; more rows than columns. Constant columns are left out.

    Returns
    -------
    list of Relation
        As many as columns have to be removed to make the others independent.

    Examples
    --------
    >>> a, b = np.array([1.0, 2, 4, 8]), np.array([3.0, 1, 4, 1])
    >>> (relation,) = find_relations(np.stack([a, b, a - 2 * b], axis=1))
    >>> relation.text(["a", "b", "c"])
    'a = 2 × b + c'
    """
    unit, means, lengths = _standardized(matrix)
    known = np.flatnonzero(lengths > 0)
    if len(known) < 2:
        return []
    triangle, order = qr(unit[:, known], mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > TOLERANCE).sum())
    if rank == len(known):
        return []
    weights = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    relations = []
    for i, column in enumerate(order[rank:]):
        coefficients = np.zeros(matrix.shape[1])
        coefficients[known[order[:rank]]] = -weights[:, i]
        coefficients[known[column]] = 1.0
        relations.append(_relation(coefficients, means, lengths))
    return sorted(relations, key=lambda relation: relation.columns[::-1])


def find_target_relation(matrix: Array, y: Array) -> Relation | None:
    """Return the relation of a target, the last column, with columns; None if there is none."""
    unit, means, lengths = _standardized(np.column_stack([matrix, y]))
    known = np.flatnonzero(lengths[:-1] > 0)
    if not len(known) or not lengths[-1]:
        return None
    found = lstsq(unit[:, known], unit[:, -1], cond=TOLERANCE)[0]
    if np.linalg.norm(unit[:, known] @ found - unit[:, -1]) > TOLERANCE:
        return None
    coefficients = np.zeros(len(lengths))
    coefficients[known] = found
    coefficients[-1] = -1.0
    return _relation(coefficients, means, lengths)


def _standardized(matrix: Array) -> tuple[Array, Array, Array]:
    """Return centered columns of length 1, their means and lengths; 0 for constant ones."""
    # Powers of two of the largest value, so that the squares of any unit are representable.
    exponents = np.frexp(np.abs(matrix).max(axis=0))[1]
    scaled = np.ldexp(matrix, -exponents)
    means = scaled.mean(axis=0)
    centered = scaled - means
    lengths = np.linalg.norm(centered, axis=0)
    # Rounding of the mean is all that a constant column has.
    lengths[lengths <= 1e-13 * np.sqrt(len(matrix))] = 0.0
    unit = centered / np.where(lengths > 0, lengths, 1.0)
    return unit, np.ldexp(means, exponents), np.ldexp(lengths, exponents)


def _relation(coefficients: Array, means: Array, lengths: Array) -> Relation:
    """Return a relation in the units of the columns, of coefficients in standard units."""
    used = np.flatnonzero(np.abs(coefficients) > TOLERANCE * np.abs(coefficients).max())
    values = coefficients[used] / lengths[used]
    # The coefficient of the last column is 1 or -1.
    values /= abs(values[-1])
    products = values * means[used]
    constant = float(products.sum())
    scale = float(np.abs(values * lengths[used]).max() + np.abs(products).max())
    if abs(constant) <= _ROUNDING * scale:
        constant = 0.0
    return Relation(tuple(used.tolist()), tuple(values.tolist()), constant)


def check_dependence(
    table: Table, columns: Sequence[ColumnSummary], target: Target, target_name: str, seed: int
) -> Iterator[Finding]:
    """Yield linear relations among numeric columns, and between them and a numeric target."""
    numeric = [
        j
        for j, column in enumerate(columns)
        if column.kind == "numeric"
        and not table.schema[j].temporal
        and column.n_distinct > 1
        and column.n_missing <= _MAX_MISSING * len(table)
    ]
    if not numeric:
        return
    allowed = min(MAX_COLUMNS, len(table) // _MIN_ROWS_PER_COLUMN)
    if len(numeric) > allowed:
        yield Finding(
            "dependence", "note", (),
            f"Linear dependence was checked among the first {allowed:,} of {len(numeric):,} "
            "numeric columns.",
        )  # fmt: skip
    numeric = numeric[:allowed]
    matrix = np.column_stack([numeric_column(table, j) for j in numeric])
    rows = np.flatnonzero(np.isfinite(matrix).all(axis=1))
    min_rows = _MIN_ROWS_PER_COLUMN * len(numeric)
    if len(rows) < min_rows:
        yield Finding(
            "dependence", "note", (),
            f"Linear dependence was not checked: {len(numeric):,} numeric columns require "
            f"{min_rows:,} rows without missing values, got {len(rows):,}.",
        )  # fmt: skip
        return
    matrix, names = matrix[rows], [columns[j].name for j in numeric]
    # A part of the rows suggests relations, and all of them confirm.
    size = max(_MIN_ROWS, _ROWS_PER_COLUMN * len(numeric))
    part = np.arange(len(rows))
    if len(rows) > size:
        part = np.random.default_rng([seed, 1]).choice(len(rows), size, replace=False)
    relations = [found for found in find_relations(matrix[part]) if found.holds(matrix)]
    yield from _dependent_columns([found for found in relations if not found.is_copy], names)
    if target.classes is None:
        y = target.values[rows]
        relation = find_target_relation(matrix[part], y[part])
        if relation is not None and relation.holds(np.column_stack([matrix, y])):
            used = [names[j] for j in relation.columns[:-1]]
            yield Finding(
                "target_dependence", "warning", tuple(used),
                "The target is a linear combination of columns: "
                f"{_text(relation, [*names, target_name], for_last=True)}. One of them may be "
                "derived from it: keep them only if new rows will have them.",
            )  # fmt: skip


def _dependent_columns(relations: Sequence[Relation], names: Sequence[str]) -> Iterator[Finding]:
    for relation in relations[:_MAX_FINDINGS]:
        used = tuple(names[j] for j in relation.columns)
        yield Finding(
            "dependence", "note", used,
            f"Numeric columns are linearly dependent: {_text(relation, names)}. Leave one of them "
            "out for learners that invert covariances; trees are not affected.",
        )  # fmt: skip
    if others := relations[_MAX_FINDINGS:]:
        involved = sorted({j for relation in others for j in relation.columns})
        used = tuple(names[j] for j in involved)
        yield Finding(
            "dependence", "note", used,
            f"{len(others):,} more linear relations hold among columns {listed(used)}.",
        )  # fmt: skip


def _text(relation: Relation, names: Sequence[str], *, for_last: bool = False) -> str:
    if len(relation.columns) <= _MAX_TERMS:
        return relation.text(names, for_last=for_last)
    used = [names[j] for j in relation.columns]
    return f"{quoted(used[-1])} is a combination of {listed(used[:-1])}"
