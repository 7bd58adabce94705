"""BIF files: the forms that programs write, the order of values, errors with lines."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba.bayes import DiscreteNetwork, read_network, write_network
from ceiba.data.io.errors import ReadError
from tests.bayes.exchange.networks import asia

# Written by hand from the description of the format, with the numbers of Lauritzen and
# Spiegelhalter (1988): every form of a probability block occurs.
ASIA = """// Bayesian network in the Interchange Format
network "asia" { property "author; none { }" ;
  property version 1 ; }
variable asia { type discrete [ 2 ] { yes, no }; property "position = (10, 20)"; }
variable tub { type discrete[2] { "yes" "no" }; }
variable smoke /* a comment
   of two lines */ { type discrete [ 2 ] { yes, no }; }
variable lung { type discrete [ 2 ] { yes, no }; }
variable "bronc" { property position = (73, 165) ; type discrete [ 2 ] { yes, no }; }
variable either { type discrete [ 2 ] { yes, no }; }
variable xray { type discrete [ 2 ] { yes, no }; }
variable dysp { type discrete [ 2 ] { yes, no }; }
probability ( asia ) { table 0.01, 0.99; }
probability ( tub | asia ) { table 0.05 0.01 0.95 0.99; }
probability ( smoke ) { table .5 5e-1; }
probability ( lung | smoke ) {
  (yes) 0.1, 0.9;
  (no) 0.01, 0.99;
}
probability ( "bronc" "smoke" ) { default 0.3 0.7; ("yes") 0.6 0.4; }
probability ( either | lung, tub ) { default 1.0, 0.0; (no, no) 0.0, 1.0; }
probability ( xray | either ) { property "p"; (no) 0.05, 0.95; (yes) 0.98, 0.02; }
probability ( dysp | bronc, either ) {
  table 0.9, 0.8, 0.7, 0.1, // dysp = yes
        0.1, 0.2, 0.3, 0.9;
}
"""


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="t.bif"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def test_all_forms(write):
    assert read_network(write(ASIA)) == asia()


def test_blocks_in_any_order(write):
    blocks = ASIA.replace("}\nvariable", "}\0variable").replace("}\nprobability", "}\0probability")
    head, *others = blocks.split("\0")
    reversed_blocks = "\n".join([*reversed(others), head])
    network = read_network(write(reversed_blocks))
    assert network.variables == asia().variables[::-1]
    assert set(network.arcs) == set(asia().arcs)
    assert network.posterior("tub", {"xray": "yes"}).tolist() == pytest.approx(
        asia().posterior("tub", {"xray": "yes"}).tolist(), rel=1e-12
    )


def test_table_lists_the_states_of_the_variable_slowest(write):
    """The order of JavaBayes, which pgmpy and pyAgrum read, too."""
    text = """network n { }
    variable A { type discrete[2] { a0, a1 }; }
    variable B { type discrete[3] { b0, b1, b2 }; }
    variable C { type discrete[2] { c0, c1 }; }
    probability ( A ) { table 0.2, 0.8; }
    probability ( B ) { table 0.1, 0.2, 0.7; }
    probability ( C | A, B ) { table 0.01, 0.02, 0.03, 0.11, 0.12, 0.13,
                                     0.99, 0.98, 0.97, 0.89, 0.88, 0.87; }
    """
    table = read_network(write(text)).tables[2]
    assert table[0, :, 0].tolist() == [0.01, 0.02, 0.03]
    assert table[1, :, 0].tolist() == [0.11, 0.12, 0.13]


def test_names_of_the_repositories(write):
    """Bare words with signs, as the networks of the bnlearn repository have."""
    text = """network unknown { }
    variable HR-BP/2 { type discrete [ 3 ] { <5, 5-12, >=12.5 }; }
    probability ( HR-BP/2 ) { table 0.1, 0.2, 0.7; }
    """
    network = read_network(write(text))
    assert network.variables == ("HR-BP/2",)
    assert network.states == (("<5", "5-12", ">=12.5"),)


def test_written_form(tmp_path):
    network = DiscreteNetwork(
        ["a b", "table", "c"],
        [["x", "y z"], ["0", "1"], ["<1", ">=1"]],
        [[], [], [0, 1]],
        [[0.25, 0.75], [0.1, 0.9], np.full((2, 2, 2), 0.5)],
        "my net",
    )
    path = tmp_path / "t.bif"
    write_network(network, path)
    assert path.read_text().splitlines() == [
        'network "my net" {',
        "}",
        'variable "a b" {',
        '  type discrete [ 2 ] { x, "y z" };',
        "}",
        'variable "table" {',
        "  type discrete [ 2 ] { 0, 1 };",
        "}",
        "variable c {",
        '  type discrete [ 2 ] { "<1", ">=1" };',
        "}",
        'probability ( "a b" ) {',
        "  table 0.25, 0.75;",
        "}",
        'probability ( "table" ) {',
        "  table 0.1, 0.9;",
        "}",
        'probability ( c | "a b", "table" ) {',
        "  (x, 0) 0.5, 0.5;",
        "  (x, 1) 0.5, 0.5;",
        '  ("y z", 0) 0.5, 0.5;',
        '  ("y z", 1) 0.5, 0.5;',
        "}",
    ]
    assert read_network(path) == network


@pytest.mark.parametrize("name", ['an "a"', "two\nlines", "zero\0"])
def test_names_without_a_spelling(tmp_path, name):
    network = DiscreteNetwork([name], [["x", "y"]], [[]], [[0.5, 0.5]])
    path = tmp_path / "t.bif"
    with pytest.raises(ValueError, match="BIF has no spelling for the name"):
        write_network(network, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("variable lung", "variables lung", "line 8: expected 'network', 'variable' or 'probabil"),
        ("variable lung", "variable tub", "line 8: two variables have the name 'tub'"),
        ("variable lung", "variable", "line 8: expected the name of a variable, got '{'"),
        ("[2] {", "[3] {", "line 5: variable 'tub' declares 3 states, but lists 2"),
        ("[2] {", "[x] {", "line 5: expected the number of states, got 'x'"),
        ('"yes" "no"', '"yes" "yes"', "line 5: state 'yes' of 'tub' is declared twice"),
        ('discrete[2] { "yes" "no" }', "discrete[0] { }", "line 5: variable 'tub' has no states"),
        ("type discrete[2]", "type continuous", "line 5: expected 'discrete' after 'type'"),
        ("( asia ) {", "( Asia ) {", "line 13: 'Asia' is not a declared variable"),
        ("( smoke ) {", "( asia ) {", "line 15: the probabilities of 'asia' are defined twice"),
        ("lung, tub )", "lung, lung )", "line 21: the probabilities of 'either' name a variable"),
        ("table 0.01, 0.99", "table 0.01", "line 13: the table of 'asia' must have 2 values"),
        ("table 0.01, 0.99", "table 0.01, -0.99", "line 13: expected a probability or ';', got '-"),
        ("table 0.01, 0.99", "table 0.01, nan", "line 13: expected a probability or ';', got 'n"),
        ("table 0.01, 0.99", "table 1e999, 0", "line 13: expected a probability or ';', got '1e9"),
        ("table 0.01, 0.99", "", "line 13: expected 'table', 'default', 'property' or the states"),
        ("(no) 0.01, 0.99;", "", "line 16: the probabilities of 'lung' given smoke='no' are not"),
        ("(no) 0.01", "(yes) 0.01", r"line 18: the entry \(yes\) is given twice"),
        ("(no) 0.01", "(no, no) 0.01", "line 18: an entry of 'lung' must name a state of each of "),
        ("(no) 0.01", "(never) 0.01", r"line 18: 'never' is not a state of 'smoke' "),
        ("0.01, 0.99;\n}", "0.01;\n}", r"line 18: the entry \(no\) must have 2 values, got 1"),
        ("(no) 0.01, 0.99", "(no) 0.2, 0.9", "line 16: the probabilities of 'lung' given smoke="),
        ("default 0.3 0.7;", "default 0.3;", "line 20: the default of 'bronc' must have 2 values"),
        ("default 0.3 0.7;", "default 1 0; default 1 0;", "line 20: 'default' of 'bronc' is "),
        ("( asia ) {", "( asia | dysp ) {", "line 13: the table of 'asia' must have 4 values"),
        ("of two lines */", "", "line 6: the comment is not closed"),
        ('("yes")', '("yes)', "line 22: the quote is not closed"),
        ("0.2, 0.3, 0.9;\n}", "0.2, 0.3, 0.9;", "line 26: expected .* got the end of the file"),
        ("version 1 ; }", "version 1 }", "line 3: the statement that begins with 'version' has no"),
        ("// Bayesian", "network n { } // Bayesian", "line 2: the file has two networks"),
    ],
)  # fmt: skip
def test_errors_name_the_line(write, old, new, message):
    assert ASIA.count(old) == 1
    path = write(ASIA.replace(old, new))
    with pytest.raises(ReadError, match=message) as caught:
        read_network(path)
    assert str(caught.value).startswith(str(path))


def test_cycles_and_variables_without_probabilities(write):
    variables = "".join(f"variable {name} {{ type discrete [1] {{ s }}; }}\n" for name in "ab")
    table = "probability ( {} | {} ) {{ table 1; }}\n"
    with pytest.raises(ReadError, match="the arcs must not form a cycle, got a -> b -> a"):
        read_network(write(variables + table.format("a", "b") + table.format("b", "a")))
    with pytest.raises(ReadError, match="line 1: variable 'a' has no probabilities"):
        read_network(write(variables + table.format("b", "a")))
    for text in ("", "network n { }"):
        with pytest.raises(ReadError, match="the file declares no variables"):
            read_network(write(text))


def test_large_tables_are_rejected_before_they_are_made(write):
    n = 30
    names = [f"v{i}" for i in range(n)]
    text = "".join(f"variable {name} {{ type discrete [2] {{ a b }}; }}\n" for name in names)
    text += f"probability ( v0 | {' '.join(names[1:])} ) {{ default 0.5 0.5; }}"
    with pytest.raises(ReadError, match=r"'v0' have 1,073,741,824 cells, more than 67,108,864"):
        read_network(write(text))
