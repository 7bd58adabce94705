"""C4.5 and ID3 trees equal Weka's J48 and Id3, node for node: grown, collapsed and pruned."""

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
    "pruned_without_raising": {"subtree_raising": False},
    # Weka stores it in single precision.
    "pruned_at_0.05": {"prune_confidence": float(np.float32(0.05))},
    "pruned_min_5": {"min_samples_leaf": 5, "min_samples_split": 10},
}
CASES = [(table, variant) for table in TABLES for variant in OPTIONS]
WITH_MISSING = ("cleveland", "vote", "crx")
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
    assert [list(column.categories) for column in X.schema] == golden(table)["levels"]
    return X, y


@cache
def fitted(table: str, variant: str) -> Any:
    X, y = rows(table)
    return DecisionTreeClassifier(algorithm="c45", **OPTIONS[variant]).fit(X, y)


def branch_of_category(tree: Any, node: int, category: Any) -> int:
    """Return the branch of a category."""
    branches = tree.split(node).branches
    found = [number for number, group in enumerate(branches) if category in group]
    assert len(found) == 1
    return int(tree.children(node)[found[0]])


def children(tree: Any, node: int) -> list[int]:
    """Return the branches in Weka's order: low and high, or category by category."""
    column = tree.schema[tree.split(node).column]
    if column.kind is Kind.NUMERIC:
        return list(tree.children(node))
    return [branch_of_category(tree, node, category) for category in column.categories]


def pairs(tree: Any, expected: Record) -> Iterator[tuple[int, Record]]:
    """Yield nodes with Weka's records from the root down; both must be leaves, or neither."""
    pending = [(0, expected)]
    while pending:
        node, record = pending.pop()
        yield node, record
        assert bool(tree.is_leaf[node]) == ("branches" not in record)
        if tree.is_leaf[node]:
            continue
        assert tree.split(node).column == record["column"]
        own = children(tree, node)
        assert tree.n_branches[node] == len(own)
        pending += zip(own, record["branches"], strict=True)


@pytest.mark.parametrize(("table", "variant"), CASES)
def test_trees_are_the_same(table: str, variant: str) -> None:
    model, expected = fitted(table, variant), golden(table)["j48"][variant]
    tree = model.tree_
    assert (tree.n_nodes, tree.n_leaves) == (expected["n_nodes"], expected["n_leaves"])
    for node, record in pairs(tree, expected["tree"]):
        counts = np.array(record["counts"])
        np.testing.assert_allclose(tree.node_values[node], counts, rtol=CLOSE, atol=CLOSE)
        assert tree.weight[node] == pytest.approx(counts.sum(), rel=CLOSE, abs=CLOSE)
        if "threshold" in record:
            assert tree.split(node).threshold == record["threshold"]
        if tree.is_leaf[node]:
            predicted = tree.leaf_values(np.array([node]))[0].argmax()
            assert predicted == record["class"]


@pytest.mark.parametrize("variant", ["grown", "unpruned"])
@pytest.mark.parametrize("table", TABLES)
def test_gains_are_the_same(table: str, variant: str) -> None:
    """In bits, less the bits that name the threshold of a numeric column."""
    tree = fitted(table, variant).tree_
    for node, record in pairs(tree, golden(table)["j48"][variant]["tree"]):
        if not tree.is_leaf[node]:
            assert tree.gain[node] == pytest.approx(record["gain"], rel=CLOSE)


@pytest.mark.parametrize(("table", "variant"), CASES)
def test_empty_leaves_have_no_weight(table: str, variant: str) -> None:
    tree = fitted(table, variant).tree_
    for node, record in pairs(tree, golden(table)["j48"][variant]["tree"]):
        if "branches" not in record and not any(record["counts"]):
            assert (tree.n_rows[node], tree.weight[node]) == (0, 0)
            assert tree.reasons[node] in ("empty", "pruned")


@pytest.mark.parametrize("variant", ["unpruned", "pruned"])
@pytest.mark.parametrize("table", WITH_MISSING)
def test_rows_with_missing_values_have_the_same_probabilities(table: str, variant: str) -> None:
    X, _ = rows(table)
    masks = [X.missing_mask(j) for j in range(len(X.schema))]
    some = np.flatnonzero(np.any([mask for mask in masks if mask is not None], axis=0))
    expected = golden(table)["j48"][variant]["probabilities_of_rows_with_gaps"]
    found = fitted(table, variant).predict_proba(X.take(some))
    np.testing.assert_allclose(found, expected, rtol=CLOSE, atol=CLOSE)


def test_variants_of_a_table_differ() -> None:
    """Otherwise the comparisons above would prove nothing."""
    sizes = {variant: golden("crx")["j48"][variant]["n_nodes"] for variant in OPTIONS}
    assert len(set(sizes.values())) == len(OPTIONS)


@pytest.mark.parametrize("table", ID3_TABLES)
def test_id3_trees_are_the_same(table: str) -> None:
    X, y = rows(table)
    tree = DecisionTreeClassifier(algorithm="id3").fit(X, y).tree_
    for node, record in pairs(tree, golden(table)["id3"]["tree"]):
        if not tree.is_leaf[node]:
            continue
        if record["class"] is None:  # Weka predicts no class there
            assert tree.reasons[node] == "empty"
            continue
        fractions = tree.node_values[node] / tree.node_values[node].sum()
        np.testing.assert_allclose(fractions, record["shares"], rtol=CLOSE)
