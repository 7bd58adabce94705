"""The path of one row through a drawn tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.plots.tree import Subject, check_view, draw_title
from ceiba.plots.tree_nodes import Card, NodeWriter, counted, short
from ceiba.plots.tree_page import Legend, Page, new_page
from ceiba.plots.tree_scene import Stage
from ceiba.plots.tree_way import Visit, read_row, visits
from ceiba.tree.condition import number_words

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
