"""Tokens of files that consist of blocks in braces: network files (BIF, Elvira) and case files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ceiba.data.io.errors import ReadError
from ceiba.data.io.files import BOM, check_utf8

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SHOWN = 40  # characters of a token in a message


class Token(NamedTuple):
    """A text of kind ``"word"``, ``"quoted"`` (without its quotes), ``"mark"`` or ``"end"``."""

    kind: str
    text: str
    line: int

    def is_mark(self, text: str) -> bool:
        """Whether the token is this mark."""
        return self.kind == "mark" and self.text == text

    @property
    def is_name(self) -> bool:
        """Whether the token may be a name: a word or a quoted text."""
        return self.kind in ("word", "quoted")

    @property
    def shown(self) -> str:
        """The token as an error message shows it."""
        if self.kind == "end":
            return "the end of the file"
        return repr(self.text[:_SHOWN] + ("..." if len(self.text) > _SHOWN else ""))


def token_pattern(marks: str, word: str = "") -> re.Pattern[str]:
    """Compile the pattern of tokens with these characters as marks.

    A word is a run of other characters; it ends before a comment (``//`` or ``/*``). ``word`` is a
    pattern of words that contain marks, which is tried first.
    """
    marked = re.escape(marks)
    word = rf"{word}|" if word else ""
    return re.compile(
        rf'\s*(?:(?P<word>{word}(?:[^\s"/{marked}]+|/(?![/*]))+)|(?P<mark>[{marked}])'
        rf'|(?P<quoted>"[^"]*")|(?P<comment>//[^\n]*|/\*(?s:.*?)\*/)|(?P<end>\Z))'
    )


def parse_number(text: str) -> float | None:
    """Parse a finite decimal number that is not negative; None for other texts."""
    value = float(text) if _NUMBER.fullmatch(text) else -1.0
    return value if 0 <= value < float("inf") else None


class TokenStream:
    """The tokens of a UTF-8 file one after the other, without blanks and comments.

    Tokens are found as they are needed, so that a large file takes no memory but its text.
    """

    def __init__(self, data: bytes, path: Path, pattern: re.Pattern[str]) -> None:
        data = data.removeprefix(BOM)
        check_utf8(data, path)
        self.path = path
        self._text = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        self._pattern = pattern
        self._position, self._line = 0, 1
        self.token = self._find()

    def _find(self) -> Token:
        """Return the token at the current position, and move behind it."""
        text = self._text
        while True:
            found = self._pattern.match(text, self._position)
            if found is None:
                rest = text[self._position :].lstrip()
                line = text.count("\n", 0, len(text) - len(rest)) + 1
                opened = "comment" if rest.startswith("/*") else "quote"
                raise ReadError.at(self.path, f"the {opened} is not closed.", line=line)
            kind = str(found.lastgroup)
            start, end = found.span(kind)
            line = self._line + text.count("\n", self._position, start)
            self._line = line + text.count("\n", start, end)
            self._position = end
            if kind != "comment":
                return Token(
                    kind, text[start + 1 : end - 1] if kind == "quoted" else found[kind], line
                )

    def error(self, problem: str, token: Token | None = None) -> ReadError:
        """Make the error of a token, the current one by default."""
        return ReadError.at(self.path, problem, line=(token or self.token).line)

    def take(self) -> Token:
        """Return the current token and move to the next one."""
        token = self.token
        self.token = self._find()
        return token

    def accept(self, *texts: str) -> Token | None:
        """Take the current token if it is one of these words or marks."""
        if self.token.kind in ("word", "mark") and self.token.text in texts:
            return self.take()
        return None

    def expect(self, text: str, where: str) -> Token:
        """Take a word or mark; raise ReadError if another token is there."""
        taken = self.accept(text)
        if taken is None:
            raise self.error(f"expected {text!r} {where}, got {self.token.shown}.")
        return taken

    def name(self, subject: str) -> Token:
        """Take a word or a quoted text."""
        if not self.token.is_name or not self.token.text:
            raise self.error(f"expected {subject}, got {self.token.shown}.")
        return self.take()

    def names(self, subject: str, closing: str) -> list[Token]:
        """Take names up to the mark ``closing``, with or without commas between them."""
        found = []
        while not self.accept(closing):
            found.append(self.name(f"{subject} or {closing!r}"))
            self.accept(",")
        return found

    def number(self, subject: str) -> float:
        """Take a number that is not negative."""
        value = parse_number(self.token.text) if self.token.kind == "word" else None
        if value is None:
            raise self.error(f"expected {subject}, got {self.token.shown}.")
        self.take()
        return value

    def skip_statement(self) -> None:
        """Skip the tokens up to the next semicolon, and the semicolon."""
        first = self.token
        while not self.accept(";"):
            if self.token.kind == "end" or self.token.is_mark("}"):
                raise self.error(f"the statement that begins with {first.shown} has no ';'.", first)
            self.take()
