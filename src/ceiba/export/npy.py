"""The head of an npy entry: type, order and shape of the array that follows it.

Written as NumPy writes its format 1.0, so that ``numpy.load`` reads the entries too. Read by a
pattern instead of evaluated, and only the types below are known: no objects, no records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

# The head is padded to this, and entries start at multiples of it, so that data can be mapped.
ALIGNMENT = 64

_MAGIC = b"\x93NUMPY\x01\x00"
_TYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,8}"
    r"|<[Mm]8(?:\[(?:[1-9][0-9]{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
_HEAD = re.compile(
    r"\{'descr': '([^']{1,32})', 'fortran_order': (True|False), "
    r"'shape': \(((?:[0-9]{1,18}, )*(?:[0-9]{1,18},?)?)\), \} *\n"
)
_MOST_DIMENSIONS = 32
_MOST_BYTES = 2**62


@dataclass(frozen=True, slots=True)
class Layout:
    """Where and how the numbers of an array lie in its entry."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int

    @property
    def nbytes(self) -> int:
        """Bytes of the numbers."""
        return prod(self.shape) * self.dtype.itemsize


def type_name(dtype: np.dtype[Any]) -> str | None:
    """The name of a type that a model file can keep, as ``<f8``; None for any other type."""
    if dtype.hasobject or dtype.fields is not None:
        return None
    name = dtype.newbyteorder("<").str
    return name if _TYPE.fullmatch(name) else None


def type_named(name: object) -> np.dtype[Any]:
    """The type that `type_name` named; ValueError for any other name."""
    if not isinstance(name, str) or not _TYPE.fullmatch(name):
        raise ValueError(f"the type {name!r} is not one that a model file may hold")
    return np.dtype(name)


def head_of(array: np.ndarray[Any, Any]) -> bytes:
    """The head for an array of a type that `type_name` knows; its length is aligned."""
    text = f"{{'descr': '{type_name(array.dtype)}', 'fortran_order': {is_fortran(array)}, "
    text += f"'shape': {array.shape!r}, }}"
    length = len(_MAGIC) + 2 + len(text) + 1
    text += " " * (-length % ALIGNMENT) + "\n"
    return _MAGIC + len(text).to_bytes(2, "little") + text.encode("ascii")


def is_fortran(array: np.ndarray[Any, Any]) -> bool:
    """Whether its numbers are written column by column."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def head_length(start: bytes) -> int:
    """Length of the head, from its first ten bytes; ValueError where it is none."""
    if len(start) < 10 or not start.startswith(_MAGIC):
        raise ValueError("it does not begin like an npy array of format 1.0")
    return 10 + int.from_bytes(start[8:10], "little")


def layout_of(head: bytes) -> Layout:
    """What a whole head says; ValueError where it says nothing sound."""
    match = _HEAD.fullmatch(head[10:].decode("latin-1"))
    if match is None:
        raise ValueError("its head is not that of an npy array")
    dtype = type_named(match[1])
    shape = tuple(int(size) for size in match[3].replace(",", " ").split())
    if len(shape) > _MOST_DIMENSIONS:
        raise ValueError(f"it has {len(shape)} dimensions")
    if prod(max(size, 1) for size in shape) * dtype.itemsize > _MOST_BYTES:
        raise ValueError(f"the shape {shape} is larger than any memory")
    return Layout(dtype, shape, match[2] == "True", len(head))
