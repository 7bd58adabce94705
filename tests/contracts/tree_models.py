"""Models for the statistics of a growing tree: bins, scales, configuration, first splits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ceiba
from ceiba.data.source import Chunk
from ceiba.engine import Batch
from ceiba.engine.local import LocalEngine
from ceiba.stats import LabeledRows, TargetSummary
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.encoding import ColumnEncoding, RowSample
from ceiba.tree.grow.grower import TreeGrower
from ceiba.tree.grow.statistics import DepthSums
from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs
from tests.contracts.row_kinds import CLASSIFIED, MEASURED, RowKind

SEED = 5


def _kept(chunk: Chunk) -> Chunk:
    """Give rows of weight zero weight 1: they would be numbered in a part but not in the whole."""
    weight = None if chunk.weight is None else np.where(chunk.weight == 0, 1.0, chunk.weight)
    return replace(chunk, weight=weight)


def _squarable(chunk: Chunk) -> Chunk:
    # Rounded, so that the square of no difference underflows.
    return replace(_kept(chunk), target=np.clip(chunk.target, -1000, 1000).round(9))


CLASS_ROWS: RowKind = replace(CLASSIFIED, rows=CLASSIFIED.rows.map(_kept))
NUMBER_ROWS: RowKind = replace(MEASURED, rows=MEASURED.rows.map(_squarable))


def sampled(rows: LabeledRows) -> tuple[Any, ...]:
    """Sample fewer rows than the tables usually have."""
    return 10, SEED


def first_pass(rows: LabeledRows) -> tuple[Any, ...]:
    """Return the model before the first split: all rows are in the root."""
    grower, encoding = _grower(rows)
    return encoding, grower.inputs.scale, grower.growth, None


def second_pass(rows: LabeledRows) -> tuple[Any, ...]:
    """Return the model after the first split, if there is one."""
    grower, encoding = _grower(rows)
    root, model = np.zeros(1, np.int32), (encoding, grower.inputs.scale, grower.growth)
    sums = DepthSums.of(Batch(rows, 0), *model, None, root)
    state = grower.solve(encoding, None, root, sums)
    return *model, state if len(state.open_nodes()) else None


def _grower(rows: LabeledRows) -> tuple[TreeGrower, ColumnEncoding]:
    summary = TargetSummary.of(Batch(rows, 0))
    regression = summary.classes is None
    config = TreeConfig.of(criterion="squared_error" if regression else "gini", max_bins=4)
    scale = FixedPointScale.of(summary, None, squares=regression)
    encoding = ColumnEncoding.of_bins(RowSample.of(Batch(rows, 0), 1000, SEED), 4, 1)
    inputs = GrowthInputs(rows.table.schema, summary.n_rows, 0, scale, SEED)
    return TreeGrower.of(LocalEngine(1), rows, config, inputs), encoding


def first_sums(rows: LabeledRows) -> tuple[Any, ...]:
    """Return the model and nodes of the root."""
    return *first_pass(rows), np.zeros(1, np.int32)


def second_sums(rows: LabeledRows) -> tuple[Any, ...]:
    """Return the model and nodes below the root."""
    *model, state = second_pass(rows)
    nodes = np.zeros(1, np.int32) if state is None else state.open_nodes()
    return *model, state, nodes


def judged(rows: LabeledRows) -> tuple[Any, ...]:
    """Return a tree of these rows, and its classes."""
    if rows.target.classes is None:
        model = ceiba.DecisionTreeRegressor(max_depth=3)
        return (model.fit(rows.table, rows.target.values).tree_,)
    y = rows.target.classes[rows.target.values]
    model = ceiba.DecisionTreeClassifier(max_depth=3, missing="fractional").fit(rows.table, y)
    return model.tree_, model.classes_


def plain_scale(rows: LabeledRows) -> tuple[Any, ...]:
    """Return the scale of the rows' weights."""
    return (FixedPointScale.of(TargetSummary.of(Batch(rows, 0)), None, squares=False),)
