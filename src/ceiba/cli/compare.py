"""``ceiba compare``: learners on the same folds of one or more tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ceiba import datasets as bundled
from ceiba.cli.data import DataType, data_options, load_data
from ceiba.cli.experiment_options import (
    check_report_path,
    check_statistics,
    compare_options,
    exit_code,
    experiment_options,
    print_results,
    write_page,
)
from ceiba.cli.learner_options import LearnerType
from ceiba.cli.output import Output, pass_output, quiet_option
from ceiba.experiments import compare as compare_learners
from ceiba.experiments.description.catalog import default_learners, parse_learner
from ceiba.experiments.description.tables import is_bundled, stem


@click.command()
@click.argument("data", type=DataType(), nargs=-1, required=True)
@click.option(
    "-l",
    "--learner",
    "learners",
    type=LearnerType(),
    multiple=True,
    help="Such as tree or forest:n_estimators=50; may be repeated. All of the task by default.",
)
@data_options
@click.option("--groups", metavar="COLUMN", help="Groups of rows, for --protocol 'groups 5'.")
@experiment_options
@quiet_option
@pass_output
def compare(output: Output, data: tuple[str, ...], **options: Any) -> int:
    """Compare learners on the same folds of DATA, one or more files or bundled tables.

    Exit code 1 means that a learner failed on some folds.
    """
    check_report_path(options["report"], *data)
    names = _different_names(data)
    tables = [load_options(path, options, name) for path, name in zip(data, names, strict=True)]
    task = tables[0].task
    for table in tables:
        if table.task != task:
            raise ValueError(
                f"DATA must have one task: {tables[0].name} is a {task}, {table.name} a "
                f"{table.task}."
            )
    if options["learners"]:
        learners = {text: parse_learner(text, task) for text in options["learners"]}
        repeated = [text for text in learners if options["learners"].count(text) > 1]
        if repeated:
            raise ValueError(f"--learner must not be repeated, got {repeated[0]!r} again.")
    else:
        learners = default_learners(task, [table.X.schema for table in tables])
    statistics = check_statistics(options, task, list(learners))
    result = compare_learners(learners, tables, **compare_options(options, output))
    results = {"Comparison": result}
    print_results(results, statistics, options["form"])
    title = f"Learners on {', '.join(table.name for table in tables)}"
    write_page(output, results, options["report"], statistics, title)
    return exit_code([result])


def _different_names(data: Sequence[str]) -> list[str | None]:
    """Return paths as names where files of different folders have the same name."""
    if len(set(data)) < len(data):
        raise ValueError(f"DATA must be different files or tables, got {' '.join(data)}.")
    stems = [stem(Path(path)) for path in data]
    return [path if stems.count(name) > 1 else None for path, name in zip(data, stems, strict=True)]


def load_options(path: str, options: dict[str, Any], name: str | None = None) -> Any:
    """Load a dataset by the options of a command."""
    target = options["target"]
    if is_bundled(path) and not Path(path).exists():
        known = bundled.load(path)
        if target not in (None, *known.table.schema.names):
            target = None  # that of the files beside it; a bundled table has its own
    names = ("task", "drop", "kinds", "encoding", "groups")
    return load_data(path, target, name=name, **{key: options[key] for key in names})
