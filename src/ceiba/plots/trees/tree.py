"""Draw a decision tree, and the path of one row through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._native import ColumnType
from ceiba.base import unused_error
from ceiba.data.table import Table
from ceiba.plots.docstrings import documented
from ceiba.plots.models import check_one_target, has_tree, model_error, one_tree
from ceiba.plots.style import count_text, require_matplotlib, shorten
from ceiba.plots.trees.diagram import DiagramBuilder
from ceiba.plots.trees.nodes import CardWriter, NodeCard
from ceiba.plots.trees.rendering import MAX_SIZE, check_size, draw_title, place_diagram
from ceiba.tree.explain.conditions import format_threshold
from ceiba.tree.explain.dictionary import class_labels
from ceiba.tree.explain.text import check_view
from ceiba.tree.grow.encoding import column_arrays
from ceiba.tree.model.split import Split, branch_of, surrogate_branch_of
from ceiba.tree.model.tree import Tree

# Upper bound for the width of the note on folded nodes.
_LONGEST_NOTE = " (folded: 100,000 not shown)"
# A smaller fraction of a row is not followed: it changes no digit that is shown.
_MIN_FRACTION = 1e-9
# Height per depth, in inches, that keeps a long path from being folded.
_DEPTH_HEIGHT = 1.25


@documented
def tree(
    model: Any,
    *,
    classes: Sequence[Any] | None = None,
    node: int = 0,
    max_nodes: int | None = 64,
    max_depth: int | None = None,
    runner_ups: bool = False,
    compact: bool = False,
    first_number: int = 0,
    max_labels: int = 5,
    decimals: int = 3,
    max_size: tuple[float, float] = MAX_SIZE,
    ax: Any = None,
) -> Any:
    """Draw a tree with its conditions, rows, predictions and gains.

    A node shows the column that it tests, its number, its rows, the class proportions as a bar and
    the class weights in the order of the legend (of more than four classes the largest, by name),
    and the gain of its split; the condition of each branch is above the branch. A leaf shows its
    prediction, the probability, and why it was not split. In a regression tree the bar shows the
    node's value within the range of all values. The width of an edge grows with its rows.

    Nodes that do not fit are folded: a dashed shape states how many nodes, leaves and rows it
    contains, and of which classes. Nodes of large weight are expanded first. The font shrinks to 6
    points before more nodes are folded.

    Parameters
    ----------
    model : fitted tree estimator or Tree
    {classes}
    node : int
        Root of the part to draw; 0 for the whole tree.
    max_nodes : int, optional
        Maximum number of nodes to show; None for as many as fit.
    max_depth : int, optional
        Maximum depth to show below the first node.
    runner_ups : bool
        Name in each node the best split of another column, with its gain; not if compact.
    compact : bool
        Show only the column or prediction, the bar and the rows of each node, so that more nodes
        fit.
    first_number : int
        Number of the root in the picture: 1 to number nodes as MATLAB does.
    {max_labels}
    {decimals}
    {max_size}
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y)
    >>> picture = plots.tree(model)
    >>> picture.axes[0].get_title(loc="left")
    'DecisionTreeClassifier: 5 nodes, 3 leaves, depth 2'
    """
    shown, labels, name = labeled_tree(model, classes)
    if runner_ups and compact:
        raise unused_error("runner_ups", "compact=True", runner_ups, False)
    check_size(max_size, ax=ax)
    check_view(
        shown, node=node, max_nodes=max_nodes, max_depth=max_depth,
        max_labels=max_labels, decimals=decimals,
    )  # fmt: skip
    writer = CardWriter(
        shown, labels, runner_ups, max_labels, decimals, compact, first_number=first_number
    )
    builder = DiagramBuilder(writer, node, max_nodes, max_depth)
    if node:
        title = f"{name}: subtree of node {node + first_number:,} of {shown.n_nodes:,} nodes"
    else:
        size = f"{count_text(shown.n_nodes, 'node')}, {count_text(shown.n_leaves, 'leaf')}"
        title = f"{name}: {size}, depth {shown.max_depth}"
    axes, diagram = place_diagram(ax, builder, title, max_size, _LONGEST_NOTE)
    folded = [card.node for card in diagram.cards if card.kind == "folded"]
    hidden = int(writer.below.nodes[folded].sum())
    draw_title(axes.ax, title + (f" (folded: {hidden:,} not shown)" if hidden else ""))
    axes.draw(diagram)
    return axes.ax.figure


def labeled_tree(
    model: Any, classes: Sequence[Any] | None = None
) -> tuple[Tree, list[Any] | None, str]:
    """Return the tree of a fitted estimator or a bare tree, its class labels, and its name."""
    require_matplotlib()
    if isinstance(model, Tree):
        check_one_target(model.n_outputs)
        return model, class_labels(model, classes), "Tree"
    if not has_tree(model):
        raise model_error("model", "a fitted tree of Ceiba", model, one_tree(model))
    found = model.tree_
    check_one_target(found.n_outputs)
    if classes is None:
        classes = getattr(model, "classes_", None)
    return found, class_labels(found, classes), type(model).__name__


@documented
def tree_path(
    model: Any,
    row: Any,
    *,
    classes: Sequence[Any] | None = None,
    max_nodes: int | None = 32,
    max_labels: int = 5,
    decimals: int = 3,
    max_size: tuple[float, float] = MAX_SIZE,
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
        Maximum width and height of a new figure, in inches; a long path may exceed the height. Not
        to be given with ``ax``.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> weather = datasets.load("weather_nominal")
    >>> model = DecisionTreeClassifier(algorithm="id3").fit(weather.table, weather.y)
    >>> row = {"outlook": "sunny", "temperature": "mild", "humidity": "high", "windy": "true"}
    >>> picture = plots.tree_path(model, row)
    >>> picture.axes[0].get_title(loc="left")
    'Path of a row: 2 tests, no (p = 1)'
    """
    tree, labels, _ = labeled_tree(model, classes)
    check_size(max_size, ax=ax)
    check_view(tree, max_nodes=max_nodes, max_labels=max_labels, decimals=decimals)
    path = path_nodes(tree, read_row(row, tree))
    writer = CardWriter(tree, labels, False, max_labels, decimals)
    builder = _path_builder(writer, path, max_nodes)
    title = _path_title(writer, path)
    n_depths = int(tree.depth[[step.node for step in path]].max()) + 1
    size = max_size[0], max(max_size[1], _DEPTH_HEIGHT * n_depths)
    axes, diagram = place_diagram(ax, builder, title, size)
    draw_title(axes.ax, title)
    emphasis = dict.fromkeys(diagram.nodes, "faded")
    emphasis |= {step.node: "highlighted" for step in path}
    axes.draw(diagram, emphasis=emphasis)
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
        # As given: for comparison, integers are limited to the type of their column.
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


def _path_builder(
    writer: CardWriter, path: Sequence[PathNode], max_nodes: int | None
) -> DiagramBuilder:
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


def _path_title(writer: CardWriter, path: Sequence[PathNode]) -> str:
    tree = writer.tree
    ends = [step for step in path if tree.is_leaf[step.node]]
    fractions = np.array([step.fraction for step in ends])
    prediction = fractions @ tree.leaf_values(np.array([step.node for step in ends]))
    title = f"Path of a row: {count_text(len(path) - len(ends), 'test')}"
    if len(ends) > 1:
        title += f", {len(ends)} leaves"
    if writer.labels is None:
        return f"{title}, {writer.number(float(prediction))}"
    best = int(tree.decide(prediction[None])[0])
    probability = writer.number(float(prediction[best]))
    return f"{title}, {shorten(writer.labels[best])} (p = {probability})"
