"""Fuzz the readers: any file gives a table or a `ReadError`.

Every file is also scanned, with random partition sizes: the result must be equal, and a scan must
raise where `read` raises.
"""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ceiba.data.identifiers import IdentifierWarning
from ceiba.data.io.errors import ReadError
from ceiba.data.io.read import read, scan

pytestmark = pytest.mark.soak

LONG = settings(
    deadline=None,
    max_examples=10_000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

CSV_PIECES = (
    *("a", "b", "1", "-2", "+3", "2.5", "1e9", "0x1", "nan", "inf", "NA", "?", "é", "\ufeff"),
    *(",", ";", "|", "\t", " ", "  ", '"', '""', "'", "\n", "\r", "\r\n", "\n\n", "\0"),
    *("9" * 19, "9" * 25, '"x\ny"', '"x,y"', ', "z" ,', "\x1c", "\u2028"),
)
ARFF_PIECES = (
    *("@relation r\n", "@attribute a numeric\n", "@attribute b {x,y}\n", "@attribute c string\n"),
    *("@attribute 'd e' real\n", '@attribute t date "yyyy-MM-dd"\n', "@attribute ", "@data\n"),
    *("1", "x", "y", "?", "2020-01-02", ",", " ", "\t", "{", "}", "'", '"', "\\", "%", "\n", "0 1"),
    *("\\u0041", "é", "\r\n", "\0", "{0 1, 1 y}\n", "1,x\n", "{5}"),
)


def texts(pieces):
    return st.lists(st.sampled_from(pieces), max_size=60).map("".join).map(str.encode)


def mutated(data, changes):
    """Replace, remove or double some of the bytes."""
    out = bytearray(data)
    for index, byte in changes:
        if out:
            index %= len(out)
            out[index : index + 1] = bytes(
                [byte] if byte < 200 else [] if byte < 228 else [out[index]] * 2
            )
    return bytes(out)


CHANGES = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 255)), max_size=4)


def outcome(call):
    """Return the result of a call, or None if it raises ReadError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentifierWarning)
        try:
            return call()
        except ReadError:
            return None


def columns(tables):
    """Return the schema, and the concatenated columns as lists."""
    found = [[] for _ in tables[0].schema]
    for table in tables:
        for j, values in enumerate(found):
            mask = table.missing_mask(j)
            missing = [False] * len(table) if mask is None else mask.tolist()
            pairs = zip(table.column(j).tolist(), missing, strict=True)
            values.extend(None if absent else value for value, absent in pairs)
    return tables[0].schema, found


def check_csv(path, size):
    whole = outcome(lambda: columns([read(path)]))
    scanned = outcome(
        lambda: columns([p.load().table for p in scan(path, partition_bytes=size).partitions])
    )
    assert scanned == whole


@LONG
@given(st.one_of(texts(CSV_PIECES), st.binary(max_size=200)), st.integers(1, 60))
def test_csv(tmp_path_factory, data, size):
    path = tmp_path_factory.getbasetemp() / "fuzz.csv"
    path.write_bytes(data)
    check_csv(path, size)


@LONG
@given(
    st.lists(st.tuples(*[st.sampled_from(CSV_PIECES[:12])] * 3), min_size=1, max_size=9),
    CHANGES,
    st.integers(1, 60),
)
def test_damaged_csv(tmp_path_factory, rows, changes, size):
    path = tmp_path_factory.getbasetemp() / "damaged.csv"
    text = "u,v,w\n" + "".join(",".join(row) + "\n" for row in rows)
    path.write_bytes(mutated(text.encode(), changes))
    check_csv(path, size)


@LONG
@given(st.one_of(texts(ARFF_PIECES), st.binary(max_size=200)), CHANGES)
def test_arff(tmp_path_factory, data, changes):
    path = tmp_path_factory.getbasetemp() / "fuzz.arff"
    path.write_bytes(data)
    outcome(lambda: read(path))
    head = b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x\n{1 y}\n"
    path.write_bytes(mutated(head + data, changes))
    outcome(lambda: read(path))


@settings(LONG, max_examples=3000)
@given(CHANGES, st.sampled_from([".gz", ".bz2", ".xz", ".zip"]))
def test_damaged_compression(tmp_path_factory, changes, packing):
    import bz2
    import gzip
    import io
    import lzma
    import zipfile

    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("t.csv", "a,b\n1,x\n" * 20)
    packed = {
        ".gz": gzip.compress(b"a,b\n1,x\n" * 20),
        ".bz2": bz2.compress(b"a,b\n1,x\n" * 20),
        ".xz": lzma.compress(b"a,b\n1,x\n" * 20),
        ".zip": archive.getvalue(),
    }[packing]
    path = tmp_path_factory.getbasetemp() / f"fuzz.csv{packing}"
    path.write_bytes(mutated(packed, changes))
    outcome(lambda: read(path))
