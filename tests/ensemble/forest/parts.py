"""Tables with all kinds of columns and comparisons of forests, shared by the forest tests."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array


def table(n: int = 240, seed: int = 3) -> tuple[Any, Array, Array]:
    """Return eight columns with missing values, three classes and a number.

    The square root of eight columns is two and the logarithm three.
    """
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=[*"abcdef"])
    X["a"] = X["a"].mask(rng.random(n) < 0.15)
    X["word"] = np.where(rng.random(n) < 0.1, None, rng.choice([*"pqrstuv"], size=n))
    X["size"] = pd.Categorical(rng.choice([*"SML"], size=n), [*"SML"], ordered=True)
    score = X["a"].fillna(2) + X["b"] ** 2 + 2 * (X["word"] > "s").to_numpy(bool, na_value=True)
    score = (score + rng.normal(size=n) / 2).to_numpy()
    return X, np.digitize(score, [0.5, 2.5]), score


X, CLASSES, NUMBERS = table()
NEW, NEW_CLASSES, NEW_NUMBERS = table(60, seed=4)


def classes(trees: int = 6, **options: Any) -> RandomForestClassifier:
    """Return a fitted classifier."""
    return RandomForestClassifier(trees, **options).fit(X, CLASSES)


def numbers(trees: int = 6, **options: Any) -> RandomForestRegressor:
    """Return a fitted regressor."""
    return RandomForestRegressor(trees, **options).fit(X, NUMBERS)


FEW = pd.DataFrame({"c": ["v001", "new", None, "v199"], "n": [0.0, np.nan, -1.0, np.inf]})


def many() -> RandomForestClassifier:
    """Return a forest whose categories do not fit into nodes, nor class weights into leaves."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"c": rng.choice([None, *(f"v{k:03}" for k in range(200))], size=900)})
    rows["n"] = rng.normal(size=900)
    model = RandomForestClassifier(4, max_depth=4, missing="branch", category_correction=False)
    return model.fit(rows, rng.integers(70, size=900))


def record_bits(record: Any) -> dict[str, Any]:
    """Return the fields of a record; arrays as bytes, so that NaN equals NaN."""
    values = {entry.name: getattr(record, entry.name) for entry in fields(record)}
    return {name: array_bits(value) for name, value in values.items()}


def array_bits(value: Any) -> Any:
    """Return dtype, shape and bytes of an array; other values unchanged."""
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype == object else value.tobytes()
        return str(value.dtype), value.shape, content
    return value


def everything(model: Any) -> dict[str, Any]:
    """Return all fitted attributes as bytes."""
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: _bits(value) for name, value in fitted.items()}


def _bits(value: Any) -> Any:
    if isinstance(value, list):
        return [_bits(entry) for entry in value]
    return record_bits(value) if is_dataclass(value) else array_bits(value)


def forest_bits(model: Any) -> dict[str, Any]:
    """Return the fields of a fitted forest as bytes."""
    return record_bits(model.forest_)


def digest(model: Any) -> str:
    """Return a hash of the trees of a forest."""
    forest = model.forest_
    arrays = (forest.nodes, forest.tree_offsets, forest.words, forest.tables, forest.leaves)
    return sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def assert_valid_predictions(model: Any, X: Any) -> None:
    """Check that predictions are finite and probabilities sum to one."""
    predicted = model._predict(X)
    assert np.isfinite(predicted).all()
    if isinstance(model, RandomForestClassifier):
        np.testing.assert_allclose(predicted.sum(axis=1), 1)
        assert (predicted >= 0).all()
        assert np.isin(model.predict(X), model.classes_).all()
