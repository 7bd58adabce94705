"""`read` by suffix: formats and compressions."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import subprocess
import sys
import zipfile

import pytest

from ceiba.data.io.errors import ReadError
from ceiba.data.io.read import read, scan
from tests.data.checks import cells

CSV = b"a,b\n1,x\n2,y\n"
ARFF = b"@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x\n2,y\n"
EXPECTED = {"a": [1, 2], "b": ["x", "y"]}


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)
    return out.getvalue()


@pytest.mark.parametrize("suffix", ["csv", "CSV", "txt", "data", "dat"])
def test_suffixes_of_csv(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(CSV)
    assert cells(read(path)) == EXPECTED
    assert cells(read(str(path))) == EXPECTED


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        ("gz", gzip.compress),
        ("GZ", gzip.compress),
        ("bz2", bz2.compress),
        ("xz", lzma.compress),
        ("zip", lambda data: zipped(inner=data)),
    ],
)
@pytest.mark.parametrize(("form", "data"), [("csv", CSV), ("arff", ARFF)])
def test_compressed(tmp_path, suffix, pack, form, data):
    path = tmp_path / f"t.{form}.{suffix}"
    path.write_bytes(pack(data))
    assert cells(read(path)) == EXPECTED


def test_member_of_an_archive_has_the_format(tmp_path):
    path = tmp_path / "t.zip"
    path.write_bytes(zipped(t__arff=ARFF))
    assert cells(read(path)) == EXPECTED


def test_tab_separated_inside_compression(tmp_path):
    path = tmp_path / "t.tsv.gz"
    path.write_bytes(gzip.compress(b"a,x\tb\n1\t2\n"))
    assert read(path).schema.names == ["a,x", "b"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv.gz", CSV, "cannot decompress the file as .gz"),
        ("t.csv.gz", gzip.compress(CSV, mtime=0)[:-5], "cannot decompress the file as .gz"),
        ("t.csv.bz2", CSV, "cannot decompress the file as .bz2"),
        ("t.csv.bz2", bz2.compress(CSV)[:-5], "cannot decompress the file as .bz2"),
        ("t.csv.xz", CSV, "cannot decompress the file as .xz"),
        ("t.csv.xz", lzma.compress(CSV)[:-5], "cannot decompress the file as .xz"),
        ("t.csv.zip", CSV, "cannot decompress the file as .zip"),
        ("t.zip", zipped(a=CSV, b=CSV), r"one file, got 2 \(a, b\)"),
        ("t.zip", zipped(), r"one file, got 0 \(none\)"),
        ("t.zip", zipped(a__xlsx=CSV), "suffix must be one of .* got '.xlsx'"),
        ("t.xlsx", CSV, "suffix must be one of .* got '.xlsx'"),
        ("t", CSV, "suffix must be one of .* got ''"),
        ("t.gz", gzip.compress(CSV, mtime=0), "suffix must be one of .* got ''"),
        ("t.parquet.gz", CSV, "decompress the file first"),
        ("t.arff", ARFF, "'quote' has no effect with ARFF"),
    ],
)
def test_errors(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    options = {"quote": None} if name == "t.arff" else {}
    with pytest.raises(ReadError, match=message) as caught:
        read(path, **options)
    assert str(caught.value).startswith(str(path))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python reads .zst")
def test_zstandard_error_has_a_remedy(tmp_path):
    path = tmp_path / "t.csv.zst"
    path.write_bytes(b"junk")
    with pytest.raises(ReadError, match="zstd -d"):
        read(path)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "gone.csv")


@pytest.mark.parametrize("reader", [read, scan])
def test_urls_are_refused_as_they_were_given(reader):
    message = r"must be a local file, got the URL 's3://bucket/x\.csv': download it, or open it wi"
    with pytest.raises(ValueError, match=message):
        reader("s3://bucket/x.csv")


def test_a_file_url_is_refused_with_its_path(tmp_path):
    path = tmp_path / "a table.csv"
    path.write_text("a\n1\n2\n")
    with pytest.raises(ValueError, match="pass '") as error:
        read(path.as_uri())
    advised = str(error.value).split("pass '")[1].rstrip("'.")
    assert len(read(advised)) == 2


def test_errors_pickle():
    error = ReadError.at("t.csv", "it is bad.", line=3, column="a")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "t.csv, line 3, column 'a': it is bad."
    assert isinstance(again, ValueError)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_csv_requires_pyarrow(tmp_path, monkeypatch, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(CSV, mtime=0) if name.endswith("gz") else CSV)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'requires pyarrow: pip install "ceiba\[files\]"'):
        read(path)


def test_arff_requires_no_optional_package(tmp_path):
    path = tmp_path / "t.arff.gz"
    path.write_bytes(gzip.compress(ARFF, mtime=0))
    program = (
        "import sys\n"
        "for name in ('pandas', 'pyarrow', 'polars'): sys.modules[name] = None\n"
        "from ceiba.data.io.read import read\n"
        f"assert len(read({str(path)!r})) == 2\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("xz", lzma.compress),
        ("zip", lambda data: zipped(inner=data)),
    ],
)
@pytest.mark.parametrize("form", ["csv", "arff"])
def test_decompression_stops_at_a_limit(tmp_path, suffix, pack, form):
    head = b"a\n" if form == "csv" else b"@relation r\n@attribute a numeric\n@data\n"
    data = head + b"1\n" * 500_000
    path = tmp_path / f"t.{form}.{suffix}"
    path.write_bytes(pack(data))
    assert path.stat().st_size < 10_000
    with pytest.raises(ReadError, match=r"more than 999,999 bytes .* larger max_bytes"):
        read(path, max_bytes=999_999)
    if form == "csv":
        assert len(read(path, max_bytes=len(data))) == len(read(path, max_bytes=None)) == 500_000
    for bad in (0, 1.5, "1"):
        with pytest.raises(ValueError, match="max_bytes must be a positive int or None"):
            read(path, max_bytes=bad)
