"""The words of a line of an ARFF file: bare or quoted, set apart by commas or blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
    r"""|(?P<mark>[,{}])|(?P<blank>\s+)|(?P<bare>[^\s,{}'"][^\s,{}]*)"""
)
_SPECIAL = re.compile(r"""['"{}%]""")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line, or one of the marks ``,``, ``{`` and ``}``, or a blank."""

    text: str
    kind: str = "bare"

    @property
    def gap(self) -> bool:
        """Whether it stands for a missing value."""
        return self.kind == "bare" and self.text == "?"

    def is_mark(self, mark: str) -> bool:
        """Whether it is this mark."""
        return self.kind == "mark" and self.text == mark


class BadWordsError(ValueError):
    """A line that does not fall into words."""


def plain_values(line: str) -> list[str] | None:
    """The values of a row without quotes, braces and comments; None for any other row."""
    if _SPECIAL.search(line):
        return None
    return [part.strip() for part in line.split(",")] if "," in line else line.split()


def words_of(line: str) -> list[Word]:
    """Words, marks and blanks of a line, up to a comment: ``%`` at the start or after a blank."""
    words: list[Word] = []
    for word in _tokens(line):
        follows = words[-1].kind if words else "blank"
        if word.kind == "bare" and word.text.startswith("%") and follows == "blank":
            break
        if "quoted" in (word.kind, follows) and {word.kind, follows} <= {"quoted", "bare"}:
            raise BadWordsError(f"a comma is missing before {word.text!r}.")
        words.append(word)
    return words


def _tokens(line: str) -> Iterator[Word]:
    place = 0
    while place < len(line):
        found = _TOKEN.match(line, place)
        if found is None:
            raise BadWordsError(
                f"the quote that opens at {line[place : place + 20]!r} is not closed."
            )
        kind = str(found.lastgroup)
        text = found[0]
        yield Word(_ESCAPE.sub(_unescape, text[1:-1]) if kind == "quoted" else text, kind)
        place = found.end()


def _unescape(found: re.Match[str]) -> str:
    letter = found[1]
    return chr(int(letter[1:], 16)) if len(letter) > 1 else _ESCAPES.get(letter, letter)


def values_of(words: Sequence[Word]) -> list[Word]:
    """The values between commas, or between blanks where there is no comma."""
    if not any(word.is_mark(",") for word in words):
        return [word for word in words if word.kind != "blank"]
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.is_mark(","):
            parts.append([])
        else:
            parts[-1].append(word)
    return [_join(part) for part in parts]


def _join(part: Sequence[Word]) -> Word:
    """One value: a quoted word, or bare words with the blanks between them."""
    inner = [word for word in part if word.kind != "blank"]
    if len(inner) == 1:
        return inner[0]
    if any(word.kind == "quoted" for word in inner):
        raise BadWordsError(f"a comma is missing after {inner[0].text!r}.")
    return Word("".join(word.text for word in part).strip())
