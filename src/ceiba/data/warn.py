"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

_OWN = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, naming the line outside Ceiba that led here, however deep inside it happened."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


def _is_own(module: str) -> bool:
    return module == _OWN or module.startswith(f"{_OWN}.")
