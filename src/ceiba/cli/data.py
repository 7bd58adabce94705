"""Arguments and options that name data, and how data is read for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem


class DataType(click.ParamType):  # type: ignore[type-arg]
    """A file or the name of a bundled table; both are completed."""

    name = "data"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return names of bundled tables, and then files."""
        from ceiba import datasets

        names = [name for name in datasets.names() if name.startswith(incomplete)]
        return [*map(CompletionItem, names), CompletionItem(incomplete, type="file")]


class ColumnType(click.ParamType):  # type: ignore[type-arg]
    """Name of a column of the data; completed from the first line of a file."""

    name = "column"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the columns of the file that was typed before."""
        # A line that ends with an option is not parsed yet: its arguments are in ctx.args.
        given = ctx.params.get("data") or ctx.args
        paths = [given] if isinstance(given, str) else list(given)
        names = _header(paths[-1]) if paths else []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _header(path: str) -> list[str]:
    """Return the names of the columns of a file, none if it cannot be read."""
    from ceiba.data import scan

    if not Path(path).is_file():
        return []
    try:
        return list(scan(path).selection.attributes)
    except (ValueError, OSError, ImportError):
        return []


COLUMN = ColumnType()
data_argument = click.argument("data", type=DataType())


def _one_target(context: click.Context, option: click.Parameter, values: Any) -> str | None:
    """Return the only target; click would keep the last of several."""
    if len(values) > 1:
        raise click.BadParameter(
            f"must be given once, got {', '.join(values)}: a model of several targets is fitted in "
            "Python, with a y of several columns.",
            ctx=context,
            param=option,
        )
    return values[0] if values else None


target_option = click.option(
    "-t", "--target", type=COLUMN, multiple=True, callback=_one_target,
    help="Column of the target; a bundled table has one.",
)  # fmt: skip
drop_option = click.option(
    "--drop", type=COLUMN, multiple=True, help="Column to leave out; may be repeated."
)
task_option = click.option(
    "--task",
    type=click.Choice(["classification", "regression"]),
    help="By default inferred from the target: text and few whole numbers are classes.",
)
kind_option = click.option(
    "--kind",
    "kinds",
    metavar="COLUMN=KIND",
    multiple=True,
    help="Kind of a column: numeric, nominal, or ordinal as its categories, COLUMN=S,M,L.",
)
encoding_option = click.option(
    "--encoding", default="utf-8", help="Encoding of a text file, such as latin-1."
)
scan_option = click.option(
    "--scan", is_flag=True, help="Read the file in parts: it need not fit into memory."
)


def data_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading the data."""
    for option in (encoding_option, kind_option, task_option, drop_option, target_option):
        function = option(function)
    return function


def parse_kinds(texts: Sequence[str]) -> dict[str, str | list[str]]:
    """Return the kinds of columns from texts such as ``zip=nominal``.

    Examples
    --------
    >>> parse_kinds(["zip=nominal", "size=S,M,L"])
    {'zip': 'nominal', 'size': ['S', 'M', 'L']}
    """
    kinds: dict[str, str | list[str]] = {}
    for text in texts:
        column, equals, kind = text.rpartition("=")
        if not equals or not column:
            raise ValueError(f"--kind must have the form zip=nominal, got {text!r}.")
        kinds[column] = kind.split(",") if "," in kind else kind
    return kinds


def load_data(
    data: str,
    target: str | None,
    *,
    task: Any = None,
    drop: Sequence[str] = (),
    kinds: Sequence[str] = (),
    encoding: str = "utf-8",
    groups: str | None = None,
    name: str | None = None,
) -> Any:
    """Load a file or bundled table as a dataset, by the options of the command."""
    from ceiba.experiments.description.tables import load_table

    return load_table(
        data,
        target,
        name=name,
        task=task,
        drop=drop,
        groups=groups,
        kinds=parse_kinds(kinds) or None,
        encoding=encoding,
    )


def model_rows(model: Any, data: str, *, encoding: str = "utf-8", scanned: bool = False) -> Any:
    """Read the columns of a model, in the kinds that it was fitted with.

    Other columns of the file, such as the target, are not read.
    """
    from ceiba import datasets
    from ceiba.data import read, scan
    from ceiba.data.io.selection import check_name
    from ceiba.experiments.description.tables import check_found, is_bundled

    names = model.schema_.names
    if is_bundled(data) and not Path(data).exists():
        if scanned:
            raise ValueError(f"--scan is for files, and {data} is a bundled table.")
        table = datasets.load(data).table
        for name in names:
            check_name(name, table.schema.names, Path(data))
        return table[names]
    check_found(Path(data), data)
    kinds = model_kinds(model)
    if scanned:
        return scan(data, columns=names, kinds=kinds)
    return read(data, columns=names, kinds=kinds, encoding=encoding)


def model_kinds(model: Any) -> dict[str, Any]:
    """Return the kinds of the columns of a model that a file cannot declare itself."""
    kinds: dict[str, Any] = {}
    for column in model.schema_:
        if column.kind == "ordinal":
            kinds[column.name] = list(column.categories)
        elif column.kind == "nominal":
            kinds[column.name] = "nominal"
    return kinds
