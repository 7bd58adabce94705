"""Records of a fitted model: typed fields that a model file stores and checks.

    @dataclass(frozen=True, eq=False)
    class LossCurve(Record):
        iteration: Annotated[Array, ArrayOf("int64", "n")]
        loss: Annotated[Array, ArrayOf("float64", "n")]
        confidence_level: Annotated[float, Between(0, 1, closed="neither")]

`Record.to_json` and `Record.from_json` follow the declarations. A file may be damaged or forged, so
every field is checked on loading: its type and range, the dtype and shape of an array, and that
dimensions of the same name are equal.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

import numpy as np

from ceiba.base.value_types import checker, describe, parse

Sizes = dict[str, int]


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """Dtype and shape of an array field.

    Parameters
    ----------
    dtype : str
        Name of a dtype (``"float64"``), or kinds of dtype as in ``np.dtype.kind`` (``"iu"``).
    *shape : str or int
        Size of each dimension, or a name: dimensions of the same name must be equal.
    """

    dtype: str
    shape: tuple[str | int, ...]

    def __init__(self, dtype: str, *shape: str | int) -> None:
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "shape", shape)

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise ValueError unless ``value`` is such an array.

        ``sizes`` maps names of dimensions to the sizes found so far, and is extended.
        """
        expected = f"{name} must be an array of {self.dtype} and shape {self._shape_text()}"
        if not isinstance(value, np.ndarray) or value.ndim != len(self.shape):
            raise ValueError(f"{expected}, got {_describe(value)}.")
        if value.dtype.name != self.dtype and value.dtype.kind not in self._kinds():
            raise ValueError(f"{expected}, got {_describe(value)}.")
        for size, label in zip(value.shape, self.shape, strict=True):
            known = label if isinstance(label, int) else sizes.setdefault(label, size)
            if known != size:
                raise ValueError(f"{expected} with {label} = {known}, got {_describe(value)}.")

    def _kinds(self) -> str:
        return self.dtype if len(self.dtype) <= 3 and self.dtype.isalpha() else ""

    def _shape_text(self) -> str:
        return f"({', '.join(map(str, self.shape))}{',' if len(self.shape) == 1 else ''})"


class Record:
    """Base of the frozen dataclasses that a fitted model consists of.

    Attributes
    ----------
    classes : dict of str to type
        All record classes by name, as model files refer to them.
    """

    classes: ClassVar[dict[str, type[Record]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Record.classes[cls.__name__] = cls

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other; for subclasses."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields for a model file; arrays and records are not converted."""
        return {
            entry.name: _to_list(getattr(self, entry.name)) for entry in _init_fields(type(self))
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the record that `to_json` wrote; raise ValueError if it is damaged."""
        owner: Any = cls
        readers = _readers(owner)
        if not isinstance(values, dict) or set(values) != set(readers):
            found = ", ".join(map(str, values)) if isinstance(values, dict) else _describe(values)
            raise ValueError(
                f"{cls.__name__} must have the fields {', '.join(readers)}, got {found}."
            )
        sizes: Sizes = {}
        record = cls(**{name: read(name, values[name], sizes) for name, read in readers.items()})
        record.check()
        return record


Reader = Callable[[str, Any, Sizes], Any]


def _init_fields(cls: Any) -> list[Any]:
    return [entry for entry in fields(cls) if entry.init]


@cache
def _readers(cls: Any) -> dict[str, Reader]:
    """Return a function for each field that checks a loaded value and returns it."""
    hints = get_type_hints(cls, include_extras=True)
    return {entry.name: _reader(hints[entry.name]) for entry in _init_fields(cls)}


def _reader(annotation: Any) -> Reader:
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        arrays = [entry for entry in metadata if isinstance(entry, ArrayOf)]
        if arrays:
            return _array_reader(arrays[0], optional=type(None) in get_args(inner))
    if get_origin(annotation) in (tuple, list):
        return _sequence_reader(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        sequences = [m for m in get_args(annotation) if get_origin(m) in (tuple, list)]
        if sequences and len(get_args(annotation)) == 2:
            return _optional(_sequence_reader(sequences[0]))
    if annotation is Any:
        return lambda name, value, sizes: value
    return _value_reader(annotation)


def _array_reader(array: ArrayOf, optional: bool) -> Reader:
    def read(name: str, value: Any, sizes: Sizes) -> Any:
        array.check(name, value, sizes)
        return value

    return _optional(read) if optional else read


def _optional(read: Reader) -> Reader:
    return lambda name, value, sizes: None if value is None else read(name, value, sizes)


def _sequence_reader(annotation: Any) -> Reader:
    kind, member = get_origin(annotation), get_args(annotation)[0]
    read_member = _reader(member)

    def read(name: str, value: Any, sizes: Sizes) -> Any:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} must be a list, got {_describe(value)}.")
        return kind(read_member(f"{name}[{i}]", entry, sizes) for i, entry in enumerate(value))

    return read


def _value_reader(annotation: Any) -> Reader:
    options = parse(annotation)
    check = checker(options)

    def read(name: str, value: Any, sizes: Sizes) -> Any:
        if not check(value):
            raise ValueError(f"{name} must be {describe(options)}, got {_describe(value)}.")
        return value

    return read


def _to_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    plain = isinstance(value, str | int | float | bool | None)
    return repr(value) if plain else f"an object of type {type(value).__name__}"
