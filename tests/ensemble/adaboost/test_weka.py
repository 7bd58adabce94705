"""Weka's AdaBoostM1 with stumps, round by round: tests/golden/adaboost_m1."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from ceiba import AdaBoostClassifier, DecisionTreeClassifier, datasets
from tests.golden.adaboost_m1.make_adaboost_m1 import TABLES
from tests.paths import GOLDEN_FILES

GOLDEN = GOLDEN_FILES / "adaboost_m1"


@cache
def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


@cache
def fitted(name):
    loaded = datasets.load(name)
    stump = DecisionTreeClassifier(max_depth=1, criterion="entropy")
    rounds = golden(name)["max_rounds"]
    model = AdaBoostClassifier(stump, n_estimators=rounds, algorithm="m1", trace=True)
    return model.fit(loaded.table, loaded.y)


@pytest.mark.parametrize("name", TABLES)
def test_stumps_match_weka(name):
    rounds, model = golden(name)["rounds"], fitted(name)
    assert len(model.estimators_) == len(rounds)
    for record, member in zip(rounds, model.estimators_, strict=True):
        tree = member.tree_
        assert tree.column[0] == record["column"]
        assert tree.threshold[0] == pytest.approx(record["threshold"], rel=1e-12)
        sides = [record["left"], record["right"]]
        np.testing.assert_allclose(tree.leaf_values(np.array([1, 2])), sides, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_errors_and_weights_match_weka(name):
    record, model = golden(name), fitted(name)
    errors = [entry["error"] for entry in record["rounds"]]
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-8)
    alphas = [entry["alpha"] for entry in record["rounds"]]
    np.testing.assert_allclose(model.estimator_weights_, alphas, rtol=1e-8)
    weights = np.array(record["weights_before_the_last_round"])
    assert weights.sum() == pytest.approx(len(weights))
    own = model.trace_[len(record["rounds"]) - 1]["weights"]
    np.testing.assert_allclose(own, weights, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_predictions_match_weka(name):
    model, loaded = fitted(name), datasets.load(name)
    probabilities = np.array(golden(name)["probabilities"])
    np.testing.assert_array_equal(
        model.predict(loaded.table), model.classes_[probabilities.argmax(axis=1)]
    )
    # Weka normalizes exp(votes); the decision is linear in the votes.
    votes = np.zeros_like(probabilities)
    for member, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
        indices = np.searchsorted(model.classes_, member.predict(loaded.table))
        votes[np.arange(len(votes)), indices] += alpha
    powers = np.exp(votes)
    np.testing.assert_allclose(powers / powers.sum(axis=1, keepdims=True), probabilities, 1e-7)


def test_boosting_stops_at_chance():
    assert len(golden("balance_scale")["rounds"]) < golden("balance_scale")["max_rounds"]
    assert fitted("balance_scale").stop_reason_ == "chance"
    assert fitted("two_moons").stop_reason_ == "rounds"
