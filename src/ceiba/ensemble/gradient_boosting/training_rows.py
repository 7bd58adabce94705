"""Rows of a fit with their raw scores before the first round, and the rows held out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
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


def hold_out(rows: LabeledRows, fraction: float, seed: int) -> tuple[LabeledRows, LabeledRows]:
    """Divide rows into training and validation rows, class by class."""
    draws = np.empty(len(rows))
    _native.uniforms(seed, _VALIDATION_STREAM, 0, draws)
    target = rows.target
    groups = target.values if target.classes is not None else np.zeros(len(rows), np.int32)
    held_out = np.zeros(len(rows), bool)
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        n_held_out = round(fraction * len(members))
        held_out[members[np.argsort(draws[members], kind="stable")[:n_held_out]]] = True
    if not held_out.any() or held_out.all():
        raise ValueError(
            f"validation_fraction={fraction} of {len(rows)} rows leaves no validation or no "
            "training rows: change it, or pass X_val and y_val."
        )
    return _take(rows, np.flatnonzero(~held_out)), _take(rows, np.flatnonzero(held_out))


def given_rows(X: Any, kept: Array | None) -> Any:
    """Return some rows of data as the user passed them, all for None."""
    if kept is None:
        return X
    if isinstance(X, Table):
        return X.take(kept)
    return _safe_indexing(X.tocsr() if issparse(X) else X, kept)


def _take(rows: LabeledRows, index: Array) -> LabeledRows:
    weight = None if rows.weight is None else rows.weight[index]
    kept = index if rows.kept is None else rows.kept[index]
    return LabeledRows(rows.table.take(index), rows.target.take(index), weight, kept)
