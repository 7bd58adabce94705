"""Damaged forests are refused with a sentence, and whatever is not refused says something sound."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.ensemble.forest.model import Forest
from ceiba.export import ModelFileError
from tests.ensemble.forest.parts import FEW, NEW, classes, many, numbers
from tests.ensemble.forest.twists import INF, NAN, there_and_back, twisted

MAPPED = pytest.mark.parametrize("mmap", [False, True])


# Nodes as (cut, child and test), and how tests and leaves of classes are told

LEAF, TABLE, INTERVALS = 0, 7, 8
NUMBER, PURE = range(2)


def forest_of(name: str) -> Forest:
    return damageable()[name]


@cache
def damageable() -> dict[str, Forest]:
    """Forests with leaves of every kind."""
    return {
        "classes": classes(3).forest_,
        "mixed": classes(3, max_depth=2).forest_,
        "weighted": classes(3, max_depth=3, class_weight={0: 0.3}).forest_,
        "many": many().forest_,
        "numbers": numbers(3).forest_,
    }


def plain(forest: Forest) -> dict[str, Any]:
    """The record of a forest that is not packed."""
    return {entry.name: getattr(forest, entry.name) for entry in fields(Forest)}


def parts(forest: Forest) -> tuple[Array, Array, Array, Array]:
    """A copy of the nodes, and views of child, test and flag in it (flag is a copy)."""
    nodes = forest.nodes.copy()
    halves = nodes.view(np.uint32)
    return nodes, halves[:, 2].view(np.int32), halves[:, 3] >> 24 & 0xF, halves[:, 3] >> 28


def some(mask: Array) -> int:
    """The first place of some."""
    assert mask.any()
    return int(np.argmax(mask))


def changed_child(kind: Any, value: int) -> Any:
    """Nodes of which the first of a kind has another child."""

    def change(forest: Forest) -> Array:
        nodes, child, test, flag = parts(forest)
        child[some(kind(test, flag))] = value
        return nodes

    return change


def changed_cut(kind: Any, value: int) -> Any:
    def change(forest: Forest) -> Array:
        nodes, _, test, flag = parts(forest)
        nodes[some(kind(test, flag)), 0] = value
        return nodes

    return change


def changed_test(kind: Any, column: int, test: int, flag: int) -> Any:
    def change(forest: Forest) -> Array:
        nodes, _, tests, flags = parts(forest)
        nodes.view(np.uint32)[some(kind(tests, flags)), 3] = column | test << 24 | flag << 28
        return nodes

    return change


def inner(test: Array, flag: Array) -> Array:
    return test != LEAF


def leaf_of(wanted: int) -> Any:
    return lambda test, flag: (test == LEAF) & (flag == wanted)


PLACE = "the branches of a node are not where they should be"
BAD_NODES: list[tuple[str, Any, str]] = [
    ("classes", changed_child(inner, 10**6), PLACE),
    ("classes", changed_child(inner, -1), PLACE),
    ("classes", changed_child(inner, 0), PLACE),
    ("classes", changed_child(inner, 3), "every node but the root must be the branch of one"),
    ("classes", changed_child(leaf_of(PURE), 3), "a leaf's class is not there"),
    ("classes", changed_child(leaf_of(PURE), -1), "a leaf's class is not there"),
    ("classes", changed_cut(leaf_of(PURE), 0), "weight"),
    ("classes", changed_cut(leaf_of(PURE), 2**63 + 5), "weight"),
    ("classes", changed_test(leaf_of(PURE), 0, LEAF, 4), "a leaf is not one"),
    ("classes", changed_test(leaf_of(PURE), 5, LEAF, PURE), "a leaf tests nothing"),
    ("classes", changed_test(inner, 8, 1, 0), "a column that is not there"),
    ("classes", changed_test(inner, 0, 5, 0), "does not suit the type of its column"),
    ("classes", changed_test(inner, 0, 15, 0), "does not suit the type of its column"),
    ("classes", changed_test(inner, 0, 1, 2), "branch"),
    ("classes", changed_test(inner, 6, TABLE, 0), "outside of the tree's arrays"),
    ("numbers", changed_test(inner, 0, INTERVALS, 0), "intervals|outside"),
    ("numbers", changed_child(leaf_of(NUMBER), -1), "a leaf of numbers is not one"),
    ("numbers", changed_child(leaf_of(NUMBER), 0), "a leaf of numbers is not one|weight"),
    ("numbers", changed_test(leaf_of(NUMBER), 0, LEAF, 1), "a leaf of numbers is not one"),
    ("numbers", changed_cut(leaf_of(NUMBER), NAN), "a leaf of numbers is not one|number"),
    ("numbers", changed_cut(leaf_of(NUMBER), INF), "a leaf of numbers is not one|number"),
]


def with_first(place: int, value: int) -> Any:
    def change(forest: Forest) -> Array:
        first = forest.first.copy()
        first[place] = value
        return first

    return change


BAD_ARRAYS: list[tuple[str, str, Any, str]] = [
    ("classes", "first", with_first(0, 1), "must take up all its nodes"),
    ("classes", "first", with_first(-1, 1), "must take up all its nodes"),
    ("classes", "first", with_first(1, -7), "must follow each other"),
    ("classes", "first", with_first(1, 0), "must follow each other"),
    ("classes", "first", with_first(1, 10**9), "must follow each other"),
    ("classes", "first", with_first(1, 2), "node"),
    ("classes", "first", lambda f: f.first[:1], "a forest has at least one tree"),
    ("classes", "first", lambda f: f.first[:0], "a forest has at least one tree"),
    ("classes", "first", lambda f: f.first.astype(np.int32), "first must be an array of int64"),
    ("classes", "first", lambda f: f.first.tolist(), "first must be an array of int64"),
    ("classes", "nodes", lambda f: f.nodes[:-1], "must take up all its nodes"),
    ("classes", "nodes", lambda f: f.nodes[:0], "must take up all its nodes"),
    ("classes", "nodes", lambda f: f.nodes[:, :1], "nodes must be two words each"),
    ("classes", "nodes", lambda f: f.nodes.view(np.float64), "nodes must be an array of uint64"),
    ("classes", "nodes", lambda f: f.nodes.reshape(-1), "nodes must be an array of uint64 in 2"),
    ("many", "tables", lambda f: f.tables[:-1], "outside of the tree's arrays"),
    ("many", "tables", lambda f: f.tables - 1, "outside of the tree's arrays"),
    ("many", "tables", lambda f: f.tables + 10**6, "branches of a node"),
    ("many", "leaves", lambda f: f.leaves[:-1], "a leaf has no weights"),
    ("many", "leaves", lambda f: f.leaves.view(np.int8), "leaves must be an array of uint8"),
    ("many", "leaves", lambda f: f.leaves[:, None], "leaves must be an array of uint8 in 1"),
    ("numbers", "leaves", lambda f: np.ones(3, np.uint8), "must take up all their bytes"),
    ("classes", "keys", lambda f: f.keys[:-1], "keys must be three of each tree"),
    ("classes", "keys", lambda f: f.keys[:, :2], "keys must be three of each tree"),
    ("classes", "keys", lambda f: f.keys.astype(np.int64), "keys must be an array of uint64"),
    ("classes", "origins", lambda f: f.origins[:-1], "origins must tell the seed of each tree"),
    ("classes", "origins", lambda f: f.origins[::-1], "origins must tell the seed of each tree"),
    ("classes", "origins", lambda f: f.origins[:, 0], "origins must tell the seed of each tree"),
    ("classes", "origins", lambda f: f.origins.tolist(), "origins must be an array of uint64"),
    ("classes", "importances", lambda f: f.importances[:, 1:], "every tree and column"),
    ("classes", "importances", lambda f: f.importances[1:], "every tree and column"),
    ("classes", "importances", lambda f: f.importances * np.nan, "importances"),
    ("classes", "importances", lambda f: f.importances + np.inf, "importances"),
    ("classes", "importances", lambda f: -f.importances, "importances"),
    ("classes", "n_classes", lambda f: 2, "class"),
    ("classes", "n_classes", lambda f: 0, "a leaf of numbers is not one"),
    ("classes", "n_classes", lambda f: -1, "n_classes must be a count"),
    ("classes", "n_classes", lambda f: 3.0, "n_classes must be a count"),
    ("classes", "n_classes", lambda f: True, "n_classes must be a count"),
    ("classes", "n_classes", lambda f: 2**70, "."),
    ("numbers", "n_classes", lambda f: 3, "a leaf is not one"),
    ("classes", "grown", lambda f: -1, "grown must be a count"),
    ("classes", "grown", lambda f: 2.5, "grown must be a count"),
    ("classes", "weight_unit", lambda f: f.weight_unit * 0, "weight_unit must be a positive"),
    ("classes", "weight_unit", lambda f: f.weight_unit * np.nan, "weight_unit must be a positive"),
    ("classes", "weight_unit", lambda f: f.weight_unit * np.inf, "weight_unit must be a positive"),
    ("classes", "weight_unit", lambda f: -f.weight_unit, "weight_unit must be a positive"),
    ("classes", "weight_unit", lambda f: f.weight_unit[1:], "weight_unit must be a positive"),
    ("classes", "weight_unit", lambda f: 1.0, "weight_unit must be an array of float64"),
    ("classes", "schema", lambda f: None, "these are not the arrays of a forest"),
    ("classes", "schema", lambda f: many().forest_.schema, "importances|column"),
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
def test_a_damaged_forest_is_refused(kind: str, name: str, change: Any, text: str) -> None:
    forest = forest_of(kind)
    Forest.from_json(plain(forest))
    record = {**plain(forest), name: change(forest)}
    with pytest.raises(ValueError, match=text):
        Forest.from_json(record)


@pytest.mark.parametrize(
    "name", [entry.name for entry in fields(Forest) if entry.name not in ("origins", "steps")]
)
def test_a_forest_with_a_part_missing_or_to_spare_is_refused(name: str) -> None:
    record = plain(forest_of("classes"))
    record.pop(name)
    for wrong in (record, {**record, "other": 1}, {}):
        with pytest.raises(ValueError, match="these are not the arrays of a forest"):
            Forest.from_json(wrong)


# The first damage of each array or number.
ONE_OF_EACH = {name: (kind, change) for kind, name, change, _ in reversed(DAMAGES)}


@MAPPED
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_file_of_a_damaged_forest_is_refused(name: str, mmap: bool, tmp_path: Any) -> None:
    kind, change = ONE_OF_EACH[name]
    model = many() if kind == "many" else classes(3)
    model.forest_ = replace(forest_of(kind), **{name: change(forest_of(kind))})
    with pytest.raises(ModelFileError):
        there_and_back(model, tmp_path, mmap=mmap)


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
def test_a_forest_that_does_not_suit_its_model_is_refused(
    fit: Any, name: str, make: Any, tmp_path: Any
) -> None:
    model = fit(2)
    setattr(model, name, make())
    with pytest.raises(ModelFileError):
        there_and_back(model, tmp_path)


# Anything at all: a forest is refused, or says something sound


def sound(forest: Forest, rows: Any) -> None:
    """Everything that is asked of a forest has an answer."""
    table = Table.of(rows)
    for threads in (1, 2):
        for added in (0.0, 1.0):
            told = forest.told(table, threads, added)
            assert np.isfinite(told).all()
            if forest.n_classes:
                np.testing.assert_allclose(told.sum(axis=1), 1)
                assert (told >= 0).all()
        leaves = forest.apply(table, threads)
        sizes = np.diff(forest.first)
        assert ((leaves >= 0) & (leaves < sizes)).all()
    with np.errstate(over="ignore"):  # squares of numbers that were never there
        for t in range(forest.n_trees):
            np.testing.assert_array_equal(forest.tree(t).apply(table), leaves[:, t])
    assert np.isfinite(forest.mean_importances()).all()
    forest.without([0]).told(table)


@pytest.mark.parametrize("kind", ["classes", "mixed", "weighted", "many", "numbers"])
@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_a_twisted_forest_is_refused_or_sound(kind: str, data: Any) -> None:
    forest = forest_of(kind)
    record = data.draw(st.sampled_from([plain, Forest.to_json]))(forest)
    arrays = [name for name, value in record.items() if isinstance(value, np.ndarray)]
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(["nodes"] * 6 + arrays))
        record[name] = twisted(record[name], data.draw)
    try:
        found = Forest.from_json(record)
    except ValueError:
        return
    sound(found, FEW if kind == "many" else NEW)
