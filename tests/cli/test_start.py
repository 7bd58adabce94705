"""The process: quick start, entry points, exit codes, pipes, full disks and completion."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import ceiba.cli
from ceiba.cli.app import app
from ceiba.cli.output import print_table
from tests.cli.conftest import Run

HEAVY = ("sklearn", "matplotlib", "numpy", "scipy", "pandas", "pyarrow", "rich")


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ceiba", *arguments], text=True, stderr=subprocess.PIPE,
        check=False, **options,
    )  # fmt: skip


def test_help_imports_no_library() -> None:
    code = (
        "import sys; from ceiba.cli.app import app\n"
        "try: app.main(['--help'])\n"
        f"finally: print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    text = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert text.stdout.splitlines()[-1] == "[]"


def test_help_lists_the_commands(ceiba: Run) -> None:
    text = ceiba("-h").stdout
    for name in app.list_commands(None):  # type: ignore[arg-type]
        assert f"\n  {name} " in text
        assert "Usage: ceiba" in ceiba(f"{name} --help").stdout
    assert ceiba("--version").stdout == "ceiba 0.1.0\n"
    assert "Usage: ceiba" in ceiba("", 2).stderr


def test_the_script_is_declared() -> None:
    found = [entry.value for entry in entry_points(group="console_scripts", name="ceiba")]
    if not found:
        pytest.skip("Ceiba was installed before the script was declared.")
    assert found == ["ceiba.cli:main"]


def test_without_click_one_line_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as end:
        ceiba.cli.main([])
    assert end.value.code == 2
    assert capsys.readouterr().err.endswith('pip install "ceiba[cli]"\n')


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_a_full_disk_is_one_line_and_exit_code_2() -> None:
    with open("/dev/full", "w") as full:
        result = run("--version", stdout=full)
    assert (result.returncode, result.stderr) == (2, "Error: No space left on device.\n")


def test_a_closed_pipe_is_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        result = run("--version", stdout=pipe)
    assert (result.returncode, result.stderr) == (0, "")


def test_ctrl_c_gives_exit_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ceiba.datasets.load", interrupt)
    result = CliRunner().invoke(app, ["datasets", "iris"])
    assert (result.exit_code, result.stderr.strip()) == (130, "Interrupted.")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("ceiba tr", "train"),
        ("ceiba train naive", "naive_bayes_tm"),
        ("ceiba datasets ir", "iris"),
        ("ceiba train tree rows.csv --target si", "sick"),
        ("ceiba train tree iris --criterion gi", "gini"),
        ("ceiba compare iris --learner fo", "forest"),
    ],
)
def test_completion(folder: Path, typed: str, found: str) -> None:
    words = typed.split()
    variables = {
        "_CEIBA_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    result = CliRunner(env=variables).invoke(app, [], prog_name="ceiba")
    assert f"plain,{found}" in result.output.splitlines()


def test_tables_of_a_terminal_are_drawn_by_rich(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_table([["name", "rows"], ["[bold]iris", "150"], ["xor", "9"]], ["a note"])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line.split() for line in lines[1:]] == [
        ["[bold]iris", "150"],
        ["xor", "9"],
        ["a", "note"],
    ]
    assert len(lines[1]) == len(lines[2])  # numbers are aligned to the right
