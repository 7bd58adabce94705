"""Random tables with a known rule, against which a learner can be checked.

Every table has a seed and any number of rows. The generator is NumPy's `RandomState`, whose
stream NumPy keeps frozen: a seed gives the same table in every release.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table
from ceiba.datasets.dataset import LoadedTable

Draws = np.random.RandomState


def _corral(draws: Draws, n_rows: int) -> LoadedTable:
    bits = draws.randint(0, 2, size=(n_rows, 5))
    a0, a1, b0, b1, _ = bits.T
    target = (a0 & a1) | (b0 & b1)
    correlated = target.copy()
    wrong = draws.permutation(n_rows)[: round(n_rows / 4)]
    correlated[wrong] ^= 1
    names = ("a0", "a1", "b0", "b1", "irrelevant", "correlated")
    schema = Schema(tuple(Column(name, Kind.NOMINAL, (0, 1), "codes") for name in names))
    return LoadedTable(Table.from_columns([*bits.T, correlated], schema), target)


def _three_groups(draws: Draws, n_rows: int) -> LoadedTable:
    centers = np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    target = draws.permutation(np.arange(n_rows) % 3)
    return _plane(centers[target] + 0.7 * draws.standard_normal((n_rows, 2)), target)


def _two_moons(draws: Draws, n_rows: int) -> LoadedTable:
    target = draws.permutation(np.arange(n_rows) % 2)
    angle = np.pi * draws.random_sample(n_rows)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1 - np.cos(angle), 0.5 - np.sin(angle)])
    points = np.where(target[:, None] == 0, upper, lower)
    return _plane(points + 0.1 * draws.standard_normal((n_rows, 2)), target)


def _xor(draws: Draws, n_rows: int) -> LoadedTable:
    points = draws.uniform(-1, 1, size=(n_rows, 2))
    return _plane(points, (points[:, 0] > 0) ^ (points[:, 1] > 0))


def _linear_boundary(draws: Draws, n_rows: int) -> LoadedTable:
    points = draws.random_sample((n_rows, 2))
    return _plane(points, points[:, 0] + points[:, 1] > 1)


def _nonlinear_boundary(draws: Draws, n_rows: int) -> LoadedTable:
    points = draws.random_sample((n_rows, 2))
    x1, x2 = points.T
    return _plane(points, x2 * (1 + np.exp(-25 * (x1 - 0.5))) > 1)


def _plane(points: Array, target: Array) -> LoadedTable:
    return LoadedTable(
        Table.of(points, Schema.numeric(2, names=("x1", "x2"))), target.astype(np.int64)
    )


# How each table is drawn, and its default number of rows.
_TABLES: dict[str, tuple[Callable[[Draws, int], LoadedTable], int]] = {
    "corral": (_corral, 128),
    "three_groups": (_three_groups, 300),
    "two_moons": (_two_moons, 200),
    "xor": (_xor, 200),
    "linear_boundary": (_linear_boundary, 100),
    "nonlinear_boundary": (_nonlinear_boundary, 100),
}


def draw(name: str, seed: int = 0, n_rows: int | None = None) -> LoadedTable:
    """Draw a synthetic table."""
    draw_rows, size = _TABLES[name]
    return draw_rows(Draws(seed), size if n_rows is None else n_rows)
