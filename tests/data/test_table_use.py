"""Tables in use: columns by name, conversion to arrays and frames, HTML, and targets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ceiba
from ceiba import BaggingClassifier, DecisionTreeClassifier
from ceiba.data import Column, Kind, ReadError, Schema, Table

TIMES = np.array(["2020-01-01", "NaT", "2021-05-05"], "datetime64[ns]")


def mixed():
    schema = Schema(
        (
            Column("color", Kind.NOMINAL, ("red", "blue"), "codes"),
            Column("size", Kind.ORDINAL, ("S", "M"), "codes"),
            Column("code", Kind.NOMINAL, (1, 7), "codes"),
            Column("n", Kind.NUMERIC, dtype="int64"),
            Column("x", Kind.NUMERIC, dtype="float64"),
            Column("when", Kind.NUMERIC, dtype="datetime64[ns]"),
        )
    )
    columns = [[1, 0, -1], [0, -1, 1], [1, 1, 0], [2**60 + 1, 0, 3], [0.5, np.nan, 2.0], TIMES]
    return Table.from_columns(columns, schema, {3: np.array([False, True, False])})


def test_a_name_gives_the_values():
    table = mixed()
    assert table["color"].tolist() == ["blue", "red", None]
    assert table["code"].tolist() == [7, 7, 1]
    assert table["n"].tolist() == [2**60 + 1, None, 3]
    np.testing.assert_array_equal(table["x"], [0.5, np.nan, 2.0])
    np.testing.assert_array_equal(table["when"], TIMES)
    whole = table[["color"]][:2]
    assert whole["color"].dtype.kind == "U"


def test_names_give_a_table():
    table = mixed()
    part = table[["x", "n"]]
    assert part.schema.names == ["x", "n"]
    assert part.missing_mask(1).tolist() == [False, True, False]
    assert table.drop("color").schema.names == ["size", "code", "n", "x", "when"]
    assert table.drop(columns=["x", "n"]).schema.names == ["color", "size", "code", "when"]
    block = Table.of(pd.DataFrame(np.eye(3), columns=list("abc")))
    assert block[["c", "a"]]["c"].tolist() == [0, 0, 1]
    assert Table.of(np.eye(3))["x1"].tolist() == [0, 1, 0]
    assert table[[0, 2]].shape == (2, 6)
    assert table[np.array([True, False, True])].shape == (2, 6)


def test_unknown_columns_are_refused():
    table = mixed()
    with pytest.raises(KeyError, match=r"no column 'colr': did you mean 'color'\?"):
        table["colr"]
    with pytest.raises(KeyError, match="no column 'q'"):
        table.drop("q")
    with pytest.raises(ValueError, match="different columns"):
        table[["x", "x"]]
    with pytest.raises(ValueError, match="at least one column"):
        table[["x"]].drop("x")


def test_arrays():
    numbers = Table.of(pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]}))
    np.testing.assert_array_equal(np.asarray(numbers), [[1, 0.5], [2, np.nan]])
    assert np.asarray(numbers, dtype="float32").dtype == np.float32
    X = np.eye(2)
    assert np.asarray(Table.of(X)) is X
    assert np.array(Table.of(X)) is not X
    assert np.asarray(mixed()[["n", "x"]])[:, 0].tolist()[2] == 3
    array = np.asarray(mixed())
    assert array.dtype == object
    assert array[0, :4].tolist() == ["blue", "S", 7, 2**60 + 1]
    assert array[1, 3] is None


@pytest.mark.parametrize("to", ["to_pandas", "to_polars"])
def test_frames_come_back(to):
    table = mixed()
    again = Table.of(getattr(table, to)(), table.schema)
    for j in range(6):
        np.testing.assert_array_equal(again.column(j), table.column(j))
        np.testing.assert_array_equal(again.missing_mask(j), table.missing_mask(j))


def test_polars_keeps_categories():
    frame = mixed().to_polars()
    assert frame.schema["color"] == pl.Enum(["red", "blue"])
    assert frame.schema["code"] == pl.Int64
    assert frame["n"].to_list() == [2**60 + 1, None, 3]
    assert frame["x"].to_list() == [0.5, None, 2.0]


def test_html():
    html = Table.of([{"a<b": "x & y", "n": k} for k in range(7)])._repr_html_()
    assert "<caption>Table of 7 rows × 2 columns</caption>" in html
    assert "<th>a&lt;b</th>" in html
    assert "<td>x &amp; y</td>" in html
    assert html.count("<tr>") == 2 + 5 + 1
    wide = Table.of(np.eye(20))._repr_html_()
    assert "<th>...</th>" in wide
    cells = [row.count("<th>") + row.count("<td>") for row in wide.split("<tr>")[1:]]
    assert cells == [13] * (2 + 5 + 1)


def test_only_the_categories_that_are_shown_are_converted_to_text():
    class Counted(str):
        converted = 0

        def __repr__(self):
            Counted.converted += 1
            return super().__repr__()

    categories = tuple(Counted(f"c{i}") for i in range(1000))
    column = Column("c", Kind.NOMINAL, categories, "codes")
    table = Table.of([{"c": "c1"}, {"c": "c2"}], Schema((column,)))
    assert "('c0', 'c1', 'c2', 'c3', 'c4', 'c5', ..." in repr(table)
    assert Counted.converted <= 40


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), BaggingClassifier(n_estimators=2)])
def test_a_table_is_not_a_target(model):
    table = Table.of([{"x": k, "y": k % 2} for k in range(8)])
    with pytest.raises(TypeError, match=r"y must be one column, got a Table of 1: .*table\['y'\]"):
        model.fit(table[["x"]], table[["y"]])
    assert model.fit(table.drop("y"), table["y"]).classes_.tolist() == [0, 1]


@pytest.fixture(params=["csv", "parquet", "arff"])
def path(request, tmp_path):
    data = pd.DataFrame({"x": [1.5, 2.5, 0.5], "c": ["u", "v", "u"], "y": ["b", "a", "b"]})
    path = tmp_path / f"t.{request.param}"
    if request.param == "arff":
        head = "@relation r\n@attribute x real\n@attribute c {u,v}\n@attribute y {b,a}\n@data\n"
        path.write_text(head + data.to_csv(index=False, header=False))
    else:
        getattr(data, f"to_{request.param}")(path, index=False)
    return path


@pytest.mark.parametrize("columns", [None, ["x", "c"], ["x", "y", "c"]])
def test_read_with_a_target(path, columns):
    X, y = ceiba.read(path, target="y", columns=columns)
    assert X.schema.names == ["x", "c"]
    assert y.tolist() == ["b", "a", "b"]


def test_targets_of_read_are_checked(path, tmp_path):
    with pytest.raises(ReadError, match="no column 'z'"):
        ceiba.read(path, target="z")
    with pytest.raises(ReadError, match="no column is left"):
        ceiba.read(path, target="y", columns=["y"])
    incomplete = tmp_path / "i.csv"
    incomplete.write_text("x,y\n1,a\n2,?\n")
    with pytest.raises(ReadError, match="'y' is missing in row 2"):
        ceiba.read(incomplete, target="y")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_read_several_files(form, tmp_path):
    data = pd.DataFrame({"x": [1, None, 3, 4], "c": list("vuwu"), "y": [0, 1, 0, 1]})
    paths = [tmp_path / f"part-{k}.{form}" for k in range(2)]
    for k, path in enumerate(paths):
        getattr(data[2 * k : 2 * k + 2], f"to_{form}")(path, index=False)
    for given in (paths, str(tmp_path / "part-*")):
        X, y = ceiba.read(given, target="y")
        assert X.schema[1].categories == ("u", "v", "w")
        assert X["c"].tolist() == list("vuwu")
        assert X.missing_mask(0).tolist() == [False, True, False, False]
        assert y.tolist() == [0, 1, 0, 1]
    numbers = ceiba.read(paths, columns=["x"])
    np.testing.assert_array_equal(np.asarray(numbers, float)[:, 0], data["x"])


def test_scan_columns_may_contain_the_target(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y,w\n1,a,1\n2,b,2\n")
    source = ceiba.scan(path, target="y", weight="w", columns=["y", "x", "w"])
    assert source.schema.names == ["x"]
