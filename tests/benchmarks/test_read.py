from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ceiba
from benchmarks import workloads
from benchmarks.read import data, peers, quality
from benchmarks.workloads import read
from tests.benchmarks.helpers import assert_groups_have_peers, assert_quick_run_agrees


@pytest.fixture(scope="module")
def mixed():
    return data.data_maker(data.mixed_columns, "csv", ("only",))(0, 2_000)["only"]


def test_mixed_table_has_text_and_missing_values(mixed):
    assert len(mixed.columns) == 20
    assert len(mixed.text_columns) == 10
    for values in mixed.columns.values():
        assert 0.03 < np.mean(pd.isna(values)) < 0.07
    text = mixed.path.read_text(encoding="utf-8")
    assert '"item 9, large"' in text, "quoted"
    assert ",," in text, "missing"


def test_integers_are_written_without_a_decimal_point(mixed):
    table = ceiba.read(mixed.path, columns=["integer_1", "float_0"])
    assert [column.dtype for column in table.schema] == ["int64", "float64"]


def test_seed_changes_the_values():
    first, again, other = (data.numeric_columns(seed, 50)["float_0"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_file_is_deleted_with_its_data():
    made = data.data_maker(data.numeric_columns, "csv", ("only",))(0, 10)
    path = made["only"].path
    assert path.exists()
    made["only"].folder.cleanup()
    assert not path.exists()


def test_equal_table_has_no_wrong_values(mixed):
    metrics = quality.score_table(ceiba.read(mixed.path), mixed)
    n_missing = sum(int(pd.isna(values).sum()) for values in mixed.columns.values())
    assert metrics == {"rows": 2_000.0, "missing": float(n_missing), "wrong": 0.0}


@pytest.mark.parametrize(
    ("column", "value"),
    [("float_0", 7.5), ("float_0", np.nan), ("text_3", "item 99"), ("text_3", None)],
)
def test_each_wrong_value_is_counted(mixed, column, value):
    frame = pd.read_csv(mixed.path)
    row = np.flatnonzero(~pd.isna(mixed.columns[column]))[5]
    frame.loc[row, column] = value
    assert quality.score_table(frame, mixed)["wrong"] == 1.0


def test_value_instead_of_a_missing_one_is_counted(mixed):
    frame = pd.read_csv(mixed.path)
    frame.loc[np.flatnonzero(np.isnan(mixed.columns["float_1"]))[0], "float_1"] = 1.0
    assert quality.score_table(frame, mixed)["wrong"] == 1.0


def test_other_columns_are_an_error(mixed):
    with pytest.raises(ValueError, match="columns must be"):
        quality.score_table(pd.read_csv(mixed.path)[["float_0"]], mixed)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_categories_are_read_as_categories(suffix):
    made = data.data_maker(data.mixed_columns, suffix, ("only",))(1, 1_500)["only"]
    for each in peers.implementations(suffix, peers.CATEGORIES)[1:]:
        frame = quality.to_pandas(each.run(made))
        assert all(frame[name].dtype == "category" for name in made.text_columns), each.label


@pytest.mark.parametrize("workload", read.WORKLOADS, ids=lambda each: each.name)
def test_work_is_equal(workload):
    comparison = assert_quick_run_agrees(workload)
    assert {each.metrics["wrong"] for each in comparison.results if each.ran} == {0.0}


def test_names_and_groups():
    names = [each.name for each in read.WORKLOADS]
    assert [each.name for each in workloads.select(["read"])] == names
    assert_groups_have_peers(read.WORKLOADS)
