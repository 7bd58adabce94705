"""Every public name is on a page of the API reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest

import ceiba
from tests.paths import ROOT

PAGES = sorted((ROOT / "docs" / "api").glob("*.rst"))
LISTED = [
    name
    for page in PAGES
    for name in re.findall(r"^   (ceiba[\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
]


def object_of(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield path and object of every name in the ``__all__`` of every package."""
    packages = ["ceiba"]
    packages += [info.name for info in walk_packages(ceiba.__path__, "ceiba.") if info.ispkg]
    for package in packages:
        module = import_module(package)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if name != "__version__" and not isinstance(value, ModuleType):
                yield f"{package}.{name}", value


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8").split()
    assert {page.stem for page in PAGES} - {"index"} <= set(index)


@pytest.mark.parametrize("path", LISTED)
def test_listed_name_exists(path: str) -> None:
    assert object_of(path) is not None


def test_no_name_is_listed_twice() -> None:
    assert len(LISTED) == len(set(LISTED))


def test_every_public_name_is_listed() -> None:
    pytest.importorskip("matplotlib")
    listed = {id(object_of(path)) for path in LISTED}
    missing = [path for path, value in public_names() if id(value) not in listed]
    assert missing == []
