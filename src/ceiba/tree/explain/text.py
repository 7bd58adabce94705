"""A tree to read, as indented lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ceiba.tree.explain.conditions import branch_cases, condition, number_words
from ceiba.tree.explain.dictionary import class_labels, predicted
from ceiba.tree.model.split import Split
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS

WHY = {
    "pure": "pure",
    "impurity": "pure enough",
    "max_depth": "depth limit",
    "min_samples_split": "too few rows to split",
    "no_split": "no column tells its rows apart",
    "min_samples_leaf": "every split would leave a branch too small",
    "min_impurity_decrease": "no split gains enough",
    "max_leaf_nodes": "leaf limit",
    "no_gain": "no split gains anything",
    "empty": "no rows: as the node above",
    "pruned": "pruned",
    "not_kept": "why is not kept",
}
_APPROXIMATIONS = {
    "principal": "levels in the order of their class shares: perhaps not the best groups",
    "median": "levels in the order of their medians: perhaps not the best groups",
}
_INDENT = "|  "
# What rows of a node may have in the columns tested above it: levels, and a gap.
_Cases = Mapping[int, frozenset[Any]]


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
    """The tree as indented lines, one a node.

    A line has the node's number, the condition that leads there ("or missing": rows without a value
    come here, too), its rows, their classes or value, and the gain of its split with what is
    worth knowing about it; for a leaf what it predicts and why it was not split. Levels and gaps
    that the way to a node excludes are not named again.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); their numbers unless given.
    node : int
        Where to begin; 0 for the root.
    max_depth : int, optional
        Levels to show below the first node.
    max_nodes : int, optional
        Most nodes to show, those near the first node before others; None for all. What is hidden
        stands as a line with the number of its nodes.
    max_labels : int
        Most levels of a branch, and most classes of a node, to list.
    decimals : int
        Digits after the point; thresholds have six digits that count if that is more.

    Returns
    -------
    str

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
    _check_limits(tree, node, max_depth, max_nodes, max_labels, decimals)
    view = _View(tree, class_labels(tree, classes), max_labels, decimals)
    opened = _opened(tree, node, max_depth, max_nodes)
    sizes = _sizes(tree)
    return "\n".join(view.lines(node, opened, sizes))


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """How the lines of one tree look."""

    tree: Tree
    labels: list[Any] | None
    max_labels: int
    decimals: int

    def lines(self, start: int, opened: set[int], sizes: list[int]) -> Iterator[str]:
        tree = self.tree
        waiting: list[tuple[int, str, int, _Cases]] = [(start, "", 0, {})]
        while waiting:
            node, lead, depth, possible = waiting.pop()
            split = None if tree.is_leaf[node] else tree.split(node)
            yield f"{_INDENT * depth}[{node}] {lead}{self._facts(node, split)}"
            if node in opened:
                assert split is not None
                branches = zip(tree.children(node), self._branches(split, possible), strict=True)
                waiting += reversed([(c, lead, depth + 1, kept) for c, (lead, kept) in branches])
            elif split is not None:
                hidden = sizes[node] - 1
                yield f"{_INDENT * (depth + 1)}... {hidden} more nodes"

    def _branches(self, split: Split, possible: _Cases) -> Iterator[tuple[str, _Cases]]:
        """The condition of each branch, and what rows may have in the columns tested so far."""
        column, here = self.tree.schema[split.column], possible.get(split.column)
        for branch in range(split.n_branches):
            cases = branch_cases(split, branch, self.tree.missing)
            if here is not None:
                cases = [case for case in cases if case in here]
            lead = condition(
                split, branch, column, cases, max_labels=self.max_labels, decimals=self.decimals
            )
            yield f"{lead}: ", {**possible, split.column: frozenset(cases)}

    def _facts(self, node: int, split: Split | None) -> str:
        tree = self.tree
        rows, weight = int(tree.n_rows[node]), float(tree.weight[node])
        text = f"{rows} row{'s' * (rows != 1)}"
        if weight != rows:
            text += f" of weight {number_words(weight, self.decimals)}"
        if split is None:
            return text + self._leaf(node)
        return f"{text} ({self._value(node)}){self._split(node, split)}"

    def _value(self, node: int) -> str:
        value = self.tree.value[node].tolist()
        if self.labels is None:
            return f"value {number_words(value[0], self.decimals)}"
        there = [k for k, weight in enumerate(value) if weight]
        listed = sorted(there, key=lambda k: -value[k])[: self.max_labels]
        words = [number_words(weight, self.decimals) for weight in value]
        shown = (f"{self.labels[k]}: {words[k]}" for k in sorted(listed))
        rest = len(there) - len(listed)
        return ", ".join(shown) + (f", ... {rest} more" if rest else "")

    def _split(self, node: int, split: Split) -> str:
        text = f", gain {number_words(float(self.tree.gain[node]), self.decimals)}"
        ties = int(self.tree.ties[node])
        if ties:
            text += f", tied with {ties} other{'s' * (ties != 1)}"
        if split.method in _APPROXIMATIONS:
            text += f", {_APPROXIMATIONS[split.method]}"
        return text

    def _leaf(self, node: int) -> str:
        found = predicted(self.tree, node, self.labels)
        why = WHY[REASONS[self.tree.reason[node]]]
        if self.labels is None:
            return f" -> {number_words(found['prediction'], self.decimals)}, {why}"
        likely = number_words(
            found["probabilities"][int(self.tree.likeliest[self.tree.child[node]])], self.decimals
        )
        return f" ({self._value(node)}) -> {found['prediction']} (p = {likely}), {why}"


def _opened(tree: Tree, start: int, max_depth: int | None, max_nodes: int | None) -> set[int]:
    """Nodes whose branches are shown: level after level, as long as all branches have room."""
    room = tree.n_nodes if max_nodes is None else max_nodes - 1
    deepest = tree.n_nodes if max_depth is None else int(tree.depth[start]) + max_depth
    opened, waiting = set(), deque([start])
    while waiting:
        node = waiting.popleft()
        branches = int(tree.n_branches[node])
        if branches and branches <= room and tree.depth[node] < deepest:
            room -= branches
            opened.add(node)
            waiting += tree.children(node)
    return opened


def _sizes(tree: Tree) -> list[int]:
    """Nodes of the part that hangs at each node, itself included."""
    sizes, parent = [1] * tree.n_nodes, tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):  # branches have greater numbers than their node
        sizes[parent[node]] += sizes[node]
    return sizes


def _check_limits(
    tree: Tree, node: int, max_depth: int | None, max_nodes: int | None, labels: int, decimals: int
) -> None:
    if not 0 <= node < tree.n_nodes:
        raise ValueError(f"the tree has nodes 0 to {tree.n_nodes - 1}, and no node {node}")
    if max_depth is not None and max_depth < 0:
        raise ValueError("max_depth must not be negative: use None for every level")
    if max_nodes is not None and max_nodes < 1:
        raise ValueError("max_nodes must be at least 1: use None for all nodes")
    if labels < 1 or decimals < 0:
        raise ValueError("max_labels must be at least 1, and decimals not negative")
