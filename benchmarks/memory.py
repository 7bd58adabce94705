"""Measure the peak resident memory of work in a fresh process.

``python -m benchmarks.memory MODULE:FUNCTION ARGUMENTS.json RESULT.json`` runs in the child.
"""

from __future__ import annotations

import ctypes
import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Measurement:
    """Wall time, and resident bytes of the process before the work and at its peak."""

    seconds: float
    before: int
    peak: int
    result: dict[str, Any]


def measure(target: str, arguments: dict[str, Any]) -> Measurement:
    """Call ``module:function`` with keyword arguments in a new interpreter.

    Arguments and result must be JSON. A function whose preparation must not be measured calls
    `reset_peak` between the preparation and the work.
    """
    with tempfile.TemporaryDirectory() as folder:
        arguments_path, result_path = Path(folder, "arguments.json"), Path(folder, "result.json")
        arguments_path.write_text(json.dumps(arguments), encoding="utf-8")
        paths = [str(arguments_path), str(result_path)]
        command = [sys.executable, "-m", "benchmarks.memory", target, *paths]
        done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{target} failed in its own process:\n{done.stderr.strip()}")
        return Measurement(**json.loads(result_path.read_text(encoding="utf-8")))


def peak_bytes() -> int:
    """Return the peak resident size of this process.

    On Linux ``VmHWM`` is read because ``ru_maxrss`` starts from the size of the parent process
    that forked this one.
    """
    in_status = _read_status("VmHWM")
    if in_status is not None:
        return in_status
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def resident_bytes() -> int:
    """Return the resident size of this process; its peak where the system has no such value."""
    in_status = _read_status("VmRSS")
    return peak_bytes() if in_status is None else in_status


def reset_peak() -> int:
    """Reset the peak to the present resident size, where the system can, and return the size."""
    if _CLEAR.exists():
        _CLEAR.write_text("5", encoding="ascii")
    return resident_bytes()


def release_free_memory() -> None:
    """Return freed memory to the system, where the allocator can.

    Otherwise the next measured work would reuse it and seem to need none.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _read_status(field: str) -> int | None:
    """Return a size of /proc/self/status in bytes."""
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def main(target: str, arguments_path: str, result_path: str) -> None:
    """Import the function, call it, and write the measurement to a file."""
    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    arguments = json.loads(Path(arguments_path).read_text(encoding="utf-8"))
    before = resident_bytes()
    start = perf_counter()
    result = function(**arguments)
    seconds = perf_counter() - start
    content = {"seconds": seconds, "before": before, "peak": peak_bytes(), "result": result}
    Path(result_path).write_text(json.dumps(content), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
