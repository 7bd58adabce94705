"""Every function that draws is used in a page or an example."""

from __future__ import annotations

import re

import pytest

from ceiba import plots
from tests.paths import ROOT

pytestmark = pytest.mark.slow

FUNCTIONS = {name for name in plots.__all__ if name.islower()} - {"register_painter"}


def test_every_picture_is_shown() -> None:
    documents = [*(ROOT / "docs" / "guide").glob("*.rst"), *(ROOT / "examples").glob("*.py")]
    texts = [document.read_text(encoding="utf-8") for document in documents]
    drawn = {name for text in texts for name in re.findall(r"\bplots\.(\w+)\(", text)}
    assert drawn == FUNCTIONS
