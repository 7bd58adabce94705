"""What commands print: tables, notes, warnings and JSON; and files that are replaced at once."""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click


class Output:
    """Where the commands of one process write; the object of click's contexts.

    Attributes
    ----------
    quiet : bool
        Whether notes and warnings are left out.
    traceback : bool
        Whether errors keep their traceback.
    arguments : tuple of str
        Arguments of the process.
    """

    def __init__(self) -> None:
        self.quiet = False
        self.traceback = False
        self.arguments: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The line that was typed."""
        return shlex.join(["ceiba", *self.arguments])

    @property
    def progress(self) -> bool | None:
        """The progress of experiments: none if quiet, else a line in terminals."""
        return False if self.quiet else None

    def note(self, text: str) -> None:
        """Print a line on standard error, unless quiet."""
        if not self.quiet:
            click.echo(text, err=True)

    @contextmanager
    def warnings_as_lines(self) -> Iterator[None]:
        """Print every different warning on one line when a command ends without an error.

        An error is one line on standard error, without warnings before it.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
        texts = (" ".join(str(warning.message).split()) for warning in caught)
        for text in dict.fromkeys(texts):
            self.note(f"Warning: {text}")


def _set_quiet(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Output).quiet = True


quiet_option = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=_set_quiet,
    help="No notes, warnings and progress.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
pass_output: Callable[[Any], Any] = click.make_pass_decorator(Output)


def print_json(value: Any) -> None:
    """Print a value as JSON; numbers of NumPy become those of Python."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def print_table(lines: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> None:
    """Print a table, the heads first: by rich in a terminal, else as aligned text.

    Columns of numbers are aligned to the right.
    """
    if sys.stdout.isatty():
        _print_rich(lines)
    else:
        click.echo(text_table(lines))
    for note in notes:
        click.echo(note)


def text_table(lines: Sequence[Sequence[str]]) -> str:
    """Return a table as aligned text.

    Examples
    --------
    >>> print(text_table([["name", "rows"], ["iris", "150"], ["xor", "9"]]))
    name  rows
    iris   150
    xor      9
    """
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    right = [_is_numeric(column[1:]) for column in columns]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def _print_rich(lines: Sequence[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    head, *rows = lines
    table = Table(box=None, pad_edge=False, header_style="bold")
    for j, name in enumerate(head):
        right = _is_numeric([row[j] for row in rows])
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    # A terminal of unknown width reports 0, and nothing would be shown.
    Console(width=None if Console().width > 0 else 80).print(table)


def _is_numeric(cells: Sequence[str]) -> bool:
    return any(cells) and all(
        cell.replace(",", "").replace(".", "", 1).lstrip("-").isdigit() for cell in cells if cell
    )


def check_output(path: str | None, *inputs: str) -> None:
    """Raise if the output would replace a file that the command reads."""
    if path is None or not os.path.exists(path):
        return
    for source in inputs:
        if os.path.exists(source) and os.path.samefile(path, source):
            raise ValueError(f"the output must not replace the input {source!r}: name another.")


def write_file(path: str, content: bytes | str) -> None:
    """Replace a file at once: a failure leaves the old one, and nothing half-written."""
    from ceiba.data.io.files import check_file_path, open_replacement

    check_file_path(path)
    with open_replacement(path) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
