"""Whether pyarrow is there, and what to say where it is not."""

from __future__ import annotations

import importlib.util


def has_arrow() -> bool:
    """Whether pyarrow is installed."""
    try:
        return importlib.util.find_spec("pyarrow") is not None
    except ValueError:  # its import has been switched off
        return False


def require_arrow(purpose: str) -> None:
    """Refuse what needs pyarrow where it is not installed."""
    if not has_arrow():
        raise ImportError(f'{purpose} needs pyarrow: pip install "ceiba[files]"')
