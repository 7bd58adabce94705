"""Hyper-parameters, declared once in the class body and inherited.

    class KMeansParameters(Parameters):
        n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = parameter(8, kw_only=False)
        tol: Annotated[float, AtLeast(0.0), "Tolerance of the convergence test."] = 1e-4

``__init__`` with its signature, the validation and the *Parameters* section of the docstring are
generated from the declarations, and `declared` lists them for command lines and forms. The types
that an annotation may have are described in `ceiba.base.value_types`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from reprlib import Repr
from textwrap import wrap
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    dataclass_transform,
    get_args,
    get_origin,
)

import numpy as np

from ceiba.base.value_types import Range, TypeOption, checker, describe, parse

_PLACEHOLDER = "{parameters}"
_short_repr = Repr()
_short_repr.maxstring = _short_repr.maxother = 80


class ParameterError(ValueError, TypeError):
    """The value of a hyper-parameter is not allowed."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared hyper-parameter.

    Parameters
    ----------
    name : str
    options : tuple of TypeOption
        Types that the value may have, each with its choices or range.
    default : object
        ``Parameter.REQUIRED`` if there is none.
    meaning : str
        Description, in one or more sentences.
    kw_only : bool
        Whether the parameter must be passed by name.

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
    options: tuple[TypeOption, ...]
    default: Any
    meaning: str
    kw_only: bool = True

    @property
    def type(self) -> str:
        """The type in numpydoc notation, such as ``{'auto', 'all'}, int or None``."""
        words = [option.doc() for option in self.options]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"

    @property
    def choices(self) -> tuple[Any, ...]:
        """The literal values that are allowed, such as ``'auto'``."""
        return tuple(choice for option in self.options for choice in option.choices)

    @property
    def range(self) -> Range | None:
        """The range of the first numeric type that has one."""
        return next((option.range for option in self.options if option.range is not None), None)

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is Parameter.REQUIRED

    def doc(self) -> str:
        """Return the entry of a numpydoc *Parameters* section."""
        head = f"{self.name} : {self.type}"
        if not self.required:
            head += f", default={self.default!r}"
        text = f"{self.meaning} {self._range_text()}".rstrip()
        return "\n    ".join([head, *wrap(text, 88, break_long_words=False)])

    def _range_text(self) -> str:
        limited = [option for option in self.options if option.range is not None]
        ranges = {option.range.describe() for option in limited if option.range is not None}
        if len(ranges) > 1:
            return f"Must be {describe(limited)}."
        return "".join(f"Must be {words}." for words in ranges)


@dataclass(frozen=True, slots=True)
class _Default:
    """Default of a parameter that may also be passed by position."""

    value: Any


class _Fitted:
    """Sentinel in place of a default: the attribute is set by ``fit``."""


def parameter(default: Any = Parameter.REQUIRED, *, kw_only: bool = True) -> Any:
    """Declare the default of a hyper-parameter, and whether it is keyword-only."""
    return default if kw_only else _Default(default)


def fitted(*, init: Literal[False] = False) -> Any:
    """Declare an attribute that ``fit`` sets, as opposed to a hyper-parameter.

    Type checkers read ``init``: the attribute is not an argument of ``__init__``.
    """
    return _Fitted()


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter, fitted))
class Parameters:
    """Base of classes that declare hyper-parameters in their body."""

    _own_parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _declare(cls)


def _declare(cls: Any) -> None:
    """Read the declarations of a new class; generate its ``__init__`` and docstring section."""
    own = _take_declarations(cls)
    cls._own_parameters = own
    # A hand-written ``__init__`` is kept, also by subclasses that declare no parameters.
    if "__init__" not in cls.__dict__ and (own or not _has_custom_init(cls)):
        cls.__init__ = _make_init(cls, _merge_declarations(cls))
    for name, default, check in _checks(cls):
        if default is not Parameter.REQUIRED and not check(default):
            raise TypeError(f"The default is not allowed: {_value_error(cls, name, default)}")
    document = cls.__dict__.get("__doc__")
    if document and _PLACEHOLDER in document:
        cls.__doc__ = _insert_section(document, _declared(cls))


def declared(cls: type) -> list[Parameter]:
    """Return the hyper-parameters of an estimator class, in signature order.

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
    The 'n_clusters' parameter of KMeans must be an int >= 1, got 0.
    """
    cls: Any = type(estimator)
    for name, default, check in _checks(cls):
        value = getattr(estimator, name)
        # A default was checked when the class was defined.
        if value is not default and not check(value):
            raise _value_error(cls, name, value)


def check_unused(estimator: Any, names: Iterable[str], when: str) -> None:
    """Raise `ParameterError` if a parameter without effect is not at its default.

    Parameters
    ----------
    estimator : estimator
    names : iterable of str
        Parameters that have no effect.
    when : str
        The setting under which they have no effect, such as ``"pruning='none'"``.

    Examples
    --------
    >>> from ceiba import KMeans
    >>> try:
    ...     check_unused(KMeans(n_init=3), ["n_init"], "an array as init")
    ... except ParameterError as error:
    ...     print(error)
    'n_init' has no effect with an array as init: leave it at its default 'auto', got 3.
    """
    cls: Any = type(estimator)
    defaults = {entry.name: entry.default for entry in _declared(cls)}
    for name in names:
        value = getattr(estimator, name)
        if not _is_default(value, defaults[name]):
            raise unused_error(name, when, value, defaults[name])


def unused_error(name: str, when: str, value: Any, default: Any = None) -> ParameterError:
    """Return the error for a parameter that has no effect with another setting."""
    return ParameterError(
        f"{name!r} has no effect with {when}: leave it at its default {default!r}, "
        f"got {_format_value(value)}."
    )


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and not isinstance(value, np.ndarray) and value == default


def _take_declarations(cls: type) -> dict[str, Parameter]:
    """Parse the declarations of a class body and delete them from the class."""
    own: dict[str, Parameter] = {}
    for name, annotation in inspect.get_annotations(cls).items():
        default = cls.__dict__.get(name, Parameter.REQUIRED)
        if isinstance(default, _Fitted):
            delattr(cls, name)
        elif not (name.startswith("_") or name.endswith("_") or _is_class_variable(annotation)):
            own[name] = _parse_declaration(cls, name, annotation, default)
            if name in cls.__dict__:
                delattr(cls, name)
    return own


def _is_class_variable(annotation: Any) -> bool:
    return "ClassVar" in (annotation if isinstance(annotation, str) else repr(annotation))


def _parse_declaration(cls: type, name: str, annotation: Any, default: Any) -> Parameter:
    where = f"{cls.__name__}.{name}"
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, vars(sys.modules[cls.__module__]), dict(vars(cls)))
        except NameError as error:
            raise TypeError(
                f"{where}: {error}. Import the names in its annotation at run time, not only under "
                "TYPE_CHECKING."
            ) from error
    kw_only = not isinstance(default, _Default)
    value = default.value if isinstance(default, _Default) else default
    return _make_parameter(where, name, annotation, value, kw_only)


def _make_parameter(
    where: str, name: str, annotation: Any, default: Any, kw_only: bool
) -> Parameter:
    metadata = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    meanings = [entry for entry in metadata if isinstance(entry, str)]
    unknown = [entry for entry in metadata if not isinstance(entry, str | Range)]
    if unknown:
        raise TypeError(f"{where}: {unknown[0]!r} is neither a range nor a description.")
    if len(meanings) != 1:
        raise TypeError(f'{where} needs one description: Annotated[type, range, "What it is."].')
    try:
        options = parse(annotation)
    except TypeError as error:
        raise TypeError(f"{where}: {error}.") from error
    return Parameter(name, options, default, " ".join(meanings[0].split()), kw_only)


def _has_custom_init(cls: type) -> bool:
    """Return whether the inherited ``__init__`` was written by hand."""
    init = cls.__init__  # type: ignore[misc]
    return init is not object.__init__ and not hasattr(init, "_generated")


def _merge_declarations(cls: type) -> list[Parameter]:
    """Merge the declarations of all bases; positional parameters come first."""
    merged: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        merged |= base.__dict__.get("_own_parameters", {})
    return sorted(merged.values(), key=lambda entry: entry.kw_only)


def _make_init(cls: type, parameters: list[Parameter]) -> Callable[..., None]:
    """Generate and compile ``__init__``, as dataclasses do.

    It then has a real signature, without ``**kwargs``.
    """
    positional = [_argument_text(entry) for entry in parameters if not entry.kw_only]
    named = [_argument_text(entry) for entry in parameters if entry.kw_only]
    arguments = ["self", *positional, *(["*", *named] if named else [])]
    body = [f"    self.{entry.name} = {entry.name}" for entry in parameters] or ["    pass"]
    namespace: dict[str, Any] = {f"_default_{p.name}": p.default for p in parameters}
    source = f"def __init__({', '.join(arguments)}):\n" + "\n".join(body)
    exec(compile(source, f"<generated {cls.__qualname__}.__init__>", "exec"), namespace)
    init: Any = namespace["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    init._generated = tuple(parameters)
    return init  # type: ignore[no-any-return]


def _argument_text(entry: Parameter) -> str:
    return entry.name if entry.required else f"{entry.name}=_default_{entry.name}"


@cache
def _declared(cls: type) -> tuple[Parameter, ...]:
    init: Any = cls.__init__  # type: ignore[misc]
    generated: tuple[Parameter, ...] | None = getattr(init, "_generated", None)
    if generated is not None:
        return generated
    if init is object.__init__:
        return ()
    entries = list(inspect.signature(init).parameters.values())[1:]
    return tuple(_parameter_from_argument(cls, e) for e in entries if e.kind is not e.VAR_KEYWORD)


def _parameter_from_argument(cls: type, entry: inspect.Parameter) -> Parameter:
    """Return the parameter for an argument of a hand-written ``__init__``.

    It must be declared in the class body or in a base class.
    """
    where = f"{cls.__name__}.__init__: {entry.name}"
    if entry.kind is entry.VAR_POSITIONAL:
        raise TypeError(f"{where}: parameters must be named, *args is not allowed.")
    kw_only = entry.kind is entry.KEYWORD_ONLY
    for base in cls.__mro__:
        found = base.__dict__.get("_own_parameters", {}).get(entry.name)
        if found is not None:
            return Parameter(entry.name, found.options, entry.default, found.meaning, kw_only)
    raise TypeError(
        f'{where} is not declared: add {entry.name}: Annotated[type, range, "What it is."] '
        "to the class body."
    )


@cache
def _checks(cls: type) -> tuple[tuple[str, Any, Callable[[Any], bool]], ...]:
    return tuple((entry.name, entry.default, checker(entry.options)) for entry in _declared(cls))


def _insert_section(document: str, parameters: tuple[Parameter, ...]) -> str:
    lines = []
    for line in document.splitlines():
        if line.strip() != _PLACEHOLDER:
            lines.append(line)
            continue
        indent = line[: len(line) - len(line.lstrip())]
        section = "\n".join(["Parameters", "----------", *(entry.doc() for entry in parameters)])
        lines += [indent + text for text in section.splitlines()]
    return "\n".join(lines)


def _value_error(cls: type, name: str, value: Any) -> ParameterError:
    entry = next(entry for entry in _declared(cls) if entry.name == name)
    return ParameterError(
        f"The {name!r} parameter of {cls.__name__} must be {describe(entry.options)}, "
        f"got {_format_value(value)}."
    )


def _format_value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return _short_repr.repr(value.item() if isinstance(value, np.generic) else value)
