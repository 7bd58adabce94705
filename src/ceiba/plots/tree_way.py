"""The way of one row through a tree: the nodes that it comes to, and what decided there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba.data.table import Table
from ceiba.plots.tree_nodes import short
from ceiba.stats.tree_columns import NOMINAL, ORDINAL, column_arrays
from ceiba.tree.condition import threshold_words
from ceiba.tree.split import Split
from ceiba.tree.structure import Tree
from ceiba.tree.surrogate import Surrogate

# A part of a row that is smaller than this is not followed: it changes no digit that is shown.
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, slots=True)
class Visit:
    """A node on the way.

    Attributes
    ----------
    node : int
    share : float
        Part of the row that comes here: 1 unless a gap has sent it down several branches.
    marks : tuple of str
        What to say there: the row's value, and what decided where it has none.
    """

    node: int
    share: float
    marks: tuple[str, ...]

    @property
    def part(self) -> str:
        """How much of the row comes here, in words."""
        return "the row" if self.share == 1 else f"{self.share:.3g} of the row"


def read_row(row: Any, tree: Tree) -> Table:
    """One row as a table under a tree's schema.

    ``row`` is a dictionary, a pandas Series, a sequence of values in the order of the columns, or
    any table of one row.
    """
    if isinstance(row, Mapping):
        row = [dict(row)]
    elif getattr(row, "ndim", 2) == 1:
        row = [row.to_dict()] if hasattr(row, "to_dict") else np.asarray(row)[None]
    elif isinstance(row, list | tuple) and not any(_is_row(value) for value in row):
        row = [list(row)]
    table = Table.of(row, tree.schema, who="this tree")
    if len(table) != 1:
        raise ValueError(f"give one row to follow, not {len(table):,}")
    return table


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple) or getattr(value, "ndim", 0) > 0


def visits(tree: Tree, table: Table, start: int = 0) -> list[Visit]:
    """The nodes that the row of a table comes to, each before its branches."""
    row = _Row(tree, table)
    found, waiting = [], [(start, 1.0)]
    while waiting:
        node, share = waiting.pop()
        here = Visit(node, share, ())
        if tree.is_leaf[node]:
            found.append(replace(here, marks=(here.part,)))
            continue
        shares, said = row.step(node)
        found.append(replace(here, marks=(here.part, *said) if share < 1 else said))
        ways = zip(tree.children(node), shares, strict=True)
        waiting += [(n, share * part) for n, part in ways if share * part > _LEAST_SHARE][::-1]
    return found


class _Row:
    """The values of one row, and where they send it."""

    def __init__(self, tree: Tree, table: Table) -> None:
        arrays, gaps = column_arrays(table, tree.columns)
        kinds = tree.columns.types
        self._tree = tree
        self._values = [_value(*entry) for entry in zip(arrays, gaps, kinds, strict=True)]
        # As it was given: values of columns of whole numbers are rounded up to be compared.
        self._given = [table.column(j)[0].item() for j in range(len(kinds))]

    def step(self, node: int) -> tuple[list[float], tuple[str, ...]]:
        """Share of the row that goes to each branch, and what to say of it."""
        split = self._tree.split(node)
        if self._values[split.column] is not None:
            branch = branch_of(split, self._values[split.column], self._tree)
            return _all_to(branch, split.n_branches), (f"row: {self._words(split.column)}",)
        missing = "row: missing"
        if self._tree.missing == "shared":
            shares = self._tree.share[self._tree.children(node)]
            return shares.tolist(), (missing, "takes every branch")
        if self._tree.missing == "surrogate":
            branch, said = self._surrogate(node, split)
            return _all_to(branch, split.n_branches), (missing, said)
        return _all_to(split.gaps, split.n_branches), (missing,)

    def _surrogate(self, node: int, split: Split) -> tuple[int, str]:
        """The branch that the first surrogate with a value takes, else the heavier one."""
        for other in self._tree.surrogates_of(node):
            value = self._values[other.column]
            branch = None if value is None else surrogate_branch(other, value, self._tree)
            if branch is not None:
                return branch, f"by {short(other.name, 20)}: {self._words(other.column)}"
        return split.gaps, "no surrogate known"

    def _words(self, j: int) -> str:
        column, value = self._tree.schema[j], self._given[j]
        return short(
            column.levels[value] if column.levels else threshold_words(value, column, 3), 20
        )


def _value(array: Any, gaps: Any, kind: int) -> Any:
    """The only value of a column, None for a gap."""
    value = array[0].item()
    if kind in (NOMINAL, ORDINAL):
        return value if value >= 0 else None
    missing = value != value or (gaps is not None and gaps[0])
    return None if missing else value


def branch_of(split: Split, value: Any, tree: Tree) -> int:
    """The branch that a value (for levels: its code) takes."""
    levels = tree.schema[split.column].levels
    if tree.columns.types[split.column] == NOMINAL:
        holds = (b for b, group in enumerate(split.branches) if levels[value] in group)
        return next(holds, split.gaps)
    ends = split.thresholds if split.kind == "intervals" else (split.threshold,)
    return bisect_left([_code(end, levels) for end in ends], value)


def surrogate_branch(surrogate: Surrogate, value: Any, tree: Tree) -> int | None:
    """The branch that a surrogate sends a value (for levels: its code) to, if it knows one."""
    levels = tree.schema[surrogate.column].levels
    if tree.columns.types[surrogate.column] == NOMINAL:
        known = (b for b, group in enumerate(surrogate.branches) if levels[value] in group)
        return next(known, None)
    return int((value > _code(surrogate.threshold, levels)) != surrogate.flipped)


def _code(threshold: Any, levels: Sequence[Any]) -> Any:
    """A threshold as values are compared with it: of ordinal columns by the place of its level."""
    return levels.index(threshold) if threshold in levels else threshold


def _all_to(branch: int, n_branches: int) -> list[float]:
    return [float(b == branch) for b in range(n_branches)]
