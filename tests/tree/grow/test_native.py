"""The tree kernels check their arguments: wrong arrays raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, _native
from ceiba.tree import Tree

N_CODES = np.array([3], np.uint32)
NOMINAL = np.array([False])
CODES = np.array([[0, 1, 2, 1, 0, 2]], np.uint8)
LABELS = np.array([0, 0, 1, 0, 0, 1], np.uint16)


def rules(**settings: Any) -> Any:
    made = _native.TreeRules()
    for name, value in {"classes": 2, **settings}.items():
        setattr(made, name, value)
    return made


def columns(n_codes: Any = N_CODES) -> Any:
    return _native.TreeColumns(n_codes=n_codes, nominal=NOMINAL)


def grown() -> Any:
    targets = _native.TreeTargets(label=LABELS)
    return _native.tree_grow(rules(), CODES, columns(), targets, None, None, 1)


def depth_sums(made: Any, n_codes: Any = N_CODES, cells: int = 8, **targets: Any) -> None:
    one = np.zeros(1)
    _native.tree_level_sums(
        made, CODES, columns(n_codes), _native.TreeTargets(**targets), np.zeros(6, np.int32),
        np.zeros(cells, np.int64), np.zeros(1, np.int64), one, one.copy(), 1,
    )  # fmt: skip


def test_valid_arrays_are_accepted() -> None:
    depth_sums(rules(), label=LABELS)
    assert len(grown()[0]) == 3


@pytest.mark.parametrize("classes", [-1, 65_536, 2**32 + 2])
def test_bad_number_of_classes_raises(classes: int) -> None:
    with pytest.raises(ValueError, match="classes"):
        depth_sums(rules(classes=classes), label=LABELS)


def test_criterion_of_another_target_raises() -> None:
    with pytest.raises(ValueError, match="criterion must suit"):
        depth_sums(rules(criterion=4), label=LABELS)


def test_too_many_codes_raise() -> None:
    with pytest.raises(ValueError, match="too many codes"):
        depth_sums(rules(), np.array([2**32 - 1], np.uint32), label=LABELS)


def test_cells_of_wrong_size_raise() -> None:
    with pytest.raises(ValueError, match="room for every slot"):
        depth_sums(rules(), cells=7, label=LABELS)


def test_absolute_error_has_no_depth_sums() -> None:
    value = LABELS.astype(float)
    made = rules(classes=0, criterion=5)
    with pytest.raises(ValueError, match="no sums"):
        depth_sums(made, value=value, number=LABELS.astype(np.int64), ranked=np.array([0.0, 1.0]))


def test_codes_and_labels_out_of_range_raise() -> None:
    with pytest.raises(ValueError, match="label lies outside"):
        depth_sums(rules(), label=LABELS + np.uint16(7))
    targets = _native.TreeTargets(label=LABELS)
    with pytest.raises(ValueError, match="code lies outside"):
        _native.tree_grow(rules(), CODES + np.uint8(9), columns(), targets, None, None, 1)


@pytest.mark.parametrize("byte", range(0, 176, 3))
def test_corrupted_state_raises_or_is_harmless(byte: int) -> None:
    nodes, *rest = grown()
    nodes = nodes.copy()
    nodes[0, byte % nodes.shape[1]] ^= 0xFF
    indices = np.zeros(6, np.int32)
    try:
        _native.tree_places(rules(), (nodes, *rest), CODES, columns(), indices)
    except ValueError:
        return
    assert indices.min() >= 0
    assert indices.max() < len(nodes)


def test_bins_and_codes_must_agree() -> None:
    edges, offsets = np.array([0.5]).view(np.uint64), np.array([0, 1])
    with pytest.raises(ValueError, match="bins or levels"):
        _native.tree_bin([np.arange(3.0)], [None], [0], [0], N_CODES, edges, offsets, 1)


@pytest.fixture
def tree() -> Tree:
    X = np.random.default_rng(0).normal(size=(60, 3))
    return DecisionTreeClassifier().fit(X, X[:, 2] > 0).tree_


def test_rows_must_have_the_columns_of_the_tree(tree: Tree) -> None:
    leaf = np.empty(4, np.int32)
    with pytest.raises(ValueError, match="must have the columns"):
        _native.tree_route_matrix(tree.nodes, tree.words, tree.tables, np.zeros((4, 2)), 3, leaf, 1)


def test_leaf_that_tests_a_column_raises(tree: Tree) -> None:
    record = tree.to_json()
    nodes = record["nodes"].copy()
    nodes[np.flatnonzero(tree.is_leaf)[0], 1] |= np.uint64(0xFFFFFF << 32)
    with pytest.raises(ValueError, match="a leaf tests nothing"):
        Tree.from_json({**record, "nodes": nodes})


def test_shared_branch_raises(tree: Tree) -> None:
    record = tree.to_json()
    nodes = record["nodes"].copy()
    nodes[1], nodes[2] = nodes[0], nodes[0]
    with pytest.raises(ValueError, match="branch"):
        Tree.from_json({**record, "nodes": nodes})
