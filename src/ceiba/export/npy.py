"""The header of an npy entry: dtype, memory order and shape of the array.

It has NumPy's format 1.0, so that ``numpy.load`` reads the entries too. It is parsed by a regular
expression, never evaluated, and only the dtypes below are allowed: no objects and no records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

# Headers end and entries start at multiples of this, so that the data can be memory-mapped.
ALIGNMENT = 64

_MAGIC = b"\x93NUMPY\x01\x00"
_TYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U[1-9][0-9]{0,8}"
    r"|<[Mm]8(?:\[(?:[1-9][0-9]{0,8})?(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
_HEADER = re.compile(
    r"\{'descr': '([^']{1,32})', 'fortran_order': (True|False), "
    r"'shape': \(((?:[0-9]{1,18}, )*(?:[0-9]{1,18},?)?)\), \} *\n"
)
_MAX_DIMENSIONS = 32
_MAX_BYTES = 2**62


@dataclass(frozen=True, slots=True)
class Layout:
    """Dtype, shape, order and offset of an array in its entry."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int

    @property
    def nbytes(self) -> int:
        """Number of bytes of the values."""
        return prod(self.shape) * self.dtype.itemsize


def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """Return the name of a dtype that a model file can store (``<f8``), else None."""
    if dtype.hasobject or dtype.fields is not None:
        return None
    name = dtype.newbyteorder("<").str
    return name if _TYPE.fullmatch(name) else None


def dtype_from_name(name: object) -> np.dtype[Any]:
    """Return the dtype of a name; raise ValueError if a model file cannot store it."""
    if not isinstance(name, str) or not _TYPE.fullmatch(name):
        raise ValueError(f"the dtype {name!r} is not allowed in a model file")
    return np.dtype(name)


def make_header(array: np.ndarray[Any, Any]) -> bytes:
    """Return the npy header of an array, padded to the alignment."""
    text = f"{{'descr': '{dtype_name(array.dtype)}', 'fortran_order': {is_fortran(array)}, "
    text += f"'shape': {array.shape!r}, }}"
    length = len(_MAGIC) + 2 + len(text) + 1
    text += " " * (-length % ALIGNMENT) + "\n"
    return _MAGIC + len(text).to_bytes(2, "little") + text.encode("ascii")


def is_fortran(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array is in Fortran order only."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def header_length(start: bytes) -> int:
    """Return the length of a header, from its first ten bytes."""
    if len(start) < 10 or not start.startswith(_MAGIC):
        raise ValueError("not an npy array of format 1.0")
    return 10 + int.from_bytes(start[8:10], "little")


def parse_header(header: bytes) -> Layout:
    """Parse a header; raise ValueError if it is invalid."""
    match = _HEADER.fullmatch(header[10:].decode("latin-1"))
    if match is None:
        raise ValueError("invalid npy header")
    dtype = dtype_from_name(match[1])
    shape = tuple(int(size) for size in match[3].replace(",", " ").split())
    if len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"it has {len(shape)} dimensions, the maximum is {_MAX_DIMENSIONS}")
    if prod(max(size, 1) for size in shape) * dtype.itemsize > _MAX_BYTES:
        raise ValueError(f"the shape {shape} is too large")
    return Layout(dtype, shape, match[2] == "True", len(header))
