"""ARFF files: attributes, dense and sparse rows, quotes and comments, errors with lines."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ceiba.data.identifiers import IdentifierWarning
from ceiba.data.io.arff import date_format
from ceiba.data.io.errors import ReadError
from ceiba.data.io.read import read
from ceiba.data.schema import Column, Kind
from tests.budget import scaled
from tests.data.checks import cells

MANY = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

WEATHER = """% The weather table
@RELATION weather

@Attribute outlook {sunny, overcast, rainy}   % first comes the sky
@attribute 'air temperature' REAL
@attribute\thumidity\tInteger
@attribute "it's windy" {TRUE,FALSE}
@attribute note string
@attribute play { yes , 'not at all' , "so-so" }

@DATA
% dense rows
sunny,85,85,FALSE,hot,'not at all'
overcast , 83.5 ,?, TRUE , "a, b" , yes   % a comment
rainy\t70\t96\tFALSE\t'50%'\tyes

sunny 80 90 TRUE 'it\\'s \\"fine\\"' so-so
?,?,?,?,?,?
"""


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="t.arff"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def test_weather(write):
    table = read(write(WEATHER))
    assert table.schema.columns == (
        Column("outlook", Kind.NOMINAL, ("sunny", "overcast", "rainy"), "codes"),
        Column("air temperature", Kind.NUMERIC, dtype="float64"),
        Column("humidity", Kind.NUMERIC, dtype="int64"),
        Column("it's windy", Kind.NOMINAL, ("TRUE", "FALSE"), "codes"),
        Column("note", Kind.NOMINAL, ("50%", "a, b", "hot", 'it\'s "fine"'), "codes"),
        Column("play", Kind.NOMINAL, ("yes", "not at all", "so-so"), "codes"),
    )
    assert cells(table) == {
        "outlook": ["sunny", "overcast", "rainy", "sunny", None],
        "air temperature": [85.0, 83.5, 70.0, 80.0, None],
        "humidity": [85, None, 96, 90, None],
        "it's windy": ["FALSE", "TRUE", "FALSE", "TRUE", None],
        "note": ["hot", "a, b", "50%", 'it\'s "fine"', None],
        "play": ["not at all", "yes", "yes", "so-so", None],
    }


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_other_line_ends_and_byte_order_mark(write, newline):
    text = "\ufeff" + WEATHER.replace("\n", newline)
    assert cells(read(write(text))) == cells(read(write(WEATHER)))


def test_sparse_rows(write):
    head = "@relation r\n@attribute a numeric\n@attribute b {x,y,z}\n@attribute c real\n@data\n"
    text = head + "{0 3, 2 1.5}\n{}\n{ 1 'z' }\n{1 ?,0 ?}\n7,y,2\n"
    assert cells(read(write(text))) == {
        "a": [3, 0, 0, None, 7],
        "b": ["x", "x", "z", None, "y"],
        "c": [1.5, 0.0, 0.0, 0.0, 2.0],
    }


def test_categories_and_kinds(write):
    text = "@relation r\n@attribute size {S,M,'L'}\n@attribute n {3,1,2}\n@attribute v numeric\n"
    path = write(text + "@data\nM,1,5\nS,3,6\n")
    table = read(path)
    assert [c.categories for c in table.schema] == [("S", "M", "L"), (3, 1, 2), ()]
    table = read(
        path, kinds={"size": "ordinal", "n": "numeric", "v": "nominal"}, columns=["v", "n", "size"]
    )
    assert [(str(c.kind), c.categories, c.dtype) for c in table.schema] == [
        ("nominal", (5, 6), "codes"),
        ("numeric", (), "int64"),
        ("ordinal", ("S", "M", "L"), "codes"),
    ]
    assert read(path, kinds={"n": "ordinal"}).schema[1].categories == (3, 1, 2)
    assert read(path, kinds={"v": [6, 5]}).column(2).tolist() == [1, 0]


def test_indented_declarations(write):
    text = "  @relation r\n\t@attribute a numeric\n  @attribute b {x, y}\n @data\n1,x\n"
    assert cells(read(write(text))) == {"a": [1], "b": ["x"]}


def test_exact_integers(write):
    text = f"@relation r\n@attribute a numeric\n@attribute b real\n@data\n{2**53 + 1},1\n"
    table = read(write(text))
    assert table.column(0)[0] == 2**53 + 1
    assert [c.dtype for c in table.schema] == ["int64", "float64"]


def test_dates(write):
    text = (
        "@relation r\n@attribute t date\n@attribute d date 'dd.MM.yy'\n"
        '@attribute u date "yyyy-MM-dd HH:mm"\n@data\n'
        "2020-02-03T04:05:06,03.02.20,'2020-02-03 04:05'\n?,?,?\n"
    )
    table = read(write(text))
    assert [c.dtype for c in table.schema] == ["datetime64[ns]"] * 3
    found = [table.column(j).view("datetime64[ns]")[0] for j in range(3)]
    assert [str(t.astype("datetime64[s]")) for t in found] == [
        "2020-02-03T04:05:06",
        "2020-02-03T00:00:00",
        "2020-02-03T04:05:00",
    ]
    assert all(table.missing_mask(j).tolist() == [False, True] for j in range(3))


def test_date_formats():
    assert date_format("yyyy-MM-dd'T'HH:mm:ss.SSS") == "%Y-%m-%dT%H:%M:%S.%f"
    assert date_format("100% yy") == "100%% %y"


def test_no_rows_are_an_empty_table(write):
    table = read(write("@relation r\n@attribute a {x}\n@attribute b real\n@data\n"))
    assert len(table) == 0
    assert table.schema[0].categories == ("x",)


def test_identifier_warns(write):
    rows = "".join(f"n{i}\n" for i in range(30))
    with pytest.warns(IdentifierWarning, match="'name'"):
        read(write(f"@relation r\n@attribute name string\n@data\n{rows}"))


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x, y}\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("@relation r\n@attribute a numeric\n", 3, "no @data"),
        ("@relation r\n@data\n1\n", 2, "at least one @attribute"),
        ("@relation r\n@attribute a\n@data\n", 2, "'a' has no type"),
        ("@relation r\n@attribute\n@data\n", 2, "has no name"),
        ("@relation r\n@attribute '' real\n@data\n", 3, "empty name"),
        ("@relation r\n@attribute a number\n@data\n", 2, "must be numeric, real, .* got 'number'"),
        ("@relation r\n@attribute a b numeric\n@data\n", 2, "quote names with blanks"),
        ("@relation r\n@attribute a relational\n@data\n", 2, "relational"),
        ("@relation r\n@attribute a date 'EEE'\n@data\n", 2, "unsupported part 'EEE'"),
        ("@relation r\n@attribute a {x, y\n@data\n", 2, "closing brace"),
        ("@relation r\n@attribute a {x, x}\n@data\n", 2, "declared twice"),
        ("@relation r\n@attribute a {x,,y}\n@data\n", 2, "is empty"),
        ("@relation r\n@attribute a {x} y\n@data\n", 2, "unexpected text after the categories"),
        ("@relation r\n@attribute 'a numeric\n@data\n", 2, "not closed"),
        ("@relation r\nattribute a numeric\n@data\n", 2, "expected @relation"),
        (HEAD + "@attribute a real\n@data\n", 5, "two attributes have the name 'a'"),
        (HEAD + "@data\n1,x\n2\n", 6, "'b' is absent"),
        (HEAD + "@data\n1,x,3\n", 5, "3 values for 2 attributes"),
        (HEAD + "@data\n1,\n", 5, "the value of 'b' is empty"),
        (HEAD + "@data\n1,'x\n", 5, "not closed"),
        (HEAD + "@data\n1,'x' y\n", 5, "expected a comma"),
        (HEAD + "@data\n1,'x'y\n", 5, "expected a comma"),
        (HEAD + "@data\n\n%\nz,x\n", 7, "column 'a': 'z' is not a number"),
        (HEAD + "@data\n1,X\n", 5, "column 'b': 'X' is not a category"),
        (HEAD + "@data\n1,x,{5}\n", 5, "instance weights in braces"),
        (HEAD + "@data\n{0 1},{5}\n", 5, "instance weights in braces"),
        (HEAD + "@data\n{0 1\n", 5, "closing brace"),
        (HEAD + "@data\n{0 1} 2\n", 5, "unexpected text after the sparse row"),
        (HEAD + "@data\n{2 1}\n", 5, r"must be in \[0, 1\], got 2"),
        (HEAD + "@data\n{0 1, 0 2}\n", 5, "two values for attribute 0"),
        (HEAD + "@data\n{x}\n", 5, "pairs of index and value"),
        (HEAD + "@data\n1,x}\n", 5, "unexpected closing brace"),
        (HEAD + "@attribute s string\n@data\n{0 1}\n", 6, "omits 's'"),
        (
            HEAD + "@attribute d date\n@data\n1,x,yesterday\n",
            6,
            "column 'd': 'yesterday' is not a date",
        ),
    ],
)
def test_errors(write, text, line, message):
    path = write(text)
    with pytest.raises(ReadError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line {line}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\xff\xfe\0", "UTF-8"),
        (b"@relation r\n@attribute a {\xe9}\n@data\n", "line 2: byte 0xe9"),
    ],
)
def test_not_text(write, content, message):
    with pytest.raises(ReadError, match=message):
        read(write(content))


def test_invalid_kinds(write):
    path = write(HEAD + "@attribute s string\n@data\n1,x,u\n")
    with pytest.raises(ReadError, match="whose order is unknown"):
        read(path, kinds={"s": "ordinal"})
    with pytest.raises(ReadError, match="column 'b': 'x' is not a number"):
        read(path, kinds={"b": "numeric"})


# --- round trips and random files -----------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


def quoted(text):
    for plain, escape in [
        ("\\", "\\\\"),
        ("'", "\\'"),
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\t", "\\t"),
    ]:
        text = text.replace(plain, escape)
    return f"'{text}'"


@st.composite
def relations(draw):
    """Names, declared categories (None for numbers) and five rows."""
    names = draw(st.lists(TEXT.filter(bool), min_size=1, max_size=4, unique=True))
    categories = [
        draw(st.none() | st.lists(TEXT.map("l".__add__), min_size=1, max_size=4, unique=True))
        for _ in names
    ]
    number = st.integers(-(2**63), 2**63 - 1)
    values = [number if some is None else st.sampled_from(some) for some in categories]
    return names, categories, [[draw(st.none() | value) for value in values] for _ in range(5)]


def token(value):
    return "?" if value is None else quoted(value) if isinstance(value, str) else str(value)


def dense(row):
    return ",".join(map(token, row)) + "\n"


def sparse(row, categories):
    zeros = [0 if some is None else some[0] for some in categories]
    pairs = [f"{j} {token(v)}" for j, v in enumerate(row) if v != zeros[j]]
    return "{" + ", ".join(pairs) + "}\n"


@settings(MANY, max_examples=scaled(100))
@given(relations(), st.booleans())
def test_round_trip(tmp_path_factory, relation, as_sparse):
    names, categories, rows = relation
    types = [
        "numeric" if some is None else "{" + ",".join(map(quoted, some)) + "}"
        for some in categories
    ]
    text = "@relation r\n"
    text += "".join(f"@attribute {quoted(n)} {t}\n" for n, t in zip(names, types, strict=True))
    text += "@data\n" + "".join(
        sparse(row, categories) if as_sparse else dense(row) for row in rows
    )
    path = tmp_path_factory.getbasetemp() / "round.arff"
    path.write_bytes(text.encode())
    table = read(path)
    assert table.schema.names == names
    for j, some in enumerate(categories):
        assert list(table.schema[j].categories) == list(some or [])
    assert list(cells(table).values()) == [list(column) for column in zip(*rows, strict=True)]


PIECES = [
    "@relation r\n",
    "@attribute ",
    "a ",
    "numeric",
    "string",
    "{",
    "}",
    ",",
    "'",
    '"',
    "\\",
    "\n",
]
JUNK = st.lists(st.sampled_from([*PIECES, "@data\n", "1", "x", "?", " ", "%", "date "])).map(
    "".join
)


@settings(MANY, max_examples=scaled(300))
@given(
    st.one_of(
        st.binary(max_size=60),
        JUNK.map(str.encode),
        JUNK.map(lambda t: (HEAD + "@data\n" + t).encode()),
    )
)
def test_any_bytes_give_a_table_or_a_read_error(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "junk.arff"
    path.write_bytes(data)
    message = None
    try:
        table = read(path)
    except ReadError as error:
        message = str(error)
    assert len(table.schema) > 0 if message is None else str(path) in message
