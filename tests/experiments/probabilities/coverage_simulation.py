"""Simulate the coverage of conformal prediction, beside the exact one.

    python -m tests.experiments.probabilities.coverage_simulation

prints the table of docs/guide/honest_probabilities.rst. A fit is repeated on new rows of a
population, and each model is tested on new rows of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LinearRegression

from ceiba import NaiveBayesClassifier
from ceiba.experiments.probabilities.conformal import (
    ConformalClassifier,
    ConformalRegressor,
    calibration_rank,
)

# With fewer training rows, naive Bayes has densities of a few rows, probabilities of exactly 0, and
# ties of the scores: the coverage is then greater than the exact one.
N_TRAIN = 100
N_TEST = 200
REPEATS = 2000
KINDS = ("threshold", "adaptive", "regressor")
# Confidence level and number of calibration rows.
CASES = [(0.8, 20), (0.9, 20), (0.9, 100), (0.95, 100), (0.99, 100)]


@dataclass(frozen=True)
class Coverage:
    """Mean coverage and size of regions, with the standard error of the coverage."""

    mean: float
    standard_error: float
    size: float


def draw(random: np.random.Generator, kind: str, n: int) -> tuple[Any, Any]:
    """Draw rows of three overlapping classes, or of a curve that no line fits."""
    if kind == "regressor":
        X = random.normal(size=(n, 1))
        return X, X[:, 0] ** 2 + random.exponential(size=n)
    y = random.choice(3, n, p=[0.5, 0.3, 0.2])
    # Dependent columns, so that the probabilities of naive Bayes are wrong.
    X = random.normal(size=(n, 1)) + np.array([0.0, 1.5, 3.0])[y, None]
    return np.hstack([X, X + random.normal(scale=0.5, size=(n, 1))]), y


def simulate(kind: str, confidence_level: float, n_calibration: int, repeats: int) -> Coverage:
    """Fit to new rows, and test on new rows, again and again."""
    random = np.random.default_rng(
        [KINDS.index(kind), n_calibration, round(1000 * confidence_level)]
    )
    size = n_calibration / (N_TRAIN + n_calibration)
    options: dict[str, Any] = {"confidence_level": confidence_level, "calibration_size": size}
    model: Any = ConformalRegressor(LinearRegression(), **options)
    if kind != "regressor":
        bayes = NaiveBayesClassifier(distributions="gaussian")
        model = ConformalClassifier(bayes, method=kind, **options)
    covered, sizes = np.empty(repeats), np.empty(repeats)
    for i in range(repeats):
        model.fit(*draw(random, kind, N_TRAIN + n_calibration))
        assert model.n_calibration_rows_ == n_calibration
        X, y = draw(random, kind, N_TEST)
        if kind == "regressor":
            low, high = model.predict_interval(X).T
            covered[i], sizes[i] = np.mean((low <= y) & (y <= high)), np.mean(high - low)
        else:
            sets = model.predict_set(X)
            covered[i], sizes[i] = np.mean(sets[np.arange(N_TEST), y]), sets.sum(axis=1).mean()
    error = covered.std(ddof=1) / np.sqrt(repeats)
    return Coverage(float(covered.mean()), float(error), float(sizes.mean()))


def cell(found: Coverage) -> str:
    """Return an entry of the table: coverage, and size of the regions in parentheses."""
    return f"{found.mean:.4f} ({found.size:.2f})"


def main() -> None:
    """Print the table of the guide."""
    rule = "  ".join(["=" * width for width in (16, 16, 6, *(14,) * len(KINDS))])
    head = ["confidence level", "calibration rows", "exact ", *(f"{kind:14}" for kind in KINDS)]
    print(rule, "  ".join(head).rstrip(), rule, sep="\n")
    for confidence, n in CASES:
        exact = calibration_rank(n, confidence) / (n + 1)
        cells = [f"{cell(simulate(kind, confidence, n, REPEATS)):14}" for kind in KINDS]
        print("  ".join([f"{confidence:<16}  {n:<16}  {exact:.4f}", *cells]).rstrip())
    print(rule)


if __name__ == "__main__":
    main()
