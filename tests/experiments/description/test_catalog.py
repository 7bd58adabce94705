"""Names of learners, hyper-parameters as text, and tables as datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

from ceiba import RandomForestClassifier, TANClassifier, datasets
from ceiba.base import ParameterError
from ceiba.experiments.description.catalog import (
    LEARNERS,
    UnknownLearnerError,
    UnknownParameterError,
    default_learners,
    learner_names,
    make_learner,
    make_steps,
    parse_learner,
)
from ceiba.experiments.description.tables import TargetError, load_table


@pytest.mark.parametrize("name", LEARNERS)
def test_every_name_makes_the_learners_of_its_tasks(name: str) -> None:
    entry = LEARNERS[name]
    assert entry.description.endswith(".")
    assert is_classifier(make_learner(name))
    if entry.regressor is None:
        with pytest.raises(UnknownLearnerError, match="does not support regression; those that do"):
            make_learner(name, "regression")
    else:
        assert is_regressor(make_learner(name, "regression"))


def test_names_with_parameters_set_them() -> None:
    assert make_learner("c45").algorithm == "c45"
    assert make_learner("cart", "regression").pruning == "cost_complexity"
    assert make_learner("tan_tm", tau=0.5).get_params()["training"] == "tm"
    assert make_learner("c45", algorithm="id3").algorithm == "id3"


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("forest:max_features=1", "max_features", 1),
        ("forest:max_features=0.5", "max_features", 0.5),
        ("forest:max_features=SQRT", "max_features", "sqrt"),
        ("forest:max_features=none", "max_features", None),
        ("forest:bootstrap=False", "bootstrap", False),
        ("tree:pruning=none", "pruning", "none"),
        ("tree:class_weight=balanced", "class_weight", "balanced"),
        ('tree:class_weight={"a": 2, "b": 1},max_depth=3', "class_weight", {"a": 2, "b": 1}),
        ("knn:metric=manhattan", "metric", "manhattan"),
        ("naive_bayes:alpha=1e-3", "alpha", 1e-3),
        ("naive_bayes: alpha = 2 , n_bins = 7", "n_bins", 7),
        ("sklearn.svm.SVC:C=2,gamma=auto", "gamma", "auto"),
        ("sklearn.svm.SVC:C=2", "C", 2),
        ("sklearn.tree.DecisionTreeClassifier:max_depth=none", "max_depth", None),
        ("ceiba.DecisionTreeClassifier:max_depth=4", "max_depth", 4),
    ],
)
def test_values_are_parsed_by_their_declared_types(text: str, name: str, value: Any) -> None:
    found = parse_learner(text, "classification").get_params()[name]
    assert found == value
    assert type(found) is type(value)


def test_lists_are_arrays() -> None:
    learner = parse_learner("tan:structure=[-1, 0, 0],n_bins=4", "classification")
    assert isinstance(learner, TANClassifier)
    assert np.array_equal(learner.structure, [-1, 0, 0])
    assert learner.n_bins == 4


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("forrest", UnknownLearnerError, "Did you mean 'forest'?"),
        ("zzz", UnknownLearnerError, "The names are tree, cart"),
        ("forest:n_estimator=3", UnknownParameterError, "Did you mean 'n_estimators'?"),
        ("forest:n_estimators=0", ParameterError, "must be an int >= 1, got '0'."),
        ("forest:n_estimators=many", ParameterError, "must be an int >= 1, got 'many'."),
        ("forest:criterion=x", ParameterError, "must be 'gini', 'entropy' or 'log_loss'"),
        ("forest:oob_score=sum", ParameterError, "must be a bool, got 'sum'."),
        ("forest:n_estimators", ValueError, "must have the form name=value"),
        ("os.system", UnknownLearnerError, "must begin with ceiba. or sklearn."),
        ("sklearn.svn.SVC", UnknownLearnerError, "There is no module 'sklearn.svn'"),
        ("sklearn.svm.SVCC", UnknownLearnerError, "Did you mean 'SVC'?"),
        ("sklearn.metrics.accuracy_score", UnknownLearnerError, "no estimator"),
    ],
)
def test_errors_list_similar_names(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        parse_learner(text, "classification")
    assert message in str(caught.value)


def test_steps_make_a_pipeline() -> None:
    steps = ["sklearn.preprocessing.MinMaxScaler", "forest"]
    pipeline = make_steps(steps, "classification", randomforestclassifier__n_estimators=7)
    assert isinstance(pipeline[-1], RandomForestClassifier)
    assert pipeline[-1].n_estimators == 7
    with pytest.raises(UnknownParameterError, match="Did you mean"):
        make_steps(steps, "classification", randomforestclassifier__n_estimator=7)
    with pytest.raises(ValueError, match="at least one"):
        make_steps([], "classification")


def test_default_learners_take_the_columns() -> None:
    nominal = datasets.load("vote").schema
    assert set(default_learners("classification")) - {"gmm"} == set(
        default_learners("classification", [nominal])
    )
    assert set(default_learners("regression")) <= set(learner_names("regression"))


def test_a_file_is_a_dataset(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("a,b,who,y\n1,u,p,0.5\n2,v,p,1.5\n3,u,q,2.5\n")
    data = load_table(path, "y", drop=["a"], groups="who")
    assert (data.name, data.task, data.X.schema.names) == ("visits", "regression", ["b"])
    assert data.groups.tolist() == ["p", "p", "q"]
    assert load_table(path, "a", kinds={"y": "nominal"}).X.schema[2].kind == "nominal"
    assert load_table(path, "a", task="regression", name="n").task == "regression"


def test_a_bundled_table_may_have_another_target() -> None:
    data = load_table("auto_mpg", "origin")
    assert data.task == "classification"
    assert "mpg" not in data.X.schema.names
    with pytest.raises(TargetError, match="is classification, got regression"):
        load_table("iris", task="regression")
    with pytest.raises(ValueError, match="are for files"):
        load_table("iris", kinds={"a": "nominal"})
    with pytest.raises(ValueError, match="no column is left"):
        load_table("xor", drop=datasets.load("xor").feature_names)


def test_names_that_are_numbers_are_a_header_beside_the_target(tmp_path: Path) -> None:
    path = tmp_path / "years.csv"
    path.write_text("2020,2021,y\n1,2,a\n3,4,b\n5,6,a\n")
    data = load_table(path, "y")
    assert data.X.schema.names == ["2020", "2021"]
    assert len(data) == 3
    with pytest.raises(ValueError, match="no column 'z'"):
        load_table(path, "z")


def test_the_own_target_of_a_bundled_table_is_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="'species', the target of iris, is left out"):
        data = load_table("iris", "petal width (cm)")
    assert data.X.shape[1] == 3


def test_lists_and_mappings_are_json() -> None:
    text = 'gradient_boosting:monotonic_cst={"x": 1},interaction_cst=[["x", "z"], ["w"]]'
    model = parse_learner(text, "regression")
    assert model.monotonic_cst == {"x": 1}
    assert model.interaction_cst == [["x", "z"], ["w"]]
    model = parse_learner("gradient_boosting:monotonic_cst=[1, 0]", "regression")
    assert model.monotonic_cst.tolist() == [1, 0]
