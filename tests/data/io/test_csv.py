"""CSV files: what is found out about them, what they become, what is refused and where."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ceiba.data.io import csv_bytes, csv_file
from ceiba.data.io.errors import ReadError
from ceiba.data.io.facts import Facts, parse_numbers
from ceiba.data.io.read import read
from ceiba.data.schema import Kind
from ceiba.data.table import IdentifierWarning
from tests.data.checks import assert_same, cells

MANY = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path):
    """Write a file of bytes or text and give its path."""

    def write_file(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


# --- what is found out --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,x,2.5\n2,y,3.5\n",
        "a;b;c\n1;x;2.5\n2;y;3.5\n",
        "a\tb\tc\n1\tx\t2.5\n2\ty\t3.5\n",
        "a|b|c\n1|x|2.5\n2|y|3.5\n",
        "a b c\n1 x 2.5\n2 y 3.5\n",
        "  a   b\tc\n 1  x \t2.5  \n2 y 3.5",
        "a, b, c\n1, x, 2.5\n2, y, 3.5\n",
        'a , "b" ,c\n1 , "x" , 2.5\n2,"y",3.5\n',
        "\ufeffa,b,c\n1,x,2.5\n2,y,3.5\n",
        "\ufeffa,b,c\r\n1,x,2.5\r\n2,y,3.5\r\n",
        "a,b,c\r\n1,x,2.5\r\n2,y,3.5\r\n",
        "a,b,c\r1,x,2.5\r2,y,3.5\r",
        "\n\na,b,c\n\n1,x,2.5\n   \n2,y,3.5\n\n",
        "a,b,c\n1,x,2.5\n2,y,3.5",
    ],
)
def test_one_table_written_in_many_ways(write, text):
    assert cells(read(write(text))) == {"a": [1, 2], "b": ["x", "y"], "c": [2.5, 3.5]}


def test_delimiter_of_text_without_numbers_of_a_second_kind(write):
    # The comma is in every record, but only the semicolon divides all of them alike.
    text = "name;price\nnuts, large;1,5\nbolts;2,5\n"
    assert read(write(text)).schema.names == ["name", "price"]


def test_one_column_of_names_is_not_split(write):
    assert read(write("name\nAnn Lee\nBo Mo\nCy Oh\n")).schema.names == ["name"]
    assert read(write("Ann 1\nBo 2\n")).schema.names == ["x0", "x1"]
    assert read(write("a b\nc d\n"), delimiter=" ").schema.names == ["a", "b"]


def test_tsv_needs_no_inference(write):
    assert read(write("a,b\tc\n1,2\t3\n", "t.tsv")).schema.names == ["a,b", "c"]


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", True),
        ("a,b\nx,2\n", True),
        ("x,1\ny,2\n", False),
        ("1,2\n3,4\n", False),
        ("?,a\nb,a\n", False),
        ("sunny,no\nrainy,yes\nsunny,yes\n", False),  # sunny comes again below
        ("outlook,play\nrainy,yes\nsunny,yes\n", True),
        ("a,1990\nb,5\n", False),
    ],
)
def test_header(write, text, header):
    table = read(write(text))
    assert table.schema.named is header
    assert len(table) == len(text.splitlines()) - header
    assert len(read(write(text), header=False)) == len(text.splitlines())


def test_given_header_may_be_numbers(write):
    table = read(write("1990,1991\n5,6\n"), header=True)
    assert cells(table) == {"1990": [5], "1991": [6]}


def test_gaps(write):
    spellings = ["", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", '""', '"NA"']
    lines = "".join(f"{gap},{gap},{gap}\n" for gap in spellings)
    table = read(write("i,r,s\n1,1.5,x\n" + lines))
    n = len(spellings)
    assert [c.dtype for c in table.schema] == ["int64", "float64", "codes"]
    assert cells(table) == {
        "i": [1, *[None] * n],
        "r": [1.5, *[None] * n],
        "s": ["x", *[None] * n],
    }


def test_gaps_of_ones_own(write):
    path = write("a,b\n-9,NA\n1,x\n")
    assert cells(read(path, missing=["-9"])) == {"a": [None, 1], "b": ["NA", "x"]}
    assert cells(read(path, missing=[])) == {"a": [-9, 1], "b": ["NA", "x"]}


def test_column_of_gaps_is_numeric(write):
    table = read(write("a,b\n1,\n2,?\n"))
    assert (table.schema[1].kind, table.schema[1].dtype) == (Kind.NUMERIC, "float64")
    assert cells(table)["b"] == [None, None]


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        (["1", "-2", "+3", "007", "-0"], "int64"),
        ([str(2**53 + 1), str(-(2**63)), str(2**63 - 1)], "int64"),
        ([str(2**64 - 1), "0"], "uint64"),
        ([str(2**64), "1"], "float64"),
        ([str(2**63), "-1"], "float64"),
        (["1", "2.0"], "float64"),
        (["1e5", ".5", "5.", "-1E-3", "+2.5e+3"], "float64"),
        (["inf", "-inf", "Infinity", "1"], "float64"),
        (["1" * 400, "1"], "float64"),
        (["1_000", "2"], "codes"),
        (["0x1F", "2"], "codes"),
        (["١", "2"], "codes"),
        (["1e", "2"], "codes"),
        (["-nan", "2"], "codes"),
        (["1 000", "2"], "codes"),
        (["--5", "2"], "codes"),
        (["True", "False"], "codes"),
    ],
)
@pytest.mark.parametrize("arrow", [False, True])
def test_number_types(write, monkeypatch, texts, dtype, arrow):
    monkeypatch.setattr(csv_file, "_ARROW_BYTES", 0 if arrow else 1 << 60)
    table = read(write("v,w\n" + "".join(f"{text},0\n" for text in texts)))
    assert table.schema[0].dtype == dtype
    expected = sorted(texts) if dtype == "codes" else list(map(float, texts))
    if dtype in ("int64", "uint64"):
        expected = list(map(int, texts))
    found = cells(table)["v"]
    assert (sorted(found) if dtype == "codes" else found) == expected


def test_floats_are_read_to_the_last_bit(write, monkeypatch):
    hard = np.random.default_rng(0).standard_normal(2000) * 10.0 ** np.arange(-300, 300, 0.3)
    text = "v\n" + "".join(f"{value!r}\n" for value in hard.tolist())
    for border in (0, 1 << 60):
        monkeypatch.setattr(csv_file, "_ARROW_BYTES", border)
        np.testing.assert_array_equal(read(write(text)).column(0), hard)


def test_float_columns_are_one_matrix(write):
    table = read(write("a,b\n1.5,2.5\n?,4.5\n"))
    np.testing.assert_array_equal(table.matrix, [[1.5, 2.5], [np.nan, 4.5]])
    assert table.matrix.flags.c_contiguous
    assert table.schema.names == ["a", "b"]


# --- kinds and columns ---------------------------------------------------------------------------


def test_kinds(write):
    text = "size,zip,code,mark\nM,01,2,1.5\nS,10,10,2.5\n?,02,?,?\n"
    kinds = {"size": ["S", "M", "L"], "zip": "nominal", "code": "ordinal", "mark": "nominal"}
    table = read(write(text), kinds=kinds)
    assert [(str(c.kind), c.levels) for c in table.schema] == [
        ("ordinal", ("S", "M", "L")),
        ("nominal", ("01", "02", "10")),  # 01 is not how 1 is written: text stays text
        ("ordinal", (2, 10)),
        ("nominal", ("1.5", "2.5")),
    ]
    assert cells(table)["size"] == ["M", "S", None]
    assert cells(table)["code"] == [2, 10, None]


def test_listed_levels_of_numbers(write):
    table = read(write("a,b\n1,x\n3,y\n"), kinds={"a": [3, 2, 1]})
    assert (table.schema[0].kind, table.column(0).tolist()) == (Kind.ORDINAL, [2, 0])


def test_columns_in_the_order_asked_for(write):
    table = read(write("a,b,c\n1,x,3\n"), columns=["c", "a"])
    assert cells(table) == {"c": [3], "a": [1]}


def test_identifier_is_pointed_out(write):
    text = "name,v\n" + "".join(f"n{i},{i}\n" for i in range(30))
    with pytest.warns(IdentifierWarning, match="'name' has a different label in every row"):
        read(write(text))
    read(write(text), kinds={"name": "nominal"})  # declared: no warning, which would be an error


# --- quotes --------------------------------------------------------------------------------------


def test_quoted_fields(write):
    text = 'a,b\n"x,1","two\nlines"\n"say ""hi""","  kept  "\n\'plain\',"crlf\r\ninside"\r\n'
    assert cells(read(write(text), header=True)) == {
        "a": ["x,1", 'say "hi"', "'plain'"],
        "b": ["two\nlines", "  kept  ", "crlf\r\ninside"],
    }


def test_quotes_of_other_styles(write):
    assert cells(read(write("a,b\n'x,1',2\n"), quote="'")) == {"a": ["x,1"], "b": [2]}
    assert cells(read(write('a,b\n5" nut,2\n'), quote=None)) == {"a": ['5" nut'], "b": [2]}


def test_quoted_numbers_are_numbers(write):
    assert cells(read(write('a,b\n"1"," 2.5"\n"3","4"\n'))) == {"a": [1, 3], "b": [2.5, 4.0]}


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "line", "column", "saying"),
    [
        ("a,b\n1,2\n3\n", {}, 3, "'b'", "1 fields, but the header has 2"),
        ("a,b\n1,2\n3,4,5\n", {}, 3, "3", "'5' is one too many"),
        ('a,b\n"x\ny",2\n\n3\n', {}, 5, "'b'", "1 fields"),
        ("1,2\n3\n", {}, 2, "'x1'", "the first record has 2"),
        ('a,b\n1,"x\n2,y\n', {}, 2, "2", "never closed"),
        ('a,b\n1,x"y\n', {}, 2, "2", "a quote stands inside"),
        ('a,b\n1,"x"y\n', {}, 2, "2", "a quote stands inside"),
        ("a,b\n1,2\n3,x\n", {"kinds": {"b": "numeric"}}, 3, "'b'", "'x' is not a number"),
        ('a,b\n"1\n",2\n3,x\n', {"kinds": {"b": "numeric"}}, 4, "'b'", "'x' is not a number"),
        ("a,b\n1,S\n3,XL\n", {"kinds": {"b": ["S", "M"]}}, 3, "'b'", "'XL' is not among"),
        ("a,b\n1,2\n3,XL\n", {"kinds": {"b": [2, 3]}}, 3, "'b'", "'XL' is not among"),
        ("a,a\n1,2\n", {}, 1, "2", "the name 'a' twice"),
        (",b\n1,2\n", {}, 1, "1", "no name"),
        ("\n a ,,b\n1,2,3\n", {}, 2, "2", "no name"),
        (b"a,b\nx,\xe9\n", {}, 2, None, "byte 0xe9 at position 7 is not UTF-8"),
        (b"a,b\n1,\0\n", {}, 2, None, "not text in UTF-8"),
    ],
)
@pytest.mark.parametrize("arrow", [False, True])
def test_refused(write, monkeypatch, content, options, line, column, saying, arrow):
    monkeypatch.setattr(csv_file, "_ARROW_BYTES", 0 if arrow else 1 << 60)
    path = write(content)
    with pytest.raises(ReadError) as caught:
        read(path, **options)
    place = f"{path}, line {line}" + (f", column {column}" if column else "") + ": "
    assert str(caught.value).startswith(place)
    assert saying in str(caught.value)


def test_field_too_long_for_the_standard_library(write):
    with pytest.raises(ReadError, match=r"t.csv, line 3: field larger"):
        read(write("a\nx\n" + "x" * 200_000 + "\n"))
    with pytest.raises(ReadError, match=r"t.csv, line 1: a field is longer than 131,072"):
        read(write("x" * 200_000 + "\na\n"))


@pytest.mark.parametrize("content", ["", "\n\n", "  \n", "\ufeff", "\r\n"])
def test_empty_file(write, content):
    with pytest.raises(ReadError, match=re.escape("t.csv: the file is empty")):
        read(write(content))


def test_header_without_rows(write):
    with pytest.raises(ReadError, match="a header, but no rows"):
        read(write("a,b\n"))


@pytest.mark.parametrize(
    ("options", "saying"),
    [
        ({"delimiter": "::"}, "one ASCII character"),
        ({"delimiter": '"'}, "one ASCII character"),
        ({"delimiter": "'", "quote": "'"}, "one ASCII character"),
        ({"header": "yes"}, "header must be"),
        ({"quote": "x"}, "quote must be"),
        ({"missing": "NA"}, "list of texts"),
        ({"columns": "a"}, "list of names"),
        ({"columns": []}, "at least one"),
        ({"columns": ["a", "a"]}, "twice"),
        ({"columns": ["aa"]}, "did you mean 'a'"),
        ({"kinds": {"z": "nominal"}}, "no column 'z'"),
        ({"kinds": {"a": "number"}}, "Unknown kind 'number'"),
        ({"kinds": {"b": "ordinal"}}, "whose order is unknown"),
        ({"encoding": "klingon"}, "no encoding 'klingon'"),
        ({"encoding": "ascii"}, "not ascii"),
    ],
)
def test_bad_options(write, options, saying):
    with pytest.raises(ValueError, match=saying):
        read(write("a,b\n1,é\n"), **options)


def test_other_encodings(write):
    path = write("a,b\n1,é\n2,ü\n".encode("utf-16"))
    with pytest.raises(ReadError):
        read(path)
    assert cells(read(path, encoding="utf-16"))["b"] == ["é", "ü"]
    latin = write("a,b\n1,é\n".encode("latin-1"))
    assert cells(read(latin, encoding="latin-1"))["b"] == ["é"]


# --- bytes against a reader of single characters --------------------------------------------------


def naive_inside(data, quote):
    """For every byte, whether it is inside quotes; the quotes themselves are not."""
    inside, found = False, []
    for byte in data:
        if quote is not None and byte == ord(quote):
            inside = not inside
            found.append(None)
        else:
            found.append(inside)
    return found


def naive_unify(data, quote):
    out = bytearray()
    for place, (byte, inside) in enumerate(zip(data, naive_inside(data, quote), strict=True)):
        if byte == 13 and not inside:
            if data[place + 1 : place + 2] != b"\n":
                out += b"\n"
        else:
            out.append(byte)
    return bytes(out)


def naive_tidy(data, delimiter, quote):
    """Blanks outside quotes go where the next or last other byte outside is a fence."""
    inside = naive_inside(data, quote)
    blanks = b" \t" if delimiter == " " else b" \t".replace(delimiter.encode(), b"")
    fences = b"\n" if delimiter == " " else b"\n" + delimiter.encode()
    out, place = bytearray(), 0
    while place < len(data):
        end = place
        while end < len(data) and data[end] in blanks and inside[end] is False:
            end += 1
        if end == place:
            out.append(data[place])
            place += 1
            continue
        at_fence = (
            place == 0 or end == len(data) or data[place - 1] in fences or data[end] in fences
        )
        if not at_fence:
            out += b" " if delimiter == " " else data[place:end]
        place = end
    return bytes(out)


def naive_end(data, quote):
    inside = naive_inside(data, quote)
    ends = [p + 1 for p, byte in enumerate(data) if byte == 10 and inside[p] is False]
    return max(ends, default=0)


SNIPPETS = st.lists(st.sampled_from([b"a", b",", b'"', b"\n", b"\r", b" ", b"\t"])).map(b"".join)


@settings(MANY, max_examples=300)
@given(SNIPPETS, st.sampled_from([",", " ", "\t"]), st.sampled_from(['"', None]))
def test_byte_work_equals_the_naive(data, delimiter, quote):
    unified = csv_bytes.unify_newlines(data, quote)
    assert unified == naive_unify(data, quote)
    assert csv_bytes.tidy_blanks(unified, delimiter, quote) == naive_tidy(unified, delimiter, quote)
    assert csv_bytes.last_record_end(data, quote) == naive_end(data, quote)


# --- round trips ---------------------------------------------------------------------------------

# No surrogates and no zero byte, which UTF-8 text has not; no text that is a gap or a number.
LABELS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
).filter(lambda text: text not in csv_file.Style().missing and parse_numbers([text]) is None)
WHOLE = st.integers(-(2**63), 2**63 - 1)
REAL = st.floats(allow_nan=False, allow_infinity=True)


def columns_of(values):
    return st.lists(st.one_of(st.none(), values), min_size=4, max_size=4)


@st.composite
def tables(draw):
    """Names and columns of four rows: whole numbers, reals or labels, with gaps."""
    kinds = draw(st.lists(st.sampled_from([WHOLE, REAL, LABELS]), min_size=1, max_size=4))
    width = len(kinds)
    names = draw(st.lists(LABELS, min_size=width, max_size=width, unique=True))
    return names, [draw(columns_of(kind)) for kind in kinds]


def written(names, columns, delimiter, newline, quoting):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    writer.writerow(names)
    for row in zip(*columns, strict=True):
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue().encode()


def equal_cell(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return one == other


@settings(MANY, max_examples=150)
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.booleans(),
)
@example((["a"], [[None, "x", None, "y"]]), ",", "\n", csv.QUOTE_ALL, True)
def test_round_trip(tmp_path_factory, table, delimiter, newline, quoting, arrow):
    names, columns = table
    path = tmp_path_factory.getbasetemp() / f"round-{arrow}.csv"
    path.write_bytes(written(names, columns, delimiter, newline, quoting))
    kept, csv_file._ARROW_BYTES = csv_file._ARROW_BYTES, 0 if arrow else 1 << 60
    try:
        again = read(path, delimiter=delimiter, header=True)
    finally:
        csv_file._ARROW_BYTES = kept
    assert again.schema.names == names
    for name, column in zip(names, columns, strict=True):
        found = cells(again)[name]
        if all(v is None or not isinstance(v, str) for v in column):
            # A column of both kinds of numbers cannot be: reals print with a point or exponent.
            assert all(map(equal_cell, found, column))
        else:
            assert found == column


NUMBERLIKE = [
    "1",
    "-5",
    "+5",
    "1.5",
    "1.0",
    "2e3",
    "inf",
    "007",
    "1e999",
    " 5",
    "5 ",
    '"6"',
    '" 7"',
]
ODD = ["0x10", "nan", "-nan", "NA", "?", "True", "x", "0xZ", "1_0", "é", "", " "]
LONG = ["9" * 19, "9" * 20, "9" * 30]
TOKENS = st.sampled_from([*NUMBERLIKE, *ODD, *LONG])


@settings(MANY, max_examples=300)
@given(st.lists(st.tuples(TOKENS, TOKENS), min_size=1, max_size=6))
def test_arrow_and_plain_agree(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "agree.csv"
    path.write_text("a,b\n" + "".join(f"{one},{other}\n" for one, other in rows), "utf-8")
    found = []
    for border in (0, 1 << 60):
        kept, csv_file._ARROW_BYTES = csv_file._ARROW_BYTES, border
        try:
            found.append(read(path, header=True))
        finally:
            csv_file._ARROW_BYTES = kept
    assert_same(*found)


def test_large_file_uses_arrow_where_it_can(write, monkeypatch):
    from ceiba.data.io.csv_records import Records

    asked = []
    plain = Records._plain_columns
    monkeypatch.setattr(
        Records, "_plain_columns", lambda self, wanted: asked.append(1) or plain(self, wanted)
    )
    text = "a,b\n" + "1.5,x\n" * 200_000
    fast = read(write(text))
    assert not asked
    monkeypatch.setattr(csv_file, "has_arrow", lambda: False)
    assert_same(read(write(text)), fast)
    assert asked


@settings(MANY, max_examples=300)
@given(st.one_of(st.binary(max_size=60), SNIPPETS))
@pytest.mark.filterwarnings("ignore::ceiba.data.table.IdentifierWarning")
def test_any_bytes_give_a_table_or_a_read_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "junk.csv"
    path.write_bytes(data)
    message = None
    try:
        table = read(path)
    except ReadError as error:
        message = str(error)
    assert len(table) > 0 if message is None else str(path) in message


# --- facts merge ---------------------------------------------------------------------------------

TEXTS = st.lists(
    st.one_of(
        st.integers(-(2**70), 2**70).map(str), st.floats(allow_nan=False).map(repr), st.just("x")
    ),
    max_size=4,
)


@settings(MANY, max_examples=200)
@given(TEXTS, TEXTS, TEXTS)
def test_facts_merge(one, other, third):
    facts = [Facts.of(texts) for texts in (one, other, third)]
    whole = Facts.of(one + other + third)
    assert facts[0].merge(facts[1]).merge(facts[2]) == whole
    assert facts[0].merge(facts[1].merge(facts[2])) == whole
    assert facts[2].merge(facts[0]).merge(facts[1]) == whole
