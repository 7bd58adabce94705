"""What the statistics of a forest's predictions are asked with: a forest of the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ceiba
from ceiba.engine import Batch
from ceiba.stats import Labelled
from ceiba.tree.scoring import LeafNumbers, ToldValues


def grown(rows: Labelled) -> tuple[Any, ...]:
    """A small forest of classes or numbers."""
    options: dict[str, Any] = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
    if rows.target.classes is None:
        return (ceiba.RandomForestRegressor(**options).fit(rows.table, rows.target.values).forest_,)
    y = rows.target.classes[rows.target.values]
    return (ceiba.RandomForestClassifier(**options).fit(rows.table, y).forest_,)


def told(batch: Batch[Labelled], forest: Any) -> ToldValues:
    """What the trees say of the rows, with one of each class added to their leaves."""
    return ToldValues.of(replace(batch, rows=batch.rows.table), forest, 1.0)


def leaves(batch: Batch[Labelled], forest: Any) -> LeafNumbers:
    """Where the rows end."""
    return LeafNumbers.of(replace(batch, rows=batch.rows.table), forest)
