"""A fit in a process of its own that writes checkpoints until it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba.data import Table

# More rounds than any process lives for.
ENDLESS = 1_000_000


class PseudoHuber:
    """A custom loss; its attribute is a part of the fit."""

    def __init__(self, delta: float) -> None:
        self.delta = delta

    def gradient(self, y: Any, raw: Any) -> Any:
        return (raw - y) / np.sqrt(1 + ((raw - y) / self.delta) ** 2)

    def hessian(self, y: Any, raw: Any) -> Any:
        return (1 + ((raw - y) / self.delta) ** 2) ** -1.5

    def loss(self, y: Any, raw: Any) -> Any:
        return self.delta**2 * (np.sqrt(1 + ((y - raw) / self.delta) ** 2) - 1)


def rows(n: int = 200) -> tuple[Any, Any]:
    """Return numbers, some missing, and a target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).round(1)
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


SMALL = {"max_leaf_nodes": 4, "min_samples_leaf": 5}
CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "subsample": {"subsample": 0.5, "max_features": 2, "tree_features": 3},
    "goss": {"sampling": "goss", "trace": True},
    "dropout": {"dropout": 0.3, "trace": True},
    "held_out": {"early_stopping": True, "n_iter_no_change": 5, "learning_rate": 0.4},
    "line_search": {"loss": "huber", "method": "gradient", "trace": True},
    "custom": {"loss": PseudoHuber(0.7), "trace": True},
    "init": {"init": GradientBoostingRegressor(2), "max_bins": 7},
    "classes": {"subsample": 0.7, "trace": True},
    "classes_dropout": {"dropout": 0.4},
    "one_tree": {"multi_strategy": "multi_output_tree", "early_stopping": True},
}


def make(case: str, n_estimators: int, **options: Any) -> tuple[Any, Any, Any]:
    """Return the learner of a case, and its rows; with classes also a nominal column."""
    X, y = rows()
    parameters = {**SMALL, **CASES[case], **options}
    if case not in ("classes", "classes_dropout", "one_tree"):
        return GradientBoostingRegressor(n_estimators, **parameters), X, y
    labels = np.array(["low", "mid", "top"], dtype=object)[np.digitize(y, [-1, 1])]
    names = np.array([f"c{code:02d}" for code in range(90)], dtype=object)
    table = {f"x{j}": X[:, j] for j in range(4)}
    table["name"] = names[np.random.default_rng(1).integers(0, 90, len(y))]
    learner = GradientBoostingClassifier(n_estimators, **parameters)
    return learner, Table.of(pd.DataFrame(table), kinds={"name": "nominal"}), labels


def kill_after_writes(case: str, path: Path, n_writes: int) -> None:
    """Fit in another process, and kill it once it has written some checkpoints."""
    process = subprocess.Popen([sys.executable, "-m", __name__, case, os.fspath(path)])
    try:
        found = set()
        deadline = time.monotonic() + 120
        while len(found) < n_writes:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the fit ended with {process.poll()} after {len(found)} writes")
            if path.exists():
                found.add(path.stat().st_mtime_ns)
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()


if __name__ == "__main__":
    learner, X, y = make(sys.argv[1], ENDLESS)
    learner.fit(X, y, checkpoint=sys.argv[2], checkpoint_seconds=0)
