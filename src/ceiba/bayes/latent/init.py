"""Initialization of EM: naive Bayes networks of some components."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.coding import CodedData
from ceiba.bayes.families import Families
from ceiba.bayes.latent.statistics import DrawnRows, RandomCounts
from ceiba.bayes.network import ClassTable, Smoothing, probabilities
from ceiba.cluster.lloyd import DrawKey

Init = Literal["k-means++", "random_from_data", "random"]

# Share of a drawn row in the distributions of its component; the rest are those of all rows.
_DRAWN_SHARE = 0.5


def initial_network(
    data: CodedData, k: int, init: Init, smoothing: Smoothing, seed: int, run: int
) -> ClassTable:
    """Return the naive Bayes network of ``k`` components with which run number ``run`` begins."""
    families = Families.naive(data.sizes)
    of_all_rows = ClassTable(data.counts.table, data.counts.bias)
    if k == 1:
        return probabilities(families, of_all_rows, smoothing)
    if init == "random":
        counts = data.engine.reduce(data.rows, RandomCounts.of, families, k, DrawKey(seed, run, 0))
        return probabilities(families, ClassTable(counts.table, counts.bias), smoothing)
    drawn = _draw_rows(data, k, init, seed, run)
    return _around_rows(families, probabilities(families, of_all_rows, smoothing), drawn)


def _draw_rows(data: CodedData, k: int, init: Init, seed: int, run: int) -> Array:
    """Return the codes of ``k`` rows: drawn independently, or far from one another."""
    sizes = np.array(data.sizes, np.int64)
    near = np.empty((0, len(sizes)), np.int64)
    if init == "random_from_data":
        model = (k, sizes, near, DrawKey(seed, run, 0))
        return data.engine.reduce(data.rows, DrawnRows.of, *model).codes
    for step in range(k):
        model = (1, sizes, near, DrawKey(seed, run, step))
        near = np.concatenate([near, data.engine.reduce(data.rows, DrawnRows.of, *model).codes])
    return near


def _around_rows(families: Families, overall: ClassTable, drawn: Array) -> ClassTable:
    """Return components of equal weight between the distributions of all rows and a drawn row."""
    theta = np.repeat(np.exp(overall.table), len(drawn), axis=1)
    for family, table_row in enumerate(families.table_rows(drawn)):
        known = np.flatnonzero(families.is_known[table_row])
        rows = slice(families.offsets[family], families.offsets[family + 1])
        theta[rows, known] *= 1 - _DRAWN_SHARE
        theta[table_row[known], known] += _DRAWN_SHARE
    return probabilities(families, ClassTable(theta, np.ones(len(drawn))))
