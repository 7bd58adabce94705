"""Tables of a comparison: means over folds, intervals, and tests against one learner.

A summary is computed from raw predictions, so that another score, interval or test needs no new
fit.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.experiments.compare import Comparison, FoldResult
from ceiba.experiments.scores import Score, default_score, get_score, pool
from ceiba.inference import (
    HypothesisTest,
    Interval,
    bootstrap_interval,
    clopper_pearson,
    corrected_t_interval,
    corrected_t_test,
    mann_whitney_test,
    mark,
    paired_t_test,
    t_interval,
    wilcoxon_test,
    wilson,
)

IntervalMethod = Literal["auto", "t", "corrected_t", "wilson", "clopper_pearson", "bootstrap"]
TestMethod = Literal["mann_whitney", "wilcoxon", "paired_t", "corrected_t"]
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
_TESTS: dict[str, Callable[..., HypothesisTest]] = {
    "mann_whitney": mann_whitney_test,
    "wilcoxon": wilcoxon_test,
    "paired_t": paired_t_test,
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
    """

    mean: float | None
    interval: Interval | None = None
    test: HypothesisTest | None = None
    is_better: bool = False
    reason: str = ""

    @property
    def mark(self) -> str:
        """``•`` where the learner is better than the control at 5 %, ``○`` at 10 %."""
        return mark(self.test.p_value) if self.test is not None and self.is_better else ""

    def text(self, digits: int) -> str:
        """Return the mean with its interval and mark."""
        if self.mean is None:
            return "failed" if "Error" in self.reason else "–"
        text = f"{self.mean:.{digits}f}"
        if self.interval is not None:
            text += f" [{self.interval.lower:.{digits}f}, {self.interval.upper:.{digits}f}]"
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
    """

    score: Score
    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    control: str | None
    method: str
    digits: int = 3
    rows: Literal["datasets", "learners"] = "datasets"

    def to_text(self) -> str:
        """Return the table as aligned text."""
        lines = self._lines()
        widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
        aligned = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([*aligned, *self._notes()])

    __str__ = to_text

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        head, *rows = [[cell.replace("|", "\\|") for cell in line] for line in self._lines()]
        lines = [head, ["---"] * len(head), *rows]
        table = ["| " + " | ".join(line) + " |" for line in lines]
        return "\n".join([*table, "", *self._notes()])

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular."""
        head, *rows = [[_latex(cell) for cell in line] for line in self._lines()]
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
        head, *rows = self._lines()
        lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
        lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        table = "".join(f"<tr>{line}</tr>" for line in lines)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<table>{table}</table>{notes}"

    def _lines(self) -> list[list[str]]:
        """Return the cells as text, the heads first."""
        lines = [[self.score.label, *self.learners]]
        for dataset, row in zip(self.datasets, self.cells, strict=True):
            lines.append([dataset, *(cell.text(self.digits) for cell in row)])
        if self.rows == "learners":
            return [list(column) for column in zip(*lines, strict=True)]
        return lines

    def _notes(self) -> list[str]:
        """Return the notes below the table."""
        notes = [f"95 % intervals: {_METHODS[self.method]}."]
        if self.control is not None:
            notes.append(f"• better than {self.control} at p <= 0.05, ○ at p <= 0.1.")
        for dataset, row in zip(self.datasets, self.cells, strict=True):
            for learner, cell in zip(self.learners, row, strict=True):
                if cell.reason:
                    notes.append(f"{learner} on {dataset}: {cell.reason}")
                assumptions = () if cell.test is None else cell.test.assumptions
                notes += [f"{learner} on {dataset}: {text}" for text in assumptions]
        return notes


def summarize(
    comparison: Comparison,
    score: str | None = None,
    *,
    interval: IntervalMethod = "auto",
    control: str | None = None,
    test: TestMethod = "corrected_t",
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
    test : {"mann_whitney", "wilcoxon", "paired_t", "corrected_t"}
        Over the folds.
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
    if control is not None and control not in names:
        raise ValueError(f"control must be one of {', '.join(names)}, got {control!r}.")
    if test not in (*_TESTS, "corrected_t"):
        raise ValueError(
            f"test must be one of {', '.join((*_TESTS, 'corrected_t'))}, got {test!r}."
        )
    method = _interval_method(comparison, chosen, interval)
    cells = []
    for dataset in comparison.datasets:
        folds = {name: comparison.of(dataset.name, name) for name in names}
        values = {name: _values(chosen, folds[name]) for name in names}
        against = None if control is None else values[control]
        cells.append(
            tuple(
                _cell(
                    chosen,
                    method,
                    test,
                    folds[name],
                    values[name],
                    None if name == control else against,
                )
                for name in names
            )
        )
    tables = tuple(dataset.name for dataset in comparison.datasets)
    return Summary(chosen, tables, names, tuple(cells), control, method, digits, rows)


def _interval_method(comparison: Comparison, score: Score, interval: str) -> str:
    """Return the method of the intervals; raise if the score does not allow it."""
    if interval == "auto":
        tested_once = all(
            _tested_once(comparison.of(dataset.name, comparison.learners[0].name))
            for dataset in comparison.datasets
        )
        return "wilson" if score.is_proportion and tested_once else "corrected_t"
    allowed = ["auto", "t", "corrected_t"]
    allowed += [*_POOLED] * score.is_proportion + ["bootstrap"] * score.is_row_mean
    if interval not in allowed:
        raise ValueError(
            f"interval of {score.name!r} must be one of {', '.join(allowed)}, got {interval!r}."
        )
    return interval


def _tested_once(folds: Sequence[FoldResult]) -> bool:
    tests = np.concatenate([fold.unit.test for fold in folds])
    return len(np.unique(tests)) == len(tests)


def _values(score: Score, folds: Sequence[FoldResult]) -> tuple[Array | None, str]:
    """Return the score of each fold; or None, and the reason of the first that has none."""
    values = []
    for fold in folds:
        predictions = fold.predictions
        if predictions is None:
            return None, fold.result.error or "failed"
        value = score(predictions)
        if value.value is None:
            return None, value.reason
        values.append(value.value)
    return np.array(values), ""


def _cell(
    score: Score,
    method: str,
    test: str,
    folds: Sequence[FoldResult],
    values: tuple[Array | None, str],
    control: tuple[Array | None, str] | None,
) -> Cell:
    own, reason = values
    if own is None:
        return Cell(None, reason=reason)
    mean = float(own.mean())
    interval = _interval(score, method, folds, own)
    if control is None or control[0] is None or len(own) < 2:
        return Cell(mean, interval)
    other = control[0]
    sizes = _sizes(folds)
    found = (
        corrected_t_test(own, other, *sizes) if test == "corrected_t" else _TESTS[test](own, other)
    )
    is_better = (mean > float(other.mean())) == score.greater_is_better and mean != other.mean()
    return Cell(mean, interval, found, bool(is_better))


def _interval(
    score: Score, method: str, folds: Sequence[FoldResult], values: Array
) -> Interval | None:
    if method in ("t", "corrected_t"):
        if len(values) < 2:
            return None
        return t_interval(values) if method == "t" else corrected_t_interval(values, *_sizes(folds))
    pooled = pool([fold.predictions for fold in folds if fold.predictions is not None])
    rows = score.row_values(pooled)
    if method == "bootstrap":
        return bootstrap_interval(rows)
    return _POOLED[method](int(rows.sum()), len(rows))


def _sizes(folds: Sequence[FoldResult]) -> tuple[float, float]:
    """Return the mean numbers of training and test rows."""
    return (
        float(np.mean([len(fold.unit.train) for fold in folds])),
        float(np.mean([len(fold.unit.test) for fold in folds])),
    )


def _latex(text: str) -> str:
    """Escape the characters that LaTeX reserves."""
    marks = {"•": r"$\bullet$", "○": r"$\circ$", "–": "--"}
    special = {char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}"}
    return "".join((special | marks | {"~": r"\~{}", "^": r"\^{}"}).get(c, c) for c in text)
