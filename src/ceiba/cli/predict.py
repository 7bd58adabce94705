"""``ceiba predict``: predictions of a model for the rows of a file."""

from __future__ import annotations

import csv
import io
from typing import Any

import click

from ceiba.cli.data import data_argument, encoding_option, model_rows, scan_option
from ceiba.cli.output import Output, check_output, pass_output, quiet_option, write_file

model_argument = click.argument("model", type=click.Path())


@click.command()
@model_argument
@data_argument
@click.option(
    "-o", "--output", "path", metavar="FILE", help="CSV or Parquet file; else standard output."
)
@click.option("-p", "--probabilities", is_flag=True, help="Add the probability of each class.")
@scan_option
@encoding_option
@quiet_option
@pass_output
def predict(
    output: Output,
    model: str,
    data: str,
    path: str | None,
    probabilities: bool,
    scan: bool,
    encoding: str,
) -> None:
    """Predict the rows of DATA with the model file MODEL.

    DATA must have the columns that the model was fitted with; others are not read.
    """
    import ceiba

    if path is not None and not path.lower().endswith((".csv", ".parquet", ".pq")):
        raise ValueError(f"--output must end in .csv, .parquet or .pq, got {path!r}.")
    check_output(path, model, data)
    learner = ceiba.load(model)
    if not hasattr(learner, "predict"):
        raise ValueError(f"{model}: a {type(learner).__name__} does not predict.")
    if probabilities and not hasattr(learner, "predict_proba"):
        raise ValueError(f"{model}: a {type(learner).__name__} has no probabilities.")
    rows = model_rows(learner, data, encoding=encoding, scanned=scan)
    columns = {"prediction": learner.predict(rows)}
    if probabilities:
        table = learner.predict_proba(rows)
        columns |= {
            f"probability_{label}": table[:, k] for k, label in enumerate(learner.classes_.tolist())
        }
    if path is None:
        click.echo(_csv(columns), nl=False)
        return
    write_file(path, _csv(columns) if path.lower().endswith(".csv") else _parquet(columns))
    output.note(f"Wrote {len(columns['prediction']):,} predictions to {path}.")


def _csv(columns: dict[str, Any]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return file.getvalue()


def _parquet(columns: dict[str, Any]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    file = io.BytesIO()
    arrays = {name: pyarrow.array(column.tolist()) for name, column in columns.items()}
    parquet.write_table(pyarrow.table(arrays), file)
    return file.getvalue()
