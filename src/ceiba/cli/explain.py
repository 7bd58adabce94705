"""``ceiba explain``: what a prediction for one row comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ceiba.cli.data import data_argument, encoding_option, model_rows
from ceiba.cli.output import Output, check_output, pass_output, quiet_option, write_file
from ceiba.cli.predict import model_argument
from ceiba.cli.view import picture_format, render


@click.command()
@model_argument
@data_argument
@click.option("--row", default=0, show_default=True, help="Row of DATA, from 0.")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "picture", "json"]),
    default="text",
    show_default=True,
)
@click.option("-o", "--output", "path", metavar="FILE", help="File to write: .png, .svg, .pdf.")
@encoding_option
@quiet_option
@pass_output
def explain(
    output: Output, model: str, data: str, row: int, form: str, path: str | None, encoding: str
) -> None:
    """Explain the prediction of the model file MODEL for one row of DATA.

    The contributions of the columns add up to a score, such as the log-odds of a class; of nearest
    neighbors, rows and votes are shown.
    """
    import ceiba

    if form == "picture":
        path = path or f"{Path(model).stem}.png"
        picture_format(path)
    if path is not None:
        check_output(path, model, data)
    learner = ceiba.load(model)
    if not hasattr(learner, "explain"):
        raise ValueError(f"{model}: a {type(learner).__name__} does not explain rows.")
    rows = model_rows(learner, data, encoding=encoding)
    if not 0 <= row < len(rows):
        raise ValueError(f"--row must be in [0, {len(rows) - 1}], got {row}.")
    found = learner.explain(rows[row : row + 1])
    if path is None:
        click.echo(found.to_json(indent=2) if form == "json" else str(found))
        return
    write_file(path, _file(found, form, path))
    output.note(f"Wrote {path}.")


def _file(found: Any, form: str, path: str) -> str | bytes:
    """Return the content of the file."""
    if form == "picture":
        from ceiba import plots

        return render(plots.explanation(found), path)
    return f"{found.to_json(indent=2) if form == 'json' else found}\n"
