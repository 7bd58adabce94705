"""Scores of splits by columns, and of partitions by depth, against values computed by hand."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ceiba import DecisionTreeClassifier, datasets, scan
from ceiba.tree import split_scores


def entropy(labels: Any) -> float:
    """Compute the entropy in bits, term by term."""
    n = len(labels)
    return sum(-c / n * log2(c / n) for c in Counter(labels).values())


def gini(labels: Any) -> float:
    n = len(labels)
    return 1 - sum((c / n) ** 2 for c in Counter(labels).values())


def gain(parts: list[list[Any]], impurity: Any) -> float:
    rows = [label for part in parts for label in part]
    return impurity(rows) - sum(len(part) / len(rows) * impurity(part) for part in parts)


def by_value(values: Any, y: Any) -> list[list[Any]]:
    return [[b for a, b in zip(values, y, strict=True) if a == v] for v in sorted(set(values))]


def weather() -> tuple[pd.DataFrame, np.ndarray]:
    table = datasets.load("weather_nominal")
    return table.table.to_pandas().astype(str), table.y


def test_play_tennis_has_the_values_of_the_textbooks() -> None:
    # Quinlan (1986) and Mitchell (1997), table 3.2.
    X, y = weather()
    scores = split_scores(X, y)
    found = [round(row.information_gain, 4) for row in scores]
    assert found == [0.2467, 0.0292, 0.1518, 0.0481]
    assert [round(row.gain_ratio, 3) for row in scores] == [0.156, 0.019, 0.152, 0.049]
    assert round(scores["outlook"].entropy, 4) == 0.9403
    assert scores["outlook"].gini == pytest.approx(1 - (9 / 14) ** 2 - (5 / 14) ** 2)
    assert [row.n_branches for row in scores] == [3, 3, 2, 2]
    assert all(row.threshold is None for row in scores)


def test_joint_columns_are_one_split_by_their_combinations() -> None:
    X, y = weather()
    scores = split_scores(X, y, joint=["outlook", "windy"])
    parts = by_value(list(zip(X["outlook"], X["windy"], strict=True)), y)
    row = scores["outlook & windy"]
    assert row.information_gain == pytest.approx(gain(parts, entropy))
    assert row.gini_decrease == pytest.approx(gain(parts, gini))
    pairs = list(zip(X["outlook"], X["windy"], strict=True))
    assert row.gain_ratio == pytest.approx(gain(parts, entropy) / entropy(pairs))
    several = split_scores(X, y, joint=[["outlook", "windy"], [2, 3, 0]])
    assert len(several) == 6
    assert several["humidity & windy & outlook"].information_gain == pytest.approx(entropy(y))
    assert several["outlook & windy"] == row


def test_numeric_columns_are_split_at_the_best_threshold() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, (60, 2)).astype(float)
    y = np.where(X[:, 0] + rng.normal(0, 3, 60) > 6, "b", "a")
    for j, row in enumerate(split_scores(X, y)):
        x = X[:, j]
        best = max(
            (gain([list(y[x <= (a + b) / 2]), list(y[x > (a + b) / 2])], entropy), -(a + b) / 2)
            for a, b in pairwise(np.unique(x))
        )
        assert row.information_gain == pytest.approx(best[0])
        left, right = list(y[x <= row.threshold]), list(y[x > row.threshold])
        assert gain([left, right], entropy) == pytest.approx(best[0])
        assert row.gini_decrease == pytest.approx(gain([left, right], gini))
        sides = ["l"] * len(left) + ["r"] * len(right)
        assert row.gain_ratio == pytest.approx(best[0] / entropy(sides))


def test_missing_values_lower_the_gain_as_in_c45() -> None:
    X, y = weather()
    X.loc[11, "outlook"] = None  # Quinlan (1993), section 3.1: overcast of row 12 unknown
    row = split_scores(X, y)["outlook"]
    assert row.entropy == pytest.approx(0.961, abs=5e-4)
    assert row.information_gain == pytest.approx(0.199, abs=5e-4)
    assert row.gain_ratio == pytest.approx(0.199 / 1.809, abs=5e-4)


def test_weights_count_as_rows() -> None:
    X, y = weather()
    weight = np.arange(14) % 3
    weighted = split_scores(X, y, sample_weight=weight.astype(float))
    repeated = split_scores(X.loc[np.repeat(X.index, weight)], np.repeat(y, weight))
    for a, b in zip(weighted, repeated, strict=True):
        assert a.information_gain == pytest.approx(b.information_gain)
        assert a.gain_ratio == pytest.approx(b.gain_ratio)


def test_constant_columns_gain_nothing() -> None:
    scores = split_scores(pd.DataFrame({"a": [1, 1, 1], "b": ["x"] * 3}), [0, 1, 1])
    for row in scores:
        assert (row.n_branches, row.threshold) == (1, None)
        assert (row.information_gain, row.gain_ratio, row.gini_decrease) == (0, 0, 0)


def test_the_table_prints_and_converts() -> None:
    X, y = weather()
    scores = split_scores(X, y)
    assert "gain ratio" in str(scores).splitlines()[0]
    frame = scores.to_pandas()
    assert frame.loc["humidity", "n_branches"] == 2
    with pytest.raises(KeyError, match="no row has the name 'wind'"):
        scores["wind"]


@pytest.mark.parametrize(
    "joint", ["outlook", ["outlook"], [["outlook", "outlook"]], ["outlook", 9]]
)
def test_bad_groups_are_named(joint: Any) -> None:
    X, y = weather()
    with pytest.raises(ValueError, match="joint must"):
        split_scores(X, y, joint=joint)


def test_depth_scores_are_those_of_the_partition(tmp_path: Any) -> None:
    glass = datasets.load("glass")
    frame, y = glass.table.to_pandas(), glass.y
    model = DecisionTreeClassifier(max_depth=4).fit(frame, y)
    scores = model.depth_scores(frame, y)
    path = model.decision_path(frame).toarray().astype(bool)
    assert len(scores) == 5
    for depth, row in enumerate(scores):
        deepest = [np.flatnonzero(p & (model.tree_.depth <= depth)).max() for p in path]
        parts = by_value(deepest, y)
        assert row.n_nodes == len(parts)
        assert row.information_gain == pytest.approx(gain(parts, entropy), abs=1e-12)
        assert row.entropy == pytest.approx(entropy(y) - gain(parts, entropy), abs=1e-12)
        assert row.gini_decrease == pytest.approx(gain(parts, gini), abs=1e-12)
    # Rows of files are summed in parts.
    frame.assign(target=y).to_csv(tmp_path / "glass.csv", index=False)
    from_file = model.depth_scores(scan(tmp_path / "glass.csv", target="target"))
    assert [r.entropy for r in from_file] == pytest.approx([r.entropy for r in scores])
    assert str(scores).splitlines()[0].split() == [
        "depth", "nodes", "entropy", "gini", "gain", "gini", "decrease",
    ]  # fmt: skip
