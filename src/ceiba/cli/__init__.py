"""The command ``ceiba``: train, predict, compare and report from the terminal.

Requires click: ``pip install "ceiba[cli]"``. The modules of the commands are imported when they
are used, so that ``ceiba --help`` starts quickly.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Examples
    --------
    >>> try:
    ...     main(["--version"])
    ... except SystemExit as end:
    ...     print("exit code", end.code)
    ceiba 0.1.0
    exit code 0
    """
    try:
        import click  # noqa: F401
    except ImportError:
        print('Error: the command line requires click: pip install "ceiba[cli]"', file=sys.stderr)
        sys.exit(2)
    from ceiba.cli.app import app

    app.main(None if arguments is None else list(arguments), prog_name="ceiba")
