"""C4.5's pruning on lists of rows: collapsing, the pessimistic bound, and raising of branches.

A `Branch` keeps its rows as pairs (number of the row, weight), so that a row with a gap can be in
several branches in parts. Raising gives a branch other rows than it was grown from: everything
that depends on them is counted anew.

Quinlan (1993), "C4.5: programs for machine learning", chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tests.oracles.pruning_bound import bound
from tests.oracles.pruning_nodes import branch, label, leaves, losses, plain_costs, stand_in

# By how much a simpler tree may look worse and still be taken, and how much of a training error
# counts as none.
SLACK = 0.1
ALIKE = Fraction(1, 1000)


# Without rows


def wrong(node, costs=None):
    """Weight outside the majority; with costs what mistakes cost, their average being one."""
    n = len(node["value"])
    costs = plain_costs(n) if costs is None else costs
    average = Fraction(sum(map(sum, costs)), max(n * (n - 1), 1))
    return min(losses(node["value"], costs)) / (average or 1)


def estimate(node, confidence, costs=None):
    errors = wrong(node, costs)
    return bound(float(node["weight"]), float(errors), confidence)


def pessimistic(node, confidence, costs=None):
    """The tree after pruning without raising, and what it is believed to err."""
    alone = estimate(node, confidence, costs)
    if not node["children"]:
        return node, alone
    pruned = [pessimistic(child, confidence, costs) for child in node["children"]]
    together = sum(errors for _, errors in pruned)
    if alone <= together + SLACK:
        return {**node, "children": []}, alone
    return {**node, "children": [child for child, _ in pruned]}, together


def collapsed(node, costs=None):
    """The tree without splits that do not lower the training errors, from the root down."""
    below = sum(wrong(leaf, costs) for leaf in leaves(node))
    if node["children"] and below >= wrong(node, costs) - ALIKE:
        return {**node, "children": []}
    return {**node, "children": [collapsed(child, costs) for child in node["children"]]}


# With rows


@dataclass(frozen=True)
class Training:
    """Rows that a tree was grown from. With ``shared`` gaps go down all branches in parts."""

    rows: list
    targets: list
    classes: int
    columns: list
    confidence: float
    shared: bool
    costs: list | None = None


@dataclass
class Branch:
    """A node and its rows."""

    node: dict
    children: list
    rows: list = field(default_factory=list)
    counts: list = field(default_factory=list)

    @property
    def number(self):
        return self.node["node"]

    @property
    def weight(self):
        return sum(self.counts)


def planted(node):
    """A tree of branches, still without rows."""
    return Branch(node, [planted(child) for child in node["children"]])


def settle(tree, rows, training):
    """Send rows down, counting anew on the way."""
    tree.rows = rows
    tree.counts = counted(rows, training)
    for child, own in zip(tree.children, divided(tree, rows, training), strict=True):
        settle(child, own, training)


def counted(rows, training):
    counts = [Fraction(0)] * training.classes
    for i, w in rows:
        counts[training.targets[i]] += w
    return counts


def divided(tree, rows, training):
    """Rows of each branch: the known by their value, gaps by the shares of the known."""
    found = [[] for _ in tree.children]
    if not found:
        return found
    gaps = []
    for i, w in rows:
        b = branch(tree.node["test"], training.rows[i], training.columns)
        if b is None:
            b = stand_in(tree.node, training.rows[i], training.columns)
        if b is None and not training.shared:
            b = tree.node["test"]["gaps"]
        (gaps if b is None else found[b]).append((i, w))
    known = [sum(w for _, w in own) for own in found]
    for i, w in gaps:
        for b, share in enumerate(shares_of(known)):
            if share:
                found[b].append((i, w * share))
    return found


def shares_of(known):
    """Shares of the known; equal ones where nothing is known."""
    total = sum(known)
    return [Fraction(k) / total if total else Fraction(1, len(known)) for k in known]


def believed(counts, training):
    """Errors believed of a leaf of these class weights."""
    leaf = {"value": counts, "weight": sum(counts)}
    return estimate(leaf, training.confidence, training.costs)


def believed_below(tree, training):
    if not tree.children:
        return believed(tree.counts, training)
    return sum(believed_below(child, training) for child in tree.children)


def believed_of(tree, rows, training):
    """Errors of a tree were it given other rows."""
    if not tree.children:
        return believed(counted(rows, training), training)
    own = divided(tree, rows, training)
    return sum(
        believed_of(child, part, training) for child, part in zip(tree.children, own, strict=True)
    )


def raised(root, weights, training):
    """The tree after error-based pruning with raising; ``root`` is its dictionary.

    Returns the tree and what was done: (number, "leaf" or "raise", number that took its place).
    """
    tree = planted(root)
    settle(tree, [(i, Fraction(w)) for i, w in enumerate(weights)], training)
    done = []
    prune(tree, training, done)
    return tree, done


def prune(tree, training, done):
    if not tree.children:
        return
    for child in tree.children:
        prune(child, training, done)
    largest = max(tree.children, key=lambda child: child.weight)  # of equals the first
    instead = believed_of(largest, tree.rows, training)
    alone = believed(tree.counts, training)
    together = believed_below(tree, training)
    if alone <= together + SLACK and alone <= instead + SLACK:
        done.append((tree.number, "leaf", tree.number))
        tree.children = []
    elif instead <= together + SLACK:
        done.append((tree.number, "raise", largest.number))
        tree.node, tree.children = largest.node, largest.children
        settle(tree, tree.rows, training)
        prune(tree, training, done)


def outline(tree, above=0, costs=None):
    """Tests, class weights and the labels of leaves, for a comparison."""
    costs = costs or plain_costs(len(tree.counts))
    own = label(tree.counts, costs) if tree.weight else above
    counts = [float(c) for c in tree.counts]
    if not tree.children:
        return own, counts
    return tree.node["test"], counts, [outline(child, own, costs) for child in tree.children]


def outline_of(node):
    """The same of a dictionary."""
    if not node["children"]:
        return node["prediction"], node["value"]
    return node["test"], node["value"], [outline_of(child) for child in node["children"]]
