"""Classes that a model file may contain; no others are looked up."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ceiba import ESTIMATORS
from ceiba.base.record import Record

# Parts of a fitted state with to_json and from_json of their own, and their modules.
RECORDS = {
    "Schema": "ceiba.data.schema",
    "Trace": "ceiba.base.trace",
}


def estimator_class(name: object) -> Any:
    """Return the estimator class of a name, or None."""
    return _look_up(ESTIMATORS, name)


def record_class(name: object) -> Any:
    """Return the record class of a name, or None."""
    if isinstance(name, str) and name in Record.classes:
        return Record.classes[name]
    return _look_up(RECORDS, name)


def _look_up(modules: dict[str, str], name: object) -> Any:
    if not isinstance(name, str) or name not in modules:
        return None
    return getattr(import_module(modules[name]), name)
