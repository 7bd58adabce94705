"""Network files of Elvira (``.elv``), which are read but not written.

A relation names the variable first, then its parents; the values of its table are in the order of
these axes, the last one varying fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.exchange.builder import NetworkBuilder, check_count
from ceiba.bayes.exchange.network import DiscreteNetwork
from ceiba.data.io.elvira import ElviraFile, Node
from ceiba.data.io.tokens import Token

_KINDS = ("potential", "conditional-prob")


def parse_elvira(data: bytes, path: Path) -> DiscreteNetwork:
    """Parse the UTF-8 bytes of a network file of Elvira."""
    return _NetworkFile(data, path).network()


class _NetworkFile(ElviraFile):
    """A network file: nodes, links, and relations with the probabilities."""

    def __init__(self, data: bytes, path: Path) -> None:
        super().__init__(data, path)
        self.builder = NetworkBuilder(path)
        self.blocks["node"] = self._parse_chance_node
        self.blocks["link"] = self._parse_link
        self.blocks["relation"] = self._parse_relation
        self._links: list[tuple[str, str, int]] = []
        self.builder.name = self.parse("bnet", "network")

    def network(self) -> DiscreteNetwork:
        """Return the network; raise ReadError for a link that is no arc of a relation."""
        for tail, head, line in self._links:
            if tail not in self.builder.parents.get(head, ()):
                raise self.builder.error(
                    f"there is a link from {tail!r} to {head!r}, but the relation of {head!r} does "
                    "not contain it.",
                    line,
                )
        return self.builder.network()

    def _parse_chance_node(self) -> None:
        self._parse_node()
        node = next(reversed(self.nodes.values()))
        if node.states is None or node.kind != "chance":
            shown = "continuous" if node.states is None else node.kind
            raise self.builder.error(
                f"node {node.name!r} is a {shown} node: only networks of finite-states chance "
                "nodes are supported.",
                node.line,
            )
        self.builder.add_variable(node.name, node.states, node.line)

    def _parse_link(self) -> None:
        tokens = self.tokens
        tail, head = (tokens.name("the name of a node") for _ in range(2))
        self._links.append((self.node(tail).name, self.node(head).name, tail.line))
        if tokens.accept(";"):
            return
        tokens.expect("{", "or ';' after the link")
        while not tokens.accept("}"):
            name = tokens.name("a property of the link")
            if name.text != "directed":
                self.skip_property(name)
                continue
            tokens.expect("=", "after 'directed'")
            tokens.expect("true", "after 'directed =' (links of networks have a direction)")
            tokens.expect(";", "after 'directed = true'")

    def _parse_relation(self) -> None:
        tokens = self.tokens
        names = []
        while tokens.token.is_name:
            names.append(tokens.name("the name of a node"))
            tokens.accept(",")
        if not names:
            raise tokens.error(f"expected the nodes of the relation, got {tokens.token.shown}.")
        nodes = [self.node(name) for name in names]
        table: Array | None = None
        if not tokens.accept(";"):
            tokens.expect("{", "after the nodes of the relation")
            while not tokens.accept("}"):
                entry = tokens.name("a property of the relation")
                if entry.text == "values":
                    table = self._parse_values(nodes, entry)
                elif entry.text == "kind-of-relation":
                    self._parse_kind()
                else:
                    self.skip_property(entry)
        if table is None:
            raise tokens.error(f"the relation of {nodes[0].name!r} has no values.", names[0])
        self.builder.set_table(nodes[0].name, np.moveaxis(table, 0, -1))

    def _parse_kind(self) -> None:
        tokens = self.tokens
        tokens.expect("=", "after 'kind-of-relation'")
        if not tokens.accept(*_KINDS):
            raise tokens.error(
                f"kind-of-relation must be {' or '.join(_KINDS)}, got {tokens.token.shown}."
            )
        tokens.expect(";", "after the kind of the relation")

    def _parse_values(self, nodes: Sequence[Node], entry: Token) -> Array:
        """Parse the values of a relation as an array with an axis for each node."""
        tokens = self.tokens
        child, *parents = [node.name for node in nodes]
        *sizes, size = self.builder.define(child, parents, entry.line)
        tokens.expect("=", "after 'values'")
        kind = tokens.accept("table", "tree")
        if kind is None:
            raise tokens.error(
                f"the values of {child!r} must be a table or a tree, got {tokens.token.shown}: "
                "other forms are not supported. Convert the relation to a table in Elvira."
            )
        tokens.expect("(", f"after {kind.text!r}")
        table = np.full((size, *sizes), np.nan)
        if kind.text == "tree":
            self._parse_tree(table, nodes, {})
        elif tokens.token.is_mark("[") or tokens.token.text == "default":
            self._parse_cells(table, nodes)
        else:
            values = []
            while tokens.token.is_name:
                values.append(tokens.number("a probability"))
                tokens.accept(",")
            check_count(
                self.builder, len(values), prod(table.shape), f"the table of {child!r}", entry.line
            )
            table = np.reshape(values, table.shape)
        tokens.expect(")", "after the values")
        tokens.expect(";", "after the values")
        return table

    def _parse_cells(self, table: Array, nodes: Sequence[Node]) -> None:
        """Parse ``[state, ...] = value`` for cells, and ``default = value`` for the others."""
        tokens = self.tokens
        default = np.nan
        while not tokens.token.is_mark(")"):
            if tokens.accept("default"):
                tokens.expect("=", "after 'default'")
                default = tokens.number("a probability")
            else:
                opening = tokens.expect("[", "or ')' in the table")
                states = tokens.names("a state", "]")
                if len(states) != len(nodes):
                    raise tokens.error(
                        f"a cell must have {len(nodes)} states, got {len(states)}.", opening
                    )
                index = tuple(map(self.state_index, states, nodes))
                tokens.expect("=", "after the states")
                table[index] = tokens.number("a probability")
            tokens.accept(",")
        table[np.isnan(table)] = default

    def _parse_tree(self, table: Array, nodes: Sequence[Node], fixed: dict[str, int]) -> None:
        """Parse a value, or ``case node { state = subtree ... }`` that splits it by a node.

        A node occurs once on a path, so that the depth is limited by the number of nodes.
        """
        tokens = self.tokens
        if not tokens.accept("case"):
            index = tuple(fixed.get(node.name, slice(None)) for node in nodes)
            table[index] = tokens.number("a probability or 'case'")
            tokens.expect(";", "after the probability")
            return
        name = tokens.name("the name of a node")
        node = self.node(name)
        if node not in nodes or node.name in fixed:
            raise tokens.error(
                f"{node.name!r} must be a node of the relation that the tree has not split by.",
                name,
            )
        tokens.expect("{", "after the node")
        while not tokens.accept("}"):
            state = self.state_index(tokens.name("a state"), node)
            tokens.expect("=", "after the state")
            self._parse_tree(table, nodes, {**fixed, node.name: state})
