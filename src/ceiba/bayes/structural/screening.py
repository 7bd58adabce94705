"""Score tests of the moves: which of them are worth a fit.

With the residuals R = Y - P of the present model, a table that a move adds would raise the
conditional log-likelihood by about::

    (K - 1) / (2 K) * sum over its rows and the classes of (sum R)^2 / sum P (1 - P)

The tables of many moves are summed in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from ceiba._native import ClassWeighting
from ceiba._typing import Array
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import mark_summed
from ceiba.bayes.statistics import TableSums
from ceiba.bayes.structural.scores import Fit, SearchRows, StructureScorer
from ceiba.bayes.structural.states import Move

# Numbers of the tables of one pass.
_MAX_NUMBERS = 8_000_000


def screen_moves(
    scorer: StructureScorer, fit: Fit, moves: Sequence[Move], n_best: int
) -> list[Move]:
    """Return the moves of the highest estimated BICd, in their order."""
    if len(moves) <= n_best:
        return list(moves)
    data = scorer.data
    added = np.array([scorer.d(move.state) for move in moves]) - scorer.d(fit.state)
    ranks = score_statistics(data, fit, moves) - data.penalty_per_parameter * added
    best = np.argsort(-ranks, kind="stable")[:n_best]
    return [moves[index] for index in sorted(best.tolist())]


def score_statistics(data: SearchRows, fit: Fit, moves: Sequence[Move]) -> Array:
    """Return the score statistic of the table that each move adds."""
    families = Families(fit.state.structure(range(len(data.sizes))), data.sizes)
    weights = fit.warm_start(families, tuple(range(len(data.sizes))), data.sums_missing)
    if data.sums_missing:
        weights = mark_summed(families, weights)
    found = []
    for group in _groups(data, moves):
        target = _tables(data, group)
        model = (families, weights, ClassWeighting.RESIDUALS, target, True)
        found.append(_statistics(data.engine.reduce(data.rows, TableSums.of, *model), target))
    return (data.n_classes - 1) / (2 * data.n_classes) * np.concatenate(found)


def _groups(data: SearchRows, moves: Sequence[Move]) -> Iterator[list[Move]]:
    """Divide moves into groups whose tables fit in memory: one, unless there are very many."""
    group: list[Move] = []
    numbers = 0
    for move in moves:
        size = 2 * data.n_classes * prod(data.sizes[j] for j in move.columns)
        if group and numbers + size > _MAX_NUMBERS:
            yield group
            group, numbers = [], 0
        group.append(move)
        numbers += size
    if group:
        yield group


def _tables(data: SearchRows, moves: Sequence[Move]) -> Families:
    """Return the layout of the tables of some moves, of which features may have several."""
    members = [move.columns for move in moves]
    structure = Structure(tuple(m[-1] for m in members), tuple(m[:-1] for m in members))
    return Families(structure, data.sizes)


def _statistics(sums: TableSums, target: Families) -> Array:
    """Return the sum of squared residuals over variances of each table.

    Rows with a missing value are left out.
    """
    variances = np.asarray(sums.table_variances)
    used = target.is_known[:, None] & (variances > 0)
    ratio = np.divide(sums.table**2, variances, out=np.zeros_like(variances), where=used)
    return np.asarray(np.add.reduceat(ratio.sum(axis=1), target.offsets[:-1]))
