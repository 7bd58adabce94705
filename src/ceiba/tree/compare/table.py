"""Tables of named rows that print as aligned text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False, repr=False)
class NamedRows:
    """Rows with names, by which they are found."""

    rows: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __getitem__(self, name: Any) -> Any:
        for row in self.rows:
            if row.name == name:
                return row
        names = ", ".join(repr(row.name) for row in self.rows)
        raise KeyError(f"no row has the name {name!r}; the names are {names}")

    def __repr__(self) -> str:
        return str(self)


def align_columns(lines: list[list[str]], separator: str = "  ", right: bool = False) -> str:
    """Pad cells to columns of text; ``right`` aligns all but the first to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    pad = str.rjust if right else str.ljust
    return "\n".join(
        separator.join([line[0].ljust(widths[0]), *map(pad, line[1:], widths[1:])]).rstrip()
        for line in lines
    )
