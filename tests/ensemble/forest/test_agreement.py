"""Forests compared with scikit-learn's and R's: scores over ten seeds, and predictions per row.

Rule for scores, cross-validated and out of bag, and for each of the other systems: the means over
ten seeds differ by at most two standard deviations between seeds (pooled from both systems), and by
at most 0.01.

Rule for rows: the mean squared difference between the probabilities of a row's own class (or the
predicted numbers), means over ten seeds, and those of the nearest system is at most twice the
expectation under chance, which is the variance between seeds.
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
# With "-codes" categories are passed as their codes, as scikit-learn needs them.
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
# Limits of the rules: deviations between seeds, difference of scores, and multiples of chance.
MAX_DEVIATIONS = 2.0
MAX_DIFFERENCE = 0.01
MAX_CHANCE_RATIO = 2.0


class Results(NamedTuple):
    """Results of forests of ten seeds: scores, and a probability or number per row."""

    score: Array
    oob_score: Array
    of_rows: Array


@cache
def golden(system: str) -> dict[str, dict[str, Any]]:
    cases: dict[str, dict[str, Any]] = json.loads((GOLDEN / f"{system}.json").read_text())["cases"]
    return cases


def peers(case: str) -> dict[str, dict[str, Any]]:
    """Return the results of other systems; scikit-learn does not support categories."""
    return {system: golden(system)[case] for system in SYSTEMS if case in golden(system)}


# Ceiba's forests


def complete_rows(table: Table) -> Array:
    missing = np.zeros(len(table), bool)
    for j in range(len(table.schema)):
        mask = table.missing_mask(j)
        if mask is not None:
            missing |= mask
    return np.flatnonzero(~missing)


def folds(n_rows: int) -> Array:
    """Return the fold of each row by Fibonacci hashing of its number."""
    return (np.arange(n_rows) * 2654435761 % 2**32) * FOLDS >> 32


@cache
def rows_of(case: str) -> tuple[Table, Array, bool]:
    """Return complete rows, their target, and whether it has classes."""
    name, _, codes = case.partition("-")
    loaded = datasets.load(name)
    rows = complete_rows(loaded.table)
    table = loaded.table.take(rows)
    if codes:
        columns = [table.column(j) for j in range(len(table.schema))]
        table = Table.of(np.column_stack(columns).astype(float))
    return table, loaded.y[rows], loaded.task == "classification"


def forest(case: str, seed: int, max_features: int | None) -> Any:
    table, _, has_classes = rows_of(case)
    # Small tables do not benefit from a second thread.
    options: dict[str, Any] = {"oob_score": True, "random_state": seed, "n_jobs": 1}
    options["category_correction"] = False  # as in the other systems
    if has_classes:
        return RandomForestClassifier(TREES, max_features=max_features or "sqrt", **options)
    third = max(1, len(table.schema) // 3)
    return RandomForestRegressor(TREES, max_features=max_features or third, **options)


def spread(y: Array, has_classes: bool) -> float:
    """Return the loss that scores are relative to: rows, or squares around the mean."""
    return float(len(y) if has_classes else ((y - y.mean()) ** 2).sum())


def of_rows(model: Any, table: Table, y: Array, has_classes: bool) -> Array:
    if not has_classes:
        return np.asarray(model.predict(table))
    return np.asarray(model.predict_proba(table)[model.classes_ == y[:, None]])


def results_of_seed(case: str, seed: int, max_features: int | None) -> tuple[float, float, Array]:
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
def results(case: str, max_features: int | None = None) -> Results:
    found = [results_of_seed(case, seed, max_features) for seed in range(SEEDS)]
    score, oob_score, values = zip(*found, strict=True)
    return Results(np.array(score), np.array(oob_score), np.array(values))


# The rules


def disagreement(ours: Array, theirs: Array) -> str:
    """Return why scores over seeds do not agree, or an empty string."""
    difference = float(ours.mean() - theirs.mean())
    deviation = float(np.sqrt((ours.var(ddof=1) + theirs.var(ddof=1)) / 2))
    if abs(difference) <= min(MAX_DEVIATIONS * deviation, MAX_DIFFERENCE):
        return ""
    return f"{ours.mean():.4f} is {difference:+.4f} off, and a seed deviates by {deviation:.4f}"


def chance_ratio(ours: Array, theirs: Array) -> float:
    """Return the squared difference of two means over seeds relative to chance."""
    expected = 2 * ours.var(axis=0, ddof=1).mean() / SEEDS
    return float(((ours.mean(axis=0) - theirs) ** 2).mean() / expected)


def nearest(case: str, ours: Array) -> float:
    """Return the chance ratio to the nearest system."""
    return min(chance_ratio(ours, np.array(one["of_rows"])) for one in peers(case).values())


@pytest.mark.parametrize("case", CASES)
def test_scores_agree_with_other_systems(case: str) -> None:
    ours = results(case)
    found = {
        f"{measure} of {system}": disagreement(getattr(ours, measure), np.array(theirs[measure]))
        for system, theirs in peers(case).items()
        for measure in MEASURES
    }
    assert not {name: why for name, why in found.items() if why}


@pytest.mark.parametrize("case", CASES)
def test_row_predictions_agree_with_other_systems(case: str) -> None:
    assert nearest(case, results(case).of_rows) <= MAX_CHANCE_RATIO


# Power: a forest that searches one more column in each node is a different forest.
@pytest.mark.parametrize(("case", "columns"), [("iris", 3), ("crx", 4), ("auto_mpg", 3)])
def test_rule_detects_one_more_column_per_node(case: str, columns: int) -> None:
    assert nearest(case, results(case, columns).of_rows) > MAX_CHANCE_RATIO


@pytest.mark.parametrize("case", CASES)
def test_other_systems_agree_with_each_other(case: str) -> None:
    """The rule holds between other implementations, too."""
    first, *others = peers(case).values()
    for measure in MEASURES:
        assert not [
            why
            for other in others
            if (why := disagreement(np.array(first[measure]), np.array(other[measure])))
        ]
