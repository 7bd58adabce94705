"""What a user wishes of the columns of a file: which of them, and of what kinds."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ceiba.data.categories import Label, plain_labels
from ceiba.data.io.errors import ReadError

Wish = str | tuple[Label, ...]

_KINDS = ("numeric", "nominal", "ordinal")


def check_kinds(
    kinds: Mapping[str, str | Sequence[Any]] | None, names: Sequence[str], path: Path
) -> dict[str, Wish]:
    """The wished kinds, refused where a column or a kind is unknown."""
    wishes: dict[str, Wish] = {}
    for name, wish in (kinds or {}).items():
        check_name(name, names, path)
        if isinstance(wish, str) and wish not in _KINDS:
            raise ValueError(
                f"Unknown kind {wish!r} for column {name!r}: 'numeric', 'nominal', 'ordinal' or a "
                "list of its levels in order."
            )
        wishes[name] = wish if isinstance(wish, str) else plain_labels(wish, name)
    return wishes


def check_columns(
    columns: Sequence[str] | None, names: Sequence[str], path: Path
) -> tuple[str, ...]:
    """The wished columns in the wished order, all of them for None."""
    if columns is None:
        return tuple(names)
    if isinstance(columns, str):
        raise ValueError(f"columns must be a list of names, not one text: columns=[{columns!r}].")
    wanted = tuple(columns)
    if not wanted:
        raise ValueError("columns must name at least one column.")
    for name in wanted:
        check_name(name, names, path)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"columns names one column twice: {list(wanted)!r}.")
    return wanted


def check_name(name: str, names: Sequence[str], path: Path) -> None:
    """Refuse a column that the file has not, with the name that may have been meant."""
    if name in names:
        return
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"it has {_few(names)}."
    raise ReadError.at(path, f"the file has no column {name!r}: {hint}")


def _few(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
