"""XMLBIF files, version 0.3, as JavaBayes, Weka and others read and write them.

The order of values: TABLE lists the distributions of the variable (FOR) one after the other, for
all combinations of the parents' states; of the parents (GIVEN) the last one varies fastest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from ceiba.bayes.exchange.builder import NetworkBuilder, check_count
from ceiba.bayes.exchange.network import DiscreteNetwork
from ceiba.data.io.errors import ReadError
from ceiba.data.io.tokens import parse_number

_MAX_DEPTH = 50  # elements; those that the format defines have depth 4
_TEXTS = {"NAME", "OUTCOME", "FOR", "GIVEN", "TABLE"}
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def parse_xmlbif(data: bytes, path: Path) -> DiscreteNetwork:
    """Parse the bytes of an XMLBIF file."""
    if not data.strip():
        raise ReadError.at(path, "the file is empty.")
    parser = _Parser(path)
    parser.parse(data)
    builder = NetworkBuilder(path, parser.name)
    for element in parser.variables:
        name = element.only("NAME", path)
        builder.add_variable(name, element.texts.get("OUTCOME", []), element.line)
    for element in parser.definitions:
        _add_table(builder, element)
    return builder.network()


@dataclass(eq=False)
class _Element:
    """A VARIABLE or DEFINITION: the texts of its children by tag."""

    tag: str
    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)

    def only(self, tag: str, path: Path) -> str:
        """Return the text of the child of this tag, which must be one."""
        found = self.texts.get(tag, [])
        if len(found) != 1:
            problem = f"{self.tag} must have one {tag}, got {len(found)}."
            raise ReadError.at(path, problem, line=self.line)
        return found[0]


def _add_table(builder: NetworkBuilder, element: _Element) -> None:
    child, line = element.only("FOR", builder.path), element.line
    shape = builder.define(child, element.texts.get("GIVEN", []), line)
    texts = element.only("TABLE", builder.path).split()
    check_count(builder, len(texts), prod(shape), f"the table of {child!r}", line)
    values = []
    for text in texts:
        value = parse_number(text)
        if value is None:
            raise builder.error(f"expected a probability of {child!r}, got {text[:40]!r}.", line)
        values.append(value)
    builder.set_table(child, np.reshape(values, shape))


class _Parser:
    """Collects the elements of the file.

    The document type may be declared inside the file. Entities may not: a few lines of them stand
    for any amount of text, or for other files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = ""
        self.variables: list[_Element] = []
        self.definitions: list[_Element] = []
        self._open: list[str] = []
        self._element: _Element | None = None
        self._pieces: list[str] = []
        self._n_networks = 0
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.EntityDeclHandler = self._entity
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._pieces.append

    def parse(self, data: bytes) -> None:
        """Parse the whole file; raise ReadError if it is not valid."""
        try:
            self._expat.Parse(data, True)
        except ReadError:
            raise
        except expat.ExpatError as error:
            problem = f"the file is not valid XML: {expat.errors.messages[error.code]}."
            raise ReadError.at(self.path, problem, line=error.lineno) from None
        except (ValueError, LookupError) as error:
            raise ReadError.at(self.path, f"the encoding is not supported: {error}.") from None
        if not self._n_networks:
            raise ReadError.at(self.path, "the file has no NETWORK element.")

    def _error(self, problem: str) -> ReadError:
        return ReadError.at(self.path, problem, line=self._expat.CurrentLineNumber)

    def _entity(self, name: str, *declaration: object) -> None:
        raise self._error(f"entity {name[:40]!r} is declared, which is not supported.")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._pieces.clear()
        self._open.append(tag)
        depth = len(self._open)
        if depth > _MAX_DEPTH:
            raise self._error(f"the elements are nested more than {_MAX_DEPTH} deep.")
        if (depth == 1) != (tag == "BIF"):
            raise self._error(f"the outermost element must be BIF, got {tag[:40]!r}.")
        if tag == "NETWORK":
            self._n_networks += 1
            if self._n_networks > 1:
                raise self._error("the file has two networks: write each to a file.")
        if self._open == ["BIF", "NETWORK", tag] and tag in ("VARIABLE", "DEFINITION"):
            kind = attributes.get("TYPE", "nature")
            if tag == "VARIABLE" and kind != "nature":
                raise self._error(f"TYPE of a VARIABLE must be nature, got {kind[:40]!r}.")
            self._element = _Element(tag, self._expat.CurrentLineNumber)

    def _end(self, tag: str) -> None:
        text = "".join(self._pieces).strip()
        self._pieces.clear()
        self._open.pop()
        depth = len(self._open)
        if depth == 2 and self._element is not None:
            found = self.variables if tag == "VARIABLE" else self.definitions
            found.append(self._element)
            self._element = None
        elif depth == 2 and tag == "NAME" and self._open[1] == "NETWORK":
            self.name = text
        elif depth == 3 and self._element is not None and tag in _TEXTS:
            self._element.texts.setdefault(tag, []).append(text)


def format_xmlbif(network: DiscreteNetwork) -> bytes:
    """Write a network as the bytes of an XMLBIF file; raise ValueError for an invalid name."""
    # Without the document type declaration, which pyAgrum does not read.
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines.append(_element("NAME", network.name))
    for name, states in zip(network.variables, network.states, strict=True):
        lines += ['<VARIABLE TYPE="nature">', _element("NAME", name)]
        lines += [*(_element("OUTCOME", state) for state in states), "</VARIABLE>"]
    names = network.variables
    for name, parents, table in zip(names, network.parents, network.tables, strict=True):
        lines += ["<DEFINITION>", _element("FOR", name)]
        lines += [*(_element("GIVEN", names[parent]) for parent in parents), "  <TABLE>"]
        rows = table.reshape(-1, table.shape[-1]).tolist()
        lines += [f"    {' '.join(map(repr, row))}" for row in rows]
        lines += ["  </TABLE>", "</DEFINITION>"]
    lines += ["</NETWORK>", "</BIF>"]
    return ("\n".join(lines) + "\n").encode()


def _element(tag: str, text: str) -> str:
    if text != text.strip() or _INVALID.search(text) or not set("\t\n\r").isdisjoint(text):
        raise ValueError(
            f"XMLBIF has no spelling for the name {text!r}: it must not begin or end with a blank "
            "or contain control characters. Rename it."
        )
    return f"  <{tag}>{escape(text)}</{tag}>"
