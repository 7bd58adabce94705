"""The machine: the same number of threads for everyone, and the facts a result is told with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# OpenBLAS and MKL have variables of their own that would overrule OpenMP's.
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PACKAGES = (
    "ceiba",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "faiss-cpu",
    "lightgbm",
    "xgboost",
    "ydf",
)


def cores() -> int:
    """CPUs this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Threads of every contestant: ``OMP_NUM_THREADS`` as found, else every core."""
    found = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(found) if found.isdigit() and int(found) > 0 else cores()


def fix_threads(count: int | None = None) -> int:
    """Give every library the same number of threads.

    It has to be called before NumPy and the peers are imported: they read the environment
    once, when they are loaded. scikit-learn, left alone, counts physical cores only.
    """
    count = threads() if count is None else count
    for name in THREAD_VARIABLES:
        os.environ[name] = str(count)
    return count


def facts() -> dict[str, Any]:
    """CPU, cores, threads and versions; nothing that names the machine or its folders."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "threads": threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions(),
    }


def cpu_model() -> str:
    """The CPU's own name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Versions of the packages that are there."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
