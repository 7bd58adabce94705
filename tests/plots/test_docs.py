"""Every picture is shown in a document, and described in the reference."""

from __future__ import annotations

import re

from ceiba import plots
from tests.paths import ROOT

HOUSE = ROOT
FUNCTIONS = {name for name in plots.__all__ if name.islower()} - {"register_painter"}


def test_every_picture_is_shown():
    documents = [*(HOUSE / "docs").glob("*.rst"), *(HOUSE / "examples").glob("*.py")]
    texts = [document.read_text(encoding="utf-8") for document in documents]
    drawn = {name for text in texts for name in re.findall(r"\bplots\.(\w+)\(", text)}
    assert drawn == FUNCTIONS


def test_every_picture_is_in_the_reference():
    page = (HOUSE / "docs" / "api.rst").read_text(encoding="utf-8")
    assert set(re.findall(r"ceiba\.plots\.(\w+)$", page, re.MULTILINE)) == FUNCTIONS
