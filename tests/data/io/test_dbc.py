"""Case files of Elvira: nodes, states by name and by index, missing values, errors with lines."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ceiba.data.io.errors import ReadError
from ceiba.data.io.read import read, scan
from ceiba.data.schema import Column, Kind
from tests.budget import scaled
from tests.data.checks import cells

WEATHER = """// Data Base. Elvira Format

data-base weather {
title = "it's; a { title }";
number-of-cases = 4;
default node states = (FALSE TRUE);  /* for nodes
without states */

node outlook (finite-states) {
title = "the sky";
kind-of-node = chance;
type-of-variable = finite-states;
pos_x =265;
num-states = 3;
states = (sunny, "partly cloudy", rainy);
}
node temperature(continuous) { min = -20; max = 45.5; precision = 2; }
node windy;
node "day of week" { states = (1 2 3); }
node X[1,2](finite-states) { states = (a b); }

relation {
comment = "";
memory = true;
cases = (
[ sunny, 85, FALSE, "2", a ]
[ 1, -7.5e-1, 1, 1, "b" ],
[rainy ? TRUE 0 b]
[?,?,?,?,?]
);
}
}
"""


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="t.dbc"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def test_weather(write):
    table = read(write(WEATHER))
    assert table.schema.columns == (
        Column("outlook", Kind.NOMINAL, ("sunny", "partly cloudy", "rainy"), "codes"),
        Column("temperature", Kind.NUMERIC, dtype="float64"),
        Column("windy", Kind.NOMINAL, ("FALSE", "TRUE"), "codes"),
        Column("day of week", Kind.NOMINAL, (1, 2, 3), "codes"),
        Column("X[1,2]", Kind.NOMINAL, ("a", "b"), "codes"),
    )
    assert cells(table) == {
        "outlook": ["sunny", "partly cloudy", "rainy", None],
        "temperature": [85.0, -0.75, None, None],
        "windy": ["FALSE", "TRUE", "TRUE", None],
        "day of week": [2, 2, 1, None],  # quoted: the name; unquoted: the index
        "X[1,2]": ["a", "b", "b", None],
    }


def test_options_of_read(write):
    path = write(WEATHER.replace("[?,?,?,?,?]", "[0,1,0,0,0]"))
    X, y = read(path, target="windy", columns=["temperature", "outlook"])
    assert X.schema.names == ["temperature", "outlook"]
    assert y.tolist() == ["FALSE", "TRUE", "TRUE", "FALSE"]
    table = read(path, kinds={"outlook": "ordinal", "day of week": "numeric"})
    assert table.schema[0].kind is Kind.ORDINAL
    assert table["day of week"].tolist() == [2, 2, 1, 1]
    with pytest.raises(ReadError, match="'delimiter' has no effect with Elvira files"):
        read(path, delimiter=";")


def test_compressed_and_encoded(write):
    expected = cells(read(write(WEATHER)))
    assert cells(read(write(gzip.compress(WEATHER.encode()), "t.dbc.gz"))) == expected
    latin = write(WEATHER.replace("sky", "cielo español").encode("latin-1"))
    with pytest.raises(ReadError, match=r"line 10: .* is not UTF-8.*encoding='latin-1'"):
        read(latin)
    assert cells(read(latin, encoding="latin-1")) == expected


def test_scan_is_not_supported(write):
    with pytest.raises(ReadError, match=r"the suffix must be one of .*, got '\.dbc'"):
        scan(write(WEATHER))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("data-base", "bnet", r"line 3: the file must begin with 'data-base', got 'bnet'"),
        ("number-of-cases = 4", "number-of-cases = 5", "number-of-cases is 5, but the file has 4"),
        ("num-states = 3", "num-states = 2", r"line 9: num-states of 'outlook' must be .*, 3, got"),
        ("(continuous)", "(discrete)", r"line 17: the type of a node must be finite-states or con"),
        ("(1 2 3)", "(1 2 2)", r"line 19: state '2' of 'day of week' is declared twice"),
        ("(a b)", "()", r"line 20: the list of states of 'X\[1,2\]' is empty"),
        ("node windy", "node outlook", r"line 18: two nodes have the name 'outlook'"),
        ("[ sunny", "[ snowy", r"line 26: 'snowy' is not a state of 'outlook' \('sunny', 'par"),
        ('"2"', '"4"', r"line 26: '4' is not a state of 'day of week' \('1', '2', '3'\)"),
        ("[ 1,", "[ 3,", r"line 27: the index of a state of 'outlook' must be in \[0, 2\], got 3"),
        ("85", "warm", r"line 26, column 'temperature': 'warm' is not a number"),
        ("[rainy ?", "[rainy", r"line 28: the case has 4 values for 5 nodes"),
        ("[rainy ?", "rainy ?", r"line 28: expected '\[' or '\)' after a case, got 'rainy'"),
        (");\n}\n}", ");\n}", r"line 32: expected a block or a property, got the end of the file"),
        (");\n}\n}", ");\n}}}", r"line 31: expected the end of the file, got '}'"),
        ("cases = (", "lists = (", r"line 25: the statement|the file has no cases"),
        ("/* for", "/* for /*", None),
        ("without states */", "", r"line 6: the comment is not closed"),
        ('"b"', '"b', r"line 27: the quote is not closed"),
    ],
)
def test_errors_name_the_line(write, old, new, message):
    assert WEATHER.count(old) == 1
    path = write(WEATHER.replace(old, new))
    if message is None:
        assert len(read(path)) == 4
        return
    with pytest.raises(ReadError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_no_cases_and_empty_files(write):
    assert len(read(write("data-base d { node a; relation { cases = ( ); } }"))) == 0
    for content, message in (
        ("", "the file is empty"),
        ("// nothing", "the file is empty"),
        ("data-base d { node a; }", "the file has no cases"),
        ("data-base d { relation { cases = ([]); } }", "at least one node"),
        ("data-base d { node a; relation { cases=(); cases=(); } }", "two lists of cases"),
    ):
        with pytest.raises(ReadError, match=message):
            read(write(content))


PIECES = (
    *("data-base d {", "node a", "node b(continuous)", "(finite-states)", "{", "}", ";", "=", ","),
    *("states = (x y)", "num-states = 2", "relation {", "cases = (", "[x,1.5]", "[0 ?]", ")", "]"),
    *("default node states = (u v);", '"', "//", "/*", "*/", "\n", "é", "\0", "number-of-cases=1;"),
)


@settings(
    deadline=None,
    max_examples=scaled(150),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.sampled_from(PIECES), max_size=30),
    st.integers(0, len(WEATHER)),
    st.integers(0, 30),
    st.booleans(),
)
def test_any_file_gives_a_table_or_a_read_error(write, pieces, start, length, damaged):
    text = "".join(pieces)
    if damaged:
        text = WEATHER[:start] + text + WEATHER[start + length :]
    path = write(text)
    try:
        table = read(path)
    except ReadError:
        return
    assert len(table.schema) >= 1
