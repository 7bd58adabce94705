"""Forests of small trees in model files: compact, and bit-identical after loading."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor, datasets, load, save
from ceiba.ensemble.common.sampling import tree_seeds
from ceiba.ensemble.forest.model import Forest
from tests.ensemble.forest.parts import (
    CLASSES,
    X,
    classes,
    forest_bits,
    many,
    numbers,
    record_bits,
)


@cache
def small(**options: Any) -> RandomForestClassifier:
    """Return a forest of trees of a few nodes."""
    return classes(12, max_depth=2, **options)


def array_bytes(record: dict[str, Any]) -> int:
    return sum(value.nbytes for value in record.values() if isinstance(value, np.ndarray))


# Round trips

MODELS: dict[str, Any] = {
    "one fit": small,
    "numbers": lambda: numbers(12, max_depth=2),
    "many categories and classes": lambda: many().drop_trees([3]),
    "some dropped": lambda: small().drop_trees([0, 3, 4, 11]),
    "merged": lambda: small().merge_forests(
        small(random_state=1), small(random_state=2).drop_trees([5])
    ),
    "merged in another order": lambda: (
        small().drop_trees(range(6)).merge_forests(small().drop_trees(range(6, 12)))
    ),
    "one tree per fit": lambda: classes(1, max_depth=1).merge_forests(
        *(classes(1, random_state=seed) for seed in range(1, 5))
    ),
    "fractional weights": lambda: small(class_weight="balanced_subsample"),
    "one tree": lambda: small().drop_trees(range(1, 12)),
    "no split": lambda: RandomForestClassifier(9, min_samples_split=500).fit(X, CLASSES),
    "large": lambda: numbers(40),
}


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_small_forest_round_trip(name: str, mmap: bool, tmp_path: Any) -> None:
    model = MODELS[name]()
    save(model, tmp_path / "forest")
    back = load(tmp_path / "forest", mmap=mmap)
    assert forest_bits(back) == forest_bits(model)
    save(back, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "forest").read_bytes()


def test_tree_seeds_follow_from_origins() -> None:
    model = small(random_state=5).drop_trees([1, 2])
    forest = Forest.from_json(model.forest_.to_json())
    kept = (0, *range(3, 12))
    assert forest.origins.tolist() == [[5, t] for t in kept]
    assert forest.tree_seeds.tolist() == tree_seeds(forest.origins).tolist()


def test_loaded_small_forest_can_be_extended_and_reduced(tmp_path: Any) -> None:
    save(small(), tmp_path / "forest")
    back = load(tmp_path / "forest")
    back.set_params(n_estimators=15, warm_start=True).fit(X, CLASSES)
    assert forest_bits(back) == forest_bits(classes(15, max_depth=2))
    back = load(tmp_path / "forest")
    assert forest_bits(back.drop_trees([1])) == forest_bits(small().drop_trees([1]))
    with pytest.raises(ValueError, match="would contain duplicate trees"):
        back.merge_forests(small())
    found = back.oob_importance(X, CLASSES)
    assert record_bits(found) == record_bits(small().oob_importance(X, CLASSES))


# Size in bytes


def test_iris_forest_takes_at_most_21_bytes_per_node(tmp_path: Any) -> None:
    iris = datasets.load("iris")
    model = RandomForestClassifier().fit(iris.table, iris.y)
    save(model, tmp_path / "forest")
    assert (tmp_path / "forest").stat().st_size <= 21 * model.forest_.n_nodes


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
@pytest.mark.parametrize("depth", [1, 3, None])
def test_unused_columns_take_one_bit(kind: Any, depth: int | None) -> None:
    rng = np.random.default_rng(0)
    model = kind(50, max_depth=depth, max_features=5)
    forest = model.fit(rng.normal(size=(60, 300)), rng.integers(3, size=60)).forest_
    bits = 50 * 300 / 8
    assert forest.importances.nbytes > 40 * forest.n_nodes
    assert array_bytes(forest.to_json()) - bits <= 21 * forest.n_nodes


# Damage


def with_entry(name: str, index: Any, value: int) -> Any:
    """Change one entry of a stored array."""

    def change(record: dict[str, Any]) -> Any:
        array = record[name].copy()
        array[index] = value
        return array

    return change


BAD: list[tuple[str, Any, str]] = [
    ("trees", lambda r: r["trees"][:-1], "n_trees|nodes"),
    ("trees", lambda r: r["trees"][:0], "n_trees|indices into fits"),
    ("trees", lambda r: r["trees"] * 0, "follow each other|all its nodes"),
    ("trees", lambda r: r["trees"].astype(float), "trees must be an array of u"),
    ("trees", lambda r: r["trees"].tolist(), "trees must be an array of u"),
    ("trees", lambda r: r["trees"][:, :2], "trees must be an array of u"),
    ("trees", lambda r: np.roll(r["trees"], 1, axis=0), "node"),
    ("trees", lambda r: np.full((12, 3), 2**63, np.uint64), "trees must be"),
    ("trees", lambda r: r["trees"].astype(np.uint64) * np.uint64(2**60), "trees must be"),
    ("trees", with_entry("trees", (0, 1), 1), "trees must be indices into fits"),
    ("nodes", lambda r: r["nodes"][:, :1], "nodes must be an array of uint64"),
    ("nodes", lambda r: r["nodes"].reshape(-1), "nodes must be an array of uint64"),
    ("fits", lambda r: None, "fits must be an array of uint64"),
    ("fits", lambda r: r["fits"][:0], "trees must be indices into fits"),
    ("fits", lambda r: r["fits"][:, :3], "fits must be an array of uint64"),
    ("fits", lambda r: r["fits"].astype(np.int64), "fits must be an array of uint64"),
    ("fits", with_entry("fits", (0, 3), 0), "weight_unit must be positive"),
    ("fits", lambda r: r["fits"] | np.uint64(0x7FF8 << 48), "weight_unit must be positive"),
    ("columns", lambda r: r["columns"][1:], "columns must be an array of uint8"),
    ("columns", lambda r: r["columns"][:, :0], "a bit for each of the 8 columns"),
    ("columns", lambda r: ~r["columns"], "one for each bit of columns, got"),
    ("importances", lambda r: r["importances"][1:], "one for each bit of columns, got"),
    ("importances", lambda r: r["importances"].astype(np.float32), "an array of float64"),
    ("importances", lambda r: r["importances"][None], "an array of float64"),
    ("importances", lambda r: -r["importances"], "importances must be finite and not negative"),
    ("importances", lambda r: r["importances"] * np.nan, "importances must be finite"),
    ("n_classes", lambda r: -1, "n_classes must be"),
    ("n_classes", lambda r: 3.0, "n_classes must be"),
    ("schema", lambda r: None, "schema must be"),
    ("tree_offsets", lambda r: small().forest_.tree_offsets[1:], "must have the fields"),
    ("other", lambda r: 1, "must have the fields"),
]


@pytest.mark.parametrize(
    ("name", "change", "text"), BAD, ids=[f"{k}: {name}" for k, (name, *_) in enumerate(BAD)]
)
def test_damaged_record_is_rejected(name: str, change: Any, text: str) -> None:
    record = small().forest_.to_json()
    with pytest.raises(ValueError, match=text):
        Forest.from_json({**record, name: change(record)})


@pytest.mark.parametrize(
    "name", ["nodes", "trees", "fits", "columns", "importances", "schema", "n_classes", "n_grown"]
)
def test_record_with_a_missing_part_is_rejected(name: str) -> None:
    record = small().forest_.to_json()
    del record[name]
    with pytest.raises(ValueError, match="must have the fields"):
        Forest.from_json(record)
