"""``ceiba run``: an experiment file."""

from __future__ import annotations

from typing import Any

import click

from ceiba.cli.experiment_options import (
    check_report_path,
    exit_code,
    format_option,
    print_results,
    report_option,
    write_page,
)
from ceiba.cli.output import Output, pass_output, quiet_option
from ceiba.experiments.description.file import Experiment
from ceiba.experiments.results.scores import default_score


@click.command()
@click.argument("file", type=click.Path())
@format_option
@report_option
@quiet_option
@pass_output
def run(output: Output, file: str, form: str, report: str | None) -> int:
    """Run the experiment FILE (TOML) and print its tables.

    Exit code 1 means that a learner failed on some folds.
    """
    check_report_path(report, file)
    experiment = Experiment.read(file)
    found = experiment.run(progress=output.progress, command=output.command)
    results: dict[str, Any] = {
        **({} if found.comparison is None else {"Comparison": found.comparison}),
        **{f"Sweep of {name}": sweep for name, sweep in found.sweeps.items()},
        **{f"{name}, chosen inside of the folds": entry for name, entry in found.nested.items()},
    }
    statistics = {
        "scores": list(experiment.scores) or [default_score(experiment.task)],
        "interval": experiment.interval,
        "control": experiment.control,
        "test": experiment.test,
    }
    if form == "text" and experiment.name:
        click.echo(f"{experiment.name}\n{'=' * len(experiment.name)}\n")
    print_results(results, statistics, form)
    write_page(output, results, report, statistics, experiment.name)
    return exit_code(found.all)
