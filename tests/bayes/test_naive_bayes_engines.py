"""Naive Bayes gives the same model in memory, from files and in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ceiba
from ceiba import NaiveBayesClassifier
from ceiba.bayes.distributions.exact_sums import ClassSums
from ceiba.bayes.distributions.kernel import KernelValues
from ceiba.bayes.distributions.rows import NumericRows
from ceiba.engine.contract import Batch

MIXED = {"a": "gaussian", "b": "kernel", "n": "poisson"}


def frame(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    a = rng.normal(size=n) + y
    a[::11] = np.nan
    return pd.DataFrame(
        {
            "a": a,
            "b": np.round(rng.normal(size=n) - y, 2),
            "n": rng.poisson(2 + y),
            "color": np.array(["red", "green", "blue"])[(y + rng.integers(0, 2, n)) % 3],
            "w": rng.integers(0, 3, n).astype(float),
            "y": y,
        }
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"distributions": MIXED},
        pytest.param({"distributions": {"a": "mixture"}}, marks=pytest.mark.slow),
        {"class_weight": "balanced"},
        {"training": "tm", "distributions": {"b": "gaussian"}, "missing": "category"},
        {"training": "tm", "distributions": {"b": "gaussian", "n": "poisson"}, "solver": "newton"}
        | {"missing": "category"},
        {"training": "tm", "distributions": {"a": "gaussian", "b": "gaussian", "n": "poisson"}},
    ],
)
def test_files_give_the_model_of_memory(parameters: dict[str, Any], tmp_path: Path) -> None:
    rows = frame()
    path = tmp_path / "rows.parquet"
    rows.to_parquet(path, row_group_size=70)
    X = rows[["a", "b", "n", "color"]]
    whole = NaiveBayesClassifier(**parameters).fit(X, rows["y"], rows["w"])
    scan = ceiba.scan(path, target="y", weight="w")
    parts = NaiveBayesClassifier(**parameters).fit(scan)
    close = 1e-4 if parameters.get("distributions") == {"a": "mixture"} else 1e-6
    assert np.allclose(whole.predict_proba(X), parts.predict_proba(X), atol=close)
    score = NaiveBayesClassifier(**parameters).fit(scan).score(scan)
    assert score == pytest.approx(whole.score(X, rows["y"], rows["w"]), abs=0.02)


def test_later_files_are_added(tmp_path: Path) -> None:
    rows = frame()
    rows[:150].to_parquet(tmp_path / "first.parquet", row_group_size=40)
    rows[150:].to_parquet(tmp_path / "second.parquet", row_group_size=40)
    first = ceiba.scan(tmp_path / "first.parquet", target="y", weight="w")
    second = ceiba.scan(tmp_path / "second.parquet", target="y", weight="w")
    model = NaiveBayesClassifier(distributions=MIXED).partial_fit(first).partial_fit(second)
    X = rows[["a", "b", "n", "color"]]
    whole = NaiveBayesClassifier(distributions=MIXED).fit(X, rows["y"], rows["w"])
    assert np.allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    model.forget(second)
    rest = NaiveBayesClassifier(distributions=MIXED).fit(first)
    assert np.allclose(model.predict_proba(X), rest.predict_proba(X), atol=1e-7)


def test_threads_give_equal_bits() -> None:
    rows = frame(20_000)
    X = rows[["a", "b", "n", "color"]]
    one, two = (
        NaiveBayesClassifier(distributions={"a": "gaussian", "b": "gaussian"}, n_jobs=n)
        .fit(X, rows["y"])
        .predict_proba(X)
        for n in (1, 2)
    )
    assert (one == two).all()


def numeric(part: slice) -> Batch[NumericRows]:
    rows = frame(60)[part]
    X = np.ascontiguousarray(rows[["a", "b"]].to_numpy())
    return Batch(NumericRows(X, rows["y"].to_numpy(np.int32), rows["w"].to_numpy() + 1, 3))


def test_statistics_merge() -> None:
    parts = [numeric(slice(i, i + 20)) for i in (0, 20, 40)]
    whole = ClassSums.of(numeric(slice(0, 60)))
    first, second, third = (ClassSums.of(part) for part in parts)
    for merged in (first.merge(second).merge(third), first.merge(second.merge(third))):
        for name in ("weight", "mean", "squares"):
            one, two = getattr(merged.moments(), name), getattr(whole.moments(), name)
            assert np.allclose(one, two, rtol=1e-15)
    low, high = np.full(2, -5.0), np.full(2, 5.0)
    values = KernelValues.of(numeric(slice(0, 60)), low, high)
    first_values, second_values, third_values = (KernelValues.of(p, low, high) for p in parts)
    merged_values = first_values.merge(second_values.merge(third_values))
    for one, two in zip(values.columns, merged_values.columns, strict=True):
        assert (one.values == two.values).all()
        assert (one.weights == two.weights).all()
