"""Errors of files that cannot be read, with their position in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
        """Make the error of one position; lines and columns count from 1."""
        position = str(path)
        if line is not None:
            position += f", line {line}"
        if column is not None:
            position += f", column {column!r}"
        return cls(f"{position}: {problem}")


class InvalidValueError(ValueError):
    """A text that its column cannot hold, by row within the block that was parsed."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(row, problem)
        self.row, self.problem = row, problem


@contextmanager
def error_position(path: Path, column: str, line_of: Callable[[int], int]) -> Iterator[None]:
    """Convert the errors of one column to ReadError; ``line_of`` returns the line of a row."""
    try:
        yield
    except ReadError:
        raise
    except InvalidValueError as error:
        raise ReadError.at(path, error.problem, line=line_of(error.row), column=column) from None
    except ValueError as error:
        raise ReadError.at(path, str(error)) from None
