"""Properties of every table: names, dtypes, frames, texts, no optional packages."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from ceiba import datasets
from ceiba.data import Kind, Table
from ceiba.datasets import Dataset, external

LOCAL = [name for name in datasets.names() if name not in datasets.names(source="external")]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def fail(data_id):
        raise AssertionError("a local table used the network")

    monkeypatch.setattr(external, "_fetch_bunch", fail)


def labels(table: Table, j: int) -> list:
    categories = table.schema[j].categories
    return [None if code < 0 else categories[code] for code in table.column(j)]


def test_names_are_sorted_and_complete():
    found = datasets.names()
    assert found == sorted(found)
    sizes = {"textbook": 4, "synthetic": 6, "bundled": 18, "scikit-learn": 5, "external": 3}
    by_source = {source: datasets.names(source=source) for source in sizes}
    assert {source: len(part) for source, part in by_source.items()} == sizes
    assert sorted(name for part in by_source.values() for name in part) == found


def test_names_filter_by_both():
    assert datasets.names(task="regression", source="bundled") == [
        "auto_mpg",
        "automobiles",
        "servo",
    ]


@pytest.mark.parametrize("choice", [{"task": "clustering"}, {"source": "web"}])
def test_unknown_choices_raise(choice):
    with pytest.raises(ValueError, match="must be one of"):
        datasets.names(**choice)


@pytest.mark.parametrize("name", LOCAL)
def test_every_table_is_complete(name):
    dataset = datasets.load(name)
    X, y = dataset
    assert isinstance(dataset, Dataset)
    assert len(X) == len(y) == dataset.table.n_rows > 0
    assert dataset.schema.named
    assert dataset.feature_names == dataset.schema.names
    assert dataset.target_name not in dataset.feature_names
    assert len(dataset.row_names) in (0, len(y))
    assert 100 < len(dataset.description) < 500
    assert dataset.description.count(". ") >= 1
    assert re.search(r"\(\d{4}\)|no citation is needed", dataset.citation)


@pytest.mark.parametrize("name", LOCAL)
def test_x_is_an_array_exactly_where_all_columns_are_numeric(name):
    dataset = datasets.load(name)
    if dataset.schema.all_numeric:
        assert isinstance(dataset.X, np.ndarray)
        assert dataset.X.dtype == np.float64
        assert dataset.X.flags.c_contiguous
        for j in range(len(dataset.schema)):
            np.testing.assert_array_equal(dataset.table.column(j), dataset.X[:, j])
    else:
        assert dataset.X is dataset.table


@pytest.mark.parametrize("name", LOCAL)
def test_y_is_complete_and_of_its_task(name):
    dataset = datasets.load(name)
    assert dataset.y.ndim == 1
    if dataset.task == "regression":
        assert dataset.y.dtype == np.float64
        assert np.isfinite(dataset.y).all()
    else:
        assert dataset.y.dtype.kind in "Ui"
        assert len(np.unique(dataset.y)) > 1
        assert "" not in dataset.y.tolist()


@pytest.mark.parametrize("name", LOCAL)
def test_every_category_occurs(name):
    table = datasets.load(name).table
    for j, column in enumerate(table.schema):
        if column.kind is not Kind.NUMERIC:
            assert set(labels(table, j)) - {None} == set(column.categories)


@pytest.mark.parametrize("name", LOCAL)
def test_frame_equals_the_table(name):
    pytest.importorskip("pandas")
    plain, framed = datasets.load(name), datasets.load(name, as_frame=True)
    again = Table.of(framed.X)
    assert again.schema == plain.schema
    for j in range(len(plain.schema)):
        np.testing.assert_array_equal(again.column(j), plain.table.column(j))
    assert framed.y.name == plain.target_name
    assert framed.y.tolist() == plain.y.tolist()
    assert (framed.y.dtype == "category") == (plain.task == "classification")


def test_frame_orders_ordinal_columns():
    pytest.importorskip("pandas")
    frame = datasets.load("cleveland", as_frame=True).X
    slope = frame["slope_peak_exc_st"]
    assert slope.cat.ordered
    assert slope.min() == "upsloping"
    assert slope.max() == "downsloping"
    assert not frame["thal"].cat.ordered
    assert frame["thal"].isna().sum() == 2


def test_frame_requires_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "ceiba\[files\]"'):
        datasets.load("iris", as_frame=True)


def test_local_tables_require_no_optional_package():
    script = """
import sys
for package in ("pandas", "pyarrow", "polars", "matplotlib", "dask"):
    sys.modules[package] = None
from ceiba import datasets
external = datasets.names(source="external")
print(sum(len(datasets.load(name).y) for name in datasets.names() if name not in external))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == sum(len(datasets.load(name).y) for name in LOCAL)


def test_loads_are_independent():
    first = datasets.load("iris").X
    first[:] = 0
    assert datasets.load("iris").X.min() > 0


@pytest.mark.parametrize(
    ("name", "hint"), [("irs", "'iris'"), ("monks", "'monks1'"), ("zzz", "names()")]
)
def test_unknown_name_gives_a_hint(name, hint):
    with pytest.raises(ValueError, match="Unknown table") as caught:
        datasets.load(name)
    assert hint in str(caught.value)


@pytest.mark.parametrize("option", [{"seed": 0}, {"n_rows": 10}, {"seed": 1, "n_rows": 2}])
@pytest.mark.parametrize("name", ["iris", "vote", "weather_nominal", "cleve"])
def test_fixed_tables_have_no_seed_and_size(name, option):
    with pytest.raises(ValueError, match="has no effect with the fixed table"):
        datasets.load(name, **option)


@pytest.mark.parametrize(
    "option",
    [{"seed": -1}, {"seed": 2**32}, {"seed": 1.5}, {"seed": True}, {"n_rows": 0}, {"n_rows": "9"}],
)
def test_invalid_options_of_synthetic_tables_raise(option):
    with pytest.raises(ValueError, match="must be an int in"):
        datasets.load("xor", **option)


def test_repr():
    assert repr(datasets.load("iris")) == (
        "<Dataset iris: 150 rows, 4 attributes, classification of species>"
    )
