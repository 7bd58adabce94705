"""Tables, fits and comparisons that the tests of gradient boosting share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba._typing import Array

KINDS = [GradientBoostingClassifier, GradientBoostingRegressor]


def make_rows(n: int = 400, seed: int = 0) -> tuple[Any, Array, Array]:
    """Return a frame of mixed columns with missing values, three classes, and numbers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(size=n) for name in "abcd"})
    frame["few"] = pd.Categorical.from_codes(rng.integers(0, 4, n), list("pqrs"))
    frame["many"] = pd.Categorical.from_codes(
        rng.integers(0, 20, n), [f"m{k:02d}" for k in range(20)]
    )
    numbers = (
        2 * frame["a"] - frame["b"] * frame["c"] + (frame["few"].cat.codes % 2)
        + 0.2 * (frame["many"].cat.codes % 3) + 0.5 * rng.normal(size=n)
    ).to_numpy()  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "few"] = np.nan
    return frame, np.digitize(numbers, [-1.0, 1.5]), numbers


X, CLASSES, NUMBERS = make_rows()


def target_of(kind: Any) -> Array:
    """Return the target of a learner for the rows ``X``."""
    return CLASSES if kind is GradientBoostingClassifier else NUMBERS


def bits(model: Any) -> tuple[bytes, ...]:
    """Return the trees and first scores of a model as bytes."""
    trees = model.boosted_trees_
    arrays = (
        trees.nodes, trees.tree_offsets, trees.words, trees.tables, trees.node_rows,
        trees.node_gains, trees.first_scores,
    )  # fmt: skip
    return tuple(np.ascontiguousarray(array).tobytes() for array in arrays)


def raw_scores(model: Any, rows: Any = X) -> Array:
    """Return the raw scores of a model, of shape (n_rows, n_outputs)."""
    return np.asarray(model._raw_scores(rows))


def leaf_groups(model: Any, rows: Any = X, number: int = 0) -> list[Array]:
    """Return the rows of each leaf of a tree."""
    leaf = model.apply(rows)[:, number]
    return [np.flatnonzero(leaf == k) for k in np.unique(leaf)]
