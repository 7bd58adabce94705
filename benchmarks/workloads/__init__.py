"""The workloads: every module of this folder lists its own in ``WORKLOADS``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from benchmarks.workload import Workload


def every() -> dict[str, Workload]:
    """All workloads by name."""
    names = sorted(module.name for module in iter_modules(__path__))
    modules = (import_module(f"{__name__}.{name}") for name in names)
    return {workload.name: workload for module in modules for workload in module.WORKLOADS}


def found(name: str) -> Workload:
    """The workload of exactly that name."""
    return every()[name]


def chosen(names: list[str]) -> list[Workload]:
    """Workloads whose name is, or begins with, one of ``names``; all of them for no name."""
    known = every()
    unknown = [n for n in names if not any(matches(k, n) for k in known)]
    if unknown:
        raise LookupError(
            f"no workload {', '.join(unknown)}; there are: {', '.join(known)}, and their families"
        )
    return [w for k, w in known.items() if not names or any(matches(k, n) for n in names)]


def matches(known: str, name: str) -> bool:
    """Whether ``name`` is this workload or its family: whole words between dashes."""
    return known == name or known.startswith(f"{name}-")
