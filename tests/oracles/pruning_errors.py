"""C4.5's pruning on lists of rows: collapsing, pessimistic errors and subtree raising.

A `Branch` keeps its rows as pairs (row index, weight), so that a row with a missing value can be in
several branches in fractions. Subtree raising gives a branch other rows than it was grown
from: everything that depends on them is computed anew.

Quinlan (1993), "C4.5: programs for machine learning", chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tests.oracles.pruning_bound import bound
from tests.oracles.pruning_nodes import branch, label, leaves, losses, surrogate_branch, unit_costs

# Errors that a simpler tree may have more, and training errors that count as none.
SLACK = 0.1
TOLERANCE = Fraction(1, 1000)


# Without rows


def leaf_errors(node, costs=None):
    """Return the misclassified weight; with costs, in units of the mean cost of an error."""
    n = len(node["value"])
    costs = unit_costs(n) if costs is None else costs
    average = Fraction(sum(map(sum, costs)), max(n * (n - 1), 1))
    return min(losses(node["value"], costs)) / (average or 1)


def estimate(node, confidence, costs=None):
    errors = leaf_errors(node, costs)
    return bound(float(node["weight"]), float(errors), confidence)


def pessimistic(node, confidence, costs=None):
    """Return the tree pruned without subtree raising, and its pessimistic errors."""
    as_leaf = estimate(node, confidence, costs)
    if not node["children"]:
        return node, as_leaf
    pruned = [pessimistic(child, confidence, costs) for child in node["children"]]
    as_subtree = sum(errors for _, errors in pruned)
    if as_leaf <= as_subtree + SLACK:
        return {**node, "children": []}, as_leaf
    return {**node, "children": [child for child, _ in pruned]}, as_subtree


def collapsed(node, costs=None):
    """Return the tree without splits that do not lower the training errors, top-down."""
    below = sum(leaf_errors(leaf, costs) for leaf in leaves(node))
    if node["children"] and below >= leaf_errors(node, costs) - TOLERANCE:
        return {**node, "children": []}
    return {**node, "children": [collapsed(child, costs) for child in node["children"]]}


# With rows


@dataclass(frozen=True)
class Training:
    """Rows that a tree was grown from; ``fractional`` is the policy for missing values."""

    rows: list
    targets: list
    classes: int
    columns: list
    confidence: float
    fractional: bool
    costs: list | None = None


@dataclass
class Branch:
    """A node and its rows."""

    node: dict
    children: list
    rows: list = field(default_factory=list)
    counts: list = field(default_factory=list)

    @property
    def index(self):
        return self.node["node"]

    @property
    def weight(self):
        return sum(self.counts)


def build(node):
    """Build a tree of branches without rows."""
    return Branch(node, [build(child) for child in node["children"]])


def assign_rows(tree, rows, training):
    """Assign rows to a branch and its descendants."""
    tree.rows = rows
    tree.counts = class_counts(rows, training)
    for child, child_rows in zip(tree.children, split_rows(tree, rows, training), strict=True):
        assign_rows(child, child_rows, training)


def class_counts(rows, training):
    counts = [Fraction(0)] * training.classes
    for i, w in rows:
        counts[training.targets[i]] += w
    return counts


def split_rows(tree, rows, training):
    """Return the rows of each branch; missing values by the fractions of known ones."""
    found = [[] for _ in tree.children]
    if not found:
        return found
    missing = []
    for i, w in rows:
        b = branch(tree.node["test"], training.rows[i], training.columns)
        if b is None:
            b = surrogate_branch(tree.node, training.rows[i], training.columns)
        if b is None and not training.fractional:
            b = tree.node["test"]["missing_branch"]
        (missing if b is None else found[b]).append((i, w))
    known = [sum(w for _, w in branch_rows) for branch_rows in found]
    for i, w in missing:
        for b, part in enumerate(known_fractions(known)):
            if part:
                found[b].append((i, w * part))
    return found


def known_fractions(known):
    """Return fractions of the known weights; equal ones if there are none."""
    total = sum(known)
    return [Fraction(k) / total if total else Fraction(1, len(known)) for k in known]


def leaf_estimate(counts, training):
    """Return the pessimistic errors of a leaf of these class weights."""
    leaf = {"value": counts, "weight": sum(counts)}
    return estimate(leaf, training.confidence, training.costs)


def subtree_estimate(tree, training):
    if not tree.children:
        return leaf_estimate(tree.counts, training)
    return sum(subtree_estimate(child, training) for child in tree.children)


def estimate_with_rows(tree, rows, training):
    """Return the pessimistic errors of a tree on other rows."""
    if not tree.children:
        return leaf_estimate(class_counts(rows, training), training)
    parts = zip(tree.children, split_rows(tree, rows, training), strict=True)
    return sum(estimate_with_rows(child, part, training) for child, part in parts)


def raised(root, weights, training):
    """Return the tree after error-based pruning with subtree raising, and the actions.

    An action is (node, "leaf" or "raise", node that replaces it).
    """
    tree = build(root)
    assign_rows(tree, [(i, Fraction(w)) for i, w in enumerate(weights)], training)
    actions = []
    prune(tree, training, actions)
    return tree, actions


def prune(tree, training, actions):
    if not tree.children:
        return
    for child in tree.children:
        prune(child, training, actions)
    largest = max(tree.children, key=lambda child: child.weight)  # ties go to the first
    as_branch = estimate_with_rows(largest, tree.rows, training)
    as_leaf = leaf_estimate(tree.counts, training)
    as_subtree = subtree_estimate(tree, training)
    if as_leaf <= as_subtree + SLACK and as_leaf <= as_branch + SLACK:
        actions.append((tree.index, "leaf", tree.index))
        tree.children = []
    elif as_branch <= as_subtree + SLACK:
        actions.append((tree.index, "raise", largest.index))
        tree.node, tree.children = largest.node, largest.children
        assign_rows(tree, tree.rows, training)
        prune(tree, training, actions)


def outline(tree, parent_label=0, costs=None):
    """Return tests, class weights and labels of leaves, for a comparison."""
    costs = costs or unit_costs(len(tree.counts))
    own_label = label(tree.counts, costs) if tree.weight else parent_label
    counts = [float(c) for c in tree.counts]
    if not tree.children:
        return own_label, counts
    return tree.node["test"], counts, [outline(child, own_label, costs) for child in tree.children]


def outline_of(node):
    """Return the outline of a dictionary."""
    if not node["children"]:
        return node["prediction"], node["value"]
    return node["test"], node["value"], [outline_of(child) for child in node["children"]]
