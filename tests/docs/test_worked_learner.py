"""The worked learner of the developer guide keeps every contract of a learner."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

import ceiba
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.engine import Batch
from ceiba.stats import LabeledRows
from tests.paths import ROOT

FOLDER = ROOT / "docs" / "developer"


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """Return the module of the page, importable as the page imports it."""
    sys.path.insert(0, str(FOLDER))
    import nearest_mean

    yield nearest_mean
    sys.path.remove(str(FOLDER))
    ceiba.ESTIMATORS.pop("NearestMeanClassifier", None)


def test_the_module_has_at_most_100_lines() -> None:
    assert len((FOLDER / "nearest_mean.py").read_text().splitlines()) <= 100


def test_the_page_prints_what_it_promises(page: Any) -> None:
    pytest.importorskip("matplotlib")
    failed, tried = doctest.testfile(str(FOLDER / "worked_learner.rst"), module_relative=False)
    assert (failed, tried > 8) == (0, True)


@pytest.mark.parametrize("weighted", [False, True])
def test_its_statistic_obeys_the_merge_law(page: Any, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    weight = rng.integers(1, 4, 30).astype(float) if weighted else None
    classes = np.arange(3)

    def summary(begin: int, end: int) -> Any:
        part = None if weight is None else weight[begin:end]
        rows = LabeledRows(Table.of(X[begin:end]), Target.of(y[begin:end], end - begin), part)
        return page.ClassSums.of(Batch(rows), classes)

    whole, merged = summary(0, 30), summary(0, 7).merge(summary(7, 20)).merge(summary(20, 30))
    np.testing.assert_allclose(merged.sums, whole.sums, rtol=1e-12)
    np.testing.assert_array_equal(merged.weights, whole.weights)


def test_it_gives_the_same_model_from_files(page: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    frame["y"] = rng.integers(3, size=60)
    paths = [tmp_path / f"part-{k}.csv" for k in range(3)]
    for k, path in enumerate(paths):
        frame.iloc[20 * k : 20 * (k + 1)].to_csv(path, index=False)
    local = page.NearestMeanClassifier().fit(frame[["a", "b"]], frame["y"])
    scan = ceiba.scan(paths, target="y")
    model = page.NearestMeanClassifier().fit(scan)
    np.testing.assert_allclose(model.means_.means, local.means_.means, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(scan), local.predict(frame[["a", "b"]]))


def test_it_passes_the_checks_of_scikit_learn(page: Any) -> None:
    check_estimator(page.NearestMeanClassifier())
