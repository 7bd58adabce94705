"""The attributes that the head of an ARFF file declares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ceiba.data.arff_words import BadWordsError, Word, values_of, words_of

Type = Literal["numeric", "real", "nominal", "string", "date"]

_NUMERIC: dict[str, Type] = {"numeric": "numeric", "integer": "numeric", "real": "real"}
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


@dataclass(frozen=True, slots=True)
class Attribute:
    """A declared attribute: its type, its levels if nominal, its format if a date."""

    name: str
    type: Type
    levels: tuple[str, ...] = ()
    format: str = ""


def parse_attribute(line: str) -> Attribute:
    """The attribute of an ``@attribute`` line."""
    words = words_of(line)[1:]
    while words and words[0].kind == "blank":
        words = words[1:]
    if not words or words[0].kind == "mark":
        raise BadWordsError("the attribute has no name.")
    name = words[0].text
    rest = [word for word in words[1:] if word.kind != "blank"]
    if not rest:
        raise BadWordsError(f"the attribute {name!r} has no type.")
    if rest[0].is_mark("{"):
        return Attribute(name, "nominal", _parse_levels(words[1:], name))
    return _plain_attribute(name, rest)


def _plain_attribute(name: str, rest: list[Word]) -> Attribute:
    word = rest[0].text.lower()
    if word == "date" and len(rest) <= 2:
        return Attribute(name, "date", format=date_format(rest[1].text if rest[1:] else _ISO))
    if len(rest) > 1:
        raise BadWordsError(f"{rest[1].text!r} follows the type of {name!r}; quote long names.")
    if word in _NUMERIC:
        return Attribute(name, _NUMERIC[word])
    if word == "string":
        return Attribute(name, "string")
    if word == "relational":
        raise BadWordsError(
            f"the attribute {name!r} is relational, a table in every row. Write its columns out as "
            "attributes of their own."
        )
    raise BadWordsError(
        f"the attribute {name!r} has the unknown type {rest[0].text!r}: numeric, real, integer, "
        "string, date or a list of levels in braces."
    )


def _parse_levels(words: list[Word], name: str) -> tuple[str, ...]:
    inner = [word for word in words if not word.is_mark("{")]
    closing = next((place for place, word in enumerate(inner) if word.is_mark("}")), None)
    if closing is None:
        raise BadWordsError(f"the levels of {name!r} lack the closing brace.")
    if any(word.kind != "blank" for word in inner[closing + 1 :]):
        raise BadWordsError(f"something follows the levels of {name!r}.")
    values = values_of(inner[:closing])
    if any(not word.text and word.kind != "quoted" for word in values):
        raise BadWordsError(f"a level of {name!r} is empty: write '' for an empty text.")
    levels = tuple(word.text for word in values)
    if len(set(levels)) < len(levels):
        twice = next(level for place, level in enumerate(levels) if level in levels[:place])
        raise BadWordsError(f"the level {twice!r} of {name!r} is declared twice.")
    return levels


def date_format(pattern: str) -> str:
    """The strptime format of a date pattern, ``yyyy-MM-dd`` for example."""
    formatted = ""
    for found in re.finditer(r"'(?P<text>[^']*)'|(?P<letter>[A-Za-z])(?P=letter)*|.", pattern):
        if not found["letter"]:
            formatted += (found[0] if found["text"] is None else found["text"]).replace("%", "%%")
        elif found[0] in _DATE_PARTS:
            formatted += _DATE_PARTS[found[0]]
        else:
            raise BadWordsError(f"the date format {pattern!r} is not understood at {found[0]!r}.")
    return formatted
