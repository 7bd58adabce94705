"""Entropy and Gini impurity of a partition of rows, by branches or by the nodes at a depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array
from ceiba.tree.compare.table import NamedRows, align_columns
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class PartitionScores:
    """Impurities of rows before and after a partition, in bits and as Gini index.

    ``entropy`` and ``gini`` are means over the parts, by weight.
    """

    branch_weights: Array
    root_entropy: float
    root_gini: float
    entropy: float
    gini: float

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.branch_weights.sum())

    @property
    def information_gain(self) -> float:
        """Decrease of the entropy."""
        return max(self.root_entropy - self.entropy, 0.0)

    @property
    def gini_decrease(self) -> float:
        """Decrease of the Gini impurity."""
        return max(self.root_gini - self.gini, 0.0)


def partition_scores(class_weights: Array) -> PartitionScores:
    """Compute the scores of a partition from class weights, of shape (n_parts, n_classes)."""
    weights = class_weights.sum(axis=1)
    shares = weights / weights.sum() if weights.sum() > 0 else weights
    root = class_weights.sum(axis=0, keepdims=True)
    return PartitionScores(
        branch_weights=weights,
        root_entropy=float(entropies(root)[0]),
        root_gini=float(ginis(root)[0]),
        entropy=float(shares @ entropies(class_weights)),
        gini=float(shares @ ginis(class_weights)),
    )


@dataclass(frozen=True, slots=True)
class DepthScore:
    """Scores of the partition of rows at one depth of a tree.

    Parameters
    ----------
    name : int
        The depth.
    n_nodes : int
        Parts with rows: nodes at this depth, and leaves above.
    entropy, gini : float
        Mean impurity of the parts, by weight; entropy in bits.
    information_gain, gini_decrease : float
        Decrease of the impurity from the root to this depth.
    """

    name: int
    n_nodes: int
    entropy: float
    gini: float
    information_gain: float
    gini_decrease: float


@dataclass(frozen=True, eq=False, repr=False)
class DepthScores(NamedRows):
    """Scores of the partitions at all depths, from the root on; prints as aligned text.

    ``scores[2]`` is the row of depth 2.

    Parameters
    ----------
    rows : tuple of DepthScore
    """

    def __str__(self) -> str:
        headings = ["depth", "nodes", "entropy", "gini", "gain", "gini decrease"]
        lines = [
            [
                str(row.name), str(row.n_nodes), f"{row.entropy:.4f}", f"{row.gini:.4f}",
                f"{row.information_gain:.4f}", f"{row.gini_decrease:.4f}",
            ]
            for row in self.rows
        ]  # fmt: skip
        return align_columns([headings, *lines], right=True)


def depth_scores(tree: Tree, class_weights: Array) -> DepthScores:
    """Score the partitions at all depths of a tree from the class weights of its nodes."""
    rows = []
    for depth in range(tree.max_depth + 1):
        parts = (tree.depth == depth) | (tree.is_leaf & (tree.depth < depth))
        scores = partition_scores(class_weights[parts])
        rows.append(
            DepthScore(
                depth, int((scores.branch_weights > 0).sum()), scores.entropy, scores.gini,
                scores.information_gain, scores.gini_decrease,
            )
        )  # fmt: skip
    return DepthScores(tuple(rows))


def entropies(class_weights: Array) -> Array:
    """Return the entropy of each row of class weights, in bits."""
    p = _fractions(class_weights)
    logs = np.log2(np.where(p > 0, p, 1.0))
    return np.asarray(np.abs((p * logs).sum(axis=1)))


def ginis(class_weights: Array) -> Array:
    """Return the Gini impurity of each row of class weights."""
    p = _fractions(class_weights)
    return np.asarray((p * (1 - p)).sum(axis=1))


def _fractions(class_weights: Array) -> Array:
    total = class_weights.sum(axis=1, keepdims=True)
    return np.asarray(class_weights / np.where(total > 0, total, 1.0))
