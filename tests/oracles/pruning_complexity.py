"""Cost-complexity paths by comparing all pruned subtrees.

R_alpha(T) = R(T) + alpha |T| is a line in alpha for each subtree T, so the path consists of the
vertices of the lower convex hull of the points (|T|, R(T)). `subtrees` lists all of them, which can
be checked by hand; `min_risks` keeps the minimum risk for each number of leaves, for larger trees.
`weakest_links` is the loop of the book, with everything computed anew in every iteration.

Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from tests.oracles.pruning_nodes import inner, leaves, losses, make_leaves, preorder


@dataclass(frozen=True)
class Step:
    """One step of a path: effective alpha, leaves, risk and inner nodes of its subtree.

    ``pruned`` are the weakest links that the loop pruned last; `hull_path` leaves it empty.
    """

    alpha: Fraction | float
    n_leaves: int
    risk: Fraction | float
    inner: frozenset
    pruned: frozenset = field(default=frozenset(), compare=False)


# Risks of nodes as leaves, times the weight of the root


def error_risks(root, costs):
    """Return the minimum cost of the rows of each node as a leaf."""
    return {node["node"]: min(losses(node["value"], costs)) for node in preorder(root)}


def gini_risks(root, costs=None):
    """Return Gini impurity times weight; with costs, of altered class weights."""
    factors = [1] * len(root["value"]) if costs is None else [sum(row) for row in costs]

    def altered(node):
        pairs = zip(node["value"], factors, strict=True)
        return [Fraction(weight) * Fraction(factor) for weight, factor in pairs]

    scale = Fraction(root["weight"]) / sum(altered(root))  # keeps the weight of the root
    return {node["node"]: scale * gini_sum(altered(node)) for node in preorder(root)}


def gini_sum(counts):
    counts = [Fraction(c) for c in counts]
    total = sum(counts)
    return total - sum(c * c for c in counts) / total if total else Fraction(0)


def entropy_risks(root):
    """Return entropy in bits times weight, in floating point."""
    return {node["node"]: entropy_sum(node["value"]) for node in preorder(root)}


def entropy_sum(counts):
    total = math.fsum(counts)
    return -math.fsum(c * math.log2(c / total) for c in counts if c > 0)


def squared_risks(sums):
    """Return squared deviations from the mean, from `node_sums` of the training rows."""
    found = {}
    for node, (w, wy, wyy) in enumerate(sums):
        found[node] = wyy - wy * wy / w if w else Fraction(0)
    return found


# Every pruned subtree


def count(node):
    """Count the pruned subtrees of a tree."""
    return 1 + math.prod(map(count, node["children"])) if node["children"] else 1


def subtrees(node):
    """List every pruned subtree as the set of its inner nodes."""
    found = [frozenset()]
    if node["children"]:
        choices = product(*map(subtrees, node["children"]))
        found += [frozenset({node["node"]}).union(*choice) for choice in choices]
    return found


def measure(root, splits, risks):
    """Return leaves and risk of the subtree with these inner nodes."""
    ends = leaves(make_leaves(root, inner(root) - splits))
    return len(ends), sum(risks[node["node"]] for node in ends)


def smallest_at(root, risks, alpha):
    """Return the smallest of all subtrees of minimum R + alpha |T|; it must be unique."""
    lines = [(s, *measure(root, s, risks)) for s in subtrees(root)]
    minimum = min(risk + alpha * n for _, n, risk in lines)
    best = [(n, s) for s, n, risk in lines if risk + alpha * n == minimum]
    fewest = min(n for n, _ in best)
    (found,) = [s for n, s in best if n == fewest]
    return found


# The minimum risk for every number of leaves


def min_risks(node, risks):
    """Return risk and inner nodes, as nested pairs, of the best subtree by number of leaves."""
    found = {1: (risks[node["node"]], ())}
    if not node["children"]:
        return found
    combined = {0: (0, (node["node"],))}
    for child in node["children"]:
        combined = combine(combined, min_risks(child, risks))
    return combined | found


def combine(one, other):
    """Combine two disjoint parts of a tree: leaves and risks are added."""
    found = {}
    for n, (risk, splits) in one.items():
        for m, (more, further) in other.items():
            total = risk + more
            if n + m not in found or total < found[n + m][0]:
                found[n + m] = (total, (splits, further))
    return found


def flatten(links):
    """Return the numbers in nested pairs."""
    found, stack = set(), [links]
    while stack:
        link = stack.pop()
        if isinstance(link, tuple):
            stack += link
        else:
            found.add(link)
    return frozenset(found)


def hull_path(root, risks, tolerance=0):
    """Return the path from the lower convex hull; ``tolerance`` of equal risks."""
    best = min_risks(root, risks)
    n = max(best)
    steps = [Step(0, n, best[n][0], flatten(best[n][1]))]
    while n > 1:
        slopes = {m: (best[m][0] - best[n][0]) / (n - m) for m in best if m < n}
        minimum = min(slopes.values())
        n = min(m for m, slope in slopes.items() if slope - minimum <= tolerance)
        steps.append(Step(max(minimum, 0), n, best[n][0], flatten(best[n][1])))
    return steps


# The loop of the book


def weakest_links(root, risks, tolerance=0):
    """Prune all weakest links, repeatedly, until the root is left."""
    node = make_leaves(root, set())
    steps = [make_step(node, 0, risks)]
    while node["children"]:
        alphas = {n["node"]: effective_alpha(n, risks) for n in preorder(node) if n["children"]}
        minimum = min(alphas.values())
        weakest = frozenset(k for k, alpha in alphas.items() if alpha - minimum <= tolerance)
        node = make_leaves(node, weakest)
        steps.append(make_step(node, max(minimum, 0), risks, weakest))
    return steps


def effective_alpha(node, risks):
    """Return the increase of risk per leaf removed when the node becomes a leaf."""
    ends = leaves(node)
    below = sum(risks[leaf["node"]] for leaf in ends)
    return (risks[node["node"]] - below) / (len(ends) - 1)


def make_step(node, alpha, risks, weakest=frozenset()):
    ends = leaves(node)
    risk = sum(risks[leaf["node"]] for leaf in ends)
    return Step(alpha, len(ends), risk, frozenset(inner(node)), weakest)
