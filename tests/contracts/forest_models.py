"""Models for the predictions of a forest: a forest of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ceiba
from ceiba.engine import Batch
from ceiba.engine.contract import RowResults
from ceiba.ensemble.forest.model import Forest
from ceiba.stats import LabeledRows
from ceiba.tree.scoring import predict_batch


def grown(rows: LabeledRows) -> tuple[Any, ...]:
    """Fit a small forest."""
    options: dict[str, Any] = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
    if rows.target.classes is None:
        return (ceiba.RandomForestRegressor(**options).fit(rows.table, rows.target.values).forest_,)
    y = rows.target.classes[rows.target.values]
    return (ceiba.RandomForestClassifier(**options).fit(rows.table, y).forest_,)


def predictions(batch: Batch[LabeledRows], forest: Any) -> RowResults:
    """Predict the rows, with one row of each class added to the leaves."""
    return RowResults.of(
        replace(batch, rows=batch.rows.table), predict_batch, Forest.predict, forest, 1.0
    )


def leaves(batch: Batch[LabeledRows], forest: Any) -> RowResults:
    """Return the leaves of the rows."""
    return RowResults.of(replace(batch, rows=batch.rows.table), predict_batch, Forest.apply, forest)
