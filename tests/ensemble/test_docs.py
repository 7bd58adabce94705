"""What the documentation shows of committees is what they do."""

from __future__ import annotations

import doctest
import re
import runpy
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    datasets,
    ensemble,
    plots,
)
from ceiba.base import declared
from ceiba.ensemble.forest.model import Forest
from tests.paths import ROOT

HOUSE = ROOT
PAGE = (HOUSE / "docs" / "ensembles.rst").read_text(encoding="utf-8")


def frames(folder: Path) -> dict[str, int]:
    """The pictures in a folder, and how many frames each has."""
    found = {}
    for path in folder.iterdir():
        with Image.open(path) as image:
            found[path.name] = getattr(image, "n_frames", 1)
    return found


def test_page_and_its_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = str(HOUSE / "docs" / "ensembles.rst")
    failed, tried = doctest.testfile(page, module_relative=False, encoding="utf-8")
    assert tried > 80
    assert failed == 0
    shown = re.findall(r"^\.\. image:: out/(.*)$", PAGE, re.MULTILINE)
    assert len(shown) == len(set(shown)) == 4
    assert frames(tmp_path / "out") == dict.fromkeys(shown, 1)


def table(heading: str) -> list[list[str]]:
    """Code in the lines of the table whose head begins so; lines that go on are left out."""
    rows = PAGE[PAGE.index(f"\n{heading}") :].split("\n=====")[1].splitlines()[1:]
    return [re.findall(r"``(.*?)``", row) for row in rows if not row.startswith(" ")]


def choices(cls: type, name: str) -> set[str]:
    (parameter,) = (parameter for parameter in declared(cls) if parameter.name == name)
    return set(parameter.choices)


@pytest.mark.parametrize(
    ("cls", "name"), [(RandomForestClassifier, "features_per"), (AdaBoostClassifier, "algorithm")]
)
def test_every_choice_is_in_its_table(cls, name):
    assert {row[0] for row in table(f"``{name}``")} == choices(cls, name)


def test_every_array_is_in_its_table():
    arrays = [entry.name for entry in fields(Forest) if entry.type.startswith("Array")]
    assert [name for row in table("array\n") for name in row] == arrays


def test_ways_to_draw():
    X, y = datasets.load("iris")
    for row in table("parameters "):
        options = eval(f"dict({row[0]})") if row else {}
        model = BaggingClassifier(n_estimators=3, **options).fit(X, y)
        assert {len(rows) for rows in model.estimators_samples_} == {
            75 if "max_samples" in options else 150
        }
        apart = [len(np.unique(columns)) for columns in model.estimators_features_]
        whole = 2 if "max_features" in options else 4
        drawn_twice = options.get("bootstrap_features", False)
        assert min(apart) < 4 if drawn_twice else apart == [whole] * 3


def test_every_committee_is_in_the_reference():
    page = (HOUSE / "docs" / "api.rst").read_text(encoding="utf-8").split()
    assert {f"ceiba.{name}" for name in ensemble.__all__} <= set(page)


def test_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (HOUSE / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(from ceiba import RandomForest.*?)```\n", text, re.DOTALL)
    exec(code[1], {"datasets": datasets, "plots": plots})
    shown = re.match(r"\n((?:    .*\n)+)", text[code.end() :])[1]
    lines = [line.removeprefix("    ") for line in shown.splitlines()]
    assert capsys.readouterr().out.splitlines() == lines
    assert frames(tmp_path) == {"trees.png": 1, "columns.png": 1}


def test_example_of_a_forest(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(HOUSE / "examples" / "forest_votes.py"))
    said = capsys.readouterr().out
    assert "vote: 435 rows, 16 attributes" in said
    assert "mapped, it predicts the same: True" in said
    drawn = [names["importance"].names.index(name) for name in ("a_coin", "a_number")]
    assert (names["importance"].reads[drawn] == 0).all()
    (tmp_path / "out" / "forest_votes.ceiba").unlink()
    assert frames(tmp_path / "out") == {"forest_curve.png": 1, "forest_importance.png": 1}


def test_example_of_boosting(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HOUSE / "examples" / "boosting_rounds.py"))
    said = capsys.readouterr().out
    assert "after 60 rounds: 100.0% right" in said
    assert said.count("then its mistakes weigh 0.500") == 5
    assert frames(tmp_path / "out") == {
        "boosting_margins.png": 1, "boosting_rounds.gif": 15, "boosting_rounds.png": 1,
    }  # fmt: skip
