"""Hyper-parameters, declared once in the class body and inherited.

    class KMeansParameters(Parameters):
        n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = parameter(8, kw_only=False)
        tol: Annotated[float, AtLeast(0.0), "Tolerance of the convergence test."] = 1e-4

``__init__`` with its signature, the validation and the *Parameters* section of the docstring are
generated from the declarations, and `declared` lists them for command lines and forms. The types
that an annotation may have are described in `ceiba.base.value_types`, other spellings of literals
in `ceiba.base.spelling`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from textwrap import indent, wrap
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    dataclass_transform,
    get_args,
    get_origin,
)

import numpy as np

from ceiba.base.spelling import ChoiceAttribute
from ceiba.base.value_types import (
    MAX_INT,
    Check,
    Range,
    TypeOption,
    checker,
    describe,
    format_mismatch,
    format_value,
    join_words,
    parse,
)

_PLACEHOLDER = "{parameters}"

# Type of the parameter of learners whose iterations `Iterations` prints.
Verbose = Annotated[
    bool | Annotated[int, Range(0)],
    "Whether to print a line of progress for each iteration. With 0, a fit that takes long shows a "
    "line that is removed when it ends, in terminals only.",
]


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
        return join_words([option.doc() for option in self.options])

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
        limited = [option for option in self.options if option.range is not None]
        text = self.meaning
        if len({option.range for option in limited}) > 1:
            text += f" Must be {describe(limited)}."
        elif self.range is not None:
            text += f" Must be {self.range.describe()}."
        return "\n    ".join([head, *wrap(text, 88, break_long_words=False)])


class _Positional(NamedTuple):
    """In place of a default: the parameter may also be passed by position."""

    default: Any


class _Fitted:
    """In place of a default: the attribute is set by ``fit``."""


def parameter(default: Any = Parameter.REQUIRED, *, kw_only: bool = True) -> Any:
    """Declare the default of a hyper-parameter, and whether it is keyword-only."""
    return default if kw_only else _Positional(default)


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
        new: Any = cls
        new._own_parameters = _take_declarations(cls)
        for entry in new._own_parameters.values():
            words = tuple(choice for choice in entry.choices if isinstance(choice, str))
            if words:
                setattr(new, entry.name, ChoiceAttribute(entry.name, words))
        # A hand-written ``__init__`` is kept, also by subclasses that declare no parameters.
        custom = new.__init__ is not object.__init__ and not hasattr(new.__init__, "_generated")
        if "__init__" not in cls.__dict__ and (cls._own_parameters or not custom):
            new.__init__ = _make_init(cls)
        for entry, check in _checks(new):
            if not entry.required and not check(entry.default):
                error = _value_error(cls, entry, entry.default)
                raise TypeError(f"The default is not allowed: {error}")
        document = cls.__dict__.get("__doc__")
        if document and _PLACEHOLDER in document:
            new.__doc__ = _insert_section(document, declared(cls))


def declared(cls: type) -> list[Parameter]:
    """Return the hyper-parameters of an estimator class, in signature order.

    Examples
    --------
    >>> from ceiba import KMeans
    >>> [parameter.name for parameter in declared(KMeans)][:2]
    ['n_clusters', 'init']
    """
    init: Any = cls.__init__  # type: ignore[misc]
    if hasattr(init, "_generated"):
        return list(init._generated)
    if init is object.__init__:
        return []
    entries = list(inspect.signature(init).parameters.values())[1:]
    return [_parameter_from_argument(cls, e) for e in entries if e.kind is not e.VAR_KEYWORD]


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
    for entry, check in _checks(cls):
        value = getattr(estimator, entry.name)
        # A default was checked when the class was defined.
        if value is not entry.default and not check(value):
            raise _value_error(cls, entry, value)


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
    for name in names:
        value, default = getattr(estimator, name), _defaults(cls)[name]
        comparable = type(value) is type(default) and not isinstance(value, np.ndarray)
        if value is not default and not (comparable and value == default):
            raise unused_error(name, when, value, default)


@cache
def _defaults(cls: type) -> dict[str, Any]:
    return {entry.name: entry.default for entry in declared(cls)}


def unused_error(name: str, when: str, value: Any, default: Any = None) -> ParameterError:
    """Return the error for a parameter that has no effect with another setting."""
    return ParameterError(
        f"{name!r} has no effect with {when}: leave it at its default {default!r}, "
        f"got {format_value(value)}."
    )


def _take_declarations(cls: type) -> dict[str, Parameter]:
    """Parse the declarations of a class body and delete them from the class."""
    own: dict[str, Parameter] = {}
    for name, annotation in inspect.get_annotations(cls).items():
        default = cls.__dict__.get(name, Parameter.REQUIRED)
        if not isinstance(default, _Fitted):
            if name.startswith("_") or name.endswith("_") or "ClassVar" in str(annotation):
                continue
            own[name] = _parse_declaration(cls, name, annotation, default)
        if name in cls.__dict__:
            delattr(cls, name)
    return own


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
    meaning = " ".join(meanings[0].split())
    if isinstance(default, _Positional):
        return Parameter(name, options, default.default, meaning, kw_only=False)
    return Parameter(name, options, default, meaning)


def _make_init(cls: type) -> Callable[..., None]:
    """Generate and compile ``__init__``, as dataclasses do.

    It then has a real signature, without ``**kwargs``; positional parameters come first.
    """
    merged: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        merged |= base.__dict__.get("_own_parameters", {})
    parameters = sorted(merged.values(), key=lambda entry: entry.kw_only)
    arguments, body = ["self"], ["    pass"]
    for entry in parameters:
        if entry.kw_only and "*" not in arguments:
            arguments.append("*")
        arguments.append(entry.name if entry.required else f"{entry.name}=_default_{entry.name}")
        body.append(f"    self.{entry.name} = {entry.name}")
    namespace: dict[str, Any] = {f"_default_{p.name}": p.default for p in parameters}
    source = f"def __init__({', '.join(arguments)}):\n" + "\n".join(body)
    exec(compile(source, f"<generated {cls.__qualname__}.__init__>", "exec"), namespace)
    init: Any = namespace["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    init._generated = tuple(parameters)
    return init  # type: ignore[no-any-return]


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
def _checks(cls: type) -> list[tuple[Parameter, Check]]:
    return [(entry, checker(entry.options)) for entry in declared(cls)]


def _insert_section(document: str, parameters: list[Parameter]) -> str:
    section = "\n".join(["Parameters", "----------", *(entry.doc() for entry in parameters)])
    line = re.compile(rf"^( *){re.escape(_PLACEHOLDER)} *$", re.MULTILINE)
    return line.sub(lambda match: indent(section, match[1]), document)


def _value_error(cls: type, entry: Parameter, value: Any) -> ParameterError:
    limit = ""
    if isinstance(value, Integral) and abs(int(value)) > MAX_INT:
        limit = " that fits into 64 bits"
    return ParameterError(
        f"The {entry.name!r} parameter of {cls.__name__} must be {describe(entry.options)}{limit}, "
        f"got {format_mismatch(value, entry.options)}."
    )
