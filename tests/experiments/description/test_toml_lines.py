"""Lines of keys: hand-written texts, and random documents against what tomllib reads."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.experiments.description.toml_lines import key_lines
from tests.budget import examples

after = (
    "it"
    ""
    + """'s'
"""
)


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1\nb = 2", ("b",), 2),
        ("\n\n# a = 1\n\na = 1", ("a",), 5),
        ("[t]\na = 1\n[u]\na = 2", ("u", "a"), 4),
        ("[t]\r\na = 1\r\n[u]\r\na = 2\r\n", ("u", "a"), 4),
        ("[t.u]\na = 1", ("t", "u", "a"), 2),
        ("[ t . 'u.v' ]\na = 1", ("t", "u.v", "a"), 2),
        ("[[t]]\na = 1\n[[t]]\na = 2", ("t", 1, "a"), 4),
        ("[[t]]\n[[t]]\n[t.u]\na = 2", ("t", 1, "u", "a"), 4),
        ("[[t]]\n[[t.u]]\n[[t.u]]\na=1\n[[t]]\n[[t.u]]\na = 2", ("t", 1, "u", 0, "a"), 7),
        ("a.b = 1\na.c = 2", ("a", "c"), 2),
        ('"a\\u0062" = 1', ("ab",), 1),
        ("x = 0\na = [\n  1,\n  # comment ]\n  2\n]\nb = 1", ("a", 1), 5),
        ("a = [\n  1,\n  2\n]\nb = 1", ("b",), 5),
        ("a = [[1], [\n2]]\nb = 1", ("a", 1, 0), 2),
        ("a = {b = 1, c = [1,\n 2]}\nd = 1", ("a", "c", 1), 2),
        ("a = [{b = 1},\n {b = 2}]", ("a", 1, "b"), 2),
        ('a = """\nb = 1\n"""\nb = 2', ("b",), 4),
        ('a = """x""\\"""""\nb = 2', ("b",), 2),
        ("a = '''\n[b]\n'''\nb = 2", ("b",), 4),
        ("a = '# = ['\nb = 2", ("b",), 2),
        ("a = 1979-05-27T07:32:00Z # now\nb = 2", ("b",), 2),
        ("a = 1e5\nb = inf", ("b",), 2),
    ],
)
def test_line_of_a_key(text: str, path: tuple[Any, ...], line: int) -> None:
    tomllib.loads(text)
    assert key_lines(text)[path] == line


def paths_of(value: Any, path: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """Return the paths of all keys and elements of a document."""
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    found = {path} if path else set()
    for key, entry in pairs:
        found |= paths_of(entry, (*path, key))
    return found


KEYS = st.sampled_from(["a", "b", '"c d"', "'e.f'", "g"])
SCALARS = st.sampled_from(
    ["1", "-2.5e3", "true", '"text # ]"', "'}'", '"""\n[x]\ny = 1\n"""', "1979-05-27", "'''\n'''"]
)
BREAKS = st.sampled_from(["", " ", "\n", "\n# ] = [\n  "])


def lists(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(BREAKS, st.lists(values, max_size=3), BREAKS).map(
        lambda parts: f"[{parts[0]}{(',' + parts[2]).join(parts[1])}{parts[0]}]"
    )


def tables(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.dictionaries(KEYS, values, max_size=3).map(
        lambda pairs: "{" + ", ".join(f"{key} = {value}" for key, value in pairs.items()) + "}"
    )


VALUES = st.recursive(SCALARS, lambda values: lists(values) | tables(values), max_leaves=5)
PAIRS = st.tuples(KEYS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]}\n")
HEADERS = st.lists(KEYS, min_size=1, max_size=2).map(".".join)
LINES = (
    PAIRS | HEADERS.map("[{}]\n".format) | HEADERS.map("[[{}]]\n".format) | st.just("# a = [\n\n")
)


@examples(300)
@given(st.lists(LINES, max_size=12))
def test_all_keys_of_random_documents_are_found_in_their_lines(lines: list[str]) -> None:
    text = ""
    for line in lines:  # a line that makes the document invalid is left out
        try:
            document = tomllib.loads(text + line)
        except tomllib.TOMLDecodeError:
            continue
        text += line
    document = tomllib.loads(text)
    found = key_lines(text)
    assert set(found) == paths_of(document)
    parts = text.split("\n")
    for path, line in found.items():
        named = next(key for key in reversed(path) if isinstance(key, str))
        if isinstance(path[-1], str):
            assert named in parts[line - 1]
