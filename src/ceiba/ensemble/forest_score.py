"""Scores of a fitted forest on rows that need not be in memory."""

from __future__ import annotations

from functools import partial
from typing import Any

from ceiba.data.source import Source
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.ensemble.forest import Forest
from ceiba.stats import ToLabelled
from ceiba.stats.accuracy import Accuracy
from ceiba.stats.points import Array
from ceiba.tree.score import Determination


def score_of(model: Any, engine: Engine, source: Source) -> float:
    """Accuracy of a forest of classes, R² of a forest of numbers, in one pass over the rows."""
    rows = engine.rows(source.partitions, ToLabelled(model._task))
    if model._task == "classification":
        predict = partial(likeliest, model.forest_, model._added)
        return engine.reduce(rows, Accuracy.of, model.classes_, predict).score
    return engine.reduce(rows, Determination.of, model.forest_).score


def likeliest(forest: Forest, added: float, table: Table, threads: int) -> Array:
    """Place of the class that the forest predicts for every row."""
    places: Array = forest.told(table, threads, added).argmax(axis=1)
    return places
