"""Draw a decision tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ceiba.plots.docstrings import documented
from ceiba.plots.style import count_text, require_matplotlib
from ceiba.plots.trees.colors import Legend
from ceiba.plots.trees.diagram import DiagramBuilder, TreeDiagram
from ceiba.plots.trees.nodes import CardWriter
from ceiba.plots.trees.rendering import draw_title, place_diagram
from ceiba.tree.explain.dictionary import class_labels
from ceiba.tree.explain.folding import check_view
from ceiba.tree.model.tree import Tree

__all__ = ["tree"]

# Upper bound for the width of the note on folded nodes.
_LONGEST_NOTE = " (folded: 100,000 not shown)"


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
    max_labels: int = 5,
    decimals: int = 3,
    max_size: tuple[float, float] = (16.0, 10.0),
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
        Name in each node the best split of another column, with its gain.
    compact : bool
        Show only the column or prediction, the bar and the rows of each node, so that more nodes
        fit.
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
    subject = LabeledTree.of(model, classes)
    check_view(
        subject.tree, node=node, max_nodes=max_nodes, max_depth=max_depth,
        max_labels=max_labels, decimals=decimals,
    )  # fmt: skip
    writer = CardWriter(subject.tree, subject.labels, runner_ups, max_labels, decimals, compact)
    builder = DiagramBuilder(writer, node, max_nodes, max_depth)
    legend = Legend(subject.labels, writer.colors)
    title = subject.title(node)
    axes, diagram = place_diagram(ax, builder, legend, title, max_size, _LONGEST_NOTE)
    draw_title(axes.ax, title + _folded_note(writer, diagram))
    axes.draw(diagram, subject.tree.weight)
    return axes.ax.figure


def _folded_note(writer: CardWriter, diagram: TreeDiagram) -> str:
    hidden = sum(
        int(writer.below.nodes[card.node]) for card in diagram.cards if card.kind == "folded"
    )
    return f" (folded: {hidden:,} not shown)" if hidden else ""


@dataclass(frozen=True, slots=True, eq=False)
class LabeledTree:
    """The tree to draw, its class labels, and its name."""

    tree: Tree
    labels: list[Any] | None
    name: str

    @classmethod
    def of(cls, model: Any, classes: Sequence[Any] | None = None) -> LabeledTree:
        """Take them from a fitted estimator or from a bare tree."""
        require_matplotlib()
        if isinstance(model, Tree):
            return cls(model, class_labels(model, classes), "Tree")
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
        found = getattr(model, "tree_", None)
        if not isinstance(found, Tree):
            raise TypeError(f"model must be a fitted tree of Ceiba, got {type(model).__name__}.")
        if classes is None:
            classes = getattr(model, "classes_", None)
        return cls(found, class_labels(found, classes), type(model).__name__)

    def title(self, node: int) -> str:
        """Describe the whole tree, or the part below a node."""
        tree = self.tree
        if node:
            return f"{self.name}: subtree of node {node:,} of {tree.n_nodes:,} nodes"
        size = f"{count_text(tree.n_nodes, 'node')}, {count_text(tree.n_leaves, 'leaf')}"
        return f"{self.name}: {size}, depth {tree.max_depth}"
