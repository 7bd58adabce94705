"""A drawn tree: what its nodes ask, whom they hold, and where it is folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ceiba.plots.style import INK, TITLE_SIZE
from ceiba.plots.trees.nodes import NodeWriter, counted
from ceiba.plots.trees.page import Legend, Page, need_matplotlib, new_page
from ceiba.plots.trees.scene import Scene, Stage
from ceiba.tree.explain.dictionary import class_labels
from ceiba.tree.model.tree import Tree

__all__ = ["tree"]


def tree(
    model: Any,
    *,
    classes: Sequence[Any] | None = None,
    node: int = 0,
    max_nodes: int | None = 64,
    max_depth: int | None = None,
    runner_ups: bool = False,
    compact: bool = False,
    max_labels: int = 5,
    decimals: int = 3,
    max_size: tuple[float, float] = (16.0, 10.0),
    ax: Any = None,
) -> Any:
    """Draw a tree with its questions, rows, classes and gains.

    A node names the column that it tests, its number, its rows, the shares of the classes as a
    bar and as weights in the order of the legend (of more than four classes the heaviest, by
    name), and the gain of its split; the condition of each branch stands above the branch. A leaf
    says what it predicts, with which probability, and why it was not split. For numbers the bar
    shows where the node's value lies in the range of all. Edges are as thick as the rows that take
    them are many.

    What has no room is folded: a dashed shape says how many nodes, leaves and rows it hides, and of
    which classes. Nodes of most weight are opened first. The text shrinks to 6 points before
    more is folded.

    Parameters
    ----------
    model : fitted tree estimator or Tree
    classes : sequence, optional
        Labels of the classes; those of the estimator unless given.
    node : int
        Where to begin; 0 for the root.
    max_nodes : int, optional
        Most nodes to show; None for as many as fit.
    max_depth : int, optional
        Levels to show below the first node.
    runner_ups : bool
        Name in each node the best split of another column, with its gain.
    compact : bool
        Only the column or prediction, the bar and the rows of each node, to show more of them.
    max_labels : int
        Most levels of a branch to list.
    decimals : int
        Digits after the point; thresholds have six digits that count if that is more.
    max_size : tuple of float
        Width and height in inches that a new figure may grow to.
    ax : Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("tree.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y)
    >>> picture = plots.tree(model)
    >>> picture.axes[0].get_title(loc="left")
    'DecisionTreeClassifier: 5 nodes, 3 leaves, depth 2'
    """
    subject = Subject.of(model, classes)
    check_view(
        subject.tree, node=node, max_nodes=max_nodes, max_depth=max_depth,
        max_labels=max_labels, decimals=decimals,
    )  # fmt: skip
    writer = NodeWriter(subject.tree, subject.labels, runner_ups, max_labels, decimals, compact)
    stage = Stage(writer, node, max_nodes, max_depth)
    legend = Legend(subject.labels, writer.colours)
    title = subject.title(node)
    if ax is None:
        page, scene = new_page(stage, legend, [title + _FOLDED_TITLE], max_size)
    else:
        draw_title(ax, title)
        page = Page.on(ax, legend)
        scene = stage.fitted(page.room)
    draw_title(page.ax, title + _folds(writer, scene))
    page.canvas(scene, subject.tree.weight).draw(scene.front)
    page.draw_legend()
    return page.ax.figure


# As long as what is said of a folded tree may get.
_FOLDED_TITLE = " (folded: 100,000 not shown)"


def _folds(writer: NodeWriter, scene: Scene) -> str:
    hidden = sum(
        int(writer.below.nodes[card.node]) for card in scene.front if card.kind == "folded"
    )
    return f" (folded: {hidden:,} not shown)" if hidden else ""


def draw_title(ax: Any, title: str) -> None:
    """Give axes a title in the house's look."""
    ax.set_title(title, loc="left", fontsize=TITLE_SIZE, color=INK, pad=8, parse_math=False)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """The tree to be drawn, the labels of its classes, and what it is called."""

    tree: Tree
    labels: list[Any] | None
    name: str

    @classmethod
    def of(cls, model: Any, classes: Sequence[Any] | None = None) -> Subject:
        """Of a fitted estimator or of a tree alone."""
        need_matplotlib()
        if isinstance(model, Tree):
            return cls(model, class_labels(model, classes), "Tree")
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
        found = getattr(model, "tree_", None)
        if not isinstance(found, Tree):
            raise TypeError(f"a {type(model).__name__} has no tree: give a fitted tree of Ceiba")
        if classes is None:
            classes = getattr(model, "classes_", None)
        return cls(found, class_labels(found, classes), type(model).__name__)

    def title(self, node: int) -> str:
        """What is drawn: the whole, or the part below a node."""
        tree = self.tree
        if node:
            return f"{self.name}: the part below node {node:,} of {tree.n_nodes:,} nodes"
        words = f"{counted(tree.n_nodes, 'node')}, {counted(tree.n_leaves, 'leaf')}"
        return f"{self.name}: {words}, depth {tree.max_depth}"


def check_view(
    tree: Tree,
    *,
    node: int = 0,
    max_nodes: int | None = None,
    max_depth: int | None = None,
    max_labels: int = 1,
    decimals: int = 0,
) -> None:
    """Refuse what cannot be shown."""
    if not 0 <= node < tree.n_nodes:
        raise ValueError(f"the tree has nodes 0 to {tree.n_nodes - 1}, and no node {node}")
    if max_nodes is not None and max_nodes < 1:
        raise ValueError("max_nodes must be at least 1: use None for as many as fit")
    if max_depth is not None and max_depth < 0:
        raise ValueError("max_depth must not be negative: use None for every level")
    if max_labels < 1 or decimals < 0:
        raise ValueError("max_labels must be at least 1, and decimals not negative")
