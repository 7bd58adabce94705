"""Learners of nearest neighbors give equal results from memory, files and Dask."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ceiba
from ceiba import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from ceiba.data import Table
from tests.oracles.knn_tables import KINDS, make_table

N = 400
COLUMNS = ["x0", "x1", "x2", "x3"]
CASES: list[tuple[Any, dict[str, Any]]] = [
    (KNeighborsClassifier, {"weights": "distance"}),
    (KNeighborsClassifier, {"metric": "gower", "n_neighbors": "loo"}),
    (KNeighborsRegressor, {"scale": "std"}),
    (KNeighborsRegressor, {"metric": "heom", "weights": "distance"}),
    (NearestNeighbors, {"scale": "range", "missing": "mismatch"}),
]
cases = pytest.mark.parametrize(("learner", "parameters"), CASES)


def table() -> Any:
    return make_table(21, [*KINDS, "numeric"], N, 30, missing=0.1, styles=["normal"])


def rows_of(learner: Any) -> tuple[Any, Any, Any]:
    """Return the training rows with a column ``y``, and the queries."""
    own = table()
    y = own.numbers if learner is KNeighborsRegressor else own.labels
    return own.X.assign(y=y), own.X, own.Q


@pytest.fixture
def files(tmp_path: Path) -> Any:
    """Return a function that writes three files of different lengths."""

    def write(frame: Any, name: str) -> list[Path]:
        ends = [0, len(frame) // 5, len(frame) // 2, len(frame)]
        paths = [tmp_path / f"{name}-{i}.parquet" for i in range(3)]
        for path, begin, end in zip(paths, ends[:-1], ends[1:], strict=True):
            frame.iloc[begin:end].to_parquet(path, index=False, row_group_size=60)
        return paths

    return write


def results(model: Any, Q: Any) -> list[Any]:
    """Return all that a model computes for queries."""
    names = [name for name in ("predict", "predict_proba") if hasattr(model, name)]
    found = [*model.kneighbors(Q), *model.kneighbors(), model.n_neighbors_]
    found += [getattr(model, name)(Q) for name in names]
    if isinstance(model, NearestNeighbors):
        found += [np.concatenate(own) for own in model.radius_neighbors(Q, 1.2)]
    return found


def assert_equal(found: list[Any], wanted: list[Any], parameters: Any = None) -> None:
    """Compare all bits; standard deviations are equal to rounding across partitions."""
    for one, two in zip(found, wanted, strict=True):
        if (parameters or {}).get("scale") == "std" and np.asarray(one).dtype == np.float64:
            np.testing.assert_allclose(one, two, rtol=1e-12)
        else:
            np.testing.assert_array_equal(one, two)


@cases
def test_files_give_the_results_of_memory(learner: Any, parameters: Any, files: Any) -> None:
    frame, X, Q = rows_of(learner)
    wanted = results(learner(**parameters).fit(X, frame["y"]), Q)
    model = learner(**parameters).fit(ceiba.scan(files(frame, "rows"), target="y"))
    assert_equal(results(model, Q), wanted, parameters)
    assert_equal(results(model, ceiba.scan(files(Q, "queries"))), wanted, parameters)


@cases
@pytest.mark.dask
@pytest.mark.xdist_group("dask")
def test_dask_gives_the_results_of_memory(
    learner: Any, parameters: Any, files: Any, current_client: Any
) -> None:
    dd = pytest.importorskip("dask.dataframe")
    frame, X, Q = rows_of(learner)
    wanted = results(learner(**parameters).fit(X, frame["y"]), Q)
    rows = dd.from_map(pd.read_parquet, files(frame, "rows"))
    model = learner(**parameters).fit(rows[COLUMNS], rows["y"])
    assert_equal(results(model, Q), wanted, parameters)
    queries = dd.from_map(pd.read_parquet, files(Q, "queries"))
    assert_equal(results(model, queries), wanted, parameters)


@cases
def test_tables_give_the_results_of_frames(learner: Any, parameters: Any) -> None:
    frame, X, Q = rows_of(learner)
    wanted = results(learner(**parameters).fit(X, frame["y"]), Q)
    model = learner(**parameters).fit(Table.of(X), frame["y"])
    assert_equal(results(model, Table.of(Q)), wanted)


@pytest.mark.dask
@pytest.mark.xdist_group("dask")
def test_arrays_frames_files_and_dask_arrays_of_numbers(files: Any, current_client: Any) -> None:
    da = pytest.importorskip("dask.array")
    own = make_table(3, ["numeric"] * 3, N, 30, styles=["normal"])
    X, Q, y = own.X.to_numpy(), own.Q.to_numpy(), np.array(own.numbers)
    wanted = results(KNeighborsRegressor(4, weights="distance").fit(X, y), Q)
    assert_equal(results(KNeighborsRegressor(4, weights="distance").fit(own.X, y), own.Q), wanted)
    blocks = da.from_array(X, chunks=(150, 3))
    model = KNeighborsRegressor(4, weights="distance").fit(blocks, da.from_array(y, chunks=150))
    assert_equal(results(model, Q), wanted)
    assert_equal(results(model, da.from_array(Q, chunks=(11, 3))), wanted)


def test_changes_require_rows_in_memory(files: Any) -> None:
    frame, X, _ = rows_of(KNeighborsClassifier)
    scan = ceiba.scan(files(frame, "rows"), target="y")
    model = KNeighborsClassifier().fit(X, frame["y"])
    with pytest.raises(ValueError, match=r"partial_fit .*requires rows in memory.*ceiba.read"):
        model.partial_fit(scan)
    model.fit(scan)
    with pytest.raises(ValueError, match="partial_fit requires a model of rows in memory"):
        model.partial_fit(X, frame["y"])
    with pytest.raises(ValueError, match="forget requires a model of rows in memory"):
        model.forget([0])


def test_scores_of_files(files: Any) -> None:
    for learner in (KNeighborsClassifier, KNeighborsRegressor):
        frame, X, _ = rows_of(learner)
        model = learner().fit(X, frame["y"])
        scan = ceiba.scan(files(frame, learner.__name__), target="y")
        assert model.score(scan) == pytest.approx(model.score(X, frame["y"]), rel=1e-12)
