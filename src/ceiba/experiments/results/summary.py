"""Tables of a comparison: means over folds, intervals, and tests against one learner.

A summary is computed from raw predictions, so that another score, interval or test needs no new
fit.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any, Literal

from ceiba._typing import Array
from ceiba.experiments.compare import Comparison, FoldResult
from ceiba.experiments.results.differences import (
    TEST_METHODS,
    TestMethod,
    fold_sizes,
    fold_test,
    fold_values,
    has_distinct_rows,
)
from ceiba.experiments.results.scores import (
    Predictions,
    Score,
    UndefinedScoreError,
    default_score,
    get_score,
    pool,
)
from ceiba.inference import (
    HypothesisTest,
    Interval,
    bootstrap_interval,
    clopper_pearson,
    corrected_t_interval,
    mark,
    t_interval,
    wilson,
)

IntervalMethod = Literal["auto", "t", "corrected_t", "wilson", "clopper_pearson", "bootstrap"]
_POOLED: dict[str, Callable[..., Interval]] = {
    "wilson": wilson,
    "clopper_pearson": clopper_pearson,
}
_METHODS = {
    "t": "t over folds",
    "corrected_t": "t over folds, corrected for shared training rows",
    "wilson": "Wilson's, of the rows of all folds",
    "clopper_pearson": "Clopper and Pearson's, of the rows of all folds",
    "bootstrap": "bootstrap of the rows of all folds",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """The score of one learner on one dataset.

    Parameters
    ----------
    mean : float or None
        Mean over the folds; None if it is undefined.
    interval : Interval or None
        None if it is undefined, as for one fold.
    test : HypothesisTest or None
        Against the control; None for the control itself, or without one.
    is_better : bool
        Whether the mean is better than that of the control.
    reason : str
        Why there is no mean.
    failed : bool
        Whether the learner failed on a fold.
    note : str
        How the mean was computed, or why there is no test.
    """

    mean: float | None
    interval: Interval | None = None
    test: HypothesisTest | None = None
    is_better: bool = False
    reason: str = ""
    failed: bool = False
    note: str = ""

    @property
    def mark(self) -> str:
        """``•`` where the learner is better than the control at 5 %, ``○`` at 10 %."""
        return mark(self.test.p_value) if self.test is not None and self.is_better else ""

    def text(self, digits: int, p_values: bool = False) -> str:
        """Return the mean with its interval, the p-value on request, and its mark."""
        if self.mean is None:
            return "failed" if self.failed else "–"
        text = f"{self.mean:.{digits}f}"
        if self.interval is not None:
            text += f" [{self.interval.lower:.{digits}f}, {self.interval.upper:.{digits}f}]"
        if p_values and self.test is not None:
            text += f" p={self.test.p_value:.3f}"
        return f"{text} {self.mark}".rstrip()


@dataclass(frozen=True, slots=True)
class Summary:
    """A table of datasets and learners.

    Parameters
    ----------
    score : Score
    datasets, learners : tuple of str
    cells : tuple of tuple of Cell
        By dataset and learner.
    control : str or None
        The learner that the others are tested against.
    method : str
        How the intervals were computed.
    digits : int
        Digits after the point.
    rows : {"datasets", "learners"}
        What the rows of the printed table are.
    p_values : bool
        Whether the printed table has the p-values of the tests.
    """

    score: Score
    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    control: str | None
    method: str
    digits: int = 3
    rows: Literal["datasets", "learners"] = "datasets"
    p_values: bool = False

    def to_text(self) -> str:
        """Return the table as aligned text."""
        lines = self.lines()
        widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
        aligned = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([*aligned, *self.notes()])

    __str__ = to_text

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        head, *rows = [[cell.replace("|", "\\|") for cell in line] for line in self.lines()]
        lines = [head, ["---"] * len(head), *rows]
        table = ["| " + " | ".join(line) + " |" for line in lines]
        return "\n".join([*table, "", *self.notes()])

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular."""
        head, *rows = [[_latex(cell) for cell in line] for line in self.lines()]
        columns = "l" + "r" * (len(head) - 1)
        body = [" & ".join(row) + r" \\" for row in rows]
        return "\n".join([
            rf"\begin{{tabular}}{{{columns}}}", r"\hline", " & ".join(head) + r" \\", r"\hline",
            *body, r"\hline", r"\end{tabular}",
        ])  # fmt: skip

    def to_csv(self) -> str:
        """Return a line for each dataset and learner, with full precision."""
        file = StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["dataset", "learner", "score", "mean", "lower", "upper", "p", "reason"])
        for entry in self.to_records():
            writer.writerow(["" if value is None else value for value in entry.values()])
        return file.getvalue()

    def to_json(self) -> str:
        """Return the entries of all cells as JSON."""
        return json.dumps(self.to_records(), ensure_ascii=False)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dictionary for each dataset and learner."""
        return [
            {
                "dataset": dataset,
                "learner": learner,
                "score": self.score.name,
                "mean": cell.mean,
                "lower": None if cell.interval is None else cell.interval.lower,
                "upper": None if cell.interval is None else cell.interval.upper,
                "p": None if cell.test is None else cell.test.p_value,
                "reason": cell.reason,
            }
            for dataset, row in zip(self.datasets, self.cells, strict=True)
            for learner, cell in zip(self.learners, row, strict=True)
        ]

    def _repr_html_(self) -> str:
        head, *rows = self.lines()
        lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
        lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        table = "".join(f"<tr>{line}</tr>" for line in lines)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return f"<table>{table}</table>{notes}"

    def lines(self) -> list[list[str]]:
        """Return the cells of the printed table as text, the heads first."""
        lines = [[self.score.label, *self.learners]]
        for dataset, row in zip(self.datasets, self.cells, strict=True):
            lines.append([dataset, *(cell.text(self.digits, self.p_values) for cell in row)])
        if self.rows == "learners":
            return [list(column) for column in zip(*lines, strict=True)]
        return lines

    @property
    def legend(self) -> list[str]:
        """Sentences on the intervals and the marks."""
        lines = [f"95 % intervals: {_METHODS[self.method]}."]
        if self.control is not None:
            lines.append(f"• better than {self.control} at p <= 0.05, ○ at p <= 0.1.")
        return lines

    def notes(self) -> list[str]:
        """Return the notes below the table."""
        return [*self.legend, *self.remarks()]

    def remarks(self, with_failures: bool = True) -> list[str]:
        """Return reasons and assumptions of cells; those that differ in numbers only are one."""
        found: dict[str, list[tuple[str, str]]] = {}
        for dataset, row in zip(self.datasets, self.cells, strict=True):
            for learner, cell in zip(self.learners, row, strict=True):
                texts = [cell.reason] if cell.reason and (with_failures or not cell.failed) else []
                texts += [cell.note] if cell.note else []
                texts += [] if cell.test is None else cell.test.assumptions
                for text in texts:
                    kind = re.sub(r"-?[\d.]+", "", text)
                    found.setdefault(kind, []).append((f"{learner} on {dataset}", text))
        notes: list[str] = []
        for (first, text), *others in found.values():
            notes.append(f"{first}: {text}")
            if others:
                where = ", ".join(other for other, _ in others[:3])
                more = f" and {len(others) - 3} more" if len(others) > 3 else ""
                notes[-1] += f" (also {where}{more})"
        return notes


def summarize(
    comparison: Comparison,
    score: str | None = None,
    *,
    interval: IntervalMethod = "auto",
    control: str | None = None,
    test: TestMethod = "corrected_t",
    p_values: bool = False,
    digits: int = 3,
    rows: Literal["datasets", "learners"] = "datasets",
) -> Summary:
    """Summarize a score of all learners on all datasets.

    Parameters
    ----------
    comparison : Comparison
    score : str, optional
        A name of `SCORES`; by default accuracy, or R² of a regression.
    interval : {"auto", "t", "corrected_t", "wilson", "clopper_pearson", "bootstrap"}
        95 % intervals: over the folds by t, or t corrected for shared training rows; or of the rows
        of all folds together. ``"auto"`` is Wilson's for proportions of rows that are tested once,
        and the corrected t otherwise, which keep their coverage in simulations.
    control : str, optional
        Name of the learner that the others are tested against.
    test : {"corrected_t", "paired_t", "mann_whitney", "wilcoxon", "5x2cv", "mcnemar"}
        As in `learner_test`.
    p_values : bool
        Whether the printed table has the p-values of the tests.
    digits : int
        Digits after the point.
    rows : {"datasets", "learners"}
        What the rows of the printed table are; the columns are the others.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier
    >>> from ceiba.experiments import compare, summarize
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> print(summarize(compare(learners, "wine", protocol="5-fold"), control="tree"))
    Accuracy  tree                  naive Bayes
    wine      0.933 [0.886, 0.961]  0.977 [0.944, 0.991]
    95 % intervals: Wilson's, of the rows of all folds.
    • better than tree at p <= 0.05, ○ at p <= 0.1.
    """
    chosen = get_score(score or default_score(comparison.task))
    if rows not in ("datasets", "learners"):
        raise ValueError(f"rows must be 'datasets' or 'learners', got {rows!r}.")
    names = tuple(learner.name for learner in comparison.learners)
    if p_values and control is None:
        raise ValueError("p_values=True requires control: the learner of the tests.")
    if control is not None and control not in names:
        raise ValueError(f"control must be one of {', '.join(names)}, got {control!r}.")
    if test not in TEST_METHODS:
        raise ValueError(f"test must be one of {', '.join(TEST_METHODS)}, got {test!r}.")
    method = _interval_method(comparison, chosen, interval)
    cells = []
    for dataset in comparison.datasets:
        against = None if control is None else comparison.of(dataset.name, control)
        row = []
        for name in names:
            folds = comparison.of(dataset.name, name)
            row.append(_cell(chosen, method, test, folds, None if name == control else against))
        cells.append(tuple(row))
    tables = tuple(dataset.name for dataset in comparison.datasets)
    return Summary(chosen, tables, names, tuple(cells), control, method, digits, rows, p_values)


def allowed_intervals(score: Score) -> list[str]:
    """Return the methods of intervals that a score has.

    Examples
    --------
    >>> allowed_intervals(get_score("kappa"))
    ['auto', 't', 'corrected_t']
    """
    allowed = ["auto", "t", "corrected_t"]
    return allowed + [*_POOLED] * score.is_proportion + ["bootstrap"] * score.is_row_mean


def _interval_method(comparison: Comparison, score: Score, interval: str) -> str:
    """Return the method of the intervals; raise if the score does not allow it."""
    if interval == "auto":
        each_once = all(
            has_distinct_rows(comparison.of(dataset.name, comparison.learners[0].name))
            for dataset in comparison.datasets
        )
        return "wilson" if score.is_proportion and each_once else "corrected_t"
    if interval not in allowed_intervals(score):
        allowed = ", ".join(allowed_intervals(score))
        raise ValueError(f"interval of {score.name!r} must be one of {allowed}, got {interval!r}.")
    return interval


def _cell(
    score: Score,
    method: str,
    test: str,
    folds: Sequence[FoldResult],
    control: Sequence[FoldResult] | None,
) -> Cell:
    try:
        values = fold_values(score, folds)
    except UndefinedScoreError as error:
        failed = any(fold.result.error is not None for fold in folds)
        if failed:
            return Cell(None, reason=str(error), failed=True)
        return _pooled(score, folds, error)
    mean = float(values.mean())
    interval = _interval(score, method, folds, values)
    sizes = {len(fold.unit.test) for fold in folds}
    if method not in ("t", "corrected_t") and max(sizes) - min(sizes) > 1:
        # The interval is of all rows, and folds of different sizes have another mean.
        mean = float(score.row_values(_pool(folds)).mean())
    if control is None:
        return Cell(mean, interval)
    if len(values) < 2 and test != "mcnemar":
        return Cell(mean, interval, note=f"test={test!r} requires two folds; use test='mcnemar'.")
    try:
        other = float(fold_values(score, control).mean())
    except UndefinedScoreError:
        return Cell(mean, interval)
    is_better = score.greater_is_better is not None and (
        mean > other if score.greater_is_better else mean < other
    )
    return Cell(mean, interval, fold_test(score, test, folds, control), is_better)


def _pooled(score: Score, folds: Sequence[FoldResult], error: Exception) -> Cell:
    """Return the score of the rows of all folds, if folds alone do not define it."""
    value = score(_pool(folds)) if has_distinct_rows(folds) else None
    if value is None or value.value is None:
        return Cell(None, reason=str(error))
    return Cell(value.value, note="computed from the rows of all folds together.")


def _pool(folds: Sequence[FoldResult]) -> Predictions:
    return pool([fold.predictions for fold in folds if fold.predictions is not None])


def _interval(
    score: Score, method: str, folds: Sequence[FoldResult], values: Array
) -> Interval | None:
    if method in ("t", "corrected_t"):
        if len(values) < 2:
            return None
        return (
            t_interval(values)
            if method == "t"
            else corrected_t_interval(values, *fold_sizes(folds))
        )
    rows = score.row_values(_pool(folds))
    if method == "bootstrap":
        return bootstrap_interval(rows)
    return _POOLED[method](int(rows.sum()), len(rows))


def _latex(text: str) -> str:
    """Escape the characters that LaTeX reserves."""
    marks = {"•": r"$\bullet$", "○": r"$\circ$", "–": "--"}
    special = {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}"}
    return "".join((special | marks | {"~": r"\~{}", "^": r"\^{}"}).get(c, c) for c in text)
