"""Warnings that refer to the user's line."""

from __future__ import annotations

import sys
import warnings

_OWN = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside Ceiba, however deep the call."""
    n_frames, frame = 1, sys._getframe(1)
    # The package itself, or a module of it.
    while frame.f_back and f"{frame.f_globals.get('__name__', '')}.".startswith(f"{_OWN}."):
        n_frames, frame = n_frames + 1, frame.f_back
    warnings.warn(message, category, stacklevel=n_frames + 1)
