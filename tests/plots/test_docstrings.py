"""Tests of the shared parameter descriptions."""

from __future__ import annotations

import re
from inspect import getdoc, signature

import pytest

from ceiba import plots
from ceiba.plots.docstrings import documented

FUNCTIONS = sorted({name for name in plots.__all__ if name.islower()} - {"register_painter"})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_describe_every_parameter(name):
    function = getattr(plots, name)
    text = getdoc(function)
    assert not re.search(r"^ *\{\w+\}$", text, re.MULTILINE)
    described = set()
    for names in re.findall(r"^([\w*, ]+) : ", text, re.MULTILINE):
        described |= set(names.split(", "))
    described |= set(re.findall(r"^\*\*(\w+)$", text, re.MULTILINE))
    described |= set(re.findall(r"^(n_components)", text, re.MULTILINE))
    assert set(signature(function).parameters) <= described


def test_description_has_the_indentation_of_its_placeholder():
    def function():
        """Draw.

        Parameters
        ----------
        {ax}
        """

    lines = documented(function).__doc__.splitlines()
    (index,) = (i for i, line in enumerate(lines) if "ax : matplotlib Axes" in line)
    indent = re.match(" *", lines[index - 1])[0]
    assert lines[index].startswith(f"{indent}ax : ")
    assert lines[index + 1].startswith(f"{indent}    Axes to draw on")


def test_unknown_placeholder_raises():
    def function():
        """{no_such_description}"""

    with pytest.raises(KeyError, match="no_such_description"):
        documented(function)
