"""Rows of a fit with their raw scores before the first round, and its validation rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base.value_types import format_value
from ceiba.data.schema import Schema
from ceiba.data.target import Task
from ceiba.engine import Engine, choose_engine
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.stats import LabeledRows, ToLabeledRows


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

    def scores_before_fit(
        self, constant: Array, previous: BoostedTrees | None, threads: int
    ) -> Array:
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


@dataclass(frozen=True, eq=False)
class ValidationInput:
    """Validation rows as they were passed to fit: ``X_val``, ``y_val``, ``sample_weight_val``."""

    X: Any
    y: Any
    sample_weight: Any

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any) -> ValidationInput | None:
        """Return the arguments together, or None if fit got none of them."""
        if X is not None:
            if y is None:
                raise ValueError("X_val requires y_val, got None.")
            return cls(X, y, sample_weight)
        if y is not None or sample_weight is not None:
            raise ValueError("y_val and sample_weight_val require X_val, got None.")
        return None

    def labeled_rows(
        self, engine: Engine, task: Task, schema: Schema, classes: Array | None
    ) -> LabeledRows:
        """Return the rows under the schema and the classes of the training rows."""
        self._check_shapes(len(schema))
        try:
            _, source = choose_engine(
                self.X, self.sample_weight, y=self.y, supervised=True, schema=schema,
                keep_sparse=True,
            )  # fmt: skip
            labeled: LabeledRows = engine.rows(source.partitions, ToLabeledRows(task)).table()
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            message = f"X_val, y_val or sample_weight_val is invalid: {error}"
            raise kind(message) from error
        if not len(labeled):
            raise ValueError("sample_weight_val must have a positive entry, got only zeros.")
        if classes is None:
            return labeled
        unknown = set(labeled.target.labels.tolist()) - set(classes.tolist())
        if unknown:
            raise ValueError(
                f"y_val must have classes of y, got {format_value(sorted(unknown)[0])}."
            )
        target = replace(labeled.target, values=labeled.labels(classes), classes=classes)
        return replace(labeled, target=target)

    def _check_shapes(self, n_columns: int) -> None:
        """Raise ValueError for shapes that do not fit; lists are checked when they are read."""
        of_X, of_y = getattr(self.X, "shape", None), getattr(self.y, "shape", None)
        has_names = hasattr(self.X, "columns")  # missing ones are named when they are read
        if of_X is not None and (len(of_X) != 2 or (of_X[1] != n_columns and not has_names)):
            raise ValueError(
                f"X_val must have shape (n_rows, {n_columns}), the columns of X, got {of_X}."
            )
        if of_y is not None and not (len(of_y) == 1 or (len(of_y) == 2 and of_y[1] == 1)):
            raise ValueError(f"y_val should be a 1d array, got an array of shape {of_y} instead.")
        if of_X is not None and of_y is not None and of_X[0] != of_y[0]:
            raise ValueError(
                f"X_val and y_val must have the same number of rows, got {of_X[0]} and {of_y[0]}."
            )
