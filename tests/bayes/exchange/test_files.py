"""Network files: round trips, files of other programs, formats, damaged files."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ceiba.bayes import read_network, write_network
from ceiba.bayes.exchange import files
from ceiba.data.io.errors import ReadError
from tests.bayes.exchange import test_bif, test_elvira, test_xmlbif
from tests.bayes.exchange.networks import asia, networks, random_network
from tests.budget import examples
from tests.paths import GOLDEN_FILES

SAME_FOLDER = {"suppress_health_check": [HealthCheck.function_scoped_fixture]}


@pytest.mark.parametrize("suffix", [".bif", ".xml"])
@examples(60, **SAME_FOLDER)
@given(network=networks())
def test_round_trip(tmp_path, suffix, network):
    path = tmp_path / f"t{suffix}"
    write_network(network, path)
    assert read_network(path) == network


@pytest.mark.parametrize("suffix", [".bif", ".xmlbif", ".bifxml"])
def test_round_trip_of_a_large_network(tmp_path, suffix):
    network = random_network(60, 7, max_parents=4)
    write_network(network, tmp_path / f"t{suffix}")
    assert read_network(tmp_path / f"t{suffix}") == network


@pytest.mark.parametrize(
    "name", ["asia_pgmpy.bif", "asia_pgmpy.xml", "asia_pyagrum.bif", "asia_pyagrum.bifxml"]
)
def test_files_of_other_programs(name):
    """The order of variables and parents is theirs, the tables are equal."""
    found, expected = read_network(GOLDEN_FILES / "networks" / name), asia()
    assert set(found.arcs) == set(expected.arcs)
    for index, variable in enumerate(expected.variables):
        position = found.variables.index(variable)
        assert found.states[position] == expected.states[index]
        parents = [expected.variables[parent] for parent in expected.parents[index]]
        theirs = [found.variables[parent] for parent in found.parents[position]]
        axes = [theirs.index(parent) for parent in parents]
        table = found.tables[position].transpose([*axes, len(axes)])
        np.testing.assert_array_equal(table, expected.tables[index])


def test_compressed_files(tmp_path):
    path = tmp_path / "asia.bif.gz"
    path.write_bytes(gzip.compress(test_bif.ASIA.encode()))
    assert read_network(path) == asia()


def test_format_overrides_the_suffix(tmp_path):
    path = tmp_path / "network.txt"
    for name in ("bif", "xmlbif"):
        write_network(asia(), path, format=name)
        assert read_network(path, format=name) == asia()
        with pytest.raises(ReadError, match=r"the suffix must be one of \.bif, \.xml, .*'\.txt'"):
            read_network(path)
    with pytest.raises(ValueError, match=r"suffix must be one of \.bif, \.xml, .*'\.txt'"):
        write_network(asia(), path)
    with pytest.raises(ValueError, match="format must be one of 'bif', 'xmlbif', 'elvira', got"):
        read_network(path, format="net")
    with pytest.raises(ValueError, match="format must be one of 'bif', 'xmlbif', got 'elvira'"):
        write_network(asia(), path, format="elvira")


def test_invalid_arguments(tmp_path):
    with pytest.raises(ValueError, match="network must be a DiscreteNetwork, got str"):
        write_network("asia", tmp_path / "t.bif")
    with pytest.raises(FileNotFoundError):
        read_network(tmp_path / "none.bif")
    with pytest.raises(ValueError, match="path must be a local file, got the URL"):
        read_network("https://example.org/asia.bif")


def test_large_files_are_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    path = tmp_path / "asia.bif"
    write_network(asia(), path)
    with pytest.raises(ReadError, match="a network file must have up to 100 bytes"):
        read_network(path)
    compressed = tmp_path / "asia.bif.gz"
    compressed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ReadError, match="more than 100 bytes when decompressed"):
        read_network(compressed)


BASES = {
    "bif": test_bif.ASIA.encode(),
    "xmlbif": test_xmlbif.GARDEN.encode(),
    "elvira": test_elvira.ASIA.encode(),
}
PIECES = {
    "bif": "network n {|variable a {|type discrete [2] {|probability ( a | b ) {|table|default",
    "xmlbif": "<BIF>|<NETWORK>|<VARIABLE>|<NAME>|</NAME>|<!ENTITY a 'b'>|&a;|<TABLE>|<![CDATA[",
    "elvira": "bnet n {|node a|relation a b {|values = table (|tree ( case|link a b;|default =",
}
COMMON = [
    *"{}()[];,|=\"'/*?<>&",
    "0.5",
    "1e9",
    "-1",
    "yes",
    "no",
    "asia",
    "\n",
    "//",
    "/*",
    "\0",
    "é",
]


@pytest.mark.parametrize("format_name", BASES)
@examples(120, **SAME_FOLDER)
@given(data=st.data())
def test_damaged_files_give_a_network_or_a_read_error(tmp_path, format_name, data):
    content = bytearray(BASES[format_name])
    pieces = st.sampled_from([*COMMON, *PIECES[format_name].split("|")]).map(str.encode)
    if data.draw(st.booleans(), "from nothing"):
        content = bytearray(b" ".join(data.draw(st.lists(pieces, max_size=25))))
    for _ in range(data.draw(st.integers(1, 4), "changes")):
        start = data.draw(st.integers(0, len(content)), "start")
        length = data.draw(st.integers(0, 40), "removed bytes")
        content[start : start + length] = data.draw(pieces | st.binary(max_size=3), "inserted")
    path = tmp_path / "damaged"
    path.write_bytes(content)
    try:
        network = read_network(path, format=format_name)
    except ReadError:
        return
    assert len(network.variables) >= 1
