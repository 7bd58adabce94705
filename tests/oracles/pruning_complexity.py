"""Cost complexity by looking at every pruned subtree.

R_alpha(T) = R(T) + alpha |T| is a line in alpha for each subtree, so the trees that matter are the
corners of the lower hull of the points (|T|, R(T)). `subtrees` lists all of them, which a student
can check; `lightest` keeps for each number of leaves the least risk only, which larger trees need.
`weakest_links` is the book's loop, everything computed anew in every round.

Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from tests.oracles.pruning_nodes import cut, inner, leaves, losses, walk


@dataclass(frozen=True)
class Level:
    """One tree of the sequence: from which alpha on, its leaves, its risk and what it splits.

    ``cut`` are the weakest links that the loop cut last; the other ways do not know them.
    """

    alpha: Fraction | float
    n_leaves: int
    risk: Fraction | float
    inner: frozenset
    cut: frozenset = field(default=frozenset(), compare=False)


# Risks of nodes as leaves, times the root's weight


def error_risks(root, costs):
    """What the rows of each node cost at least, were it a leaf."""
    return {node["node"]: min(losses(node["value"], costs)) for node in walk(root)}


def gini_risks(root, costs=None):
    """Gini impurity times weight; with costs each class weighs as much as its mistakes cost."""
    factors = [1] * len(root["value"]) if costs is None else [sum(row) for row in costs]

    def altered(node):
        pairs = zip(node["value"], factors, strict=True)
        return [Fraction(weight) * Fraction(factor) for weight, factor in pairs]

    scale = Fraction(root["weight"]) / sum(altered(root))  # the root's weight stays
    return {node["node"]: scale * gini_sum(altered(node)) for node in walk(root)}


def gini_sum(counts):
    counts = [Fraction(c) for c in counts]
    total = sum(counts)
    return total - sum(c * c for c in counts) / total if total else Fraction(0)


def entropy_risks(root):
    """In bits, rounded as logarithms are."""
    return {node["node"]: entropy_sum(node["value"]) for node in walk(root)}


def entropy_sum(counts):
    total = math.fsum(counts)
    return -math.fsum(c * math.log2(c / total) for c in counts if c > 0)


def squares_risks(sums):
    """Squared deviations from the mean; ``sums`` are those of training rows, see `held`."""
    found = {}
    for number, (w, wy, wyy) in enumerate(sums):
        found[number] = wyy - wy * wy / w if w else Fraction(0)
    return found


# Every pruned subtree


def count(node):
    """How many pruned subtrees a tree has."""
    return 1 + math.prod(map(count, node["children"])) if node["children"] else 1


def subtrees(node):
    """Every pruned subtree, as the set of nodes that it still splits."""
    found = [frozenset()]
    if node["children"]:
        choices = product(*map(subtrees, node["children"]))
        found += [frozenset({node["node"]}).union(*choice) for choice in choices]
    return found


def measure(root, splits, risks):
    """Leaves and risk of the subtree that splits just these nodes."""
    ends = leaves(cut(root, inner(root) - splits))
    return len(ends), sum(risks[node["node"]] for node in ends)


def smallest_at(root, risks, alpha):
    """The smallest of all subtrees with the least R + alpha |T|; it must be the only one."""
    lines = [(s, *measure(root, s, risks)) for s in subtrees(root)]
    least = min(risk + alpha * n for _, n, risk in lines)
    best = [(n, s) for s, n, risk in lines if risk + alpha * n == least]
    fewest = min(n for n, _ in best)
    (found,) = [s for n, s in best if n == fewest]
    return found


# The least risk for every number of leaves


def lightest(node, risks):
    """For each number of leaves the subtree of least risk: its risk and its splits, linked."""
    found = {1: (risks[node["node"]], ())}
    if not node["children"]:
        return found
    together = {0: (0, (node["node"],))}
    for child in node["children"]:
        together = joined(together, lightest(child, risks))
    return together | found


def joined(one, other):
    """Both parts of a tree: leaves and risks add up."""
    found = {}
    for n, (risk, splits) in one.items():
        for m, (more, further) in other.items():
            total = risk + more
            if n + m not in found or total < found[n + m][0]:
                found[n + m] = (total, (splits, further))
    return found


def unlinked(links):
    """Numbers out of nested pairs."""
    found, waiting = set(), [links]
    while waiting:
        link = waiting.pop()
        if isinstance(link, tuple):
            waiting += link
        else:
            found.add(link)
    return frozenset(found)


def corners(root, risks, near=0):
    """The sequence of trees, from the lower hull; ties up to ``near`` (a risk) are ties."""
    best = lightest(root, risks)
    n = max(best)
    levels = [Level(0, n, best[n][0], unlinked(best[n][1]))]
    while n > 1:
        slopes = {m: (best[m][0] - best[n][0]) / (n - m) for m in best if m < n}
        least = min(slopes.values())
        n = min(m for m, slope in slopes.items() if slope - least <= near)
        levels.append(Level(max(least, 0), n, best[n][0], unlinked(best[n][1])))
    return levels


# The book's loop


def weakest_links(root, risks, near=0):
    """Cut all weakest links, again and again, until the root is left."""
    node = cut(root, set())
    levels = [level_of(node, 0, risks)]
    while node["children"]:
        strengths = {n["node"]: strength(n, risks) for n in walk(node) if n["children"]}
        least = min(strengths.values())
        weakest = frozenset(number for number, g in strengths.items() if g - least <= near)
        node = cut(node, weakest)
        levels.append(level_of(node, max(least, 0), risks, weakest))
    return levels


def strength(node, risks):
    """By how much the risk rises for every leaf that is saved by making the node a leaf."""
    ends = leaves(node)
    below = sum(risks[leaf["node"]] for leaf in ends)
    return (risks[node["node"]] - below) / (len(ends) - 1)


def level_of(node, alpha, risks, weakest=frozenset()):
    ends = leaves(node)
    risk = sum(risks[leaf["node"]] for leaf in ends)
    return Level(alpha, len(ends), risk, frozenset(inner(node)), weakest)
