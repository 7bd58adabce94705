"""Forests of small trees in files: packed, and the same in every bit when they come back."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor, datasets, load, save
from ceiba.ensemble.common.sampling import TREE, keyed
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.storage import columns_tested
from tests.ensemble.forest.parts import (
    CLASSES,
    NEW,
    X,
    classes,
    forest_bits,
    many,
    numbers,
    record_bits,
)


@cache
def small(**options: Any) -> RandomForestClassifier:
    """Trees of a few nodes."""
    return classes(12, max_depth=2, **options)


def older(forest: Forest) -> dict[str, Any]:
    """The record that was written before trees knew where they come from."""
    names = [entry.name for entry in fields(Forest) if entry.name not in ("origins", "steps")]
    return {name: getattr(forest, name) for name in names}


def arrays_of(record: dict[str, Any]) -> int:
    return sum(value.nbytes for value in record.values() if isinstance(value, np.ndarray))


# There and back

PACKED: dict[str, Any] = {
    "as grown": small,
    "numbers": lambda: numbers(12, max_depth=2),
    "many levels and classes": lambda: many().without([3]),
    "some dropped": lambda: small().without([0, 3, 4, 11]),
    "merged": lambda: small().merged(small(random_state=1), small(random_state=2).without([5])),
    "merged in another order": lambda: small().without(range(6)).merged(
        small().without(range(6, 12))
    ),
    "no whole weights": lambda: small(class_weight="balanced_subsample"),
    "one tree": lambda: small().without(range(1, 12)),
    "no split": lambda: RandomForestClassifier(9, min_samples_split=500).fit(X, CLASSES),
}  # fmt: skip


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", PACKED)
def test_a_forest_of_small_trees_comes_back(name: str, mmap: bool, tmp_path: Any) -> None:
    model = PACKED[name]()
    record = model.forest_.to_json()
    assert ("sizes" in record) == (name != "one tree")
    save(model, tmp_path / "forest")
    back = load(tmp_path / "forest", mmap=mmap)
    assert forest_bits(back) == forest_bits(model)
    save(back, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "forest").read_bytes()


def test_seeds_follow_from_where_trees_come_from() -> None:
    model = small(random_state=5).without([1, 2])
    forest = Forest.from_json(model.forest_.to_json())
    assert forest.origins is not None
    assert forest.origins.tolist() == [[5, t] for t in (0, *range(3, 12))]
    assert forest.keys[:, 0].tolist() == [keyed(5, TREE, t) for t in (0, *range(3, 12))]


def test_a_packed_forest_lives_on(tmp_path: Any) -> None:
    save(small(), tmp_path / "forest")
    back = load(tmp_path / "forest")
    back.set_params(n_estimators=15, warm_start=True).fit(X, CLASSES)
    assert forest_bits(back) == forest_bits(classes(15, max_depth=2))
    back = load(tmp_path / "forest")
    assert forest_bits(back.without([1])) == forest_bits(small().without([1]))
    with pytest.raises(ValueError, match="a tree would be there twice"):
        back.merged(small())
    found = back.oob_importance(X, CLASSES)
    assert record_bits(found) == record_bits(small().oob_importance(X, CLASSES))


def test_trees_of_an_older_file() -> None:
    """They are kept as they are, with those that are added to them."""
    model = small().without([])
    model.forest_ = Forest.from_json(older(small().forest_))
    assert model.forest_.origins is None
    assert model.forest_.to_json().keys() == older(small().forest_).keys()
    np.testing.assert_array_equal(model.predict_proba(NEW), small().predict_proba(NEW))
    for later in (model.without([2]), model.merged(small(random_state=1))):
        again = Forest.from_json(later.forest_.to_json())
        assert record_bits(again) == record_bits(later.forest_)
        assert again.origins is None


def test_forests_of_one_tree_each_are_not_packed() -> None:
    """Lots of one tree would take more."""
    first, *others = (classes(1, max_depth=1, random_state=seed) for seed in range(5))
    forest = first.merged(*others).forest_
    assert "lots" not in forest.to_json()
    assert record_bits(Forest.from_json(forest.to_json())) == record_bits(forest)


# Bytes


def test_iris_takes_at_most_twenty_bytes_a_node(tmp_path: Any) -> None:
    iris = datasets.load("iris")
    model = RandomForestClassifier().fit(iris.table, iris.y)
    save(model, tmp_path / "forest")
    assert (tmp_path / "forest").stat().st_size <= 20 * model.forest_.n_nodes


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
@pytest.mark.parametrize("depth", [1, 3, None])
def test_small_trees_of_many_columns(kind: Any, depth: int | None) -> None:
    """A tree tests few of them, and the others take nothing."""
    rng = np.random.default_rng(0)
    model = kind(50, max_depth=depth, max_features=5)
    forest = model.fit(rng.normal(size=(60, 300)), rng.integers(3, size=60)).forest_
    assert arrays_of(older(forest)) > 60 * forest.n_nodes
    assert arrays_of(forest.to_json()) <= 20 * forest.n_nodes


def test_columns_that_trees_test() -> None:
    forest = many().merged().forest_
    for t, found in enumerate(columns_tested(forest.nodes, forest.first, len(forest.schema))):
        tree = forest.tree(t)
        columns = (tree.nodes.view(np.uint32)[:, 3] & 0xFFFFFF)[tree.gain > 0]
        assert set(columns) <= set(np.flatnonzero(found))
    large = numbers(40).forest_  # more nodes than are looked at together
    assert large.n_nodes > 5000
    np.testing.assert_array_equal(
        columns_tested(large.nodes, large.first, 8), large.importances > 0
    )


# Damage


def lots(change: Any) -> Any:
    """The record's lots with another first one."""
    return lambda record: [change(record["lots"][0])]


def with_part(place: int, value: Any) -> Any:
    return lots(lambda lot: [*lot[:place], value, *lot[place + 1 :]])


BAD: list[tuple[str, Any, str]] = [
    ("sizes", lambda r: r["sizes"][:-1], "must take up all its nodes"),
    ("sizes", lambda r: r["sizes"][:0], "must take up all its nodes"),
    ("sizes", lambda r: r["sizes"] * 0, "must take up all its nodes"),
    ("sizes", lambda r: r["sizes"].astype(float), "sizes must be counts"),
    ("sizes", lambda r: r["sizes"].tolist(), "sizes must be counts"),
    ("sizes", lambda r: r["sizes"][None], "sizes must be counts"),
    ("sizes", lambda r: np.roll(r["sizes"], 1), "node|worth"),
    ("sizes", lambda r: np.full(12, 2**63, np.uint64), "must take up all its nodes"),
    ("nodes", lambda r: r["nodes"][:, :1], "nodes must be two words each"),
    ("nodes", lambda r: r["nodes"].reshape(-1), "nodes must be an array of uint64"),
    ("nodes", lambda r: r["nodes"] | np.uint64(0xFFFFFF << 32), "a column that is not there"),
    ("lots", lambda r: None, "lots must be numbers of all trees"),
    ("lots", lambda r: [], "lots must be numbers of all trees"),
    ("lots", lambda r: r["lots"] * 2, "lots must be numbers of all trees"),
    ("lots", lots(lambda lot: lot[:5]), "lots must be numbers of all trees"),
    ("lots", lots(tuple), "lots must be numbers of all trees"),
    ("lots", with_part(0, -1), "lots must be numbers of all trees"),
    ("lots", with_part(0, 2**64), "lots must be numbers of all trees"),
    ("lots", with_part(1, 0.5), "lots must be numbers of all trees"),
    ("lots", with_part(2, 11), "lots must be numbers of all trees"),
    ("lots", with_part(2, 0), "lots must be numbers of all trees"),
    ("lots", with_part(3, True), "lots must be numbers of all trees"),
    ("lots", with_part(5, 1), "lots must be numbers of all trees"),
    ("lots", with_part(5, 0.0), "weight_unit must be a positive number"),
    ("lots", with_part(5, float("nan")), "weight_unit must be a positive number"),
    ("dropped", lambda r: np.zeros(3, np.uint8), "dropped must be told of each tree"),
    ("dropped", lambda r: np.zeros(12), "dropped must be counts"),
    ("worth", lambda r: r["worth"][1:], "every column that a tree tests"),
    ("worth", lambda r: r["worth"].astype(np.float32), "worth must be an array of float64"),
    ("worth", lambda r: r["worth"][None], "worth must be an array of float64"),
    ("worth", lambda r: -r["worth"], "importances must be numbers of 0 or more"),
    ("worth", lambda r: r["worth"] * np.nan, "importances must be numbers of 0 or more"),
    ("n_classes", lambda r: -1, "n_classes must be a count"),
    ("n_classes", lambda r: 3.0, "n_classes must be a count"),
    ("schema", lambda r: None, "these are not the arrays of a forest"),
    ("first", lambda r: small().forest_.first[1:], "these are not the arrays of a forest"),
    ("other", lambda r: 1, "these are not the arrays of a forest"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "text"), BAD, ids=[f"{k}: {name}" for k, (name, *_) in enumerate(BAD)]
)
def test_a_damaged_record_is_refused(name: str, change: Any, text: str) -> None:
    record = small().forest_.to_json()
    assert "dropped" not in record
    with pytest.raises(ValueError, match=text):
        Forest.from_json({**record, name: change(record)})


@pytest.mark.parametrize(
    "name", ["nodes", "sizes", "lots", "worth", "schema", "n_classes", "grown"]
)
def test_a_record_with_a_part_missing_is_refused(name: str) -> None:
    record = small().forest_.to_json()
    del record[name]
    with pytest.raises(ValueError, match="these are not the arrays of a forest"):
        Forest.from_json(record)
