"""Encode the values of a model as JSON, with their arrays as separate entries.

None, bools, ints, finite floats, strings and lists are encoded as themselves. Any other value is a
JSON object with one key, its kind: ``float`` (inf, nan), ``tuple``, ``dict`` (pairs),
``array`` (the name of its entry), ``objects`` (an object array of plain values, as column names
are), ``scalar`` (a NumPy number: type and value), ``record`` (an object with ``to_json``) and
``model`` (an estimator inside another).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base.archive import DefectError, dtype_from_name, dtype_name
from ceiba.base.record import Record
from ceiba.base.trace import Trace
from ceiba.base.value_types import format_value
from ceiba.data.schema import Schema

# Maximum depth of nested values: no model is deeper, but a forged file could exhaust the stack. In
# a file each value is nested twice, in the object of its kind and in that of its container.
MAX_DEPTH = 32
_MAX_DEPTH_READ = 2 * MAX_DEPTH + 8
_MAX_BITS = 1024
_PLAIN = (type(None), bool, int, float, str)
# Kind of a NumPy dtype -> type of its values in JSON; datetimes and timedeltas are ticks.
_SCALARS: dict[str, type] = {
    "b": bool, "i": int, "u": int, "f": float, "U": str, "m": int, "M": int
}  # fmt: skip


def record_class(name: object) -> Any:
    """Return the class of a part with ``to_json`` and ``from_json``; None for other names."""
    classes = {**Record.classes, "Schema": Schema, "Trace": Trace}
    return classes.get(name) if isinstance(name, str) else None


class Encoder:
    """Encode values as JSON and collect their arrays by entry name.

    ``encode_model`` encodes an estimator inside another and returns None for other objects.
    """

    def __init__(self, encode_model: Callable[[Any, str], Any]) -> None:
        self.arrays: dict[str, Array] = {}
        self._encode_model = encode_model

    def encode(self, value: Any, path: str) -> Any:
        """Return ``value`` as JSON; raise DefectError if a file cannot store it."""
        if path.count("/") > MAX_DEPTH:
            raise DefectError(path, f"nested too deeply: the maximum is {MAX_DEPTH}")
        if type(value) in _PLAIN:
            return _encode_plain(value, path)
        if type(value) in (np.ndarray, np.memmap):
            return self._encode_array(value, path)
        if isinstance(value, np.generic):
            return _encode_scalar(value, path)
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{path}/{i}") for i, item in enumerate(value)]
            return items if type(value) is list else {"tuple": items}
        if type(value) is dict:
            return {"dict": self._encode_pairs(value, path)}
        return self._encode_part(value, path)

    def _encode_pairs(self, value: dict[Any, Any], path: str) -> list[Any]:
        return [
            [_encode_plain(key, path), self.encode(item, f"{path}/{i}")]
            for i, (key, item) in enumerate(value.items())
        ]

    def _encode_array(self, value: Array, path: str) -> Any:
        if value.dtype == np.dtype(object):
            items = [_encode_plain(item, path) for item in value.reshape(-1).tolist()]
            return {"objects": {"shape": list(value.shape), "items": items}}
        if dtype_name(value.dtype) is None:
            raise DefectError(path, f"an array of {value.dtype} cannot be stored")
        name = f"{path}.npy"
        self.arrays[name] = np.asarray(value)
        return {"array": name}

    def _encode_part(self, value: Any, path: str) -> Any:
        cls = type(value)
        if cls is record_class(cls.__name__):
            record = value.to_json()
            _from_json(cls, record, path)  # a record that could not be read is not written
            return {"record": [cls.__name__, self.encode(record, path)]}
        model = self._encode_model(value, path)
        if model is None:
            raise DefectError(path, _unsupported_reason(value))
        return {"model": model}


class Decoder:
    """Decode JSON into values.

    ``read_array`` returns the array of an entry name; ``decode_model`` decodes an estimator inside
    another.
    """

    def __init__(
        self, read_array: Callable[[str], Array], decode_model: Callable[[Any, str], Any]
    ) -> None:
        self._read_array = read_array
        self._depth = 0
        self._decoders = {
            "float": _decode_float,
            "tuple": self._decode_tuple,
            "dict": self._decode_dict,
            "array": self._decode_array,
            "objects": self._decode_objects,
            "scalar": _decode_scalar,
            "record": self._decode_record,
            "model": decode_model,
        }

    def decode(self, value: Any, path: str) -> Any:
        """Return the value; raise DefectError if the encoding is invalid."""
        if isinstance(value, _PLAIN):
            return value
        self._depth += 1
        if self._depth > _MAX_DEPTH_READ:
            raise DefectError(path, f"nested too deeply: the maximum is {MAX_DEPTH}")
        decoded = self._decode(value, path)
        self._depth -= 1
        return decoded

    def _decode(self, value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self.decode(item, f"{path}/{i}") for i, item in enumerate(value)]
        if len(value) != 1 or next(iter(value)) not in self._decoders:
            raise DefectError(path, "unknown kind of value", list(value))
        ((kind, content),) = value.items()
        return self._decoders[kind](content, path)

    def _decode_tuple(self, content: Any, path: str) -> tuple[Any, ...]:
        return tuple(self.decode(_check_list(content, path), path))

    def _decode_dict(self, content: Any, path: str) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for i, pair in enumerate(_check_list(content, path)):
            key, item = _check_list(pair, path, 2)
            key = self.decode(key, f"{path}/{i}")
            if type(key) not in _PLAIN or key in result:
                raise DefectError(path, "a key is duplicated or not a plain value", key)
            result[key] = self.decode(item, f"{path}/{i}")
        return result

    def _decode_array(self, content: Any, path: str) -> Array:
        # The name of an entry is its path, so no entry is used twice.
        if content != f"{path}.npy":
            raise DefectError(path, "the entry of an array must have the name of its path", content)
        return self._read_array(content)

    def _decode_objects(self, content: Any, path: str) -> Array:
        if not isinstance(content, dict) or set(content) != {"shape", "items"}:
            raise DefectError(path, "an object array must have shape and items", content)
        shape = _check_list(content["shape"], path)
        for size in shape:
            if type(size) is not int or size < 0:
                raise DefectError(path, "a size must be an int >= 0", size)
        items = [self.decode(item, path) for item in _check_list(content["items"], path)]
        too_large = len(shape) > MAX_DEPTH or max(shape, default=0) > 2**31
        if too_large or math.prod(shape) != len(items):
            raise DefectError(path, f"{len(items)} values for the shape {tuple(shape)}")
        for item in items:
            if type(item) not in _PLAIN:
                raise DefectError(path, "the items of an object array must be plain values", item)
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def _decode_record(self, content: Any, path: str) -> Any:
        name, record = _check_list(content, path, 2)
        cls = record_class(name)
        if cls is None:
            raise DefectError(path, f"unknown record {format_value(name)}")
        return _from_json(cls, self.decode(record, path), path)


def _from_json(cls: Any, record: Any, path: str) -> Any:
    try:
        return cls.from_json(record)
    except Exception as error:
        # The record comes from an untrusted file: any exception means that it is damaged.
        reason = str(error).rstrip(".")
        raise DefectError(path, f"invalid {cls.__name__}: {reason}") from error


def _encode_plain(value: Any, path: str) -> Any:
    if type(value) not in _PLAIN:
        raise DefectError(path, "keys and items of object arrays must be plain values", value)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise DefectError(path, f"ints of more than {_MAX_BITS} bits cannot be stored")
    return value


def _encode_scalar(value: np.generic, path: str) -> Any:
    name = "<U1" if isinstance(value, np.str_) else dtype_name(value.dtype)
    if name is None:
        raise DefectError(path, f"a scalar of {value.dtype} cannot be stored")
    plain = value.view(np.int64) if value.dtype.kind in "mM" else value
    return {"scalar": [name, _encode_plain(plain.item(), path)]}


def _unsupported_reason(value: Any) -> str:
    reason = f"a {type(value).__name__} cannot be stored"
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return f"{reason}: set an int as random_state before saving"
    if callable(value):
        return "a callable cannot be stored"
    if hasattr(value, "get_params"):
        return f"a {type(value).__name__}, an estimator of another library, cannot be stored"
    return f"{reason}, only numbers, strings, arrays, lists, tuples and dictionaries"


def _decode_float(content: Any, path: str) -> float:
    if content not in ("inf", "-inf", "nan"):
        raise DefectError(path, "must be 'inf', '-inf' or 'nan'", content)
    return float(content)


def _decode_scalar(content: Any, path: str) -> Any:
    name, value = _check_list(content, path, 2)
    if isinstance(value, dict) and set(value) == {"float"}:
        value = _decode_float(value["float"], path)
    dtype = dtype_from_name(name, path)
    if _SCALARS[dtype.kind] is not type(value):
        found = type(value).__name__
        raise DefectError(path, f"a scalar of {dtype} cannot have a value of type {found}", value)
    try:
        if dtype.kind in "mM":
            return np.array(value, np.int64).view(dtype)[()]
        with np.errstate(over="ignore"):
            scalar = dtype.type(value)
    except (ValueError, OverflowError) as error:
        raise DefectError(path, str(error)) from error
    if scalar.item() != value and value == value:
        raise DefectError(path, f"{value} does not fit {dtype}")
    return scalar


def _check_list(value: Any, path: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        expected = "a list" if length is None else f"a list of length {length}"
        raise DefectError(path, f"must be {expected}", value)
    return value
