"""Simulate how often intervals contain the true accuracy, and how often tests find a difference.

    python -m tests.inference.simulation [N_DATASETS]

prints the tables of the guide. Rows are of two normal classes, the learner assigns the class with
the nearest mean, and 100 rows are cross-validated in ten folds, ten times. The true value is the
expected accuracy of the learner on 90 rows, which has a closed form given its means.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.special import ndtr

from ceiba.inference import (
    Interval,
    bootstrap_interval,
    clopper_pearson,
    corrected_t_interval,
    corrected_t_test,
    five_by_two_t_test,
    mann_whitney_test,
    mcnemar_test,
    paired_t_test,
    t_interval,
    wilcoxon_test,
    wilson,
)

N_ROWS, N_FOLDS, N_REPEATS = 100, 10, 10
# Half distances of the class means, for accuracies of about 0.75 and 0.96.
HALF_DISTANCES = (0.7, 1.8)
METHODS = (
    "t_interval, 10 folds",
    "t_interval, 10 x 10 folds",
    "corrected_t_interval, 10 folds",
    "corrected_t_interval, 10 x 10 folds",
    "wilson, pooled rows",
    "clopper_pearson, pooled rows",
    "bootstrap_interval (percentile), pooled rows",
    "bootstrap_interval (BCa), pooled rows",
)
# Half distances for two learners: the same expected accuracy, and 0.75 beside 0.84.
PAIRS = ((0.7, 0.7), (0.7, 1.0))
TESTS = (
    "paired_t_test, 10 folds",
    "paired_t_test, 10 x 10 folds",
    "corrected_t_test, 10 folds",
    "corrected_t_test, 10 x 10 folds",
    "five_by_two_t_test",
    "wilcoxon_test, 10 folds",
    "wilcoxon_test, 10 x 10 folds",
    "mann_whitney_test, 10 folds",
    "mcnemar_test, pooled rows",
)


def fold_masks(rng: Any, n_folds: int, n_repeats: int) -> Any:
    """Return the test rows of each fold of each repetition as a boolean matrix."""
    folds = np.array([rng.permutation(N_ROWS) % n_folds for _ in range(n_repeats)])
    return (folds[:, None, :] == np.arange(n_folds)[:, None]).reshape(-1, N_ROWS)


def draw_rows(rng: Any, half_distance: float, y: Any) -> Any:
    """Draw two columns given the classes, of which the first one has different means."""
    return np.where(y, half_distance, -half_distance)[:, None] * [1, 0] + rng.normal(
        size=(N_ROWS, 2)
    )


def nearest_mean(X: Any, y: Any, test: Any) -> tuple[Any, Any, Any]:
    """Fit the learner without each set of test rows; return correctness, weights and offsets."""
    centers = [((~test & rows) @ X) / (~test & rows).sum(axis=1, keepdims=True) for rows in (~y, y)]
    weights = centers[1] - centers[0]
    offsets = -(weights * (centers[0] + centers[1])).sum(axis=1) / 2
    return (weights @ X.T + offsets[:, None] > 0) == y, weights, offsets


def accuracies_of(correct: Any, test: Any) -> Any:
    return (correct & test).sum(axis=1) / test.sum(axis=1)


def cross_validate(rng: Any, half_distance: float) -> tuple[Any, Any, float]:
    """Return correctness of rows in the first repetition, accuracies, and the true accuracy."""
    y = rng.permutation(N_ROWS) % 2 == 1
    X = draw_rows(rng, half_distance, y)
    test = fold_masks(rng, N_FOLDS, N_REPEATS)
    correct, weights, offsets = nearest_mean(X, y, test)
    means = np.array([[-half_distance, 0.0], [half_distance, 0.0]])
    scores = (weights @ means.T + offsets[:, None]) / np.linalg.norm(weights, axis=1)[:, None]
    truth = float((ndtr(-scores[:, 0]) + ndtr(scores[:, 1])).mean() / 2)
    pooled = (correct & test)[:N_FOLDS].any(axis=0)
    return pooled, accuracies_of(correct, test), truth


def intervals(correct: Any, accuracies: Any, seed: int) -> list[Interval]:
    """Compute the intervals of ``METHODS`` of one cross-validated dataset."""
    rows = correct.astype(float)
    n_correct = int(rows.sum())
    n_train, n_test = N_ROWS * (N_FOLDS - 1) / N_FOLDS, N_ROWS / N_FOLDS
    return [
        t_interval(accuracies[:N_FOLDS]),
        t_interval(accuracies),
        corrected_t_interval(accuracies[:N_FOLDS], n_train, n_test),
        corrected_t_interval(accuracies, n_train, n_test),
        wilson(n_correct, N_ROWS),
        clopper_pearson(n_correct, N_ROWS),
        bootstrap_interval(rows, method="percentile", n_resamples=1000, random_state=seed),
        bootstrap_interval(rows, method="bca", n_resamples=1000, random_state=seed),
    ]


def simulate(half_distance: float, n_datasets: int, seed: int = 0) -> tuple[Any, Any, float]:
    """Return the coverage and mean width of each method, and the true accuracy."""
    rng = np.random.default_rng(seed)
    found, truths = [], []
    for dataset in range(n_datasets):
        correct, accuracies, truth = cross_validate(rng, half_distance)
        found.append([(i.lower, i.upper) for i in intervals(correct, accuracies, dataset)])
        truths.append(truth)
    truth = float(np.mean(truths))
    lower, upper = np.moveaxis(np.array(found), -1, 0)
    covered = ((lower <= truth) & (truth <= upper)).mean(axis=0)
    return covered, (upper - lower).mean(axis=0), truth


def p_values(rng: Any, half_distances: tuple[float, float]) -> list[float]:
    """Compute the p-values of ``TESTS`` of two learners that get different columns."""
    y = rng.permutation(N_ROWS) % 2 == 1
    tables = [draw_rows(rng, half_distance, y) for half_distance in half_distances]
    test, halves = fold_masks(rng, N_FOLDS, N_REPEATS), fold_masks(rng, 2, 5)
    correct = [nearest_mean(X, y, test)[0] for X in tables]
    first, second = (accuracies_of(found, test) for found in correct)
    pooled = [(found & test)[:N_FOLDS].any(axis=0) for found in correct]
    by_halves = [accuracies_of(nearest_mean(X, y, halves)[0], halves).reshape(5, 2) for X in tables]
    one = first[:N_FOLDS], second[:N_FOLDS]
    found = [
        paired_t_test(*one),
        paired_t_test(first, second),
        corrected_t_test(*one, N_FOLDS - 1, 1),
        corrected_t_test(first, second, N_FOLDS - 1, 1),
        five_by_two_t_test(*by_halves),
        wilcoxon_test(*one),
        wilcoxon_test(first, second),
        mann_whitney_test(*one),
        mcnemar_test(*pooled),
    ]
    return [test.p_value for test in found]


def rejections(half_distances: tuple[float, float], n_datasets: int, seed: int = 0) -> Any:
    """Return the share of datasets with p <= 0.05 for each test."""
    rng = np.random.default_rng(seed)
    found = [p_values(rng, half_distances) for _ in range(n_datasets)]
    return (np.array(found) <= 0.05).mean(axis=0)


def main(n_datasets: int) -> None:
    results = [simulate(half_distance, n_datasets) for half_distance in HALF_DISTANCES]
    print("true accuracy", *(f"{truth:.3f}" for *_, truth in results))
    for index, method in enumerate(METHODS):
        numbers = [f"{c[index]:.3f}    {w[index]:.3f}" for c, w, _ in results]
        print(f"{method:<45}", "    ".join(numbers))
    shares = np.transpose([rejections(pair, n_datasets) for pair in PAIRS])
    for name, numbers in zip(TESTS, shares, strict=True):
        print(f"{name:<37}", "    ".join(f"{number:.3f}" for number in numbers))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
