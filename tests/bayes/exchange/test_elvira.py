"""Network files of Elvira: tables, cells, trees, defaults, errors with lines."""

from __future__ import annotations

import pytest

from ceiba.bayes import DiscreteNetwork, read_network, write_network
from ceiba.data.io.errors import ReadError
from tests.bayes.exchange.networks import asia

# Written by hand after the grammar of the format, with the numbers of Lauritzen and Spiegelhalter
# (1988). The values of a relation have the variable first: all probabilities of its first state.
ASIA = """// Bayesian Network
//   Elvira format

bnet  asia {

// Network Properties

kindofgraph = "directed";
visualprecision = "0.00";
version = 1.0;
default node states = (yes , no);

// Variables

node asia(finite-states) {
title = "Visit to Asia?";
kind-of-node = chance;
type-of-variable = finite-states;
pos_x =265;
pos_y =-12;
relevance = 7.0;
purpose = "";
num-states = 2;
states = ("yes" "no");
}
node tub;
node smoke(finite-states) { states = (yes no); }
node lung(finite-states);
node bronc { kind-of-node = chance; }
node either;
node "xray" { comment = "two
lines"; }
node dysp;

// Links of the associated graph:

link asia tub;
link smoke lung;
link smoke bronc { directed = true; comment = ""; }
link lung either; link tub either;
link either "xray";
link bronc dysp;
link either dysp;

//Network Relationships:

relation asia {
comment = "";
kind-of-relation = potential;
deterministic=false;
values= table (0.01 0.99 );
}
relation tub asia { kind-of-relation = conditional-prob; values = table (0.05, 0.01, 0.95, 0.99); }
relation smoke { values = table (5.0E-1 0.5); }
relation lung smoke {
values= table ([yes, yes] = 0.1, [no, 0] = 0.9 ["yes",no]=0.01
  [1,1] = 0.99);
}
relation bronc, smoke {
values= tree ( case smoke {
  yes = case bronc { yes = 0.6; no = 0.4; }
  no = case bronc { 0 = 0.3; 1 = 0.7; }
} );
}
relation either lung tub {
values= table (default = 0, [yes,yes,yes]=1, [yes,yes,no]=1, [yes,no,yes]=1, [no,no,no]=1);
}
relation "xray" either { values = table (0.98 0.05 0.02 0.95); }
relation dysp bronc either {
kind-of-relation = potential;
deterministic=false;
values= table (0.9 0.8 0.7 0.1 0.1 0.2 0.3 0.9 );
}

}
"""


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="t.elv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def test_asia(write):
    assert read_network(write(ASIA)) == asia()


def test_order_of_values(write):
    """The variable varies slowest, the last parent fastest."""
    text = """bnet "" {
    node C(finite-states) { states = (c0 c1 c2); }
    node H(finite-states) { states = (h0 h1); }
    node I(finite-states) { states = (i0 i1 i2); }
    relation C H I { values = table (0.25 0.28 0.06 0.09 0.05 0.04
                                     0.39 0.31 0.54 0.42 0.32 0.39
                                     0.36 0.41 0.40 0.49 0.63 0.57); }
    relation H { values = table (0.46 0.54); }
    relation I { values = table (0.25 0.39 0.36); }
    }"""
    network = read_network(write(text))
    assert network.name == ""
    assert network.parents == ((1, 2), (), ())
    assert network.tables[0][0, 1].tolist() == [0.28, 0.31, 0.41]
    assert network.tables[0][1, 2].tolist() == [0.04, 0.39, 0.57]


def test_names_with_indices(write):
    text = """bnet chain { node X[0]; node X[1] { states = (X[a] X[b]); }
    link X[0] X[1];
    relation X[0] { values = table (0.5 0.5); }
    relation X[1] X[0] { values = tree (case X[0] { absent = 0.5; present = case X[1] {
      X[a] = 0.1; X[b] = 0.9; } }); } }"""
    assert read_network(write(text)) == DiscreteNetwork(
        ["X[0]", "X[1]"],
        [["absent", "present"], ["X[a]", "X[b]"]],
        [[], [0]],
        [[0.5, 0.5], [[0.5, 0.5], [0.1, 0.9]]],
        "chain",
    )


def test_encoding(write):
    latin = write(ASIA.replace("Visit to Asia?", "¿Asia?").encode("latin-1"))
    with pytest.raises(ReadError, match=r"line 16: .* not UTF-8.*encoding='latin-1'"):
        read_network(latin)
    assert read_network(latin, encoding="latin-1") == asia()


def test_elvira_is_not_written(tmp_path):
    for options in ({}, {"format": "elvira"}):
        with pytest.raises(ValueError, match="must be one of"):
            write_network(asia(), tmp_path / "t.elv", **options)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bnet  asia", "idiagram asia", "line 4: the file must begin with 'bnet' or 'network'"),
        ("node tub;", "node tub(continuous);", "line 26: node 'tub' is a continuous node: only"),
        ("node = chance; }", "node = utility; }", "line 29: node 'bronc' is a utility node: only"),
        ("link asia tub", "link asia tab", "line 37: 'tab' is not a declared node"),
        ("link asia tub", "link asia lung", "line 37: there is a link from 'asia' to 'lung', but"),
        ("directed = true", "directed = false", "line 39: expected 'true' after 'directed ='"),
        ("relation tub asia", "relation tub Asia", "line 53: 'Asia' is not a declared node"),
        ("relation tub asia", "relation asia tub", "line 53: the probabilities of 'asia' are"),
        ("relation tub asia", "relation", "line 53: expected the nodes of the relation, got '{'"),
        ("= conditional-prob", "= utility", "line 53: kind-of-relation must be potential or condi"),
        ("values = table (5.0E-1 0.5);", "", "line 54: the relation of 'smoke' has no values"),
        ("(5.0E-1 0.5)", "(0.1 0.2 0.7)", "line 54: the table of 'smoke' must have 2 values"),
        ("(5.0E-1 0.5)", "(0.5 0.4)", "line 54: the probabilities of 'smoke' must sum to 1"),
        ("table (5.0E-1 0.5)", "function Or()", "line 54: the values of 'smoke' must be a table"),
        ("[no, 0]", "[no, 2]", r"line 56: the index of a state of 'smoke' must be in \[0, 1\]"),
        ("[no, 0]", "[no, maybe]", r"line 56: 'maybe' is not a state of 'smoke'"),
        ("[no, 0]", "[no]", r"line 56: a cell must have 2 states, got 1"),
        ("[no, 0] = 0.9", "", "line 56: the probabilities of 'lung' given smoke='yes' are"),
        ("no = case bronc", "no = case smoke", "line 62: 'smoke' must be a node of the relation"),
        ("no = case bronc", "no = case dysp", "line 62: 'dysp' must be a node of the relation"),
        ("0 = 0.3;", "", "line 60: the probabilities of 'bronc' given smoke='no' are"),
        ("relation dysp", "realtion dysp", "line 69: expected '=' after 'realtion', got 'dysp'"),
        ("link bronc dysp;", "link bronc;", "line 42: expected the name of a node, got ';'"),
    ],
)  # fmt: skip
def test_errors_name_the_line(write, old, new, message):
    assert ASIA.count(old) == 1
    path = write(ASIA.replace(old, new))
    with pytest.raises(ReadError, match=message) as caught:
        read_network(path)
    assert str(caught.value).startswith(str(path))
