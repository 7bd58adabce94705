"""C4.5 and ID3 beside Weka's J48 and Id3: node for node, grown, collapsed, pruned and raised."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier
from ceiba.data.schema import Kind
from tests.golden.j48.make_j48 import plain_table
from tests.paths import GOLDEN_FILES

GOLDEN = GOLDEN_FILES / "j48"
TABLES = ("iris", "cleveland", "vote", "glass", "crx", "weather_nominal", "contact_lenses")
ID3_TABLES = ("weather_nominal", "contact_lenses")
OPTIONS: dict[str, dict[str, Any]] = {
    "grown": {"pruning": "none", "collapse": False},
    "unpruned": {"pruning": "none"},
    "pruned": {},
    "pruned_without_raising": {"raising": False},
    # Weka keeps it in single precision.
    "pruned_at_0.05": {"confidence": float(np.float32(0.05))},
    "pruned_min_5": {"min_samples_leaf": 5, "min_samples_split": 10},
}
CASES = [(table, variant) for table in TABLES for variant in OPTIONS]
WITH_GAPS = ("cleveland", "vote", "crx")
CLOSE = 1e-9

Record = dict[str, Any]


@cache
def golden(table: str) -> Record:
    found: Record = json.loads((GOLDEN / f"{table}.json").read_text())
    return found


@cache
def rows(table: str) -> tuple[Any, Any]:
    X, y = plain_table(table)
    assert X.schema.names == golden(table)["columns"]
    assert [list(column.levels) for column in X.schema] == golden(table)["levels"]
    return X, y


@cache
def fitted(table: str, variant: str) -> Any:
    X, y = rows(table)
    return DecisionTreeClassifier(algorithm="c45", **OPTIONS[variant]).fit(X, y)


def branch_of_level(tree: Any, node: int, level: Any) -> int:
    """The branch that is for a level."""
    branches = tree.split(node).branches
    found = [number for number, levels in enumerate(branches) if level in levels]
    assert len(found) == 1
    return int(tree.children(node)[found[0]])


def children(tree: Any, node: int) -> list[int]:
    """The branches in Weka's order: low and high, or level by level."""
    column = tree.schema[tree.split(node).column]
    if column.kind is Kind.NUMERIC:
        return list(tree.children(node))
    return [branch_of_level(tree, node, level) for level in column.levels]


def pairs(tree: Any, expected: Record) -> Iterator[tuple[int, Record]]:
    """Nodes and what Weka has there, from the root down; both must be leaves, or none."""
    waiting = [(0, expected)]
    while waiting:
        node, record = waiting.pop()
        yield node, record
        assert bool(tree.is_leaf[node]) == ("branches" not in record)
        if tree.is_leaf[node]:
            continue
        assert tree.split(node).column == record["column"]
        own = children(tree, node)
        assert tree.n_branches[node] == len(own)
        waiting += zip(own, record["branches"], strict=True)


@pytest.mark.parametrize(("table", "variant"), CASES)
def test_trees_are_the_same(table: str, variant: str) -> None:
    model, expected = fitted(table, variant), golden(table)["j48"][variant]
    tree = model.tree_
    assert (tree.n_nodes, tree.n_leaves) == (expected["n_nodes"], expected["n_leaves"])
    for node, record in pairs(tree, expected["tree"]):
        held = np.array(record["counts"])
        np.testing.assert_allclose(tree.value[node], held, rtol=CLOSE, atol=CLOSE)
        assert tree.weight[node] == pytest.approx(held.sum(), rel=CLOSE, abs=CLOSE)
        if "threshold" in record:
            assert tree.split(node).threshold == record["threshold"]
        if tree.is_leaf[node]:
            said = tree.values_of(np.array([node]))[0].argmax()
            assert said == record["class"]


@pytest.mark.parametrize("variant", ["grown", "unpruned"])
@pytest.mark.parametrize("table", TABLES)
def test_gains_are_the_same(table: str, variant: str) -> None:
    """In bits, less what it takes to say which cut of a numeric column it is."""
    tree = fitted(table, variant).tree_
    for node, record in pairs(tree, golden(table)["j48"][variant]["tree"]):
        if not tree.is_leaf[node]:
            assert tree.gain[node] == pytest.approx(record["gain"], rel=CLOSE)


@pytest.mark.parametrize(("table", "variant"), CASES)
def test_empty_leaves_are_weightless(table: str, variant: str) -> None:
    tree = fitted(table, variant).tree_
    for node, record in pairs(tree, golden(table)["j48"][variant]["tree"]):
        if "branches" not in record and not any(record["counts"]):
            assert (tree.n_rows[node], tree.weight[node]) == (0, 0)
            assert tree.reasons[node] in ("empty", "pruned")


@pytest.mark.parametrize("variant", ["unpruned", "pruned"])
@pytest.mark.parametrize("table", WITH_GAPS)
def test_rows_with_gaps_are_shared_out_alike(table: str, variant: str) -> None:
    X, _ = rows(table)
    masks = [X.gaps(place) for place in range(len(X.schema))]
    some = np.flatnonzero(np.any([mask for mask in masks if mask is not None], axis=0))
    expected = golden(table)["j48"][variant]["probabilities_of_rows_with_gaps"]
    found = fitted(table, variant).predict_proba(X.take(some))
    np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE)


def test_pruning_and_raising_have_something_to_do() -> None:
    """What the comparisons above rest on: the variants of a table differ."""
    sizes = {variant: golden("crx")["j48"][variant]["n_nodes"] for variant in OPTIONS}
    assert len(set(sizes.values())) == len(OPTIONS)


@pytest.mark.parametrize("table", ID3_TABLES)
def test_id3_trees_are_the_same(table: str) -> None:
    X, y = rows(table)
    tree = DecisionTreeClassifier(algorithm="id3").fit(X, y).tree_
    for node, record in pairs(tree, golden(table)["id3"]["tree"]):
        if not tree.is_leaf[node]:
            continue
        if record["class"] is None:  # Weka refuses to classify there
            assert tree.reasons[node] == "empty"
            continue
        held = tree.value[node] / tree.value[node].sum()
        np.testing.assert_allclose(held, record["shares"], rtol=CLOSE)
