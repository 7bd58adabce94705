"""Write the report of experiments: one HTML page with tables, figures, warnings and records."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ceiba import plots
from ceiba.experiments import Comparison, Sweep, get_score
from ceiba.experiments.results.differences import TestMethod
from ceiba.experiments.results.summary import IntervalMethod, Summary
from ceiba.report.page import Page
from ceiba.report.results import (
    Choices,
    add_chosen,
    add_class_figures,
    add_figures,
    add_record,
    add_scores,
    add_tests,
    default_scores,
    describe,
    has_interval,
    has_test,
    warnings_of,
)


def write_report(
    results: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    scores: Sequence[str] | None = None,
    control: str | None = None,
    test: TestMethod = "corrected_t",
    interval: IntervalMethod = "auto",
    texts: Mapping[str, str | Sequence[str]] | None = None,
) -> Path:
    """Write one self-contained HTML page on experiments.

    The page has the table of every score with intervals and marks, the seconds of every learner,
    figures, what the tests assume and the data lack, the learners that failed with their errors,
    and the record that reproduces the experiment. It loads nothing from elsewhere, is readable in
    light and dark, on paper and on small screens, and its tables are sorted by a click.

    Parameters
    ----------
    results : Comparison, Sweep, a list of them, or a mapping from headings to them
    path : path-like
        The file, which is replaced as a whole. Its folder is made if it does not exist.
    title : str, optional
    scores : sequence of str, optional
        Names of `ceiba.experiments.SCORES`, the one of the figures first. By default accuracy,
        balanced accuracy, AUC and log-loss, or R², RMSE and MAE; coverage and size of prediction
        sets and intervals where learners have them.
    control : str, optional
        Name of the learner that the others are tested against, in the experiments that have it.
    test, interval : str
        As in `ceiba.experiments.summarize`. Scores that have no such interval get automatic ones,
        and those that have no such test get none.
    texts : mapping from headings to texts, optional
        A paragraph, or several, below the heading of an experiment. The heading of a single
        experiment is ``"Results"``, those of a list ``"Experiment 1"`` and so on.

    Returns
    -------
    Path
        That of the file.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier
    >>> from ceiba.experiments import compare
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, "wine", protocol="5-fold")
    >>> path = write_report(results, f"{mkdtemp()}/wine.html", control="tree")
    >>> path.name, path.read_text(encoding="utf-8").count("<figure>")
    ('wine.html', 4)
    """
    named = _named_results(results)
    paragraphs = dict(texts or {})
    unknown = [heading for heading in paragraphs if heading not in named]
    if unknown:
        raise ValueError(
            f"texts must have headings of the report ({', '.join(named)}), got {unknown[0]!r}."
        )
    comparisons = {
        heading: result.comparison if isinstance(result, Sweep) else result
        for heading, result in named.items()
    }
    learners = {learner.name: None for each in comparisons.values() for learner in each.learners}
    if control is not None and control not in learners:
        raise ValueError(f"control must be one of {', '.join(learners)}, got {control!r}.")
    hashes = "".join(each.record["hash"] for each in comparisons.values())
    page = Page(title or _title(named), key=hashes)
    for heading, result in named.items():
        comparison = comparisons[heading]
        # A sweep beside a comparison has other learners, and no tests.
        own = control if control in [learner.name for learner in comparison.learners] else None
        choices = _choices(comparison, scores, own, test, interval)
        page.heading(heading)
        page.text(describe(comparison))
        given = paragraphs.get(heading, ())
        page.text(*([given] if isinstance(given, str) else given))
        _add_result(page, result, comparison, choices.summaries(comparison))
    return page.save(path)


def _named_results(results: Any) -> dict[str, Comparison | Sweep]:
    """Return results by heading."""
    if isinstance(results, Mapping):
        named = {str(heading): result for heading, result in results.items()}
    elif isinstance(results, list | tuple) and len(results) != 1:
        named = {f"Experiment {i}": result for i, result in enumerate(results, 1)}
    else:
        named = {"Results": results[0] if isinstance(results, list | tuple) else results}
    for result in named.values():
        if not isinstance(result, Comparison | Sweep):
            raise TypeError(
                f"results must be a Comparison, a Sweep or several, got {type(result).__name__}."
            )
    if not named:
        raise ValueError("results must have at least one Comparison or Sweep, got none.")
    return named


def _title(named: Mapping[str, Comparison | Sweep]) -> str:
    """Return a title that names datasets, if there are few."""
    tables = {
        table.name: None
        for result in named.values()
        for table in (result.comparison if isinstance(result, Sweep) else result).datasets
    }
    shown = ", ".join(tables) if len(tables) <= 3 else f"{len(tables)} datasets"
    return f"Experiments on {shown}"


def _choices(
    comparison: Comparison,
    scores: Sequence[str] | None,
    control: str | None,
    test: TestMethod,
    interval: IntervalMethod,
) -> Choices:
    """Return the scores of a comparison, checked."""
    if isinstance(scores, str):
        raise ValueError(f"scores must be a list of names, got {scores!r}: pass [{scores!r}].")
    names = default_scores(comparison)
    if scores is not None:
        names = tuple(get_score(name).name for name in scores)
    wrong = [name for name in names if get_score(name).task not in (None, comparison.task)]
    if wrong or not names:
        raise ValueError(
            f"scores must be those of a {comparison.task}, got {wrong[0] if wrong else 'none'}."
        )
    if not any(has_interval(name, interval) for name in names):
        raise ValueError(f"interval={interval!r} has no effect on {', '.join(names)}.")
    if control is not None and not any(has_test(name, test) for name in names):
        raise ValueError(f"test={test!r} has no effect on {', '.join(names)}.")
    return Choices(names, control, test, interval)


def _add_result(
    page: Page, result: Comparison | Sweep, comparison: Comparison, summaries: Sequence[Summary]
) -> None:
    """Add all sections of one experiment."""
    page.heading("Scores", depth=3)
    page.notes(warnings_of(comparison, summaries))
    add_scores(page, comparison, summaries)
    add_tests(page, summaries)
    add_chosen(page, comparison)
    ranked = [summary for summary in summaries if summary.score.greater_is_better is not None]
    if ranked:
        page.heading("Figures", depth=3)
        _add_figures(page, result, comparison, ranked)
    page.heading("Record", depth=3)
    add_record(page, comparison.record)


def _add_figures(
    page: Page, result: Comparison | Sweep, comparison: Comparison, summaries: Sequence[Summary]
) -> None:
    """Add the figures of the first of some scores."""
    score = summaries[0].score.name
    if isinstance(result, Sweep):
        page.text(*_best_settings(result, score))
        page.figure(
            plots.sweep_curve(result, score),
            alt=f"{summaries[0].score.label} against {', '.join(result.parameters)}.",
            caption=f"{summaries[0].score.label} of each value, with 95 % intervals.",
        )
    else:
        add_figures(page, comparison, summaries)
        add_class_figures(page, comparison, score)


def _best_settings(result: Sweep, score: str) -> Iterator[str]:
    """Yield the best values on each dataset, and that their score is optimistic."""
    tables = [table.name for table in result.comparison.datasets]
    names = [learner.name for learner in result.comparison.learners]
    for table in tables:
        if any(result.comparison.mean(score, table, name) is not None for name in names):
            chosen = ", ".join(f"{k} = {v!r}" for k, v in result.best(score, table).items())
            yield f"Best mean score on {table}: {chosen}."
    yield (
        "The score of the best value is optimistic for new rows, since it was chosen on "
        "the rows that test it; ceiba.experiments.nested chooses inside of the folds."
    )
