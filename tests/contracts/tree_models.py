"""What the statistics of a growing tree are asked with: bins, scales, rules and a first level."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import ceiba
from ceiba.data.source import Chunk
from ceiba.engine import Batch
from ceiba.stats import Labelled, TargetSurvey
from ceiba.tree.grow.config import Ground, tree_rules
from ceiba.tree.grow.encoding import Coding, RowSample
from ceiba.tree.grow.grower import Grower, open_nodes
from ceiba.tree.grow.statistics import LevelSums
from ceiba.tree.grow.targets import FixedPoint
from ceiba.tree.grow.thresholds import CutRule
from ceiba.tree.presets import options_of
from tests.contracts.row_kinds import CLASSIFIED, MEASURED, RowKind

SEED = 5
CUTS = CutRule("midpoint", "node", 9, SEED)


def _kept(chunk: Chunk) -> Chunk:
    """Rows of weight zero would be numbered in one part and left out of the whole."""
    weight = None if chunk.weight is None else np.where(chunk.weight == 0, 1.0, chunk.weight)
    return replace(chunk, weight=weight)


def _squarable(chunk: Chunk) -> Chunk:
    # Rounded, so that no two targets differ by so little that its square is nothing.
    return replace(_kept(chunk), target=np.clip(chunk.target, -1000, 1000).round(9))


CLASS_ROWS: RowKind = replace(CLASSIFIED, rows=CLASSIFIED.rows.map(_kept))
NUMBER_ROWS: RowKind = replace(MEASURED, rows=MEASURED.rows.map(_squarable))


def sampled(rows: Labelled) -> tuple[Any, ...]:
    """Fewer rows than most tables have."""
    return 10, SEED


def first_pass(rows: Labelled) -> tuple[Any, ...]:
    """Before the first split: all rows are in the root."""
    survey = TargetSurvey.of(Batch(rows, 0))
    numbers = survey.classes is None
    kind = ceiba.DecisionTreeRegressor if numbers else ceiba.DecisionTreeClassifier
    fixed = FixedPoint.of(survey, None, squares=numbers)
    coding = Coding.of_bins(RowSample.of(Batch(rows, 0), 1000, SEED), 4, 1)
    model = kind(max_bins=4)
    ground = Ground(rows.table.schema, survey.n_rows, 0, fixed, CUTS)
    return coding, fixed, tree_rules(model, options_of(model), ground), None


def second_pass(rows: Labelled) -> tuple[Any, ...]:
    """After the first split, where there is one."""
    coding, fixed, rules, _ = first_pass(rows)
    root = np.zeros(1, np.int32)
    sums = LevelSums.of(Batch(rows, 0), coding, fixed, rules, None, root)
    schema = rows.table.schema
    grower = Grower(None, rows, schema, fixed, rules, len(rows), False, CUTS, "branch")
    state = grower._solve(coding, None, root, sums)
    return coding, fixed, rules, state if len(open_nodes(state)) else None


def first_sums(rows: Labelled) -> tuple[Any, ...]:
    """The sums of the root."""
    return *first_pass(rows), np.zeros(1, np.int32)


def second_sums(rows: Labelled) -> tuple[Any, ...]:
    """The sums of the nodes below the root."""
    *model, state = second_pass(rows)
    nodes = np.zeros(1, np.int32) if state is None else open_nodes(state)
    return *model, state, nodes


def judged(rows: Labelled) -> tuple[Any, ...]:
    """A tree of these rows, and what tells its validation errors."""
    if rows.target.classes is None:
        model = ceiba.DecisionTreeRegressor(max_depth=3)
        return (model.fit(rows.table, rows.target.values).tree_,)
    y = rows.target.classes[rows.target.values]
    model = ceiba.DecisionTreeClassifier(max_depth=3, missing="fractional").fit(rows.table, y)
    return model.tree_, model.classes_


def plain_scale(rows: Labelled) -> tuple[Any, ...]:
    """The scale of the rows' weights."""
    return (FixedPoint.of(TargetSurvey.of(Batch(rows, 0)), None, squares=False),)
