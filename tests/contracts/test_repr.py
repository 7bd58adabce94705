"""What a user prints in a session stays short, however large the table was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba import AdaBoostClassifier, DecisionTreeClassifier, KMeans, RandomForestClassifier
from ceiba.compat.netlab import gmm
from ceiba.data import Table
from ceiba.tree import cost_complexity_path

MAX_CHARACTERS = 1_200
_RANDOM = np.random.default_rng(0)
_X = pd.DataFrame(_RANDOM.random((200, 80)), columns=[f"column {j}" for j in range(80)])
_y = _RANDOM.integers(0, 20, 200)


def _tree():
    return DecisionTreeClassifier(trace=True).fit(_X, _y)


def _forest():
    return RandomForestClassifier(8, oob_score=True, importance=True).fit(_X, _y)


PRINTED = {
    "parameters": lambda: KMeans(100, init=np.zeros((100, 80))),
    "table": lambda: Table.of(_X),
    "schema": lambda: Table.of(_X).schema,
    "column": lambda: Table.of(pd.DataFrame({"id": [f"number {i}" for i in range(999)]})).schema[0],
    "frame of a tree": lambda: _tree().trace_[0],
    "frame of k-means": lambda: KMeans(5, trace=True).fit(_X).trace_[0],
    "frame of boosting": lambda: AdaBoostClassifier(
        n_estimators=2, trace=True
    ).fit(_X, _y).trace_[0],
    "trace": lambda: _tree().trace_,
    "path": lambda: cost_complexity_path(_tree().tree_),
    "pruning": lambda: _tree().pruned("cost_complexity", alpha=0.001).pruning_,
    "rule": lambda: _tree().to_rules()[0],
    "rules": lambda: _tree().to_rules(),
    "curve": lambda: _forest().oob_curve_,
    "importance": lambda: _forest().oob_importance_,
    "split": lambda: _tree().tree_.split(0),
    "mix": lambda: gmm(30, 30, "full"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", PRINTED)
def test_representations_are_bounded(name):
    value = PRINTED[name]()
    assert len(repr(value)) <= MAX_CHARACTERS
    assert type(value).__name__ in repr(value)


def test_a_short_representation_is_complete():
    schema = Table.of(pd.DataFrame({"size": ["S", "L"]})).schema
    assert repr(schema[0]) == (
        "Column(name='size', kind=<Kind.NOMINAL: 'nominal'>, categories=('L', 'S'), dtype='codes')"
    )
