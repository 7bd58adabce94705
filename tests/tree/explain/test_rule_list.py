"""Rules of a tree: predictions, merged conditions, text, dropped conditions."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.data import Column, Kind
from ceiba.tree.explain.conditions import RuleCondition
from ceiba.tree.explain.rule_list import rule_list
from tests.budget import examples
from tests.oracles.tree_fits import CRITERIA, MISSING_POLICIES, fit
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import fresh_rows, real_numbers, tables


def rules_of(model, **options):
    return rule_list(model.tree_, classes=getattr(model, "classes_", None), **options)


# Predictions


def assert_as_tree(model, rules, X):
    """Assert that each row satisfies one rule only: that of its leaf."""
    np.testing.assert_array_equal(rules.predict(X), model.predict(X))
    index = rules.apply(X)
    assert [rules[k].node for k in index] == model.apply(X).tolist()
    backwards = replace(rules, rules=rules.rules[::-1])
    np.testing.assert_array_equal(len(rules) - 1 - backwards.apply(X), index)


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("missing", MISSING_POLICIES)
@examples(10)
@given(data=st.data())
def test_rules_predict_as_the_tree(splits, missing, data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=data.draw(st.booleans())))
    model = fit(table, Options(criterion, splits, missing))
    fresh = data.draw(fresh_rows(table)).frame
    for simplify in (True, False):
        rules = rules_of(model, simplify=simplify)
        for X in (table.frame, fresh):
            assert_as_tree(model, rules, X)
        assert rules.default is None


PRESETS = {
    "hunt": {"algorithm": "hunt"},
    "id3": {"algorithm": "id3"},
    "c45": {"algorithm": "c45"},
    "fractional": {"missing": "fractional", "min_samples_leaf": 2},
    "surrogate": {"missing": "surrogate"},
    "no surrogates": {"missing": "surrogate", "max_surrogates": 0},
    "intervals": {"splits": "intervals", "n_intervals": 3},
    "intervals, missing": {"splits": "intervals", "n_intervals": 4, "missing": "branch"},
    "intervals, fractional": {"splits": "intervals", "missing": "fractional"},
    "one threshold": {"thresholds": "mean", "threshold_scope": "root"},
    "costs": {"cost_matrix": [[0, 1, 5], [2, 0, 1], [1, 9, 0]]},
    "pruned": {"pruning": "pessimistic"},
}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(2))
def test_rules_of_every_preset_predict_as_the_tree(preset, seed):
    options = PRESETS[preset]
    table = real_numbers(seed, 120, ["float", "nominal", "ordinal", "int"], 3, missing_rate=0.15)
    model = DecisionTreeClassifier(**options).fit(table.frame, table.y, table.sample_weight)
    late = real_numbers(
        seed + 10, 200, ["float", "nominal", "ordinal", "int"], 3, missing_rate=0.3
    ).frame
    for simplify in (True, False):
        rules = rules_of(model, simplify=simplify)
        for X in (table.frame, late):
            np.testing.assert_array_equal(rules.predict(X), model.predict(X))
            index = rules.apply(X)
            # Only missing values, and categories unseen in a node, can leave a row without a rule,
            # and only where they have no single branch.
            if model.tree_.missing == "branch":
                assert (index >= 0).all()
            covered = index >= 0
            leaves = model.apply(X)
            assert [rules[k].node for k in index[covered]] == leaves[covered].tolist()
    assert model.tree_.n_leaves > 3
    if preset in ("fractional", "surrogate"):
        assert (rules_of(model).apply(late) < 0).any()


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_tree_predicts_rows_without_a_rule(missing):
    table = real_numbers(3, 120, ["float", "nominal", "int"], missing_rate=0.2)
    model = DecisionTreeRegressor(missing=missing, min_samples_leaf=4).fit(table.frame, table.y)
    rules = rules_of(model)
    np.testing.assert_array_equal(rules.predict(table.frame), model.predict(table.frame))
    assert (rules.apply(table.frame) < 0).any()
    assert ("missing" in str(rules)) == (missing == "surrogate")  # nodes may have found none


def test_unsatisfiable_rules_are_left_out():
    X = pd.DataFrame({"c": pd.Categorical(list("aabbcc"), list("abcd")), "x": [0, 1, 0, 1, 0, 1.0]})
    model = DecisionTreeClassifier(algorithm="hunt").fit(X, [0, 1, 2, 3, 1, 2])
    tree = model.tree_
    assert "empty" in tree.reasons
    rules = rules_of(model)
    assert all(condition.is_satisfiable for rule in rules for condition in rule.conditions)
    empty = [rule for rule in rules if rule.n_rows == 0]
    for rule in empty:
        assert "d" in str(rule)
    assert_as_tree(model, rules, X)


@examples(10)
@given(data=st.data())
def test_rules_have_one_condition_per_column_and_the_counts_of_the_leaf(data):
    table = data.draw(tables("gini", with_missing=True))
    model = fit(table, Options("gini", data.draw(st.sampled_from(["binary", "multiway"]))))
    tree, rules = model.tree_, rules_of(model)
    assert sorted(rule.node for rule in rules) == np.flatnonzero(tree.is_leaf).tolist()
    for rule in rules:
        columns = [condition.column_index for condition in rule.conditions]
        assert len(columns) == len(set(columns))
        assert all(c.is_satisfiable and not c.is_trivial for c in rule.conditions)
        assert (rule.n_rows, rule.weight) == (tree.n_rows[rule.node], tree.weight[rule.node])
        assert list(rule.class_weights) == tree.node_values[rule.node].tolist()
        fraction = max(rule.class_weights) / sum(rule.class_weights)
        assert rule.confidence == pytest.approx(fraction)
        assert rule.prediction == model.classes_[rule.class_index]
    whole = rules_of(model, simplify=False)
    assert [len(rule.conditions) for rule in whole] == [tree.depth[rule.node] for rule in whole]


def test_rules_of_columns_of_each_dtype():
    rng = np.random.default_rng(3)
    n = 300
    frame = pd.DataFrame(
        {
            "single": rng.normal(size=n).astype(np.float32),
            "whole": rng.integers(2**60, 2**60 + 9, n),
            "unsigned": rng.integers(2**63, 2**64 - 1, n, dtype=np.uint64),
            "nullable": pd.array(rng.integers(0, 9, n), "Int64"),
            "time": pd.to_datetime(rng.integers(0, 10**18, n)),
        }
    )
    frame.loc[::5, "nullable"] = None
    model = DecisionTreeClassifier(min_samples_leaf=2).fit(frame, rng.integers(0, 2, n))
    assert set(model.tree_.column) == {-1, 0, 1, 2, 3, 4}
    assert_as_tree(model, rules_of(model), frame)
    # Thresholds are compared as in the tree, whatever the dtype of the rows.
    later = frame.assign(single=frame["single"].astype(float) + 1e-9, whole=frame["whole"] * 1.0)
    assert_as_tree(model, rules_of(model), later)


def test_infinity_is_a_value():
    X = np.array([[-np.inf], [0.0], [np.inf], [np.nan]])
    model = DecisionTreeRegressor().fit(X, [1.0, 2.0, 3.0, 4.0])
    assert_as_tree(model, rules_of(model), X)
    assert str(rules_of(model)).splitlines() == [
        "if x0 <= -inf then 1 (1 row)",
        "if -inf < x0 <= 0 then 2 (1 row)",
        "if x0 > 0 then 3 (1 row)",
        "if x0 missing then 4 (1 row)",
    ]


# Merging


def number(low=None, high=None, **more):
    return RuleCondition(0, Column("x", Kind.NUMERIC), low, high, **more)


def nominal(*categories, **more):
    column = Column("c", Kind.NOMINAL, ("a", "b", "d"), "codes")
    return RuleCondition(0, column, categories=categories, known=bool(categories), **more)


def ordinal(low=None, high=None, **more):
    column = Column("o", Kind.ORDINAL, ("S", "M", "L", "XL"), "codes")
    return RuleCondition(0, column, low, high, **more)


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        (number(1.0), number(None, 3.0), "1 < x <= 3"),
        (number(1.0), number(2.0), "x > 2"),
        (number(None, 1.0), number(None, 2.0), "x <= 1"),
        (number(1.0, missing=True), number(None, 3.0, missing=True), "1 < x <= 3 or missing"),
        (number(1.0, missing=True), number(None, 3.0), "1 < x <= 3"),
        (number(), number(2.0, missing=True), "x > 2"),
        (number(known=False, missing=True), number(2.0, missing=True), "x missing"),
        (number(3.0, missing=True), number(None, 3.0, missing=True), "x missing"),
        (number(), number(), "x known"),
        (nominal("a", "b", missing=True), nominal("b", "d", missing=True), "c = b or missing"),
        (nominal("a", "b"), nominal("a", "b", "d", missing=True), "c in {a, b}"),
        (nominal("a", missing=True), nominal("b", missing=True), "c missing"),
        (nominal("a", "b", "d"), nominal("a", "b", "d", missing=True), "c known"),
        # By the order of the categories, which is not alphabetical.
        (ordinal("S", missing=True), ordinal("M", "XL", missing=True), "M < o <= XL or missing"),
        (ordinal(None, "L"), ordinal(None, "S"), "o <= S"),
        (ordinal("L", missing=True), ordinal(None, "L", missing=True), "o missing"),
    ],
)
def test_intersection_of_two_conditions(one, other, text):
    for both in (one.intersect(other), other.intersect(one)):
        assert str(both) == text
        assert both.is_satisfiable


def test_unsatisfiable_and_trivial_conditions():
    assert not number(3.0).intersect(number(None, 3.0)).is_satisfiable
    assert not nominal("a").intersect(nominal("b", missing=True)).is_satisfiable
    assert number(missing=True).is_trivial
    assert nominal("a", "b", "d", missing=True).is_trivial
    assert not nominal("a", "b", missing=True).is_trivial


# Text


def test_complete_text():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "color": list("rbgrbg")})
    model = DecisionTreeClassifier(splits="binary").fit(X, ["no", "no", "yes", "yes", "yes", "no"])
    assert str(rules_of(model)).splitlines() == [
        "if a <= 2.5 then no (2 rows, p = 1)",
        "if 2.5 < a <= 5.5 or missing then yes (3 rows, p = 1)",
        "if a > 5.5 then no (1 row, p = 1)",
    ]
    assert rules_of(model).to_text(show_missing=False).splitlines()[1] == (
        "if 2.5 < a <= 5.5 then yes (3 rows, p = 1)"
    )
    assert repr(rules_of(model)) == "RuleList(3 rules)"


def test_text_of_several_columns_and_weights():
    X = pd.DataFrame({"size": [1.0, 1.0, 2.0, 2.0], "color": ["red", "blue", "red", "green"]})
    model = DecisionTreeClassifier().fit(X, [0, 0, 0, 1], sample_weight=[1, 1, 1, 0.5])
    lines = str(rules_of(model)).splitlines()
    assert lines[-1] == "if color = green then 1 (1 row of weight 0.5, p = 1)"
    numbers = DecisionTreeRegressor().fit(X, [1.5, 2.5, 3.5, 4.5])
    assert str(rules_of(numbers)).splitlines() == [
        "if (size <= 1.5 or missing) and (color in {green, red} or missing) then 1.5 (1 row)",
        "if (size <= 1.5 or missing) and color = blue then 2.5 (1 row)",
        "if size > 1.5 and (color in {blue, red} or missing) then 3.5 (1 row)",
        "if size > 1.5 and color = green then 4.5 (1 row)",
    ]
    short = rules_of(numbers).to_text(show_missing=False, max_labels=1).splitlines()
    assert short[0] == "if size <= 1.5 and color in {green, ... 1 more} then 1.5 (1 row)"


def test_tree_of_one_leaf():
    model = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert str(rules_of(model)) == "always a (2 rows, p = 1)"
    assert rules_of(model).predict([[5.0], [None]]).tolist() == ["a", "a"]


def read_condition(text):
    """Parse the text of a condition as a test of a value."""
    text = text.strip("()")
    missing = text.endswith(" or missing")
    text = text.removesuffix(" or missing")
    if text.endswith(" known"):
        return text.removesuffix(" known"), lambda v: missing or v is not None
    if text.endswith(" missing"):
        return text.removesuffix(" missing"), lambda v: v is None
    if found := re.fullmatch(r"(?:(\S+) < )?(\w+) <= (\S+)", text):
        low, name, high = found.groups()
        low = -math.inf if low is None else float(low)
        return name, lambda v: missing if v is None else low < v <= float(high)
    if found := re.fullmatch(r"(\w+) > (\S+)", text):
        return found[1], lambda v: missing if v is None else v > float(found[2])
    name, labels = re.fullmatch(r"(\w+) (?:= |in \{)(.*?)\}?", text).groups()
    return name, lambda v: missing if v is None else str(v) in labels.split(", ")


def read_rule(line):
    conditions, result = re.fullmatch(r"if (.*) then (\S+) \(.*\)", line).groups()
    return [read_condition(text) for text in conditions.split(" and ")], result


@pytest.mark.parametrize("missing", MISSING_POLICIES)
@pytest.mark.parametrize("name", ["vote", "cleveland", "automobiles"])
def test_parsed_text_predicts_as_the_tree(name, missing):
    X, y = datasets.load(name, as_frame=True)
    if name == "cleveland":  # the text does not have the order of ordinal categories
        X = X.drop(columns=[column for column in X if getattr(X[column].dtype, "ordered", False)])
    learner = DecisionTreeRegressor if name == "automobiles" else DecisionTreeClassifier
    model = learner(missing=missing, min_samples_leaf=3).fit(X, y)
    lines = rules_of(model).to_text(decimals=12, max_labels=99).splitlines()
    rules = [read_rule(line) for line in lines]
    predicted = model.predict(X).tolist()
    for i, row in enumerate(X.astype(object).where(X.notna(), None).to_dict("records")):
        results = [result for tests, result in rules if all(t(row[column]) for column, t in tests)]
        assert len(results) == 1
        if name == "automobiles":
            assert float(results[0]) == pytest.approx(predicted[i], rel=1e-9)
        else:
            assert results[0] == str(predicted[i])


# Order


def test_order_of_rules():
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier(min_samples_leaf=5).fit(data.table, data.y)
    in_tree = [rule.node for rule in rules_of(model)]
    leaves = [node for node in model.tree_.walk() if model.tree_.is_leaf[node]]
    assert in_tree == leaves
    errors = [(-rule.confidence, -rule.weight) for rule in rules_of(model, order="confidence")]
    assert errors == sorted(errors)
    weights = [-rule.weight for rule in rules_of(model, order="coverage")]
    assert weights == sorted(weights)
    for order in ("confidence", "coverage"):
        rules = rules_of(model, order=order)
        assert [rule.node for rule in rules] != in_tree
        np.testing.assert_array_equal(rules.predict(data.table), model.predict(data.table))


# Dropped conditions


def upper_bound(n, e, cf):
    """Return the errors that C4.5 adds to e errors in n rows at confidence cf."""
    if e < 1:
        none = n * (1 - cf ** (1 / n))
        return none if e == 0 else none + e * (upper_bound(n, 1, cf) - none)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z, f = norm.ppf(1 - cf), (e + 0.5) / n
    top = f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * top / (1 + z * z / n) - e


def satisfies(value, part):
    if value is None:
        return part.missing
    if not part.known:
        return False
    if part.categories is not None:
        return value in part.categories
    code = part.column.categories.index if part.column.categories else float
    above = part.low is None or code(value) > code(part.low)
    return above and (part.high is None or code(value) <= code(part.high))


def estimate(parts, rows, label, cf):
    covered = [
        (weight, own)
        for row, own, weight in rows
        if all(satisfies(row[part.column_index], part) for part in parts)
    ]
    n = sum(weight for weight, _ in covered)
    e = sum(weight for weight, own in covered if own != label)
    return (e + upper_bound(n, e, cf)) / n if n else 1.0


def naive_drop(rule, rows, cf):
    """Drop conditions one by one; return those that are left and the error rate."""
    parts = [part for condition in rule.conditions for part in condition.parts()]
    rate = estimate(parts, rows, rule.prediction, cf)
    while parts:
        without = [parts[:k] + parts[k + 1 :] for k in range(len(parts))]
        rates = [estimate(rest, rows, rule.prediction, cf) for rest in without]
        if min(rates) > rate:
            break
        rate, parts = min(rates), without[rates.index(min(rates))]
    return parts, rate


@pytest.mark.parametrize("cf", [0.05, 0.25, 0.5])
@pytest.mark.parametrize("name", ["contact_lenses", "weather_nominal", "zoo", "hepatitis"])
def test_dropped_conditions_equal_the_naive_ones(name, cf):
    X, y = datasets.load(name, as_frame=True)
    weights = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    model = DecisionTreeClassifier().fit(X, y, sample_weight=weights)
    cells = X.astype(object).where(X.notna(), None).to_numpy().tolist()
    rows = list(zip(cells, list(y), weights.tolist(), strict=True))
    found = rules_of(model, drop=True, X=X, y=y, sample_weight=weights, confidence=cf)
    for_leaf = {rule.node: rule for rule in found}
    seen = set()
    for rule in rules_of(model):
        parts, rate = naive_drop(rule, rows, cf)
        key = (rule.prediction, frozenset(str(part) for part in parts))
        if not parts or key in seen:
            assert rule.node not in for_leaf
            continue
        seen.add(key)
        shorter = for_leaf.pop(rule.node)
        assert {str(p) for c in shorter.conditions for p in c.parts()} == key[1]
        assert shorter.pessimistic_error == pytest.approx(rate)
        assert shorter.prediction == rule.prediction
    assert not for_leaf


def test_first_rule_predicts_and_other_rows_get_the_default():
    data = datasets.load("vote")
    model = DecisionTreeClassifier(min_samples_leaf=2).fit(data.table, data.y)
    rules = rules_of(model, drop=True, X=data.table, y=data.y)
    whole = rules_of(model)
    assert sum(len(r.conditions) for r in rules) < sum(len(r.conditions) for r in whole)
    assert [rule.pessimistic_error for rule in rules] == sorted(
        rule.pessimistic_error for rule in rules
    )
    predicted = rules.predict(data.table)
    assert (predicted == data.y).mean() > 0.94
    index = rules.apply(data.table)
    for k, rule in enumerate(rules):
        assert set(predicted[index == k]) <= {rule.prediction}
        alone = replace(rules, rules=(rule,)).apply(data.table) == 0
        assert rule.n_rows == alone.sum() >= (index == k).sum()
        correct = (np.asarray(data.y)[alone] == rule.prediction).mean()
        assert rule.confidence == pytest.approx(correct)
    assert rules.default.n_rows == (index < 0).sum()
    assert set(predicted[index < 0]) <= {rules.default.prediction}
    assert str(rules).splitlines()[-1].startswith(f"otherwise {rules.default.prediction} (")


def test_smaller_confidence_drops_more():
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier().fit(data.table, data.y)
    sizes = []
    for confidence in (0.01, 0.5):
        rules = rules_of(model, drop=True, X=data.table, y=data.y, confidence=confidence)
        sizes.append(sum(len(rule.conditions) for rule in rules))
    assert sizes[0] < sizes[1]


def test_default_is_the_class_of_rows_without_a_rule():
    X = np.array([[0.0]] * 3 + [[1.0]] * 30 + [[np.nan]] * 2)
    y = ["a"] * 3 + ["b"] * 30 + ["a"] * 2
    model = DecisionTreeClassifier(missing="branch").fit(X, y)
    rules = rules_of(model, drop=True, X=X, y=y)
    assert str(rules).splitlines() == [
        "if x0 > 0.5 then b (30 rows, p = 1)",
        "if x0 <= 0.5 then a (3 rows, p = 1)",
        "if x0 missing then a (2 rows, p = 1)",
        "otherwise b (0 rows, p = 0.857)",  # all rows are covered: the majority class
    ]
    other = rules_of(model, drop=True, X=X[:33], y=y[:33])
    assert len(other) == 2
    assert other.predict([[np.nan]]).tolist() == ["b"]


def test_default_uses_costs():
    X = np.array([[0.0]] * 30 + [[1.0]] * 20 + [[np.nan]] * 10)
    y = [0] * 30 + [1] * 20 + [1] * 4 + [0] * 6
    costs = [[0, 1], [9, 0]]
    labels = []
    for cost_matrix in (None, costs):
        model = DecisionTreeClassifier(missing="fractional", cost_matrix=cost_matrix).fit(X, y)
        rules = rules_of(model, drop=True, X=X, y=y)
        labels.append(rules.default.prediction)
        assert rules.predict([[np.nan]]).tolist() == labels[-1:]
    assert labels == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "size"}, "order must be one of .*, got 'size'"),
        ({"drop": True}, "drop=True requires the training rows: pass X and y"),
        ({"X": [[1.0]]}, "'X' has no effect with drop=False"),
        ({"sample_weight": [1.0]}, "'sample_weight' has no effect with drop=False"),
        ({"confidence": 0.1}, "'confidence' has no effect with drop=False.* 0.25, got 0.1"),
        (
            {"drop": True, "simplify": False, "X": [[1.0]], "y": ["a"]},
            "drop=True requires simplify=True",
        ),
        ({"drop": True, "X": [[1.0]], "y": ["c"]}, "y contains 'c', which is not in classes"),
        (
            {"drop": True, "X": [[1.0]], "y": ["a", "b"]},
            "inconsistent numbers of samples: 1 rows in X, 2 in y",
        ),
        (
            {"drop": True, "X": [[1.0]], "y": ["a"], "confidence": 0.7},
            "confidence must be a float in .*, got 0.7",
        ),
        (
            {"drop": True, "X": [[1.0]], "y": ["a"], "sample_weight": [-1]},
            "sample_weight must be zero or in .*, got -1.0",
        ),
        ({"classes": ["a"]}, "one label for each of 2 classes, got 1"),
    ],
)
def test_invalid_options_raise(options, message):
    model = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match=message):
        rule_list(model.tree_, **{"classes": model.classes_, **options})


def test_regression_rules_have_no_confidence():
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="order='confidence' requires a classification tree"):
        rule_list(model.tree_, order="confidence")
    with pytest.raises(ValueError, match="drop=True requires a classification tree"):
        rule_list(model.tree_, drop=True, order="tree", X=[[1.0]], y=[1.0])
    with pytest.raises(ValueError, match="decimals must be an int >= 0, got -1"):
        rule_list(model.tree_).to_text(decimals=-1)
