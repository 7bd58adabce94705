"""Draw the path of one row through a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._native import ColumnType
from ceiba.data.table import Table
from ceiba.plots.docstrings import documented
from ceiba.plots.style import count_text, shorten
from ceiba.plots.trees.colors import Legend
from ceiba.plots.trees.diagram import DiagramBuilder
from ceiba.plots.trees.nodes import CardWriter, NodeCard
from ceiba.plots.trees.rendering import draw_title, place_diagram
from ceiba.plots.trees.tree import LabeledTree
from ceiba.tree.explain.conditions import format_number, format_threshold
from ceiba.tree.explain.folding import check_view
from ceiba.tree.grow.encoding import column_arrays
from ceiba.tree.model.split import Split, branch_of, surrogate_branch_of
from ceiba.tree.model.tree import Tree

__all__ = ["tree_path"]

# A smaller fraction of a row is not followed: it changes no digit that is shown.
_MIN_FRACTION = 1e-9
# Height per depth, in inches, that keeps a long path from being folded.
_DEPTH_HEIGHT = 1.25


@documented
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
    """Draw the path of one row through a tree, with its value at each test.

    The nodes on the path are highlighted, the others are faded or folded. If the value is missing,
    the node states so and names the surrogate that decided, if any; with fractional splitting the
    row takes every branch, and each node states the fraction of the row that reaches it.

    Parameters
    ----------
    model : fitted tree estimator or Tree
    row : dict, Series, sequence or table of one row
        The values of all columns; a sequence in their order.
    {classes}
    max_nodes : int, optional
        Maximum number of nodes to show, those of the path first; None for as many as fit.
    {max_labels}
    {decimals}
    max_size : tuple of float
        Maximum width and height of a new figure, in inches; a long path may exceed the height.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y)
    >>> picture = plots.tree_path(model, [5.1, 3.5, None, 1.6])
    >>> picture.axes[0].get_title(loc="left")
    'Path of a row: 2 tests, versicolor (p = 0.907)'
    """
    subject = LabeledTree.of(model, classes)
    check_view(subject.tree, max_nodes=max_nodes, max_labels=max_labels, decimals=decimals)
    path = path_nodes(subject.tree, read_row(row, subject.tree))
    writer = CardWriter(subject.tree, subject.labels, False, max_labels, decimals)
    builder = _builder(writer, path, max_nodes)
    legend, title = Legend(subject.labels, writer.colors), _title(subject, path, decimals)
    n_depths = int(subject.tree.depth[[step.node for step in path]].max()) + 1
    size = max_size[0], max(max_size[1], _DEPTH_HEIGHT * n_depths)
    axes, diagram = place_diagram(ax, builder, legend, title, size)
    draw_title(axes.ax, title)
    emphasis = dict.fromkeys(diagram.visible.nodes, "faded")
    emphasis |= {step.node: "highlighted" for step in path}
    axes.draw(diagram, subject.tree.weight, emphasis=emphasis)
    return axes.ax.figure


@dataclass(frozen=True, slots=True)
class PathNode:
    """A node on the path of a row."""

    node: int
    fraction: float  # of the row that reaches the node: 1 unless a missing value divided it
    marks: tuple[str, ...]  # the row's value, and what decided if it is missing

    @property
    def fraction_text(self) -> str:
        """The fraction in words."""
        return "the row" if self.fraction == 1 else f"{self.fraction:.3g} of the row"


def read_row(row: Any, tree: Tree) -> Table:
    """Read a mapping, Series, sequence or table of one row under the schema of a tree."""
    if isinstance(row, Mapping):
        row = [dict(row)]
    elif getattr(row, "ndim", 2) == 1:
        row = [row.to_dict()] if hasattr(row, "to_dict") else np.asarray(row)[None]
    elif isinstance(row, list | tuple) and not any(_is_row(value) for value in row):
        row = [list(row)]
    table = Table.of(row, tree.schema, expected_by="this tree")
    if len(table) != 1:
        raise ValueError(f"row must be a single row, got {len(table):,} rows.")
    return table


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple) or getattr(value, "ndim", 0) > 0


def path_nodes(tree: Tree, table: Table, root: int = 0) -> list[PathNode]:
    """Return the nodes that the row of a table reaches, each before its branches."""
    row = _Row(tree, table)
    found, stack = [], [(root, 1.0)]
    while stack:
        node, fraction = stack.pop()
        here = PathNode(node, fraction, ())
        if tree.is_leaf[node]:
            found.append(replace(here, marks=(here.fraction_text,)))
            continue
        fractions, marks = row.branch_fractions(node)
        found.append(replace(here, marks=(here.fraction_text, *marks) if fraction < 1 else marks))
        branches = zip(tree.children(node), fractions, strict=True)
        below = [(child, fraction * part) for child, part in branches]
        stack += [entry for entry in below if entry[1] > _MIN_FRACTION][::-1]
    return found


class _Row:
    """The values of one row, and the branches that it takes."""

    def __init__(self, tree: Tree, table: Table) -> None:
        arrays, missing = column_arrays(table, tree.columns)
        types = tree.columns.types
        self._tree = tree
        self._values = [_value(*entry) for entry in zip(arrays, missing, types, strict=True)]
        # As given: for comparison, values of integer columns are rounded up.
        self._given = [table.column(j)[0].item() for j in range(len(types))]

    def branch_fractions(self, node: int) -> tuple[list[float], tuple[str, ...]]:
        """Return the fraction of the row for each branch of a node, and the marks."""
        tree, split = self._tree, self._tree.split(node)
        value = self._values[split.column]
        if value is not None:
            branch = branch_of(split, value, tree.schema)
            return _only(branch, split.n_branches), (f"row: {self._text(split.column)}",)
        if tree.missing == "fractional":
            fractions = tree.branch_fraction[tree.children(node)]
            return fractions.tolist(), ("row: missing", "takes every branch")
        if tree.missing == "surrogate":
            branch, mark = self._surrogate_branch(node, split)
            return _only(branch, split.n_branches), ("row: missing", mark)
        return _only(split.missing_branch, split.n_branches), ("row: missing",)

    def _surrogate_branch(self, node: int, split: Split) -> tuple[int, str]:
        """Return the branch of the first surrogate that applies, or else the heavier one."""
        for other in self._tree.surrogates_of(node):
            value = self._values[other.column]
            if value is None:
                continue
            branch = surrogate_branch_of(other, value, self._tree.schema)
            if branch is not None:
                return branch, f"by {shorten(other.name, 20)}: {self._text(other.column)}"
        return split.missing_branch, "no surrogate applies"

    def _text(self, j: int) -> str:
        column, value = self._tree.schema[j], self._given[j]
        categories = column.categories
        return shorten(categories[value] if categories else format_threshold(value, column, 3), 20)


def _value(array: Any, missing: Any, kind: int) -> Any:
    """Return the only value of a column; None if it is missing."""
    value = array[0].item()
    if kind in (ColumnType.NOMINAL, ColumnType.ORDINAL):
        return value if value >= 0 else None
    is_missing = value != value or (missing is not None and missing[0])
    return None if is_missing else value


def _only(branch: int, n_branches: int) -> list[float]:
    return [float(b == branch) for b in range(n_branches)]


def _builder(writer: CardWriter, path: Sequence[PathNode], max_nodes: int | None) -> DiagramBuilder:
    on_path = {step.node: step for step in path}

    def make_cards(node: int, kind: str, label: str) -> list[NodeCard]:
        step = on_path.get(node)
        if step is None:
            return [writer.card(node, kind, label)]
        marks = (step.fraction_text, "continues here") if kind == "folded" else step.marks
        return [writer.card(node, kind, label, marks)]

    if max_nodes is not None:
        n_branches = writer.tree.n_branches[list(on_path)]
        max_nodes = max(max_nodes, 1 + int(n_branches.sum()))
    preferred = frozenset(on_path)
    return DiagramBuilder(writer, 0, max_nodes, preferred=preferred, make_cards=make_cards)


def _title(subject: LabeledTree, path: Sequence[PathNode], decimals: int) -> str:
    tree = subject.tree
    ends = [step for step in path if tree.is_leaf[step.node]]
    fractions = np.array([step.fraction for step in ends])
    prediction = fractions @ tree.leaf_values(np.array([step.node for step in ends]))
    title = f"Path of a row: {count_text(len(path) - len(ends), 'test')}"
    if len(ends) > 1:
        title += f", {len(ends)} leaves"
    if subject.labels is None:
        return f"{title}, {format_number(float(prediction), decimals)}"
    best = int(tree.decide(prediction[None])[0])
    probability = format_number(float(prediction[best]), decimals)
    return f"{title}, {shorten(subject.labels[best])} (p = {probability})"
