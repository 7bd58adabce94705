"""Peak resident memory of work done in a fresh process.

``python -m benchmarks.memory MODULE:FUNCTION ARGUMENTS.json ANSWER.json`` is the child's side.
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
class Measured:
    """Wall time, and resident bytes of the process before the work and at its peak."""

    seconds: float
    before: int
    peak: int
    answer: dict[str, Any]


def measure(target: str, arguments: dict[str, Any]) -> Measured:
    """Call ``module:function`` with keyword arguments in a new interpreter.

    Its answer and its arguments must be JSON. A function whose preparation should not count
    calls `forget_peak` between the preparation and the work.
    """
    with tempfile.TemporaryDirectory() as folder:
        question, answer = Path(folder, "arguments.json"), Path(folder, "answer.json")
        question.write_text(json.dumps(arguments), encoding="utf-8")
        command = [sys.executable, "-m", "benchmarks.memory", target, str(question), str(answer)]
        done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{target} failed in its own process:\n{done.stderr.strip()}")
        return Measured(**json.loads(answer.read_text(encoding="utf-8")))


def peak_resident() -> int:
    """Largest resident size of this process so far, in bytes.

    ``ru_maxrss`` would do, but on Linux it starts from the size of the process that forked
    this one; ``VmHWM`` does not.
    """
    in_status = _status("VmHWM")
    if in_status is not None:
        return in_status
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest if sys.platform == "darwin" else largest * 1024


def resident() -> int:
    """Resident size of this process now, in bytes; its peak where the system does not say."""
    in_status = _status("VmRSS")
    return peak_resident() if in_status is None else in_status


def forget_peak() -> int:
    """Start the peak again from the present resident size, where the system can; returns it."""
    if _CLEAR.exists():
        _CLEAR.write_text("5", encoding="ascii")
    return resident()


def _status(field: str) -> int | None:
    """A size of /proc/self/status, in bytes."""
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    return None


def main(target: str, question: str, answer: str) -> None:
    """Import the function, call it, and leave what was measured in a file."""
    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    arguments = json.loads(Path(question).read_text(encoding="utf-8"))
    before = resident()
    start = perf_counter()
    told = function(**arguments)
    seconds = perf_counter() - start
    measured = {"seconds": seconds, "before": before, "peak": peak_resident(), "answer": told}
    Path(answer).write_text(json.dumps(measured), encoding="utf-8")


def give_back() -> None:
    """Hand freed memory back to the system, where that can be asked for.

    Otherwise what is weighed next would live in what was left, and seem to take none.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
