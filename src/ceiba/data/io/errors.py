"""The error of a file that cannot be read, with the place in the file."""

from __future__ import annotations

from pathlib import Path


class ReadError(ValueError):
    """A file cannot be read; the message names the file and, where known, line and column.

    Examples
    --------
    >>> from ceiba.data.io.errors import ReadError
    >>> print(ReadError.at("wages.csv", "'old' is not a number.", line=17, column="age"))
    wages.csv, line 17, column 'age': 'old' is not a number.
    """

    @classmethod
    def at(
        cls,
        path: str | Path,
        problem: str,
        *,
        line: int | None = None,
        column: str | int | None = None,
    ) -> ReadError:
        """The error of one place; lines and columns count from 1, a column may have a name."""
        place = str(path)
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column!r}"
        return cls(f"{place}: {problem}")
