"""The same number of threads for all libraries, and the description of the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

# OpenBLAS and MKL have variables of their own that take precedence over OpenMP's; polars has only
# its own.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
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
    "pandas",
    "polars",
    "pyarrow",
)


def n_cores() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_threads() -> int:
    """Return the threads of each implementation: ``OMP_NUM_THREADS`` if set, else all cores."""
    value = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(value) if value.isdigit() and int(value) > 0 else n_cores()


def set_threads(count: int | None = None) -> int:
    """Set the same number of threads for all libraries and return it.

    Call it before NumPy and the peers are imported: they read the environment once, when they are
    loaded. By default scikit-learn counts only physical cores.
    """
    count = n_threads() if count is None else count
    for name in THREAD_VARIABLES:
        os.environ[name] = str(count)
    return count


def describe() -> dict[str, Any]:
    """Return CPU, cores, threads and versions; no host name and no path."""
    return {
        "cpu": cpu_model(),
        "cores": n_cores(),
        "threads": n_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions(),
    }


def cpu_model() -> str:
    """Return the model name of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Return the versions of the installed packages."""
    installed = {}
    for name in _PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed
