"""The engine is chosen by what is passed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import LocalEngine, choose_engine
from ceiba.engine.chunks import ChunksEngine
from tests.engine.parts import Listing, Part, column


@dataclass
class Scan:
    """A source as ``ceiba.scan`` makes them."""

    schema: Schema = field(default_factory=lambda: Schema.numeric(1))
    partitions: Any = (Part("a", lambda: [1.0, 2.0]), Part("b", lambda: [3.0]))


@pytest.mark.parametrize("X", [np.eye(3), [[1.0], [2.0]], [{"a": 1, "b": "x"}]])
def test_anything_in_memory_is_local(X: Any) -> None:
    engine, source = choose_engine(X, n_jobs=1)
    assert isinstance(engine, LocalEngine)
    assert engine.threads == 1
    assert len(source.partitions) == 1


def test_arrays_and_weights_are_not_copied() -> None:
    X, weight = np.eye(3), np.ones(3)
    chunk = choose_engine(X, weight)[1].partitions[0].load()
    assert chunk.table.matrix is X
    assert chunk.weight is weight


def test_a_scan_runs_in_chunks() -> None:
    engine, source = choose_engine(Scan(), n_jobs=2)
    assert isinstance(engine, ChunksEngine)
    rows = engine.rows(source.partitions, column)
    assert engine.reduce(rows, Listing.of).values == [1.0, 2.0, 3.0]


def test_a_frame_with_misleading_column_names_is_local() -> None:
    pd = pytest.importorskip("pandas")
    engine, source = choose_engine(pd.DataFrame({"partitions": [1], "schema": [2]}))
    assert engine.name == "local"
    assert source.schema.names == ["partitions", "schema"]


def test_kinds_and_schemas_reach_the_table() -> None:
    rows = [{"a": "x"}, {"a": "y"}]
    _, source = choose_engine(rows, kinds={"a": ["y", "x"]})
    assert source.schema[0].categories == ("y", "x")
    _, followed = choose_engine([{"a": "x"}, {"a": "z"}], schema=source.schema)
    assert followed.partitions[0].load().table.column(0).tolist() == [1, -1]


@dataclass(frozen=True)
class Words:
    name: str
    words: tuple[str, ...]

    def load(self) -> Chunk:
        return Chunk(Table.of([{"a": word} for word in self.words]))


def test_a_scan_follows_another_schema_by_label() -> None:
    schema = Table.of([{"a": "x"}, {"a": "y"}, {"a": "z"}]).schema
    scan = Scan(
        Table.of([{"a": "z"}]).schema, (Words("first", ("z", "x")), Words("next", ("new",)))
    )
    _, source = choose_engine(scan, schema=schema)
    assert source.schema == schema
    assert [part.name for part in source.partitions] == ["first", "next"]
    codes = [part.load().table.column(0).tolist() for part in source.partitions]
    assert codes == [[2, 0], [-1]]


def test_weights_beside_a_scan_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scan\(\.\.\., weight="):
        choose_engine(Scan(), np.ones(3))


@dataclass
class TargetScan(Scan):
    target: str = "y"


def test_arrays_of_targets_are_not_copied() -> None:
    y = np.arange(3)
    assert choose_engine(np.eye(3), y=y, supervised=True)[1].partitions[0].load().target is y
    assert choose_engine(np.eye(3), y=y)[1].partitions[0].load().target is None


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.eye(3), None, "requires y to be passed, but the target y is None"),
        (Scan(), None, r"requires a target.*scan\(\.\.\., target="),
        (TargetScan(), np.ones(3), r"y must be None for a scan"),
    ],
    ids=["in memory", "scan without target", "scan and y"],
)
def test_there_must_be_one_target(X: Any, y: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        choose_engine(X, y=y, supervised=True)


def test_a_scan_brings_its_own_target() -> None:
    scan = TargetScan()
    assert choose_engine(scan, supervised=True)[1] is scan
    assert choose_engine(scan)[1] is scan


def test_a_target_stays_beside_rows_that_follow_a_schema() -> None:
    @dataclass(frozen=True)
    class Labeled:
        name: str = "a"

        def load(self) -> Chunk:
            return Chunk(Table.of([{"a": "z"}, {"a": "x"}]), np.array([4, 5]))

    schema = Table.of([{"a": "x"}, {"a": "z"}, {"a": "y"}]).schema
    scan = TargetScan(Table.of([{"a": "z"}]).schema, (Labeled(),))
    _, source = choose_engine(scan, supervised=True, schema=schema)
    chunk = source.partitions[0].load()
    assert (chunk.table.column(0).tolist(), chunk.target.tolist()) == ([2, 0], [4, 5])


def test_kinds_beside_a_scan_are_refused() -> None:
    with pytest.raises(ValueError, match=r"scan\(\.\.\., kinds="):
        choose_engine(Scan(), kinds={"x0": "nominal"})


def test_dask_weights_of_rows_in_memory_are_refused() -> None:
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="X must be a Dask collection because sample_weight"):
        choose_engine(np.eye(3), da.ones(3))
    with pytest.raises(TypeError, match="X must be a Dask collection because y is"):
        choose_engine(np.eye(3), y=da.ones(3), supervised=True)


def test_optional_packages_stay_unimported() -> None:
    code = (
        "import sys, numpy, ceiba.engine as e; e.choose_engine(numpy.eye(3));"
        "print({'dask', 'distributed', 'pandas', 'pyarrow'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
