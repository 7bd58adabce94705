"""What the lecture and its examples show is what trees do."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

from ceiba import DecisionTreeClassifier, datasets, plots
from ceiba.tree.presets import PRESETS
from tests.paths import ROOT

HOUSE = ROOT
PAGE = (HOUSE / "docs" / "lecture.rst").read_text(encoding="utf-8")


def frames(folder: Path) -> dict[str, int]:
    """The pictures in a folder, and how many frames each has."""
    found = {}
    for path in folder.iterdir():
        with Image.open(path) as image:
            found[path.name] = getattr(image, "n_frames", 1)
    return found


def test_page_and_its_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = str(HOUSE / "docs" / "lecture.rst")
    failed, tried = doctest.testfile(page, module_relative=False, encoding="utf-8")
    assert tried > 80
    assert failed == 0
    shown = re.findall(r"^\.\. image:: out/(.*)$", PAGE, re.MULTILINE)
    assert len(shown) == len(set(shown)) > 12
    assert frames(tmp_path / "out") == dict.fromkeys(shown, 1)


def presets() -> list[list[str]]:
    """Lines of the table of presets, cell by cell."""
    table = PAGE[PAGE.index("parameter             hunt") :].split("\n=====")[1]
    return [line.split() for line in table.splitlines() if line.startswith("``")]


def test_every_setting_is_in_the_table():
    assert [line[0].strip("`") for line in presets()] == list(PRESETS["cart"])


@pytest.mark.parametrize("line", presets(), ids=lambda line: line[0].strip("`"))
def test_settings_of_the_presets(line):
    name = line[0].strip("`")
    assert line[1:] == [str(PRESETS[preset][name]) for preset in ("hunt", "id3", "c45", "cart")]


def test_code_beside_others():
    code = re.search(r"^\.\. code-block:: python\n\n((?:   .*\n)+)", PAGE, re.MULTILINE)[1]
    for line in re.findall(r"DecisionTreeClassifier\([^)]*\)", re.sub(r"#.*", "", code)):
        model = eval(line, {"DecisionTreeClassifier": DecisionTreeClassifier})
        assert model.fit(*datasets.load("weather_numeric")).get_n_leaves() > 0


def test_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (HOUSE / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(model = .*algorithm=\"c45\".*?)```", text, re.DOTALL)
    X, y = datasets.load("hepatitis")
    names = {"X": X, "y": y, "DecisionTreeClassifier": DecisionTreeClassifier, "plots": plots}
    exec(code[1], names)
    shown = re.findall(r"^    (\d+ leaves)$", text[code.end() :], re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == shown
    assert frames(tmp_path) == {"hepatitis.png": 1}


@pytest.mark.parametrize(
    ("name", "pictures", "said"),
    [
        (
            "tree_pruning",
            {"tree_presets", "tree_laboratory", "tree_grown", "tree_pruned"},
            "56 cuts; taken back: True",
        ),
        ("matlab_iris", {"matlab_iris"}, "    2   0.0133      5   0.040"),
    ],
)
def test_example(name, pictures, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HOUSE / "examples" / f"{name}.py"))
    assert said in capsys.readouterr().out
    assert frames(tmp_path / "out") == {f"{picture}.png": 1 for picture in pictures}
