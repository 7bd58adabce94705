"""Cost-complexity pruning of the trees of a forest.

A forest stores leaves only. The decrease of the risk by a split follows from the class weights, or
from the means and weights, of the leaves below it, so that nothing else is needed; except for
absolute errors, whose medians do not add up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from ceiba._typing import Array
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.tree_view import class_weights, subtree_sums
from ceiba.tree.model.node_dtype import NODE_DTYPE, NodeView
from ceiba.tree.model.subtrees import kept_nodes, topmost
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import weakest_links

# Kinds of leaves, in the field of the missing branch: see cpp/core/forest/predict.
_PURE, _MIXED, _MIXED_LONG = 1, 2, 3
_KIND_SHIFT = 28
_MAX_LEAF_WEIGHT = 2**31 - 1


def prune_forest(forest: Forest, ccp_alpha: float, criterion: str) -> Forest:
    """Return a forest whose trees are pruned to the subtrees of minimum cost at ``ccp_alpha``.

    The cost is the risk, as a fraction of the weight of the tree's sample, plus ``ccp_alpha`` for
    each leaf.
    """
    pruned = [_prune_tree(forest, t, ccp_alpha, criterion) for t in range(forest.n_trees)]
    n_nodes = [len(tree.nodes) for tree in pruned]
    return replace(
        forest,
        nodes=np.concatenate([tree.nodes for tree in pruned]),
        tree_offsets=np.concatenate([[0], np.cumsum(n_nodes)]).astype(np.int64),
        leaves=np.concatenate([tree.leaves for tree in pruned]),
        importances=np.stack([tree.importances for tree in pruned]),
    )


class _PrunedTree(NamedTuple):
    nodes: Array
    leaves: Array  # bytes of its long leaves
    importances: Array


def _prune_tree(forest: Forest, number: int, ccp_alpha: float, criterion: str) -> _PrunedTree:
    first, last = forest.tree_offsets[number : number + 2].tolist()
    leaf_first, leaf_last = forest.native.first_leaf[number : number + 2]
    nodes, leaves = forest.nodes[first:last], forest.leaves[leaf_first:leaf_last]
    tree = forest.tree(number)
    risks = _node_risks(tree, criterion)
    alphas, collapsed_at = weakest_links(tree, risks / tree.weight[0])
    step = int(np.searchsorted(alphas, ccp_alpha, side="right")) - 1
    removed = topmost(tree, np.flatnonzero((collapsed_at > 0) & (collapsed_at <= step)))
    if not len(removed):
        return _PrunedTree(nodes, leaves, forest.importances[number])
    kept = kept_nodes(tree, removed)
    is_new = np.isin(kept, removed)
    renumbered = np.full(tree.n_nodes, -1, np.int32)
    renumbered[kept] = np.arange(len(kept))
    packed = nodes[kept]
    is_inner = ~tree.is_leaf[kept] & ~is_new
    NodeView(packed).child[is_inner] = renumbered[tree.child[kept[is_inner]]]
    parts = _LeafBytes.of(tree, nodes, leaves)
    if forest.n_classes:
        units = class_weights(forest, number)
        units = subtree_sums(units, tree.parent, tree.depth)[kept].astype(np.int64)
        steps = 1 if forest.class_units is None else forest.class_units[number]
        new = {int(i): _class_leaf(units[i], units[i] // steps) for i in np.flatnonzero(is_new)}
    else:
        weight = np.minimum(tree.weight[kept], _MAX_LEAF_WEIGHT).astype(np.int32)
        value = tree.node_values[kept, 0].view(np.uint64)
        new = {int(i): _Leaf(int(value[i]), int(weight[i])) for i in np.flatnonzero(is_new)}
    rest = parts.repack(packed, kept, new)
    return _PrunedTree(packed, rest, _importances(tree, risks, kept[is_inner]))


def _node_risks(tree: Tree, criterion: str) -> Array:
    """Return weight times impurity of each node, up to a constant of all leaves below it."""
    if criterion in ("gini", "entropy", "log_loss"):
        fractions = tree.node_values / tree.weight[:, None]
        if criterion == "gini":
            return np.asarray(tree.weight * (1 - (fractions**2).sum(axis=1)))
        return np.asarray(-tree.weight * xlogy(fractions, fractions).sum(axis=1) / np.log(2))
    mean = tree.node_values[:, 0]
    if criterion == "squared_error":
        own = tree.weight * (mean - mean[0]) ** 2
    else:
        own = tree.weight * xlogy(mean, mean)
    at_leaves = np.where(tree.is_leaf, own, 0.0)[:, None]
    return np.asarray(subtree_sums(at_leaves, tree.parent, tree.depth)[:, 0] - own)


def _importances(tree: Tree, risks: Array, inner: Array) -> Array:
    """Return the decrease of impurity by the splits of some nodes, for each column."""
    below = np.zeros(tree.n_nodes)
    np.add.at(below, tree.parent[1:], risks[1:])
    decrease = np.maximum(risks[inner] - below[inner], 0.0)
    total = np.zeros(len(tree.schema))
    np.add.at(total, tree.column[inner], decrease)
    return total


class _Leaf(NamedTuple):
    word: int
    child: int
    kind: int = 0
    rest: bytes = b""


class _LeafBytes(NamedTuple):
    """Bytes of the long leaves of one tree, by the number of the leaf."""

    of_leaf: dict[int, bytes]

    @classmethod
    def of(cls, tree: Tree, nodes: Array, leaves: Array) -> _LeafBytes:
        view = NodeView(nodes)
        is_long = tree.is_leaf & (view.missing_branch == _MIXED_LONG)
        numbers = np.flatnonzero(is_long) if tree.is_classification else np.empty(0, np.int64)
        offsets = [*view.child[numbers].tolist(), len(leaves)]
        data = leaves.tobytes()
        found = {int(n): data[offsets[i] : offsets[i + 1]] for i, n in enumerate(numbers)}
        return cls(found)

    def repack(self, packed: Array, kept: Array, new: dict[int, _Leaf]) -> Array:
        """Write new leaves to packed nodes, in place, and return the bytes of all long leaves."""
        record = packed.view(NODE_DTYPE)[:, 0]
        data = bytearray()
        for index, number in enumerate(kept.tolist()):
            leaf = new.get(index)
            if leaf is not None:
                record[index] = (leaf.word, leaf.child, leaf.kind << _KIND_SHIFT)
            rest = self.of_leaf.get(number, b"") if leaf is None else leaf.rest
            if rest:
                record["child"][index] = len(data)
                data += rest
        return np.frombuffer(bytes(data), np.uint8)


def _class_leaf(weights: Array, in_steps: Array) -> _Leaf:
    """Return the leaf of some class weights, which are multiples of a step per class."""
    majority = int(weights.argmax())
    if weights[majority] == weights.sum():
        return _Leaf(int(weights[majority]), majority, _PURE)
    bits, length = _encode(in_steps.tolist())
    first, rest = bits & (2**64 - 1), bits >> 64
    if length <= 64:
        return _Leaf(first, majority, _MIXED)
    return _Leaf(first, 0, _MIXED_LONG, rest.to_bytes((length - 64 + 7) // 8, "little"))


def _encode(weights: list[int]) -> tuple[int, int]:
    """Return the bits of a leaf code and their number; see leaf_code.hpp for the format."""
    present = [(k, weight) for k, weight in enumerate(weights) if weight > 0]
    order = _best_order([weight for _, weight in present])
    sparse, dense = len(weights).bit_length(), len(present).bit_length()
    skips = sparse - dense - 1 if sparse > dense else 0
    integers = [(len(present) - 2, 0), (order, 0)]
    begin = 0
    for k, weight in present:
        integers += [(k - begin, skips), (weight - 1, order)]
        begin = k + 1
    bits = used = 0
    for value, power in integers:
        x = value + (1 << power)
        below = x.bit_length() - 1
        zeros = below - power
        bits |= (1 << zeros) << used
        bits |= (x ^ (1 << below)) << (used + zeros + 1)
        used += zeros + 1 + below
    return bits, used


def _best_order(weights: list[int]) -> int:
    """Return the order of the exponential Golomb code with the shortest code of the weights."""
    orders = range(max(weights).bit_length())
    return min(orders, key=lambda k: _length(k, 0) + sum(_length(w - 1, k) for w in weights))


def _length(value: int, order: int) -> int:
    below = (value + (1 << order)).bit_length() - 1
    return 2 * below - order + 1
