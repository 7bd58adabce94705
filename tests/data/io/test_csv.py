"""CSV files: detected dialects, inferred types, conversion, and errors with their position."""

from __future__ import annotations

import csv
import io
import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ceiba.data.identifiers import IdentifierWarning
from ceiba.data.io import csv_ranges
from ceiba.data.io.csv_dialect import MISSING
from ceiba.data.io.errors import ReadError
from ceiba.data.io.read import read
from ceiba.data.io.types import InferredType, parse_numbers
from ceiba.data.schema import Kind
from tests.budget import scaled
from tests.data.checks import cells

MANY = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def write(tmp_path):
    """Write a file of bytes or text and return its path."""

    def write_file(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


# --- detection ----------------------------------------------------------------------------------


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
def test_equivalent_spellings_give_one_table(write, text):
    assert cells(read(write(text))) == {"a": [1, 2], "b": ["x", "y"], "c": [2.5, 3.5]}


def test_delimiter_divides_all_records_alike(write):
    # The comma is in every record, but only the semicolon divides all of them alike.
    text = "name;price\nnuts, large;1,5\nbolts;2,5\n"
    assert read(write(text)).schema.names == ["name", "price"]


def test_one_column_of_names_is_not_split(write):
    assert read(write("name\nAnn Lee\nBo Mo\nCy Oh\n")).schema.names == ["name"]
    assert read(write("Ann 1\nBo 2\n")).schema.names == ["x0", "x1"]
    assert read(write("a b\nc d\n"), delimiter=" ").schema.names == ["a", "b"]


def test_tsv_is_tab_separated(write):
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


def test_missing_markers(write):
    spellings = ["", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "null", "NULL", '""', '"NA"']
    lines = "".join(f"{marker},{marker},{marker}\n" for marker in spellings)
    table = read(write("i,r,s\n1,1.5,x\n" + lines))
    n = len(spellings)
    assert [c.dtype for c in table.schema] == ["int64", "float64", "codes"]
    assert cells(table) == {
        "i": [1, *[None] * n],
        "r": [1.5, *[None] * n],
        "s": ["x", *[None] * n],
    }


def test_custom_missing_markers(write):
    path = write("a,b\n-9,NA\n1,x\n")
    assert cells(read(path, missing=["-9"])) == {"a": [None, 1], "b": ["NA", "x"]}
    assert cells(read(path, missing=[])) == {"a": [-9, 1], "b": ["NA", "x"]}


def test_column_without_values_is_numeric(write):
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
        # Types that Arrow infers and Ceiba does not.
        (["1", "true"], "codes"),
        (["2020-01-31", "2021-12-31"], "codes"),
        (["12:30", "23:59"], "codes"),
        (["2020-01-31 10:00:00", "2021-12-31T10:00:00"], "codes"),
        (["1.0", "+2"], "float64"),
        (["1e400", "2"], "float64"),
        ([str(2**63), "1.0"], "float64"),
    ],
)
def test_number_types(write, texts, dtype):
    table = read(write("v,w\n" + "".join(f"{text},0\n" for text in texts)))
    assert table.schema[0].dtype == dtype
    expected = sorted(texts) if dtype == "codes" else list(map(float, texts))
    if dtype in ("int64", "uint64"):
        expected = list(map(int, texts))
    found = cells(table)["v"]
    assert (sorted(found) if dtype == "codes" else found) == expected


def test_floats_are_exact(write):
    hard = np.random.default_rng(0).standard_normal(2000) * 10.0 ** np.arange(-300, 300, 0.3)
    text = "v\n" + "".join(f"{value!r}\n" for value in hard.tolist())
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
    assert [(str(c.kind), c.categories) for c in table.schema] == [
        ("ordinal", ("S", "M", "L")),
        ("nominal", ("01", "02", "10")),  # 01 is not how 1 is written: text stays text
        ("ordinal", (2, 10)),
        ("nominal", ("1.5", "2.5")),
    ]
    assert cells(table)["size"] == ["M", "S", None]
    assert cells(table)["code"] == [2, 10, None]


def test_listed_categories_may_be_numbers(write):
    table = read(write("a,b\n1,x\n3,y\n"), kinds={"a": [3, 2, 1]})
    assert (table.schema[0].kind, table.column(0).tolist()) == (Kind.ORDINAL, [2, 0])


def test_columns_in_the_requested_order(write):
    table = read(write("a,b,c\n1,x,3\n"), columns=["c", "a"])
    assert cells(table) == {"c": [3], "a": [1]}


def test_identifier_warns(write):
    text = "name,v\n" + "".join(f"n{i},{i}\n" for i in range(30))
    with pytest.warns(IdentifierWarning, match="'name' has a different category in every row"):
        read(write(text))
    read(write(text), kinds={"name": "nominal"})  # declared: no warning


# --- quotes --------------------------------------------------------------------------------------


def test_quoted_fields(write):
    text = 'a,b\n"x,1","two\nlines"\n"call ""hi""","  kept  "\n\'plain\',"crlf\r\ninside"\r\n'
    assert cells(read(write(text), header=True)) == {
        "a": ["x,1", 'call "hi"', "'plain'"],
        "b": ["two\nlines", "  kept  ", "crlf\r\ninside"],
    }


def test_quotes_of_other_styles(write):
    assert cells(read(write("a,b\n'x,1',2\n"), quote="'")) == {"a": ["x,1"], "b": [2]}
    assert cells(read(write('a,b\n5" nut,2\n'), quote=None)) == {"a": ['5" nut'], "b": [2]}


def test_quoted_numbers_are_numbers(write):
    assert cells(read(write('a,b\n"1"," 2.5"\n"3","4"\n'))) == {"a": [1, 3], "b": [2.5, 4.0]}


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "line", "column", "message"),
    [
        ("a,b\n1,2\n3\n", {}, 3, "'b'", "1 fields, but the header has 2"),
        ("a,b\n1,2\n3,4,5\n", {}, 3, "3", "'5' is one too many"),
        ('a,b\n"x\ny",2\n\n3\n', {}, 5, "'b'", "1 fields"),
        ("1,2\n3\n", {}, 2, "'x1'", "the first record has 2"),
        ('a,b\n1,"x\n2,y\n', {}, 2, "2", "never closed"),
        ('a,b\n1,x"y\n', {}, 2, "2", "unexpected quote inside"),
        ('a,b\n1,"x"y\n', {}, 2, "2", "unexpected quote inside"),
        ("a,b\n1,2\n3,x\n", {"kinds": {"b": "numeric"}}, 3, "'b'", "'x' is not a number"),
        ('a,b\n"1\n",2\n3,x\n', {"kinds": {"b": "numeric"}}, 4, "'b'", "'x' is not a number"),
        ("a,b\n1,S\n3,XL\n", {"kinds": {"b": ["S", "M"]}}, 3, "'b'", "'XL' is not a category"),
        ("a,b\n1,2\n3,XL\n", {"kinds": {"b": [2, 3]}}, 3, "'b'", "'XL' is not a category"),
        ("a,a\n1,2\n", {}, 1, "2", "the name 'a' twice"),
        (",b\n1,2\n", {}, 1, "1", "no name"),
        ("\n a ,,b\n1,2,3\n", {}, 2, "2", "no name"),
        (b"a,b\nx,\xe9\n", {}, 2, None, "byte 0xe9 at position 7 is not UTF-8"),
        (b"a,b\n1,\0\n", {}, 2, None, "not UTF-8 text"),
    ],
)
def test_errors_name_line_and_column(write, content, options, line, column, message):
    path = write(content)
    with pytest.raises(ReadError) as caught:
        read(path, **options)
    position = f"{path}, line {line}" + (f", column {column}" if column else "") + ": "
    assert str(caught.value).startswith(position)
    assert message in str(caught.value)


@pytest.mark.parametrize("size", [200_000, 3_000_000])
def test_long_fields(write, size):
    text = "x" * size
    assert cells(read(write(f"a,b\n1,y\n2,{text}\n"))) == {"a": [1, 2], "b": ["y", text]}
    with pytest.raises(ReadError, match=r"t.csv, line 1: the first record has a field above"):
        read(write(f"{text}\na\n"))


def test_width_error_after_a_long_field(write):
    with pytest.raises(ReadError, match=r"t.csv, line 3, column 'b': the record has 1 fields"):
        read(write("a,b\n" + "x" * 3_000_000 + ",1\n2\n"))


@pytest.mark.parametrize("content", ["", "\n\n", "  \n", "\ufeff", "\r\n"])
def test_empty_file(write, content):
    with pytest.raises(ReadError, match=re.escape("t.csv: the file is empty")):
        read(write(content))


def test_header_without_rows(write):
    with pytest.raises(ReadError, match="a header, but no rows"):
        read(write("a,b\n"))


@pytest.mark.parametrize(
    ("options", "message"),
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
        ({"kinds": {"a": "number"}}, r"kinds\['a'\] must be 'numeric'.* got 'number'"),
        ({"kinds": {"b": "ordinal"}}, "whose order is unknown"),
        ({"encoding": "klingon"}, "Unknown encoding 'klingon'"),
        ({"encoding": "ascii"}, "not encoded as ascii"),
    ],
)
def test_invalid_options(write, options, message):
    with pytest.raises(ValueError, match=message):
        read(write("a,b\n1,é\n"), **options)


def test_other_encodings(write):
    path = write("a,b\n1,é\n2,ü\n".encode("utf-16"))
    with pytest.raises(ReadError):
        read(path)
    assert cells(read(path, encoding="utf-16"))["b"] == ["é", "ü"]
    latin = write("a,b\n1,é\n".encode("latin-1"))
    assert cells(read(latin, encoding="latin-1"))["b"] == ["é"]


# --- the scanner against a naive one ------------------------------------------------------------


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
    for index, (byte, inside) in enumerate(zip(data, naive_inside(data, quote), strict=True)):
        if byte == 13 and not inside:
            if data[index + 1 : index + 2] != b"\n":
                out += b"\n"
        else:
            out.append(byte)
    return bytes(out)


def naive_tidy(data, delimiter, quote):
    """Remove runs of blanks outside quotes that touch a separator."""
    inside = naive_inside(data, quote)
    blanks = b" \t" if delimiter == " " else b" \t".replace(delimiter.encode(), b"")
    separators = b"\n" if delimiter == " " else b"\n" + delimiter.encode()
    out, start = bytearray(), 0
    while start < len(data):
        end = start
        while end < len(data) and data[end] in blanks and inside[end] is False:
            end += 1
        if end == start:
            out.append(data[start])
            start += 1
            continue
        at_separator = (
            start == 0
            or end == len(data)
            or data[start - 1] in separators
            or data[end] in separators
        )
        if not at_separator:
            out += b" " if delimiter == " " else data[start:end]
        start = end
    return bytes(out)


def naive_end(data, quote):
    inside = naive_inside(data, quote)
    ends = [p + 1 for p, byte in enumerate(data) if byte == 10 and inside[p] is False]
    return max(ends, default=0)


SNIPPETS = st.lists(st.sampled_from([b"a", b",", b'"', b"\n", b"\r", b" ", b"\t"])).map(b"".join)


@settings(MANY, max_examples=scaled(300))
@given(SNIPPETS, st.sampled_from([",", " ", "\t"]), st.sampled_from(['"', None]))
def test_scanner_equals_the_naive_one(data, delimiter, quote):
    unified = csv_ranges.unify_newlines(data, quote)
    assert unified == naive_unify(data, quote)
    assert csv_ranges.tidy_blanks(unified, delimiter, quote) == naive_tidy(
        unified, delimiter, quote
    )
    assert csv_ranges.last_record_end(data, quote) == naive_end(data, quote)


# --- round trips ---------------------------------------------------------------------------------

# No surrogates and no zero byte, which UTF-8 text excludes; no missing marker and no number.
LABELS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6
).filter(lambda text: text not in MISSING and parse_numbers([text]) is None)
WHOLE = st.integers(-(2**63), 2**63 - 1)
REAL = st.floats(allow_nan=False, allow_infinity=True)


def columns_of(values):
    return st.lists(st.one_of(st.none(), values), min_size=4, max_size=4)


@st.composite
def tables(draw):
    """Names and columns of four rows: whole numbers, reals or labels, with missing values."""
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


@settings(MANY, max_examples=scaled(150))
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
)
@example((["a"], [[None, "x", None, "y"]]), ",", "\n", csv.QUOTE_ALL)
def test_round_trip(tmp_path_factory, table, delimiter, newline, quoting):
    names, columns = table
    path = tmp_path_factory.getbasetemp() / "round.csv"
    path.write_bytes(written(names, columns, delimiter, newline, quoting))
    again = read(path, delimiter=delimiter, header=True)
    assert again.schema.names == names
    for name, column in zip(names, columns, strict=True):
        found = cells(again)[name]
        if all(v is None or not isinstance(v, str) for v in column):
            # Reals print with a point or an exponent: a column never mixes both kinds of numbers.
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


def naive_key(texts):
    """Return the key by which categories are sorted: their value if all are numbers."""
    try:
        numbers = {text: float(text) for text in texts}
    except ValueError:
        return None
    is_number = all(n == n and "_" not in text for text, n in numbers.items())
    return numbers.__getitem__ if is_number else None


def naive_column(tokens):
    """Return dtype, categories and values of a column by the documented rules of `read`."""
    texts = [token[1:-1] if token.startswith('"') else token.strip(" ") for token in tokens]
    present = [text for text in texts if text not in MISSING]
    parsed = parse_numbers(present)
    if parsed is None:
        values = [None if text in MISSING else text for text in texts]
        return "codes", tuple(sorted(sorted(set(present)), key=naive_key(present))), values
    numbers = iter(parsed.tolist())
    dtype = parsed.dtype.name if present else "float64"
    return dtype, (), [None if text in MISSING else next(numbers) for text in texts]


@settings(MANY, max_examples=scaled(300))
@given(st.lists(st.tuples(TOKENS, TOKENS), min_size=1, max_size=6))
def test_inference_equals_the_naive_one(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "agree.csv"
    path.write_text("a,b\n" + "".join(f"{one},{other}\n" for one, other in rows), "utf-8")
    table = read(path, header=True, delimiter=",")
    for name, column, tokens in zip("ab", table.schema, zip(*rows, strict=True), strict=True):
        assert (column.dtype, column.categories, cells(table)[name]) == naive_column(tokens)


@settings(MANY, max_examples=scaled(300))
@given(st.one_of(st.binary(max_size=60), SNIPPETS))
@pytest.mark.filterwarnings("ignore::ceiba.data.identifiers.IdentifierWarning")
def test_any_bytes_give_a_table_or_a_read_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "junk.csv"
    path.write_bytes(data)
    message = None
    try:
        table = read(path)
    except ReadError as error:
        message = str(error)
    assert len(table) > 0 if message is None else str(path) in message


# --- merged types --------------------------------------------------------------------------------

TEXTS = st.lists(
    st.one_of(
        st.integers(-(2**70), 2**70).map(str), st.floats(allow_nan=False).map(repr), st.just("x")
    ),
    max_size=4,
)


@settings(MANY, max_examples=scaled(200))
@given(TEXTS, TEXTS, TEXTS)
def test_inferred_types_merge(one, other, third):
    types = [InferredType.of(texts) for texts in (one, other, third)]
    whole = InferredType.of(one + other + third)
    assert types[0].merge(types[1]).merge(types[2]) == whole
    assert types[0].merge(types[1].merge(types[2])) == whole
    assert types[2].merge(types[0]).merge(types[1]) == whole
