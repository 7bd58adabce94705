"""The code of every page prints the results that the page shows, and draws its pictures."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path

import pytest

from tests.docs.pictures import n_frames
from tests.paths import ROOT

pytestmark = pytest.mark.slow

DOCS = ROOT / "docs"
# Packages of an extra that pages use.
PACKAGES = {"exporting": ("onnx", "onnxruntime", "shap")}
MADE_FOLDERS = {"_build", "_generated", "gallery"}
# test_worked_learner.py runs the remaining page, which needs its module.
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.rst"))
    if not MADE_FOLDERS & set(page.relative_to(DOCS).parts)
    and ">>>" in page.read_text(encoding="utf-8")
    and page.name != "worked_learner.rst"
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_prints_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for package in PACKAGES.get(page.stem, ()):
        pytest.importorskip(package, reason="requires pip install ceiba[interop]")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pages show warnings on purpose
        failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0
    shown = re.findall(r"^\.\. image:: out/(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) == len(set(shown))
    assert n_frames(tmp_path / "out") == dict.fromkeys(shown, 1)


def test_pictures_of_pages_have_different_names() -> None:
    names = [
        name
        for page in PAGES
        for name in re.findall(r"image:: (out/\S+)", page.read_text(encoding="utf-8"))
    ]
    assert len(names) > 20
    assert len(names) == len(set(names))
