"""Simulate how often each interval of a cross-validated accuracy contains the true value.

    python -m tests.inference.coverage [N_DATASETS]

prints the table of the guide. Rows are of two normal classes, the learner assigns the class with
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
    t_interval,
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


def cross_validate(rng: Any, half_distance: float) -> tuple[Any, Any, float]:
    """Return correctness in each repetition and row, accuracies of folds, and the true accuracy."""
    y = rng.permutation(N_ROWS) % 2 == 1
    means = np.array([[-half_distance, 0.0], [half_distance, 0.0]])
    X = means[y.astype(int)] + rng.normal(size=(N_ROWS, 2))
    folds = np.array([rng.permutation(N_ROWS) % N_FOLDS for _ in range(N_REPEATS)])
    test = (folds[:, None, :] == np.arange(N_FOLDS)[:, None]).reshape(-1, N_ROWS)
    centers = [((~test & rows) @ X) / (~test & rows).sum(axis=1, keepdims=True) for rows in (~y, y)]
    weights = centers[1] - centers[0]
    offsets = -(weights * (centers[0] + centers[1])).sum(axis=1) / 2
    correct = (weights @ X.T + offsets[:, None] > 0) == y
    accuracies = (correct & test).sum(axis=1) / test.sum(axis=1)
    in_test = (correct & test).reshape(N_REPEATS, N_FOLDS, N_ROWS).any(axis=1)
    scores = (weights @ means.T + offsets[:, None]) / np.linalg.norm(weights, axis=1)[:, None]
    return in_test, accuracies, float((ndtr(-scores[:, 0]) + ndtr(scores[:, 1])).mean() / 2)


def intervals(correct: Any, accuracies: Any, seed: int) -> list[Interval]:
    """Compute the intervals of ``METHODS`` of one cross-validated dataset."""
    rows = correct[0].astype(float)
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


def main(n_datasets: int) -> None:
    results = [simulate(half_distance, n_datasets) for half_distance in HALF_DISTANCES]
    print("true accuracy", *(f"{truth:.3f}" for *_, truth in results))
    for index, method in enumerate(METHODS):
        numbers = [f"{c[index]:.3f}   {w[index]:.3f}" for c, w, _ in results]
        print(f"{method:<46}", "   ".join(numbers))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
