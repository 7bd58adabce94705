"""Scans: partitions that together equal the whole file, one schema, bounded memory."""

from __future__ import annotations

import os
import pickle
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ceiba.data.identifiers import IdentifierWarning
from ceiba.data.io import csv_ranges, parquet, selection
from ceiba.data.io.errors import ReadError
from ceiba.data.io.read import read, scan
from ceiba.data.schema import Column, Kind
from tests.budget import scaled
from tests.data.checks import assert_union, cells

MANY = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

TRICKY = (
    'id,text,"long\nname",z\n'
    '1,"a\nb",2.5,x\n'
    '2,"c, ""d""\r\ne",?,y\n'
    "\n"
    '3,plain , 4.5,"x\n"\n'
    '4,"",5.5,?\n'
    '5,"\n\n\n",6.5,y'
)


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="part-0.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def write_parquet(tmp_path):
    def write_file(columns, name="part-0.parquet", rows=None):
        path = tmp_path / name
        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        pq.write_table(table, path, row_group_size=rows or max(1, table.num_rows))
        return path

    return write_file


def loaded(source, part="target"):
    return [value for p in source.partitions for value in getattr(p.load(), part).tolist()]


# --- CSV: the partitions equal the file -----------------------------------------------------------


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_partition_size(write, newline):
    path = write(TRICKY.replace("\n", newline))
    whole = read(path, header=True)
    assert len(whole) == 5
    for size in range(1, len(TRICKY) + 10):
        source = scan(path, partition_bytes=size, header=True)
        assert_union(source, whole)
        assert source.n_rows == 5
        stops = [p.stop for p in source.partitions]
        assert stops == sorted(set(stops))
    assert len(scan(path, partition_bytes=1, header=True).partitions) == 5
    assert len(scan(path, header=True).partitions) == 1


def test_blank_lines_and_byte_order_mark_before_the_header(write):
    path = write("\ufeff\n\n  \na,b\n1,x\n\n2,y\n")
    for size in range(1, 30):
        assert_union(scan(path, partition_bytes=size), read(path))


def test_byte_order_mark_inside_is_text(write):
    path = write("a,b\n1,x\n\ufeffy,z\n\ufeff2,z\n")
    for size in range(1, 30):
        assert_union(scan(path, partition_bytes=size), read(path))
    assert read(path).schema[0].categories == ("1", "\ufeff2", "\ufeffy")
    twice = write("\ufeff\ufeffa,b\n1,2\n", "twice.csv")
    assert read(twice).schema.names == scan(twice).schema.names == ["\ufeffa", "b"]


def test_names_contain_the_lines(write):
    path = write('a,b\n1,"x\ny"\n2,z\n3,z\n')
    names = [p.name for p in scan(path, partition_bytes=15).partitions]
    assert names == ["part-0.csv, lines 1–3", "part-0.csv, lines 4–5"]


FIELDS = st.sampled_from(
    ["1", "2.5", "?", "x", '"a\nb"', '"q""q"', '",\n"', " y ", '""', "0x1", "+3"]
)


@settings(MANY, max_examples=scaled(60))
@given(
    st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=8),
    st.integers(1, 40),
    st.booleans(),
)
def test_any_records_and_partition_size(tmp_path_factory, rows, size, crlf):
    text = "a,b\n" + "".join(f"{one},{other}\n" for one, other in rows)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(text.replace("\n", "\r\n" if crlf else "\n").encode())
    source = scan(path, partition_bytes=size, header=True, delimiter=",")
    assert_union(source, read(path, header=True, delimiter=","))


def test_headerless_and_blank_separated(write):
    path = write("1  a\n2\tb\n 3 a\n", "part-0.data")
    source = scan(path, partition_bytes=5)
    assert not source.schema.named
    assert_union(source, read(path))


def test_partitions_load_again_and_pickle(write):
    source = scan(write(TRICKY), partition_bytes=20, header=True, target="z", columns=["id"])
    with pytest.raises(ReadError, match=r"part-0.csv, lines 10–10: column 'z' is missing in row 1"):
        loaded(source)
    first = source.partitions[0]
    assert len(pickle.dumps(first)) < 1500
    for again in (
        first,
        pickle.loads(pickle.dumps(first)),
        pickle.loads(pickle.dumps(source)).partitions[0],
    ):
        assert cells(again.load().table) == {"id": [1]}
        assert again.load().target.tolist() == ["x"]


# --- CSV: one schema -----------------------------------------------------------------------------


def test_categories_of_all_files_and_late_text(write):
    for number, text in enumerate(["v,w\n1,9\n2,9\n", "v,w\n3,8\n", "w,v\n7,x\n", "v,w\n1,7\n"]):
        write(text, f"part-{number}.csv")
    source = scan(write("v,w\n4,5\n", "part-4.csv").parent / "part-*.csv", partition_bytes=1)
    labels = ("1", "2", "3", "4", "x")
    assert source.schema.columns == (
        Column("v", Kind.NOMINAL, labels, "codes"),
        Column("w", Kind.NUMERIC, dtype="int64"),
    )
    found = [cells(p.load().table) for p in source.partitions]
    assert [v for part in found for v in part["v"]] == ["1", "2", "3", "x", "1", "4"]
    assert [w for part in found for w in part["w"]] == [9, 9, 8, 7, 7, 5]


def test_types_of_all_blocks(write):
    text = f"a,b,c,d\n1,1,?,1\n2,{2**64 - 1},?,{2**53 + 1}\n3.5,1,?,?\n"
    path = write(text)
    source = scan(path, partition_bytes=1)
    assert [c.dtype for c in source.schema] == ["float64", "uint64", "float64", "int64"]
    assert_union(source, read(path))
    assert source.partitions[1].load().table.column(3)[0] == 2**53 + 1


def test_kinds(write):
    path = write("size,zip,w\nM,10,1\nS,2,2\n?,3,3\n")
    kinds = {"size": ["S", "M", "L"], "zip": "nominal"}
    source = scan(path, kinds=kinds, partition_bytes=1)
    assert_union(source, read(path, kinds=kinds))
    assert source.schema[1].categories == (2, 3, 10)


def test_float_partitions_are_one_matrix(write):
    source = scan(write("a,y,b\n1.5,0,?\n2.5,1,4.5\n"), target="y")
    chunk = source.partitions[0].load()
    np.testing.assert_array_equal(chunk.table.matrix, [[1.5, np.nan], [2.5, 4.5]])
    assert chunk.table.matrix.flags.c_contiguous
    assert chunk.target.tolist() == [0, 1]


# --- Parquet -------------------------------------------------------------------------------------


def mixed(n=100):
    rng = np.random.default_rng(0)
    text = np.array(["red", "green", "blue", None], dtype=object)[rng.integers(0, 4, n)]
    return {
        "r": rng.standard_normal(n),
        "f": rng.standard_normal(n).astype("float32"),
        "i": pa.array(rng.integers(-5, 5, n), mask=rng.random(n) < 0.2),
        "big": np.arange(n) + 2**53,
        "s": text.tolist(),
        "b": (rng.random(n) < 0.5).tolist(),
        "d": pa.array(text.tolist()).dictionary_encode(),
        "t": pa.array(np.arange(n).astype("datetime64[s]")),
    }


@pytest.mark.parametrize("rows", [7, 100])
def test_row_groups_equal_the_file(write_parquet, rows):
    path = write_parquet(mixed(), rows=rows)
    source = scan(path)
    assert len(source.partitions) == -(-100 // rows)
    assert source.partitions[0].name == "part-0.parquet, row group 0"
    assert_union(source, read(path))


@pytest.mark.parametrize("size", [1, 1000, 10_000])
def test_slices_of_large_row_groups(write_parquet, monkeypatch, size):
    monkeypatch.setattr(parquet, "_BATCH_ROWS", 9)
    path = write_parquet(mixed(), rows=60)
    source = scan(path, partition_bytes=size)
    assert_union(source, read(path))
    assert source.n_rows == 100
    names = [p.name for p in source.partitions]
    if size == 1:
        assert len(names) == 100
        assert names[59:61] == [
            "part-0.parquet, row group 0, rows 60–60",
            "part-0.parquet, row group 1, rows 1–1",
        ]


def test_schema_of_numbers_reads_no_rows(write_parquet, monkeypatch):
    source = scan(write_parquet({"a": [1.5], "b": [2], "c": [True]}))
    monkeypatch.setattr(parquet, "_read_categories", lambda *_: pytest.fail("rows were read"))
    assert source.n_rows == 1
    assert source.schema.names == ["a", "b", "c"]


def test_row_count_reads_no_rows(write_parquet, monkeypatch):
    source = scan(write_parquet({"s": ["x", "y"]}))
    monkeypatch.setattr(parquet, "_read_categories", lambda *_: pytest.fail("rows were read"))
    assert source.n_rows == 2


def test_float_row_groups_are_one_matrix(write_parquet):
    for dtype in ("float32", "float64"):
        X = np.random.default_rng(0).standard_normal((50, 3)).astype(dtype)
        source = scan(
            write_parquet({f"c{j}": X[:, j] for j in range(3)}, rows=20), columns=["c2", "c0"]
        )
        found = [p.load().table.matrix for p in source.partitions]
        assert all(m.flags.c_contiguous and m.dtype == dtype for m in found)
        np.testing.assert_array_equal(np.concatenate(found), X[:, [2, 0]])
        assert source.partitions[0].load().table.schema.names == ["c2", "c0"]


def test_number_types_of_several_files(write_parquet):
    paths = [
        write_parquet({"a": pa.array([1.5], pa.float32()), "b": [1]}, "part-0.parquet"),
        write_parquet({"b": [2.5], "a": [2.5]}, "part-1.parquet"),
    ]
    source = scan(paths)
    assert [c.dtype for c in source.schema] == ["float64", "float64"]
    found = np.concatenate([p.load().table.matrix for p in source.partitions])
    np.testing.assert_array_equal(found, [[1.5, 1], [2.5, 2.5]])


def test_parquet_kinds(write_parquet):
    columns = {
        "i": [3, 1, None, 10],
        "f": [0.5, 1.0, 2.0, None],
        "s": ["1", "2", "3", None],
        "o": list("MSSM"),
    }
    path = write_parquet(columns, rows=2)
    kinds = {"i": "nominal", "f": "ordinal", "s": "numeric", "o": ["S", "M", "L"]}
    source, whole = scan(path, kinds=kinds), read(path, kinds=kinds)
    assert [c.categories for c in source.schema] == [(1, 3, 10), (0.5, 1, 2), (), ("S", "M", "L")]
    assert source.schema[2].dtype == "float64"
    found = [cells(p.load().table) for p in source.partitions]
    assert {name: found[0][name] + found[1][name] for name in columns} == cells(whole)


def test_ordered_categories(write_parquet):
    def ordered(labels):
        codes = pa.array([0, 1], pa.int8())
        return {"o": pa.DictionaryArray.from_arrays(codes, pa.array(labels), ordered=True)}

    path = write_parquet(ordered(["low", "high"]))
    assert scan(path).schema[0] == Column("o", Kind.ORDINAL, ("low", "high"), "codes")
    assert_union(scan(path), read(path))
    other = write_parquet(ordered(["high", "low"]), "part-1.parquet")
    with pytest.raises(
        ReadError, match=r"part-1.parquet, column 'o': the ordered categories differ"
    ):
        _ = scan([path, other]).schema
    assert scan(path, kinds={"o": "ordinal"}).schema == scan(path).schema
    source = scan([path, other], kinds={"o": ["low", "high"]})
    assert [cells(p.load().table)["o"] for p in source.partitions] == [
        ["low", "high"],
        ["high", "low"],
    ]


def test_ordinal_times_and_bools(write_parquet):
    days = np.array(["2020-01-02", "2020-01-01"], "datetime64[s]")
    path = write_parquet({"t": days, "b": [True, True]}, rows=1)
    schema = scan(path, kinds={"t": "ordinal", "b": "nominal"}).schema
    assert schema[0] == Column("t", Kind.ORDINAL, ("2020-01-01", "2020-01-02"), "codes")
    assert schema[1].categories == (False, True)


def test_unordered_dictionaries_have_no_order(write_parquet):
    path = write_parquet({"d": pa.array(["b", "a"]).dictionary_encode()})
    with pytest.raises(ReadError, match=r"part-0.parquet, column 'd': .* order is unknown"):
        _ = scan(path, kinds={"d": "ordinal"}).schema


# --- target and weight ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_target_and_weight(write, write_parquet, form):
    if form == "csv":
        path = write("a,y,w,n\n1.5,no,1,5\n2.5,yes,0.5,6\n3.5,no,2,7\n")
    else:
        path = write_parquet(
            {"a": [1.5, 2.5, 3.5], "y": ["no", "yes", "no"], "w": [1, 0.5, 2], "n": [5, 6, 7]},
            rows=2,
        )
    source = scan(path, target="y", weight="w", partition_bytes=30 if form == "csv" else None)
    assert len(source.partitions) == 2
    assert (source.target, source.weight, source.schema.names) == ("y", "w", ["a", "n"])
    assert loaded(source) == ["no", "yes", "no"]
    assert loaded(source, "weight") == [1.0, 0.5, 2.0]
    chunk = source.partitions[0].load()
    assert (chunk.target.dtype.kind, chunk.weight.dtype) == ("U", np.float64)
    numbers = scan(path, target="n", columns=["a"])
    assert loaded(numbers) == [5, 6, 7]
    assert numbers.partitions[0].load().target.dtype == np.int64
    assert numbers.partitions[0].load().weight is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "b"}, "is missing in row 2"),
        ({"weight": "b"}, "is missing in row 2"),
        ({"weight": "s"}, r"weight must be a numeric column, got 's' \(nominal\)"),
        ({"target": "zz"}, "no column 'zz'"),
        ({"target": "a", "columns": ["a"]}, "no column is left"),
        ({"target": "a", "weight": "a"}, "must be different columns"),
        ({"columns": []}, "at least one"),
        ({"partition_bytes": 0}, "must be a positive int, got 0"),
        ({"partition_bytes": 1e6}, "must be a positive int, got 1000000.0"),
        ({"kinds": {"s": "numeric"}}, "not a number"),
        ({"kinds": {"s": ["x"]}}, r"'y'.* is not a category"),
        ({"kinds": {"s": "ordinal"}}, "whose order is unknown"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_invalid_options(write, write_parquet, form, options, message):
    csv = write("a,b,s\n1,2,x\n2,?,y\n")
    path = csv if form == "csv" else write_parquet({"a": [1, 2], "b": [2, None], "s": ["x", "y"]})
    with pytest.raises(ValueError, match=message) as caught:
        [partition.load() for partition in scan(path, **options).partitions]
    if "kinds" in options:
        assert str(path) in str(caught.value) or "'s'" in str(caught.value)


def test_no_attributes_left(write_parquet):
    with pytest.raises(ReadError, match="no column is left"):
        scan(write_parquet({"y": [1]}), target="y")


# --- files ---------------------------------------------------------------------------------------


def test_patterns_and_lists(write, tmp_path):
    paths = [write("a\n1\n", f"part-{i}.csv") for i in (0, 1, 2)]
    for given_paths in (
        str(tmp_path / "part-?.csv"),
        paths,
        map(str, paths),
        tmp_path / "part-*.csv",
    ):
        source = scan(given_paths)
        assert [f.path.name for f in source.files] == ["part-0.csv", "part-1.csv", "part-2.csv"]
        assert source.n_rows == 3


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ("nothing-*.csv", FileNotFoundError, "No file matches"),
        ("gone.csv", FileNotFoundError, "gone.csv"),
        ([], ValueError, "at least one file"),
        (".", IsADirectoryError, r"\*.parquet"),
        (["a.csv", "b.parquet"], ValueError, "must have one format"),
        (["a.csv", "a.csv"], ValueError, "must not contain a file twice"),
        ("a.csv.gz", ReadError, "Decompress it, or convert"),
        ("a.arff", ReadError, "suffix must be one of .* got '.arff'"),
        ("empty.csv", ReadError, "the file is empty"),
        ("header.csv", ReadError, "no rows"),
        ("junk.parquet", ReadError, "not a readable Parquet file"),
    ],
)
def test_invalid_files(write, tmp_path, monkeypatch, names, error, message):
    monkeypatch.chdir(tmp_path)
    write("a,b\n1,2\n", "a.csv")
    write("", "empty.csv")
    write("a,b\n", "header.csv")
    write("PAR1 junk", "junk.parquet")
    with pytest.raises(error, match=message):
        _ = scan(names).partitions


def test_files_that_differ(write, write_parquet):
    first = write("a,b\n1,2\n", "part-0.csv")
    for text, column, message in [
        ("a\n1\n", "'b'", "the file has no such column"),
        ("a,b,c\n1,2,3\n", "'c'", "has no such column. Name the columns"),
    ]:
        with pytest.raises(ReadError, match=message) as caught:
            _ = scan([first, write(text, "part-1.csv")]).schema
        assert f"part-1.csv, column {column}: " in str(caught.value)
    wide = scan([first, write("c,b,a\n3,2,1\n", "part-1.csv")], columns=["a", "b"])
    assert [cells(p.load().table) for p in wide.partitions] == [{"a": [1], "b": [2]}] * 2
    one = write_parquet({"a": [1], "b": [1.5]}, "part-0.parquet")
    for columns, message in [
        ({"a": [1]}, "column 'b': the file has no such column"),
        ({"a": ["x"], "b": [1.5]}, r"column 'a': the column is nominal \(codes\), but numeric"),
        ({"a": [1], "b": [[1]]}, "column 'b': type list"),
    ]:
        with pytest.raises(ReadError, match=f"part-1.parquet, {message}"):
            _ = scan([one, write_parquet(columns, "part-1.parquet")]).schema


def test_header_only_parts_are_allowed(write):
    source = scan([write("a\n", "part-0.csv"), write("a\n1\n", "part-1.csv")])
    assert source.n_rows == 1


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_file_that_changed(write, write_parquet, form):
    path = write("a\n1\n2\n") if form == "csv" else write_parquet({"a": [1, 2]})
    partition = scan(path).partitions[0]
    partition.load()
    os.utime(path, ns=(1, 1))
    with pytest.raises(ReadError, match=f"part-0.{form}: the file has changed"):
        partition.load()
    path.unlink()
    with pytest.raises(ReadError, match="was deleted"):
        partition.load()


def test_errors_of_later_partitions_name_their_line(write):
    text = "a,b\n" + "1,2\n" * 20 + "3\n" + "1,2\n" * 20
    with pytest.raises(
        ReadError, match=r"part-0.csv, line 22, column 'b': the record has 1 fields"
    ):
        _ = scan(write(text), partition_bytes=30).schema
    text = "a,b\n" + '1,"2"\n' * 20 + '3,"4\n' + "1,2\n" * 20
    with pytest.raises(
        ReadError, match=r"part-0.csv, line 22, column 2: the quote .* never closed"
    ):
        _ = scan(write(text), partition_bytes=30).schema


def test_unclosed_quote_does_not_fill_the_memory(write, monkeypatch):
    monkeypatch.setattr(csv_ranges, "MAX_RECORD_BYTES", 1000)
    quote = 'a,b\n1,"2\n' + "1,2\n" * 5000
    with pytest.raises(ReadError, match=r"line 2, column 2: the quote that opens here"):
        _ = scan(write(quote), partition_bytes=100, header=True, delimiter=",").schema
    closed = 'a,b\n1,"2\n' + "1,2\n" * 5000 + '"\n'
    with pytest.raises(ReadError, match=r"line 2"):
        _ = scan(write(closed), partition_bytes=100, header=True, delimiter=",").schema


# --- too many categories, identifiers ------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_too_many_categories(write, write_parquet, monkeypatch, form):
    monkeypatch.setattr(selection, "MAX_CATEGORIES", 10)
    names = [f"n{i}" for i in range(11)]
    csv = write("v,id\n" + "".join(f"1,{name}\n" for name in names))
    path = csv if form == "csv" else write_parquet({"v": [1] * 11, "id": names}, rows=3)
    size = 20 if form == "csv" else None
    with pytest.raises(ReadError, match=f"part-0.{form}, column 'id': .* like an identifier"):
        _ = scan(path, partition_bytes=size).schema
    assert scan(path, partition_bytes=size, columns=["v"]).schema.names == ["v"]


def test_identifier_warns(write_parquet):
    path = write_parquet({"id": [f"n{i}" for i in range(30)], "v": [1] * 30})
    with pytest.warns(IdentifierWarning, match="'id' has a different category"):
        _ = scan(path).schema


# --- memory ---------------------------------------------------------------------------------------


def test_memory_of_a_csv_scan_is_that_of_a_partition(write):
    line = "0.123456789,0.987654321,some text\n"
    path = write("a,b,c\n" + line * 100_000)
    size = 1 << 17
    source = scan(path, partition_bytes=size)
    arrow_before = pa.total_allocated_bytes()
    tracemalloc.start()
    rows = 0
    assert len(source.partitions) > 20
    for partition in source.partitions:
        chunk = partition.load()
        rows += len(chunk.table)
        assert pa.total_allocated_bytes() - arrow_before < 8 * size
        del chunk
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == source.n_rows == 100_000
    assert peak < 12 * size < path.stat().st_size


def test_memory_of_a_parquet_scan_is_that_of_a_partition(write_parquet):
    columns = {f"c{j}": np.random.default_rng(j).standard_normal(200_000) for j in range(4)}
    path = write_parquet(columns, rows=200_000)
    size = 1 << 18
    source = scan(path, partition_bytes=size)
    tracemalloc.start()
    for partition in source.partitions:
        assert len(partition.load().table) <= size // 32
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * size


# --- representation ------------------------------------------------------------------------------


def test_repr(write, write_parquet):
    source = scan(
        [write("a,y\n1,2\n", "part-0.csv"), write("a,y\n1,2\n", "part-1.csv")], target="y"
    )
    assert (
        repr(source) == "ScannedSource(2 files, part-0.csv to part-1.csv, 1 attributes, target='y')"
    )
    _ = source.schema
    assert "2 rows in 2 partitions" in repr(source)
    assert repr(scan(write_parquet({"a": [1]}))) == "ScannedSource(part-0.parquet, 1 attributes)"


def test_csv_options_have_no_effect_with_parquet(write_parquet):
    with pytest.raises(ReadError, match="'header' has no effect with Parquet"):
        scan(write_parquet({"a": [1]}), header=True)


def test_requires_pyarrow(write, monkeypatch):
    path = write("a\n1\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match=r"ceiba.scan requires pyarrow: pip install \"ceiba\[files"
    ):
        scan(path)
