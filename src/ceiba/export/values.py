"""Values of a model as JSON, their arrays set aside.

None, True, whole numbers, finite numbers, strings and lists are themselves. Anything else is an
object with one key that says what it is: ``float`` (inf, nan), ``tuple``, ``dict`` (pairs),
``array`` (the name of its entry), ``objects`` (an object array of plain values, as column names
are), ``scalar`` (a NumPy number: type and value), ``record`` (a part that writes itself) and
``model`` (an estimator inside another).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.export.defect import DefectError
from ceiba.export.npy import type_name, type_named
from ceiba.export.registry import record_class

# No model nests deeper; a file that does was made to break its reader. In a file, what nests
# in the model takes two levels: the value and the object that says what it is.
DEEPEST = 32
_DEEPEST_READ = 2 * DEEPEST + 8
_MOST_BITS = 1024
_PLAIN = (type(None), bool, int, float, str)
# Kind of a NumPy type -> what its numbers are in JSON; instants and durations are ticks.
_SCALARS: dict[str, type] = {
    "b": bool, "i": int, "u": int, "f": float, "U": str, "m": int, "M": int
}  # fmt: skip


class Encoder:
    """Turns values into JSON and collects their arrays by entry name.

    Parameters
    ----------
    encode_model : callable
        Encodes an estimator found inside another; returns None for what is no estimator.
    """

    def __init__(self, encode_model: Callable[[Any, str], Any]) -> None:
        self.arrays: dict[str, Array] = {}
        self._encode_model = encode_model

    def encode(self, value: Any, place: str) -> Any:
        """``value`` as JSON; DefectError for what a model file cannot keep."""
        if place.count("/") > DEEPEST:
            raise DefectError(place, "it is nested too deeply")
        if type(value) in _PLAIN:
            return _encode_plain(value, place)
        if type(value) in (np.ndarray, np.memmap):
            return self._encode_array(value, place)
        if isinstance(value, np.generic):
            return _encode_scalar(value, place)
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{place}/{i}") for i, item in enumerate(value)]
            return items if type(value) is list else {"tuple": items}
        if type(value) is dict:
            return {"dict": self._encode_pairs(value, place)}
        return self._encode_part(value, place)

    def _encode_pairs(self, value: dict[Any, Any], place: str) -> list[Any]:
        for key in value:
            if type(key) not in _PLAIN:
                raise DefectError(
                    place, f"the key {key!r} is a {type(key).__name__}, not a plain value"
                )
        return [
            [_encode_plain(key, place), self.encode(item, f"{place}/{i}")]
            for i, (key, item) in enumerate(value.items())
        ]

    def _encode_array(self, value: Array, place: str) -> Any:
        if value.dtype == np.dtype(object):
            return {"objects": {"shape": list(value.shape), "items": _object_items(value, place)}}
        if type_name(value.dtype) is None:
            raise DefectError(place, f"a model file cannot keep an array of {value.dtype}")
        name = f"{place}.npy"
        self.arrays[name] = np.asarray(value)
        return {"array": name}

    def _encode_part(self, value: Any, place: str) -> Any:
        cls = type(value)
        if cls is record_class(cls.__name__):
            record = value.to_json()
            _from_json(cls, record, place)  # what could not be read is not written
            return {"record": [cls.__name__, self.encode(record, place)]}
        model = self._encode_model(value, place)
        if model is None:
            raise DefectError(place, _refusal(value))
        return {"model": model}


class Decoder:
    """Turns JSON back into values.

    Parameters
    ----------
    read_array : callable
        The array of an entry name.
    decode_model : callable
        The estimator inside another.
    """

    def __init__(
        self,
        read_array: Callable[[str], Array],
        decode_model: Callable[[Any, str], Any],
    ) -> None:
        self._read_array = read_array
        self._depth = 0
        self._known = {
            "float": _decode_float,
            "tuple": self._decode_tuple,
            "dict": self._decode_dict,
            "array": self._decode_array,
            "objects": self._decode_objects,
            "scalar": _decode_scalar,
            "record": self._decode_record,
            "model": decode_model,
        }

    def decode(self, value: Any, place: str) -> Any:
        """The value; DefectError for what no Ceiba writes."""
        if isinstance(value, _PLAIN):
            return value
        self._depth += 1
        if self._depth > _DEEPEST_READ:
            raise DefectError(place, "it is nested too deeply")
        decoded = self._decode(value, place)
        self._depth -= 1
        return decoded

    def _decode(self, value: Any, place: str) -> Any:
        if isinstance(value, list):
            return [self.decode(item, f"{place}/{i}") for i, item in enumerate(value)]
        if len(value) != 1 or next(iter(value)) not in self._known:
            raise DefectError(place, "it is of a kind that this version of Ceiba does not know")
        ((kind, content),) = value.items()
        return self._known[kind](content, place)

    def _decode_tuple(self, content: Any, place: str) -> tuple[Any, ...]:
        return tuple(self.decode(_list(content, place), place))

    def _decode_dict(self, content: Any, place: str) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for i, pair in enumerate(_list(content, place)):
            key, item = _list(pair, place, 2)
            key = self.decode(key, f"{place}/{i}")
            if type(key) not in _PLAIN or key in result:
                raise DefectError(place, "a key is there twice or is not a plain value")
            result[key] = self.decode(item, f"{place}/{i}")
        return result

    def _decode_array(self, content: Any, place: str) -> Array:
        # An entry belongs to the place that names it, so no entry is used twice.
        if content != f"{place}.npy":
            raise DefectError(place, "it names the array of another place")
        return self._read_array(content)

    def _decode_objects(self, content: Any, place: str) -> Array:
        if not isinstance(content, dict) or set(content) != {"shape", "items"}:
            raise DefectError(place, "an array without shape and items")
        shape = [_count(size, place) for size in _list(content["shape"], place)]
        items = [self.decode(item, place) for item in _list(content["items"], place)]
        if len(shape) > DEEPEST or math.prod(shape) != len(items) or max(shape, default=0) > 2**31:
            raise DefectError(place, f"{len(items)} values for the shape {tuple(shape)}")
        if any(type(item) not in _PLAIN for item in items):
            raise DefectError(place, "an array of objects that are not plain values")
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)

    def _decode_record(self, content: Any, place: str) -> Any:
        name, record = _list(content, place, 2)
        cls = record_class(name)
        if cls is None:
            raise DefectError(
                place, f"the part {name!r} is not one that this version of Ceiba knows"
            )
        return _from_json(cls, self.decode(record, place), place)


def _from_json(cls: Any, record: Any, place: str) -> Any:
    try:
        return cls.from_json(record)
    except Exception as error:
        # It reads what a stranger may have written: any failure is the file's.
        reason = str(error).rstrip(".")
        raise DefectError(place, f"it is not a sound {cls.__name__}: {reason}") from error


def _encode_plain(value: Any, place: str) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise DefectError(place, f"a model file keeps whole numbers of up to {_MOST_BITS} bits")
    return value


def _encode_scalar(value: np.generic, place: str) -> Any:
    name = "<U1" if isinstance(value, np.str_) else type_name(value.dtype)
    if name is None:
        raise DefectError(place, f"a model file cannot keep a number of {value.dtype}")
    plain = value.view(np.int64) if value.dtype.kind in "mM" else value
    return {"scalar": [name, _encode_plain(plain.item(), place)]}


def _object_items(value: Array, place: str) -> list[Any]:
    items = value.reshape(-1).tolist()
    for item in items:
        if type(item) not in _PLAIN:
            kind = type(item).__name__
            raise DefectError(
                place, f"a model file cannot keep an object array that holds a {kind}"
            )
    return [_encode_plain(item, place) for item in items]


def _refusal(value: Any) -> str:
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return f"it is a {type(value).__name__}; set a whole number as the seed before saving"
    if callable(value):
        return "it is a function, which a model file cannot keep"
    if hasattr(value, "get_params"):
        return f"it is a {type(value).__name__}, which is not one of Ceiba's own models"
    kinds = "numbers, strings, arrays, lists, tuples and dictionaries"
    return f"it is a {type(value).__name__}; a model file keeps {kinds}"


def _decode_float(content: Any, place: str) -> float:
    if content not in ("inf", "-inf", "nan"):
        raise DefectError(place, "it is not a number")
    return float(content)


def _decode_scalar(content: Any, place: str) -> Any:
    name, value = _list(content, place, 2)
    if isinstance(value, dict) and set(value) == {"float"}:
        value = _decode_float(value["float"], place)
    try:
        dtype = type_named(name)
        if _SCALARS[dtype.kind] is not type(value):
            raise ValueError("the value is not of its type")
        if dtype.kind in "mM":
            return np.array(value, np.int64).view(dtype)[()]
        with np.errstate(over="ignore"):
            scalar = dtype.type(value)
    except (ValueError, OverflowError) as error:
        raise DefectError(place, str(error)) from error
    if scalar.item() != value and value == value:
        raise DefectError(place, f"{value} does not fit {dtype}")
    return scalar


def _count(value: Any, place: str) -> int:
    if type(value) is not int or value < 0:
        raise DefectError(place, "a size is not a count")
    return value


def _list(value: Any, place: str, length: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (length is not None and len(value) != length):
        raise DefectError(place, "it is not a list of the right length")
    return value
