"""The record of an experiment: what is needed to reproduce it, as a plain dictionary."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from ceiba.experiments.running.units import Dataset, Learner, Unit, content_hash

# Installed libraries whose versions the record names, beside those of the learners.
_LIBRARIES = ("ceiba", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow")
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}


def make_record(
    datasets: Sequence[Dataset],
    learners: Sequence[Learner],
    units: Sequence[Unit],
    *,
    protocol: str,
    seed: int,
    command: str | None,
) -> dict[str, Any]:
    """Describe an experiment: data, learners, protocol, seed, versions, machine, command.

    The values are those of JSON. Two experiments with equal ``hash`` have the same units.
    """
    return {
        "command": command or python_call(datasets, learners, protocol, seed),
        "hash": content_hash(sorted(unit.key for unit in units)),
        "protocol": protocol,
        "seed": seed,
        "datasets": [
            {
                "name": table.name,
                "rows": len(table),
                "columns": table.n_columns,
                "task": table.task,
                "hash": table.key,
            }
            for table in datasets
        ],
        "learners": [
            {"name": learner.name, "estimator": estimator_text(learner.estimator)}
            for learner in learners
        ],
        "versions": _versions(learners),
        "machine": _machine(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def python_call(
    datasets: Sequence[Dataset], learners: Sequence[Learner], protocol: str, seed: int
) -> str:
    """Return the call of `compare` that reproduces the experiment.

    Rows that are not of a bundled dataset are named ``X, y``, and given folds ``folds``.
    """
    chosen = ", ".join(
        f"{learner.name!r}: {estimator_text(learner.estimator)}" for learner in learners
    )
    if all(table.bundled for table in datasets):
        tables = repr([table.name for table in datasets])
    else:
        tables = "{" + ", ".join(f"{table.name!r}: {_rows_text(table)}" for table in datasets) + "}"
    division = "GivenFolds(folds)" if protocol == "given folds" else repr(protocol)
    return f"compare({{{chosen}}}, {tables}, protocol={division}, seed={seed})"


def _rows_text(table: Dataset) -> str:
    if table.bundled:
        return repr(table.name)
    return "(X, y)" if table.groups is None else "(X, y, groups)"


def estimator_text(estimator: Any) -> str:
    """Return an estimator with all parameters that are not defaults, on one line.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> estimator_text(LogisticRegression(C=0.5))
    'LogisticRegression(C=0.5)'
    """
    try:
        text = estimator.__repr__(N_CHAR_MAX=1_000_000)  # scikit-learn's leaves out the middle
    except TypeError:
        text = repr(estimator)
    return " ".join(text.split())


def _versions(learners: Sequence[Learner]) -> dict[str, str]:
    """Return the versions of Python and of the installed libraries."""
    modules = {name for learner in learners for name in learner.libraries}
    names = [*_LIBRARIES, *sorted(_DISTRIBUTIONS.get(name, name) for name in modules)]
    versions = {"python": platform.python_version()}
    for name in names:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # not installed, or a module of the user
    return versions


def _machine() -> dict[str, Any]:
    """Return the kind of the machine, without its name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": cores,
        "byte_order": sys.byteorder,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
