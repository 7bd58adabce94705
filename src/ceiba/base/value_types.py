"""Types and ranges of declared values: parse annotations and check values.

An annotation is made of ``bool``, ``int``, ``float``, ``str``, ``None``, ``Literal[...]``,
``ArrayLike`` (or ``np.ndarray``), ``Callable``, ``RandomState`` and other classes, joined by ``|``.
A range restricts every number of the union; for one member alone it is written inside, as in
``Annotated[int, AtLeast(2)] | Annotated[float, Between(0, 1)]``. A number is an ``int`` or a
``float`` of Python or NumPy, never a bool and never NaN; a ``float`` accepts integers too unless
``int`` is a member of the same union. ``ArrayLike`` contains ``str``: in a union with ``str``
write ``np.ndarray``, which accepts lists and frames as well.
"""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from inspect import isfunction, signature
from math import inf
from reprlib import Repr
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike

Check = Callable[[Any], bool]
#: The largest value of a parameter that is an int.
MAX_INT = 2**63 - 1
_MAX_FLOAT = sys.float_info.max
_short_repr = Repr()
_short_repr.maxstring = _short_repr.maxother = 80


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers between ``low`` and ``high``; made by `AtLeast`, `Above` and `Between`."""

    low: float = -inf
    high: float = inf
    low_open: bool = False
    high_open: bool = False

    def tester(self) -> Check:
        """Return a function that tests whether a number is in the range; NaN is not."""
        low, high = self.low, self.high
        after: Callable[..., bool] = operator.lt if self.low_open else operator.le
        before: Callable[..., bool] = operator.lt if self.high_open else operator.le
        return lambda value: bool(after(low, value) and before(value, high))

    def describe(self) -> str:
        """Return the range as text, such as ``>= 1`` or ``in [0, 1)``."""
        if self.high == inf:
            finite = " and finite" if self.high_open else ""
            return f"{'>' if self.low_open else '>='} {_number_text(self.low)}{finite}"
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"in {left}{_number_text(self.low)}, {_number_text(self.high)}{right}"


def AtLeast(low: float) -> Range:
    """Return the range of the numbers greater than or equal to ``low``."""
    return Range(low)


def Above(low: float) -> Range:
    """Return the range of the numbers greater than ``low``."""
    return Range(low, low_open=True)


def Between(
    low: float, high: float, *, closed: Literal["both", "left", "right", "neither"] = "both"
) -> Range:
    """Return the range from ``low`` to ``high``; ``closed`` lists the included ends."""
    if not low < high:
        raise ValueError(f"low must be smaller than high, got Between({low}, {high}).")
    return Range(low, high, closed not in ("both", "left"), closed not in ("both", "right"))


def _number_text(number: float) -> str:
    return repr(number).removesuffix(".0")


class _Kind(NamedTuple):
    name: str
    in_messages: str
    in_docs: str
    classes: tuple[Any, ...]


# Type in an annotation -> kind of value, with the classes of its values.
_KINDS = {
    bool: _Kind("bool", "a bool", "bool", (bool, np.bool_)),
    int: _Kind("int", "an int", "int", (int, np.integer)),
    float: _Kind("float", "a float", "float", (float, np.floating)),
    str: _Kind("str", "a str", "str", (str,)),
    type(None): _Kind("none", "None", "None", (type(None),)),
    np.ndarray: _Kind("array", "an array-like", "array-like", (np.ndarray, list, tuple)),
    Callable: _Kind("callable", "a callable", "callable", (Callable,)),
    RandomState: _Kind(
        "random_state", "a RandomState instance", "RandomState instance", (RandomState,)
    ),
}


@dataclass(frozen=True, slots=True)
class TypeOption:
    """One member of the union of types that a value may have: a kind, choices or a class."""

    kind: str
    choices: tuple[Any, ...] = ()
    range: Range | None = None
    cls: Any = None

    @property
    def is_protocol(self) -> bool:
        """Whether the value is an object with given methods."""
        return self.kind == "object" and getattr(self.cls, "_is_protocol", False)

    def describe(self) -> str:
        """Return the option in the form for error messages, such as ``an int >= 1``."""
        if self.kind == "choice":
            return join_words([repr(choice) for choice in self.choices])
        if self.is_protocol:
            return f"an object with {' and '.join(_methods(self.cls).values())}"
        if self.kind == "object":
            return f"a {self.cls.__name__} instance"
        words = _KINDS[self.cls].in_messages
        return words if self.range is None else f"{words} {self.range.describe()}"

    def doc(self) -> str:
        """Return the option as a numpydoc type, such as ``int`` or ``array-like``."""
        if self.kind == "choice":
            return "{" + ", ".join(repr(choice) for choice in self.choices) + "}"
        return self.cls.__name__ if self.kind == "object" else _KINDS[self.cls].in_docs


def _methods(protocol: type) -> dict[str, str]:
    """Return the methods of a protocol by name, with their arguments: ``gradient(y, raw)``."""
    return {
        name: f"{name}({', '.join(list(signature(method).parameters)[1:])})"
        for name, method in vars(protocol).items()
        if isfunction(method) and not name.startswith("_")
    }


def describe(options: Iterable[TypeOption]) -> str:
    """Return the options in the form for error messages: ``'auto' or an int >= 1``."""
    return join_words([option.describe() for option in options])


def format_value(value: Any) -> str:
    """Describe an invalid value in a message; arrays and long values are shortened."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    return _short_repr.repr(value.item() if isinstance(value, np.generic) else value)


def format_mismatch(value: Any, options: Iterable[TypeOption]) -> str:
    """Describe a value that matches no option; of an object, which required methods it lacks."""
    for option in options:
        methods = _methods(option.cls) if option.is_protocol else {}
        lacking = [text for name, text in methods.items() if not hasattr(value, name)]
        if lacking and len(lacking) < len(methods):
            return f"an object of class {type(value).__name__} without {' and '.join(lacking)}"
    return format_value(value)


def join_words(words: list[str]) -> str:
    """Join words by commas, the last one by ``or``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def parse(annotation: Any) -> tuple[TypeOption, ...]:
    """Return the options of an annotation; raise TypeError for unsupported types."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        return _restrict(parse(inner), [entry for entry in metadata if isinstance(entry, Range)])
    if get_origin(annotation) in (Union, types.UnionType):
        return _parse_union(get_args(annotation))
    if get_origin(annotation) is Literal:
        return (TypeOption("choice", choices=get_args(annotation)),)
    cls = get_origin(annotation) or annotation
    if cls in _KINDS:
        return (TypeOption(_KINDS[cls].name, cls=cls),)
    if isinstance(cls, type) and cls not in (object, Any):
        return (TypeOption("object", cls=cls),)
    raise TypeError(f"{annotation!r} is not a type that a value can be checked against")


def _parse_union(members: tuple[Any, ...]) -> tuple[TypeOption, ...]:
    # ArrayLike is itself a union, which Python flattens: its parts are replaced by one member.
    parts = set(get_args(ArrayLike))
    if parts <= set(members):
        members = tuple(m for m in members if m not in parts or m is get_args(ArrayLike)[0])
        members = tuple(np.ndarray if m in parts else m for m in members)
    return tuple(option for member in members for option in parse(member))


def _restrict(options: tuple[TypeOption, ...], ranges: list[Range]) -> tuple[TypeOption, ...]:
    """Add the range to the numeric options."""
    if not ranges:
        return options
    if len(ranges) > 1:
        raise TypeError("it has two ranges; Between(low, high) declares both ends at once")
    if not any(option.kind in ("int", "float") for option in options):
        raise TypeError("it has a range but accepts no number")
    return tuple(
        replace(option, range=ranges[0]) if option.kind in ("int", "float") else option
        for option in options
    )


def checker(options: tuple[TypeOption, ...]) -> Check:
    """Return a function that tests whether a value matches one of the options."""
    kinds = {option.kind for option in options}
    checks = [_option_check(option, kinds) for option in options]
    if len(checks) == 1:
        return checks[0]

    def any_of(value: Any) -> bool:
        for check in checks:  # noqa: SIM110 - any() with a generator costs three times as much
            if check(value):
                return True
        return False

    return any_of


def _option_check(option: TypeOption, kinds: set[str]) -> Check:
    if option.kind == "choice":
        return _choice_check(option.choices)
    classes = (option.cls,) if option.kind == "object" else _KINDS[option.cls].classes
    if option.kind in ("int", "float"):
        # In a union with int, a float does not accept ints: max_features=1 is a count and
        # max_features=1.0 a fraction.
        allowed = classes if "int" in kinds else (*classes, *_KINDS[int].classes)
        inside, ints = (option.range or Range()).tester(), _KINDS[int].classes
        # Seeds may be of any size; other ints are 64 bits wide in the native code.
        largest = (
            inf if "random_state" in kinds else MAX_INT if option.kind == "int" else _MAX_FLOAT
        )
        return lambda v: (
            isinstance(v, allowed)
            and not isinstance(v, bool)
            and inside(v)
            and (not isinstance(v, ints) or -largest <= v <= largest)
        )
    if option.kind == "array":
        return lambda v: (
            isinstance(v, classes)
            or (hasattr(v, "__array__") and not isinstance(v, np.generic | type))
        )
    return lambda v: isinstance(v, classes)


def _choice_check(choices: tuple[Any, ...]) -> Check:
    strings = frozenset(choice for choice in choices if isinstance(choice, str))
    others = [choice for choice in choices if not isinstance(choice, str)]

    def check(value: Any) -> bool:
        if isinstance(value, str):
            return value in strings
        # The types must agree too, because True == 1.
        return any(type(value) is type(choice) and bool(value == choice) for choice in others)

    return check
