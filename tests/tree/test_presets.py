"""Comparison of presets, and estimators with pruned trees."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree import compare_presets, cost_complexity_path
from ceiba.tree.config import PRESETS, TreeConfig
from ceiba.tree.prune.pruning import Pruning


def cleveland() -> tuple[Any, Any]:
    data = datasets.load("cleveland")
    return data.table, data.y


def test_compare_presets_describes_each_model() -> None:
    X, y = cleveland()
    table = compare_presets(X, y, max_depth=4)
    assert [row.name for row in table] == ["hunt", "id3", "c45", "cart"]
    for row in table:
        model = table.models[row.name]
        assert model.max_depth == 4
        assert row.n_leaves == model.get_n_leaves() <= row.grown_leaves
        assert row.error == pytest.approx(1 - model.score(X, y))
        assert row.settings == {name: PRESETS[row.name][name] for name in row.settings}
    assert {"criterion", "missing", "pruning"} <= set(table["c45"].settings)
    text = str(table)
    assert len({line.index("  ") for line in text.splitlines()[1:]}) > 1
    assert all(word in text for word in ("gain_ratio", "fractional", "training error"))


def test_compare_presets_keeps_the_given_order() -> None:
    X, y = cleveland()
    assert [row.name for row in compare_presets(X, y, presets=["cart", "hunt"])] == ["cart", "hunt"]
    for wrong in ({"presets": ["cart", "chaid"]}, {"presets": []}, {"algorithm": "cart"}):
        with pytest.raises(ValueError, match="presets"):
            compare_presets(X, y, **wrong)


def test_parameters_override_the_preset() -> None:
    model = DecisionTreeClassifier(algorithm="c45", missing="learned", pruning="none")
    config = TreeConfig.from_estimator(model)
    assert (config.missing, config.pruning, config.criterion) == (
        "learned", "none", "gain_ratio",
    )  # fmt: skip
    assert not TreeConfig.from_estimator(
        DecisionTreeClassifier(algorithm="c45", criterion="gini")
    ).above_average_gain
    assert (
        TreeConfig.from_estimator(DecisionTreeClassifier(algorithm="c45", max_bins=9)).thresholds
        == "midpoint"
    )


def test_rules_and_json_agree_with_the_tree() -> None:
    X, y = cleveland()
    model = DecisionTreeClassifier(algorithm="c45").fit(X, y)
    rules = model.to_rules()
    np.testing.assert_array_equal(rules.predict(X), model.predict(X))
    record = json.loads(model.to_json())
    assert len(record["nodes"]) == model.tree_.n_nodes
    assert record["missing"] == "fractional"
    assert "or missing" not in model.to_text()


def test_failed_pruning_leaves_the_estimator_unchanged() -> None:
    X, y = cleveland()
    fresh = DecisionTreeClassifier(pruning="cost_complexity")
    with pytest.raises(ValueError, match="folds"):
        fresh.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(fresh, "tree_")
    fitted = DecisionTreeClassifier(pruning="cost_complexity", prune_folds=3).fit(X, y)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="folds"):
        fitted.fit([[0.0], [1.0]], [0, 1])
    assert vars(fitted) == before


def test_pruning_path_uses_prune_risk() -> None:
    X, y = cleveland()
    for risk in ("impurity", "error"):
        model = DecisionTreeClassifier(prune_risk=risk)
        path = model.cost_complexity_pruning_path(X, y)
        grown = DecisionTreeClassifier().fit(X, y).tree_
        np.testing.assert_array_equal(path.ccp_alphas, cost_complexity_path(grown, risk).alphas)
        leaves = [
            DecisionTreeClassifier(prune_risk=risk, ccp_alpha=alpha).fit(X, y).get_n_leaves()
            for alpha in path.ccp_alphas[path.ccp_alphas > 0]
        ]
        assert leaves == sorted(set(leaves), reverse=True)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_validation_rows_may_be_in_files(tmp_path: Any, kind: str) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=900), "b": rng.choice(["u", "v", None], size=900)})
    score = frame["a"] + (frame["b"] == "u") + rng.normal(size=900)
    frame["y"] = np.where(score > 0, "high", "low") if kind == "classes" else score
    train, held_out = frame[:500], frame[500:]
    held_out.to_parquet(tmp_path / "held_out.parquet", row_group_size=130)
    make = DecisionTreeClassifier if kind == "classes" else DecisionTreeRegressor
    grown = make().fit(train[["a", "b"]], train["y"])
    at_once = grown.pruned("reduced_error", held_out[["a", "b"]], held_out["y"])
    in_parts = grown.pruned("reduced_error", ceiba.scan(tmp_path / "held_out.parquet", target="y"))
    assert at_once.get_n_leaves() < grown.get_n_leaves()
    np.testing.assert_array_equal(in_parts.tree_.nodes, at_once.tree_.nodes)


def test_pruning_record_of_another_tree_raises(tmp_path: Any) -> None:
    X, y = cleveland()
    model = DecisionTreeClassifier().fit(X, y).pruned("step", step=3)
    iris = datasets.load("iris")
    other = DecisionTreeClassifier().fit(iris.table, iris.y).pruned("step", step=1)
    model.pruning_ = other.pruning_
    with pytest.raises(ValueError, match=r"pruning_.grown must have the columns of tree_, .*got"):
        ceiba.save(model, tmp_path / "wrong.ceiba")
    record = other.pruning_.to_json()
    for change in ({"details": None}, {"frames": [{"node": 10**6}]}, {"frames": [3]}, {"grown": 0}):
        with pytest.raises(ValueError, match=r"details|frames|grown"):
            Pruning.from_json({**record, **change})


def test_other_rows_than_the_training_rows_raise() -> None:
    X, y = cleveland()
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="training rows"):
        model.pruned("pessimistic", X.take(np.arange(200)), y[:200], subtree_raising=True)
    with pytest.raises(ValueError, match="training rows"):
        model.pruned("cost_complexity", X.take(np.zeros(303, np.int64)), np.repeat(y[:1], 303))
