"""The group of all commands, and its exit codes.

0 is success; 1 means that a learner failed on some folds of a comparison, whose table is printed
all the same; 2 is an error of the user or the system, with one line on standard error; 130 is
Ctrl-C.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

import ceiba
from ceiba.cli.output import Output, quiet_option

INPUT_ERROR = 2
INTERRUPTED = 130
# What learners, readers and the system raise for bad input. Others are errors of Ceiba, and keep
# their traceback.
INPUT_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError)
_COMMANDS = {
    "datasets": "List the bundled tables, or describe one.",
    "train": "Fit a learner to a file and write the model.",
    "predict": "Predict the rows of a file with a model.",
    "evaluate": "Score a model on the rows of a file.",
    "view": "Show a model as text, rules, picture or JSON.",
    "explain": "Explain the prediction for one row.",
    "compare": "Compare learners on the same folds.",
    "sweep": "Compare values of hyper-parameters.",
    "run": "Run an experiment file.",
    "report": "Write a page about a new table.",
}


class ClosedPipeError(Exception):
    """The reader of the output has left, as ``head`` does."""


@contextmanager
def _closed_pipe_as_own_error() -> Iterator[None]:
    """Hide a closed pipe from click, which would end the process with exit code 1."""
    try:
        yield
    except BrokenPipeError:
        raise ClosedPipeError from None


class App(click.Group):
    """The commands by name, each of which is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; its module has its name."""
        if cmd_name not in _COMMANDS:
            return None
        found: click.Command = getattr(import_module(f"ceiba.cli.{cmd_name}"), cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names and descriptions without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the line, and print help or the version."""
        with _closed_pipe_as_own_error():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        with _closed_pipe_as_own_error():
            return super().invoke(ctx)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command, and leave the process with its exit code."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal without a sign such as R² shows ?, and the result is not lost.
                stream.reconfigure(errors="replace")
        output = Output()
        kwargs |= {"standalone_mode": False, "obj": output}
        given = args[0] if args else kwargs.get("args")
        output.arguments = tuple(sys.argv[1:] if given is None else given)
        try:
            code = super().main(*args, **kwargs)
            sys.stdout.flush()
        except (KeyboardInterrupt, click.Abort):
            print("Interrupted.", file=sys.stderr)
            code = INTERRUPTED
        except (BrokenPipeError, ClosedPipeError):
            code = _close_output()
        except click.ClickException as error:
            code = _usage_error(error)
        except INPUT_ERRORS as error:
            if output.traceback:
                raise
            _flush_or_close()
            code = _fail(_message(error))
        sys.exit(code if isinstance(code, int) else 0)


def _usage_error(error: click.ClickException) -> int:
    """Print a wrong option or argument on one line; help if there were none at all."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return INPUT_ERROR
    return _fail(error.format_message())


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"there is not enough memory. {error}"
    if isinstance(error, OSError) and error.strerror:
        named = f"{error.filename}: " if error.filename is not None else ""
        return f"{named}{error.strerror}."
    return str(error) or type(error).__name__


def _fail(message: str) -> int:
    print(f"Error: {' '.join(message.split())}", file=sys.stderr)
    return INPUT_ERROR


def _flush_or_close() -> None:
    """Write what is left of the output; a full disk fails again, when the process ends."""
    try:
        sys.stdout.flush()
    except OSError:
        _close_output()


def _close_output() -> int:
    """Discard the rest of the output: its reader has left, or its disk is full."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


@click.group(
    cls=App,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Files are CSV, Parquet or ARFF; DATA may also be the name of a bundled table.",
)
@click.version_option(ceiba.__version__, message="ceiba %(version)s")
@click.option("--traceback", is_flag=True, help="Show the traceback of an error.")
@quiet_option
@click.pass_obj
def app(output: Output, traceback: bool) -> None:
    """Train, compare and view classical learners on real tables."""
    output.traceback = traceback
    click.get_current_context().with_resource(output.warnings_as_lines())
