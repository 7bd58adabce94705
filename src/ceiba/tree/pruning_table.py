"""What the pruning laboratory finds: one row a way to prune."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ceiba.inference import Interval

_ERRORS = ("training", "validation", "cross_validated")


@dataclass(frozen=True, slots=True)
class PruningRow:
    """One way to prune, and what became of the tree.

    Parameters
    ----------
    name : str
        The way, as "cost complexity, one_se, impurity".
    n_leaves, depth : int
        Of the pruned tree.
    training, validation, cross_validated : Interval
        Share of wrong predictions, or mean squared error, on the rows that the tree was grown
        from, on the validation rows, and on rows in folds that growing and pruning did not see.
    """

    name: str
    n_leaves: int
    depth: int
    training: Interval
    validation: Interval
    cross_validated: Interval


@dataclass(frozen=True, eq=False, repr=False)
class PruningTable:
    """One tree pruned in every way; printed, it is an aligned table.

    Parameters
    ----------
    rows : tuple of PruningRow
        The first is the tree as it was grown.
    models : dict
        Name of each row to the fitted estimator with that tree.
    measure : str
        What an error is: "error" (a share) or "squared error" (a mean).
    notes : tuple of str
        How the figures were made.
    """

    rows: tuple[PruningRow, ...]
    models: dict[str, Any]
    measure: str
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PruningRow]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> PruningRow:
        for row in self.rows:
            if row.name == name:
                return row
        names = ", ".join(repr(row.name) for row in self.rows)
        raise KeyError(f"no row is called {name!r}; there are {names}")

    def to_frame(self) -> Any:
        """The table as a pandas frame, indexed by name; intervals are two columns each."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'a frame needs pandas: pip install "ceiba[files]", or use .rows'
            ) from error
        return pd.DataFrame([_flat(row) for row in self.rows]).set_index("name")

    def __str__(self) -> str:
        columns = [
            _column("", [row.name for row in self.rows], left=True),
            _column("leaves", [str(row.n_leaves) for row in self.rows]),
            _column("depth", [str(row.depth) for row in self.rows]),
        ]
        columns += [self._errors(name) for name in _ERRORS]
        lines = ["   ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
        return "\n".join([*lines, "", *self.notes])

    def __repr__(self) -> str:
        return str(self)

    def _errors(self, name: str) -> list[str]:
        intervals: list[Interval] = [getattr(row, name) for row in self.rows]
        form = ".4f" if self.measure == "error" else ".4g"
        ends = [[format(x, form) for x in (i.estimate, i.lower, i.upper)] for i in intervals]
        widths = [max(len(each[k]) for each in ends) for k in range(3)]
        cells = []
        for each in ends:
            mid, low, high = (text.rjust(w) for text, w in zip(each, widths, strict=True))
            cells.append(f"{mid} [{low}, {high}]")
        heading = name.replace("_", "-")
        return _column(f"{heading} {self.measure}", cells)


def _column(heading: str, cells: list[str], left: bool = False) -> list[str]:
    width = max(map(len, [heading, *cells]))
    return [text.ljust(width) if left else text.rjust(width) for text in (heading, *cells)]


def _flat(row: PruningRow) -> dict[str, Any]:
    flat: dict[str, Any] = {"name": row.name, "n_leaves": row.n_leaves, "depth": row.depth}
    for name in _ERRORS:
        interval: Interval = getattr(row, name)
        flat[name] = interval.estimate
        flat[f"{name}_lower"], flat[f"{name}_upper"] = interval.lower, interval.upper
    return flat
