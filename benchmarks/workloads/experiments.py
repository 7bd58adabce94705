"""Comparisons of five learners by ten folds: the time beyond that of the bare fits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_validate

from benchmarks.forest.data import normal_table
from benchmarks.workload import Check, Implementation, Metrics, Workload
from ceiba import (
    DecisionTreeClassifier,
    KNeighborsClassifier,
    NaiveBayesClassifier,
    RandomForestClassifier,
    TANClassifier,
    datasets,
)
from ceiba.experiments import compare

N_FOLDS = 10
Data = tuple[Any, Any]
Scores = dict[str, float]


def learners() -> dict[str, Any]:
    """Return five learners at their defaults."""
    return {
        "tree": DecisionTreeClassifier(),
        "forest": RandomForestClassifier(),
        "naive Bayes": NaiveBayesClassifier(),
        "TAN": TANClassifier(),
        "k-NN": KNeighborsClassifier(),
    }


def run_comparison(data: Data) -> Scores:
    """Compare them, and return the accuracies."""
    results = compare(learners(), {"data": data}, protocol=f"{N_FOLDS}-fold")
    return {name: float(results.mean("accuracy", "data", name) or np.nan) for name in learners()}


def run_bare_fits(data: Data) -> Scores:
    """Fit and predict in a loop, each learner with all threads."""
    X, y = data
    scores = {}
    for name, learner in learners().items():
        folds = []
        for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
            model = clone(learner).fit(X[train], y[train])
            folds.append(float((model.predict(X[test]) == y[test]).mean()))
            model.predict_proba(X[test])
        scores[name] = float(np.mean(folds))
    return scores


def run_cross_validate(data: Data) -> Scores:
    """Score them by scikit-learn's cross_validate, which keeps no predictions."""
    cv = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    return {
        name: float(cross_validate(learner, *data, cv=cv)["test_score"].mean())
        for name, learner in learners().items()
    }


def make_iris(seed: int, n_rows: int) -> dict[str, Data]:
    """Return the rows of iris."""
    return {"float64": tuple(datasets.load("iris"))}


def make_table(seed: int, n_rows: int) -> dict[str, Data]:
    """Make rows of 28 normal columns."""
    sample = normal_table("classification", seed, n_rows)
    return {"float64": (sample.X, sample.y)}


def quality(scores: Scores, data: Data) -> Metrics:
    """Return the mean accuracy of the learners."""
    return {"accuracy": float(np.mean(list(scores.values())))}


IMPLEMENTATIONS = (
    Implementation("ceiba compare", run_comparison, "float64", ours=True),
    Implementation("bare fits", run_bare_fits, "float64"),
    Implementation("scikit-learn cross_validate", run_cross_validate, "float64"),
)
WORKLOADS = (
    Workload(
        name="experiments-iris",
        title=f"Iris, {N_FOLDS} folds of five learners",
        make_data=make_iris,
        implementations=IMPLEMENTATIONS,
        quality=quality,
        checks=(Check("accuracy", 1e-9),),
        n_rows=150,
        quick_n_rows=150,
    ),
    Workload(
        name="experiments-table",
        title=f"28 normal columns, {N_FOLDS} folds of five learners",
        make_data=make_table,
        implementations=IMPLEMENTATIONS,
        quality=quality,
        checks=(Check("accuracy", 1e-9),),
        n_rows=10_000,
        quick_n_rows=500,
    ),
)
