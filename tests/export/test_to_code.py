"""Generated Python, C and SQL predicts as the model does."""

from __future__ import annotations

import ctypes
import re
import shutil
import sqlite3
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ceiba
from ceiba.export import NotExpressibleError, to_code, to_sklearn
from tests.export.mixed_table import TREES, fitted, fuzzed, table
from tests.export.run_code import run_all, run_c, run_python, run_sql

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
MODELS: dict[str, Any] = TREES | {
    "c45": ceiba.DecisionTreeClassifier(algorithm="c45", pruning="none"),
    "fractional": ceiba.DecisionTreeClassifier(missing="fractional", max_depth=7),
    "fractional costs": ceiba.DecisionTreeClassifier(
        missing="fractional", max_depth=4, cost_matrix=[[0, 1, 5], [2, 0, 1], [9, 1, 0]]
    ),
    "fractional regressor": ceiba.DecisionTreeRegressor(missing="fractional", max_depth=6),
    "fractional root": ceiba.DecisionTreeClassifier(missing="fractional", min_samples_leaf=400),
    "surrogate": ceiba.DecisionTreeClassifier(missing="surrogate", max_depth=4),
    "surrogate regressor": ceiba.DecisionTreeRegressor(missing="surrogate", max_depth=6),
}
# A part of the models is enough to guard a change.
FAST = ("branch", "costs", "fractional costs", "gradient", "surrogate")
NAMES = [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]


def check(model: Any, frame: pd.DataFrame, folder: Any) -> None:
    classes = model.classes_.tolist() if hasattr(model, "classes_") else None
    for outputs in run_all(folder, model, model.schema_, classes, frame).values():
        if classes is None:
            np.testing.assert_allclose(outputs["prediction"], model.predict(frame), rtol=1e-12)
            continue
        expected = model.predict_proba(frame)
        np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-12)
        clear = np.ptp(np.sort(expected, axis=1)[:, -2:], axis=1) > 1e-9
        predicted = np.array(outputs["prediction"])
        np.testing.assert_array_equal(predicted[clear], model.predict(frame)[clear])


@pytest.mark.parametrize("name", NAMES)
def test_code_predicts_as_the_model(name, tmp_path):
    check(fitted(MODELS[name]), fuzzed(), tmp_path)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_gradient_boosting_of_two_classes(loss, tmp_path):
    frame, label, _ = table()
    model = ceiba.GradientBoostingClassifier(3, loss=loss, max_leaf_nodes=5)
    check(model.fit(frame, label == "mid"), fuzzed(), tmp_path)


def test_gradient_boosting_of_logarithms(tmp_path):
    frame, _, number = table()
    model = ceiba.GradientBoostingRegressor(3, loss="gamma", max_leaf_nodes=5)
    check(model.fit(frame, np.exp(number / 2)), fuzzed(), tmp_path)


def test_gradient_boosting_of_one_class(tmp_path):
    frame, label, _ = table()
    single = ceiba.GradientBoostingClassifier(2).fit(frame[label == "mid"], label[label == "mid"])
    check(single, frame, tmp_path)


@pytest.mark.parametrize(
    "name", ["cart", "surrogate", "fractional", "regressor", "fractional costs"]
)
@pytest.mark.parametrize("simplified", [False, True])
@pytest.mark.slow
def test_rules_predict_as_the_rule_list(name, simplified, tmp_path):
    model, (frame, label, _) = fitted(MODELS[name]), table()
    if simplified and not hasattr(model, "classes_"):
        pytest.skip("conditions of regression rules are not dropped")
    rules = model.to_rules(X=frame, y=label, drop=True) if simplified else (
        model.to_rules()
    )  # fmt: skip
    classes = None if rules.labels is None else rules.labels.tolist()
    rows = fuzzed()
    for outputs in run_all(tmp_path, rules, rules.schema, classes, rows).values():
        if classes is None:
            np.testing.assert_allclose(outputs["prediction"], rules.predict(rows), rtol=1e-12)
        else:
            assert outputs["prediction"] == rules.predict(rows).tolist()


def test_deep_trees_and_values_at_thresholds(tmp_path):
    """A chain of 200 splits, and rows equal to every threshold and its neighbors."""
    X = pd.DataFrame({"x": np.cumsum(np.random.default_rng(4).random(201))})
    model = ceiba.DecisionTreeRegressor(thresholds="value").fit(X, 2.0 ** np.arange(201.0))
    assert model.get_depth() > 100
    edges = model.tree_.threshold[~model.tree_.is_leaf]
    values = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    frame = pd.DataFrame({"x": values})
    expected = model.predict(frame)
    for language, outputs in run_all(tmp_path, model, model.schema_, None, frame).items():
        np.testing.assert_allclose(outputs["prediction"], expected, rtol=1e-12, err_msg=language)


def test_integers_beyond_2_to_the_53():
    frame = pd.DataFrame({"i": 2**60 + np.arange(50)})
    model = ceiba.DecisionTreeClassifier().fit(frame, np.arange(50) % 7 > 3)
    outputs = run_python(to_code(model, "python"), frame)
    assert outputs["prediction"] == model.predict(frame).tolist()
    assert run_sql(to_code(model, "sql"), frame)["prediction"] == outputs["prediction"]
    with pytest.raises(NotExpressibleError, match="C compares doubles, which cannot hold"):
        to_code(model, "c")


def test_names_and_columns_of_sql():
    frame = pd.DataFrame({"prediction": [1.0, 2.0, 3.0, 4.0]})
    model = ceiba.DecisionTreeClassifier().fit(frame, ["a", "a", "b", "b"])
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE flowers (id, prediction)")
    database.executemany("INSERT INTO flowers VALUES (?, ?)", [(7, 1.5), (8, 3.5), (9, None)])
    code = to_code(model, "sql", table="flowers", keep=["id"])
    assert database.execute(code).fetchall()[:2] == [(7, "a", 1.0, 0.0), (8, "b", 0.0, 1.0)]
    assert 'AS "prediction_"' in to_code(model, "sql", table="flowers")


def test_numbers_of_sql_are_doubles():
    """DuckDB reads 0.25 as a decimal, and a product of decimals may have too many digits."""
    for name in ("fractional", "forest", "costs"):
        code = to_code(fitted(MODELS[name]), "sql")
        assert not re.search(r"\d\.\d+(?![\de])", code)


def test_rule_list_without_rules(tmp_path):
    frame, label, _ = table()
    model = ceiba.DecisionTreeClassifier(max_depth=2).fit(frame, label)
    rules = model.to_rules(X=frame, y=label, drop=True)
    empty = replace(rules, rules=(), default=rules.default or rules.rules[0])
    for outputs in run_all(tmp_path, empty, empty.schema, empty.labels.tolist(), frame).values():
        assert outputs["prediction"] == empty.predict(frame).tolist()


@pytest.mark.parametrize("missing", ["learned", "fractional", "surrogate"])
def test_columns_that_a_member_has_twice(missing, tmp_path):
    frame, label, _ = table()
    member = ceiba.DecisionTreeClassifier(missing=missing, max_depth=3, max_features=2)
    model = ceiba.BaggingClassifier(
        member, n_estimators=3, bootstrap_features=True, random_state=0
    ).fit(frame, label)
    trees = [member.tree_ for member in model.estimators_]
    splits = [tree.split(node) for tree in trees for node in np.flatnonzero(~tree.is_leaf)]
    assert any(split.name not in frame for split in splits)
    check(model, frame, tmp_path)


def test_comments_cannot_end_the_comment(tmp_path):
    names = ['*/ int x; /* """', "a\\b\n'c'\\"]
    frame = pd.DataFrame(np.random.default_rng(1).random((40, 2)), columns=names)
    model = ceiba.DecisionTreeClassifier(max_depth=3).fit(
        frame, np.where(frame.iloc[:, 0] > frame.iloc[:, 1], 'q"\\', "*/")
    )
    check(model, frame, tmp_path)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="requires gcc")
def test_labels_of_c_have_all_characters(tmp_path):
    labels = ["".join(map(chr, range(1, 128))), "??/ ??= \r7\n\t", "\x018"]
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    code = to_code(ceiba.DecisionTreeClassifier().fit(X, labels), "c")
    run_c(tmp_path, code, [], None, X.iloc[:0])
    library = ctypes.CDLL(str(tmp_path / "model.so"))
    found = (ctypes.c_char_p * 3).in_dll(library, "classes")
    assert sorted(text.decode() for text in found) == sorted(labels)


def test_what_code_lacks_is_refused():
    frame, label, _ = table()
    model = ceiba.BaggingClassifier(voting="majority").fit(frame, label)
    with pytest.raises(NotExpressibleError, match="no majority vote with drawn ties"):
        to_code(model, "python")
    model = ceiba.KMeans(2).fit(frame[["count"]])
    with pytest.raises(NotExpressibleError, match=r"must be a RuleList or one of .* got KMeans"):
        to_code(model, "sql")
    times = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60)})
    model = ceiba.DecisionTreeClassifier().fit(times, np.arange(60) > 20)
    with pytest.raises(NotExpressibleError, match="no type for the times of column 'day'"):
        to_code(model, "python")
    with pytest.raises(ValueError, match="language must be 'python', 'c' or 'sql', got 'java'"):
        to_code(model, "java")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'table' and 'keep' have no effect with language='c'"):
        to_code(model, "c", table="flowers")


def test_floats_in_a_column_of_integers(tmp_path):
    """Floats are compared with the midpoint of two integers, as in predict."""
    whole = pd.DataFrame({"i": np.arange(8)})
    model = ceiba.DecisionTreeClassifier().fit(whole, np.repeat(["a", "b", "c", "d"], 2))
    rows = pd.DataFrame({"i": np.arange(0.0, 8.0, 0.1)})
    check(model, rows, tmp_path)
    assert (to_sklearn(model).predict(rows) == model.predict(rows)).all()
