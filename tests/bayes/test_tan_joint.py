"""Samples, the joint likelihood, and networks as plain parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ceiba import LatentClassMixture, TANClassifier, datasets
from ceiba.base import ParameterError
from ceiba.bayes import DiscreteNetwork
from ceiba.bayes.joint import NetworkParts, sample_codes
from ceiba.bayes.network import mean_values
from tests.bayes.test_structure import random_table


@pytest.mark.parametrize("options", [{}, {"structure": "kdb"}, {"training": "tm"}])
def test_networks_come_back_from_their_parts(options: dict[str, Any]) -> None:
    X, y, _ = random_table(0)
    model = TANClassifier(**options).fit(X, y)
    parts = model.to_network("group")
    assert parts.variables[0] == "group"
    for table in parts.tables:
        np.testing.assert_allclose(table.sum(axis=-1), 1, atol=1e-12)
    again = TANClassifier.from_network(parts)
    assert sorted(again.arcs_) == sorted(model.arcs_)
    incomplete = random_table(0, missing=0.4)[0]
    for method in ("predict_joint_log_proba", "score_samples"):
        found, expected = getattr(again, method)(incomplete), getattr(model, method)(incomplete)
        np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("as_parts", [lambda parts: parts, lambda parts: DiscreteNetwork(*parts)])
def test_the_category_of_missing_values_comes_back(as_parts: Any) -> None:
    X, y, _ = random_table(0, missing=0.2)
    X["a"] = random_table(0)[0]["a"]
    model = TANClassifier(missing="category").fit(X, y)
    again = TANClassifier.from_network(as_parts(model.to_network()))
    assert again.missing == "category"
    X = random_table(0, missing=0.4)[0]  # in column a, too, which has no such category
    found, expected = again.predict_joint_log_proba(X), model.predict_joint_log_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert again.to_network().states == as_parts(model.to_network()).states
    summed = TANClassifier.from_network(model.to_network(), missing_state=None)
    assert np.abs(summed.predict_joint_log_proba(X) - expected).max() > 0.1
    X["b"] = X["b"].replace("p", "missing")
    model.fit(X, y)
    with pytest.raises(ValueError, match="column 'b' has a category of that name"):
        model.to_network()


GIVEN: dict[str, Any] = {
    "variables": ["c", "a"],
    "states": [[0, 1], ["x", "y"]],
    "parents": [[], [0]],
    "tables": [[0.4, 0.6], [[0.9, 0.1], [0.2, 0.8]]],
}


@pytest.mark.parametrize(
    ("field", "wrong", "message"),
    [
        ("variables", ["c", "c"], "variables must be different"),
        ("variables", ["c"], "states must have an entry for each of the 1 variables"),
        ("states", [[0, 1], ["x", "x"]], "states of 'a' must be different"),
        ("states", [[0, "b"], ["x", "y"]], "class 'c' must be all texts or all numbers"),
        ("states", None, "network must be a DiscreteNetwork, or have"),
        ("parents", [[], [2]], r"parents of 'a' must be indices in \[0, 1\], got 2"),
        ("parents", [[], ["c"]], "parents of 'a' must be indices of variables"),
        ("parents", [[1], [0]], "must not form a cycle"),
        ("tables", [[0.4, 0.6], [[0.9, 0.1]]], r"table of 'a' must have shape \(2, 2\)"),
        ("tables", [[0.4, 0.6], [["u", "v"], [1, 0]]], "table of 'a' must be an array of numbers"),
        ("tables", [[0.4, 0.6], [[0.9, np.nan], [0.2, 0.8]]], "must be finite"),
        ("tables", [[0.4, 0.6], [[0.9, 0.9], [0.2, 0.8]]], "given c='0' must sum to 1, got 1.8"),
        ("tables", [[1.4, -0.4], [[0.9, 0.1], [0.2, 0.8]]], "must be finite and not negative"),
    ],
)
def test_parts_that_are_no_network_raise(field: str, wrong: Any, message: str) -> None:
    parts = NetworkParts(**GIVEN)
    assert TANClassifier.from_network(parts).predict([{"a": "x"}, {"a": "y"}]).tolist() == [0, 1]
    with pytest.raises(ValueError, match=message):
        TANClassifier.from_network(parts._replace(**{field: wrong}))
    with pytest.raises(ValueError, match="network must be a DiscreteNetwork"):
        TANClassifier.from_network("asia.bif")


def test_the_probabilities_of_all_rows_add_up_to_one() -> None:
    from itertools import product

    import pandas as pd

    X, y, _ = random_table(0)
    rows = pd.DataFrame(list(product("pqr", repeat=5)), columns=list(X.columns))
    for options in ({}, {"training": "tm"}, {"structure": "kdb"}):
        model = TANClassifier(**options).fit(X, y)
        assert np.exp(model.score_samples(rows)).sum() == pytest.approx(1)


def test_samples_have_the_frequencies_of_the_network() -> None:
    X, y, _ = random_table(1)
    model = TANClassifier().fit(X, y)
    n = 20_000
    labels, codes = sample_codes(model.model_, n, 3)
    families = model.model_.families
    expected = mean_values(families, model.model_.network, n).table
    found = np.zeros_like(expected)
    for entries in families.table_rows(codes):
        np.add.at(found, (entries, labels), 1.0)
    deviation = (found - expected) / np.sqrt(np.maximum(expected, 1.0))
    assert np.abs(deviation).max() < 5
    more, _ = sample_codes(model.model_, n + 5, 3)
    np.testing.assert_array_equal(more[:n], labels)


def test_samples_are_tables_of_labels() -> None:
    iris = datasets.load("iris")
    model = TANClassifier().fit(iris.table, iris.y)
    X, y = model.sample(50, random_state=1)
    assert X.shape == (50, 4)
    assert set(y) <= set(model.classes_)
    labels = model.encoding_.category_labels(3)
    assert set(X.to_pandas().iloc[:, 3]) <= set(labels)
    words, target, _ = random_table(0, missing=0.2)
    fitted = TANClassifier(missing="category").fit(words, target)
    drawn, _ = fitted.sample(200)
    assert fitted.predict(drawn).shape == (200,)
    assert drawn.to_pandas().isna().any().any()


@pytest.mark.parametrize("learner", [TANClassifier, LatentClassMixture])
def test_models_that_are_not_fitted_have_no_arcs(learner: Any) -> None:
    assert not hasattr(learner(), "arcs_")
    for name in ("arcs_", "conditional_tables_") if learner is LatentClassMixture else ("arcs_",):
        with pytest.raises(NotFittedError, match=f"{learner.__name__} instance is not fitted yet"):
            getattr(learner(), name)


def test_unusable_arguments_raise() -> None:
    X, y, _ = random_table(0)
    model = TANClassifier().fit(X, y)
    for learner in (model, LatentClassMixture(2, n_init=1).fit(X)):
        for wrong in (0, None, 2.5, "3", True, np.nan):
            with pytest.raises(ValueError, match=f"n_samples must be an int >= 1, got {wrong!r}"):
                learner.sample(wrong)
        assert len(learner.sample(np.int64(3))[1]) == 3
    with pytest.raises(ValueError, match="class_name must differ"):
        model.to_network("a")
    with pytest.raises(ValueError, match="class_variable must be a variable of network"):
        TANClassifier.from_network(model.to_network(), "z")
    with pytest.raises(ValueError, match="'a' must not have parents"):
        TANClassifier.from_network(model.to_network(), "a")
    average = TANClassifier(structure="aode").fit(X, y)
    for method in (average.sample, average.to_network):
        with pytest.raises(ParameterError, match="requires one network"):
            method()


def test_a_class_of_probability_zero_stays_impossible() -> None:
    parts = NetworkParts(
        ("y", "x"), (["b", "a"], ["u", "v"]), ((), (0,)),
        (np.array([0.0, 1.0]), np.array([[1.0, 0.0], [0.5, 0.5]])),
    )  # fmt: skip
    model = TANClassifier.from_network(parts)
    assert model.class_count_.tolist() == [1.0, 0.0]
    assert model.predict_proba([{"x": "u"}, {"x": "v"}]).tolist() == [[1.0, 0.0]] * 2
    with pytest.raises(ValueError, match="positive probability, got 'b'"):
        model.evidence([{"x": "u"}], "a", "b")
