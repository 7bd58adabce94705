"""Sweeps and nested validation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_score

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, KNeighborsClassifier, datasets
from ceiba.experiments import Dataset, compare, nested, summarize, sweep

TREE = DecisionTreeClassifier()


def test_a_sweep_crosses_parameters_on_the_same_folds():
    result = sweep(
        TREE, ["max_depth", "criterion"], [[1, 3], ["gini", "entropy"]], "wine", protocol="3-fold"
    )
    assert result.parameters == ("max_depth", "criterion")
    assert result.settings == ((1, "gini"), (1, "entropy"), (3, "gini"), (3, "entropy"))
    names = [learner.name for learner in result.comparison.learners]
    assert names[2] == "max_depth=3, criterion='gini'"
    single = compare(
        {"tree": DecisionTreeClassifier(max_depth=3, criterion="gini")}, "wine", protocol="3-fold"
    )
    assert result.comparison.mean("accuracy", "wine", names[2]) == single.mean(
        "accuracy", "wine", "tree"
    )
    means = result.means("accuracy")
    assert means.shape == (2, 2, 1)
    assert means[1, 0, 0] == single.mean("accuracy", "wine", "tree")
    lines = str(result.summarize()).splitlines()
    assert lines[0].split() == ["Accuracy", "wine"]
    assert [line.split("  ")[0] for line in lines[1:5]] == names


def test_the_best_setting_of_a_sweep_is_by_the_direction_of_the_score():
    result = sweep(TREE, "max_depth", [1, 3], ["wine", "iris"], protocol="3-fold")
    assert result.best(dataset="wine") == {"max_depth": 3}
    assert result.best("error", "wine") == {"max_depth": 3}
    with pytest.raises(ValueError, match="dataset must be one of wine, iris, got None"):
        result.best()


def test_values_may_be_an_array():
    result = sweep(TREE, "max_depth", np.arange(1, 3), "iris", protocol="2-fold")
    assert [learner.name for learner in result.comparison.learners] == [
        "max_depth=1",
        "max_depth=2",
    ]


@pytest.mark.parametrize(
    ("parameter", "values", "message"),
    [
        ("depth", [1], r"parameter must be one of DecisionTreeClassifier's parameters .* 'depth'"),
        ([], [], "parameter must be one or more different names"),
        (["max_depth", "max_depth"], [[1], [2]], "parameter must be one or more different names"),
        (["max_depth", "criterion"], [[1, 2]], "a list for each of 2 parameters, got 1"),
        ("max_depth", [], "values of 'max_depth' must be a list, not empty"),
        ("criterion", "gini", "values of 'criterion' must be a list, not empty, got 'gini'"),
        ("max_depth", [1, 1], "values must be different"),
    ],
)
def test_bad_sweeps_raise(parameter, values, message):
    with pytest.raises(ValueError, match=message):
        sweep(TREE, parameter, values, "iris", protocol="2-fold")


def test_nested_validation_is_that_of_scikit_learn():
    X, y = datasets.load("wine")
    result = nested(
        KNeighborsClassifier(),
        ["n_neighbors", "weights"],
        [[1, 15], ["uniform", "distance"]],
        "wine",
        protocol="3-fold",
        inner="4-fold",
        seed=5,
    )
    grid = {"n_neighbors": [1, 15], "weights": ["uniform", "distance"]}
    inner = StratifiedKFold(4, shuffle=True, random_state=5)
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=inner)
    outer = StratifiedKFold(3, shuffle=True, random_state=5)
    expected = cross_val_score(search, X, y, cv=outer)
    values = [
        value.value for value in result.fold_scores("accuracy", "wine", "KNeighborsClassifier")
    ]
    np.testing.assert_allclose(values, expected)
    train, _ = next(iter(outer.split(X, y)))
    assert result.folds[0].result.chosen == search.fit(X[train], y[train]).best_params_


def test_the_choice_is_by_the_score():
    by = {
        score: nested(TREE, "max_depth", [1, 6], "cleveland", protocol="holdout 0.3", score=score)
        for score in ("accuracy", "log_loss")
    }
    chosen = {score: result.folds[0].result.chosen["max_depth"] for score, result in by.items()}
    # A deep tree has probabilities of 0 and 1, which a log-loss punishes.
    assert chosen["log_loss"] == 1
    assert chosen["accuracy"] == 6


@pytest.mark.parametrize("options", [{"calibrate": "sigmoid"}, {"conformal": 0.9}])
def test_choices_are_kept_inside_of_wrappers(options):
    result = nested(TREE, "max_depth", [1, 6], "wine", protocol="holdout 0.3", **options)
    assert result.folds[0].result.chosen == {"max_depth": 6}


def test_an_inner_fit_that_fails_gives_its_own_error():
    result = nested(TREE, "max_depth", [-1], "wine", protocol="holdout 0.3")
    assert result.folds[0].result.error.startswith("ParameterError: The 'max_depth' parameter")


def test_nested_regression_chooses_by_r2():
    tree = DecisionTreeRegressor(min_samples_leaf=5)
    result = nested(tree, "max_depth", [1, 5], "auto_mpg", protocol="holdout 0.3")
    assert result.folds[0].result.chosen == {"max_depth": 5}
    with pytest.raises(ValueError, match="score must be a score of regression, got 'accuracy'"):
        nested(tree, "max_depth", [1], "auto_mpg", score="accuracy")
    assert str(summarize(result)).startswith("R²")


def test_groups_are_kept_together_inside_too():
    X, y = datasets.load("iris")
    groups = np.arange(len(y)) % 10
    data = Dataset("iris", X, y, "classification", groups)
    result = nested(TREE, "max_depth", [1, 2], data, protocol="groups 5", inner="groups 4")
    assert result.failures == []
    with pytest.raises(ValueError, match="inner must have the form 'groups 5'"):
        nested(TREE, "max_depth", [1, 2], data, protocol="groups 5")
    with pytest.raises(ValueError, match="calibrate and conformal divide the rows of groups"):
        nested(TREE, "max_depth", [1], data, protocol="groups 5", inner="groups 4", conformal=0.9)
    search = GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=GroupKFold(4))
    assert compare({"search": search}, data, protocol="groups 5").failures == []
