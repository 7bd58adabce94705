"""Bayesian network classifiers of Ceiba and other libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bayes.data import N_COMPARED, Array, Problem
from benchmarks.workload import Implementation, Metrics

RIDGE = 3.0


class Peer(NamedTuple):
    """How a library fits, which rows it takes, and its top-level module."""

    fit: Callable[[Problem], Any]
    rows: Callable[[Problem], Any]
    module: str = "sklearn"


class Fitted(NamedTuple):
    """A fitted model, and the library that fitted it."""

    model: Any
    peer: Peer


def frame(problem: Problem) -> Any:
    """Return the frame."""
    return problem.frame


def texts(problem: Problem) -> Any:
    """Return the frame with columns of text."""
    return problem.texts


def table(problem: Problem) -> Any:
    """Return the table of Ceiba."""
    return problem.table


def matrix(problem: Problem) -> Any:
    """Return the numbers or codes."""
    return problem.matrix


def one_hot(problem: Problem) -> Any:
    """Return the indicators."""
    return problem.one_hot


def ceiba_peer(name: str, rows: Callable[[Problem], Any] = table, **parameters: Any) -> Peer:
    """Return a classifier of Ceiba on tables, frames or matrices."""

    def fit(problem: Problem) -> Any:
        import ceiba

        return getattr(ceiba, name)(**parameters).fit(rows(problem), problem.y)

    return Peer(fit, rows, "ceiba")


def categorical_nb(problem: Problem) -> Any:
    """Fit scikit-learn's naive Bayes of categories."""
    from sklearn.naive_bayes import CategoricalNB

    return CategoricalNB().fit(problem.matrix, problem.y)


def gaussian_nb(problem: Problem) -> Any:
    """Fit scikit-learn's naive Bayes of normal columns."""
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB().fit(problem.matrix, problem.y)


def logistic_regression(problem: Problem) -> Any:
    """Fit scikit-learn's logistic regression with the penalty of Ceiba's ridge."""
    from sklearn.linear_model import LogisticRegression

    C = (2.0 if len(np.unique(problem.y)) == 2 else 1.0) / RIDGE
    return LogisticRegression(C=C, tol=1e-5, max_iter=2_000).fit(problem.one_hot, problem.y)


def pyagrum_tan(problem: Problem) -> Any:
    """Fit pyAgrum's tree-augmented naive Bayes, with Laplace's smoothing."""
    from pyagrum.skbn import createBNClassifier

    model = createBNClassifier(learningMethod="TAN", prior="Smoothing", priorWeight=1)
    model.fit(problem.texts, problem.y.astype(str))
    return model


def fits(group: str, peers: dict[str, Peer], n_calls: int = 1) -> tuple[Implementation, ...]:
    """Return a group in which all fit, ``n_calls`` times."""

    def runner(label: str, peer: Peer) -> Callable[[Problem], Fitted]:
        def run(problem: Problem) -> Fitted:
            models = [peer.fit(problem) for _ in range(n_calls)]
            return Fitted(models[-1], peer)

        return run

    return _implementations(group, peers, runner)


def predictions(group: str, peers: dict[str, Peer]) -> tuple[Implementation, ...]:
    """Return a group in which all predict class probabilities with their own model."""

    def runner(label: str, peer: Peer) -> Callable[[Problem], Array]:
        return lambda problem: np.asarray(problem.fitted[label].predict_proba(peer.rows(problem)))

    return _implementations(group, peers, runner)


def with_fitted(
    make: Callable[[int, int], Problem], peers: dict[str, Peer], max_rows: int
) -> Callable[[int, int], Problem]:
    """Return a maker of problems with the models of all libraries, fitted to the first rows."""

    def make_fitted(seed: int, n_rows: int) -> Problem:
        problem = make(seed, n_rows)
        first = Problem(problem.frame[:max_rows], problem.matrix[:max_rows], problem.y[:max_rows])
        fitted = {
            label: peer.fit(first)
            for label, peer in peers.items()
            if find_spec(peer.module) is not None
        }
        return replace(problem, fitted=fitted)

    return make_fitted


def _implementations(
    group: str, peers: dict[str, Peer], runner: Callable[[str, Peer], Callable[[Problem], Any]]
) -> tuple[Implementation, ...]:
    return tuple(
        Implementation(label, runner(label, peer), group, peer.module == "ceiba", peer.module)
        for label, peer in peers.items()
    )


def score_fit(result: Fitted, problem: Problem) -> Metrics:
    """Return the log-loss and the accuracy of the first rows."""
    rows = result.peer.rows(problem)[:N_COMPARED]
    return score_probabilities(np.asarray(result.model.predict_proba(rows)), problem)


def score_probabilities(probabilities: Array, problem: Problem) -> Metrics:
    """Return the log-loss and the accuracy of probabilities of the first rows."""
    labels = np.unique(problem.y, return_inverse=True)[1][:N_COMPARED]
    found = probabilities[:N_COMPARED]
    own = np.maximum(found[np.arange(len(labels)), labels], 1e-300)
    return {
        "log_loss": float(-np.log(own).mean()),
        "accuracy": float((found.argmax(axis=1) == labels).mean()),
    }


def score_objective(result: Fitted, problem: Problem) -> Metrics:
    """Return the penalized conditional log-likelihood of all rows, divided by their number."""
    model = result.model
    rows = result.peer.rows(problem)
    labels = np.unique(problem.y, return_inverse=True)[1]
    log_proba = model.predict_log_proba(rows)[np.arange(len(labels)), labels]
    if result.peer.module == "ceiba":
        known = model.model_.families.is_known
        squares = RIDGE * (model.model_.table[known] ** 2).sum()
    else:
        squares = (model.coef_**2).sum() / model.C
    return {"objective": float((squares / 2 - log_proba.sum()) / len(labels))}


def score_search(result: Fitted, problem: Problem) -> Metrics:
    """Return what a search found."""
    model = result.model
    return {"columns": float(len(model.selected_features_)), "arcs": float(len(model.arcs_))}
