"""Bayesian network classifiers: scikit-learn's naive Bayes and logistic regression, pyAgrum's TAN.

Counting and prediction of large tables, discriminative training to the same objective, structural
search, and whole fits of a small table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.bayes import peers
from benchmarks.bayes.data import Problem, bundled, nominal, normal
from benchmarks.bayes.peers import (
    RIDGE,
    Peer,
    ceiba_peer,
    frame,
    matrix,
    one_hot,
    texts,
)
from benchmarks.workload import Check, Metrics, Workload

Maker = Callable[[int, int], Problem]
CATEGORICAL = {
    "ceiba": ceiba_peer("NaiveBayesClassifier"),
    "ceiba, frame": ceiba_peer("NaiveBayesClassifier", frame),
    "scikit-learn": Peer(peers.categorical_nb, matrix),
}
GAUSSIAN = {
    "ceiba": ceiba_peer("NaiveBayesClassifier", matrix, distributions="gaussian"),
    "scikit-learn": Peer(peers.gaussian_nb, matrix),
}
TAN = {"ceiba": ceiba_peer("TANClassifier"), "pyAgrum": Peer(peers.pyagrum_tan, texts, "pyagrum")}
TRAINED = {
    "ceiba": ceiba_peer("NaiveBayesClassifier", training="tm", penalty=RIDGE),
    "scikit-learn": Peer(peers.logistic_regression, one_hot),
}
SEARCH = {"ceiba": ceiba_peer("StructuralTMClassifier")}
# CategoricalNB does not smooth the frequencies of the classes; pyAgrum smooths arcs differently.
EQUAL = (Check("log_loss", 1e-4),)
SIMILAR = (Check("log_loss", 0.02, "at most"),)


def fit(
    name: str,
    title: str,
    make: Maker,
    group: dict[str, Peer],
    n_rows: int,
    quick_n_rows: int = 5_000,
    checks: tuple[Check, ...] = EQUAL,
    quality: Callable[[Any, Any], Metrics] = peers.score_fit,
    n_calls: int = 1,
) -> Workload:
    """Return the workload of a whole fit, ``n_calls`` times."""
    return Workload(
        name=name,
        title=f"{title}: fit",
        make_data=lambda seed, n: {"fit": make(seed, n)},
        implementations=peers.fits("fit", group, n_calls),
        quality=quality,
        checks=checks,
        n_rows=n_rows,
        quick_n_rows=quick_n_rows,
        n_calls=n_calls,
    )


def predict(
    name: str,
    title: str,
    make: Maker,
    group: dict[str, Peer],
    n_rows: int,
    checks: tuple[Check, ...] = EQUAL,
) -> Workload:
    """Return the workload of the class probabilities of all rows, from fitted models."""
    make_fitted = peers.with_fitted(make, group, max_rows=50_000)
    return Workload(
        name=name,
        title=f"{title}: class probabilities",
        make_data=lambda seed, n: {"predict": make_fitted(seed, n)},
        implementations=peers.predictions("predict", group),
        quality=peers.score_probabilities,
        checks=checks,
        n_rows=n_rows,
        quick_n_rows=5_000,
    )


WORDS = "20 nominal columns of 10 categories, 5 classes"
NUMBERS = "20 normal columns, 5 classes"
TREE = "30 nominal columns of 5 categories, 3 classes, tree-augmented"
WORKLOADS = (
    fit("bayes-categorical-fit", WORDS, nominal(20, 10, 5), CATEGORICAL, 1_000_000),
    predict("bayes-categorical-predict", WORDS, nominal(20, 10, 5), CATEGORICAL, 1_000_000),
    fit("bayes-gaussian-fit", NUMBERS, normal(20, 5), GAUSSIAN, 1_000_000),
    predict("bayes-gaussian-predict", NUMBERS, normal(20, 5), GAUSSIAN, 1_000_000),
    fit("bayes-tan-fit", TREE, nominal(30, 5, 3), TAN, 200_000, checks=SIMILAR),
    predict("bayes-tan-predict", TREE, nominal(30, 5, 3), TAN, 100_000, SIMILAR),
    fit(
        "bayes-trained-fit",
        f"{WORDS}, ridge {RIDGE:g}",
        nominal(20, 10, 5),
        TRAINED,
        200_000,
        checks=(Check("objective", 1e-6),),
        quality=peers.score_objective,
    ),
    fit(
        "bayes-search-german",
        "20 columns of German credit, structural search",
        bundled("german_credit"),
        SEARCH,
        1_000,
        1_000,
        (),
        peers.score_search,
    ),
    fit(
        "bayes-search-wide",
        "50 nominal columns of 5 categories, 3 classes, structural search",
        nominal(50, 5, 3),
        SEARCH,
        20_000,
        500,
        (),
        peers.score_search,
    ),
    fit("bayes-iris-fit", "iris, normal columns", bundled("iris"), GAUSSIAN, 150, 150, n_calls=50),
)
