"""Representation of dataclasses on a few lines, whatever they hold."""

from __future__ import annotations

from dataclasses import fields
from reprlib import Repr
from typing import Any

_MAX_ARRAY = 6  # values; larger arrays are described


class _ShortRepr(Repr):
    """Representation with long texts, long collections and large arrays shortened."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 120
        self.maxdict = 20
        self.maxlevel = 3

    def repr_ndarray(self, array: Any, depth: int) -> str:
        """Write out a small array on one line, and describe a large one."""
        if array.size <= _MAX_ARRAY:
            return " ".join(repr(array).split())
        return f"<array of {array.dtype} and shape {array.shape}>"


_short = _ShortRepr()


def fields_repr(value: Any) -> str:
    """Represent a dataclass by its fields: its ``__repr__``, bounded in length.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> @dataclass
    ... class Curve:
    ...     name: str
    ...     error: np.ndarray
    ...     __repr__ = fields_repr
    >>> Curve("out of bag", np.zeros(500))
    Curve(name='out of bag', error=<array of float64 and shape (500,)>)
    """
    shown = [field.name for field in fields(value) if field.repr]
    texts = [f"{name}={_short.repr(getattr(value, name))}" for name in shown]
    return f"{type(value).__name__}({', '.join(texts)})"
