"""Sphinx configuration."""

from __future__ import annotations

import contextlib
import doctest
import re
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

import ceiba

project = "Ceiba"
author = "the Ceiba developers"
copyright = f"2026, {author}"
release = ceiba.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
autosummary_generate = True
autodoc_typehints = "none"
napoleon_google_docstring = False
exclude_patterns = ["_build", "gallery/**/*.zip"]
html_theme = "alabaster"
html_theme_options = {"description": "Classical learners on real tables", "page_width": "1040px"}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
}


def setup(app: Any) -> None:
    """Called by Sphinx when it starts."""
    app.connect("builder-inited", draw_pages)
    app.connect("autodoc-process-docstring", unlink)


def draw_pages(app: Any) -> None:
    """Run the code of the pages that save their own pictures, where they look for them."""
    for name in ("lecture.rst", "ensembles.rst"):
        with contextlib.chdir(app.srcdir):
            failed, _ = doctest.testfile(
                str(Path(app.srcdir, name)), module_relative=False, encoding="utf-8"
            )
        if failed:
            raise ExtensionError(f"{failed} examples of {name} print something else")


def unlink(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Inherited docstrings refer to pages of scikit-learn's documentation, which are not here."""
    lines[:] = [re.sub(r":ref:`([^`<]+?)( <[^`]+>)?`", r"\1", line) for line in lines]
