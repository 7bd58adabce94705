"""Every learner gives the same model in memory, in chunks and on Dask, for any threads."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba.engine import choose
from tests.contracts.cases import CLOSE, LEARNERS, LearnerCase, assert_alike

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

learners = pytest.mark.parametrize("case", LEARNERS, ids=lambda case: case.name)
# Three partitions for every learner; one and seven in the slow tier.
partitions = pytest.mark.parametrize(
    "n", [3, pytest.param(1, marks=pytest.mark.slow), pytest.param(7, marks=pytest.mark.slow)]
)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow as many threads as requested, also where the machine has fewer cores."""
    monkeypatch.setattr(choose, "effective_threads", lambda n_jobs: n_jobs or 1)


def fitted(case: LearnerCase, model: Any) -> dict[str, Any]:
    return {name: getattr(model, name) for name in (*case.exact, *case.close)}


def fit(case: LearnerCase, frame: Any, n_jobs: int) -> dict[str, Any]:
    """Fit a frame, in memory or on Dask, with its weights and target passed separately."""
    roles = {"sample_weight": case.weight, "y": case.target}
    named = {role: name for role, name in roles.items() if name is not None}
    values = {role: frame[name] for role, name in named.items()}
    X = frame.drop(columns=list(named.values()))
    return fitted(case, case.make(n_jobs=n_jobs).fit(X, **values))


@cache
def in_memory(case: LearnerCase, n_jobs: int) -> dict[str, Any]:
    return fit(case, case.frame(), n_jobs)


def in_chunks(case: LearnerCase, paths: list[Path], n_jobs: int) -> dict[str, Any]:
    rows = ceiba.scan(paths, weight=case.weight, target=case.target)
    return fitted(case, case.make(n_jobs=n_jobs).fit(rows))


def on_dask(case: LearnerCase, paths: list[Path], client: Any) -> dict[str, Any]:
    dd = pytest.importorskip("dask.dataframe")
    with client.as_current():
        return fit(case, dd.from_map(pd.read_parquet, paths), 1)


def write(case: LearnerCase, folder: Path, n: int) -> list[Path]:
    """Write the rows to ``n`` files of different lengths."""
    frame = case.frame()
    bounds = np.linspace(0.0, 1.0, n + 1) ** 1.5 * len(frame)
    ends = bounds.round().astype(int)
    paths = [folder / f"part-{k}.parquet" for k in range(n)]
    for path, begin, end in zip(paths, ends[:-1], ends[1:], strict=True):
        frame.iloc[begin:end].to_parquet(path, index=False)
    return paths


def assert_same_model(case: LearnerCase, one: dict[str, Any], other: dict[str, Any]) -> None:
    for name in case.exact:
        assert_alike(one[name], other[name], close=0, path=name)
    for name in case.close:
        assert_alike(one[name], other[name], close=CLOSE, path=name)


def assert_same_bits(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, value in one.items():
        assert_alike(value, other[name], close=0, path=name)


@learners
@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_no_bit(case: LearnerCase, n_jobs: int) -> None:
    assert_same_bits(in_memory(case, n_jobs), in_memory(case, 1))


@learners
@partitions
@pytest.mark.usefixtures("threads")
def test_chunks_give_the_model_of_memory(case: LearnerCase, n: int, tmp_path: Path) -> None:
    paths = write(case, tmp_path, n)
    model = in_chunks(case, paths, 1)
    assert_same_model(case, model, in_memory(case, 1))
    for n_jobs in (2, 3):
        assert_same_bits(in_chunks(case, paths, n_jobs), model)


@learners
@partitions
@pytest.mark.dask
@pytest.mark.xdist_group("dask")
@pytest.mark.usefixtures("threads")
def test_dask_gives_the_model_of_memory(
    case: LearnerCase, n: int, tmp_path: Path, client: Any
) -> None:
    paths = write(case, tmp_path, n)
    model = on_dask(case, paths, client)
    assert_same_model(case, model, in_memory(case, 1))
    # The same partitions are merged in the same order, wherever they were summarized.
    assert_same_bits(model, in_chunks(case, paths, 2))
    if n == 3:
        assert_same_bits(on_dask(case, paths, client), model)
