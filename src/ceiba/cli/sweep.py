"""``ceiba sweep``: one learner with several values of its hyper-parameters."""

from __future__ import annotations

from itertools import product
from typing import Any

import click

from ceiba.cli.compare import load_options
from ceiba.cli.data import data_argument, data_options
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
from ceiba.experiments import Sweep, nested
from ceiba.experiments import sweep as sweep_learner
from ceiba.experiments.description.catalog import parse_learner, parse_parameter, split_values
from ceiba.experiments.results.scores import get_score
from ceiba.experiments.sweep import setting_text


@click.command()
@click.argument("learner", type=LearnerType())
@data_argument
@click.option(
    "--over",
    metavar="NAME=VALUES",
    multiple=True,
    required=True,
    help="Such as max_depth=1,2,3; several are combined.",
)
@click.option(
    "--nested", "inner", metavar="PROTOCOL",
    help="Choose the values inside of each fold, such as 5-fold, and test the choice.",
)  # fmt: skip
@data_options
@click.option("--groups", metavar="COLUMN", help="Groups of rows, for --protocol 'groups 5'.")
@experiment_options
@quiet_option
@pass_output
def sweep(
    output: Output,
    learner: str,
    data: str,
    over: tuple[str, ...],
    inner: str | None,
    **options: Any,
) -> int:
    """Compare values of the hyper-parameters of LEARNER on DATA.

    LEARNER is such as tree or forest:max_features=0.5.
    """
    check_report_path(options["report"], data)
    table = load_options(data, options)
    estimator = parse_learner(learner, table.task)
    grid = dict(_parse_over(estimator, text) for text in over)
    if len(grid) < len(over):
        raise ValueError("--over must name different parameters, got one twice.")
    names, values = list(grid), list(grid.values())
    keywords = compare_options(options, output)
    result: Any
    if inner is None:
        settings = [setting_text(dict(zip(names, s, strict=True))) for s in product(*values)]
        statistics = check_statistics(options, table.task, settings)
        result = sweep_learner(estimator, names, values, [table], **keywords)
    elif options["control"] is None:
        statistics = check_statistics(options, table.task, [])
        score = statistics["scores"][0]
        result = nested(estimator, names, values, [table], inner=inner, score=score, **keywords)
    else:
        raise ValueError("--control has no effect with --nested, which tests one learner.")
    print_results({learner: result}, statistics, options["form"], rows="learners")
    if options["form"] == "text":
        _print_choice(result, statistics["scores"][0])
    write_page(
        output, {learner: result}, options["report"], statistics, f"{learner} on {table.name}"
    )
    return exit_code([result])


def _parse_over(estimator: Any, text: str) -> tuple[str, list[Any]]:
    """Return a hyper-parameter and its values from a text such as ``max_depth=1,2,3``."""
    name, equals, values = text.partition("=")
    if not equals or not split_values(values):
        raise ValueError(f"--over must have the form max_depth=1,2,3, got {text!r}.")
    return name, [parse_parameter(type(estimator), name, value) for value in split_values(values)]


def _print_choice(result: Any, score: str) -> None:
    """Print the best setting, or those that the folds chose."""
    if isinstance(result, Sweep):
        names = [learner.name for learner in result.comparison.learners]
        (table,) = [table.name for table in result.comparison.datasets]
        means = [result.comparison.mean(score, table, name) for name in names]
        if None not in means and get_score(score).greater_is_better is not None:
            click.echo(
                f"Best {score}: {_listed(result.best(score))}. It was chosen on the rows that test "
                "it: --nested 5-fold estimates the score of the choice."
            )
        return
    chosen = [_listed(f.result.chosen) for f in result.folds if f.result.chosen]
    counts = [f"{text} ({chosen.count(text)})" for text in dict.fromkeys(chosen)]
    click.echo(f"Chosen in the folds: {'; '.join(counts)}.")


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
