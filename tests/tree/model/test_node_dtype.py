"""The packed node: every field is decoded and written by `NodeView`."""

from __future__ import annotations

import numpy as np

from ceiba._native import NodeTest
from ceiba.tree.model.node_dtype import NODE_DTYPE, NodeView, join_trees


def pack(
    word: int, child: int, column: int, kind: NodeTest, missing_branch: int, half: bool = False
) -> list[int]:
    test = column | kind << 24 | missing_branch << 28 | half << 31
    return [word, child & 0xFFFFFFFF | test << 32]


NODES = np.array(
    [
        pack(7, 1, 2**24 - 1, NodeTest.INTERVALS, 7, half=True),
        pack(2**64 - 1, -1, 0, NodeTest.LEAF, 0),
        pack(0, 2**31 - 1, 3, NodeTest.TABLE, 2),
    ],
    np.uint64,
)


def test_node_takes_16_bytes() -> None:
    assert NODE_DTYPE.itemsize == 16


def test_fields_are_decoded() -> None:
    node = NodeView(NODES)
    assert node.word.tolist() == [7, 2**64 - 1, 0]
    assert node.child.tolist() == [1, -1, 2**31 - 1]
    assert node.column.tolist() == [2**24 - 1, 0, 3]
    assert node.kind.tolist() == [NodeTest.INTERVALS, NodeTest.LEAF, NodeTest.TABLE]
    assert node.missing_branch.tolist() == [7, 0, 2]
    assert node.has_half.tolist() == [True, False, False]
    assert (node.kind == NodeTest.LEAF).tolist() == [False, True, False]


def test_fields_are_written_to_the_array() -> None:
    nodes = NODES.copy()
    node = NodeView(nodes)
    node.child[0] = 5
    node.value[1] = -1.5
    node.word[2] = 9
    assert nodes[0].tolist() == pack(7, 5, 2**24 - 1, NodeTest.INTERVALS, 7, half=True)
    assert nodes[1, 0] == np.array(-1.5).view(np.uint64)
    assert nodes[2, 0] == 9


def test_a_half_is_cleared_alone() -> None:
    nodes = NODES.copy()
    NodeView(nodes).clear_half(np.array([0, 2]))
    assert nodes[0].tolist() == pack(7, 1, 2**24 - 1, NodeTest.INTERVALS, 7)
    assert nodes[2].tolist() == NODES[2].tolist()


def test_make_leaf_clears_the_test() -> None:
    nodes = NODES.copy()
    NodeView(nodes).make_leaf(np.array([True, False, False]))
    assert (NodeView(nodes).kind == NodeTest.LEAF).tolist() == [True, True, False]
    assert NodeView(nodes).column.tolist() == [0, 0, 3]
    assert NodeView(nodes).child.tolist() == [1, -1, 2**31 - 1]


def test_joined_trees_refer_to_their_own_words_and_tables() -> None:
    kinds = [NodeTest.WORDS, NodeTest.INTERVALS, NodeTest.TABLE, NodeTest.LEAF]
    nodes = np.array([pack(1, 0, 0, kind, 0) for kind in kinds], np.uint64)
    offsets, words = np.array([0, 1, 4]), np.array([3, 5], np.uint64)
    tables = np.array([2, 4, 6], np.int32)
    joined = join_trees([nodes] * 3, [offsets] * 3, [words] * 3, [tables] * 3)
    assert joined["nodes"][:, 0].tolist() == [1, 1, 1, 1, 3, 3, 4, 1, 5, 5, 7, 1]
    assert (joined["nodes"][:, 1] == np.tile(nodes[:, 1], 3)).all()
    assert joined["tree_offsets"].tolist() == [0, 1, 4, 5, 8, 9, 12]
    assert joined["words"].tolist() == [3, 5] * 3
    assert joined["tables"].tolist() == [2, 4, 6] * 3
    assert nodes[:, 0].tolist() == [1] * 4
