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

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints

import numpy as np

from ceiba._repr import fields_repr
from ceiba.base.value_types import TypeOption, checker, describe, format_value, parse

Sizes = dict[str, int]
Reader = Callable[[str, Any, Sizes], Any]
_KIND_NAMES = {"b": "bools", "f": "floats", "i": "ints", "iu": "ints", "u": "unsigned ints"}


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
        shape = f"({', '.join(map(str, self.shape))}{',' if len(self.shape) == 1 else ''})"
        kinds = self.dtype if len(self.dtype) <= 3 and self.dtype.isalpha() else ""
        dtype = _KIND_NAMES.get(self.dtype, self.dtype)
        expected = f"{name} must be an array of {dtype} and shape {shape}"
        if (
            not isinstance(value, np.ndarray)
            or value.ndim != len(self.shape)
            or (value.dtype.name != self.dtype and value.dtype.kind not in kinds)
        ):
            raise ValueError(f"{expected}, got {format_value(value)}.")
        for size, label in zip(value.shape, self.shape, strict=True):
            known = label if isinstance(label, int) else sizes.setdefault(label, size)
            if known != size:
                raise ValueError(f"{expected} with {label} = {known}, got {format_value(value)}.")


def check_values(name: str, array: Any, valid: Any, rule: str) -> None:
    """Raise ValueError with the first value of ``array`` where ``valid`` is False."""
    if not np.all(valid):
        index = tuple(map(int, np.unravel_index(np.argmin(valid), np.shape(valid))))
        raise ValueError(f"{name} must be {rule}, got {array[index]} at {list(index)}.")


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
        # Defined in the class itself, since the dataclass would otherwise write out all arrays.
        if "__repr__" not in vars(cls):
            setattr(cls, "__repr__", fields_repr)  # noqa: B010 - mypy forbids to assign a method
        Record.classes[cls.__name__] = cls

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other; for subclasses."""

    def to_json(self) -> dict[str, Any]:
        """Return the fields for a model file; arrays and records are not converted."""
        cls: Any = type(self)
        values = {name: getattr(self, name) for name in _readers(cls)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Return the record that `to_json` wrote; raise ValueError if it is damaged."""
        readers = _readers(cls)  # type: ignore[arg-type]
        if not isinstance(values, dict) or set(values) != set(readers):
            found = ", ".join(map(str, values)) if isinstance(values, dict) else values
            raise ValueError(
                f"{cls.__name__} must have the fields {', '.join(readers)}, "
                f"got {format_value(found)}."
            )
        sizes: Sizes = {}
        record = cls(**{name: read(name, values[name], sizes) for name, read in readers.items()})
        record.check()
        return record


@cache
def _readers(cls: Any) -> dict[str, Reader]:
    """Return a function for each field that checks a loaded value and returns it."""
    hints = get_type_hints(cls, include_extras=True)
    return {entry.name: _reader(hints[entry.name]) for entry in fields(cls) if entry.init}


def _reader(annotation: Any) -> Reader:
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated and isinstance(members[-1], ArrayOf):
        return _array_reader(members[-1], optional=type(None) in get_args(members[0]))
    if origin in (tuple, list):
        return _sequence_reader(origin, _reader(members[0]))
    if type(None) in members and get_origin(members[0]) in (tuple, list):
        read = _reader(members[0])
        return lambda name, value, sizes: None if value is None else read(name, value, sizes)
    if annotation is Any:
        return lambda name, value, sizes: value
    return _value_reader(parse(annotation))


def _array_reader(array: ArrayOf, optional: bool) -> Reader:
    def read(name: str, value: Any, sizes: Sizes) -> Any:
        if value is not None or not optional:
            array.check(name, value, sizes)
        return value

    return read


def _sequence_reader(kind: Callable[..., Any], read_member: Reader) -> Reader:
    def read(name: str, value: Any, sizes: Sizes) -> Any:
        if not isinstance(value, list | tuple):
            raise ValueError(f"{name} must be a list, got {format_value(value)}.")
        return kind(read_member(f"{name}[{i}]", entry, sizes) for i, entry in enumerate(value))

    return read


def _value_reader(options: tuple[TypeOption, ...]) -> Reader:
    check = checker(options)

    def read(name: str, value: Any, sizes: Sizes) -> Any:
        if not check(value):
            raise ValueError(f"{name} must be {describe(options)}, got {format_value(value)}.")
        return value

    return read
