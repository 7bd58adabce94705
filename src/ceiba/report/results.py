"""Sections of a page on a comparison: tables of scores, figures, warnings and the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import plots
from ceiba.experiments import (
    SCORES,
    Comparison,
    Dataset,
    Score,
    Summary,
    rank_learners,
    summarize,
)
from ceiba.experiments.results.differences import TestMethod
from ceiba.experiments.results.summary import IntervalMethod, allowed_intervals
from ceiba.report.page import Entry, Page, number_text

# Datasets with figures of their own.
MAX_FIGURE_DATASETS = 6
_MAX_CURVES = 12  # learners in one figure of curves
_MAX_CLASSES = 40  # of a confusion matrix
_MAX_PAIRED_CLASSES = 10  # of an AUC of all pairs


@dataclass(frozen=True, slots=True)
class Choices:
    """What the tables of a report show.

    Parameters
    ----------
    scores : tuple of str
    control : str or None
    test, interval : str
        As in `ceiba.experiments.summarize`.
    """

    scores: tuple[str, ...]
    control: str | None = None
    test: TestMethod = "corrected_t"
    interval: IntervalMethod = "auto"

    def summaries(self, comparison: Comparison) -> list[Summary]:
        """Return the summary of each score; intervals that a score lacks are automatic."""
        return [
            summarize(
                comparison, name, test=self.test,
                control=self.control if has_test(name, self.test) else None,
                interval=self.interval if has_interval(name, self.interval) else "auto",
            )
            for name in self.scores
        ]  # fmt: skip


def has_interval(score: str, interval: str) -> bool:
    """Return whether a score has such an interval."""
    return interval in allowed_intervals(SCORES[score])


def has_test(score: str, test: str) -> bool:
    """Return whether a score has such a test.

    McNemar's is of correct rows. The best coverage is the confidence level, so that more is not
    better.
    """
    if SCORES[score].greater_is_better is None:
        return False
    return test != "mcnemar" or score in ("accuracy", "error")


def default_scores(comparison: Comparison) -> tuple[str, ...]:
    """Return the scores that a report shows by default."""
    if comparison.task == "regression":
        found: tuple[str, ...] = ("r2", "rmse", "mae")
    else:
        largest = max(n_classes(table) for table in comparison.datasets)
        is_binary = all(n_classes(table) == 2 for table in comparison.datasets)
        # All pairs of 100 classes take 9 s for each learner.
        several = "auc_ovo" if largest <= _MAX_PAIRED_CLASSES else "auc_ovr"
        found = ("accuracy", "balanced_accuracy", "auc" if is_binary else several, "log_loss")
    regions = [
        score.name
        for score in SCORES.values()
        if score.needs_regions
        and score.task in (None, comparison.task)
        and any(_has_score(comparison, score.name, each.name) for each in comparison.learners)
    ]
    return (*found, *regions)


def _has_score(comparison: Comparison, score: str, learner: str) -> bool:
    return comparison.mean(score, comparison.datasets[0].name, learner) is not None


def score_name(score: Score) -> str:
    """Return the label of a score inside of a sentence.

    Examples
    --------
    >>> score_name(SCORES["accuracy"]), score_name(SCORES["auc"])
    ('accuracy', 'AUC')
    """
    return score.label.lower() if score.label[1:].islower() else score.label


def n_classes(table: Dataset) -> int:
    """Return the number of classes of a dataset; 0 for numbers."""
    return 0 if table.classes is None else len(table.classes)


def _table(comparison: Comparison, name: str) -> Dataset:
    return next(table for table in comparison.datasets if table.name == name)


def describe(comparison: Comparison) -> str:
    """Return what was compared, in one sentence."""
    tables = [table.name for table in comparison.datasets]
    on = tables[0] if len(tables) == 1 else f"{len(tables)} datasets"
    n = len(comparison.learners)
    return (
        f"{n} learner{'s' * (n > 1)} on {on}, {comparison.protocol}, seed {comparison.seed}: the "
        "same rows train and test all learners."
    )


def add_scores(page: Page, comparison: Comparison, summaries: Sequence[Summary]) -> None:
    """Add the tables of scores: by learner for one dataset, else one for each score."""
    if len(comparison.datasets) == 1:
        _add_learner_table(page, comparison, summaries)
        return
    for summary in summaries:
        rows = [
            [dataset, *_entries(summary, cells)]
            for dataset, cells in zip(summary.datasets, summary.cells, strict=True)
        ]
        better = {True: ", greater is better", False: ", smaller is better", None: ""}
        caption = summary.score.label + better[summary.score.greater_is_better]
        head = ["dataset", *summary.learners]
        page.table(head, rows, caption=caption, below=summary.legend)
    _add_cost_table(page, comparison)


def _add_learner_table(page: Page, comparison: Comparison, summaries: Sequence[Summary]) -> None:
    """Add a row for each learner with all scores and the cost."""
    dataset = comparison.datasets[0].name
    columns = [_entries(summary, summary.cells[0]) for summary in summaries]
    costs = _costs(comparison)
    rows = [
        [name, *(column[i] for column in columns), *costs[i]]
        for i, name in enumerate(summaries[0].learners)
    ]
    head = ["learner", *(summary.score.label for summary in summaries), *_cost_head(comparison)]
    caption = f"Scores on {dataset}"
    page.table(head, rows, caption=caption, below=_joint_legend(summaries))


def _joint_legend(summaries: Sequence[Summary]) -> list[str]:
    """Return the sentences below a table of several scores, each once, with its scores."""
    scores: dict[str, list[str]] = {}
    for summary in summaries:
        for line in summary.legend:
            scores.setdefault(line, []).append(summary.score.label)
    return [
        line if len(labels) == len(summaries) else f"{line[:-1]} ({', '.join(labels)})."
        for line, labels in scores.items()
    ]


def _entries(summary: Summary, cells: Sequence[Any]) -> list[Entry]:
    """Return the cells of a row, the best mean emphasized."""
    means = [cell.mean for cell in cells if cell.mean is not None]
    best = None
    if len(means) > 1 and summary.score.greater_is_better is not None:
        best = max(means) if summary.score.greater_is_better else min(means)
    return [
        Entry(cell.text(summary.digits), cell.mean, best is not None and cell.mean == best)
        for cell in cells
    ]


def _cost_head(comparison: Comparison) -> list[str]:
    memory = ["peak memory, MB"] * _has_memory(comparison)
    return ["seconds to fit", "seconds to predict", *memory]


def _has_memory(comparison: Comparison) -> bool:
    return any(fold.result.peak_memory is not None for fold in comparison.folds)


def _costs(comparison: Comparison) -> list[list[Any]]:
    """Return seconds of a fold, and peak memory where it is known, by learner."""
    found: list[list[Any]] = []
    for learner in comparison.learners:
        results = [
            fold.result
            for table in comparison.datasets
            for fold in comparison.of(table.name, learner.name)
        ]
        line: list[Any] = [None, None]
        if not any(result.error for result in results):
            line = [
                float(np.mean([result.fit_seconds for result in results])),
                float(np.mean([result.predict_seconds for result in results])),
            ]
        if _has_memory(comparison):
            known = [result.peak_memory for result in results if result.peak_memory is not None]
            line.append(max(known) / 1e6 if known else None)
        found.append(line)
    return found


def _add_cost_table(page: Page, comparison: Comparison) -> None:
    costs = _costs(comparison)
    rows = [[learner.name, *costs[i]] for i, learner in enumerate(comparison.learners)]
    head = ["learner", *_cost_head(comparison)]
    page.table(head, rows, caption="Mean seconds of one fold, over all datasets")


def add_tests(page: Page, summaries: Sequence[Summary]) -> None:
    """Add the p-values against the control."""
    summaries = [summary for summary in summaries if summary.control is not None]
    if not summaries:
        return
    control = summaries[0].control
    rows = []
    name = ""
    for d, dataset in enumerate(summaries[0].datasets):
        for i, learner in enumerate(summaries[0].learners):
            if learner != control:
                tests = [summary.cells[d][i].test for summary in summaries]
                name = next((test.name for test in tests if test is not None), name)
                values = [None if test is None else test.p_value for test in tests]
                rows.append([learner, dataset, *map(_p_entry, values)])
    head = ["learner", "dataset", *(f"p of {summary.score.label}" for summary in summaries)]
    page.table(head, rows, caption=f"Tests against {control} ({name})")


def _p_entry(value: float | None) -> Entry:
    if value is None:
        return Entry("–")
    return Entry("< 0.001" if value < 0.001 else f"{value:.3f}", value)


def add_chosen(page: Page, comparison: Comparison) -> None:
    """Add the values that nested validation chose, with the number of folds that chose them."""
    counts: dict[tuple[str, str, str], int] = {}
    for fold in comparison.folds:
        if fold.result.chosen:
            values = ", ".join(f"{name} = {value!r}" for name, value in fold.result.chosen.items())
            key = fold.unit.dataset.name, fold.unit.learner.name, values
            counts[key] = counts.get(key, 0) + 1
    if counts:
        rows = [[*key, n] for key, n in counts.items()]
        head = ["dataset", "learner", "values", "folds"]
        page.table(head, rows, caption="Values that were chosen inside of the folds")


def warnings_of(comparison: Comparison, summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """Return failures, undefined scores, assumptions that do not hold, warnings of learners."""
    own = [
        ("warning", f"{learner} on {dataset}: {text}")
        for (dataset, learner), texts in comparison.warnings.items()
        for text in texts
    ]
    return [*_failures(comparison), *_reasons(summaries), *own]


def _failures(comparison: Comparison) -> Iterator[tuple[str, str]]:
    counts: dict[tuple[str, str, str], int] = {}
    for fold in comparison.failures:
        key = fold.unit.learner.name, fold.unit.dataset.name, str(fold.result.error)
        counts[key] = counts.get(key, 0) + 1
    for (learner, dataset, error), n in counts.items():
        n_folds = len(comparison.of(dataset, learner))
        folds = "all folds" if n == n_folds else f"{n} of {n_folds} folds"
        yield "warning", f"{learner} failed on {folds} of {dataset}. {error}"


def _reasons(summaries: Sequence[Summary]) -> Iterator[tuple[str, str]]:
    """Yield each kind of reason or assumption once, with where else it was found."""
    for summary in summaries:
        for text in summary.remarks(with_failures=False):  # failures are listed before
            yield "note", f"{summary.score.label}, {text}"


def add_figures(page: Page, comparison: Comparison, summaries: Sequence[Summary]) -> None:
    """Add intervals, time against score, and ranks over datasets."""
    first = summaries[0]
    label = score_name(first.score)
    if any(cell.mean is not None for row in first.cells for cell in row):
        grouped = len(first.datasets) > 3 and len(first.learners) <= 4
        page.figure(
            plots.score_intervals(first, grouped=grouped),
            alt=f"Means and 95 % intervals of {label} of every learner; the table has the numbers.",
            caption=f"{first.score.label} with 95 % intervals.",
        )
    complete = [
        learner.name for learner in comparison.learners if _is_complete(first, learner.name)
    ]
    if len(complete) > 1:
        page.figure(
            plots.time_scores(comparison, first.score.name),
            alt=f"Mean seconds to fit against {label} of every learner.",
            caption="What a better score costs: no other learner is both faster and better than a "
            "colored one.",
        )
    n_learners, n_datasets = len(comparison.learners), len(comparison.datasets)
    if n_datasets >= 2 and n_learners >= 3 and len(complete) == n_learners:
        page.figure(
            plots.rank_diagram(comparison, first.score.name),
            alt=f"Average ranks of the learners by {label} over {n_datasets} datasets.",
            caption="Average ranks over datasets; bars join learners that do not differ by more "
            "than the critical difference.",
        )
        page.code(str(rank_learners(comparison, first.score.name, control=first.control)))


def _is_complete(summary: Summary, learner: str) -> bool:
    """Return whether a learner has a score on every dataset."""
    column = summary.learners.index(learner)
    return all(row[column].mean is not None for row in summary.cells)


def add_class_figures(page: Page, comparison: Comparison, score: str) -> None:
    """Add ROC curves of two classes, calibration, and the confusion matrix of the best learner."""
    if comparison.task != "classification":
        return
    tables = [table.name for table in comparison.datasets]
    for table in tables[:MAX_FIGURE_DATASETS]:
        if len(tables) > 1:
            page.heading(table, depth=4)
        add_curves(page, comparison, table)
        if any(
            comparison.mean(score, table, entry.name) is not None for entry in comparison.learners
        ):
            add_confusion(page, comparison, comparison.best(score, table), table)
    if len(tables) > MAX_FIGURE_DATASETS:
        page.text(f"Figures of the first {MAX_FIGURE_DATASETS} of {len(tables)} datasets.")


def add_curves(page: Page, comparison: Comparison, dataset: str) -> None:
    """Add ROC curves of two classes and calibration, of learners with probabilities."""
    n_known = sum(
        comparison.mean("log_loss", dataset, learner.name) is not None
        for learner in comparison.learners
    )
    if not n_known or len(comparison.learners) > _MAX_CURVES:
        return
    if n_classes(_table(comparison, dataset)) == 2:
        page.figure(
            plots.roc(comparison, dataset),
            alt=f"ROC curves of the learners on {dataset}, with the area under each.",
            caption="ROC curves of the test rows of all folds.",
        )
    page.figure(
        plots.calibration(comparison, dataset=dataset),
        alt=f"Predicted probabilities against frequencies on {dataset}; calibrated learners are on "
        "the diagonal.",
        caption="Calibration on the test rows of all folds.",
    )


def add_confusion(page: Page, comparison: Comparison, learner: str, dataset: str) -> None:
    """Add the confusion matrix of one learner."""
    if n_classes(_table(comparison, dataset)) > _MAX_CLASSES:
        return
    page.figure(
        plots.confusion(comparison, learner, dataset),
        alt=f"Confusion matrix of {learner} on {dataset}.",
        caption=f"Confusion matrix of {learner}, the learner with the best mean score.",
    )


def add_record(page: Page, record: dict[str, Any]) -> None:
    """Add what is needed to reproduce the experiment."""
    page.text("This line reproduces the experiment; its data must have the hashes below.")
    page.code(str(record["command"]))
    datasets = [
        [data["name"], data["rows"], data["columns"], data["task"], data["hash"]]
        for data in record["datasets"]
    ]
    page.table(["dataset", "rows", "columns", "task", "hash"], datasets, caption="Data")
    learners = [[entry["name"], entry["estimator"]] for entry in record["learners"]]
    page.table(["learner", "estimator"], learners, caption="Learners")
    facts = [
        ["protocol", record["protocol"]],
        ["seed", str(record["seed"])],
        ["hash of the experiment", record["hash"]],
        ["started", record["started"]],
        ["seconds", number_text(float(record["seconds"]))],
        ["fits computed", f"{record['n_computed']:,} of {record['n_units']:,}"],
        *([name.replace("_", " "), str(value)] for name, value in record["machine"].items()),
        *([name, str(value)] for name, value in record["versions"].items()),
    ]
    page.table(["what", "value"], facts, caption="Settings, machine and versions")
