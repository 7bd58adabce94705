"""What a hyper-parameter's value may be: the members of its annotation, one by one."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from ceiba.base.ranges import Range

Check = Callable[[Any], bool]

_KINDS: dict[Any, str] = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    type(None): "none",
    np.ndarray: "array",
    Callable: "callable",
    np.random.RandomState: "random_state",
}
_SENTENCE = {
    "bool": "True or False",
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "none": "None",
    "array": "an array",
    "callable": "a function",
    "random_state": "a RandomState",
}
_DOC = {
    "array": "array-like",
    "none": "None",
    "random_state": "RandomState instance",
}


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the things that a value may be.

    Parameters
    ----------
    kind : str
        ``"bool"``, ``"int"``, ``"float"``, ``"str"``, ``"choice"``, ``"array"``, ``"callable"``,
        ``"random_state"``, ``"none"`` or, for an object of another class, ``"object"``.
    choices : tuple
        The values of a ``"choice"``.
    range : Range or None
        The range of an ``"int"`` or ``"float"``.
    cls : type or None
        The class of an ``"object"``.
    """

    kind: str
    choices: tuple[Any, ...] = ()
    range: Range | None = None
    cls: type | None = None

    def sentence(self) -> str:
        """How an error message says it: ``an integer of at least 1``."""
        if self.kind == "choice":
            return _either([repr(choice) for choice in self.choices])
        if self.kind == "object":
            return f"a {self.cls.__name__}" if self.cls else "an object"
        words = _SENTENCE[self.kind]
        if self.range is None:
            return words
        limits = self.range.words()
        return f"{words} of {limits}" if limits.startswith("at least") else f"{words} {limits}"

    def doc(self) -> str:
        """How the documentation's type line says it: ``int``, ``array-like``."""
        if self.kind == "choice":
            return "{" + ", ".join(repr(choice) for choice in self.choices) + "}"
        if self.kind == "object":
            return self.cls.__name__ if self.cls else "object"
        return _DOC.get(self.kind, self.kind)


def sentence(alternatives: Iterable[Alternative]) -> str:
    """All of them, as ``'auto', an integer of at least 1 or None``."""
    return _either([alternative.sentence() for alternative in alternatives])


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def parse(annotation: Any) -> tuple[Alternative, ...]:
    """The alternatives of an annotation; TypeError where it says nothing Ceiba can check."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return restrict(parse(inner), [mark for mark in marks if isinstance(mark, Range)])
    if get_origin(annotation) in (Union, types.UnionType):
        return _parse_union(get_args(annotation))
    if get_origin(annotation) is Literal:
        return (Alternative("choice", choices=get_args(annotation)),)
    cls = get_origin(annotation) or annotation
    if cls in _KINDS:
        return (Alternative(_KINDS[cls]),)
    if isinstance(cls, type) and cls not in (object, Any):
        return (Alternative("object", cls=cls),)
    raise TypeError(f"{annotation!r} is not a type that a parameter can be checked against")


def _parse_union(members: tuple[Any, ...]) -> tuple[Alternative, ...]:
    # A union swallows ArrayLike and leaves its parts, which are put together again here.
    parts = set(get_args(ArrayLike))
    if parts <= set(members):
        members = tuple(m for m in members if m not in parts or m is get_args(ArrayLike)[0])
        members = tuple(np.ndarray if m in parts else m for m in members)
    return tuple(alternative for member in members for alternative in parse(member))


def restrict(alternatives: tuple[Alternative, ...], ranges: list[Range]) -> tuple[Alternative, ...]:
    """The same alternatives with the range put on their numbers."""
    if not ranges:
        return alternatives
    if len(ranges) > 1:
        raise TypeError("it has two ranges; Between(low, high) says both ends at once")
    if not any(a.kind in ("int", "float") for a in alternatives):
        raise TypeError("it has a range but takes no number")
    return tuple(
        Alternative(a.kind, range=ranges[0]) if a.kind in ("int", "float") else a
        for a in alternatives
    )


def checker(alternatives: tuple[Alternative, ...]) -> Check:
    """A quick function that says whether a value is one of the alternatives."""
    kinds = {alternative.kind for alternative in alternatives}
    checks = [_check(alternative, kinds) for alternative in alternatives]
    if len(checks) == 1:
        return checks[0]

    def any_of(value: Any) -> bool:
        for check in checks:  # noqa: SIM110 - any() with a generator costs three times as much
            if check(value):
                return True
        return False

    return any_of


def _check(alternative: Alternative, kinds: set[str]) -> Check:
    if alternative.kind == "choice":
        return _choice(alternative.choices)
    if alternative.kind in ("int", "float"):
        # Beside an int, a float is a fraction: max_features=1 and max_features=1.0 differ.
        return _number(_NUMBERS[alternative.kind, "int" in kinds], alternative.range or Range())
    if alternative.kind == "object":
        cls = alternative.cls
        return lambda value: isinstance(value, cls or object)
    return _CHECKS[alternative.kind]


def _choice(choices: tuple[Any, ...]) -> Check:
    strings = frozenset(choice for choice in choices if isinstance(choice, str))
    others = [choice for choice in choices if not isinstance(choice, str)]

    def check(value: Any) -> bool:
        if isinstance(value, str):
            return value in strings
        # The types must agree too, for True == 1.
        return any(type(value) is type(choice) and bool(value == choice) for choice in others)

    return check


def _number(classes: tuple[type, ...], limits: Range) -> Check:
    inside = limits.tester()

    def check(value: Any) -> bool:
        return isinstance(value, classes) and not isinstance(value, bool) and inside(value)

    return check


def _is_array(value: Any) -> bool:
    if isinstance(value, np.ndarray | list | tuple):
        return True
    return hasattr(value, "__array__") and not isinstance(value, np.generic | type)


_INTEGERS: tuple[type, ...] = (int, np.integer)
_FRACTIONS: tuple[type, ...] = (float, np.floating)
_NUMBERS: dict[tuple[str, bool], tuple[type, ...]] = {
    ("int", True): _INTEGERS,
    ("float", True): _FRACTIONS,
    ("float", False): _FRACTIONS + _INTEGERS,
}
_CHECKS: dict[str, Check] = {
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "str": lambda value: isinstance(value, str),
    "none": lambda value: value is None,
    "array": _is_array,
    "callable": callable,
    "random_state": lambda value: isinstance(value, np.random.RandomState),
}
