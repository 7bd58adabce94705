"""``ceiba report``: one page about a new table."""

from __future__ import annotations

from typing import Any

import click

from ceiba.cli.data import data_argument, data_options, load_data
from ceiba.cli.experiment_options import check_report_path, report_module
from ceiba.cli.output import Output, pass_output, quiet_option


@click.command()
@data_argument
@data_options
@click.option("-o", "--output", "path", required=True, metavar="FILE", help="HTML page to write.")
@quiet_option
@pass_output
def report(output: Output, data: str, path: str, **options: Any) -> None:
    """Write a page about DATA.

    It shows kinds, missing values, identifiers, leakage and class balance, all learners at their
    defaults with intervals, and the picture of a model.
    """
    check_report_path(path)
    target = options.pop("target")
    table = load_data(data, target, **options)
    page = report_module().fit_report(table.X, table.y, target_name=target or "target")
    page.save(path)
    if not output.quiet:
        click.echo(str(page))
    output.note(f"Wrote {path}.")
