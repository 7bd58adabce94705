"""Arrays that enter the tree kernels are checked: invalid ones raise."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, _native
from ceiba._native import ColumnType, Criterion, LeafReason
from ceiba.tree import Tree
from ceiba.tree.grow.encoding import ColumnTypes

N_CODES = np.array([3], np.uint32)
NOMINAL = np.array([False])
CODES = np.array([[0, 1, 2, 1, 0, 2]], np.uint8)
LABELS = np.array([0, 0, 1, 0, 0, 1], np.uint16)


def config(**fields: Any) -> _native.TreeConfig:
    struct = _native.TreeConfig()
    for name, value in {"n_classes": 2, **fields}.items():
        setattr(struct, name, value)
    return struct


def encoding(n_codes: Any = N_CODES) -> _native.ColumnEncoding:
    return _native.ColumnEncoding(n_codes, NOMINAL, np.zeros_like(NOMINAL))


def grow() -> Any:
    targets = _native.TreeTargets(label=LABELS)
    return _native.tree_grow(config(), CODES, encoding(), targets, None, None, 1)


def depth_sums(
    settings: _native.TreeConfig, n_codes: Any = N_CODES, n_cells: int = 8, **targets: Any
) -> None:
    sums = _native.DepthSums(
        np.zeros(n_cells, np.int64), np.zeros(1, np.int64), np.zeros(1), np.zeros(1)
    )
    _native.tree_depth_sums(
        settings, CODES, encoding(n_codes), _native.TreeTargets(**targets), np.zeros(6, np.int32),
        sums, 1,
    )  # fmt: skip


def test_valid_arrays_are_accepted() -> None:
    depth_sums(config(), label=LABELS)
    assert len(grow()[0]) == 3


@pytest.mark.parametrize("n_classes", [-1, 65_536, 2**32 + 2])
def test_n_classes_must_be_in_range(n_classes: int) -> None:
    with pytest.raises(ValueError, match="n_classes must be in"):
        depth_sums(config(n_classes=n_classes), label=LABELS)


def test_criterion_must_fit_the_targets() -> None:
    with pytest.raises(ValueError, match="criterion must be"):
        depth_sums(config(criterion=Criterion.SQUARED_ERROR), label=LABELS)


def test_unknown_criterion_raises() -> None:
    with pytest.raises(TypeError):
        config(criterion=99)


def test_unknown_field_raises() -> None:
    with pytest.raises(AttributeError):
        config(max_height=3)


def test_n_codes_must_be_in_range() -> None:
    with pytest.raises(ValueError, match="n_codes must be less"):
        depth_sums(config(), np.array([2**32 - 1], np.uint32), label=LABELS)


def test_cells_must_have_the_size_of_the_nodes() -> None:
    with pytest.raises(ValueError, match="cells must have"):
        depth_sums(config(), n_cells=7, label=LABELS)


def test_absolute_error_has_no_depth_sums() -> None:
    settings = config(n_classes=0, criterion=Criterion.ABSOLUTE_ERROR)
    with pytest.raises(ValueError, match="no depth sums"):
        depth_sums(
            settings,
            value=LABELS.astype(float),
            weighted_target=LABELS.astype(np.int64),
            distinct_values=np.array([0.0, 1.0]),
        )


def test_labels_and_codes_must_be_in_range() -> None:
    with pytest.raises(ValueError, match="label must be less"):
        depth_sums(config(), label=LABELS + np.uint16(7))
    targets = _native.TreeTargets(label=LABELS)
    with pytest.raises(ValueError, match="codes must be at most"):
        _native.tree_grow(config(), CODES + np.uint8(9), encoding(), targets, None, None, 1)


@pytest.mark.parametrize("byte", range(0, 176, 3))
def test_state_with_a_wrong_byte_raises_or_is_harmless(byte: int) -> None:
    nodes, *rest = grow()
    nodes = nodes.copy()
    nodes[0, byte % nodes.shape[1]] ^= 0xFF
    node_of_row = np.zeros(6, np.int32)
    try:
        _native.tree_nodes_of_rows(config(), (nodes, *rest), CODES, encoding(), node_of_row)
    except ValueError:
        return
    assert node_of_row.min() >= 0
    assert node_of_row.max() < len(nodes)


def float_table(n_rows: int = 3) -> _native.TreeTable:
    columns = _native.ColumnTypes([ColumnType.FLOAT64], [0])
    return _native.TreeTable([np.arange(float(n_rows))], [None], columns)


def test_n_codes_must_agree_with_the_edges() -> None:
    edges, offsets = np.array([0.5]).view(np.uint64), np.array([0, 1])
    with pytest.raises(ValueError, match="n_codes must be"):
        _native.tree_bin(float_table(), N_CODES, edges, offsets, 1)


@pytest.mark.parametrize(
    ("array", "kind", "n_categories"),
    [
        (np.zeros(3, np.int32), ColumnType.FLOAT64, 0),
        (np.zeros(3, np.int32), ColumnType.INT64, 0),
        (np.zeros(3, np.int64), ColumnType.UINT64, 0),
        (np.zeros(3, np.int64), ColumnType.NOMINAL, 2),
        (np.array([0, 2, 1], np.int32), ColumnType.NOMINAL, 2),
        (np.array([0, -2, 1], np.int32), ColumnType.ORDINAL, 2),
    ],
)
def test_columns_must_have_their_types(array: Any, kind: ColumnType, n_categories: int) -> None:
    columns = _native.ColumnTypes([kind], [n_categories])
    with pytest.raises(ValueError, match="must"):
        _native.TreeTable([array], [None], columns)


def test_float32_and_float64_may_replace_each_other() -> None:
    columns = _native.ColumnTypes([ColumnType.FLOAT32, ColumnType.FLOAT64], [0, 0])
    _native.TreeTable([np.zeros(3), np.zeros(3, np.float32)], [None, None], columns)


def test_floats_replace_integers_for_prediction_only() -> None:
    columns = _native.ColumnTypes([ColumnType.INT64], [0])
    table = _native.TreeTable([np.array([0.5, 1.5])], [None], columns)
    with pytest.raises(ValueError, match="must have integers to be encoded"):
        _native.tree_rank(table, 1)


def test_column_types_can_be_pickled() -> None:
    columns = ColumnTypes([ColumnType.NOMINAL, ColumnType.FLOAT64], [3, 0])
    assert columns.native is columns.native
    back = pickle.loads(pickle.dumps(columns))
    assert back == columns
    assert back.types[0] is ColumnType.NOMINAL


def test_every_leaf_reason_has_one_code() -> None:
    assert [int(reason) for reason in LeafReason] == list(range(len(LeafReason)))
    assert LeafReason.OPEN == LeafReason.NOT_KEPT


@pytest.fixture
def tree() -> Tree:
    X = np.random.default_rng(0).normal(size=(60, 3))
    return DecisionTreeClassifier().fit(X, X[:, 2] > 0).tree_


def test_rows_must_have_the_columns_of_the_tree(tree: Tree) -> None:
    leaf = np.empty(4, np.int32)
    with pytest.raises(ValueError, match="must have the columns"):
        _native.tree_apply(tree.native, np.zeros((4, 2)), leaf, 1)
    with pytest.raises(ValueError, match="must have the columns"):
        _native.tree_apply(tree.native, float_table(4), leaf, 1)


def test_leaf_that_tests_a_column_raises(tree: Tree) -> None:
    record = tree.to_json()
    nodes = record["nodes"].copy()
    nodes[np.flatnonzero(tree.is_leaf)[0], 1] |= np.uint64(0xFFFFFF << 32)
    with pytest.raises(ValueError, match="lea"):
        Tree.from_json({**record, "nodes": nodes})


def test_two_nodes_with_one_branch_raise(tree: Tree) -> None:
    record = tree.to_json()
    nodes = record["nodes"].copy()
    nodes[1], nodes[2] = nodes[0], nodes[0]
    with pytest.raises(ValueError, match="branch"):
        Tree.from_json({**record, "nodes": nodes})
