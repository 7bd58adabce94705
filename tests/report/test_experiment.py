"""Reports of experiments: tables, figures, warnings and records of comparisons and sweeps."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyRegressor

import ceiba
from ceiba.experiments import (
    Comparison,
    FoldResult,
    compare,
    nested,
    rank_learners,
    summarize,
    sweep,
)
from ceiba.report import write_report
from ceiba.report.results import default_scores
from tests.report.html import PageReader, check_page

HOSTILE = "<script>bayes</script>"


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Failing:
        raise RuntimeError("no <fit>")


def two_classes() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 2))
    return rows, np.where(rows[:, 0] + random.normal(size=60) > 0, "yes", "no")


@pytest.fixture(scope="module")
def results() -> Comparison:
    learners = {
        "tree": ceiba.DecisionTreeClassifier(),
        HOSTILE: ceiba.NaiveBayesClassifier(),
        "failing": Failing(),
    }
    return compare(learners, {"small": two_classes()}, protocol="3-fold")


def read(results: Any, path: Path, **options: Any) -> tuple[str, PageReader]:
    html = write_report(results, path / "report.html", **options).read_text(encoding="utf-8")
    return html, check_page(html)


def captions(page: PageReader) -> list[str]:
    return page.text_of("caption")


def test_a_comparison_of_two_classes(results: Comparison, tmp_path: Path) -> None:
    html, page = read(results, tmp_path, control="tree")
    assert HOSTILE not in html
    assert HOSTILE in page.text_of("th")
    for name in ("accuracy", "auc", "log_loss"):
        summary = summarize(results, name, control="tree")
        assert summary.cells[0][0].text(3) in page.text_of("td")
    assert page.text_of("td").count("failed") == 4
    assert captions(page) == [
        "Scores on small", "Tests against tree (corrected resampled t)", "Data", "Learners",
        "Settings, machine and versions",
    ]  # fmt: skip
    assert "failing failed on all folds of small. RuntimeError: no <fit>" in page.text_of("li")
    labels = [str(svg["aria-label"]) for svg in page.of("svg")]
    assert [label.split()[0] for label in labels] == [
        "Means",
        "Mean",
        "ROC",
        "Predicted",
        "Confusion",
    ]
    assert results.record["command"] in page.text_of("pre")
    assert results.record["datasets"][0]["hash"] in page.text_of("td")
    assert results.record["versions"]["numpy"] in page.text_of("td")
    again, _ = read(results, tmp_path, control="tree")
    assert again == html


def test_options_change_the_page(results: Comparison, tmp_path: Path) -> None:
    html, page = read(results, tmp_path, scores=["log_loss"], title="My title", interval="t")
    assert page.text_of("h1") == ["My title"]
    assert "Log-loss" in page.text_of("button")
    means = [results.mean("log_loss", "small", name) for name in ("tree", HOSTILE)]
    (best,) = re.findall(r'class="number best" data-sort="([^"]*)"', html)
    assert float(best) == min(mean for mean in means if mean is not None)
    assert "Accuracy" not in page.text_of("button")
    assert "95 % intervals: t over folds." in page.text_of("p")
    assert not any(caption.startswith("Tests") for caption in captions(page))
    _, page = read(
        results, tmp_path, scores=["accuracy", "kappa"], control="tree", test="mann_whitney",
        interval="wilson", texts={"Results": ["First words.", "More <words>."]},
    )  # fmt: skip
    assert "Tests against tree (Mann-Whitney)" in captions(page)
    assert any("requires 8 of each" in text for text in page.text_of("li"))
    assert "95 % intervals: Wilson's, of the rows of all folds (Accuracy)." in page.text_of("p")
    assert {"First words.", "More <words>."} <= set(page.text_of("p"))


def test_several_datasets_have_ranks_and_a_table_of_each_score(tmp_path: Path) -> None:
    learners = {
        "tree": ceiba.DecisionTreeClassifier(),
        "bayes": ceiba.NaiveBayesClassifier(),
        "neighbors": ceiba.KNeighborsClassifier(),
    }
    tables = {"small": two_classes(), "iris": "iris"}
    results = compare(learners, tables, protocol="3-fold")
    options: Any = {"scores": ["accuracy", "log_loss"], "control": "tree", "test": "mcnemar"}
    _, page = read(results, tmp_path, **options)
    assert captions(page)[:3] == [
        "Accuracy, greater is better", "Log-loss, smaller is better",
        "Mean seconds of one fold, over all datasets",
    ]  # fmt: skip
    labels = [str(svg["aria-label"]) for svg in page.of("svg")]
    assert any(label.startswith("Average ranks") for label in labels)
    assert str(rank_learners(results, "accuracy", control="tree")) in page.text_of("pre")
    assert captions(page)[3].startswith("Tests against tree (McNemar")
    assert "p of Log-loss" not in page.text_of("button")
    assert sum(label.startswith("ROC") for label in labels) == 1
    assert sum(label.startswith("Confusion") for label in labels) == 2


def test_sweeps_have_curves_and_the_best_values(tmp_path: Path) -> None:
    depths = sweep(
        ceiba.DecisionTreeClassifier(), "max_depth", [1, 3], {"small": two_classes()},
        protocol="3-fold",
    )  # fmt: skip
    _, page = read({"Depth": depths, "Again": depths.comparison}, tmp_path, scores=["accuracy"])
    assert page.text_of("h2") == ["Depth", "Again"]
    best = depths.best("accuracy")["max_depth"]
    assert f"Best mean score on small: max_depth = {best}." in page.text_of("p")
    assert any("optimistic" in text for text in page.text_of("p"))
    assert "Accuracy against max_depth." in [svg["aria-label"] for svg in page.of("svg")]


def test_coverage_of_prediction_sets_is_shown_without_a_best_one(tmp_path: Path) -> None:
    learners = {"tree": ceiba.DecisionTreeClassifier(), "bayes": ceiba.NaiveBayesClassifier()}
    results = compare(learners, {"small": two_classes()}, protocol="3-fold", conformal=0.9)
    assert default_scores(results)[-2:] == ("coverage", "set_size")
    html, page = read(results, tmp_path, scores=["coverage", "set_size"], control="tree")
    assert {"Coverage", "Set size", "p of Set size"} <= set(page.text_of("button"))
    assert "p of Coverage" not in page.text_of("button")
    sizes = [results.mean("set_size", "small", name) for name in learners]
    best = [float(key) for key in re.findall(r'class="number best" data-sort="([^"]*)"', html)]
    assert set(best) == {min(size for size in sizes if size is not None)}


def test_values_of_nested_validation_are_shown(tmp_path: Path) -> None:
    tree = ceiba.DecisionTreeClassifier()
    results = nested(
        tree, "max_depth", [1, 2], {"small": two_classes()}, inner="2-fold", protocol="3-fold"
    )
    _, page = read(results, tmp_path, scores=["accuracy"])
    assert "Values that were chosen inside of the folds" in captions(page)
    depths = [text for text in page.text_of("td") if text.startswith("max_depth = ")]
    chosen = {f"max_depth = {fold.result.chosen['max_depth']}" for fold in results.folds}  # type: ignore[index]
    assert set(depths) == chosen


def test_regressions_and_peak_memory(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 2))
    learners = {"mean": DummyRegressor(), "tree": ceiba.DecisionTreeRegressor()}
    results = compare(learners, {"line": (rows, rows[:, 0])}, protocol="3-fold")
    _, page = read(results, tmp_path)
    heads = page.text_of("button")
    assert heads[:6] == ["learner", "R²", "RMSE", "MAE", "seconds to fit", "seconds to predict"]
    folds = tuple(
        FoldResult(fold.unit, replace(fold.result, peak_memory=25_000_000))
        for fold in results.folds
    )
    _, page = read(replace(results, folds=folds), tmp_path, scores=["mae"])
    assert "peak memory, MB" in page.text_of("button")
    assert "25.0" in page.text_of("td")


def test_bad_arguments_raise(results: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    with pytest.raises(
        TypeError, match="results must be a Comparison, a Sweep or several, got str"
    ):
        write_report("iris", path)
    with pytest.raises(ValueError, match="at least one Comparison or Sweep, got none"):
        write_report([], path)
    with pytest.raises(ValueError, match="texts must have headings of the report \\(Results\\)"):
        write_report(results, path, texts={"Other": "text"})
    with pytest.raises(ValueError, match="scores must be those of a classification, got r2"):
        write_report(results, path, scores=["r2"])
    with pytest.raises(ValueError, match="scores must be a list of names"):
        write_report(results, path, scores="accuracy")
    with pytest.raises(ValueError, match="interval='wilson' has no effect on kappa"):
        write_report(results, path, scores=["kappa"], interval="wilson")
    with pytest.raises(ValueError, match="test='mcnemar' has no effect on kappa"):
        write_report(results, path, scores=["kappa"], control="tree", test="mcnemar")
    with pytest.raises(ValueError, match="control must be one of"):
        write_report(results, path, control="forest")
    assert not path.exists()
