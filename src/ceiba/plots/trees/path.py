"""The way of one row through a tree: the nodes that it comes to, and what decided there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba.data.table import Table
from ceiba.plots.trees.nodes import Card, NodeWriter, counted, short
from ceiba.plots.trees.page import Legend, Page, new_page
from ceiba.plots.trees.scene import Stage
from ceiba.plots.trees.tree import Subject, check_view, draw_title
from ceiba.tree.explain.conditions import number_words, threshold_words
from ceiba.tree.grow.encoding import NOMINAL, ORDINAL, column_arrays
from ceiba.tree.model.split import Split
from ceiba.tree.model.surrogate import Surrogate
from ceiba.tree.model.tree import Tree

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


__all__ = ["tree_path"]

# Inches that a level of a long path takes, so that none of it is folded.
_LEVEL = 1.25


def tree_path(
    model: Any,
    row: Any,
    *,
    classes: Sequence[Any] | None = None,
    max_nodes: int | None = 32,
    max_labels: int = 5,
    decimals: int = 3,
    max_size: tuple[float, float] = (16.0, 10.0),
    ax: Any = None,
) -> Any:
    """Draw the path of one row through a tree, with its own value at each test.

    The nodes that the row comes to stand out, the others are faded or folded. Where the row has no
    value, the node says so and, for surrogates, which one decided; a row that is shared out takes
    every branch, and each node says which part of it comes there.

    Parameters
    ----------
    model : fitted tree estimator or Tree
    row : dict, Series, sequence or table of one row
        The values of all columns; a sequence in their order.
    classes : sequence, optional
        Labels of the classes; those of the estimator unless given.
    max_nodes : int, optional
        Most nodes to show, those of the path before others; None for as many as fit.
    max_labels : int
        Most levels of a branch to list.
    decimals : int
        Digits after the point; thresholds have six digits that count if that is more.
    max_size : tuple of float
        Width and height in inches that a new figure may grow to; a long path may make it higher.
    ax : Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y)
    >>> picture = plots.tree_path(model, [5.1, 3.5, None, 1.6])
    >>> picture.axes[0].get_title(loc="left")
    'Path of a row: 2 tests, versicolor (p = 0.907)'
    """
    subject = Subject.of(model, classes)
    check_view(subject.tree, max_nodes=max_nodes, max_labels=max_labels, decimals=decimals)
    path = visits(subject.tree, read_row(row, subject.tree))
    writer = NodeWriter(subject.tree, subject.labels, False, max_labels, decimals)
    stage = _stage(writer, path, max_nodes)
    legend, title = Legend(subject.labels, writer.colours), _title(subject, path, decimals)
    if ax is None:
        levels = int(subject.tree.depth[[visit.node for visit in path]].max()) + 1
        size = max_size[0], max(max_size[1], _LEVEL * levels)
        page, scene = new_page(stage, legend, [title], size)
    else:
        draw_title(ax, title)
        page = Page.on(ax, legend)
        scene = stage.fitted(page.room)
    draw_title(page.ax, title)
    tones = dict.fromkeys(scene.part.nodes, "faded") | {visit.node: "lit" for visit in path}
    page.canvas(scene, subject.tree.weight).draw(scene.front, tones)
    page.draw_legend()
    return page.ax.figure


def _stage(writer: NodeWriter, path: Sequence[Visit], max_nodes: int | None) -> Stage:
    on_path = {visit.node: visit for visit in path}

    def make(node: int, kind: str, label: str) -> list[Card]:
        visit = on_path.get(node)
        if visit is None:
            return [writer.card(node, kind, label)]
        marks = visit.marks
        if kind == "folded":
            marks = (visit.part, "goes on here")
        return [writer.card(node, kind, label, marks)]

    if max_nodes is not None:
        branches = writer.tree.n_branches[list(on_path)]
        max_nodes = max(max_nodes, 1 + int(branches.sum()))
    return Stage(writer, 0, max_nodes, first=frozenset(on_path), make=make)


def _title(subject: Subject, path: Sequence[Visit], decimals: int) -> str:
    tree = subject.tree
    ends = [visit for visit in path if tree.is_leaf[visit.node]]
    leaves = np.array([visit.node for visit in ends])
    shares = np.array([visit.share for visit in ends])
    found = shares @ tree.values_of(leaves)
    words = f"Path of a row: {counted(len(path) - len(ends), 'test')}"
    if len(ends) > 1:
        words += f", {len(ends)} leaves"
    if subject.labels is None:
        return f"{words}, {number_words(float(found), decimals)}"
    best = int(tree.decided(found[None])[0])
    likely = number_words(float(found[best]), decimals)
    return f"{words}, {short(subject.labels[best])} (p = {likely})"
