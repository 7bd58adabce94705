"""The page of a first look at a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sklearn.dummy import DummyClassifier, DummyRegressor

from ceiba.experiments import Comparison
from ceiba.experiments.table_checks import ColumnSummary, TableChecks
from ceiba.report.model_picture import draw_model
from ceiba.report.page import Entry, Page
from ceiba.report.results import (
    Choices,
    add_confusion,
    add_curves,
    add_figures,
    add_record,
    add_scores,
    default_scores,
    describe,
    warnings_of,
)

if TYPE_CHECKING:
    from ceiba.report.first_look import FitReport

_MAX_COLUMNS = 200  # rows of the table of columns
_MAX_CLASSES = 50


def first_page(report: FitReport) -> Page:
    """Return the page: the answer, the table, the learners, the best model, the record."""
    checks, comparison = report.checks, report.comparison
    name = comparison.datasets[0].name
    subtitle = f"Target {checks.target_name}, {checks.task}."
    page = Page(f"A first look at {name}", subtitle, comparison.record["hash"])
    page.heading("Summary")
    n_warnings = sum(finding.severity == "warning" for finding in checks.findings)
    page.text(
        f"{checks.n_rows:,} rows and {len(checks.columns):,} columns; "
        f"{n_warnings} warning{'s' * (n_warnings != 1)} on the table.",
        report.best_text,
    )
    page.notes([("note", text) for text in report.notes])
    page.heading("The table")
    _add_checks(page, checks)
    page.heading("Learners")
    page.text(f"{describe(comparison)} The baseline ignores the columns.")
    summaries = Choices(default_scores(comparison)).summaries(comparison)
    page.notes(warnings_of(comparison, summaries))
    add_scores(page, comparison, summaries)
    add_figures(page, comparison, summaries)
    page.heading("The best model")
    _add_best(page, report)
    page.heading("Record")
    add_record(page, comparison.record)
    return page


def _add_checks(page: Page, checks: TableChecks) -> None:
    """Add findings, columns and classes."""
    if checks.findings:
        page.notes([(finding.severity, finding.text) for finding in checks.findings])
    else:
        page.text("The checks found nothing unusual.")
    page.text(checks.sample_text)
    shown = _shown_columns(checks)
    rows = [
        [
            column.name, column.kind, _share(column.n_missing, checks.n_known), column.n_distinct,
            _skill(column.skill),
        ]
        for column in shown
    ]  # fmt: skip
    below = [
        "Skill: how well a small tree of this column alone predicts the target in "
        "cross-validation, from 0 like the baseline to 1 without error."
    ]
    if len(shown) < len(checks.columns):
        below.append(f"{len(shown):,} of {len(checks.columns):,} columns, those in findings first.")
    head = ["column", "kind", "missing", "distinct", "skill alone"]
    page.table(head, rows, caption="Columns", below=below)
    if checks.classes:
        classes = [
            [count.label, count.n_rows, _share(count.n_rows, checks.n_known)]
            for count in checks.classes[:_MAX_CLASSES]
        ]
        more = len(checks.classes) - len(classes)
        note = [f"{more:,} more classes have fewer rows."] if more else []
        page.table(["class", "rows", "share"], classes, caption="Classes", below=note)


def _shown_columns(checks: TableChecks) -> Sequence[ColumnSummary]:
    """Return at most 200 columns, those of findings first."""
    if len(checks.columns) <= _MAX_COLUMNS:
        return checks.columns
    named = {name for finding in checks.findings for name in finding.columns}
    return sorted(checks.columns, key=lambda column: column.name not in named)[:_MAX_COLUMNS]


def _skill(skill: float | None) -> Entry:
    return Entry("–") if skill is None else Entry(f"{skill:.2f}", skill)


def _share(n: int, n_rows: int) -> Entry:
    return Entry(f"{n / n_rows:.1%}", n / n_rows)


def _add_best(page: Page, report: FitReport) -> None:
    """Add the picture of the best model, its calibration and its confusion matrix."""
    comparison, name = report.comparison, report.comparison.datasets[0].name
    if isinstance(report.best, DummyClassifier | DummyRegressor):
        page.text(
            "No learner has a better mean score than the baseline: there is no model to draw."
        )
        return
    page.text(
        f"{report.best_name} has the best mean score, and was fitted on all "
        f"{report.checks.n_known:,} rows with a target."
    )
    unit = comparison.of(name, report.best_name)[0].unit
    picture = draw_model(report.best, report.X, report.y, unit)
    if picture is not None:
        page.figure(picture.figure, alt=picture.alt, caption=picture.caption)
    if comparison.task == "classification":
        add_curves(page, _only(comparison, report.best_name), name)
        add_confusion(page, comparison, report.best_name, name)


def _only(comparison: Comparison, learner: str) -> Comparison:
    """Return the results of one learner."""
    return replace(
        comparison,
        learners=tuple(entry for entry in comparison.learners if entry.name == learner),
        folds=tuple(fold for fold in comparison.folds if fold.unit.learner.name == learner),
    )
