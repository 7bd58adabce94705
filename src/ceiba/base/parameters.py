"""Hyper-parameters, declared once in the signature of ``__init__``.

    def __init__(
        self,
        n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = 8,
        *,
        tol: Annotated[float, AtLeast(0.0), "Largest movement that counts as none."] = 1e-4,
    ) -> None: ...

From this follow the validation, the *Parameters* section of the docstring and the list that
command lines and forms are made of.

An annotation is made of ``bool``, ``int``, ``float``, ``str``, ``None``, ``Literal[...]``,
``ArrayLike`` (or ``np.ndarray``), ``Callable``, ``RandomState`` and other classes, joined by
``|``. A range counts for every number of the union; for one member alone it is written as
``Annotated[int, AtLeast(2)] | Annotated[float, Between(0, 1)]`` inside. A number is an ``int`` or a
``float`` of Python or NumPy, never a bool and never NaN; a ``float`` takes integers too unless
``int`` stands beside it. ``ArrayLike`` contains ``str``: where a union needs both, write
``np.ndarray``, which takes lists and frames as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from reprlib import Repr
from textwrap import wrap
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from ceiba.base.alternatives import Alternative, checker, parse, sentence
from ceiba.base.ranges import Above, AtLeast, Between, Range

__all__ = [
    "Above",
    "AtLeast",
    "Between",
    "Parameter",
    "ParameterError",
    "Range",
    "declare",
    "declared",
    "validate",
]

MARKER = "{parameters}"
_short = Repr()
_short.maxstring = _short.maxother = 80


class ParameterError(ValueError, TypeError):
    """A hyper-parameter has a value that it cannot have."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared hyper-parameter.

    Parameters
    ----------
    name : str
    alternatives : tuple of Alternative
        What its value may be, each with its kind and, where it has them, choices and range.
    default : object
        ``Parameter.REQUIRED`` where there is none.
    meaning : str
        One or more sentences.

    Examples
    --------
    >>> from ceiba import KMeans
    >>> from ceiba.base import declared
    >>> first = declared(KMeans)[0]
    >>> first.name, first.type, first.range.low
    ('n_clusters', 'int', 1)
    """

    REQUIRED = inspect.Parameter.empty

    name: str
    alternatives: tuple[Alternative, ...]
    default: Any
    meaning: str

    @property
    def type(self) -> str:
        """The type in words, as the documentation has it: ``{'auto', 'all'}, int or None``."""
        words = [alternative.doc() for alternative in self.alternatives]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    @property
    def choices(self) -> tuple[Any, ...]:
        """The named values that it may take; empty where there are none."""
        return tuple(choice for a in self.alternatives for choice in a.choices)

    @property
    def range(self) -> Range | None:
        """The range of its numbers: of the first member that has one."""
        return next((a.range for a in self.alternatives if a.range is not None), None)

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is Parameter.REQUIRED

    def doc(self) -> str:
        """Its entry in a numpydoc *Parameters* section."""
        head = f"{self.name} : {self.type}"
        if not self.required:
            head += f", default={self.default!r}"
        text = f"{self.meaning} {self._limits()}".rstrip()
        return "\n    ".join([head, *wrap(text, 88, break_long_words=False)])

    def _limits(self) -> str:
        limited = [a for a in self.alternatives if a.range is not None]
        words = {a.range.words() for a in limited if a.range is not None}
        if len(words) > 1:
            return f"{'; '.join(a.sentence() for a in limited).capitalize()}."
        return "".join(f"{word.capitalize()}." for word in words)


def declared(cls: type) -> list[Parameter]:
    """The hyper-parameters of an estimator class, in the order of its signature.

    Examples
    --------
    >>> from ceiba import KMeans
    >>> [parameter.name for parameter in declared(KMeans)][:2]
    ['n_clusters', 'init']
    """
    return list(_declared(cls))


def validate(estimator: Any) -> None:
    """Raise `ParameterError` for the first hyper-parameter whose value is not allowed.

    Examples
    --------
    >>> from ceiba import KMeans
    >>> try:
    ...     validate(KMeans(n_clusters=0))
    ... except ParameterError as error:
    ...     print(error)
    KMeans: n_clusters must be an integer of at least 1, not 0.
    """
    cls: Any = type(estimator)
    for name, default, check in _checks(cls):
        value = getattr(estimator, name)
        # A default was checked when the class was defined.
        if value is not default and not check(value):
            raise _refusal(cls, name, value)


def declare(cls: type) -> None:
    """Read a new class's declarations, check its defaults and complete its docstring.

    Called by the base class for every subclass, so that a mistake shows at the definition. The
    line ``{parameters}`` of the docstring becomes the numpydoc *Parameters* section.
    """
    for name, default, check in _checks(cls):
        if default is not Parameter.REQUIRED and not check(default):
            raise TypeError(f"The default is not allowed: {_refusal(cls, name, default)}")
    document = cls.__dict__.get("__doc__")
    if document and MARKER in document:
        cls.__doc__ = _with_section(document, _declared(cls))


@cache
def _declared(cls: type) -> tuple[Parameter, ...]:
    if cls.__init__ is object.__init__:  # type: ignore[misc]
        return ()
    signature = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    hints = _hints(cls)
    return tuple(
        _parameter(cls, parameter, hints)
        for parameter in signature
        if parameter.kind is not parameter.VAR_KEYWORD
    )


@cache
def _checks(cls: type) -> tuple[tuple[str, Any, Callable[[Any], bool]], ...]:
    return tuple((p.name, p.default, checker(p.alternatives)) for p in _declared(cls))


def _hints(cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(cls.__init__, include_extras=True)  # type: ignore[misc]
    except NameError as error:
        raise TypeError(
            f"{cls.__name__}.__init__: {error}; the names of its annotations must be imported "
            "at run time, not only for the type checker."
        ) from error


def _parameter(cls: type, entry: inspect.Parameter, hints: dict[str, Any]) -> Parameter:
    where = f"{cls.__name__}.__init__: {entry.name}"
    if entry.kind is entry.VAR_POSITIONAL:
        raise TypeError(f"{where}: parameters must be named, *args is not allowed.")
    if entry.name not in hints:
        return _inherited(cls, entry, where)
    annotation = hints[entry.name]
    meanings = [m for m in _marks(annotation) if isinstance(m, str)]
    strange = [m for m in _marks(annotation) if not isinstance(m, str | Range)]
    if strange:
        raise TypeError(f"{where}: the mark {strange[0]!r} is neither a range nor a meaning.")
    if len(meanings) != 1:
        raise TypeError(f'{where} needs one meaning: Annotated[type, range, "What it is."].')
    try:
        alternatives = parse(annotation)
    except TypeError as error:
        raise TypeError(f"{where}: {error}.") from error
    return Parameter(entry.name, alternatives, entry.default, " ".join(meanings[0].split()))


def _marks(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _inherited(cls: type, entry: inspect.Parameter, where: str) -> Parameter:
    # A user's subclass may repeat a parameter without repeating its declaration.
    for base in cls.__mro__[1:-1]:
        for parameter in _declared(base):
            if parameter.name == entry.name:
                return Parameter(
                    entry.name, parameter.alternatives, entry.default, parameter.meaning
                )
    raise TypeError(f'{where} is not declared: Annotated[type, range, "What it is."].')


def _with_section(document: str, parameters: tuple[Parameter, ...]) -> str:
    lines = []
    for line in document.splitlines():
        if line.strip() != MARKER:
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        section = "\n".join(["Parameters", "----------", *(p.doc() for p in parameters)])
        lines += [indent + entry for entry in section.splitlines()]
    return "\n".join(lines)


def _refusal(cls: type, name: str, value: Any) -> ParameterError:
    parameter = next(p for p in _declared(cls) if p.name == name)
    wanted = sentence(parameter.alternatives)
    return ParameterError(f"{cls.__name__}: {name} must be {wanted}, not {_shown(value)}.")


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return _short.repr(value.item() if isinstance(value, np.generic) else value)
