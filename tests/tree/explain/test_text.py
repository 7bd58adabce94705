"""The tree as text and as a dictionary: every kind of split, folding, deep trees, JSON."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.data.schema import Schema
from ceiba.tree import Tree
from ceiba.tree.explain.dictionary import tree_dict
from ceiba.tree.explain.text import tree_text

SHOWN = re.compile(r"^(?:\|  )*\[\d+\] ", re.MULTILINE)
HIDDEN = re.compile(r"\.\.\. (\d+) more nodes")


def text_of(model, **options):
    return model.tree_.to_text(classes=getattr(model, "classes_", None), **options)


def grown(X, y, **options):
    learner = DecisionTreeRegressor if isinstance(y[0], float) else DecisionTreeClassifier
    return learner(**options).fit(X, y)


def chain(depth):
    """Return a chain: each depth has a leaf of value k at threshold k of the only column."""
    n, inner = 2 * depth + 1, np.arange(0, 2 * depth, 2)  # second branches are split again
    nodes = np.zeros((n, 2), np.uint64)
    values = np.zeros(n)
    values[1::2], values[-1] = np.arange(depth), depth
    nodes[:, 0] = values.view(np.uint64)
    nodes[inner, 0] = (np.arange(depth) + 0.5).view(np.uint64)
    nodes[inner, 1] = (np.arange(depth) * 2 + 1).astype(np.uint64) + np.uint64((1 << 24) << 32)
    side = np.ones(n)
    depths = np.repeat(np.arange(depth + 1), 2)[1:].astype(np.int32)
    return Tree(
        **{
            "nodes": nodes, "words": np.zeros(0, np.uint64), "tables": np.zeros(0, np.int32),
            "leaves": np.zeros((0, 0)), "schema": Schema.numeric(1), "node_values": values[:, None],
            "n_rows": side.astype(np.int64), "weight": side, "impurity": side, "gain": side,
            "reason": np.where(np.isin(np.arange(n), inner), 0, 1).astype(np.uint8),
            "method": np.isin(np.arange(n), inner).astype(np.uint8),
            "ties": np.zeros(n, np.int32), "depth": depths,
            "runner_up_column": np.full(n, -1, np.int32), "runner_up_gain": np.zeros(n),
        }
    )  # fmt: skip


KINDS = {
    "float": (pd.DataFrame({"x": [1.0, 2.0, 4.0]}), [0, 0, 1], {}, "x <= 3 or missing"),
    "large": (pd.DataFrame({"x": [1e9, 1e9 + 1]}), [0, 1], {}, "x <= 1000000000.5 or missing"),
    "int64": (pd.DataFrame({"x": [2**60, 2**60 + 1]}), [0, 1], {}, f"x > {2**60}:"),
    "uint64": (
        pd.DataFrame({"x": np.array([2**63, 2**64 - 1], np.uint64)}),
        [0, 1], {}, f"x <= {(2**63 + 2**64 - 1) // 2} or missing",
    ),
    "time": (
        pd.DataFrame({"x": pd.to_datetime(["2020-01-01", "2020-01-03"])}),
        [0, 1], {}, "x <= 2020-01-02 or missing",
    ),
    "duration": (
        pd.DataFrame({"x": pd.to_timedelta(["1h", "4h"])}),
        [0, 1],
        {},
        "x <= 150 min or missing",
    ),
    "infinite": (pd.DataFrame({"x": [-np.inf, 1.0]}), [0, 1], {}, "x <= -inf or missing"),
    "ordinal": (
        pd.DataFrame({"x": pd.Categorical(["S", "M", "L"], ["S", "M", "L"], ordered=True)}),
        [0, 0, 1], {}, "x <= M or missing",
    ),
    "known": (pd.DataFrame({"x": [1.0, 1.0, None]}), [0, 0, 1], {}, "x missing"),
    "known int64": (
        pd.DataFrame({"x": pd.array([7, 7, None], "Int64")}), [0, 0, 1], {}, "x known",
    ),
    "known category": (pd.DataFrame({"x": ["a", "a", None]}), [0, 0, 1], {}, "x missing"),
    "missing branch": (
        pd.DataFrame({"x": [1.0, 2.0, None]}), [0, 1, 2], {"missing": "branch"}, "x missing",
    ),
    "categories": (pd.DataFrame({"x": list("abc")}), [0, 1, 0], {}, "x in {a, c} or missing"),
    "multiway": (
        pd.DataFrame({"x": ["a", "b", "c", None]}), [0, 1, 2, 3],
        {"splits": "multiway", "missing": "branch"}, "x = c",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_conditions_have_the_values_of_the_column(kind):
    X, y, options, condition = KINDS[kind]
    text = text_of(grown(X, y, **options))
    assert f"] {condition}" in text
    # Every branch has a condition of its own.
    conditions = re.findall(r"\] (x [^:]*): ", text)
    assert len(conditions) == len(set(conditions)) == text.count("[") - 1


def test_complete_text():
    X = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0, np.nan], "color": list("rgrgr")})
    model = DecisionTreeClassifier(max_depth=1).fit(X, ["no", "no", "yes", "yes", "yes"])
    assert text_of(model).splitlines() == [
        "[0] 5 rows (no: 2, yes: 3), gain 0.48",
        "|  [1] size <= 2.5: 2 rows (no: 2) -> no (p = 1), pure",
        "|  [2] size > 2.5 or missing: 3 rows (yes: 3) -> yes (p = 1), pure",
    ]
    assert model.tree_.to_text().splitlines()[0] == "[0] 5 rows (0: 2, 1: 3), gain 0.48"


def test_text_of_a_regression_tree_with_weights():
    model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0]], [1.0, 2.25], [0.5, 1.0])
    assert text_of(model).splitlines() == [
        "[0] 2 rows of weight 1.5 (value 1.833), gain 0.347",
        "|  [1] x0 <= 0.5: 1 row of weight 0.5 -> 1, pure",
        "|  [2] x0 > 0.5 or missing: 1 row -> 2.25, pure",
    ]
    assert "(value 1.8), gain 0.3\n" in text_of(model, decimals=1)
    tiny = DecisionTreeRegressor().fit([[0.0], [1e-7]], [0.0, 2e-5])
    assert "gain 1e-10" in text_of(tiny)
    assert "x0 <= 5e-08" in text_of(tiny)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "pure"),
        ({"min_impurity_split": 0.45}, "pure enough"),
        ({"max_depth": 1}, "depth limit"),
        ({"min_samples_split": 4}, "too few rows to split"),
        ({"min_samples_leaf": 2}, "every split would leave a branch too small"),
        ({"min_impurity_decrease": 0.4}, "no split gains enough"),
        ({"max_leaf_nodes": 2}, "leaf limit"),
    ],
)
def test_leaves_have_the_reason_why_they_were_not_split(options, reason):
    X = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0])[:, None]
    model = DecisionTreeClassifier(**options).fit(X, [0, 0, 0, 1, 0, 1])
    leaves = [line for line in text_of(model).splitlines() if "->" in line]
    assert any(line.endswith(f", {reason}") for line in leaves)


def test_equal_rows_are_not_split():
    model = DecisionTreeClassifier().fit(np.ones((2, 1)), ["a", "b"])
    assert text_of(model) == (
        "[0] 2 rows (a: 1, b: 1) -> a (p = 0.5), no column separates its rows"
    )


def test_text_marks_approximate_groups_and_ties():
    categories = [f"c{k:02}" for k in range(12)] * 2
    X, rng = pd.DataFrame({"x": categories}), np.random.default_rng(1)
    off = {"category_correction": False, "max_depth": 1}
    many = grown(X, rng.integers(0, 3, 24).tolist(), **off)
    assert "perhaps not the best groups" in text_of(many)
    medians = grown(X, rng.normal(size=24).tolist(), criterion="absolute_error", **off)
    assert "categories ordered by medians" in text_of(medians)
    two = grown(X, rng.integers(0, 2, 24).tolist(), **off)
    assert "perhaps" not in text_of(two)
    twice = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    assert "gain 0.5, tied with 2 others\n" in text_of(grown(twice, [0, 1]))
    assert "gain 0.5, tied with 1 other\n" in text_of(grown(twice[:, :2], [0, 1]))


def test_long_lists_are_shortened():
    categories = [f"v{k:02}" for k in range(20)]
    model = grown(pd.DataFrame({"x": categories}), [k % 2 for k in range(20)])
    assert "x in {v00, v02, v04, ... 7 more}" in text_of(model, max_labels=3)
    classes = grown(np.zeros((9, 1)), [0, 1, 2, 3, 3, 3, 4, 4, 4])
    assert "(3: 3, 4: 3, ... 3 more)" in text_of(classes, max_labels=2)
    assert "(0: 1, 1: 1, 2: 1, 3: 3, 4: 3)" in text_of(classes)


def test_conditions_omit_excluded_categories():
    X = pd.DataFrame({"x": ["a", "a", "b", "b", "c", "c", None]})
    model = DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 2, 2, 3])
    conditions = re.findall(r"\] (x [^:]*): ", text_of(model))
    # Each category, and the missing value, is alone at the end.
    assert {"x = a", "x = b", "x = c", "x missing"} <= set(conditions)
    assert sum("missing" in text for text in conditions) == 1 + sum(
        "or missing" in text for text in conditions
    )
    later = [text for text in conditions if text.count(",") == 0]
    assert len(later) == len(set(later))


@pytest.mark.parametrize("max_depth", [0, 1, 3, None])
@pytest.mark.parametrize("max_nodes", [1, 2, 3, 10, 50, None])
def test_shown_and_hidden_nodes_are_all_nodes(max_depth, max_nodes):
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier(splits="multiway").fit(data.table, data.y)
    text = text_of(model, max_depth=max_depth, max_nodes=max_nodes)
    shown = len(SHOWN.findall(text))
    assert shown + sum(map(int, HIDDEN.findall(text))) == model.tree_.n_nodes
    assert shown <= (max_nodes or model.tree_.n_nodes)
    depths = [line.count("|  ") for line in text.splitlines() if "more nodes" not in line]
    assert max(depths) <= (model.tree_.max_depth if max_depth is None else max_depth)
    assert (shown < model.tree_.n_nodes) == ("more nodes" in text)


def test_lines_are_in_depth_first_order():
    data = datasets.load("vote")
    tree = DecisionTreeClassifier(growth="breadth_first").fit(data.table, data.y).tree_
    numbers = [int(found) for found in re.findall(r"\[(\d+)\] ", tree.to_text())]
    assert numbers == list(tree.walk())
    part = tree.to_text(node=2).splitlines()
    assert part[0].startswith(f"[2] {tree.n_rows[2]} rows")
    assert len(part) < tree.n_nodes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node": 99}, r"node must be an int in \[0, 2\], got 99"),
        ({"node": -1}, r"node must be an int in \[0, 2\], got -1"),
        ({"max_depth": -1}, "max_depth must be an int >= 0 or None for no limit, got -1"),
        ({"max_nodes": 0}, "max_nodes must be an int >= 1 or None for no limit, got 0"),
        ({"max_labels": 0}, "max_labels must be an int >= 1, got 0"),
        ({"decimals": -1}, "decimals must be an int >= 0, got -1"),
        ({"classes": ["a"]}, "one label for each of 2 classes, got 1"),
    ],
)
def test_invalid_options_raise(options, message):
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    with pytest.raises(ValueError, match=message):
        tree.to_text(**options)


def test_classes_of_a_regression_tree_raise():
    tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).tree_
    for make in (tree_text, tree_dict):
        with pytest.raises(ValueError, match="'classes' has no effect with a regression tree"):
            make(tree, classes=["a", "b"])


def test_deep_chain_needs_no_recursion():
    tree = chain(5000)
    assert tree.max_depth == 5000
    text = tree.to_text(max_nodes=None, max_depth=None)
    assert len(text.splitlines()) == tree.n_nodes
    assert text.endswith("[10000] x0 > 4999.5: 1 row -> 5000, pure")
    assert "... 9000 more nodes" in tree.to_text(max_depth=500, max_nodes=None)
    node, depth = tree.to_dict()["root"], 0
    while node["children"]:
        assert node["children"][0]["prediction"] == depth
        node, depth = node["children"][1], depth + 1
    assert (node["node"], depth, node["prediction"]) == (10000, 5000, 5000.0)


# Routing by the dictionary alone.


def branch_of(test, value, columns):
    column = columns[test["column"]]
    missing = value is None or value != value
    if not missing and column["categories"] and value not in column["categories"]:
        missing = True
    if missing:
        return test["missing_branch"]
    if test["kind"] == "known":
        return 0
    if test["kind"] == "threshold":
        if column["categories"]:
            order = column["categories"].index
            return int(order(value) > order(test["threshold"]))
        return int(value > float(test["threshold"]))
    return next(k for k, group in enumerate(test["branches"]) if value in group)


def leaf_of(tree, row):
    node = tree["root"]
    while node["children"]:
        test = node["test"]
        value = row[test["column"]]
        node = node["children"][branch_of(test, value, tree["columns"])]
    return node


def rows_of(frame):
    cells = (frame[name].astype(object) for name in frame)
    columns = [[None if pd.isna(v) else v for v in column] for column in cells]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("missing", ["learned", "branch", "majority"])
@pytest.mark.parametrize("name", ["cleveland", "vote", "contact_lenses", "automobiles"])
def test_dictionary_routes_rows_like_the_tree(name, missing, splits):
    X, y = datasets.load(name, as_frame=True)
    X.iloc[::7, ::2] = None
    learner = DecisionTreeRegressor if name == "automobiles" else DecisionTreeClassifier
    model = learner(missing=missing, splits=splits, min_samples_leaf=2).fit(X, y)
    written = json.dumps(model.tree_.to_dict(classes=getattr(model, "classes_", None)))
    tree = json.loads(written)
    leaves = [leaf_of(tree, row) for row in rows_of(X)]
    assert [leaf["node"] for leaf in leaves] == model.apply(X).tolist()
    assert [leaf["prediction"] for leaf in leaves] == model.predict(X).tolist()
    if name != "automobiles":
        probabilities = np.array([leaf["probabilities"] for leaf in leaves])
        np.testing.assert_array_equal(probabilities, model.predict_proba(X))


def nodes_of(tree):
    stack = [tree["root"]]
    while stack:
        node = stack.pop()
        yield node
        stack += node["children"]


def test_dictionary_has_the_node_arrays():
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier(max_depth=4, criterion="entropy").fit(data.table, data.y)
    tree = model.tree_
    found = tree_dict(tree, classes=model.classes_)
    assert (found["n_nodes"], found["n_leaves"], found["max_depth"]) == (
        tree.n_nodes, tree.n_leaves, tree.max_depth,
    )  # fmt: skip
    assert found["classes"] == [0, 1]
    nodes = sorted(nodes_of(found), key=lambda node: node["node"])
    assert [node["node"] for node in nodes] == list(range(tree.n_nodes))
    for name in ("n_rows", "weight", "impurity", "gain", "ties", "depth"):
        np.testing.assert_array_equal([node[name] for node in nodes], getattr(tree, name))
    np.testing.assert_array_equal([node["value"] for node in nodes], tree.node_values)
    assert [node["reason"] for node in nodes] == tree.reasons
    assert [node["method"] for node in nodes] == tree.methods
    for node in nodes:
        assert (node["test"] is None) == (not node["children"]) == ("prediction" in node)
        column = tree.runner_up_column[node["node"]]
        if column < 0:
            assert node["runner_up"] is None
        else:
            gain = tree.runner_up_gain[node["node"]]
            name = tree.schema[int(column)].name
            assert node["runner_up"] == {"column": column, "name": name, "gain": gain}


@pytest.mark.parametrize("kind", KINDS)
def test_dictionary_survives_json(kind):
    X, y, options, _ = KINDS[kind]
    model = grown(X, y, **options)
    found = model.tree_.to_dict(classes=model.classes_)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    kinds = {node["test"]["kind"] for node in nodes_of(found) if node["test"]}
    expected = "known" if kind in ("known", "known int64") else None
    if kind in ("known category", "categories"):
        expected = "categories"
    assert kinds == {expected or ("multiway" if kind == "multiway" else "threshold")}
