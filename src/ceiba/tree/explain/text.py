"""A tree as indented lines of text, and which nodes of a large tree are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from ceiba.tree.explain.conditions import branch_text, branch_values, format_decimals
from ceiba.tree.explain.dictionary import class_labels, leaf_prediction
from ceiba.tree.model.multi_output import check_single_output
from ceiba.tree.model.split import Split
from ceiba.tree.model.subtrees import SubtreeSizes
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS

LEAF_REASONS = {
    "pure": "pure",
    "impurity": "pure enough",
    "max_depth": "depth limit",
    "min_samples_split": "too few rows to split",
    "no_split": "no column separates its rows",
    "min_samples_leaf": "every split would leave a branch too small",
    "min_impurity_decrease": "no split gains enough",
    "max_leaf_nodes": "leaf limit",
    "no_gain": "no split gains anything",
    "monotonic_cst": "every split would break a monotonic constraint",
    "empty": "no rows: predicts as its parent",
    "pruned": "pruned",
    "not_kept": "reason not stored",
}
_APPROXIMATIONS = {
    "principal": "categories ordered by class fractions: perhaps not the best groups",
    "median": "categories ordered by medians: perhaps not the best groups",
}
_INDENT = "|  "
# Values that rows of a node can have in the nominal columns tested above it.
_PossibleValues = Mapping[int, frozenset[Any]]


def tree_text(
    tree: Tree,
    *,
    classes: Sequence[Any] | None = None,
    node: int = 0,
    max_depth: int | None = None,
    max_nodes: int | None = 1000,
    max_labels: int = 10,
    decimals: int = 3,
) -> str:
    """Format a tree as indented lines, one for each node.

    A line has the index of the node, the condition that leads to it ("or missing": rows without a
    value follow this branch), its rows, their classes or value, and the gain of its split; for a
    leaf the prediction and why it was not split. Categories that the conditions above exclude are
    not listed again.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); by default their indices.
    node : int
        Topmost node to show; 0 for the root.
    max_depth : int, optional
        Maximum depth to show below that node.
    max_nodes : int, optional
        Maximum number of nodes to show, breadth-first; None for all. A line with their number
        stands for hidden nodes.
    max_labels : int
        Maximum number of categories of a branch, and of classes of a node, to list.
    decimals : int
        Maximum number of decimals; thresholds have at least six significant digits.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier
    >>> rows = [{"light": "red"}, {"light": "amber"}, {"light": "green"}, {"light": None}]
    >>> model = DecisionTreeClassifier().fit(rows, ["stop", "stop", "go", "stop"])
    >>> print(model.tree_.to_text(classes=model.classes_))
    [0] 4 rows (go: 1, stop: 3), gain 0.375
    |  [1] light = green: 1 row (go: 1) -> go (p = 1), pure
    |  [2] light in {amber, red} or missing: 3 rows (stop: 3) -> stop (p = 1), pure
    """
    check_single_output(tree.n_outputs, "A text of a tree")
    check_view(
        tree, node=node, max_depth=max_depth, max_nodes=max_nodes, max_labels=max_labels,
        decimals=decimals,
    )  # fmt: skip
    unfolded = set(unfolded_nodes(tree, node, max_nodes=max_nodes, max_depth=max_depth))
    writer = _TextWriter(tree, class_labels(tree, classes), max_labels, decimals)
    return "\n".join(writer.lines(node, unfolded))


@dataclass(frozen=True, slots=True, eq=False)
class _TextWriter:
    """Format of the lines of one tree."""

    tree: Tree
    labels: list[Any] | None
    max_labels: int
    decimals: int

    def lines(self, start: int, unfolded: set[int]) -> Iterator[str]:
        """Yield the lines of the nodes below ``start``, in depth-first order."""
        tree, n_below = self.tree, SubtreeSizes.of(self.tree).nodes
        stack: list[tuple[int, str, int, _PossibleValues]] = [(start, "", 0, {})]
        while stack:
            node, lead, depth, possible = stack.pop()
            split = None if tree.is_leaf[node] else tree.split(node)
            yield f"{_INDENT * depth}[{node}] {lead}{self._node_text(node, split)}"
            if node in unfolded:
                assert split is not None
                branches = zip(tree.children(node), self._branches(split, possible), strict=True)
                stack += reversed([(c, lead, depth + 1, kept) for c, (lead, kept) in branches])
            elif split is not None:
                yield f"{_INDENT * (depth + 1)}... {n_below[node]} more nodes"

    def _branches(
        self, split: Split, possible: _PossibleValues
    ) -> Iterator[tuple[str, _PossibleValues]]:
        """Yield the condition of each branch, and the values that rows can have there."""
        column, here = self.tree.schema[split.column], possible.get(split.column)
        for branch in range(split.n_branches):
            values = branch_values(split, branch, self.tree.missing)
            if here is not None:
                values = [value for value in values if value in here]
            condition = branch_text(
                split, branch, column, values, max_labels=self.max_labels, decimals=self.decimals
            )
            yield f"{condition}: ", {**possible, split.column: frozenset(values)}

    def _node_text(self, node: int, split: Split | None) -> str:
        tree = self.tree
        text = rows_text(int(tree.n_rows[node]), float(tree.weight[node]), self.decimals)
        if split is None:
            return text + self._leaf_text(node)
        return f"{text} ({self._value_text(node)}){self._split_text(node, split)}"

    def _value_text(self, node: int) -> str:
        value = self.tree.node_values[node].tolist()
        if self.labels is None:
            return f"value {format_decimals(value[0], self.decimals)}"
        present = [k for k, weight in enumerate(value) if weight]
        listed = sorted(present, key=lambda k: -value[k])[: self.max_labels]
        numbers = [format_decimals(weight, self.decimals) for weight in value]
        text = ", ".join(f"{self.labels[k]}: {numbers[k]}" for k in sorted(listed))
        n_hidden = len(present) - len(listed)
        return text + (f", ... {n_hidden} more" if n_hidden else "")

    def _split_text(self, node: int, split: Split) -> str:
        text = f", gain {format_decimals(float(self.tree.gain[node]), self.decimals)}"
        ties = int(self.tree.ties[node])
        if ties:
            text += f", tied with {ties} other{'s' * (ties != 1)}"
        if split.method in _APPROXIMATIONS:
            text += f", {_APPROXIMATIONS[split.method]}"
        return text

    def _leaf_text(self, node: int) -> str:
        leaf = leaf_prediction(self.tree, node, self.labels)
        reason = LEAF_REASONS[REASONS[self.tree.reason[node]]]
        if self.labels is None:
            return f" -> {format_decimals(leaf['prediction'], self.decimals)}, {reason}"
        class_index = int(self.tree.leaf_class[self.tree.child[node]])
        probability = format_decimals(leaf["probabilities"][class_index], self.decimals)
        return f" ({self._value_text(node)}) -> {leaf['prediction']} (p = {probability}), {reason}"


def rows_text(n_rows: int, weight: float, decimals: int) -> str:
    """Format a number of rows and their weight: ``3 rows of weight 4.5``."""
    text = f"{n_rows} row{'s' * (n_rows != 1)}"
    return text if weight == n_rows else f"{text} of weight {format_decimals(weight, decimals)}"


def check_view(
    tree: Tree,
    *,
    node: int = 0,
    max_depth: int | None = None,
    max_nodes: int | None = None,
    max_labels: int = 1,
    decimals: int = 0,
) -> None:
    """Raise ValueError for limits that show nothing."""
    if not 0 <= node < tree.n_nodes:
        raise ValueError(f"node must be an int in [0, {tree.n_nodes - 1}], got {node}.")
    for name, value, low in (("max_depth", max_depth, 0), ("max_nodes", max_nodes, 1)):
        if value is not None and value < low:
            raise ValueError(f"{name} must be an int >= {low} or None for no limit, got {value}.")
    check_format(max_labels, decimals)


def check_format(max_labels: int, decimals: int) -> None:
    """Raise ValueError for a format that shows nothing."""
    for name, value, low in (("max_labels", max_labels, 1), ("decimals", decimals, 0)):
        if value < low:
            raise ValueError(f"{name} must be an int >= {low}, got {value}.")


def unfolded_nodes(
    tree: Tree,
    start: int,
    *,
    max_nodes: int | None = None,
    max_depth: int | None = None,
    priority: Callable[[int], Any] | None = None,
) -> list[int]:
    """Choose the nodes below ``start`` whose branches are shown, in order of priority.

    At most ``max_nodes`` nodes are shown, with all branches of a node or none, down to
    ``max_depth`` below ``start``. ``priority`` is a sort key of nodes; by default breadth-first.
    """
    room = tree.n_nodes if max_nodes is None else max_nodes - 1
    deepest = tree.n_nodes if max_depth is None else int(tree.depth[start]) + max_depth
    unfolded: list[int] = []
    queue: list[tuple[Any, int, int]] = [(0, 0, start)]
    n_queued = 1
    while queue:
        _, _, node = heappop(queue)
        n_branches = int(tree.n_branches[node])
        if not n_branches or n_branches > room or tree.depth[node] >= deepest:
            continue
        room -= n_branches
        unfolded.append(node)
        for child in tree.children(node):
            heappush(queue, (0 if priority is None else priority(child), n_queued, child))
            n_queued += 1
    return unfolded
