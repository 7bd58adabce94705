"""Files of Elvira: the nodes that its network and case files declare, and its case files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ceiba.data.categories import list_labels
from ceiba.data.io.declared import Attribute, DeclaredRows
from ceiba.data.io.errors import ReadError
from ceiba.data.io.tokens import Token, TokenStream, token_pattern
from ceiba.data.table import Table

# Names may have indices: X[1,2].
_PATTERN = token_pattern("{}()[]=;,", r'[A-Za-z_][^\s"/{}()\[\]=;,]*\[[^\s"/{}()\[\]=;]*\]')
_INDEX = re.compile(r"[0-9]{1,9}")
_FINITE, _CONTINUOUS = "finite-states", "continuous"


def read_dbc(
    data: bytes,
    path: Path,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
) -> Table:
    """Parse the UTF-8 bytes of a case file of Elvira (``.dbc``) as a table.

    References
    ----------
    Elvira Consortium (2002), Elvira: an environment for creating and using probabilistic graphical
    models, First European Workshop on Probabilistic Graphical Models, 222-230.
    """
    return _CaseFile(data, path).rows.table(columns, kinds)


@dataclass(frozen=True, slots=True)
class Node:
    """A declared node: its states, None if it is continuous; ``kind`` such as ``"chance"``."""

    name: str
    states: tuple[str, ...] | None
    kind: str
    line: int


class ElviraFile:
    """Parser of the blocks that all files of Elvira have.

    A subclass extends ``blocks``: keyword -> function that parses what follows the keyword.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        self.tokens = TokenStream(data, path, _PATTERN)
        if self.tokens.token.kind == "end":
            raise ReadError.at(path, "the file is empty.")
        self.nodes: dict[str, Node] = {}
        self._state_indices: dict[str, dict[str, int]] = {}
        self.blocks: dict[str, Callable[[], None]] = {
            "node": self._parse_node,
            "default": self._parse_default,
            "every": self._parse_default,
        }
        self._default_states: tuple[str, ...] = ("absent", "present")
        self._default_type = _FINITE

    def parse(self, *keywords: str) -> str:
        """Parse the file, which begins with one of the keywords; return its name."""
        tokens = self.tokens
        if not tokens.accept(*keywords):
            expected = " or ".join(map(repr, keywords))
            raise tokens.error(
                f"the file must begin with {expected}, got {tokens.token.shown}: other kinds of "
                "Elvira's files are not supported."
            )
        if not tokens.token.is_name:
            raise tokens.error(
                f"expected the name of the file's content, got {tokens.token.shown}."
            )
        name = tokens.take().text
        tokens.expect("{", "after the name")
        while not tokens.accept("}"):
            first = tokens.take()
            if first.kind != "word":
                raise tokens.error(f"expected a block or a property, got {first.shown}.", first)
            if first.text in self.blocks:
                self.blocks[first.text]()
            else:
                self.skip_property(first)
        if tokens.token.kind != "end":
            raise tokens.error(f"expected the end of the file, got {tokens.token.shown}.")
        return name

    def skip_property(self, name: Token) -> None:
        """Skip a property behind its name: ``= value;``."""
        self.tokens.expect("=", f"after {name.shown}")
        self.tokens.skip_statement()

    def node(self, token: Token) -> Node:
        """Return the node of this name."""
        if token.text not in self.nodes:
            raise self.tokens.error(
                f"{token.shown} is not a declared node (the nodes so far are "
                f"{list_labels(list(self.nodes)) or 'none'}).",
                token,
            )
        return self.nodes[token.text]

    def state_index(self, token: Token, node: Node) -> int:
        """Return the index of a state: an unquoted whole number is the index, else the name."""
        states = node.states or ()
        if token.kind == "word" and _INDEX.fullmatch(token.text):
            if int(token.text) >= len(states):
                raise self.tokens.error(
                    f"the index of a state of {node.name!r} must be in [0, {len(states) - 1}], got "
                    f"{token.text}: quote the text if it is the name of a state.",
                    token,
                )
            return int(token.text)
        index = self._state_indices[node.name].get(token.text) if token.is_name else None
        if index is None:
            raise self.tokens.error(
                f"{token.shown} is not a state of {node.name!r} ({list_labels(states)}).", token
            )
        return index

    def _parse_default(self) -> None:
        """Parse ``default node states = (...);`` and the like; ignore other defaults."""
        tokens = self.tokens
        if tokens.accept("node"):
            is_finite = self._parse_type() == _FINITE
            if tokens.accept("type-of-variable"):
                tokens.expect("=", "after 'type-of-variable'")
                self._default_type = self._take_type()
                tokens.expect(";", "after the type")
                return
            if is_finite and tokens.accept("states"):
                self._default_states = self._parse_states("the default")
                return
        tokens.skip_statement()

    def _parse_node(self) -> None:
        tokens = self.tokens
        name = tokens.name("the name of a node")
        if name.text in self.nodes:
            raise tokens.error(f"two nodes have the name {name.shown}: rename one of them.", name)
        is_finite = self._parse_type() == _FINITE
        states = self._default_states
        kind, n_states = "chance", None
        if not tokens.accept(";"):
            tokens.expect("{", f"or ';' after the node {name.shown}")
            while not tokens.accept("}"):
                entry = tokens.name("a property of the node")
                if entry.text == "states":
                    states = self._parse_states(name.shown)
                elif entry.text in ("num-states", "kind-of-node"):
                    tokens.expect("=", f"after {entry.shown}")
                    if entry.text == "kind-of-node":
                        kind = tokens.name("a kind of node").text
                    else:
                        n_states = tokens.number("a number of states")
                    tokens.expect(";", f"after {entry.shown}")
                else:
                    self.skip_property(entry)
        if is_finite and n_states not in (None, len(states)):
            raise tokens.error(
                f"num-states of {name.shown} must be the number of its states, {len(states)}, got "
                f"{n_states:g}.",
                name,
            )
        self.nodes[name.text] = Node(name.text, states if is_finite else None, kind, name.line)
        self._state_indices[name.text] = {state: index for index, state in enumerate(states)}

    def _parse_type(self) -> str:
        """Parse the type of a variable in parentheses, which may be omitted."""
        if not self.tokens.accept("("):
            return self._default_type
        found = self._take_type()
        self.tokens.expect(")", "after the type of the node")
        return found

    def _take_type(self) -> str:
        taken = self.tokens.accept(_FINITE, _CONTINUOUS)
        if taken is None:
            raise self.tokens.error(
                f"the type of a node must be {_FINITE} or {_CONTINUOUS}, got "
                f"{self.tokens.token.shown}."
            )
        return taken.text

    def _parse_states(self, subject: str) -> tuple[str, ...]:
        tokens = self.tokens
        tokens.expect("=", "after 'states'")
        tokens.expect("(", "before the states")
        found = tokens.names("a state", ")")
        tokens.expect(";", "after the states")
        if not found:
            raise tokens.error(f"the list of states of {subject} is empty.")
        labels: dict[str, None] = {}
        for token in found:
            if token.text in labels:
                raise tokens.error(f"state {token.shown} of {subject} is declared twice.", token)
            labels[token.text] = None
        return tuple(labels)


class _CaseFile(ElviraFile):
    """A case file: nodes, and one relation with the cases as lists in brackets."""

    def __init__(self, data: bytes, path: Path) -> None:
        super().__init__(data, path)
        self.rows = DeclaredRows(path, [], [], [])
        self.blocks["relation"] = self._parse_relation
        self.blocks["number-of-cases"] = self._parse_number
        self._n_cases: float | None = None
        self._has_cases = False
        self.parse("data-base")
        if not self._has_cases:
            raise self.tokens.error("the file has no cases: expected 'cases = ( ... );'.")
        if self._n_cases not in (None, len(self.rows.lines)):
            raise self.tokens.error(
                f"number-of-cases is {self._n_cases:g}, but the file has {len(self.rows.lines)} "
                "cases: correct the number, or complete the file."
            )

    def _parse_number(self) -> None:
        self.tokens.expect("=", "after 'number-of-cases'")
        self._n_cases = self.tokens.number("the number of cases")
        self.tokens.expect(";", "after the number of cases")

    def _parse_relation(self) -> None:
        tokens = self.tokens
        tokens.expect("{", "after 'relation'")
        while not tokens.accept("}"):
            entry = tokens.name("a property of the relation")
            if entry.text != "cases":
                self.skip_property(entry)
                continue
            if self._has_cases:
                raise tokens.error("the file has two lists of cases.", entry)
            self._has_cases = True
            self._parse_cases()

    def _parse_cases(self) -> None:
        tokens, nodes = self.tokens, list(self.nodes.values())
        if not nodes:
            raise tokens.error("the cases require at least one node before them.")
        self.rows.attributes.extend(
            Attribute(node.name, "real")
            if node.states is None
            else Attribute(node.name, "nominal", node.states)
            for node in nodes
        )
        tokens.expect("=", "after 'cases'")
        tokens.expect("(", "before the cases")
        while not tokens.accept(")"):
            opening = tokens.expect("[", "or ')' after a case")
            values = tokens.names("a value", "]")
            if len(values) != len(nodes):
                raise tokens.error(
                    f"the case has {len(values)} values for {len(nodes)} nodes.", opening
                )
            self.rows.texts.extend(map(self._value, values, nodes))
            self.rows.lines.append(opening.line)
            tokens.accept(",")
        tokens.expect(";", "after the cases")

    def _value(self, token: Token, node: Node) -> str | None:
        """Return the text of a value, None if it is missing."""
        if token.kind == "word" and token.text == "?":
            return None
        if node.states is None:
            return token.text
        return node.states[self.state_index(token, node)]
