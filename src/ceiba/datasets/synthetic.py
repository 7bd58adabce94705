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
from ceiba.datasets.dataset import CatalogEntry, LoadedTable, Origin

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


def _entry(
    name: str,
    draw: Callable[[Draws, int], LoadedTable],
    size: int,
    description: str,
    citation: str = "Drawn by Ceiba; no citation is needed.",
    target: str = "class",
) -> CatalogEntry:
    def load(seed: int = 0, n_rows: int = size) -> LoadedTable:
        return draw(Draws(seed), n_rows)

    return CatalogEntry(name, Origin.SYNTHETIC, description, citation, load, target)


ENTRIES = (
    _entry(
        "corral",
        _corral,
        128,
        "Six bits; the class is (a0 and a1) or (b0 and b1). One further bit is irrelevant and one "
        "agrees with the class in three rows of four, so that a greedy tree splits on it at its "
        "root. Good for the limits of greedy search and for choosing attributes. 128 rows by "
        "default.",
        "John, G. H., Kohavi, R. & Pfleger, K. (1994). Irrelevant features and the subset "
        "selection problem. Machine Learning: Proceedings of the Eleventh International "
        "Conference, 121-129. Morgan Kaufmann.",
    ),
    _entry(
        "three_groups",
        _three_groups,
        300,
        "Three round normal groups of equal size in the plane, centered at (-2, 0), (2, 0) and "
        "(0, 3) with standard deviation 0.7. The first table for k-means and mixtures: the right "
        "number of groups is known, and a bad initialization still fails visibly. 300 rows by "
        "default.",
        target="group",
    ),
    _entry(
        "two_moons",
        _two_moons,
        200,
        "Two half circles that reach into each other, with normal noise of standard deviation "
        "0.1. Nearest neighbors and trees separate them, k-means and one straight line do not. "
        "200 rows by default.",
        target="moon",
    ),
    _entry(
        "xor",
        _xor,
        200,
        "Points of the square from -1 to 1, in class 1 where exactly one coordinate is positive. "
        "Neither column alone is related to the class: good for showing where naive Bayes, "
        "a linear rule and a greedy first split fail. 200 rows by default.",
    ),
    _entry(
        "linear_boundary",
        _linear_boundary,
        100,
        "Points of the unit square, in class 1 where x1 + x2 > 1. The boundary is a slanted line, "
        "which a tree can only build as a staircase; pair it with nonlinear_boundary. 100 rows by "
        "default.",
    ),
    _entry(
        "nonlinear_boundary",
        _nonlinear_boundary,
        100,
        "Points of the unit square, in class 1 where x2 (1 + exp(-25 (x1 - 0.5))) > 1: above a "
        "steep S-shaped curve, close to a step at x1 = 0.5, where a tree is at home and one "
        "straight line is not. Pair it with linear_boundary. 100 rows by default.",
    ),
)
