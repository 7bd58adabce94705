"""Lines of the keys of a TOML text, for messages about values that `tomllib` has read.

The text must be valid: `tomllib` reads it first. A key is found by its path, with numbers for the
tables of an array and the elements of a list: ``("learner", 1, "max_depth")``.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*("(?:\\.|[^"\\])*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*(\.?)""")
# A text of several lines may end with up to two quotes before the closing three.
_TEXT = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")'
    r"|'''.*?'''(?!')"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


def key_lines(text: str) -> dict[Path, int]:
    """Return the line of every key, table and list element of a valid TOML text.

    Parameters
    ----------
    text : str

    Returns
    -------
    dict of tuple to int
        Lines count from 1.

    Examples
    --------
    >>> lines = key_lines('seed = 1\\n\\n[[learner]]\\nname = "tree"\\nmax_depth = 3\\n')
    >>> lines["seed",], lines["learner", 0, "max_depth"]
    (1, 5)
    """
    return _Scanner(text).lines


class _Scanner:
    """Walk over a TOML text, and note the line of each path."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._text, self._position = text, 0
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._last: dict[Path, int] = {}  # index of the last table of each array
        table: Path = ()
        while not self._at_end():
            if self._take("["):
                table = self._read_header()
            else:
                self._read_pair(table)

    def _at_end(self) -> bool:
        """Skip blanks and comments."""
        self._position = _BLANK.match(self._text, self._position).end()  # type: ignore[union-attr]
        return self._position >= len(self._text)

    def _take(self, mark: str) -> bool:
        found = self._text.startswith(mark, self._position)
        self._position += len(mark) * found
        return found

    def _note(self, path: Path) -> None:
        self.lines.setdefault(path, bisect_right(self._newlines, self._position) + 1)

    def _read_header(self) -> Path:
        """Read ``[table]`` or ``[[array]]``, and return the path of the table."""
        is_array = self._take("[")
        table: Path = ()
        keys = self._read_keys()
        for n_keys, key in enumerate(keys, 1):
            table = (*table, key)
            self._note(table)
            if is_array and n_keys == len(keys):
                self._last[table] = self._last.get(table, -1) + 1
            if table in self._last:
                table = (*table, self._last[table])
                self._note(table)
        self._position += 1 + is_array
        return table

    def _read_keys(self) -> list[str]:
        """Read a key, with dots or not."""
        keys: list[str] = []
        more = True
        while more:
            match = _KEY.match(self._text, self._position)
            assert match is not None, "the text is not valid TOML"
            raw = match[1]
            keys.append(tomllib.loads(f"key = {raw}")["key"] if raw[0] in "\"'" else raw)
            self._position, more = match.end(), bool(match[2])
        return keys

    def _read_pair(self, table: Path) -> None:
        """Read ``key = value``."""
        keys = self._read_keys()
        for n_keys in range(1, len(keys) + 1):
            self._note((*table, *keys[:n_keys]))
        self._take("=")
        self._read_value((*table, *keys))

    def _read_value(self, path: Path) -> None:
        self._at_end()
        text = _TEXT.match(self._text, self._position)
        if text is not None:
            self._position = text.end()
        elif self._take("["):
            index = 0
            while not self._at_end() and not self._take("]"):
                self._note((*path, index))
                self._read_value((*path, index))
                self._at_end()
                self._take(",")
                index += 1
        elif self._take("{"):
            while not self._at_end() and not self._take("}"):
                self._read_pair(path)
                self._at_end()
                self._take(",")
        else:
            scalar = _SCALAR.match(self._text, self._position)
            assert scalar is not None, "the text is not valid TOML"
            self._position = scalar.end()
