"""Flat form of a tree: the records of the nested form, for JSON at any depth."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree.explain.dictionary import tree_dict, tree_nodes
from tests.tree.explain.test_text import KINDS, chain, grown


def tree_json(tree, **options):
    return json.dumps(tree_nodes(tree, **options), allow_nan=False)


def nested_records(root):
    stack = [(None, root)]
    while stack:
        parent, record = stack.pop()
        yield parent, record
        stack += [(record["node"], child) for child in record["children"]]


@pytest.mark.parametrize("name", ["cleveland", "vote", "automobiles"])
def test_records_equal_those_of_the_nested_form(name):
    X, y = datasets.load(name, as_frame=True)
    learner = DecisionTreeRegressor if name == "automobiles" else DecisionTreeClassifier
    model = learner(missing="branch", splits="multiway", min_samples_leaf=2).fit(X, y)
    classes = getattr(model, "classes_", None)
    flat, nested = tree_nodes(model.tree_, classes=classes), tree_dict(model.tree_, classes=classes)
    root = nested.pop("root")
    assert {key: value for key, value in flat.items() if key != "nodes"} == nested
    assert [record["node"] for record in flat["nodes"]] == list(range(model.tree_.n_nodes))
    for parent, record in nested_records(root):
        children = [child["node"] for child in record["children"]]
        assert flat["nodes"][record["node"]] == {**record, "parent": parent, "children": children}
    assert flat["classes"] == (None if classes is None else classes.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_flat_form_survives_json(kind):
    X, y, options, _ = KINDS[kind]
    model = grown(X, y, **options)
    flat = tree_nodes(model.tree_, classes=model.classes_)
    assert json.loads(tree_json(model.tree_, classes=model.classes_)) == flat


def test_chain_of_any_depth():
    tree = chain(10_000)
    nodes = json.loads(tree_json(tree))["nodes"]
    assert len(nodes) == 20_001
    node, depth = 0, 0
    while nodes[node]["children"]:
        first, second = nodes[node]["children"]
        assert (nodes[first]["prediction"], nodes[first]["parent"]) == (depth, node)
        node, depth = second, depth + 1
    assert (depth, nodes[node]["prediction"]) == (10_000, 10_000.0)


def test_large_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 3))
    model = DecisionTreeClassifier().fit(X, rng.integers(0, 2, 8_000))
    assert model.tree_.n_nodes > 3_000
    record = json.loads(tree_json(model.tree_))
    assert record["n_nodes"] == len(record["nodes"]) == model.tree_.n_nodes
    leaves = [node["node"] for node in record["nodes"] if not node["children"]]
    assert leaves == np.flatnonzero(model.tree_.is_leaf).tolist()


def test_classes_of_a_regression_tree_raise():
    tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).tree_
    with pytest.raises(ValueError, match="'classes' has no effect with a regression tree"):
        tree_nodes(tree, classes=["a"])
