"""Tables, schemas, readers and scans."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Public name -> the module that holds it, looked up on first use so that the import stays cheap.
_PUBLIC = {
    "Column": "ceiba.data.schema",
    "IdentifierWarning": "ceiba.data.identifiers",
    "Kind": "ceiba.data.schema",
    "ManyCategoriesWarning": "ceiba.data.identifiers",
    "ReadError": "ceiba.data.io.errors",
    "Schema": "ceiba.data.schema",
    "Table": "ceiba.data.table",
    "UnseenCategoryWarning": "ceiba.data.table",
    "read": "ceiba.data.io.read",
    "scan": "ceiba.data.io.read",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'ceiba.data' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
