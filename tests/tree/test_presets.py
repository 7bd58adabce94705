"""Presets side by side, and what an estimator with a pruned tree must keep to."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree import compare_presets, complexity_path
from ceiba.tree.presets import PRESETS, options_of
from ceiba.tree.prune.pruning import Pruning


def cleveland() -> tuple[Any, Any]:
    data = datasets.load("cleveland")
    return data.table, data.y


def test_presets_stand_side_by_side() -> None:
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


def test_some_presets_in_an_order() -> None:
    X, y = cleveland()
    assert [row.name for row in compare_presets(X, y, presets=["cart", "hunt"])] == ["cart", "hunt"]
    for wrong in ({"presets": ["cart", "chaid"]}, {"presets": []}, {"algorithm": "cart"}):
        with pytest.raises(ValueError, match="presets"):
            compare_presets(X, y, **wrong)


def test_a_preset_is_overridden_one_by_one() -> None:
    model = DecisionTreeClassifier(algorithm="c45", missing="learned", pruning="none")
    options = options_of(model)
    assert (options.missing, options.pruning, options.criterion) == (
        "learned", "none", "gain_ratio",
    )  # fmt: skip
    assert not options_of(DecisionTreeClassifier(algorithm="c45", criterion="gini")).gain_guard
    assert options_of(DecisionTreeClassifier(algorithm="c45", max_bins=9)).thresholds == "midpoint"


def test_rules_and_json_of_an_estimator() -> None:
    X, y = cleveland()
    model = DecisionTreeClassifier(algorithm="c45").fit(X, y)
    rules = model.to_rules()
    np.testing.assert_array_equal(rules.predict(X), model.predict(X))
    record = json.loads(model.to_json())
    assert len(record["nodes"]) == model.tree_.n_nodes
    assert record["missing"] == "shared"
    assert "or missing" not in model.to_text()


def test_a_pruning_that_fails_leaves_the_estimator_as_it_was() -> None:
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


def test_the_path_is_that_of_the_risk_asked_for() -> None:
    X, y = cleveland()
    for risk in ("impurity", "error"):
        model = DecisionTreeClassifier(prune_risk=risk)
        path = model.cost_complexity_pruning_path(X, y)
        grown = DecisionTreeClassifier().fit(X, y).tree_
        np.testing.assert_array_equal(path.ccp_alphas, complexity_path(grown, risk).alphas)
        leaves = [
            DecisionTreeClassifier(prune_risk=risk, ccp_alpha=alpha).fit(X, y).get_n_leaves()
            for alpha in path.ccp_alphas[path.ccp_alphas > 0]
        ]
        assert leaves == sorted(set(leaves), reverse=True)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_validation_rows_may_lie_in_files(tmp_path: Any, kind: str) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=900), "b": rng.choice(["u", "v", None], size=900)})
    score = frame["a"] + (frame["b"] == "u") + rng.normal(size=900)
    frame["y"] = np.where(score > 0, "high", "low") if kind == "classes" else score
    train, held = frame[:500], frame[500:]
    held.to_parquet(tmp_path / "held.parquet", row_group_size=130)
    make = DecisionTreeClassifier if kind == "classes" else DecisionTreeRegressor
    grown = make().fit(train[["a", "b"]], train["y"])
    at_once = grown.pruned("reduced_error", held[["a", "b"]], held["y"])
    in_parts = grown.pruned("reduced_error", ceiba.scan(tmp_path / "held.parquet", target="y"))
    assert at_once.get_n_leaves() < grown.get_n_leaves()
    np.testing.assert_array_equal(in_parts.tree_.nodes, at_once.tree_.nodes)


def test_a_record_of_another_tree_is_refused(tmp_path: Any) -> None:
    X, y = cleveland()
    model = DecisionTreeClassifier().fit(X, y).pruned("level", level=3)
    iris = datasets.load("iris")
    other = DecisionTreeClassifier().fit(iris.table, iris.y).pruned("level", level=1)
    model.pruning_ = other.pruning_
    with pytest.raises(ValueError, match="how this tree was pruned"):
        ceiba.save(model, tmp_path / "wrong.ceiba")
    record = other.pruning_.to_json()
    for change in ({"options": None}, {"steps": [{"node": 10**6}]}, {"steps": [3]}, {"grown": 0}):
        with pytest.raises(ValueError, match="pruning"):
            Pruning.from_json({**record, **change})


def test_rows_that_the_tree_was_not_grown_from_are_refused() -> None:
    X, y = cleveland()
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="training rows"):
        model.pruned("pessimistic", X.take(np.arange(200)), y[:200], raising=True)
    with pytest.raises(ValueError, match="training rows"):
        model.pruned("cost_complexity", X.take(np.zeros(303, np.int64)), np.repeat(y[:1], 303))
