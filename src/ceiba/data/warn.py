"""Warnings that refer to the user's line."""

from __future__ import annotations

import sys
import warnings

_OWN = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside Ceiba, however deep the call."""
    n_frames, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        n_frames, frame = n_frames + 1, frame.f_back
    warnings.warn(message, category, stacklevel=n_frames + 1)


def _is_own(module: str) -> bool:
    return module == _OWN or module.startswith(f"{_OWN}.")
