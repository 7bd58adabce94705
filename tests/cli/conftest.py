"""Run the command line as a user types it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ceiba.cli.app import app

Run = Callable[..., Result]
ROWS = "id,size,color,sick\n" + "".join(
    f"p{i},{(i * 7) % 11}.5,{'red' if i % 3 else 'blue'},{'yes' if i % 5 < 2 else 'no'}\n"
    for i in range(40)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file of rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path


@pytest.fixture
def ceiba(folder: Path) -> Run:
    """Run a command line; it must end with an exit code and without a traceback."""

    def run(line: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, shlex.split(line), prog_name="ceiba")
        assert isinstance(result.exception, SystemExit | type(None)), result.exception
        assert result.exit_code == code, result.output
        return result

    return run
