"""Errors for models that a picture cannot show advise what exists and works."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import ceiba
from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianMixture,
    GradientBoostingClassifier,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NaiveBayesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    datasets,
    plots,
)

IRIS = datasets.load("iris")
X, y = IRIS.table, IRIS.y
NUMBERS = IRIS.X[:, 0]

MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=3).fit(X, y),
    "regression tree": lambda: DecisionTreeRegressor(max_depth=3).fit(X, NUMBERS),
    "forest": lambda: RandomForestClassifier(3, max_depth=2).fit(X, y),
    "regression forest": lambda: RandomForestRegressor(3, max_depth=2).fit(X, NUMBERS),
    "bag": lambda: BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3).fit(X, y),
    "boosted trees": lambda: AdaBoostClassifier(n_estimators=3).fit(X, y),
    "boosted numbers": lambda: AdaBoostRegressor(n_estimators=3).fit(X, NUMBERS),
    "gradient boosting": lambda: GradientBoostingClassifier(3).fit(X, y),
    "k-means": lambda: KMeans(3).fit(X),
    "mixture": lambda: GaussianMixture(2).fit(X),
    "naive Bayes": lambda: NaiveBayesClassifier().fit(X, y),
    "neighbors": lambda: KNeighborsClassifier().fit(X, y),
    "neighbors of numbers": lambda: KNeighborsRegressor().fit(X, NUMBERS),
}
# Picture -> what is passed after the model.
PICTURES = {
    "tree": "", "tree_path": "[5.0, 3.0, 2.0, 1.0]", "play": "X", "clusters": "X", "mixture": "X",
    "oob_curve": "", "importance": "", "margins": "X, y", "partition": "X", "surface": "X",
    "regions": "X, y", "rounds": "X, y", "step_functions": "X, NUMBERS", "pruning_path": "",
    "pruning_steps": "", "pruning_table": "", "presets": "", "cluster_choice": "",
    "mixture_choice": "", "network": "", "nomogram": "", "training_curve": "",
    "calibration": "X, y", "search_path": "", "loo_curve": "", "regions_by_k": "X, y, (1,)",
    "voronoi": "", "neighbor_votes": "X[:1]", "loss_curve": "", "split_importance": "",
}  # fmt: skip


@cache
def model_of(name):
    return MODELS[name]()


def draw(picture, model, more):
    """Return a function that draws a fitted model by the code of its first arguments."""
    classes = ", classes=model.classes_" if model.endswith(", classes=model.classes_") else ""
    arguments = ", ".join(filter(None, [model.removesuffix(classes), more])) + classes

    def evaluate(fitted):
        targets = y if hasattr(fitted, "classes_") else NUMBERS
        names = {"ceiba": ceiba, "plots": plots, "X": X, "y": targets, "NUMBERS": NUMBERS}
        return eval(f"plots.{picture}({arguments})", {**names, "model": fitted})

    return evaluate


def error_of(picture, name):
    """Return the message for a model that the picture cannot show; None if it shows it."""
    try:
        draw(picture, "model", PICTURES[picture])(model_of(name))
    except NotFittedError:
        raise
    except (TypeError, ValueError) as error:
        return str(error)
    return None


@cache
def advised_picture(code, name):
    """Draw what a message advises, once for all messages that advise it."""
    found = re.fullmatch(r"plots\.(\w+)\((.*)\)", code)
    return draw(found[1], found[2], "")(model_of(name))


@pytest.mark.parametrize("picture", PICTURES)
def test_advice_for_another_model_works(picture):
    for name in MODELS:
        message = error_of(picture, name)
        if message is None:
            continue
        own = re.search(r"pass (?:one of its trees, )?((?:ceiba\.|model\.).*)\.$", message)
        other = re.search(r"with (plots\.\w+\(.*\))\.$", message)
        if own:
            draw(picture, own[1], PICTURES[picture])(model_of(name))
        elif other:
            advised_picture(other[1], name)
        else:
            assert re.search(
                r"trace=True|oob_score|permutation_importance|draw two columns with|"
                r"fit it with n_neighbors='loo'",
                message,
            ), (name, message)


def test_an_ensemble_names_its_trees():
    with pytest.raises(TypeError, match=r"model\.tree\(0\), classes=model\.classes_\.$"):
        plots.tree(model_of("forest"))
    with pytest.raises(TypeError, match=r"pass one of its trees, model\.estimators_\[0\]\.$"):
        plots.tree(model_of("boosted trees"))
    with pytest.raises(TypeError, match=r"got RandomForestClassifier: draw one of its trees with "):
        plots.play(model_of("forest"), X)


def test_a_bag_with_a_score_is_not_advised_to_compute_it():
    bag = BaggingClassifier(n_estimators=20, oob_score=True).fit(X, y)
    with pytest.raises(TypeError, match="a bagging ensemble has the number oob_score_ alone"):
        plots.oob_curve(bag)


def test_a_forest_that_lost_its_curve_is_fitted_again():
    forest = RandomForestClassifier(20, oob_score=True).fit(X, y).drop_trees([0])
    with pytest.raises(TypeError, match="dropped with its trees, fit it again with oob_score"):
        plots.oob_curve(forest)


@pytest.mark.parametrize("picture", PICTURES)
def test_unfitted_models_raise(picture):
    if picture == "play":
        pytest.skip("it asks for trace=True at once")
    with pytest.raises(NotFittedError, match="Call 'fit' before it is drawn"):
        draw(picture, "model", PICTURES[picture])(DecisionTreeClassifier())


def test_estimators_of_other_packages_are_named_so():
    from sklearn.tree import DecisionTreeClassifier as Other

    fitted = Other().fit(np.arange(4.0)[:, None], [0, 0, 1, 1])
    with pytest.raises(TypeError, match="got DecisionTreeClassifier of sklearn"):
        plots.tree(fitted)
    with pytest.raises(TypeError, match="got ndarray of numpy"):
        plots.tree(IRIS.X)


def test_a_traced_fit_without_a_step_has_nothing_to_play():
    model = DecisionTreeClassifier(trace=True).fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="the fit made no step, such as a split of a tree"):
        plots.play(model, [[0.0], [1.0]])


MULTI_OUTPUT = {
    "tree": (DecisionTreeRegressor, "X"), "partition": (DecisionTreeRegressor, "X"),
    "surface": (DecisionTreeRegressor, "X"), "step_functions": (DecisionTreeRegressor, "X, y"),
    "calibration": (RandomForestClassifier, "X, y"), "margins": (RandomForestClassifier, "X, y"),
    "regions": (RandomForestClassifier, "X, y"), "oob_curve": (RandomForestClassifier, ""),
    "importance": (RandomForestClassifier, ""), "pruning_path": (DecisionTreeClassifier, ""),
    "pruning_steps": (DecisionTreeClassifier, ""), "play": (DecisionTreeClassifier, "X"),
}  # fmt: skip


@pytest.mark.parametrize("name", MULTI_OUTPUT)
def test_models_of_several_targets(name):
    learner, arguments = MULTI_OUTPUT[name]
    points = IRIS.X[:, :1] if name == "step_functions" else IRIS.X
    options = {"n_estimators": 15, "oob_score": True} if "Forest" in learner.__name__ else {}
    if name == "play":
        options["trace"] = True
    targets = np.column_stack([y == "setosa", y == "virginica"]).astype(int)
    model = learner(**options, max_depth=2).fit(points, targets)
    rest = {"": (), "X": (points,), "X, y": (points, targets)}[arguments]
    if name == "tree":
        rest = ()
    with pytest.raises(ValueError, match=r"one target.*got .*2: fit a model for each column"):
        getattr(plots, name)(model, *rest)
