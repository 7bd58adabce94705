"""The code of the README runs and prints the results that it shows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pictures import n_frames
from tests.paths import ROOT

pytestmark = pytest.mark.slow

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    first, second, larger, experiment = BLOCKS
    names: dict[str, Any] = {}
    exec(first, names)
    shown = re.findall(r"^    ((?:\[0\]|\|  ).*)$", TEXT, re.MULTILINE)
    assert len(shown) == 7
    assert capsys.readouterr().out.splitlines() == shown
    assert n_frames(tmp_path) == {"hepatitis.png": 1}
    exec(second, names)
    assert (tmp_path / "hepatitis.ceiba").exists()
    compile(larger, "README.md", "exec")  # files and clusters are not at hand
    capsys.readouterr()
    exec(experiment, names)
    assert capsys.readouterr().out.startswith("Accuracy  tree")
    assert (tmp_path / "experiment.db").exists()
