"""First looks at tables: checks, learners beside a baseline, the best model, and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import ceiba
from ceiba.report import FitReport, first_look, fit_report
from ceiba.report.model_picture import draw_model
from tests.report.html import PageReader, check_page


def fast_learners() -> dict[str, Any]:
    return {"tree": ceiba.DecisionTreeClassifier(), "bayes": ceiba.NaiveBayesClassifier()}


def noise(n: int = 60, n_columns: int = 2) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    return random.normal(size=(n, n_columns)), np.array(["a", "b"])[random.integers(2, size=n)]


@pytest.fixture(scope="module")
def iris() -> FitReport:
    data = ceiba.datasets.load("iris")
    return ceiba.fit_report(
        data.table, data.y, target_name="species", name="iris", protocol="5-fold"
    )


def test_all_learners_stand_beside_a_baseline(iris: FitReport) -> None:
    names = [learner.name for learner in iris.comparison.learners]
    assert names[0] == "baseline"
    classifiers = [name for name in ceiba.ESTIMATORS if name.endswith("Classifier")]
    assert names[1:] == [name.removesuffix("Classifier") for name in classifiers]
    assert not iris.comparison.failures
    assert iris.comparison.mean("accuracy", "iris", "baseline") == pytest.approx(1 / 3)


def test_the_best_is_stated_with_those_not_significantly_worse(iris: FitReport) -> None:
    means = {
        learner.name: iris.comparison.mean("accuracy", "iris", learner.name)
        for learner in iris.comparison.learners
    }
    assert means[iris.best_name] == max(mean for mean in means.values() if mean is not None)
    assert "baseline" not in iris.similar
    assert "KNeighbors" in iris.similar
    assert iris.best.score(iris.X, iris.y) > 0.9
    assert len(iris.y) == 150
    text = str(iris)
    assert "these are not significantly worse" in text
    assert "optimistic" in text
    assert text.startswith("150 rows, 4 columns (4 numeric); target 'species': classification")


def test_the_page_of_a_table(iris: FitReport, tmp_path: Path) -> None:
    path = iris.save(tmp_path / "iris.html")
    page = check_page(path.read_text(encoding="utf-8"))
    assert page.text_of("h1") == ["A first look at iris"]
    sections = ["Summary", "The table", "Learners", "The best model", "Record"]
    assert page.text_of("h2") == sections
    assert page.text_of("caption")[:3] == ["Columns", "Classes", "Scores on iris"]
    labels = " ".join(str(svg["aria-label"]) for svg in (*page.of("svg"), *page.of("img")))
    for word in ("intervals", "importance", "Predicted probabilities", "Confusion"):
        assert word in labels
    fragment = PageReader(iris._repr_html_())
    assert len(fragment.of("table")) == len(page.of("table"))


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (ceiba.DecisionTreeClassifier(max_depth=2), "decision tree with"),
        (ceiba.NaiveBayesClassifier(), "network of NaiveBayes"),
        (ceiba.RandomForestClassifier(10), "out-of-bag rows"),
        (ceiba.KNeighborsClassifier(), "for KNeighborsClassifier, on test rows"),
    ],
)
def test_every_kind_of_model_has_its_picture(learner: Any, words: str) -> None:
    data = ceiba.datasets.load("iris")
    report = fit_report(data.table, data.y, learners={"model": learner}, protocol="3-fold")
    unit = report.comparison.of("table", "model")[0].unit
    picture = draw_model(report.best, report.X, report.y, unit)
    assert picture is not None
    assert words in picture.alt


def test_noise_has_no_better_learner_than_the_baseline(tmp_path: Path) -> None:
    rows, y = noise()
    report = fit_report(rows, y, learners=fast_learners(), protocol="5-fold")
    assert "no learner is significantly better than the baseline" in report.best_text
    constant = fit_report(rows, ["a"] * 55 + ["b"] * 5, learners=fast_learners())
    assert constant.best_name == "baseline"
    assert isinstance(constant.best, DummyClassifier)
    html = constant.save(tmp_path / "noise.html").read_text(encoding="utf-8")
    assert "there is no model to draw" in html


def test_regression(tmp_path: Path) -> None:
    rows, _ = noise(80)
    y = rows[:, 0] + 0.3 * np.random.default_rng(1).normal(size=80)
    learners = {"tree": ceiba.DecisionTreeRegressor(max_depth=3)}
    report = fit_report(rows, y, learners=learners, protocol="5-fold")
    assert report.score == "r2"
    assert report.best_name == "tree"
    check_page(report.save(tmp_path / "page.html").read_text(encoding="utf-8"))


def test_fewer_folds_for_rare_classes() -> None:
    rows, y = noise()
    y[:] = "a"
    y[:4] = "b"
    report = fit_report(rows, y, learners=fast_learners())
    assert report.comparison.protocol == "4-fold"
    assert "Class 'b' has 4 of the rows, so that there are 4 folds." in report.notes
    y[1:4] = "a"
    plain = fit_report(rows, y, learners=fast_learners(), protocol="5-fold")
    assert plain.comparison.protocol == "5-fold plain"
    assert "not stratified" in plain.notes[0]
    few = fit_report(rows[:8], ["a", "b"] * 4, learners=fast_learners())
    assert few.comparison.protocol == "4-fold"
    assert few.notes[0] == "8 rows allow 4 folds of at least two rows."
    assert fit_report(rows, y, learners=fast_learners(), protocol="holdout 0.5 plain").notes == ()


def test_fewer_folds_for_many_columns() -> None:
    rows, y = noise(40, 1001)
    learners = {"bayes": ceiba.NaiveBayesClassifier()}
    report = fit_report(rows, y, learners=learners, protocol="6-fold")
    assert report.comparison.protocol == "5-fold"
    assert "1,001 columns take long" in report.notes[0]


def test_large_tables_are_sampled_by_class() -> None:
    rows, y = noise(1000)
    y = np.where(np.arange(1000) < 30, "rare", y)
    report = fit_report(rows, y, learners=fast_learners(), protocol="3-fold", max_rows=200)
    data = report.comparison.datasets[0]
    assert 200 <= len(data) <= 203
    assert int((data.labels == "rare").sum()) == 6
    assert len(report.y) == 1000
    assert "of 1,000 rows" in report.notes[0]
    again = fit_report(rows, y, learners=fast_learners(), protocol="3-fold", max_rows=200)
    assert again.comparison.record["hash"] == report.comparison.record["hash"]
    other = fit_report(rows, y, learners=fast_learners(), protocol="3-fold", max_rows=200, seed=1)
    assert other.comparison.datasets[0].key != data.key


def test_slow_and_unsuitable_learners_are_left_out() -> None:
    schema = ceiba.data.Table.of(np.zeros((2, 400))).schema
    chosen, notes = first_look._choose_learners(None, "classification", 1000, schema)
    assert "TAN" not in chosen
    assert "RandomForest" in chosen
    assert "take minutes" in notes[0]
    nominal = ceiba.data.Table.of([{"a": "x", "b": 1.0}, {"a": "y", "b": 2.0}]).schema
    chosen, notes = first_look._choose_learners(None, "classification", 1000, nominal)
    assert "GaussianMixture" not in chosen
    assert notes == ["Left out, since they take numeric columns alone: GaussianMixtureClassifier."]
    chosen, _ = first_look._choose_learners(None, "regression", 1000, nominal)
    assert set(chosen) >= {"baseline", "RandomForest", "KNeighbors"}


def test_rows_without_a_target_and_containers_of_the_user() -> None:
    pandas = pytest.importorskip("pandas")
    rows, y = noise()
    frame = pandas.DataFrame(rows, columns=["<i>u</i>", "v"])
    labels = [None, *y[1:]]
    report = fit_report(frame, labels, learners={"linear": LogisticRegression()}, protocol="3-fold")
    assert isinstance(report.X, pandas.DataFrame)
    assert len(report.X) == 59
    assert report.checks.n_missing_target == 1
    html = report.page.to_html()
    assert "<i>" not in html
    check_page(html)


def test_warnings_of_the_final_fit_are_notes() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 60))
    rows = np.stack([a, b, a + b], axis=1)
    learners = {"mixture": ceiba.GaussianMixtureClassifier()}
    report = fit_report(rows, np.where(a > b, "x", "y"), learners=learners, protocol="3-fold")
    assert any("Fit of mixture" in note and "linearly dependent" in note for note in report.notes)


def test_options_reach_the_record(iris: FitReport) -> None:
    assert iris.comparison.record["command"] == (
        "ceiba.fit_report(X, y, target_name='species', name='iris', protocol='5-fold')"
    )
    rows, y = noise()
    report = fit_report(
        rows, y, learners=fast_learners(), protocol="3-fold", command="ceiba report", n_jobs=1,
        progress=False,
    )  # fmt: skip
    assert report.comparison.record["command"] == "ceiba report"
    numbers = fit_report(
        rows, np.arange(60) % 3, task="regression", protocol="3-fold",
        learners={"tree": ceiba.DecisionTreeRegressor()},
    )  # fmt: skip
    assert numbers.comparison.task == "regression"


def test_bad_arguments_raise() -> None:
    rows, y = noise()
    with pytest.raises(ValueError, match="max_rows must be an int >= 100, got 5"):
        fit_report(rows, y, max_rows=5)
    with pytest.raises(ValueError, match="y must have at least two different values"):
        fit_report(rows, ["a"] * 60)
    with pytest.raises(ValueError, match="learners must not have the name 'baseline'"):
        fit_report(rows, y, learners={"baseline": ceiba.DecisionTreeClassifier()})
    rows[3, 1] = np.inf
    with pytest.raises(ValueError, match="X contains infinity: row 3, column 'x1'"):
        fit_report(rows, y)
