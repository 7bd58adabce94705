"""``ceiba datasets``: the bundled tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from ceiba.cli.data import DataType
from ceiba.cli.output import Output, json_option, pass_output, print_json, print_table, quiet_option


@click.command()
@click.argument("name", required=False, type=DataType())
@json_option
@quiet_option
@pass_output
def datasets(output: Output, name: str | None, as_json: bool) -> None:
    """List the bundled tables, or describe the table NAME."""
    from ceiba import datasets as tables

    if name is not None:
        _describe(name, as_json)
        return
    entries: list[dict[str, Any]] = []
    for known in tables.names():
        is_absent = known in tables.names(source="external") and not _is_stored(known)
        entries.append({"name": known, "task": None} if is_absent else _entry(known))
    if as_json:
        print_json(entries)
        return
    heads = ["name", "rows", "columns", "numeric", "nominal", "missing", "task", "target"]
    lines = [[_text(entry.get(head)) for head in heads] for entry in entries]
    print_table([heads, *lines])
    absent = [entry["name"] for entry in entries if entry["task"] is None]
    if absent:
        output.note(
            f"Not part of Ceiba: {', '.join(absent)}. They are fetched from OpenML on first use; "
            "or put NAME.csv into a folder, and name it in the variable CEIBA_DATA."
        )


def _is_stored(name: str) -> bool:
    """Return whether an external table is on this computer; a list must not use the network."""
    from ceiba.datasets.external import FOLDER_VARIABLE, cache_folder

    folder = os.environ.get(FOLDER_VARIABLE)
    folders = [cache_folder(), *([Path(folder).expanduser()] if folder else [])]
    return any((path / f"{name}.csv").is_file() for path in folders)


def _entry(name: str) -> dict[str, Any]:
    """Return the properties of a table."""
    from ceiba import datasets as tables

    data = tables.load(name)
    masks = [data.table.missing_mask(j) for j in range(len(data.schema))]
    kinds = [str(column.kind) for column in data.schema]
    return {
        "name": name,
        "rows": len(data.y),
        "columns": len(data.schema),
        "numeric": kinds.count("numeric"),
        "nominal": len(kinds) - kinds.count("numeric"),
        "missing": sum(int(mask.sum()) for mask in masks if mask is not None),
        "task": str(data.task),
        "target": data.target_name,
    }


def _describe(name: str, as_json: bool) -> None:
    from ceiba import datasets as tables

    data = tables.load(name)
    entry = _entry(name) | {"description": data.description, "citation": data.citation}
    if as_json:
        columns = [
            {"name": c.name, "kind": str(c.kind), "categories": list(c.categories)}
            for c in data.schema
        ]
        print_json(entry | {"attributes": columns})
        return
    missing = f"{entry['missing']:,} missing values" if entry["missing"] else "no missing values"
    click.echo(
        f"{name}: {entry['rows']:,} rows, {entry['columns']} columns, {missing}; "
        f"{entry['task']} of {entry['target']}."
    )
    click.echo(f"\n{click.wrap_text(data.description, 88)}\n")
    lines = [["column", "kind", "categories"]]
    lines += [[c.name, str(c.kind), _shortened(c.categories)] for c in data.schema]
    print_table(lines)
    click.echo(f"\n{click.wrap_text(data.citation, 88)}")


def _shortened(categories: tuple[Any, ...]) -> str:
    from ceiba.data.categories import list_labels

    return list_labels(categories) if categories else ""


def _text(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
