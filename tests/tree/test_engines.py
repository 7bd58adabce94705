"""Binned trees are equal in every bit in memory, in chunks and on Dask, for any budget."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.engine import choose
from ceiba.tree.grow import grower as grow
from tests.tree.parts import assert_same_tree, bits, in_parts

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

SIZES = ["huge", "large", "middle", "small"]


@cache
def frame(n: int = 600) -> Any:
    """Return columns of every kind with missing values, weights and two targets."""
    rng = np.random.default_rng(7)
    a, b, c = rng.normal(size=n), rng.normal(size=n).round(1), rng.integers(-40, 40, size=n)
    word = rng.choice([*"pqrstuvwxyz"], size=n)
    size = rng.integers(len(SIZES), size=n)
    many = rng.integers(90, size=n)
    score = a + np.where(b > 0, c / 20, -c / 15) + (word > "t") - size + np.sin(many)
    score += rng.normal(scale=0.5, size=n)
    table = pd.DataFrame({"a": a, "b": b, "c": c + 2**60})
    table["a"] = table["a"].mask(rng.random(n) < 0.12)
    table["word"] = np.where(rng.random(n) < 0.1, None, word)
    sizes = pd.Categorical.from_codes(size, SIZES, ordered=True)
    table["size"] = pd.Series(sizes).mask(rng.random(n) < 0.1)
    table["many"] = pd.Categorical.from_codes(many, [f"m{k:02}" for k in range(90)])
    table["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.abs(c), unit="D")
    table["w"] = rng.exponential(size=n) * (rng.random(n) > 0.1)
    table["whole"] = rng.integers(0, 4, size=n)
    table["kind"] = np.digitize(score, [-2.0, 0.5, 2.0])
    table["height"] = score
    return table


@cache
def rows(target: str, weight: str | None) -> Any:
    """Return the frame without the other targets and weights."""
    kept = [*"abc", "word", "size", "many", "when", target]
    return frame()[kept if weight is None else [*kept, weight]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[Path]]:
    """Return a function that writes Parquet files of different lengths."""
    folder = tmp_path_factory.mktemp("parts")

    def write(target: str, weight: str | None) -> list[Path]:
        table = rows(target, weight)
        ends = [0, 100, 390, len(table)]
        paths = [folder / f"{target}-{weight}-{k}.parquet" for k in range(3)]
        for k, path in enumerate(paths):
            if not path.exists():
                table.iloc[ends[k] : ends[k + 1]].to_parquet(path, index=False)
        return paths

    return write


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use as many threads as asked for, even with fewer cores."""
    monkeypatch.setattr(choose, "effective_threads", lambda n_jobs: n_jobs or 1)


def split_columns(table: Any, target: str, weight: str | None) -> tuple[Any, Any, Any]:
    """Return columns, target and weights of a frame, in memory or on Dask."""
    if weight is None:
        return table.drop(columns=[target]), table[target], None
    return table.drop(columns=[target, weight]), table[target], table[weight]


def local(model: Any, target: str, weight: str | None, n_jobs: int = 1) -> Any:
    return model(n_jobs=n_jobs).fit(*split_columns(rows(target, weight), target, weight))


@cache
def parts(target: str, weight: str | None, bounds: tuple[int, ...] = (100, 450)) -> Any:
    return in_parts(*split_columns(rows(target, weight), target, weight), list(bounds))


def classes(**options: Any) -> Callable[..., Any]:
    return lambda **more: DecisionTreeClassifier(**{"max_bins": 31, **options, **more})


def heights(**options: Any) -> Callable[..., Any]:
    return lambda **more: DecisionTreeRegressor(**{"max_bins": 31, **options, **more})


CASES: dict[str, tuple[Callable[..., Any], str, str | None]] = {
    "gini": (classes(), "kind", None),
    "gini, weights": (classes(max_depth=6), "kind", "w"),
    "entropy, whole weights": (classes(criterion="entropy", max_depth=7), "kind", "whole"),
    "gain ratio": (classes(criterion="gain_ratio", max_depth=6), "kind", None),
    "error, balanced": (classes(criterion="error", class_weight="balanced"), "kind", None),
    "multiway": (classes(splits="multiway", min_samples_leaf=2), "kind", "w"),
    "branch": (classes(missing="branch", max_depth=6), "kind", None),
    "majority": (classes(missing="majority", max_bins=2), "kind", "w"),
    "some columns": (classes(max_features=2, random_state=3), "kind", None),
    "limits": (
        classes(min_samples_leaf=0.01, min_samples_split=20, min_weight_fraction_leaf=0.01),
        "kind",
        "w",
    ),
    "min gain": (classes(min_impurity_decrease=0.004, min_impurity_split=0.1), "kind", "w"),
    "numbers": (heights(max_depth=8), "height", None),
    "numbers, weights": (heights(min_samples_leaf=3), "height", "w"),
    "numbers, multiway, branch": (heights(splits="multiway", missing="branch"), "height", "whole"),
    "numbers, min gain": (heights(min_impurity_decrease=0.01), "height", "w"),
    "leaves": (classes(max_leaf_nodes=23), "kind", "w"),
    "leaves, numbers": (heights(max_leaf_nodes=30), "height", None),
    "leaves, some columns": (heights(max_leaf_nodes=14, max_features="sqrt"), "height", "w"),
    "leaves, depth first": (classes(max_leaf_nodes=17, growth="depth_first"), "kind", None),
    "leaves, breadth first": (heights(max_leaf_nodes=17, growth="breadth_first"), "height", "w"),
}
cases = pytest.mark.parametrize("name", CASES)

# Values of GATHER_BYTES and SUMS_BYTES.
BUDGETS = {
    "gathered": (grow.GATHER_BYTES, grow.SUMS_BYTES),
    "sums": (0, grow.SUMS_BYTES),
    "sums of few nodes": (0, 60_000),
    "sums of one node": (0, 1),
    "sums, then gathered": (25_000, 60_000),
    "one depth, then gathered": (60_000, grow.SUMS_BYTES),
}


@cache
def in_memory(name: str) -> Any:
    return local(*CASES[name])


def budgeted(monkeypatch: pytest.MonkeyPatch, gather: int, sums: int = grow.SUMS_BYTES) -> None:
    monkeypatch.setattr(grow, "GATHER_BYTES", gather)
    monkeypatch.setattr(grow, "SUMS_BYTES", sums)


@cases
@pytest.mark.parametrize("budget", BUDGETS)
def test_chunks_give_the_tree_of_memory(
    name: str, budget: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, target, weight = CASES[name]
    budgeted(monkeypatch, *BUDGETS[budget])
    assert_same_tree(model(n_jobs=1).fit(parts(target, weight)), in_memory(name))


@pytest.mark.parametrize("name", ["gini, weights", "multiway", "numbers, weights", "leaves"])
@pytest.mark.parametrize("budget", ["gathered", "sums, then gathered"])
def test_parquet_gives_the_tree_of_memory(
    name: str, budget: str, files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, target, weight = CASES[name]
    budgeted(monkeypatch, *BUDGETS[budget])
    scan = ceiba.scan(files(target, weight), target=target, weight=weight)
    assert_same_tree(model(n_jobs=1).fit(scan), in_memory(name))


def many_branches(seed: int) -> tuple[Any, Any]:
    """Return few rows with columns of very different numbers of branches."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 60))
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice([*"pqrst"], size=n)})
    table["a"] = table["a"].mask(rng.random(n) < 0.2)
    table["c"] = rng.choice([*"uvw"], size=n)
    table["d"] = rng.integers(5, size=n)
    return table, rng.integers(3, size=n)


@pytest.mark.parametrize("growth", ["depth_first", "breadth_first", "best_first"])
def test_max_leaf_nodes_with_multiway_splits(growth: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A split of many branches may exceed the limit while a later one does not."""
    for seed in (*range(25), 31, 55, 91, 138, 140, 156, 166, 213, 246, 381, 389, 405, 506, 663):
        X, y = many_branches(seed)
        options = {"max_leaf_nodes": 4 + seed % 16, "growth": growth, "max_bins": 3 + seed % 5}
        model = DecisionTreeClassifier(splits="multiway", missing="branch", n_jobs=1, **options)
        whole = bits(model.fit(X, y))
        assert model.get_n_leaves() <= options["max_leaf_nodes"]
        for gather in (0, 1500):
            budgeted(monkeypatch, gather, [1, 10**9][seed % 2])
            found = bits(model.fit(in_parts(X, y, None, [7, 15])))
            different = [name for name in whole if whole[name] != found[name]]
            assert not different, (seed, options, gather)


@cases
@pytest.mark.usefixtures("threads")
def test_threads_do_not_change_the_tree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, target, weight = CASES[name]
    for n_jobs in (2, 3):
        assert_same_tree(local(model, target, weight, n_jobs), in_memory(name))
    budgeted(monkeypatch, 25_000)
    assert_same_tree(model(n_jobs=3).fit(parts(target, weight)), in_memory(name))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("max_bins", [None, 40])
def test_threads_do_not_change_large_nodes(max_bins: int | None) -> None:
    """Nodes that do not fit the cache are split by all threads together."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2500, 140))
    X[:, ::3] = X[:, ::3].round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    y, w = rng.integers(3, size=len(X)), rng.exponential(size=len(X))
    for make, weight in ((classes, w), (classes, None), (heights, w)):
        model = make(max_bins=max_bins, max_depth=4)
        one, two, three = (model(n_jobs=n).fit(X, y, weight) for n in (1, 2, 3))
        assert_same_tree(two, one)
        assert_same_tree(three, one)


@pytest.mark.parametrize("name", ["gini, weights", "numbers", "leaves"])
@pytest.mark.parametrize("gather", [0, 256_000_000])
def test_partitioning_does_not_change_the_tree(
    name: str, gather: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgeted(monkeypatch, gather)
    model, target, weight = CASES[name]
    for bounds in ((), (1,), (300, 301, 302), tuple(range(40, 500, 40))):
        assert_same_tree(model(n_jobs=1).fit(parts(target, weight, bounds)), in_memory(name))


@pytest.mark.parametrize("gather", [0, 256_000_000])
def test_partition_of_zero_weight_is_ignored(gather: int, monkeypatch: pytest.MonkeyPatch) -> None:
    budgeted(monkeypatch, gather)
    X, y, w = split_columns(rows("kind", "w"), "kind", "w")
    w = w.to_numpy().copy()
    w[:30] = w[60:90] = w[-20:] = 0
    model = classes(max_depth=3)(n_jobs=1)
    whole = bits(model.fit(X, y, w))
    source = in_parts(X, y, w, [30, 60, 90, len(w) - 20])
    assert bits(model.fit(source)) == whole


@pytest.mark.parametrize("gather", [0, 256_000_000])
def test_sign_of_zero_targets_does_not_matter(gather: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of 0.0 and -0.0 comes first depends on the partitions."""
    budgeted(monkeypatch, gather)
    X, y = np.repeat([0.0, 1.0, 2.0], 4)[:, None], np.repeat([0.0, 3.0, 0.0], 4)
    model = heights()(n_jobs=1)
    for signs in ((1, -1, 1, -1), (-1, 1, 1, 1), (1, 1, -1, -1)):
        signed = y * np.tile(signs, 3)
        signed[4:8] = 3.0
        whole = bits(model.fit(X, signed))
        for bounds in ([1], [2], [9], [1, 2, 3]):
            assert bits(model.fit(in_parts(X, signed, None, bounds))) == whole
            assert bits(model.fit(X[::-1], signed[::-1])) == whole


def test_bins_of_a_sample_do_not_depend_on_partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample is drawn by row, not by partition."""
    names = ("gini, weights", "numbers")
    # Fitted before the sample is made smaller, for the cached models are those of all rows.
    of_all_rows = {name: bits(in_memory(name)) for name in names}
    monkeypatch.setattr(grow, "SAMPLE_ROWS", 100)
    for name in names:
        model, target, weight = CASES[name]
        whole = local(model, target, weight)
        source = parts(target, weight, (50, 51, 200, 390))
        assert_same_tree(model(n_jobs=1).fit(source), whole)
        assert bits(whole) != of_all_rows[name]


def test_csv_gives_the_tree_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = rows("kind", "w").drop(columns=["when", "size", "many"])
    path = tmp_path / "rows.csv"
    table.to_csv(path, index=False)
    scan = ceiba.scan(path, target="kind", weight="w", partition_bytes=9_000)
    assert len(scan.partitions) > 2
    model = DecisionTreeClassifier(max_bins=20, max_depth=6)
    whole = model.fit(table.drop(columns=["kind", "w"]), table["kind"], table["w"]).tree_
    for gather in (0, 10_000, 10**9):
        budgeted(monkeypatch, gather)
        assert DecisionTreeClassifier(max_bins=20, max_depth=6).fit(scan).tree_.to_dict() == (
            whole.to_dict()
        )


# Options that need rows in memory, and prediction of files


def test_exact_thresholds_require_rows_in_memory(files: Any) -> None:
    scan = ceiba.scan(files("kind", None), target="kind")
    with pytest.raises(ValueError, match="max_bins must be an int with files or a cluster"):
        DecisionTreeClassifier().fit(scan)


def test_absolute_error_requires_rows_in_memory(files: Any) -> None:
    scan = ceiba.scan(files("height", None), target="height")
    with pytest.raises(ValueError, match="criterion='absolute_error' requires rows in memory"):
        DecisionTreeRegressor(criterion="absolute_error", max_bins=16).fit(scan)
    exact = DecisionTreeRegressor(criterion="absolute_error")
    with pytest.raises(ValueError, match="max_bins"):
        exact.fit(scan)


def test_files_are_predicted_like_memory(files: Any) -> None:
    table = rows("kind", None)
    X = table.drop(columns="kind")
    scan = ceiba.scan(files("kind", None), target="kind")
    for model in (DecisionTreeClassifier(), DecisionTreeClassifier(max_bins=9, missing="branch")):
        model.fit(X, table["kind"])
        np.testing.assert_array_equal(model.predict(scan), model.predict(X))
        np.testing.assert_array_equal(model.predict_proba(scan), model.predict_proba(X))
        np.testing.assert_array_equal(model.apply(scan), model.apply(X))
        assert (model.decision_path(scan) != model.decision_path(X)).nnz == 0


# Dask


@pytest.mark.dask
@pytest.mark.xdist_group("dask in process")
@pytest.mark.filterwarnings("ignore:Port 8787")
@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("gini, weights", "gathered"),
        ("gini, weights", "sums, then gathered"),
        ("multiway", "one depth, then gathered"),
        ("min gain", "sums"),
        ("numbers, min gain", "sums"),
        ("numbers, weights", "gathered"),
        ("leaves", "sums, then gathered"),
        ("some columns", "one depth, then gathered"),
    ],
)
def test_dask_gives_the_tree_of_memory(
    name: str, budget: str, files: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    dd = pytest.importorskip("dask.dataframe")
    model, target, weight = CASES[name]
    budgeted(monkeypatch, *BUDGETS[budget])
    with client.as_current():
        table = dd.from_map(pd.read_parquet, files(target, weight))
        X, y, w = split_columns(table, target, weight)
        fitted = model(n_jobs=1).fit(X, y, w)
        assert_same_tree(fitted, in_memory(name))
        np.testing.assert_array_equal(fitted.apply(X), fitted.apply(X.compute()))
        with pytest.raises(ValueError, match="max_bins must be an int"):
            model(max_bins=None).fit(X, y, w)
