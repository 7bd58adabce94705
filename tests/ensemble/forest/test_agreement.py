"""Forests beside scikit-learn's and R's: scores over ten seeds, and what they say of each row.

The rule for scores, out of fold and out of bag, and for each of the other systems: the means over
ten seeds differ by no more than two standard deviations of a seed (pooled from both systems), nor
by more than 0.01.

The rule for rows: the shares of a row's own class (or the predicted numbers), means over ten seeds,
differ from those of the nearest system by squares of at most twice what chance, which is the
variance between seeds, lets one expect.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor, datasets
from ceiba._typing import Array
from ceiba.data.table import Table
from tests.paths import GOLDEN_FILES

GOLDEN = GOLDEN_FILES / "forests"
SYSTEMS = ("sklearn", "randomforest", "ranger")
# With "-codes" levels count as their numbers, as scikit-learn has to take them.
CASES = (
    "iris",
    "wine",
    "glass",
    "vehicle",
    "cleveland",
    "cleveland-codes",
    "crx",
    "crx-codes",
    "auto_mpg",
    "auto_mpg-codes",
    "diabetes",
)
MEASURES = ("score", "oob_score")
FOLDS = 5
SEEDS = 10
TREES = 100
# What the rules allow: deviations of a seed, points of score, and multiples of chance.
MOST_DEVIATIONS = 2.0
MOST_POINTS = 0.01
MOST_CHANCES = 2.0


class Said(NamedTuple):
    """What forests of ten seeds say: a score each, and of every row a share or number each."""

    score: Array
    oob_score: Array
    of_rows: Array


@cache
def golden(system: str) -> dict[str, dict[str, Any]]:
    cases: dict[str, dict[str, Any]] = json.loads((GOLDEN / f"{system}.json").read_text())["cases"]
    return cases


def peers(case: str) -> dict[str, dict[str, Any]]:
    """What other systems say; scikit-learn has nothing to say of levels."""
    return {system: golden(system)[case] for system in SYSTEMS if case in golden(system)}


# Ceiba's forests


def whole_rows(table: Table) -> Array:
    gaps = np.zeros(len(table), bool)
    for place in range(len(table.schema)):
        mask = table.gaps(place)
        if mask is not None:
            gaps |= mask
    return np.flatnonzero(~gaps)


def folds(n_rows: int) -> Array:
    """The fold of each row: Fibonacci hashing of its number."""
    return (np.arange(n_rows) * 2654435761 % 2**32) * FOLDS >> 32


@cache
def rows_of(case: str) -> tuple[Table, Array, bool]:
    """Columns and target without gaps, and whether the target has classes."""
    name, _, codes = case.partition("-")
    loaded = datasets.load(name)
    rows = whole_rows(loaded.table)
    table = loaded.table.take(rows)
    if codes:
        columns = [table.column(place) for place in range(len(table.schema))]
        table = Table.of(np.column_stack(columns).astype(float))
    return table, loaded.y[rows], loaded.task == "classification"


def forest(case: str, seed: int, max_features: int | None) -> Any:
    table, _, has_classes = rows_of(case)
    # Tables as small as these are not worth a second thread.
    options: dict[str, Any] = {"oob_score": True, "random_state": seed, "n_jobs": 1}
    if has_classes:
        return RandomForestClassifier(TREES, max_features=max_features or "sqrt", **options)
    third = max(1, len(table.schema) // 3)
    return RandomForestRegressor(TREES, max_features=max_features or third, **options)


def spread(y: Array, has_classes: bool) -> float:
    """The loss that scores are measured by: all rows, or the sum of squares around the mean."""
    return float(len(y) if has_classes else ((y - y.mean()) ** 2).sum())


def of_rows(model: Any, table: Table, y: Array, has_classes: bool) -> Array:
    if not has_classes:
        return np.asarray(model.predict(table))
    return np.asarray(model.predict_proba(table)[model.classes_ == y[:, None]])


def said_by_seed(case: str, seed: int, max_features: int | None) -> tuple[float, float, Array]:
    table, y, has_classes = rows_of(case)
    fold, values = folds(len(y)), np.empty(len(y))
    lost = inside = total = 0.0
    for number in range(FOLDS):
        test, train = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        model = forest(case, seed, max_features).fit(table.take(train), y[train])
        values[test] = of_rows(model, table.take(test), y[test], has_classes)
        lost += (1 - model.score(table.take(test), y[test])) * spread(y[test], has_classes)
        inside += (1 - model.oob_score_) * spread(y[train], has_classes)
        total += spread(y[train], has_classes)
    return 1 - lost / spread(y, has_classes), 1 - inside / total, values


@cache
def said(case: str, max_features: int | None = None) -> Said:
    found = [said_by_seed(case, seed, max_features) for seed in range(SEEDS)]
    score, oob_score, values = zip(*found, strict=True)
    return Said(np.array(score), np.array(oob_score), np.array(values))


# The rules


def apart(ours: Array, theirs: Array) -> str:
    """Why scores over seeds do not agree, or nothing."""
    difference = float(ours.mean() - theirs.mean())
    deviation = float(np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / 2))
    if abs(difference) <= min(MOST_DEVIATIONS * deviation, MOST_POINTS):
        return ""
    return f"{ours.mean():.4f} is {difference:+.4f} off, and a seed deviates by {deviation:.4f}"


def chances(ours: Array, theirs: Array) -> float:
    """Mean squared difference of two means over seeds, in units of what chance lets one expect."""
    expected = 2 * ours.var(axis=0, ddof=1).mean() / SEEDS
    return float(((ours.mean(axis=0) - theirs) ** 2).mean() / expected)


def nearest(case: str, ours: Array) -> float:
    """The squared difference from the nearest system, as a multiple of chance."""
    return min(chances(ours, np.array(one["of_rows"])) for one in peers(case).values())


@pytest.mark.parametrize("case", CASES)
def test_scores_lie_within_the_spread_of_theirs(case: str) -> None:
    ours = said(case)
    found = {
        f"{measure} of {system}": apart(getattr(ours, measure), np.array(theirs[measure]))
        for system, theirs in peers(case).items()
        for measure in MEASURES
    }
    assert not {place: why for place, why in found.items() if why}


@pytest.mark.parametrize("case", CASES)
def test_rows_are_told_as_chance_allows(case: str) -> None:
    assert nearest(case, said(case).of_rows) <= MOST_CHANCES


# Power: a forest that looks at one column more in each node is another forest.
@pytest.mark.parametrize(("case", "columns"), [("iris", 3), ("crx", 4), ("auto_mpg", 3)])
def test_one_column_more_shows_in_the_rows(case: str, columns: int) -> None:
    assert nearest(case, said(case, columns).of_rows) > MOST_CHANCES


@pytest.mark.parametrize("case", CASES)
def test_the_others_agree_by_the_same_rule(case: str) -> None:
    """So the rule is one that forests of different hands can keep."""
    first, *others = peers(case).values()
    for measure in MEASURES:
        assert not [
            why
            for other in others
            if (why := apart(np.array(first[measure]), np.array(other[measure])))
        ]
