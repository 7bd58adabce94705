"""Tables of comparisons: intervals, tests, marks and formats."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

import ceiba
from ceiba.experiments import Comparison, GivenFolds, compare, summarize
from ceiba.inference import corrected_t_interval, corrected_t_test, mann_whitney_test, wilson


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Failing:
        raise RuntimeError("no fit")


@pytest.fixture(scope="module")
def results() -> Comparison:
    learners = {
        "prior | all": DummyClassifier(),
        "tree": ceiba.DecisionTreeClassifier(),
        "bayes & co": ceiba.NaiveBayesClassifier(),
    }
    return compare(learners, ["iris", "wine"], protocol="5-fold", seed=2)


def values(results: Comparison, score: str, dataset: str, learner: str) -> Any:
    return np.array([value.value for value in results.fold_scores(score, dataset, learner)])


def test_intervals_and_tests_are_those_of_inference(results: Comparison) -> None:
    summary = summarize(results, control="prior | all", interval="corrected_t")
    cell = summary.cells[1][1]
    own = values(results, "accuracy", "wine", "tree")
    other = values(results, "accuracy", "wine", "prior | all")
    sizes = 178 * 4 / 5, 178 / 5
    assert cell.interval == corrected_t_interval(own, *sizes)
    assert cell.test is not None
    assert cell.test.p_value == corrected_t_test(own, other, *sizes).p_value
    ranks = summarize(results, control="prior | all", test="mann_whitney").cells[1][1].test
    assert ranks is not None
    assert ranks.p_value == mann_whitney_test(own, other).p_value
    pooled = summarize(results).cells[1][1].interval
    hits = sum(
        (fold.predictions.true_codes == fold.predictions.predicted_codes).sum()
        for fold in results.of("wine", "tree")
        if fold.predictions is not None
    )
    assert pooled == wilson(int(hits), 178)


def test_marks_are_for_better_learners_alone(results: Comparison) -> None:
    marks = [[c.mark for c in row] for row in summarize(results, control="prior | all").cells]
    assert marks == [["", "•", "•"], ["", "•", "•"]]
    marks = [[c.mark for c in row] for row in summarize(results, control="tree").cells]
    assert [row[0] for row in marks] == ["", ""]
    errors = summarize(results, "error", control="prior | all")
    assert [[c.mark for c in row] for row in errors.cells] == [["", "•", "•"], ["", "•", "•"]]


@pytest.mark.parametrize("interval", ["auto", "t", "corrected_t", "bootstrap"])
@pytest.mark.parametrize("score", ["accuracy", "log_loss", "auc_ovr", "kappa"])
def test_every_score_has_its_intervals(results: Comparison, score: str, interval: Any) -> None:
    if interval == "bootstrap" and score in ("auc_ovr", "kappa"):
        with pytest.raises(ValueError, match=r"interval of .* must be one of"):
            summarize(results, score, interval=interval)
        return
    for row in summarize(results, score, interval=interval).cells:
        for cell in row:
            assert cell.mean is not None
            assert cell.interval is not None
            assert cell.interval.lower <= cell.interval.estimate <= cell.interval.upper


def test_formats(results: Comparison) -> None:
    summary = summarize(results, control="tree")
    text = str(summary).splitlines()
    assert text[0].split()[0] == "Accuracy"
    assert text[1].startswith("iris")
    assert "[" in text[1]
    markdown = summary.to_markdown().splitlines()
    assert markdown[1] == "| --- | --- | --- | --- |"
    assert "prior \\| all" in markdown[0]
    latex = summary.to_latex()
    assert r"bayes \& co" in latex
    assert latex.count(r"\\") == 3
    rows = list(csv.DictReader(StringIO(summary.to_csv())))
    assert len(rows) == 6
    assert float(rows[1]["mean"]) == summary.cells[0][1].mean
    assert json.loads(summary.to_json()) == summary.to_records()
    assert "bayes &amp; co" in summary._repr_html_()


def test_failures_are_shown() -> None:
    learners = {"tree": ceiba.DecisionTreeClassifier(), "failing": Failing()}
    summary = summarize(compare(learners, "iris", protocol="3-fold"), control="tree")
    assert summary.cells[0][1].mean is None
    assert "failed" in str(summary)
    assert "failing on iris: RuntimeError: no fit" in str(summary)


def test_one_fold_has_an_interval_of_its_rows() -> None:
    results = compare(ceiba.DecisionTreeClassifier(), "iris", protocol="holdout 0.3")
    assert summarize(results).cells[0][0].interval is not None
    assert summarize(results, interval="t").cells[0][0].interval is None


def test_wrong_settings_raise(results: Comparison) -> None:
    with pytest.raises(ValueError, match="control must be one of"):
        summarize(results, control="forest")
    with pytest.raises(ValueError, match="test must be one of"):
        summarize(results, test="z")  # type: ignore[arg-type]


def test_a_mean_is_that_of_its_interval_where_folds_have_different_sizes():
    y = np.r_[np.tile([0, 1], 50), [0, 0]]
    zero = DummyClassifier(strategy="constant", constant=0)
    folds = GivenFolds(np.r_[np.zeros(100, int), 1, 1])
    results = compare({"zero": zero}, {"d": (np.zeros((102, 1)), y)}, protocol=folds)
    cell = summarize(results).cells[0][0]
    assert cell.mean == pytest.approx(52 / 102)
    assert cell.interval.lower < cell.mean < cell.interval.upper
    assert summarize(results, interval="t").cells[0][0].mean == pytest.approx(0.75)


def test_scores_that_single_rows_do_not_define_are_of_all_rows():
    results = compare({"tree": ceiba.DecisionTreeRegressor()}, "servo", protocol="loo")
    cell = summarize(results).cells[0][0]
    assert cell.mean > 0.8
    assert "computed from the rows of all folds together" in str(summarize(results))


def test_one_fold_has_no_test_and_a_note():
    learners = {"a": ceiba.DecisionTreeClassifier(), "b": ceiba.NaiveBayesClassifier()}
    results = compare(learners, "iris", protocol="holdout 0.3")
    assert "b on iris: test='corrected_t' requires two folds" in str(
        summarize(results, control="a")
    )
