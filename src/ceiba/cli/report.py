"""``ceiba report``: one page about a new table."""

from __future__ import annotations

from typing import Any

import click

from ceiba.cli.data import data_argument, data_options, load_data
from ceiba.cli.experiment_options import (
    check_report_path,
    n_jobs_option,
    protocol_option,
    report_module,
    seed_option,
)
from ceiba.cli.output import Output, pass_output, quiet_option


@click.command()
@data_argument
@data_options
@click.option("-o", "--output", "path", required=True, metavar="FILE", help="HTML page to write.")
@protocol_option
@seed_option
@n_jobs_option
@quiet_option
@pass_output
def report(
    output: Output, data: str, path: str, protocol: str, seed: int, n_jobs: int, **options: Any
) -> None:
    """Write a page about DATA.

    It shows kinds, missing values, identifiers, leakage and class balance, all learners at their
    defaults with intervals, and the picture of a model.
    """
    check_report_path(path, data)
    target = options.pop("target")
    table = load_data(data, target, **options)
    page = report_module().fit_report(
        table.X,
        table.y,
        target_name=target or _target_name(data),
        name=table.name,
        task=table.task,
        protocol=protocol,
        seed=seed,
        n_jobs=n_jobs,
        progress=output.progress,
        command=output.command,
    )
    page.save(path)
    if not output.quiet:
        click.echo(str(page))
    output.note(f"Wrote {path}.")


def _target_name(data: str) -> str:
    """Return the name of the target of a bundled table."""
    from ceiba import datasets

    return datasets.load(data).target_name
