"""Breiman's weakest links: from which price of a leaf on each node of a tree is better a leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.tree.model.edit import Cuts, frames_of
from ceiba.tree.model.traversal import least_above, subtree_sums
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.risk import Risk, leaf_risks

# Links whose strengths differ by less than this share of the root's risk are equally weak.
_ALIKE = 1e-12


def weakest_links(tree: Tree, risks: Array) -> tuple[Array, Array]:
    """Alphas of the levels, and the level that makes each node a leaf.

    Parameters
    ----------
    tree : Tree
    risks : ndarray of shape (n_nodes,)
        Of every node as a leaf.

    Returns
    -------
    alphas : ndarray of shape (n_levels,)
        Ascending, the first is 0: the grown tree.
    level_of_cut : ndarray of int32 of shape (n_nodes,)
        0 for leaves, n_levels for nodes that go with one above them before.
    """
    near = _ALIKE * float(risks[0])
    strength, weakest = _strengths(tree, risks, near)
    starts: list[float] = []
    for alpha in np.sort(strength[weakest]).tolist():
        if not starts or alpha > starts[-1] + near:
            starts.append(alpha)
    never = len(starts) + 1
    place = np.searchsorted(starts, strength, side="right")
    alike = strength <= np.append(-np.inf, starts)[place] + near
    own = np.where(alike & ~tree.is_leaf, place, never)
    own[own > least_above(tree.parent, own, never)] = never
    own[tree.is_leaf] = 0
    return np.array([0.0, *starts]), own.astype(np.int32)


def _strengths(tree: Tree, risks: Array, near: float) -> tuple[Array, Array]:
    """From which alpha on each node is better a leaf; and which do not go with one above."""
    useless = _useless(tree, risks, near)
    strength, kept = _native.tree_weakest_links(
        np.ascontiguousarray(risks), np.ascontiguousarray(tree.child), tree.n_branches,
        ~tree.is_leaf & ~useless, near,
    )  # fmt: skip
    weakest = useless.copy()
    weakest[kept] = True
    return np.where(useless, 0.0, strength), weakest


def _useless(tree: Tree, risks: Array, near: float) -> Array:
    """Inner nodes whose splits, all together, do not lower the risk."""
    below = subtree_sums(tree, risks)
    leaves = subtree_sums(tree, np.ones(tree.n_nodes))
    useless: Array = ~tree.is_leaf & (risks - below <= near * (leaves - 1))
    return useless


@dataclass(frozen=True, slots=True)
class PathLevel:
    """One tree of the sequence: the best for an alpha from this one up to the next level's.

    Parameters
    ----------
    level : int
    alpha : float
    n_leaves : int
    risk : float
        Of its leaves together, as a share of the root's weight.
    """

    level: int
    alpha: float
    n_leaves: int
    risk: float


@dataclass(frozen=True, eq=False)
class ComplexityPath:
    """The sequence of trees that cost complexity leads through.

    Level 0 is the grown tree, the last level its root alone; level k is the smallest tree with the
    least risk + alpha × leaves for an alpha from ``alphas[k]`` up to ``alphas[k + 1]``.

    Parameters
    ----------
    alphas : ndarray of shape (n_levels,)
        Ascending, the first is 0.
    n_leaves : ndarray of shape (n_levels,)
        Leaves of each level's tree.
    risks : ndarray of shape (n_levels,)
        Risk of each level's tree, as a share of the root's weight.
    level_of_cut : ndarray of shape (n_nodes,)
        Level that makes the node a leaf: 0 for leaves, ``n_levels`` where the node goes with one
        above it before.
    risk : {"impurity", "error"}
        What was counted.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> path = complexity_path(DecisionTreeClassifier().fit(iris.table, iris.y).tree_, "error")
    >>> [(step.n_leaves, round(step.alpha, 4)) for step in path]
    [(9, 0.0), (7, 0.0033), (4, 0.0067), (3, 0.0133), (2, 0.2933), (1, 0.3333)]
    >>> path.level_at(0.02), path.cuts(3)
    (3, array([3, 4], dtype=int32))
    """

    alphas: Array
    n_leaves: Array
    risks: Array
    level_of_cut: Array
    risk: str
    _parent: Array = field(repr=False)
    _risk_of_node: Array = field(repr=False)

    @property
    def n_levels(self) -> int:
        """Number of trees in the sequence."""
        return len(self.alphas)

    def __len__(self) -> int:
        return self.n_levels

    def __iter__(self) -> Iterator[PathLevel]:
        columns = (self.alphas.tolist(), self.n_leaves.tolist(), self.risks.tolist())
        for level, numbers in enumerate(zip(*columns, strict=True)):
            yield PathLevel(level, *numbers)

    def cuts(self, level: int) -> Array:
        """Nodes of the grown tree that are leaves of a level's tree: the topmost, ascending."""
        self._check(level)
        made = (self.level_of_cut > 0) & (self.level_of_cut <= level) & (level < self.until)
        return np.flatnonzero(made).astype(np.int32)

    def level_at(self, alpha: float) -> int:
        """The level whose tree is the best for an alpha."""
        if not alpha >= 0:
            raise ValueError(f"alpha={alpha!r}: the price of a leaf is 0 or more")
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    @cached_property
    def _next(self) -> tuple[Array, Array]:
        """Of each node: the level at which a node above takes its place, and that node."""
        n = len(self._parent)
        key = self.level_of_cut.astype(np.int64) * n + np.arange(n)
        # Of the nodes above that fall first the least number, which is the topmost.
        first = least_above(self._parent, key, self.n_levels * n)
        none = first >= self.n_levels * n
        return np.where(none, self.n_levels, first // n), np.where(none, -1, first % n)

    @property
    def until(self) -> Array:
        """Level at which each node has gone, with one above it; ``n_levels`` for the root."""
        return self._next[0]

    @property
    def heir(self) -> Array:
        """The leaf that takes the place of each node at level ``until``; -1 for the root."""
        return self._next[1]

    def frames(self, level: int) -> list[dict[str, Any]]:
        """One frame for each node that becomes a leaf of a tree of the sequence, up to a level."""
        self._check(level)
        own, until, heir = self.level_of_cut, self.until, self.heir
        seen = own < until  # leaves of some level's tree
        handed = seen & (heir >= 0)
        n, weights = len(own), self._risk_of_node[handed]
        lost = np.bincount(heir[handed], minlength=n)
        before = np.bincount(heir[handed], weights, minlength=n)
        made = np.flatnonzero(seen & (own > 0) & (own <= level))
        made = made[np.lexsort((-made, own[made]))]
        return frames_of(
            {
                "node": made,
                "level": own[made],
                "alpha": self.alphas[own[made]],
                "risk_before": before[made],
                "risk_after": self._risk_of_node[made],
                "n_leaves": self.n_leaves[0] - np.cumsum(lost[made] - 1),
            }
        )

    def _check(self, level: int) -> None:
        if not 0 <= level < self.n_levels:
            raise ValueError(f"level={level}: the tree has levels 0 to {self.n_levels - 1}")


def complexity_path(tree: Tree, risk: Risk = "impurity") -> ComplexityPath:
    """The nested trees of minimal cost complexity, by weakest links.

    Parameters
    ----------
    tree : Tree
        A grown tree.
    risk : {"impurity", "error"}
        What a leaf costs, see `ceiba.tree.prune.risk.leaf_risks`.

    Returns
    -------
    ComplexityPath

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
    """
    # A tree never changes, and every choice among its levels asks for them again.
    known: dict[str, ComplexityPath] = vars(tree).setdefault("_complexity_paths", {})
    if risk not in known:
        risks = leaf_risks(tree, risk)
        alphas, own = weakest_links(tree, risks)
        n_leaves, of_level = _totals(tree.parent, own, risks, len(alphas))
        known[risk] = ComplexityPath(alphas, n_leaves, of_level, own, risk, tree.parent, risks)
    return known[risk]


def complexity_cuts(tree: Tree, path: ComplexityPath, level: int) -> Cuts:
    """The cuts that lead from a grown tree to the tree of a level of its path."""
    return Cuts.of(tree, path.frames(level))


def _totals(parent: Array, own: Array, risks: Array, n_levels: int) -> tuple[Array, Array]:
    """Leaves and risk of each level's tree."""
    until = least_above(parent, np.where(own == 0, n_levels, own), n_levels)
    seen = own < until
    begin, end = own[seen], until[seen]
    n = n_levels + 1
    leaves = np.bincount(begin, minlength=n) - np.bincount(end, minlength=n)
    change = np.bincount(begin, risks[seen], n) - np.bincount(end, risks[seen], n)
    return np.cumsum(leaves)[:-1], np.maximum(np.cumsum(change)[:-1], 0.0)
