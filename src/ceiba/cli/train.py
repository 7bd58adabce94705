"""``ceiba train``: fit a learner to a file, and write the model."""

from __future__ import annotations

import os
from collections import Counter
from time import perf_counter
from typing import Any

import click

from ceiba.cli.data import (
    data_argument,
    drop_option,
    encoding_option,
    kind_option,
    load_data,
    parse_kinds,
    scan_option,
    target_option,
    task_option,
)
from ceiba.cli.learner_options import HyperParameterOption, LearnerCommand, learner_options
from ceiba.cli.output import Output, check_output, json_option, print_json, quiet_option
from ceiba.experiments.description.catalog import (
    LEARNERS,
    UnknownLearnerError,
    find_learner,
    learner_class,
    make_learner,
    parse_parameter,
)
from ceiba.experiments.table_checks import infer_task

_output_option = click.option(
    "-o", "--output", "path", required=True, metavar="FILE", help="Model file to write."
)


class TrainGroup(click.Group):
    """A command for each learner; its options are made when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the learners."""
        return list(LEARNERS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a learner."""
        try:
            entry = find_learner(cmd_name)
        except UnknownLearnerError as error:
            if ctx.resilient_parsing:
                return None
            raise click.UsageError(str(error)) from None
        command = LearnerCommand(
            entry.name,
            callback=_train,
            help=f"{entry.description}\n\nFit it to DATA: a CSV, Parquet or ARFF file, or the name "
            "of a bundled table.",
            short_help=entry.description,
            # --max_depth is --max-depth.
            context_settings={"token_normalize_func": lambda text: text.replace("_", "-")},
        )
        for decorate in (
            quiet_option, json_option, encoding_option, kind_option, scan_option, task_option,
            drop_option, target_option, _output_option, data_argument,
        ):  # fmt: skip
            decorate(command)
        command.params.reverse()
        command.params += learner_options(entry)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the learners with their descriptions."""
        with formatter.section("Learners"):
            formatter.write_dl([(name, entry.description) for name, entry in LEARNERS.items()])


@click.group(cls=TrainGroup, subcommand_metavar="LEARNER DATA -o FILE [OPTIONS]...")
def train() -> None:
    """Fit a learner to a file and write the model.

    'ceiba train LEARNER --help' lists the hyper-parameters of a learner.
    """


@click.pass_context
def _train(context: click.Context, /, **options: Any) -> None:
    """Fit, write, and print a summary."""
    from ceiba.data.io.files import check_file_path
    from ceiba.export import save

    output: Output = context.obj
    name, path = str(context.info_name), options["path"]
    check_file_path(path)  # before a fit that takes long
    check_output(path, options["data"])
    hyper = {
        param.name: options[param.name]
        for param in context.command.params
        if isinstance(param, HyperParameterOption) and options[str(param.name)] is not None
    }
    start = perf_counter()
    rows, y, task = _open(options, classes_only=find_learner(name).regressor is None)
    cls = learner_class(name, task)
    values = {key: parse_parameter(cls, str(key), text) for key, text in hyper.items()}
    read, start = perf_counter() - start, perf_counter()
    model = make_learner(name, task, **values)
    model.fit(rows) if y is None else model.fit(rows, y)
    seconds = perf_counter() - start
    save(model, path)
    summary = _summary(model, rows, y, options, read, seconds)
    if options["as_json"]:
        print_json(summary)
    elif not output.quiet:
        _print_summary(summary)


def _open(options: dict[str, Any], *, classes_only: bool) -> tuple[Any, Any, Any]:
    """Return rows, target and task; of a scan, the rows with their target."""
    task, data = options["task"], options["data"]
    if not options["scan"]:
        names = ("drop", "kinds", "encoding")
        loaded = load_data(
            data, options["target"], task=task, **{name: options[name] for name in names}
        )
        return loaded.X, loaded.y, loaded.task
    source = _scan(data, options)
    if task is None and classes_only:
        task = "classification"
    elif task is None:
        first = source.partitions[0].load().target
        task = infer_task(first)
        if first.dtype.kind in "iuf" and (first == first.astype(int)).all():
            raise ValueError(
                "--scan reads the target in parts: name the task of whole numbers, --task "
                "classification or --task regression."
            )
    return source, None, task


def _scan(data: str, options: dict[str, Any]) -> Any:
    """Return the file as a source of partitions."""
    from pathlib import Path

    from ceiba.data import scan
    from ceiba.data.io.selection import check_name
    from ceiba.experiments.description.tables import check_found, is_bundled

    if is_bundled(data) and not Path(data).exists():
        raise ValueError(f"--scan is for files, and {data} is a bundled table.")
    if options["target"] is None:
        raise ValueError(f"{data}: name the column of the target, --target COLUMN.")
    if options["encoding"] != "utf-8":
        raise ValueError("--scan requires a file in UTF-8: --encoding has no effect.")
    check_found(Path(data), data)
    names = list(scan(data).selection.attributes)
    for column in options["drop"]:
        check_name(column, names, Path(data))
    kept = [name for name in names if name not in (*options["drop"], options["target"])]
    kinds = parse_kinds(options["kinds"]) or None
    return scan(data, target=options["target"], columns=kept, kinds=kinds)


def _summary(
    model: Any, rows: Any, y: Any, options: dict[str, Any], read: float, seconds: float
) -> dict[str, Any]:
    """Return what was fitted, on what, and how long it took."""
    summary: dict[str, Any] = {
        "model": " ".join(repr(model).split()),
        "file": options["path"],
        "bytes": os.path.getsize(options["path"]),
        "rows": rows.n_rows,
        "columns": {column.name: str(column.kind) for column in model.schema_},
        "target": options["target"],
        "task": "classification" if hasattr(model, "classes_") else "regression",
        "seconds_to_read": round(read, 3),
        "seconds_to_fit": round(seconds, 3),
        "fitted": _fitted(model),
    }
    if y is not None and hasattr(model, "classes_"):
        counts = Counter(y.tolist())
        summary["classes"] = {str(label): counts[label] for label in model.classes_.tolist()}
    elif hasattr(model, "classes_"):
        summary["classes"] = dict.fromkeys(map(str, model.classes_.tolist()))
    return summary


def _fitted(model: Any) -> str:
    """Return the size of the model in words."""
    if hasattr(model, "get_n_leaves"):
        return f"{model.get_n_leaves()} leaves, depth {model.get_depth()}"
    if hasattr(model, "arcs_"):
        return f"{len(model.arcs_)} arcs between columns"
    if hasattr(model, "estimators_"):
        return f"{len(model.estimators_)} estimators"
    if hasattr(model, "mixtures_"):
        n_components = sum(len(mixture.weights_) for mixture in model.mixtures_)
        return f"{n_components} components of {len(model.mixtures_)} classes"
    if hasattr(model, "n_neighbors_"):
        return f"{model.n_neighbors_} neighbors of {model.n_samples_fit_:,} rows"
    return ""


def _print_summary(summary: dict[str, Any]) -> None:
    kinds: dict[str, list[str]] = {}
    for name, kind in summary["columns"].items():
        kinds.setdefault(kind, []).append(name)
    click.echo(f"{summary['model']}: {summary['fitted']}".rstrip(": "))
    click.echo(f"rows     {summary['rows']:,}")
    for kind, names in kinds.items():
        click.echo(f"{kind:8} {len(names):,} column{'s'[: len(names) > 1]}: {_listed(names)}")
    if "classes" in summary:
        counts = [
            label if count is None else f"{label} {count:,}"
            for label, count in summary["classes"].items()
        ]
        click.echo(f"classes  {_listed(counts)}")
    click.echo(f"seconds  {summary['seconds_to_read']} to read, {summary['seconds_to_fit']} to fit")
    click.echo(f"Wrote {summary['file']} ({summary['bytes']:,} bytes).")


def _listed(words: list[str], n_max: int = 6) -> str:
    return ", ".join(words[:n_max]) + (", ..." if len(words) > n_max else "")
