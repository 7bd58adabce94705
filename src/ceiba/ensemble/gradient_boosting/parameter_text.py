"""Texts of hyper-parameters, by which a later fit is compared with an earlier one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def parameter_text(value: Any) -> str:
    """Return a text that is the same in another process, without addresses of objects."""
    if hasattr(value, "__array__"):
        value = np.asarray(value).tolist()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Mapping):
        items = (f"{parameter_text(k)}: {parameter_text(v)}" for k, v in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(parameter_text, value))}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(parameter_text, value)))}}}"
    name = getattr(value, "__qualname__", type(value).__qualname__)
    attributes = value.get_params(deep=False) if hasattr(value, "get_params") else _plain(value)
    arguments = (f"{key}={parameter_text(item)}" for key, item in attributes.items())
    return f"{name}({', '.join(arguments)})"


def _plain(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that are numbers and strings."""
    if isinstance(value, type):
        return {}
    slots = (name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ()))
    names = sorted({*getattr(value, "__dict__", ()), *slots})
    attributes = {name: getattr(value, name, None) for name in names}
    return {k: v for k, v in attributes.items() if isinstance(v, int | float | str | np.generic)}
