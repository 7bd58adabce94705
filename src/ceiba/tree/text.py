"""A tree to read: as indented lines, and as nested dictionaries."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.tree.split import METHODS, Split
from ceiba.tree.structure import REASONS, Tree

if TYPE_CHECKING:
    from ceiba.data.schema import Column

_WHY = {
    "pure": "pure",
    "impurity": "pure enough",
    "max_depth": "depth limit",
    "min_samples_split": "too few rows to split",
    "no_split": "no column tells its rows apart",
    "min_samples_leaf": "every split would leave a branch too small",
    "min_impurity_decrease": "no split gains enough",
    "max_leaf_nodes": "leaf limit",
}
_APPROXIMATIONS = {
    "principal": "levels in the order of their class shares: perhaps not the best groups",
    "median": "levels in the order of their medians: perhaps not the best groups",
}
_INDENT = "|  "
_UNITS = {"d": 86_400 * 10**9, "h": 3600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6}
_UNITS |= {"us": 10**3, "ns": 1}
# Up to here fixed decimals show a float's whole part exactly.
_WHOLE = 1e16
# What rows of a node may have in the columns tested above it: levels, and a gap.
_GAP = object()
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
    view = _View(tree, _class_labels(tree, classes), max_labels, decimals)
    opened = _opened(tree, node, max_depth, max_nodes)
    sizes = _sizes(tree)
    return "\n".join(view.lines(node, opened, sizes))


def tree_dict(tree: Tree, *, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """The tree as nested dictionaries of plain values, fit for JSON.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); their numbers unless given.

    Returns
    -------
    dict
        ``n_nodes``, ``n_leaves``, ``max_depth``, ``columns`` (name, kind, levels, dtype),
        ``classes`` (None for numbers) and ``root``. A node has its number ``node``, ``depth``,
        ``n_rows``, ``weight``, ``impurity``, ``gain``, ``value`` (class weights, or a number),
        ``reason``, ``method``, ``ties``, ``runner_up`` (column, name and gain, or None), ``test``
        and ``children``; a leaf has no test but a ``prediction`` and, for classes,
        ``probabilities``. A test has its ``kind``, ``column``, ``name``, ``threshold`` (of an
        ordinal column the last level of the first branch), ``branches`` (levels of each branch)
        and ``gaps``, the place among the children where rows without a value go. The kinds are
        "threshold", "known" (values in the first branch, gaps in the second), "levels" and
        "multiway". An infinite threshold is the text "inf" or "-inf". ``json`` itself refuses
        trees of more than a few hundred levels: its limit, not this function's.

    Examples
    --------
    >>> from ceiba import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [4.0]], [0.0, 0.0, 3.0])
    >>> root = model.tree_.to_dict()["root"]
    >>> root["test"]["threshold"], [child["prediction"] for child in root["children"]]
    (3.0, [0.0, 3.0])
    """
    labels = _class_labels(tree, classes)
    records = [_record(tree, node) for node in range(tree.n_nodes)]
    for node, record in enumerate(records):
        if tree.is_leaf[node]:
            record |= _predicted(tree, node, labels)
        record["children"] = [records[child] for child in tree.children(node)]
    return {
        "n_nodes": tree.n_nodes,
        "n_leaves": tree.n_leaves,
        "max_depth": tree.max_depth,
        "columns": tree.schema.to_json()["columns"],
        "classes": labels,
        "root": records[0],
    }


def _class_labels(tree: Tree, classes: Sequence[Any] | None) -> list[Any] | None:
    """Labels of a tree's classes as plain values; their numbers unless given, None for numbers."""
    n = tree.leaves.shape[1]
    if n == 0:
        if classes is not None:
            raise ValueError("this tree predicts numbers: leave classes out")
        return None
    if classes is None:
        return list(range(n))
    if len(classes) != n:
        raise ValueError(f"the tree has {n} classes, and classes names {len(classes)}")
    return [_plain(label) for label in classes]


def _condition(split: Split, branch: int, column: Column, cases: Sequence[Any], view: _View) -> str:
    """What leads to a branch: ``width <= 0.8 or missing``, ``colour in {red, blue}``."""
    levels = [case for case in cases if case is not _GAP]
    if split.kind == "threshold":
        text = _comparison(split, branch, column, view.decimals)
    elif len(levels) == 1:
        text = f"{split.name} = {levels[0]}"
    else:
        text = f"{split.name} in {{{_listed(levels, view.max_labels)}}}" if levels else ""
    if not text:
        return f"{split.name} missing"
    return f"{text} or missing" if len(levels) < len(cases) else text


def _comparison(split: Split, branch: int, column: Column, decimals: int) -> str:
    if branch == 2 or (branch == 1 and _only_known(split)):
        return ""
    if _only_known(split):
        return f"{split.name} known"
    shown = _threshold(split.threshold, column, decimals)
    return f"{split.name} {'<=' if branch == 0 else '>'} {shown}"


def _only_known(split: Split) -> bool:
    """Whether a test tells known values from gaps and nothing else."""
    return split.kind == "threshold" and bool(split.threshold == np.inf)


def _threshold(value: Any, column: Column, decimals: int) -> str:
    if column.temporal:
        return _time(value, column.dtype)
    if not isinstance(value, float) or column.levels:
        return str(value)
    if 1e6 <= abs(value) < _WHOLE:  # six digits would hide the whole part
        return _number(value, decimals)
    return f"{value:.{max(6, decimals)}g}"


def _time(ticks: int, dtype: str) -> str:
    """An instant or a duration, to the last unit that is not zero."""
    if dtype.startswith("datetime"):
        return str(np.datetime_as_string(np.datetime64(ticks, "ns"), unit="auto"))
    unit, size = next((unit, size) for unit, size in _UNITS.items() if ticks % size == 0)
    return f"{ticks // size} {unit}"


def _number(value: float, decimals: int) -> str:
    """At most so many decimals, unless nothing would be left."""
    text = f"{value:.{decimals}f}"
    if abs(value) >= _WHOLE or (value != 0 and float(text) == 0):
        return f"{value:.{decimals + 1}g}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _listed(labels: Sequence[Any], most: int) -> str:
    shown = ", ".join(str(label) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown}, ... {len(labels) - most} more"


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
            cases = [*split.branches[branch]] if split.branches else []
            cases += [_GAP] * (branch == split.gaps)
            if here is not None:
                cases = [case for case in cases if case in here]
            lead = _condition(split, branch, column, cases, self)
            yield f"{lead}: ", {**possible, split.column: frozenset(cases)}

    def _facts(self, node: int, split: Split | None) -> str:
        tree = self.tree
        rows, weight = int(tree.n_rows[node]), float(tree.weight[node])
        text = f"{rows} row{'s' * (rows != 1)}"
        if weight != rows:
            text += f" of weight {_number(weight, self.decimals)}"
        if split is None:
            return text + self._leaf(node)
        return f"{text} ({self._value(node)}){self._split(node, split)}"

    def _value(self, node: int) -> str:
        value = self.tree.value[node].tolist()
        if self.labels is None:
            return f"value {_number(value[0], self.decimals)}"
        there = [k for k, weight in enumerate(value) if weight]
        listed = sorted(there, key=lambda k: -value[k])[: self.max_labels]
        shown = (f"{self.labels[k]}: {_number(value[k], self.decimals)}" for k in sorted(listed))
        rest = len(there) - len(listed)
        return ", ".join(shown) + (f", ... {rest} more" if rest else "")

    def _split(self, node: int, split: Split) -> str:
        text = f", gain {_number(float(self.tree.gain[node]), self.decimals)}"
        ties = int(self.tree.ties[node])
        if ties:
            text += f", tied with {ties} other{'s' * (ties != 1)}"
        if split.method in _APPROXIMATIONS:
            text += f", {_APPROXIMATIONS[split.method]}"
        return text

    def _leaf(self, node: int) -> str:
        found = _predicted(self.tree, node, self.labels)
        why = _WHY[REASONS[self.tree.reason[node]]]
        if self.labels is None:
            return f" -> {_number(found['prediction'], self.decimals)}, {why}"
        likely = _number(max(found["probabilities"]), self.decimals)
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


def _record(tree: Tree, node: int) -> dict[str, Any]:
    """What the dictionary says of any node, its children aside."""
    value = tree.value[node].tolist()
    split = None if tree.is_leaf[node] else tree.split(node)
    return {
        "node": node,
        "depth": int(tree.depth[node]),
        "n_rows": int(tree.n_rows[node]),
        "weight": float(tree.weight[node]),
        "impurity": float(tree.impurity[node]),
        "gain": float(tree.gain[node]),
        "value": value if tree.leaves.shape[1] else value[0],
        "reason": REASONS[tree.reason[node]],
        "method": METHODS[tree.method[node]],
        "ties": int(tree.ties[node]),
        "runner_up": _runner_up(tree, node),
        "test": None if split is None else _test(split),
    }


def _test(split: Split) -> dict[str, Any]:
    known = _only_known(split)
    return {
        "kind": "known" if known else split.kind,
        "column": split.column,
        "name": split.name,
        "threshold": None if known else _plain(split.threshold),
        "branches": [[_plain(level) for level in group] for group in split.branches] or None,
        "gaps": split.gaps,
    }


def _runner_up(tree: Tree, node: int) -> dict[str, Any] | None:
    column = int(tree.runner_up_column[node])
    if column < 0:
        return None
    gain = float(tree.runner_up_gain[node])
    return {"column": column, "name": tree.schema[column].name, "gain": gain}


def _predicted(tree: Tree, leaf: int, labels: list[Any] | None) -> dict[str, Any]:
    if labels is None:
        return {"prediction": tree.nodes[leaf, :1].view(np.float64)[0].item()}
    probabilities = tree.leaves[tree.child[leaf]]
    likeliest = labels[int(probabilities.argmax())]
    return {"prediction": likeliest, "probabilities": probabilities.tolist()}


def _plain(value: Any) -> Any:
    """A label or threshold that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else str(value)


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
