"""Rules of a tree: merged conditions that predict as it does, their words, dropped conditions."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.data import Column, Kind
from ceiba.tree.explain.rule import RuleCondition
from ceiba.tree.explain.rule_list import rule_list
from tests.oracles.tree_fits import CRITERIA, GAP_RULES, fit
from tests.oracles.tree_naive import Options
from tests.oracles.tree_tables import fresh_rows, real_numbers, tables


def rules_of(model, **options):
    return rule_list(model.tree_, classes=getattr(model, "classes_", None), **options)


# As the tree


def assert_as_tree(model, rules, X):
    """Every row meets one rule only: that of its leaf."""
    np.testing.assert_array_equal(rules.predict(X), model.predict(X))
    fired = rules.fired(X)
    assert [rules[k].node for k in fired] == model.apply(X).tolist()
    backwards = replace(rules, rules=rules.rules[::-1])
    np.testing.assert_array_equal(len(rules) - 1 - backwards.fired(X), fired)


@pytest.mark.parametrize("splits", ["binary", "multiway"])
@pytest.mark.parametrize("missing", GAP_RULES)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_rules_predict_as_the_tree(splits, missing, data):
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, gaps=data.draw(st.booleans())))
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
    "intervals, gaps": {"splits": "intervals", "n_intervals": 4, "missing": "branch"},
    "intervals, shared": {"splits": "intervals", "missing": "fractional"},
    "one cut": {"thresholds": "mean", "at": "root"},
    "costs": {"cost_matrix": [[0, 1, 5], [2, 0, 1], [1, 9, 0]]},
    "pruned": {"pruning": "pessimistic"},
}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(2))
def test_rules_of_every_preset_predict_as_the_tree(preset, seed):
    options = PRESETS[preset]
    table = real_numbers(seed, 120, ["float", "nominal", "ordinal", "int"], 3, gaps=0.15)
    model = DecisionTreeClassifier(**options).fit(table.frame, table.y, table.sample_weight)
    late = real_numbers(seed + 10, 200, ["float", "nominal", "ordinal", "int"], 3, gaps=0.3).frame
    for simplify in (True, False):
        rules = rules_of(model, simplify=simplify)
        for X in (table.frame, late):
            np.testing.assert_array_equal(rules.predict(X), model.predict(X))
            fired = rules.fired(X)
            # Only gaps, and levels that a node did not have, can leave a row without a rule, and
            # only where they have no one branch.
            if model.tree_.missing == "branch":
                assert (fired >= 0).all()
            met = fired >= 0
            leaves = model.apply(X)
            assert [rules[k].node for k in fired[met]] == leaves[met].tolist()
    assert model.tree_.n_leaves > 3
    if preset in ("fractional", "surrogate"):
        assert (rules_of(model).fired(late) < 0).any()


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_numbers_of_rows_without_a_rule_are_the_trees(missing):
    table = real_numbers(3, 120, ["float", "nominal", "int"], gaps=0.2)
    model = DecisionTreeRegressor(missing=missing, min_samples_leaf=4).fit(table.frame, table.y)
    rules = rules_of(model)
    np.testing.assert_array_equal(rules.predict(table.frame), model.predict(table.frame))
    assert (rules.fired(table.frame) < 0).any()
    assert ("missing" in str(rules)) == (missing == "surrogate")  # nodes may have found none


def test_branches_that_no_row_can_take_are_left_out():
    X = pd.DataFrame({"c": pd.Categorical(list("aabbcc"), list("abcd")), "x": [0, 1, 0, 1, 0, 1.0]})
    model = DecisionTreeClassifier(algorithm="hunt").fit(X, [0, 1, 2, 3, 1, 2])
    tree = model.tree_
    assert "empty" in tree.reasons
    rules = rules_of(model)
    assert all(condition.possible for rule in rules for condition in rule.conditions)
    empty = [rule for rule in rules if rule.rows == 0]
    for rule in empty:
        assert "d" in str(rule)
    assert_as_tree(model, rules, X)


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_one_condition_a_column_and_the_leafs_numbers(data):
    table = data.draw(tables("gini", gaps=True))
    model = fit(table, Options("gini", data.draw(st.sampled_from(["binary", "multiway"]))))
    tree, rules = model.tree_, rules_of(model)
    assert sorted(rule.node for rule in rules) == np.flatnonzero(tree.is_leaf).tolist()
    for rule in rules:
        places = [condition.place for condition in rule.conditions]
        assert len(places) == len(set(places))
        assert all(c.possible and not c.free for c in rule.conditions)
        assert (rule.rows, rule.weight) == (tree.n_rows[rule.node], tree.weight[rule.node])
        assert list(rule.class_weights) == tree.value[rule.node].tolist()
        share = max(rule.class_weights) / sum(rule.class_weights)
        assert rule.confidence == pytest.approx(share)
        assert rule.prediction == model.classes_[rule.class_number]
    whole = rules_of(model, simplify=False)
    assert [len(rule.conditions) for rule in whole] == [tree.depth[rule.node] for rule in whole]


def test_columns_of_each_number_type():
    rng = np.random.default_rng(3)
    n = 300
    frame = pd.DataFrame(
        {
            "single": rng.normal(size=n).astype(np.float32),
            "whole": rng.integers(2**60, 2**60 + 9, n),
            "unsigned": rng.integers(2**63, 2**64 - 1, n, dtype=np.uint64),
            "gaps": pd.array(rng.integers(0, 9, n), "Int64"),
            "time": pd.to_datetime(rng.integers(0, 10**18, n)),
        }
    )
    frame.loc[::5, "gaps"] = None
    model = DecisionTreeClassifier(min_samples_leaf=2).fit(frame, rng.integers(0, 2, n))
    assert set(model.tree_.column) == {-1, 0, 1, 2, 3, 4}
    assert_as_tree(model, rules_of(model), frame)
    # Thresholds are compared as the tree does, whatever the rows come as.
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


def level(*levels, **more):
    column = Column("c", Kind.NOMINAL, ("a", "b", "d"), "codes")
    return RuleCondition(0, column, levels=levels, known=bool(levels), **more)


def ordinal(low=None, high=None, **more):
    column = Column("o", Kind.ORDINAL, ("S", "M", "L", "XL"), "codes")
    return RuleCondition(0, column, low, high, **more)


@pytest.mark.parametrize(
    ("one", "other", "text"),
    [
        (number(1.0), number(None, 3.0), "1 < x <= 3"),
        (number(1.0), number(2.0), "x > 2"),
        (number(None, 1.0), number(None, 2.0), "x <= 1"),
        (number(1.0, gap=True), number(None, 3.0, gap=True), "1 < x <= 3 or missing"),
        (number(1.0, gap=True), number(None, 3.0), "1 < x <= 3"),
        (number(), number(2.0, gap=True), "x > 2"),
        (number(known=False, gap=True), number(2.0, gap=True), "x missing"),
        (number(3.0, gap=True), number(None, 3.0, gap=True), "x missing"),
        (number(), number(), "x known"),
        (level("a", "b", gap=True), level("b", "d", gap=True), "c = b or missing"),
        (level("a", "b"), level("a", "b", "d", gap=True), "c in {a, b}"),
        (level("a", gap=True), level("b", gap=True), "c missing"),
        (level("a", "b", "d"), level("a", "b", "d", gap=True), "c known"),
        # By the order of levels, which is not that of the alphabet.
        (ordinal("S", gap=True), ordinal("M", "XL", gap=True), "M < o <= XL or missing"),
        (ordinal(None, "L"), ordinal(None, "S"), "o <= S"),
        (ordinal("L", gap=True), ordinal(None, "L", gap=True), "o missing"),
    ],
)
def test_two_conditions_become_one(one, other, text):
    for both in (one.both(other), other.both(one)):
        assert str(both) == text
        assert both.possible


def test_what_no_row_can_meet():
    assert not number(3.0).both(number(None, 3.0)).possible
    assert not level("a").both(level("b", gap=True)).possible
    assert number(gap=True).free
    assert level("a", "b", "d", gap=True).free
    assert not level("a", "b", gap=True).free


# Words


def test_a_whole_list():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "colour": list("rbgrbg")})
    model = DecisionTreeClassifier(splits="binary").fit(X, ["no", "no", "yes", "yes", "yes", "no"])
    assert str(rules_of(model)).splitlines() == [
        "if a <= 2.5 then no (2 rows, p = 1)",
        "if 2.5 < a <= 5.5 or missing then yes (3 rows, p = 1)",
        "if a > 5.5 then no (1 row, p = 1)",
    ]
    assert rules_of(model).to_text(gaps=False).splitlines()[1] == (
        "if 2.5 < a <= 5.5 then yes (3 rows, p = 1)"
    )
    assert repr(rules_of(model)) == "RuleList(3 rules)"


def test_conditions_of_several_columns_and_weights():
    X = pd.DataFrame({"size": [1.0, 1.0, 2.0, 2.0], "colour": ["red", "blue", "red", "green"]})
    model = DecisionTreeClassifier().fit(X, [0, 0, 0, 1], sample_weight=[1, 1, 1, 0.5])
    lines = str(rules_of(model)).splitlines()
    assert lines[-1] == "if colour = green then 1 (1 row of weight 0.5, p = 1)"
    numbers = DecisionTreeRegressor().fit(X, [1.5, 2.5, 3.5, 4.5])
    assert str(rules_of(numbers)).splitlines() == [
        "if (size <= 1.5 or missing) and (colour in {green, red} or missing) then 1.5 (1 row)",
        "if (size <= 1.5 or missing) and colour = blue then 2.5 (1 row)",
        "if size > 1.5 and (colour in {blue, red} or missing) then 3.5 (1 row)",
        "if size > 1.5 and colour = green then 4.5 (1 row)",
    ]
    short = rules_of(numbers).to_text(gaps=False, max_labels=1).splitlines()
    assert short[0] == "if size <= 1.5 and colour in {green, ... 1 more} then 1.5 (1 row)"


def test_a_tree_of_one_leaf():
    model = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert str(rules_of(model)) == "always a (2 rows, p = 1)"
    assert rules_of(model).predict([[5.0], [None]]).tolist() == ["a", "a"]


def read_condition(text):
    """A condition as a test of a value, read from its words."""
    text = text.strip("()")
    gap = text.endswith(" or missing")
    text = text.removesuffix(" or missing")
    if text.endswith(" known"):
        return text.removesuffix(" known"), lambda v: gap or v is not None
    if text.endswith(" missing"):
        return text.removesuffix(" missing"), lambda v: v is None
    if found := re.fullmatch(r"(?:(\S+) < )?(\w+) <= (\S+)", text):
        low, name, high = found.groups()
        low = -math.inf if low is None else float(low)
        return name, lambda v: gap if v is None else low < v <= float(high)
    if found := re.fullmatch(r"(\w+) > (\S+)", text):
        return found[1], lambda v: gap if v is None else v > float(found[2])
    name, levels = re.fullmatch(r"(\w+) (?:= |in \{)(.*?)\}?", text).groups()
    return name, lambda v: gap if v is None else str(v) in levels.split(", ")


def read_rule(line):
    ways, result = re.fullmatch(r"if (.*) then (\S+) \(.*\)", line).groups()
    return [read_condition(way) for way in ways.split(" and ")], result


@pytest.mark.parametrize("missing", GAP_RULES)
@pytest.mark.parametrize("name", ["vote", "cleveland", "automobiles"])
def test_the_words_alone_predict_as_the_tree(name, missing):
    X, y = datasets.load(name, as_frame=True)
    if name == "cleveland":  # ordinal levels are told by their order, which words do not carry
        X = X.drop(columns=[column for column in X if getattr(X[column].dtype, "ordered", False)])
    learner = DecisionTreeRegressor if name == "automobiles" else DecisionTreeClassifier
    model = learner(missing=missing, min_samples_leaf=3).fit(X, y)
    lines = rules_of(model).to_text(decimals=12, max_labels=99).splitlines()
    rules = [read_rule(line) for line in lines]
    predicted = model.predict(X).tolist()
    for i, row in enumerate(X.astype(object).where(X.notna(), None).to_dict("records")):
        met = [result for ways, result in rules if all(test(row[name]) for name, test in ways)]
        assert len(met) == 1
        if name == "automobiles":
            assert float(met[0]) == pytest.approx(predicted[i], rel=1e-9)
        else:
            assert met[0] == str(predicted[i])


# Order


def test_order():
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier(min_samples_leaf=5).fit(data.table, data.y)
    in_tree = [rule.node for rule in rules_of(model)]
    leaves = [node for node in model.tree_.walk() if model.tree_.is_leaf[node]]
    assert in_tree == leaves
    surest = [(-rule.confidence, -rule.weight) for rule in rules_of(model, order="confidence")]
    assert surest == sorted(surest)
    widest = [-rule.weight for rule in rules_of(model, order="coverage")]
    assert widest == sorted(widest)
    for order in ("confidence", "coverage"):
        rules = rules_of(model, order=order)
        assert [rule.node for rule in rules] != in_tree
        np.testing.assert_array_equal(rules.predict(data.table), model.predict(data.table))


# Dropped conditions


def upper_bound(n, e, cf):
    """Quinlan's errors that a bound at level cf adds to e errors in n cases."""
    if e < 1:
        none = n * (1 - cf ** (1 / n))
        return none if e == 0 else none + e * (upper_bound(n, 1, cf) - none)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z, f = norm.ppf(1 - cf), (e + 0.5) / n
    top = f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * top / (1 + z * z / n) - e


def meets(part, value):
    if value is None:
        return part.gap
    if not part.known:
        return False
    if part.levels is not None:
        return value in part.levels
    code = part.column.levels.index if part.column.levels else float
    above = part.low is None or code(value) > code(part.low)
    return above and (part.high is None or code(value) <= code(part.high))


def estimate(parts, rows, label, cf):
    covered = [
        (weight, own)
        for row, own, weight in rows
        if all(meets(part, row[part.place]) for part in parts)
    ]
    n = sum(weight for weight, _ in covered)
    e = sum(weight for weight, own in covered if own != label)
    return (e + upper_bound(n, e, cf)) / n if n else 1.0


def naive_drop(rule, rows, cf):
    """The conditions that are left, dropped one by one."""
    parts = [part for condition in rule.conditions for part in condition.parts()]
    now = estimate(parts, rows, rule.prediction, cf)
    while parts:
        without = [parts[:k] + parts[k + 1 :] for k in range(len(parts))]
        rates = [estimate(rest, rows, rule.prediction, cf) for rest in without]
        if min(rates) > now:
            break
        now, parts = min(rates), without[rates.index(min(rates))]
    return parts, now


@pytest.mark.parametrize("cf", [0.05, 0.25, 0.5])
@pytest.mark.parametrize("name", ["contact_lenses", "weather_nominal", "zoo", "hepatitis"])
def test_dropping_is_the_naive_one(name, cf):
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
        assert shorter.estimate == pytest.approx(rate)
        assert shorter.prediction == rule.prediction
    assert not for_leaf


def test_the_first_rule_decides_and_the_rest_has_a_default():
    data = datasets.load("vote")
    model = DecisionTreeClassifier(min_samples_leaf=2).fit(data.table, data.y)
    rules = rules_of(model, drop=True, X=data.table, y=data.y)
    whole = rules_of(model)
    assert sum(len(r.conditions) for r in rules) < sum(len(r.conditions) for r in whole)
    assert [rule.estimate for rule in rules] == sorted(rule.estimate for rule in rules)
    predicted = rules.predict(data.table)
    assert (predicted == data.y).mean() > 0.94
    fired = rules.fired(data.table)
    for k, rule in enumerate(rules):
        assert set(predicted[fired == k]) <= {rule.prediction}
        alone = replace(rules, rules=(rule,)).fired(data.table) == 0
        assert rule.rows == alone.sum() >= (fired == k).sum()
        right = (np.asarray(data.y)[alone] == rule.prediction).mean()
        assert rule.confidence == pytest.approx(right)
    assert rules.default.rows == (fired < 0).sum()
    assert set(predicted[fired < 0]) <= {rules.default.prediction}
    assert str(rules).splitlines()[-1].startswith(f"otherwise {rules.default.prediction} (")


def test_less_confidence_drops_more():
    data = datasets.load("cleveland")
    model = DecisionTreeClassifier().fit(data.table, data.y)
    sizes = []
    for confidence in (0.01, 0.5):
        rules = rules_of(model, drop=True, X=data.table, y=data.y, confidence=confidence)
        sizes.append(sum(len(rule.conditions) for rule in rules))
    assert sizes[0] < sizes[1]


def test_the_default_is_the_class_of_rows_without_a_rule():
    X = np.array([[0.0]] * 3 + [[1.0]] * 30 + [[np.nan]] * 2)
    y = ["a"] * 3 + ["b"] * 30 + ["a"] * 2
    model = DecisionTreeClassifier(missing="branch").fit(X, y)
    rules = rules_of(model, drop=True, X=X, y=y)
    assert str(rules).splitlines() == [
        "if x0 > 0.5 then b (30 rows, p = 1)",
        "if x0 <= 0.5 then a (3 rows, p = 1)",
        "if x0 missing then a (2 rows, p = 1)",
        "otherwise b (0 rows, p = 0.857)",  # all rows are covered: the class of most of all
    ]
    other = rules_of(model, drop=True, X=X[:33], y=y[:33])
    assert len(other) == 2
    assert other.predict([[np.nan]]).tolist() == ["b"]


def test_the_default_heeds_costs():
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
    ("options", "sentence"),
    [
        ({"order": "size"}, "'tree', 'confidence' or 'coverage'"),
        ({"drop": True}, "needs the training rows"),
        ({"X": [[1.0]]}, "drop=True alone"),
        ({"drop": True, "simplify": False, "X": [[1.0]], "y": ["a"]}, "leave simplify"),
        ({"drop": True, "X": [[1.0]], "y": ["c"]}, "none of the classes"),
        ({"drop": True, "X": [[1.0]], "y": ["a", "b"]}, "X has 1 rows"),
        ({"drop": True, "X": [[1.0]], "y": ["a"], "confidence": 0.7}, "up to 0.5"),
        ({"drop": True, "X": [[1.0]], "y": ["a"], "sample_weight": [-1]}, "none of them negative"),
        ({"classes": ["a"]}, "classes names 1"),
    ],
)
def test_wrong_calls_are_refused(options, sentence):
    model = DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"])
    with pytest.raises(ValueError, match=sentence):
        rule_list(model.tree_, **{"classes": model.classes_, **options})


def test_numbers_have_no_confidence():
    model = DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="order by coverage"):
        rule_list(model.tree_, order="confidence")
    with pytest.raises(ValueError, match="errors of classes"):
        rule_list(model.tree_, drop=True, order="tree", X=[[1.0]], y=[1.0])
    with pytest.raises(ValueError, match="decimals not negative"):
        rule_list(model.tree_).to_text(decimals=-1)
