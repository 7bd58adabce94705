"""Columns of one Dask DataFrame as rows, weights and target, however Dask reads its files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba.engine.dask.alignment import aligned_blocks

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

pytestmark = [
    pytest.mark.dask,
    pytest.mark.xdist_group("dask in process"),
    pytest.mark.filterwarnings("ignore:Port 8787"),
]

N, FILES = 240, 12


def table() -> Any:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 8)), columns=[*"abcdefgh"])
    return frame.assign(
        color=rng.choice(["red", "green", "blue"], size=N),
        y=np.where(frame.a + rng.normal(size=N) > 0, "yes", "no"),
        w=rng.integers(1, 4, size=N).astype(float),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files")
    for number, part in enumerate(np.array_split(np.arange(N), FILES)):
        table().iloc[part].to_parquet(path / f"part-{number:02}.parquet")
    return path


@pytest.fixture
def frame(folder: Path) -> Any:
    return dd.read_parquet(str(folder / "*.parquet"))


@pytest.fixture
def current(client: Any) -> Iterator[Any]:
    with client.as_current():
        yield client


def tree() -> Any:
    return ceiba.DecisionTreeClassifier(max_bins=16, max_depth=3)


def local_tree(columns: list[str], weighted: bool = False) -> str:
    rows = table()
    weight = rows.w if weighted else None
    return str(tree().fit(rows[columns], rows.y, sample_weight=weight).tree_.to_text())


def test_dask_merges_the_files_of_few_columns(frame: Any) -> None:
    """What makes alignment necessary; without it these tests would show nothing."""
    assert frame.npartitions == FILES
    few = {frame[names].optimize().npartitions for names in ("y", ["a", "b", "c", "d", "e"])}
    assert len(few) == 2
    assert min(few) < FILES


@pytest.mark.parametrize("columns", [["a", "b"], ["a", "color"], ["a", "b", "c", "d", "e", "f"]])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_one_frame_are_fitted(
    current: Any, frame: Any, columns: list[str], weighted: bool
) -> None:
    assert not frame.known_divisions
    weight = frame["w"] if weighted else None
    model = tree().fit(frame[columns], frame["y"], sample_weight=weight)
    assert model.tree_.to_text() == local_tree(columns, weighted)


def test_weights_without_a_target(current: Any, frame: Any) -> None:
    model = ceiba.KMeans(2, n_jobs=1).fit(frame[["a", "b"]], sample_weight=frame["w"])
    local = ceiba.KMeans(2, n_jobs=1).fit(table()[["a", "b"]], sample_weight=table().w)
    np.testing.assert_allclose(model.cluster_centers_, local.cluster_centers_, rtol=1e-9)


def test_a_filtered_or_persisted_frame(current: Any, frame: Any) -> None:
    rows = table()[table().b > 0]
    expected = tree().fit(rows[["a", "c"]], rows.y).tree_.to_text()
    for some in (frame[frame.b > 0], frame.persist()):
        some = some[some.b > 0]
        assert tree().fit(some[["a", "c"]], some["y"]).tree_.to_text() == expected


def test_other_files_and_arrays_keep_their_partitions(folder: Path, frame: Any) -> None:
    """Nothing that the optimizer merges is paired with something that it does not merge."""
    other = dd.read_parquet([str(path) for path in sorted(folder.glob("*.parquet"))])
    array = dask.array.from_array(table().w.to_numpy(), chunks=N // FILES)
    for X, weight, y in ((frame[["a"]], None, other["y"]), (frame[["a"]], array, frame["y"])):
        blocks = dask.compute(aligned_blocks(X, weight, y), scheduler="sync")[0]
        parts = [block[0] if len(block) == 1 else block for block in blocks]
        rows, weights, target = zip(*parts, strict=True)
        assert [len(part) for part in rows] == [len(part) for part in target]
        assert pd.concat(rows).a.tolist() == table().a.tolist()
        assert pd.concat(target).tolist() == table().y.tolist()
        assert weight is None or np.concatenate(weights).tolist() == table().w.tolist()


def test_files_are_read_once(frame: Any) -> None:
    blocks = aligned_blocks(frame[["a", "b"]], frame["w"], frame["y"])
    assert all(len(block) == 1 for block in blocks)
    assert len(dict(blocks[0][0].__dask_graph__())) == len(blocks)


def test_another_number_of_partitions_is_refused(current: Any, frame: Any) -> None:
    y = frame["y"].repartition(npartitions=5)
    with pytest.raises(ValueError, match=r"y must have as many partitions as X \(12\), got 5"):
        tree().fit(frame[["a", "b"]], y)


def test_other_rows_are_refused(current: Any, frame: Any) -> None:
    with pytest.raises(ValueError, match=r"partition \d+ .*y must be partitioned like X, got"):
        tree().fit(frame[["a", "b"]], frame[frame.a > 0]["y"])


# Scans


@pytest.mark.filterwarnings("error:X does not have valid feature names")
def test_a_scan_names_target_and_weight(current: Any, frame: Any) -> None:
    scan = ceiba.scan(frame, target="y", weight="w", columns=["a", "color"])
    model = tree().fit(scan)
    assert model.tree_.to_text() == local_tree(["a", "color"], weighted=True)
    assert (model.predict(scan) == model.predict(table()[["a", "color"]])).all()
    assert model.score(scan) == model.score(
        table()[["a", "color"]], table().y, sample_weight=table().w
    )


def test_a_scan_without_columns_takes_all_others(current: Any, frame: Any) -> None:
    scan = ceiba.scan(frame, target="y", kinds={"h": "numeric"})
    assert tree().fit(scan).schema_.names == [*"abcdefgh", "color", "w"]
    assert repr(scan) == "DaskScan(10 columns, target='y', 12 partitions of a Dask DataFrame)"


def test_kinds_of_a_scan_are_followed(current: Any, frame: Any) -> None:
    frame = frame.assign(grade=frame.w.astype(int))
    scan = ceiba.scan(frame, target="y", columns=["grade"], kinds={"grade": "nominal"})
    assert tree().fit(scan).schema_[0].categories == (1, 2, 3)


def test_what_a_scan_of_a_frame_refuses(frame: Any) -> None:
    with pytest.raises(ValueError, match="'z'"):
        ceiba.scan(frame, target="z")
    with pytest.raises(ValueError, match="must have their defaults for a Dask DataFrame"):
        ceiba.scan(frame, target="y", delimiter=";")
    with pytest.raises(ValueError, match=r"kinds must not contain the target .* got 'y'"):
        ceiba.scan(frame, target="y", kinds={"y": "nominal"})
    with pytest.raises(TypeError, match="files or a Dask DataFrame, got a Dask Array"):
        ceiba.scan(dask.array.ones((4, 2)))
    scan = ceiba.scan(frame, weight="w")
    with pytest.raises(ValueError, match="requires a target: name its column"):
        tree().fit(scan)
    with pytest.raises(ValueError, match="weights are one of its columns"):
        ceiba.KMeans(2).fit(scan, sample_weight=frame["w"])
    with pytest.raises(ValueError, match="requires rows in memory, got a scan"):
        ceiba.RandomForestClassifier(2).fit(ceiba.scan(frame, target="y"))
