"""Class probabilities of Weka and pyAgrum: golden numbers, made once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ceiba import NaiveBayesClassifier, TANClassifier, datasets
from tests.bayes.test_structure import COLUMNS, random_table

GOLDEN = Path(__file__).parents[1] / "golden" / "bayes"
# Weka prints three decimals.
ROUNDING = 5.001e-4


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


def vote() -> tuple[Any, Any]:
    data = datasets.load("vote")
    return data.table.to_pandas().astype(object), np.asarray(data.y)


def test_naive_bayes_equals_weka() -> None:
    X, y = vote()
    expected = golden("weka_vote.json")
    found = NaiveBayesClassifier().fit(X, y).predict_proba(X)[expected["rows"], 0]
    np.testing.assert_allclose(found, expected["naive_bayes"], atol=ROUNDING)


def test_tan_equals_weka() -> None:
    X, y = vote()
    expected = golden("weka_vote.json")
    names = {name.replace("_", "-"): name for name in X.columns}
    arcs = [(names[parent], names[child]) for parent, child in expected["arcs"]]
    X = X.where(X.notna(), "0")
    tree = TANClassifier().fit(X, y)
    assert {frozenset(arc) for arc in tree.arcs_} == {frozenset(arc) for arc in arcs}
    found = TANClassifier(structure=arcs).fit(X, y).predict_proba(X)[expected["rows"], 0]
    np.testing.assert_allclose(found, expected["tan"], atol=ROUNDING)


def test_posteriors_with_missing_values_equal_pyagrum() -> None:
    X, y, _ = random_table(7, n=200)
    expected = golden("pyagrum_tan.json")
    rows = pd.DataFrame(expected["rows"], columns=COLUMNS)
    found = TANClassifier().fit(X, y).predict_proba(rows)
    np.testing.assert_allclose(found, expected["posteriors"], atol=1e-10)
