"""The workloads: every module below this folder lists its own in ``WORKLOADS``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages

from benchmarks.workload import Workload


def load_all() -> dict[str, Workload]:
    """Return all workloads by name."""
    found = walk_packages(__path__, prefix=f"{__name__}.")
    modules = (import_module(info.name) for info in found if not info.ispkg)
    return {workload.name: workload for module in modules for workload in module.WORKLOADS}


def get(name: str) -> Workload:
    """Return the workload with exactly this name."""
    return load_all()[name]


def select(names: list[str]) -> list[Workload]:
    """Return the workloads that match one of ``names``; all of them if there is no name."""
    available = load_all()
    unknown = [name for name in names if not any(matches(key, name) for key in available)]
    if unknown:
        raise LookupError(
            f"No workload is named {', '.join(unknown)}; "
            f"there are {', '.join(available)}, and their families."
        )
    return [
        workload
        for key, workload in available.items()
        if not names or any(matches(key, name) for name in names)
    ]


def matches(workload: str, name: str) -> bool:
    """Return whether ``name`` is this workload or its family: whole words between dashes."""
    return workload == name or workload.startswith(f"{name}-")
