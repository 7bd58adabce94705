"""NumPy's default floating-point error state inside the methods of learners."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import isfunction, isgeneratorfunction, signature
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def with_default_errstate(function: F) -> F:
    """Decorate a function to compute under NumPy's default error state.

    Underflow to zero is part of many computations, such as the density of a distant row. A program
    that calls ``np.seterr(all="raise")`` would otherwise get a FloatingPointError from them.
    """

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(divide="warn", over="warn", invalid="warn", under="ignore"):
            return function(*args, **kwargs)

    run._default_errstate = True  # type: ignore[attr-defined]
    return cast(F, run)


def guard_methods(cls: type) -> None:
    """Decorate the public methods of rows ``X`` that a class of learners defines itself."""
    for name, method in list(vars(cls).items()):
        is_public = isfunction(method) and not name.startswith("_")
        if not is_public or isgeneratorfunction(method) or hasattr(method, "_default_errstate"):
            continue
        if "X" in signature(method).parameters:
            setattr(cls, name, with_default_errstate(method))
