"""The console blocks of the guide print what the pages show."""

from __future__ import annotations

import doctest
import re
import shlex
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from ceiba.cli.app import app
from ceiba.experiments.description.file import KEYS
from tests.paths import ROOT

pytestmark = pytest.mark.slow

GUIDE = ROOT / "docs" / "guide"


def blocks(page: str, language: str) -> list[str]:
    text = (GUIDE / page).read_text(encoding="utf-8")
    found = re.findall(rf"^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)", text, re.MULTILINE)
    return [textwrap.dedent(block).strip("\n") + "\n" for block in found]


@pytest.mark.parametrize("page", ["command_line.rst", "experiment_file.rst"])
def test_commands_print_what_the_page_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for text in blocks(page, "toml"):
        Path("workshop.toml").write_text(text, encoding="utf-8")
    commands = [part for block in blocks(page, "console") for part in block.split("$ ")[1:]]
    assert commands
    for command in commands:
        line, _, expected = command.partition("\n")
        result = CliRunner().invoke(app, shlex.split(line)[1:], prog_name="ceiba")
        options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        shown = expected.replace("\n...\n", "\n...") if expected.endswith("\n...\n") else expected
        assert doctest.OutputChecker().check_output(shown, result.output, options), (
            f"{line}\n\n{result.output}"
        )


def test_every_key_of_an_experiment_file_is_in_the_table() -> None:
    text = (GUIDE / "experiment_file.rst").read_text(encoding="utf-8")
    rows = re.findall(r"^``\[*(\w+)\]*``", text, re.MULTILINE)
    assert sorted(rows) == sorted(KEYS)
