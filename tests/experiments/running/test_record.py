"""The record of an experiment."""

from __future__ import annotations

import json

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import ceiba
from ceiba import DecisionTreeClassifier, datasets
from ceiba.experiments import Journal, compare

TREE = DecisionTreeClassifier(max_depth=2)


def test_the_record_makes_the_experiment_again():
    learners = {
        "tree": TREE,
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(C=0.5)),
    }
    results = compare(learners, ["iris", "wine"], protocol="3-fold", seed=4)
    names = {
        "compare": compare,
        "DecisionTreeClassifier": DecisionTreeClassifier,
        "LogisticRegression": LogisticRegression,
        "Pipeline": Pipeline,
        "StandardScaler": StandardScaler,
    }
    again = eval(results.record["command"], names)
    for table in ("iris", "wine"):
        for learner in learners:
            assert again.mean("accuracy", table, learner) == results.mean(
                "accuracy", table, learner
            )
    assert again.record["hash"] == results.record["hash"]


def test_the_record_has_data_versions_and_machine():
    results = compare({"tree": TREE}, "iris", protocol="2-fold", seed=7)
    record = json.loads(json.dumps(results.record))
    assert record["protocol"] == "2-fold seed 7"
    assert record["seed"] == 7
    assert record["versions"]["ceiba"] == ceiba.__version__
    assert {"python", "numpy", "scikit-learn"} < set(record["versions"])
    assert record["machine"]["cores"] >= 1
    assert record["datasets"] == [
        {
            "name": "iris",
            "rows": 150,
            "columns": 4,
            "task": "classification",
            "hash": results.datasets[0].key,
        }
    ]
    assert record["learners"] == [
        {"name": "tree", "estimator": "DecisionTreeClassifier(max_depth=2)"}
    ]
    assert record["n_units"] == record["n_computed"] == 2
    assert record["seconds"] > 0


def test_rows_of_the_user_are_named_in_the_command():
    X, y = datasets.load("iris")
    mixed = compare({"tree": TREE}, {"iris": "iris", "mine": (X, y)}, protocol="2-fold")
    assert "{'iris': 'iris', 'mine': (X, y)}" in mixed.record["command"]
    given = compare({"tree": TREE}, "iris", protocol="2-fold", command="ceiba compare iris")
    assert given.record["command"] == "ceiba compare iris"


def test_the_journal_has_the_record_of_every_run(tmp_path):
    path = tmp_path / "journal.db"
    for seed, n_computed in ((0, 2), (0, 0), (1, 2)):
        results = compare({"tree": TREE}, "iris", protocol="2-fold", seed=seed, journal=path)
        assert results.record["n_computed"] == n_computed
    with Journal(path) as journal:
        runs = journal.runs()
    assert [run["seed"] for run in runs] == [0, 0, 1]
    assert runs[0]["hash"] == runs[1]["hash"] != runs[2]["hash"]


def test_another_dataset_changes_the_hash():
    X, y = datasets.load("iris")
    first = compare({"tree": TREE}, {"a": (X, y)}, protocol="2-fold").record["hash"]
    X[0, 0] += 1
    assert compare({"tree": TREE}, {"a": (X, y)}, protocol="2-fold").record["hash"] != first
