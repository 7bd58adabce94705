"""What the documentation shows of trees is what they do."""

from __future__ import annotations

import doctest
import re
import runpy

from PIL import Image

from ceiba import DecisionTreeClassifier, datasets
from tests.paths import ROOT

HOUSE = ROOT


def test_page():
    failed, tried = doctest.testfile(str(HOUSE / "docs" / "trees.rst"), module_relative=False)
    assert tried > 10
    assert failed == 0


def test_readme():
    text = (HOUSE / "README.md").read_text()
    shown = re.search(r"((?:^    (?:\[0\]|\|  ).*\n)+)", text, re.MULTILINE)
    X, y = datasets.load("hepatitis")
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    lines = model.tree_.to_text(classes=model.classes_).splitlines()
    assert [line.removeprefix("    ") for line in shown[1].splitlines()] == lines


def test_example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HOUSE / "examples" / "tree_votes.py"))
    said = capsys.readouterr().out
    assert "root: physician_fee_freeze = n or missing, gain 0.718 of 0.962 bits" in said
    with Image.open(tmp_path / "out" / "tree_votes.png") as image:
        assert image.size == (1260, 528)
