"""Sphinx configuration."""

from __future__ import annotations

import contextlib
import doctest
import re
import warnings
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

import ceiba

project = "Ceiba"
author = "The Ceiba developers"
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
# A word of a parameter's type, such as "table", may be an attribute of several classes.
suppress_warnings = ["ref.python"]
exclude_patterns = ["_build", "gallery/**/*.zip"]
html_theme = "pydata_sphinx_theme"
html_title = "Ceiba"
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # The lecture tables take minutes; the guide has what they print.
    "filename_pattern": r"/(?!table_)[^/]*$",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
}

# Pages whose code saves the pictures that they show.
PICTURE = ".. image:: out/"


def setup(app: Any) -> None:
    """Connect the hooks; Sphinx calls this when it starts."""
    app.connect("builder-inited", draw_pages)
    app.connect("autodoc-process-docstring", remove_references)


def draw_pages(app: Any) -> None:
    """Run the code of the pages that save their own pictures, beside the page."""
    for page in sorted(Path(app.srcdir, "guide").glob("*.rst")):
        if PICTURE not in page.read_text(encoding="utf-8"):
            continue
        with contextlib.chdir(page.parent), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # pages show warnings on purpose
            failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
        if failed:
            raise ExtensionError(f"{failed} examples of {page.name} print something else")


def remove_references(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Turn references to scikit-learn's pages, in inherited docstrings, into plain text."""
    lines[:] = [re.sub(r":ref:`([^`<]+?)( <[^`]+>)?`", r"\1", line) for line in lines]
