"""Rows of a fit with their raw scores before the first round, and the rows held out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.stats import LabeledRows

_VALIDATION_STREAM = 0x76616C6964617465  # of the draws that choose validation rows


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their targets and weights, and their scores by the init predictor.

    Parameters
    ----------
    labeled : LabeledRows
    init_scores : ndarray of shape (n_rows, n_outputs) or None
        Raw scores of the init predictor; None without one.
    """

    labeled: LabeledRows
    init_scores: Array | None

    def __len__(self) -> int:
        return len(self.labeled)

    def take(self, rows: Array) -> ScoredRows:
        """Return some of the rows."""
        own = self.labeled
        weight = None if own.weight is None else own.weight[rows]
        kept = rows if own.kept is None else own.kept[rows]
        part = LabeledRows(own.table.take(rows), own.target.take(rows), weight, kept)
        return ScoredRows(part, None if self.init_scores is None else self.init_scores[rows])

    def start_scores(self, constant: Array, previous: BoostedTrees | None, threads: int) -> Array:
        """Return the raw scores before the first round, of shape (n_rows, n_outputs).

        They are a constant of each output, plus the scores of the init predictor and of the trees
        of an earlier fit.
        """
        scores = np.tile(constant, (len(self), 1))
        if self.init_scores is not None:
            scores += self.init_scores
        if previous is not None:
            rows = previous.native_rows(self.labeled.table)
            previous.add_rounds(rows, 0, previous.n_rounds, scores, threads)
        return scores


def hold_out(rows: ScoredRows, fraction: float, seed: int) -> tuple[ScoredRows, ScoredRows]:
    """Divide rows into training and validation rows, class by class."""
    draws = np.empty(len(rows))
    _native.uniforms(seed, _VALIDATION_STREAM, 0, draws)
    target = rows.labeled.target
    groups = target.values if target.classes is not None else np.zeros(len(rows), np.int32)
    held_out = np.zeros(len(rows), bool)
    for group in np.unique(groups):
        own = np.flatnonzero(groups == group)
        n_held_out = round(fraction * len(own))
        held_out[own[np.argsort(draws[own], kind="stable")[:n_held_out]]] = True
    if not held_out.any() or held_out.all():
        raise ValueError(
            f"validation_fraction={fraction} of {len(rows)} rows leaves no validation or no "
            "training rows: change it, or pass X_val and y_val."
        )
    return rows.take(np.flatnonzero(~held_out)), rows.take(np.flatnonzero(held_out))
