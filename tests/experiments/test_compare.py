"""Comparisons: equal folds, results that continue, and failures that stop no other learner."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import ceiba
from ceiba.experiments import Comparison, Dataset, Journal, KFold, compare, summarize
from ceiba.experiments.running.units import Unit
from tests.experiments.running import killed
from tests.experiments.running.killed import assert_same

LEARNERS = {
    "tree": ceiba.DecisionTreeClassifier(max_depth=3),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}


def test_scores_are_those_of_scikit_learn() -> None:
    iris = ceiba.datasets.load("iris")
    X, y = np.asarray(iris.table.block), np.asarray(iris.y)
    results = compare(LEARNERS, {"iris": (X, y)}, protocol=KFold(5, random_state=3))
    for name, learner in LEARNERS.items():
        folds = [(f.unit.train, f.unit.test) for f in results.of("iris", name)]
        expected = cross_val_score(learner, X, y, cv=folds)
        found = [value.value for value in results.fold_scores("accuracy", "iris", name)]
        np.testing.assert_allclose(found, expected)
        assert results.mean("accuracy", "iris", name) == pytest.approx(expected.mean())
    tests = np.sort(np.concatenate([f.unit.test for f in results.of("iris", "tree")]))
    np.testing.assert_array_equal(tests, np.arange(150))


def test_all_learners_have_the_same_folds() -> None:
    results = compare(LEARNERS, ["iris", "wine"], protocol="3x4-fold", seed=5)
    for table in ("iris", "wine"):
        one, two = results.of(table, "tree"), results.of(table, "logistic")
        assert len(one) == 12
        for left, right in zip(one, two, strict=True):
            np.testing.assert_array_equal(left.unit.test, right.unit.test)


def test_any_table_and_pipeline_can_compete() -> None:
    vote = ceiba.datasets.load("vote")
    frame = vote.table.to_pandas()
    learners = [ceiba.NaiveBayesClassifier(), ceiba.KNeighborsClassifier(metric="gower")]
    results = compare(learners, {"vote": (frame, vote.y)}, protocol="holdout 0.3")
    assert results.mean("accuracy", "vote", "NaiveBayesClassifier") > 0.85
    assert results.mean("accuracy", "vote", "KNeighborsClassifier") > 0.85
    numbers = {"numbers": (np.arange(40.0)[:, None], np.arange(40.0) * 2)}
    results = compare(LinearRegression(), numbers, protocol="5-fold")
    assert results.mean("r2", "numbers", "LinearRegression") == pytest.approx(1.0)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the learners of all units that are computed."""
    names: list[str] = []
    run = Unit.run

    def counted(unit: Unit) -> Any:
        names.append(unit.learner.name)
        return run(unit)

    monkeypatch.setattr(Unit, "run", counted)
    return names


def test_an_experiment_continues(computed: list[str], tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    first = compare(LEARNERS, "iris", protocol="5-fold", journal=path)
    assert len(computed) == 10
    computed.clear()
    assert_same(compare(LEARNERS, "iris", protocol="5-fold", journal=path), first)
    assert computed == []
    changed = LEARNERS | {"tree": ceiba.DecisionTreeClassifier(max_depth=4)}
    compare(changed, ["iris", "wine"], protocol="5-fold", journal=path)
    assert sorted(computed) == ["logistic"] * 5 + ["tree"] * 10
    with Journal(path) as journal:
        computed.clear()
        compare(changed, ["iris", "wine"], protocol="5-fold", journal=journal)
        assert computed == []


class Failing(ClassifierMixin, BaseEstimator):
    """Fails on folds without the first row."""

    def fit(self, X: Any, y: Any) -> Failing:
        if not (np.asarray(X)[:, 0] == 5.1).any():
            raise RuntimeError("row 0 is missing")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[:1], len(X))


def test_a_failure_is_shown_and_the_rest_goes_on(computed: list[str], tmp_path: Path) -> None:
    iris = ceiba.datasets.load("iris")
    X, y = np.asarray(iris.table.block)[::5].copy(), np.asarray(iris.y)[::5]
    X[:, 0] = np.where(np.arange(len(X)) == 0, 5.1, 4.0)
    learners = {"failing": Failing(), **LEARNERS}
    path = tmp_path / "journal.db"
    results = compare(learners, {"some": (X, y)}, protocol="5-fold", journal=path)
    assert len(results.failures) == 1
    assert results.failures[0].result.error == "RuntimeError: row 0 is missing"
    assert results.mean("accuracy", "some", "failing") is None
    values = results.fold_scores("accuracy", "some", "failing")
    assert [value.reason for value in values if value.value is None] == [
        "RuntimeError: row 0 is missing"
    ]
    assert results.mean("accuracy", "some", "tree") is not None
    computed.clear()
    compare(learners, {"some": (X, y)}, protocol="5-fold", journal=path)
    assert computed == ["failing"]


def test_threads_do_not_matter() -> None:
    learners = {"forest": RandomForestClassifier(5), **LEARNERS}
    one = compare(learners, "iris", protocol="4-fold", n_jobs=1)
    assert_same(one, compare(learners, "iris", protocol="4-fold", n_jobs=3))


@pytest.fixture(scope="module")
def undisturbed() -> Comparison:
    return killed.run()


@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.25])
def test_a_killed_experiment_gives_the_same_table(
    seconds: float, undisturbed: Comparison, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    assert not killed.kill_after(seconds, path), "the experiment is too short for this test"
    assert_same(killed.run(path), undisturbed)


@pytest.mark.parametrize(
    ("learners", "datasets", "message"),
    [
        ({}, "iris", "at least one estimator"),
        ([ceiba.DecisionTreeClassifier(), ceiba.DecisionTreeClassifier()], "iris", "twice"),
        ({"tree": ceiba.DecisionTreeClassifier}, "iris", "must be estimators"),
        ({"groups": ceiba.KMeans(2)}, "iris", "classifiers or regressors"),
        (
            [ceiba.DecisionTreeClassifier(), ceiba.DecisionTreeRegressor()],
            "iris",
            "all classifiers or all regressors",
        ),
        (LEARNERS, [], "at least one is required"),
        (LEARNERS, ["iris", "iris"], "different names"),
        (LEARNERS, pd.DataFrame({"a": [1]}), "names of bundled datasets, or pairs"),
    ],
)
def test_wrong_experiments_raise(learners: Any, datasets: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(learners, datasets)


def test_a_dataset_has_groups() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    data = Dataset("grouped", X, y, "classification", np.repeat(np.arange(12), 5))
    results = compare(LEARNERS, data, protocol="groups 4")
    for fold in results.folds:
        groups = np.asarray(data.groups)
        assert not set(groups[fold.unit.train]) & set(groups[fold.unit.test])


def test_the_default_is_ten_folds() -> None:
    assert len(compare(LEARNERS["tree"], "iris").folds) == 10


class Noisy(ClassifierMixin, BaseEstimator):
    """Warns with the number of rows."""

    def __init__(self, bound: int = 0) -> None:
        self.bound = bound

    def fit(self, X: Any, y: Any) -> Noisy:
        self.classes_ = np.unique(y)
        warnings.warn(f"{len(X)} rows exceed {self.bound}", RuntimeWarning, stacklevel=1)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[:1], len(X))


@pytest.mark.parametrize("options", [{"n_jobs": 1}, {"n_jobs": 2}, {"isolate": True}])
def test_warnings_of_learners_are_one_warning_and_kept(
    options: dict[str, Any], tmp_path: Path
) -> None:
    learners = {"tree": LEARNERS["tree"], "noisy": Noisy(), "other": Noisy(10)}
    path = tmp_path / "journal.db"
    for _ in range(2):  # computed, then read
        with pytest.warns(ceiba.experiments.LearnerWarning) as seen:
            results = compare(learners, "iris", protocol="holdout 0.3", journal=path, **options)
        assert len(seen) == 1
        message = "2 warnings of learners (see results.warnings), the first of noisy on iris: "
        assert str(seen[0].message) == message + "RuntimeWarning: 105 rows exceed 0"
        assert results.warnings == {
            ("iris", "noisy"): ["RuntimeWarning: 105 rows exceed 0"],
            ("iris", "other"): ["RuntimeWarning: 105 rows exceed 10"],
        }


def test_probabilities_are_calibrated_and_regions_kept() -> None:
    learners = {"naive Bayes": ceiba.NaiveBayesClassifier()}
    plain, calibrated, regions = (
        compare(learners, "vehicle", protocol="holdout 0.5", **options)
        for options in ({}, {"calibrate": "sigmoid"}, {"conformal": 0.8})
    )
    loss = {id(r): r.mean("log_loss", "vehicle", "naive Bayes") for r in (plain, calibrated)}
    assert loss[id(calibrated)] < 0.8 * loss[id(plain)]
    assert plain.mean("coverage", "vehicle", "naive Bayes") is None
    assert regions.mean("coverage", "vehicle", "naive Bayes") == pytest.approx(0.8, abs=0.06)
    assert regions.mean("set_size", "vehicle", "naive Bayes") > 1
    both = compare(learners, "vehicle", protocol="holdout 0.5", calibrate="sigmoid", conformal=0.8)
    estimator = both.learners[0].estimator
    assert type(estimator).__name__ == "ConformalClassifier"
    assert type(estimator.estimator).__name__ == "CalibratedClassifier"
    intervals = compare(
        {"tree": ceiba.DecisionTreeRegressor(max_depth=4)}, "auto_mpg", conformal=0.9
    )
    assert intervals.mean("coverage", "auto_mpg", "tree") == pytest.approx(0.9, abs=0.04)
    assert intervals.mean("interval_width", "auto_mpg", "tree") > 5
    with pytest.raises(ValueError, match="calibrate='isotonic' requires classifiers"):
        compare(LinearRegression(), "auto_mpg", calibrate="isotonic")
    with pytest.raises(ValueError, match=r"conformal must be a float in \(0, 1\), got 90"):
        compare(learners, "vehicle", conformal=90)


class Wrong(ClassifierMixin, BaseEstimator):
    """Returns predictions that are none."""

    def __init__(self, kind: str = "") -> None:
        self.kind = kind

    def fit(self, X: Any, y: Any) -> Wrong:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        if self.kind == "exit":
            raise SystemExit(3)
        labels = np.repeat(self.classes_[:1], len(X) - (self.kind == "short"))
        return labels[:, None] if self.kind == "2d" else labels

    def predict_proba(self, X: Any) -> Any:
        n_columns = len(self.classes_) + (self.kind == "columns")
        return np.full((len(X), n_columns), np.nan if self.kind == "nan" else 1 / n_columns)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("nan", "ValueError: probabilities must be at least 0"),
        ("columns", "ValueError: predict_proba must return a column for each of 3 classes"),
        ("short", "ValueError: Found input variables with inconsistent numbers of samples"),
        ("2d", "ValueError: predict must return an array of shape"),
        ("exit", "SystemExit: 3"),
    ],
)
def test_wrong_output_is_a_failure_of_its_learner(kind: str, message: str) -> None:
    results = compare({"wrong": Wrong(kind), "right": Wrong()}, "iris", protocol="holdout 0.3")
    assert [fold.unit.learner.name for fold in results.failures] == ["wrong"]
    assert str(results.failures[0].result.error).startswith(message)
    assert summarize(results, "log_loss").cells[0][1].mean == pytest.approx(np.log(3))


def test_a_learner_without_hash_needs_no_journal(tmp_path: Path) -> None:
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    learner = make_pipeline(FunctionTransformer(lambda rows: rows * 2), LogisticRegression())
    results = compare({"lambda": learner}, {"d": (X, y)}, protocol="2-fold")
    assert results.failures == []
    with pytest.raises(ValueError, match="'lambda' cannot be kept in a journal"):
        compare({"lambda": learner}, {"d": (X, y)}, journal=tmp_path / "journal.db")


def test_datasets_may_be_loaded_ones_or_a_tuple_of_names() -> None:
    tree = LEARNERS["tree"]
    loaded = compare(tree, ceiba.datasets.load("iris"), protocol="2-fold")
    assert loaded.datasets[0].name == "iris"
    two = compare(tree, ("iris", "wine"), protocol="2-fold")
    assert [table.name for table in two.datasets] == ["iris", "wine"]
    data = Dataset("other", np.arange(4.0)[:, None], np.arange(4.0), "regression")
    with pytest.raises(ValueError, match="task of the learners, classification, got regression"):
        compare(tree, data)
