"""ARFF files (the format of Weka), with dense and sparse rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ceiba.data.io.declared import Attribute, DeclaredRows
from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import BOM, check_utf8
from ceiba.data.table import Table

_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<mark>[,{}])|(?P<blank>\s+)|(?P<bare>[^\s,{}'"][^\s,{}]*)"""
)
_SPECIAL = re.compile(r"""['"{}%]""")
_MARKS = (",", "{", "}")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_ISO = "yyyy-MM-dd'T'HH:mm:ss"
_DATE_PARTS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": "%f",
}


def read_arff(
    data: bytes,
    path: Path,
    columns: Sequence[str] | None,
    kinds: Mapping[str, str | Sequence[Any]] | None,
) -> Table:
    """Parse the UTF-8 bytes of an ARFF file as a table.

    References
    ----------
    I. H. Witten, E. Frank, M. A. Hall and C. J. Pal (2017), Data Mining, 4th edition, appendix on
    the Weka workbench: the attribute-relation file format.
    """
    return _parse(data.removeprefix(BOM), path).table(columns, kinds)


class ArffSyntaxError(ValueError):
    """A line that is not valid ARFF."""


@dataclass(frozen=True, slots=True)
class Token:
    """A text of kind ``"bare"``, ``"quoted"`` or ``"blank"``; a mark is its own kind."""

    text: str
    kind: str = "bare"

    @property
    def value(self) -> str | None:
        """The text, None where it stands for a missing value."""
        return None if self.kind == "bare" and self.text == "?" else self.text


def _parse(data: bytes, path: Path) -> DeclaredRows:
    check_utf8(data, path)
    if not data.strip():
        raise ReadError.at(path, "the file is empty.")
    lines = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    content = DeclaredRows(path, [], [], [])
    in_rows = False
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            continue
        try:
            if in_rows:
                row = parse_row(line, content.attributes)
                content.texts.extend(row)
                content.lines.extend([number] * bool(row))
            else:
                in_rows = _parse_declaration(line, content.attributes)
        except ArffSyntaxError as error:
            raise ReadError.at(path, str(error), line=number) from None
    if not in_rows:
        raise ReadError.at(path, "the file has no @data line.", line=len(lines))
    return content


def _parse_declaration(line: str, attributes: list[Attribute]) -> bool:
    """Parse a line of the head into ``attributes``; return whether it is the @data line."""
    keyword = line.split(maxsplit=1)[0].lower()
    if keyword == "@data":
        _check_attributes(attributes)
        return True
    if keyword == "@attribute":
        attributes.append(parse_attribute(line))
    elif keyword != "@relation" and not keyword.startswith("%"):
        raise ArffSyntaxError(
            f"expected @relation, @attribute, @data or a % comment, got {line.strip()[:40]!r}."
        )
    return False


def _check_attributes(attributes: Sequence[Attribute]) -> None:
    if not attributes:
        raise ArffSyntaxError("@data requires at least one @attribute before it.")
    names = [attribute.name for attribute in attributes]
    for index, name in enumerate(names):
        if not name:
            raise ArffSyntaxError(f"attribute {index + 1} has an empty name.")
        if name in names[:index]:
            raise ArffSyntaxError(f"two attributes have the name {name!r}: rename one of them.")


def parse_attribute(line: str) -> Attribute:
    """Parse an ``@attribute`` line."""
    line = line.strip()
    tokens = [token for token in tokenize(line)[1:] if token.kind != "blank"]
    if not tokens or tokens[0].kind in _MARKS:
        raise ArffSyntaxError("the attribute has no name.")
    name, rest = tokens[0].text, tokens[1:]
    if not rest:
        raise ArffSyntaxError(f"attribute {name!r} has no type.")
    if rest[0].kind == "{":
        # With the blanks: a bare category may contain some.
        return Attribute(name, "nominal", _parse_categories(tokenize(line), name))
    keyword = rest[0].text.lower()
    if keyword == "date" and len(rest) <= 2:
        return Attribute(name, "date", format=date_format(rest[1].text if rest[1:] else _ISO))
    if len(rest) > 1:
        raise ArffSyntaxError(
            f"unexpected {rest[1].text!r} after the type of {name!r}: quote names with blanks."
        )
    if keyword in ("numeric", "integer", "real", "string"):
        return Attribute(name, "numeric" if keyword == "integer" else keyword)
    if keyword == "relational":
        raise ArffSyntaxError(
            f"attribute {name!r} is relational, which is not supported: write its columns as "
            "attributes of their own."
        )
    raise ArffSyntaxError(
        f"the type of attribute {name!r} must be numeric, real, integer, string, date or a list of "
        f"categories in braces, got {rest[0].text!r}."
    )


def _parse_categories(tokens: Sequence[Token], name: str) -> tuple[str, ...]:
    opening = next(index for index, token in enumerate(tokens) if token.kind == "{")
    inner = [token for token in tokens[opening:] if token.kind != "{"]
    values = split_values(_inside_braces(inner, f"the categories of {name!r}"))
    if any(not token.text and token.kind != "quoted" for token in values):
        raise ArffSyntaxError(f"a category of {name!r} is empty: write '' for an empty text.")
    categories = tuple(token.text for token in values)
    for index, category in enumerate(categories):
        if category in categories[:index]:
            raise ArffSyntaxError(f"category {category!r} of {name!r} is declared twice.")
    return categories


def _inside_braces(tokens: Sequence[Token], subject: str) -> Sequence[Token]:
    """Return the tokens before the closing brace, which must be the last one."""
    closing = next((index for index, token in enumerate(tokens) if token.kind == "}"), None)
    if closing is None:
        raise ArffSyntaxError(f"the closing brace of {subject} is absent.")
    if any(token.kind != "blank" for token in tokens[closing + 1 :]):
        raise ArffSyntaxError(f"unexpected text after {subject}.")
    return tokens[:closing]


def date_format(pattern: str) -> str:
    """Translate a date pattern such as ``yyyy-MM-dd`` to a strptime format."""
    formatted = ""
    for found in re.finditer(r"'(?P<text>[^']*)'|(?P<letter>[A-Za-z])(?P=letter)*|.", pattern):
        if not found["letter"]:
            formatted += (found[0] if found["text"] is None else found["text"]).replace("%", "%%")
        elif found[0] in _DATE_PARTS:
            formatted += _DATE_PARTS[found[0]]
        else:
            raise ArffSyntaxError(f"unsupported part {found[0]!r} of the date format {pattern!r}.")
    return formatted


def parse_row(line: str, attributes: Sequence[Attribute]) -> list[str | None]:
    """Parse a row, None for a missing value; an empty list for a comment."""
    if not _SPECIAL.search(line):
        texts = [part.strip() for part in line.split(",")] if "," in line else line.split()
        if len(texts) == len(attributes) and all(texts):  # the usual case: no tokens needed
            return [None if text == "?" else text for text in texts]
        return _dense_row([Token(text) for text in texts], attributes)
    tokens = tokenize(line.lstrip())
    if not tokens:
        return []
    is_sparse = tokens[0].kind == "{"
    if any(token.kind == "{" for token in tokens[is_sparse:]):
        raise ArffSyntaxError(
            "instance weights in braces are not supported: write the weight as an attribute of its "
            "own."
        )
    if is_sparse:
        return _sparse_row(_inside_braces(tokens[1:], "the sparse row"), attributes)
    if any(token.kind == "}" for token in tokens):
        raise ArffSyntaxError("unexpected closing brace: quote it if it is text.")
    return _dense_row(split_values(tokens), attributes)


def _dense_row(values: Sequence[Token], attributes: Sequence[Attribute]) -> list[str | None]:
    if len(values) != len(attributes):
        problem = f"the row has {len(values)} values for {len(attributes)} attributes"
        if len(values) < len(attributes):
            problem += f": {attributes[len(values)].name!r} is absent"
        raise ArffSyntaxError(f"{problem}.")
    for attribute, value in zip(attributes, values, strict=True):
        if not value.text and value.kind != "quoted":
            raise ArffSyntaxError(
                f"the value of {attribute.name!r} is empty: write ? for a missing value, '' for an "
                "empty text."
            )
    return [value.value for value in values]


def _sparse_row(tokens: Sequence[Token], attributes: Sequence[Attribute]) -> list[str | None]:
    given: dict[int, Token] = {}
    for pair in _split_at_commas(tokens):
        pair = [token for token in pair if token.kind != "blank"]
        if len(pair) != 2 or not (pair[0].text.isascii() and pair[0].text.isdigit()):
            shown = " ".join(token.text for token in pair)
            raise ArffSyntaxError(
                f"a sparse row must contain pairs of index and value, got {shown!r}."
            )
        index = int(pair[0].text)
        if index >= len(attributes):
            raise ArffSyntaxError(
                f"the index of a sparse row must be in [0, {len(attributes) - 1}], got {index}."
            )
        if index in given:
            raise ArffSyntaxError(f"the sparse row has two values for attribute {index}.")
        given[index] = pair[1]
    return [
        given[index].value if index in given else _sparse_default(attribute)
        for index, attribute in enumerate(attributes)
    ]


def _sparse_default(attribute: Attribute) -> str:
    """Return the value of an attribute that a sparse row omits: zero or the first category."""
    if attribute.type in ("numeric", "real"):
        return "0"
    if attribute.type == "nominal" and attribute.categories:
        return attribute.categories[0]
    raise ArffSyntaxError(
        f"the sparse row omits {attribute.name!r}, but a {attribute.type} attribute has no zero: "
        "write its value."
    )


def tokenize(line: str) -> list[Token]:
    """Split a line into tokens, up to a comment: ``%`` at the start or after a blank."""
    tokens: list[Token] = []
    position = 0
    while position < len(line):
        found = _TOKEN.match(line, position)
        if found is None:
            shown = line[position : position + 20]
            raise ArffSyntaxError(f"the quote that opens at {shown!r} is not closed.")
        position = found.end()
        kind, text = str(found.lastgroup), found[0]
        before = tokens[-1].kind if tokens else "blank"
        if kind == "bare" and text.startswith("%") and before == "blank":
            break
        if kind == "quoted":
            text = _ESCAPE.sub(_unescape, text[1:-1])
        if "quoted" in (kind, before) and {kind, before} <= {"quoted", "bare"}:
            raise ArffSyntaxError(f"expected a comma before {text!r}.")
        tokens.append(Token(text, text if kind == "mark" else kind))
    return tokens


def _unescape(found: re.Match[str]) -> str:
    letter = found[1]
    return chr(int(letter[1:], 16)) if len(letter) > 1 else _ESCAPES.get(letter, letter)


def split_values(tokens: Sequence[Token]) -> list[Token]:
    """Return the values between commas, or between blanks where there is no comma."""
    if not any(token.kind == "," for token in tokens):
        return [token for token in tokens if token.kind != "blank"]
    return [_join(part) for part in _split_at_commas(tokens)]


def _split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if any(token.kind != "blank" for token in tokens) else []


def _join(part: Sequence[Token]) -> Token:
    """Join the tokens of one value: a quoted text, or bare texts with the blanks between them."""
    inner = [token for token in part if token.kind != "blank"]
    if len(inner) == 1:
        return inner[0]
    if any(token.kind == "quoted" for token in inner):
        raise ArffSyntaxError(f"expected a comma after {inner[0].text!r}.")
    return Token("".join(token.text for token in part).strip())
