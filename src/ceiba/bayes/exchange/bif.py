"""BIF files: the Interchange Format for Bayesian Networks, version 0.15.

The order of values, as JavaBayes defined it: ``table`` lists a value of the variable for all
combinations of the parents' states (the last parent varies fastest), then the next value. An entry
``(states of the parents) probabilities`` is one conditional distribution; ``default`` is that of
the combinations without an entry.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.exchange.builder import NetworkBuilder, check_count
from ceiba.bayes.exchange.network import DiscreteNetwork
from ceiba.data.categories import list_labels
from ceiba.data.io.tokens import Token, TokenStream, token_pattern

_PATTERN = token_pattern("{}()[];,|")
_KEYWORDS = {
    "network",
    "variable",
    "probability",
    "property",
    "type",
    "discrete",
    "table",
    "default",
}
_BARE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


@dataclass(eq=False)
class _Definition:
    """A probability block; ``entries`` are the states of the parents, with their values."""

    child: Token
    parents: list[Token]
    table: list[float] | None = None
    default: list[float] | None = None
    entries: list[tuple[list[Token], list[float]]] = field(default_factory=list)


def parse_bif(data: bytes, path: Path) -> DiscreteNetwork:
    """Parse the UTF-8 bytes of a BIF file."""
    tokens = TokenStream(data, path, _PATTERN)
    builder = NetworkBuilder(path)
    definitions: list[_Definition] = []
    has_name = False
    while tokens.token.kind != "end":
        keyword = tokens.accept("network", "variable", "probability")
        if keyword is None:
            raise tokens.error(
                f"expected 'network', 'variable' or 'probability', got {tokens.token.shown}."
            )
        if keyword.text == "variable":
            _parse_variable(tokens, builder)
        elif keyword.text == "probability":
            definitions.append(_parse_probability(tokens))
        elif has_name:
            raise tokens.error("the file has two networks: write each to a file.", keyword)
        else:
            has_name = True
            builder.name = _parse_network(tokens)
    # Only now, since a probability block may precede the blocks of its variables.
    for definition in definitions:
        _add_table(builder, definition)
    return builder.network()


def _parse_network(tokens: TokenStream) -> str:
    """Parse the network block; return the name, which may be omitted."""
    name = tokens.take().text if tokens.token.is_name else ""
    tokens.expect("{", "after 'network'")
    while not tokens.accept("}"):
        tokens.expect("property", "or '}' in the network block")
        tokens.skip_statement()
    return name


def _parse_variable(tokens: TokenStream, builder: NetworkBuilder) -> None:
    name = tokens.name("the name of a variable")
    states: list[Token] | None = None
    tokens.expect("{", f"after the variable {name.shown}")
    while not tokens.accept("}"):
        if tokens.accept("property"):
            tokens.skip_statement()
            continue
        tokens.expect("type", f"or 'property' in variable {name.shown}")
        if states is not None:
            raise tokens.error(f"variable {name.shown} has two types.")
        tokens.expect("discrete", "after 'type' (other types are not supported)")
        tokens.expect("[", "after 'discrete'")
        n_states = tokens.number("the number of states")
        tokens.expect("]", "after the number of states")
        tokens.expect("{", "before the states")
        states = tokens.names("a state", "}")
        tokens.expect(";", "after the states")
        if n_states != len(states):
            raise tokens.error(
                f"variable {name.shown} declares {n_states:g} states, but lists {len(states)}.",
                name,
            )
    builder.add_variable(name.text, [state.text for state in states or ()], name.line)


def _parse_probability(tokens: TokenStream) -> _Definition:
    tokens.expect("(", "after 'probability'")
    child = tokens.name("the name of a variable")
    # Both separators may be omitted: the first name is the variable, the others are its parents.
    tokens.accept("|", ",")
    definition = _Definition(child, tokens.names("the name of a parent", ")"))
    tokens.expect("{", "after the variables")
    while not tokens.accept("}"):
        if tokens.accept("property"):
            tokens.skip_statement()
        elif tokens.accept("("):
            states = tokens.names("the state of a parent", ")")
            definition.entries.append((states, _parse_values(tokens)))
        else:
            keyword = tokens.accept("table", "default")
            if keyword is None:
                raise tokens.error(
                    "expected 'table', 'default', 'property' or the states of the parents in "
                    f"parentheses, got {tokens.token.shown}."
                )
            if getattr(definition, keyword.text) is not None:
                raise tokens.error(f"{keyword.text!r} of {child.shown} is given twice.", keyword)
            setattr(definition, keyword.text, _parse_values(tokens))
    return definition


def _parse_values(tokens: TokenStream) -> list[float]:
    values = []
    while not tokens.accept(";"):
        values.append(tokens.number("a probability or ';'"))
        tokens.accept(",")
    return values


def _add_table(builder: NetworkBuilder, definition: _Definition) -> None:
    child, line = definition.child.text, definition.child.line
    shape = builder.define(child, [parent.text for parent in definition.parents], line)
    table = np.full(shape, np.nan)
    if definition.table is not None:
        subject = f"the table of {child!r}"
        check_count(builder, len(definition.table), prod(shape), subject, line)
        table[...] = np.moveaxis(np.reshape(definition.table, (shape[-1], *shape[:-1])), 0, -1)
    if definition.default is not None:
        check_count(builder, len(definition.default), shape[-1], f"the default of {child!r}", line)
        table[np.isnan(table).any(axis=-1)] = definition.default
    _add_entries(builder, definition, table)
    builder.set_table(child, table)


def _add_entries(builder: NetworkBuilder, definition: _Definition, table: Array) -> None:
    parents = builder.parents[definition.child.text]
    codes = [{state: code for code, state in enumerate(builder.states[name])} for name in parents]
    done = np.zeros(table.shape[:-1], dtype=bool)
    for states, values in definition.entries:
        line = states[0].line if states else definition.child.line
        if len(states) != len(parents):
            raise builder.error(
                f"an entry of {definition.child.text!r} must name a state of each of the "
                f"{len(parents)} parents, got {len(states)}.",
                line,
            )
        for token, name, known in zip(states, parents, codes, strict=True):
            if token.text not in known:
                listed = list_labels(builder.states[name])
                raise builder.error(f"{token.shown} is not a state of {name!r} ({listed}).", line)
        index = tuple(known[token.text] for token, known in zip(states, codes, strict=True))
        shown = ", ".join(token.text for token in states)
        if done[index]:
            raise builder.error(f"the entry ({shown}) is given twice.", line)
        check_count(builder, len(values), table.shape[-1], f"the entry ({shown})", line)
        table[index], done[index] = values, True


def format_bif(network: DiscreteNetwork) -> bytes:
    """Write a network as the bytes of a BIF file; raise ValueError for a name it cannot hold."""
    lines = [f"network {_quote(network.name)} {{", "}"]
    names = [_quote(name) for name in network.variables]
    labels = [[_quote(label) for label in states] for states in network.states]
    for name, states in zip(names, labels, strict=True):
        listed = ", ".join(states)
        lines += [f"variable {name} {{", f"  type discrete [ {len(states)} ] {{ {listed} }};", "}"]
    for name, parents, table in zip(names, network.parents, network.tables, strict=True):
        if not parents:
            lines += [f"probability ( {name} ) {{", f"  table {_values(table)};", "}"]
            continue
        lines.append(f"probability ( {name} | {', '.join(names[p] for p in parents)} ) {{")
        rows = table.reshape(-1, table.shape[-1])
        for given, row in zip(product(*(labels[p] for p in parents)), rows, strict=True):
            lines.append(f"  ({', '.join(given)}) {_values(row)};")
        lines.append("}")
    return ("\n".join(lines) + "\n").encode()


def _values(row: Array) -> str:
    return ", ".join(map(repr, row.tolist()))


def _quote(text: str) -> str:
    """Return a name as a word where other programs read it so, else in quotes."""
    if _BARE.fullmatch(text) and text not in _KEYWORDS:
        return text
    if '"' in text or not text.isprintable():
        raise ValueError(
            f"BIF has no spelling for the name {text!r}: it must not contain '\"' or control "
            "characters. Rename it, or write XMLBIF."
        )
    return f'"{text}"'
