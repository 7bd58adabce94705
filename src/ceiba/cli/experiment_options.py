"""Options of experiments, which compare, sweep and run share, and how results are printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import click

from ceiba.cli.output import Output, check_output, print_table
from ceiba.data.io.files import check_file_path
from ceiba.experiments import Comparison, Summary, Sweep, get_score, summarize
from ceiba.experiments.description.file import Calibrate
from ceiba.experiments.protocols import parse_protocol
from ceiba.experiments.results.differences import TestMethod, check_test
from ceiba.experiments.results.scores import default_score
from ceiba.experiments.results.summary import IntervalMethod, allowed_intervals

#: Exit code if a learner failed on some folds.
FAILED_FOLDS = 1
FORMATS = ("text", "markdown", "latex", "csv", "json")

format_option = click.option(
    "-f", "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
    help="Format of the tables.",
)  # fmt: skip
report_option = click.option(
    "--report", metavar="FILE", help="HTML page with tables, figures and the record."
)
protocol_option = click.option(
    "--protocol", default="10-fold", show_default=True,
    help="Also 5x2-fold, 'holdout 0.3', loo, 'bootstrap 50', 'time 5'.",
)  # fmt: skip
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True,
    help="Seed of the folds and learners.",
)  # fmt: skip
n_jobs_option = click.option("--n-jobs", type=int, help="Folds at a time; all cores by default.")
_DESIGN = (
    protocol_option,
    seed_option,
    n_jobs_option,
    click.option("--journal", metavar="FILE", help="Keep finished folds; a second call continues."),
    click.option("--isolate", is_flag=True, help="A process for each fold; measures memory."),
    click.option("--calibrate", type=click.Choice(get_args(Calibrate)),
                 help="Calibrate the probabilities of all learners."),
    click.option("--conformal", type=click.FloatRange(0, 1, min_open=True, max_open=True),
                 metavar="CONFIDENCE", help="Prediction sets or intervals of all learners."),
)  # fmt: skip
_STATISTICS = (
    click.option("-s", "--score", "scores", multiple=True,
                 help="Such as accuracy, auc, log_loss, rmse; may be repeated."),
    click.option("--interval", type=click.Choice(get_args(IntervalMethod)), default="auto",
                 show_default=True, help="Method of the intervals."),
    click.option("--control", metavar="LEARNER", help="Test all others against this learner."),
    click.option("--test", type=click.Choice(get_args(TestMethod)),
                 help="Test against the control; corrected_t by default."),
    click.option("--p-values", is_flag=True, help="Print the p-values of the tests."),
)  # fmt: skip


def experiment_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of protocols, scores and tests."""
    for option in reversed((*_DESIGN, *_STATISTICS, format_option, report_option)):
        function = option(function)
    return function


def compare_options(options: Mapping[str, Any], output: Output) -> dict[str, Any]:
    """Return the keywords of `compare` from the options of a command."""
    names = ("protocol", "seed", "journal", "n_jobs", "isolate", "calibrate", "conformal")
    keywords = {name: options[name] for name in names}
    return keywords | {"progress": output.progress, "command": output.command}


def check_statistics(options: Mapping[str, Any], task: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return scores and keywords of `summarize`; raise before anything is computed."""
    try:
        scores = [get_score(name) for name in options["scores"] or [default_score(task)]]
    except ValueError as error:
        raise ValueError(f"--{error}") from None
    for score in scores:
        if score.task not in (None, task):
            raise ValueError(f"--score {score.name} is of a {score.task}, not of a {task}.")
        if options["interval"] not in allowed_intervals(score):
            allowed = ", ".join(allowed_intervals(score))
            raise ValueError(f"--interval of {score.name} must be one of {allowed}.")
        if score.needs_regions and options["conformal"] is None:
            raise ValueError(f"--score {score.name} requires --conformal.")
    test = options["test"] or "corrected_t"
    if options["test"] is not None and options["control"] is None:
        raise ValueError("--test has no effect without --control.")
    if options["control"] is not None and options["control"] not in names:
        raise ValueError(
            f"--control must be one of {', '.join(names)}, got {options['control']!r}."
        )
    if options["control"] is not None:
        protocol = parse_protocol(options["protocol"], task=task)
        for score in scores:
            check_test(score, test, protocol)
    if options["p_values"] and options["control"] is None:
        raise ValueError("--p-values requires --control, the learner that others are tested with.")
    return {
        "scores": [score.name for score in scores],
        "interval": options["interval"],
        "control": options["control"],
        "test": test,
        "p_values": options["p_values"],
    }


def print_results(
    results: Mapping[str, Comparison | Sweep],
    statistics: Mapping[str, Any],
    form: str,
    *,
    rows: Any = None,
) -> None:
    """Print a table for each score of each result."""
    keywords = {name: value for name, value in statistics.items() if name != "scores"}
    tables: list[tuple[str, Summary]] = []
    for heading, result in results.items():
        comparison, names = _comparison(result), _learner_names(result)
        chosen = keywords
        if keywords.get("control") not in names:  # a sweep of a file that has a control
            chosen = keywords | {"control": None, "p_values": False}
        shape: Any = rows or ("learners" if len(names) > len(comparison.datasets) else "datasets")
        tables += [
            (heading, summarize(comparison, score, rows=shape, **chosen))
            for score in statistics["scores"]
        ]
    _print_tables(tables, form, headings=len(results) > 1)


def _print_tables(tables: Sequence[tuple[str, Summary]], form: str, *, headings: bool) -> None:
    if form == "json":
        records = [{"result": name, **r} for name, table in tables for r in table.to_records()]
        click.echo(json.dumps(records, ensure_ascii=False, indent=2))
        return
    if form == "csv":  # one table: the names of the columns once
        for index, (_, table) in enumerate(tables):
            head, _, body = table.to_csv().partition("\n")
            click.echo(body if index else f"{head}\n{body}", nl=False)
        return
    for index, (name, table) in enumerate(tables):
        if index:
            click.echo()
        if headings:
            click.echo({"markdown": f"## {name}\n", "latex": f"% {name}"}.get(form, f"{name}\n"))
        if form == "text":
            print_table(table.lines(), table.notes())
        else:
            click.echo(table.to_markdown() if form == "markdown" else table.to_latex())


def write_page(
    output: Output,
    results: Mapping[str, Any],
    path: str | None,
    statistics: Mapping[str, Any],
    title: str,
) -> None:
    """Write the HTML report, if a file is named."""
    if path is None:
        return
    only = next(iter(results.values())) if len(results) == 1 else dict(results)
    keywords = {name: statistics[name] for name in ("scores", "interval", "control", "test")}
    report_module().write_report(only, path, title=title, **keywords)
    output.note(f"Wrote {path}.")


def report_module() -> Any:
    """Import `ceiba.report`, which requires matplotlib."""
    return import_module("ceiba.report")


def check_report_path(path: str | None, *inputs: str) -> None:
    """Make the folder of a report, and raise now if the report could not be written there."""
    check_output(path, *inputs)
    if path is not None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        check_file_path(path)
        report_module()


def exit_code(results: Sequence[Comparison | Sweep]) -> int:
    """Return 1 and print the first error, if a learner failed on some folds."""
    comparisons = [_comparison(result) for result in results]
    failures = [fold for comparison in comparisons for fold in comparison.failures]
    if not failures:
        return 0
    n_folds = sum(len(comparison.folds) for comparison in comparisons)
    first = failures[0]
    where = f"{first.unit.learner.name} on {first.unit.dataset.name}"
    message = " ".join(str(first.result.error).split())
    click.echo(f"Error: {len(failures)} of {n_folds} folds failed; {where}: {message}", err=True)
    return FAILED_FOLDS


def _comparison(result: Comparison | Sweep) -> Comparison:
    return result.comparison if isinstance(result, Sweep) else result


def _learner_names(result: Comparison | Sweep) -> list[str]:
    return [learner.name for learner in _comparison(result).learners]
