"""Damaged forests are rejected; those that are not rejected predict valid values."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.ensemble.forest.model import Forest
from ceiba.export import ModelFileError
from tests.budget import examples
from tests.ensemble.forest.parts import FEW, NEW, classes, many, numbers
from tests.ensemble.forest.random_damage import INF, NAN, damaged, save_and_load

MAPPED = pytest.mark.parametrize("mmap", [False, True])


# Codes of tests and of leaves of classifiers

LEAF, TABLE, INTERVALS = 0, 7, 8
NUMBER, PURE = range(2)


def forest_of(name: str) -> Forest:
    return damageable()[name]


@cache
def damageable() -> dict[str, Forest]:
    """Return forests with leaves of every kind."""
    return {
        "classes": classes(3).forest_,
        "mixed": classes(3, max_depth=2).forest_,
        "weighted": classes(3, max_depth=3, class_weight={0: 0.3}).forest_,
        "many": many().forest_,
        "numbers": numbers(3).forest_,
    }


def parts(forest: Forest) -> tuple[Array, Array, Array, Array]:
    """Return a copy of the nodes, a view of their child, and their test and flag."""
    nodes = forest.nodes.copy()
    halves = nodes.view(np.uint32)
    return nodes, halves[:, 2].view(np.int32), halves[:, 3] >> 24 & 0xF, halves[:, 3] >> 28


def first_of(mask: Array) -> int:
    """Return the first index of a mask."""
    assert mask.any()
    return int(np.argmax(mask))


def changed_child(kind: Any, value: int) -> Any:
    """Change the child of the first node of a kind."""

    def change(forest: Forest) -> Array:
        nodes, child, test, flag = parts(forest)
        child[first_of(kind(test, flag))] = value
        return nodes

    return change


def changed_word(kind: Any, value: int) -> Any:
    def change(forest: Forest) -> Array:
        nodes, _, test, flag = parts(forest)
        nodes[first_of(kind(test, flag)), 0] = value
        return nodes

    return change


def changed_test(kind: Any, column: int, test: int, flag: int) -> Any:
    def change(forest: Forest) -> Array:
        nodes, _, tests, flags = parts(forest)
        nodes.view(np.uint32)[first_of(kind(tests, flags)), 3] = column | test << 24 | flag << 28
        return nodes

    return change


def inner(test: Array, flag: Array) -> Array:
    return test != LEAF


def leaf_of(wanted: int) -> Any:
    return lambda test, flag: (test == LEAF) & (flag == wanted)


BRANCHES = "the branches of a node must follow it within the tree"
BAD_NODES: list[tuple[str, Any, str]] = [
    ("classes", changed_child(inner, 10**6), BRANCHES),
    ("classes", changed_child(inner, -1), BRANCHES),
    ("classes", changed_child(inner, 0), BRANCHES),
    ("classes", changed_child(inner, 3), "every node except the root must be a branch"),
    ("classes", changed_child(leaf_of(PURE), 3), "class indices of leaves must be below"),
    ("classes", changed_child(leaf_of(PURE), -1), "class indices of leaves must be below"),
    ("classes", changed_word(leaf_of(PURE), 0), "weight"),
    ("classes", changed_word(leaf_of(PURE), 2**63 + 5), "weight"),
    ("classes", changed_test(leaf_of(PURE), 0, LEAF, 4), "unknown kind of leaf"),
    ("classes", changed_test(leaf_of(PURE), 5, LEAF, PURE), "a leaf must not have a test"),
    ("classes", changed_test(inner, 8, 1, 0), "must be less than the number of columns"),
    ("classes", changed_test(inner, 0, 5, 0), "must match the type of its column"),
    ("classes", changed_test(inner, 0, 15, 0), "must match the type of its column"),
    ("classes", changed_test(inner, 0, 1, 2), "branch"),
    ("classes", changed_test(inner, 6, TABLE, 0), "within the arrays of the tree"),
    ("numbers", changed_test(inner, 0, INTERVALS, 0), "interval|within the arrays"),
    ("numbers", changed_child(leaf_of(NUMBER), -1), "regression leaves must have"),
    ("numbers", changed_child(leaf_of(NUMBER), 0), "regression leaves must have|weight"),
    ("numbers", changed_test(leaf_of(NUMBER), 0, LEAF, 1), "regression leaves must have"),
    ("numbers", changed_word(leaf_of(NUMBER), NAN), "regression leaves must have|number"),
    ("numbers", changed_word(leaf_of(NUMBER), INF), "regression leaves must have|number"),
]


def with_offset(index: int, value: int) -> Any:
    """Change one of the tree offsets."""

    def change(forest: Forest) -> Array:
        offsets = forest.tree_offsets.copy()
        offsets[index] = value
        return offsets

    return change


BAD_ARRAYS: list[tuple[str, str, Any, str]] = [
    ("classes", "tree_offsets", with_offset(0, 1), "."),
    ("classes", "tree_offsets", with_offset(-1, 1), "."),
    ("classes", "tree_offsets", with_offset(1, 2), "node"),
    ("classes", "nodes", lambda f: f.nodes[:-1], "must cover all its nodes"),
    ("classes", "nodes", lambda f: f.nodes[:0], "must cover all its nodes"),
    ("classes", "nodes", lambda f: f.nodes[:, :1], "nodes must be an array of uint64"),
    ("classes", "nodes", lambda f: f.nodes.view(np.float64), "nodes must be an array of uint64"),
    ("classes", "nodes", lambda f: f.nodes.reshape(-1), "nodes must be an array of uint64"),
    ("many", "tables", lambda f: f.tables[:-1], "within the arrays of the tree"),
    ("many", "tables", lambda f: f.tables - 1, "within the arrays of the tree"),
    ("many", "tables", lambda f: f.tables + 10**6, "branches of a node"),
    ("many", "leaves", lambda f: f.leaves[:-1], "class weights of leaves must be positive"),
    ("many", "leaves", lambda f: f.leaves.view(np.int8), "leaves must be an array of uint8"),
    ("many", "leaves", lambda f: f.leaves[:, None], "leaves must be an array of uint8"),
    ("numbers", "leaves", lambda f: np.ones(3, np.uint8), "must cover all leaf bytes"),
    ("classes", "importances", lambda f: f.importances * np.nan, "importances"),
    ("classes", "importances", lambda f: f.importances + np.inf, "importances"),
    ("classes", "importances", lambda f: -f.importances, "importances"),
    ("classes", "n_classes", lambda f: 2, "class"),
    ("classes", "n_classes", lambda f: 0, "regression leaves must have"),
    ("classes", "n_classes", lambda f: -1, "n_classes must be"),
    ("classes", "n_classes", lambda f: 3.0, "n_classes must be"),
    ("classes", "n_classes", lambda f: True, "n_classes must be"),
    ("classes", "n_classes", lambda f: 2**70, "n_classes must be"),
    ("numbers", "n_classes", lambda f: 3, "unknown kind of leaf"),
    ("classes", "n_grown", lambda f: -1, "n_grown must be"),
    ("classes", "n_grown", lambda f: 2.5, "n_grown must be"),
    ("classes", "weight_unit", lambda f: f.weight_unit * 0, "weight_unit must be positive"),
    ("classes", "weight_unit", lambda f: f.weight_unit * np.nan, "weight_unit must be positive"),
    ("classes", "weight_unit", lambda f: f.weight_unit * np.inf, "weight_unit must be positive"),
    ("classes", "weight_unit", lambda f: -f.weight_unit, "weight_unit must be positive"),
    ("classes", "schema", lambda f: None, "schema must be"),
    ("classes", "schema", lambda f: many().forest_.schema, "columns"),
]
DAMAGES = [
    *((kind, "nodes", change, text) for kind, change, text in BAD_NODES),
    *BAD_ARRAYS,
]


@pytest.mark.parametrize(
    ("kind", "name", "change", "text"),
    DAMAGES,
    ids=[f"{number}: {kind}, {name}" for number, (kind, name, *_) in enumerate(DAMAGES)],
)
def test_damaged_forest_is_rejected(kind: str, name: str, change: Any, text: str) -> None:
    forest = forest_of(kind)
    Forest.from_json(forest.to_json())
    with pytest.raises(ValueError, match=text):
        Forest.from_json(replace(forest, **{name: change(forest)}).to_json())


@pytest.mark.parametrize("name", ["nodes", "trees", "fits", "schema", "n_classes", "n_grown"])
def test_forest_with_missing_or_unknown_field_is_rejected(name: str) -> None:
    record = forest_of("classes").to_json()
    record.pop(name)
    for wrong in (record, {**record, "other": 1}, {}):
        with pytest.raises(ValueError, match="must have the fields"):
            Forest.from_json(wrong)


# The first damage of each array or number.
ONE_OF_EACH = {name: (kind, change) for kind, name, change, _ in reversed(DAMAGES)}


@MAPPED
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_damaged_forest_cannot_be_saved(name: str, mmap: bool, tmp_path: Any) -> None:
    kind, change = ONE_OF_EACH[name]
    model = many() if kind == "many" else classes(3)
    model.forest_ = replace(forest_of(kind), **{name: change(forest_of(kind))})
    with pytest.raises(ModelFileError):
        save_and_load(model, tmp_path, mmap=mmap)


UNSUITED: list[tuple[Any, str, Any]] = [
    (classes, "forest_", lambda: many().forest_),
    (classes, "forest_", lambda: numbers(2).forest_),
    (classes, "forest_", lambda: None),
    (classes, "forest_", lambda: classes(2).tree(0)),
    (classes, "classes_", lambda: np.array([0, 1])),
    (classes, "n_classes_", lambda: 4),
    (classes, "n_features_in_", lambda: 7),
    (classes, "schema_", lambda: many().schema_),
    (numbers, "forest_", lambda: classes(2).forest_),
    (numbers, "oob_errors_", lambda: np.array([np.nan])),
    (numbers, "oob_errors_", lambda: np.zeros((2, 2))),
]


@pytest.mark.parametrize(("fit", "name", "make"), UNSUITED)
def test_forest_that_contradicts_its_model_is_rejected(
    fit: Any, name: str, make: Any, tmp_path: Any
) -> None:
    model = fit(2)
    setattr(model, name, make())
    with pytest.raises(ModelFileError):
        save_and_load(model, tmp_path)


# Random damage: a forest is rejected, or its predictions are valid


def assert_valid(forest: Forest, rows: Any) -> None:
    """Check all predictions of a forest."""
    table = Table.of(rows)
    for threads in (1, 2):
        for smoothing in (0.0, 1.0):
            predicted = forest.predict(table, threads, smoothing)
            assert np.isfinite(predicted).all()
            if forest.n_classes:
                np.testing.assert_allclose(predicted.sum(axis=1), 1)
                assert (predicted >= 0).all()
        leaves = forest.apply(table, threads)
        sizes = np.diff(forest.tree_offsets)
        assert ((leaves >= 0) & (leaves < sizes)).all()
    with np.errstate(over="ignore"):  # squares of damaged numbers
        for t in range(forest.n_trees):
            np.testing.assert_array_equal(forest.tree(t).apply(table), leaves[:, t])
    assert np.isfinite(forest.mean_importances()).all()
    forest.drop_trees([0]).predict(table)


@pytest.mark.parametrize("kind", ["classes", "mixed", "weighted", "many", "numbers"])
@examples(120)
@given(data=st.data())
def test_randomly_damaged_forest_is_rejected_or_valid(kind: str, data: Any) -> None:
    forest = forest_of(kind)
    record = forest.to_json()
    arrays = [name for name, value in record.items() if isinstance(value, np.ndarray)]
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(["nodes"] * 6 + arrays))
        record[name] = damaged(record[name], data.draw)
    try:
        found = Forest.from_json(record)
    except ValueError:
        return
    assert_valid(found, FEW if kind == "many" else NEW)
