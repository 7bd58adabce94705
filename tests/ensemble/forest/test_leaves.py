"""Leaves of classifiers: class weights, size in bytes, and damage."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.tree_view import class_weights
from tests.budget import examples
from tests.ensemble.forest.parts import CLASSES, classes, many, record_bits
from tests.ensemble.forest.parts import X as ROWS
from tests.oracles.forest_leaf import as_word, bits_of, encode, number

LEAF = 0
NUMBER, PURE, MIXED, LISTED = range(4)


def kinds(nodes: Array) -> Array:
    """Return the kinds of leaves; -1 for other nodes."""
    last = nodes.view(np.uint32)[:, 3]
    return np.where(last >> 24 & 0xF == LEAF, (last >> 28).astype(np.int64), -1)


def child(nodes: Array) -> Array:
    return nodes.view(np.int32)[:, 2]


@cache
def letters(n_classes: int, noise: float) -> tuple[Array, Array]:
    """Return sixteen integers for each of some letters."""
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=20_000)
    centers = rng.normal(7, 3, size=(n_classes, 16))
    return np.clip(np.rint(centers[y] + rng.normal(0, noise, size=(len(y), 16))), 0, 15), y


OPTIONS = [{}, {"min_samples_leaf": 5}, {"min_samples_leaf": 20}, {"max_depth": 8}]


@cache
def forests() -> dict[str, Forest]:
    """Return forests with leaves of every kind."""
    X, y = letters(26, 3.0)
    weight = np.random.default_rng(0).random(2000)
    few = RandomForestClassifier(3, max_depth=4, bootstrap=False)
    return {
        "few": classes(3, max_depth=3).forest_,
        "many": many().forest_,
        "balanced": classes(3, max_depth=3, class_weight="balanced_subsample").forest_,
        "letters": RandomForestClassifier(3, min_samples_leaf=20).fit(X[:5000], y[:5000]).forest_,
        "weighted": few.fit(X[:2000], y[:2000], weight).forest_,
    }


# Class weights


@pytest.mark.parametrize("name", ["few", "many", "balanced", "letters", "weighted"])
def test_leaf_bits_match_naive_encoding(name: str) -> None:
    forest = forests()[name]
    offset = 0
    seen = set()
    for t in range(forest.n_trees):
        nodes = forest.nodes[forest.tree_offsets[t] : forest.tree_offsets[t + 1]]
        start = offset
        unit = np.ones(forest.n_classes) if forest.class_units is None else forest.class_units[t]
        for node, kind, own in zip(nodes, kinds(nodes), class_weights(forest, t), strict=True):
            seen.add(int(kind))
            best, stored = int(np.argmax(own)), child(node[None])[0]
            if kind == -1:
                assert not own.any()
            elif kind == PURE:
                assert own.nonzero()[0].tolist() == [best] == [stored]
                assert node[0] == own[best]
            else:
                assert not (own % unit).any()
                expected = encode([int(v) for v in own // unit])
                assert (len(expected) > 64) == (kind == LISTED)
                assert stored == (offset - start if kind == LISTED else best)
                rest = len(expected[64:] + "0" * 7) // 8
                found = bits_of(node[:1]) + bits_of(forest.leaves[offset : offset + rest])
                assert found.rstrip("0") == expected.rstrip("0")
                offset += rest
    assert offset == len(forest.leaves)
    assert {-1, PURE, LISTED} <= seen or name in ("few", "weighted", "many", "balanced")
    assert (MIXED in seen) or name == "weighted"
    assert (forest.class_units is not None) == (name == "balanced")


@examples(60)
@given(data=st.data())
def test_any_class_weights_round_trip(data: Any) -> None:
    """One leaf with class weights of any size, up to 2^51 in total."""
    largest = data.draw(st.sampled_from([1, 2, 5, 40, 10**4, 2**30, 2**45]))
    weight = np.array(
        data.draw(st.lists(st.integers(1, largest), min_size=2, max_size=40)), dtype=float
    )
    rows = np.zeros((len(weight), 1))
    model = RandomForestClassifier(1, bootstrap=False).fit(rows, np.arange(len(weight)), weight)
    fractions = weight / weight.sum()
    np.testing.assert_array_equal(model.predict_proba(rows[:1])[0], fractions)
    np.testing.assert_array_equal(model.tree(0).node_values[0], weight)
    smoothed = model.set_params(leaf_probability="laplace").predict_proba(rows[:1])[0]
    np.testing.assert_allclose(smoothed, (weight + 1) / (weight + 1).sum(), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 26, 1000])
def test_leaves_of_two_or_all_classes(n_classes: int) -> None:
    y = np.arange(n_classes)
    X = (y // 2)[:, None].astype(float)
    pairs = RandomForestClassifier(1, bootstrap=False, max_features=None).fit(X, y)
    np.testing.assert_array_equal(
        pairs.predict_proba(X), np.kron(np.eye(n_classes // 2), np.full((2, 2), 0.5))
    )
    assert len(pairs.forest_.leaves) == 0
    alone = RandomForestClassifier(1, bootstrap=False).fit(X * 0, y)
    np.testing.assert_array_equal(alone.predict_proba(X[:1] * 0)[0], 1 / n_classes)
    assert len(alone.forest_.leaves) <= n_classes / 2


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("leaf_probability", ["plain", "laplace"])
def test_probabilities_are_those_of_the_leaves(
    options: dict[str, Any], leaf_probability: str
) -> None:
    X, y = letters(26, 3.0)
    X, y = X[:6000], y[:6000]
    model = RandomForestClassifier(3, leaf_probability=leaf_probability, **options).fit(X, y)
    forest, expected = model.forest_, np.zeros((len(X), 26))
    leaves = model.apply(X)
    for t in range(3):
        weight = class_weights(forest, t)[leaves[:, t]] + (leaf_probability == "laplace")
        expected += weight / weight.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected / 3, rtol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(X)[:7], model.predict_proba(X[:7]))


def with_unit_weights(forest: Forest) -> Forest:
    """Return the same forest with leaves that store all weights in units of 1."""
    nodes, leaves = forest.nodes.copy(), b""
    for t in range(forest.n_trees):
        start = len(leaves)
        of_tree = range(forest.tree_offsets[t], forest.tree_offsets[t + 1])
        for i, own in zip(of_tree, class_weights(forest, t), strict=True):
            if kinds(nodes[i : i + 1])[0] != MIXED:
                continue
            bits = encode([int(v) for v in own])
            nodes[i, 0] = as_word(bits)
            if len(bits) <= 64:
                continue
            nodes[i].view(np.int32)[2] = len(leaves) - start
            nodes[i].view(np.uint32)[3] = LISTED << 28
            rest = bits[64:] + "0" * (-len(bits) % 8)
            leaves += int(rest[::-1], 2).to_bytes(len(rest) // 8, "little")
    return replace(
        forest, nodes=nodes, leaves=np.frombuffer(leaves, np.uint8).copy(), class_units=None
    )


@pytest.mark.parametrize("weights", ["balanced_subsample", {0: 0.3, 1: 0.7, 2: 1.9}], ids=str)
def test_class_units_do_not_change_predictions(weights: Any) -> None:
    model = classes(20, max_depth=4, class_weight=weights)
    plain = model.drop_trees([])
    plain.forest_ = with_unit_weights(model.forest_)
    assert (kinds(model.forest_.nodes) == LISTED).sum() == 0
    assert (kinds(plain.forest_.nodes) == LISTED).sum() > 20
    expected = model.predict_proba(ROWS)
    np.testing.assert_array_equal(plain.predict_proba(ROWS), expected)
    # The most probable class of a leaf is stored in its node, or found among its weights.
    own, other = (m.oob_importance(ROWS, CLASSES) for m in (model, plain))
    assert record_bits(own) == record_bits(other)
    for first, second in ((model, plain), (plain, model)):
        merged = Forest.from_json(first.forest_.merge_forests(second.forest_).to_json())
        for dropped in (range(20), range(20, 40)):
            part = model.drop_trees([])
            part.forest_ = merged.drop_trees(dropped)
            np.testing.assert_array_equal(part.predict_proba(ROWS), expected)


def test_common_class_weight_gives_the_same_forest() -> None:
    light = classes(20, max_depth=4, importance=True)
    heavy = classes(20, max_depth=4, importance=True, class_weight=dict.fromkeys(range(3), 0.3))
    mixed = kinds(light.forest_.nodes) == MIXED
    np.testing.assert_array_equal(heavy.forest_.nodes[mixed], light.forest_.nodes[mixed])
    assert record_bits(heavy.oob_importance_) == record_bits(light.oob_importance_)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda units: units * 0, "."),
        (lambda units: -units, "."),
        (lambda units: units * 0 + 2**62, "class weights of leaves must be positive"),
        (lambda units: units[:, :2], "."),
        (lambda units: units[1:], "class_units must be an array of int64"),
        (lambda units: units.astype(float), "class_units must be an array of int64"),
        (lambda units: units.tolist(), "class_units must be an array of int64"),
        (lambda units: units[0], "class_units must be an array of int64"),
    ],
)
def test_damaged_class_units_are_rejected(change: Any, text: str) -> None:
    record = forests()["balanced"].to_json()
    with pytest.raises(ValueError, match=text):
        Forest.from_json({**record, "class_units": change(record["class_units"])})


# Size in bytes


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 5, 26, 100])
def test_forest_takes_at_most_twenty_bytes_per_node(
    n_classes: int, options: dict[str, Any]
) -> None:
    model = RandomForestClassifier(2, **options).fit(*letters(n_classes, 3.0))
    assert 16 <= model.forest_.bytes_per_node <= 20


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("n_classes", [2, 5, 26])
@pytest.mark.parametrize("weights", ["balanced", "balanced_subsample"])
def test_balanced_forest_takes_at_most_twenty_bytes_per_node(
    n_classes: int, options: dict[str, Any], weights: str
) -> None:
    model = RandomForestClassifier(2, class_weight=weights, **options)
    assert 16 <= model.fit(*letters(n_classes, 3.0)).forest_.bytes_per_node <= 20


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_forest_of_random_labels_takes_at_most_twenty_bytes_per_node(
    options: dict[str, Any],
) -> None:
    X, y = letters(26, 3.0)
    model = RandomForestClassifier(2, **options).fit(X, np.random.default_rng(1).permutation(y))
    assert 16 <= model.forest_.bytes_per_node <= 20


# Damage


def changed(forest: Forest, kind: int, word: Any = None, to: Any = None, flag: int = -1) -> Forest:
    """Return a forest whose first leaf of a kind has another word, child or kind."""
    nodes = forest.nodes.copy()
    i = int(np.argmax(kinds(nodes) == kind))
    assert kinds(nodes)[i] == kind
    if word is not None:
        nodes[i, 0] = word(int(nodes[i, 0]))
    if to is not None:
        child(nodes)[i] = to(int(child(nodes)[i]))
    if flag >= 0:
        nodes.view(np.uint32)[i, 3] = flag << 28
    return replace(forest, nodes=nodes)


def code(*numbers: tuple[int, int]) -> Any:
    """Return a function to a word of some numbers and their orders."""
    bits = "".join(number(*each) for each in numbers)
    assert len(bits) <= 64
    return lambda word: as_word(bits)


def last_byte(forest: Forest, change: Any) -> Forest:
    leaves = forest.leaves.copy()
    leaves[-1] = change(int(leaves[-1]))
    return replace(forest, leaves=leaves)


NO_WEIGHTS = "class weights of leaves must be positive"
NO_CLASS = "class indices of leaves must be below"
ORDER = "leaf bytes must be contiguous"
# A leaf of three classes has their number and the order of weights; then for each the distance to
# the previous class and its weight.
DAMAGES: list[tuple[str, Any, str]] = [
    # A number without end, or beyond the leaf.
    ("few", lambda f: changed(f, MIXED, lambda word: 0), NO_WEIGHTS),
    ("few", lambda f: changed(f, MIXED, lambda word: 2**63), NO_WEIGHTS),
    ("few", lambda f: changed(f, MIXED, code((0, 0), (20, 0), (0, 0), (2**20, 20))), NO_WEIGHTS),
    ("few", lambda f: changed(f, MIXED, lambda word: word | 2**63), NO_WEIGHTS),
    # Weights, their order and their sum must be below 2^53.
    ("few", lambda f: changed(f, MIXED, code((0, 0), (54, 0), (0, 0))), NO_WEIGHTS),
    ("few", lambda f: changed(f, MIXED, code((0, 0), (2**20, 0))), NO_WEIGHTS),
    # A fourth class, a class out of range, too many classes.
    ("few", lambda f: changed(f, MIXED, code((0, 0), (0, 0), (0, 0), (0, 0), (2, 0))), NO_CLASS),
    ("few", lambda f: changed(f, MIXED, code((0, 0), (0, 0), (2**20, 0))), NO_CLASS),
    ("few", lambda f: changed(f, MIXED, code((2, 0), (0, 0), *[(0, 0)] * 8)), NO_CLASS),
    ("few", lambda f: changed(f, MIXED, code((2**20, 0), (0, 0), *[(0, 0)] * 8)), NO_CLASS),
    # The most probable class.
    ("few", lambda f: changed(f, MIXED, to=lambda k: (k + 1) % 3), "must be its majority class"),
    ("few", lambda f: changed(f, MIXED, to=lambda k: 3), NO_CLASS),
    ("few", lambda f: changed(f, MIXED, to=lambda k: -1), NO_CLASS),
    # Leaves of another kind.
    ("few", lambda f: changed(f, MIXED, flag=NUMBER), "unknown kind of leaf"),
    ("few", lambda f: changed(f, MIXED, to=lambda k: 0, flag=LISTED), NO_WEIGHTS),
    ("few", lambda f: changed(f, MIXED, flag=4), "unknown kind of leaf"),
    ("letters", lambda f: changed(f, PURE, flag=LISTED), "leaf bytes|leaf|weights"),
    ("letters", lambda f: changed(f, LISTED, to=lambda k: 3, flag=MIXED), NO_WEIGHTS),
    # Bytes that are misplaced, missing, superfluous, or have unused bits.
    ("letters", lambda f: changed(f, LISTED, to=lambda k: 1), ORDER),
    ("letters", lambda f: changed(f, LISTED, to=lambda k: -1), ORDER),
    ("letters", lambda f: changed(f, LISTED, to=lambda k: 2**31 - 1), ORDER),
    ("letters", lambda f: replace(f, leaves=f.leaves[:-1]), NO_WEIGHTS),
    ("letters", lambda f: replace(f, leaves=f.leaves[:0]), NO_WEIGHTS),
    ("letters", lambda f: replace(f, leaves=f.leaves[1:]), "weights|class"),
    (
        "letters",
        lambda f: replace(f, leaves=np.append(f.leaves, f.leaves[:1])),
        "must cover all leaf bytes",
    ),
    ("letters", lambda f: last_byte(f, lambda byte: byte | 0x80), NO_WEIGHTS),
    ("letters", lambda f: replace(f, n_classes=20), NO_CLASS),
    ("letters", lambda f: replace(f, n_classes=64), "weights|class"),
    ("few", lambda f: replace(f, leaves=np.zeros(3, np.uint8)), "must cover all leaf bytes"),
]


@pytest.mark.parametrize(
    ("name", "damage", "text"), DAMAGES, ids=[str(k) for k in range(len(DAMAGES))]
)
def test_damaged_leaves_are_rejected(name: str, damage: Any, text: str) -> None:
    Forest.from_json(forests()[name].to_json())
    with pytest.raises(ValueError, match=text):
        Forest.from_json(damage(forests()[name]).to_json())


def test_leaves_must_match_the_task() -> None:
    rows, y = letters(5, 3.0)
    forest = RandomForestRegressor(2, max_depth=3).fit(rows[:100], y[:100]).forest_
    with pytest.raises(ValueError, match="unknown kind of leaf"):
        Forest.from_json({**forest.to_json(), "n_classes": 5})
    with pytest.raises(ValueError, match="regression leaves must have"):
        Forest.from_json({**forests()["few"].to_json(), "n_classes": 0})
    with pytest.raises(ValueError, match="require a classification forest"):
        class_weights(forest, 0)


@pytest.mark.parametrize("class_weight", [
    None, {0: 0.01, 1: 0.02, 2: 9.0}, {0: 0.5, 1: 0.5, 2: 0.5}, "balanced_subsample",
], ids=str)  # fmt: skip
@pytest.mark.parametrize("bootstrap", [True, False])
def test_numbers_of_rows_are_draws_whatever_the_class_weights(
    class_weight: Any, bootstrap: bool
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), rng.integers(0, 3, 90)
    model = RandomForestClassifier(
        2, class_weight=class_weight, bootstrap=bootstrap, min_samples_leaf=3
    ).fit(X, y)
    for t, rows in enumerate(model.estimators_samples_):
        tree, leaf = model.tree(t), model.apply(X)[:, t]
        expected = np.bincount(leaf[rows], minlength=tree.n_nodes)
        assert tree.n_rows[tree.is_leaf].tolist() == expected[tree.is_leaf].tolist()
        assert tree.n_rows[0] == len(rows)
        assert model.estimators_[t].tree_.n_node_samples[0] == len(rows)


def test_numbers_of_rows_of_fractional_weights_are_rounded_weights() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), rng.integers(0, 2, 90)
    model = RandomForestClassifier(2, bootstrap=False)
    model.fit(X, y, sample_weight=rng.uniform(0.01, 3, 90))
    weighted = RandomForestClassifier(2, class_weight={0: 0.3}, random_state=1).fit(X, y)
    for forest in (model, model.merge_forests(weighted)):
        tree = forest.tree(0)
        leaves = tree.is_leaf
        assert tree.n_rows.min() == 1
        expected = np.maximum(np.rint(tree.weight[leaves]), 1)
        assert tree.n_rows[leaves].tolist() == expected.tolist()
        assert tree.n_rows[0] == expected.sum()
