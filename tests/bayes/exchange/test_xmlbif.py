"""XMLBIF files: the order of values, document types, entities, errors with lines."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba.bayes import DiscreteNetwork, read_network, write_network
from ceiba.data.io.errors import ReadError

# Written by hand from the description of XMLBIF 0.3, with its document type inside. P(wet) has two
# parents of different sizes, so that every confusion of their order gives another table.
GARDEN = """<?xml version="1.0" encoding="US-ASCII"?>
<!-- a comment -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
<BIF VERSION="0.3"><NETWORK>
<NAME>garden &amp; lawn</NAME>
<PROPERTY>author = <NAME>nested</NAME></PROPERTY>
<DEFINITION>
  <FOR>wet</FOR><GIVEN>rain</GIVEN><GIVEN>sprinkler</GIVEN>
  <TABLE> 0.99 0.01 <!-- rain=none, sprinkler=on -->
    0.1 0.9
    0.9 0.1   0.8 0.2
    1.0 0     9.5e-1 .05 </TABLE>
  <PROPERTY>credal = no</PROPERTY>
</DEFINITION>
<VARIABLE TYPE="nature"><NAME> rain </NAME>
  <OUTCOME>none</OUTCOME><OUTCOME>some</OUTCOME><OUTCOME>much&gt;5</OUTCOME>
  <PROPERTY>position = (1, 2)</PROPERTY>
</VARIABLE>
<VARIABLE><NAME>sprinkler</NAME><OUTCOME>on</OUTCOME><OUTCOME>off</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>yes</OUTCOME><OUTCOME>no</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.7 0.2 0.1</TABLE></DEFINITION>
<DEFINITION><FOR>sprinkler</FOR><GIVEN>rain</GIVEN><TABLE>0.4 0.6 0.1 0.9 0 1</TABLE></DEFINITION>
</NETWORK></BIF>
"""


@pytest.fixture
def write(tmp_path):
    def write_file(content, name="t.xml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def test_garden(write):
    assert read_network(write(GARDEN)) == DiscreteNetwork(
        ["rain", "sprinkler", "wet"],
        [["none", "some", "much>5"], ["on", "off"], ["yes", "no"]],
        [[], [0], [0, 1]],
        [
            [0.7, 0.2, 0.1],
            [[0.4, 0.6], [0.1, 0.9], [0, 1]],
            [[[0.99, 0.01], [0.1, 0.9]], [[0.9, 0.1], [0.8, 0.2]], [[1, 0], [0.95, 0.05]]],
        ],
        "garden & lawn",
    )


def test_declared_encodings(write):
    expected = read_network(write(GARDEN))
    for encoding in ("ISO-8859-1", "UTF-8", "windows-1252"):
        text = GARDEN.replace("US-ASCII", encoding).replace("some", "äöü")
        network = read_network(write(text.encode(encoding)))
        assert network.states[0] == ("none", "äöü", "much>5")
    assert read_network(write(GARDEN.replace("US-ASCII", "UTF-16").encode("utf-16"))) == expected
    for encoding in ("KOI-9", "Shift_JIS"):
        with pytest.raises(ReadError, match="encoding"):
            read_network(write(GARDEN.replace("US-ASCII", encoding)))
    with pytest.raises(ValueError, match="'encoding' has no effect with XMLBIF files"):
        read_network(write(GARDEN), encoding="latin-1")


def test_entities_are_rejected(write):
    """Neither a few lines that stand for gigabytes nor other files are read."""
    laughs = "".join(
        f'<!ENTITY a{i} "{"".join(f"&a{i - 1};" for _ in range(10))}">' for i in range(1, 12)
    )
    for declared in (
        f'<!ENTITY a0 "ha">{laughs}',
        '<!ENTITY a11 SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a11 SYSTEM "file:///etc/passwd"> %a11;',
    ):
        text = GARDEN.replace("]>", declared + "]>").replace("garden &amp; lawn", "&a11;")
        with pytest.raises(ReadError, match=r"line 8: entity 'a\d+' is declared"):
            read_network(write(text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</NETWORK></BIF>", "</NETWORK>", "line 29: the file is not valid XML: no element found"),
        ("<FOR>wet</FOR>", "<FOR>wet</for>", "line 13: the file is not valid XML: mismatched tag"),
        ('<BIF VERSION="0.3">', "<PMML>", "line 9: the outermost element must be BIF, got 'PMML'"),
        ("</NETWORK>", "</NETWORK><NETWORK/>", "line 28: the file has two networks"),
        ('TYPE="nature"><NAME>wet', 'TYPE="utility"><NAME>wet', "line 25: TYPE of a VARIABLE must"),
        ("<FOR>wet</FOR>", "", "line 12: DEFINITION must have one FOR, got 0"),
        ("<FOR>wet</FOR>", "<FOR>wet</FOR><FOR>rain</FOR>", "line 12: .* must have one FOR"),
        ("<TABLE>0.7 0.2 0.1</TABLE>", "", "line 26: DEFINITION must have one TABLE, got 0"),
        ("0.7 0.2 0.1", "0.7 0.2", "line 26: the table of 'rain' must have 3 values, got 2"),
        ("0.7 0.2 0.1", "0.7 0.2 p", "line 26: expected a probability of 'rain', got 'p'"),
        ("0.7 0.2 0.1", "0.7 0.2 0.7", "line 26: the probabilities of 'rain' must sum to 1"),
        ("0.1 0.9 0 1", "0.1 0.9 0.5 1", "'sprinkler' given rain='much>5' must sum to 1, got 1.5"),
        ("<NAME>wet</NAME>", "", "line 25: VARIABLE must have one NAME, got 0"),
        ("<NAME>wet</NAME>", "<NAME/>", "line 25: the name of a variable is empty"),
        ("<OUTCOME>off</OUTCOME>", "<OUTCOME/>", "line 24: a state of 'sprinkler' is empty"),
        ("<FOR>rain</FOR>", "<FOR>snow</FOR>", "line 26: 'snow' is not a declared variable"),
    ],
)  # fmt: skip
def test_errors_name_the_line(write, old, new, message):
    assert GARDEN.count(old) == 1
    path = write(GARDEN.replace(old, new))
    with pytest.raises(ReadError, match=message) as caught:
        read_network(path)
    assert str(caught.value).startswith(str(path))


def test_other_damage(write):
    for text, message in (
        ("", "the file is empty"),
        ("<BIF></BIF>", "the file has no NETWORK element"),
        ("<BIF><NETWORK/></BIF>", "the file declares no variables"),
        ("<BIF>" + "<a>" * 100, "nested more than 50 deep"),
        ("network n { }", "line 1: the file is not valid XML: syntax error"),
    ):
        with pytest.raises(ReadError, match=message):
            read_network(write(text))


def test_written_form(tmp_path):
    network = DiscreteNetwork(["a<b", "c"], [["x", "y"]] * 2, [[], [0]], [[0.1, 0.9], np.eye(2)])
    path = tmp_path / "t.xmlbif"
    write_network(network, path)
    assert path.read_text().splitlines() == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<BIF VERSION="0.3">',
        "<NETWORK>",
        "  <NAME></NAME>",
        '<VARIABLE TYPE="nature">',
        "  <NAME>a&lt;b</NAME>",
        "  <OUTCOME>x</OUTCOME>",
        "  <OUTCOME>y</OUTCOME>",
        "</VARIABLE>",
        '<VARIABLE TYPE="nature">',
        "  <NAME>c</NAME>",
        "  <OUTCOME>x</OUTCOME>",
        "  <OUTCOME>y</OUTCOME>",
        "</VARIABLE>",
        "<DEFINITION>",
        "  <FOR>a&lt;b</FOR>",
        "  <TABLE>",
        "    0.1 0.9",
        "  </TABLE>",
        "</DEFINITION>",
        "<DEFINITION>",
        "  <FOR>c</FOR>",
        "  <GIVEN>a&lt;b</GIVEN>",
        "  <TABLE>",
        "    1.0 0.0",
        "    0.0 1.0",
        "  </TABLE>",
        "</DEFINITION>",
        "</NETWORK>",
        "</BIF>",
    ]
    assert read_network(path) == network


@pytest.mark.parametrize("name", [" a", "a ", "two\nlines", "zero\0", "\ud800", "\uffff"])
def test_names_without_a_spelling(tmp_path, name):
    network = DiscreteNetwork([name], [["x", "y"]], [[]], [[0.5, 0.5]])
    path = tmp_path / "t.xml"
    with pytest.raises(ValueError, match="XMLBIF has no spelling for the name"):
        write_network(network, path)
    assert not path.exists()
