"""Names, parameters and extras in messages of errors and warnings exist."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pkgutil import resolve_name

import pytest

import ceiba
from tests.paths import ROOT

SOURCES = sorted((ROOT / "src" / "ceiba").rglob("*.py"))
# Keys of Dask's configuration, which look like names.
_KEY = r"(?![\w.]*-)"
# Words of messages of scikit-learn, and its classes that exports name.
_OF_OTHERS = {"BaseClassifier", "HistGradientBoostingClassifier"}
_NAME = re.compile(rf"\b{_KEY}((?:ceiba|plots|datasets)(?:\.[A-Za-z]\w*)+)")


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the texts of a message, with {} for what is formatted in."""
    inner: set[ast.AST] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            inner.update(part.values)
            pieces = [v.value if isinstance(v, ast.Constant) else "{}" for v in part.values]
            yield "".join(map(str, pieces))
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part not in inner:
            yield part.value


def messages() -> Iterator[tuple[str, str]]:
    """Yield the position and text of every error, warning and advice."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_warning = isinstance(node, ast.Call) and "warn" in ast.unparse(node.func)
            is_advice = isinstance(node, ast.Return | ast.Assign) and path.parent.name == "plots"
            if isinstance(node, ast.Raise) or is_warning or is_advice:
                for text in texts(node):
                    yield f"{path.name}:{node.lineno}", text


def exists(name: str) -> bool:
    """Return whether a dotted name is importable by a user."""
    if not name.startswith("ceiba."):
        name = f"ceiba.{name}"
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_names_in_messages_exist() -> None:
    import_module("ceiba.plots")
    found = {(name, at) for at, text in messages() for name in _NAME.findall(text)}
    assert len(found) > 25
    assert [(name, at) for name, at in sorted(found) if not exists(name)] == []


def test_learners_in_messages_exist() -> None:
    found = {
        (name, at)
        for at, text in messages()
        for name in re.findall(r"\b[A-Z]\w+(?:Classifier|Regressor|Mixture|Means)\b", text)
    }
    assert found
    absent = [(name, at) for name, at in sorted(found) if not hasattr(ceiba, name)]
    assert [entry for entry in absent if entry[0] not in _OF_OTHERS] == []


def test_extras_in_messages_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {extra for _, text in messages() for extra in re.findall(r"ceiba\[(\w+)\]", text)}
    assert extras
    assert extras <= set(project["optional-dependencies"])


@pytest.mark.parametrize("name", ["ceiba.plots.nothing", "ceiba.nothing", "plots.Tree"])
def test_the_check_finds_absent_names(name: str) -> None:
    assert not exists(name)
