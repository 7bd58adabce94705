"""Run one implementation alone in a fresh process: peak memory, instruction count.

callgrind runs ``python -m benchmarks.isolated WORKLOAD LABEL GROUP SEED QUICK``; QUICK is 0 or 1.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import workloads
from benchmarks.machine import THREAD_VARIABLES
from benchmarks.memory import ROOT, measure, peak_bytes, reset_peak
from benchmarks.workload import Implementation, Workload


def prepare(
    workload: Workload, implementation: Implementation, seed: int, n_rows: int
) -> Callable[[], Any]:
    """Make the data and return a function that runs the implementation on it."""
    warnings.simplefilter("ignore")
    data = workload.make_data(seed, n_rows)[implementation.group]
    return lambda: implementation.run(data)


def peak_memory(workload: Workload, implementation: Implementation, seed: int, quick: bool) -> int:
    """Return by how many bytes a run raises the resident size above that with its data."""
    arguments = {
        "name": workload.name,
        "label": implementation.label,
        "group": implementation.group,
        "seed": seed,
        "quick": quick,
    }
    return int(measure("benchmarks.isolated:peak_in_child", arguments).result["increase"])


def peak_in_child(name: str, label: str, group: str, seed: int, quick: bool) -> dict[str, int]:
    """Measure the peak in the child, after a small run so that imports do not count."""
    workload = workloads.get(name)
    implementation = workload.find(label, group)
    prepare(workload, implementation, seed, workload.quick_n_rows)()
    run = prepare(workload, implementation, seed, workload.size(quick))
    before = reset_peak()
    run()
    return {"increase": peak_bytes() - before}


def count_instructions(
    workload: Workload, implementation: Implementation, seed: int, quick: bool
) -> int:
    """Count the instructions of one warm run on one thread by callgrind.

    Valgrind does not support AVX-512, so dispatching kernels use their AVX2 path, and it runs
    threads one after another, hence a single one.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        callgrind = f"valgrind -q --tool=callgrind --instr-atstart=no --callgrind-out-file={out}"
        child = [sys.executable, "-m", "benchmarks.isolated", workload.name]
        arguments = [implementation.label, implementation.group, str(seed), str(int(quick))]
        done = subprocess.run(
            [*callgrind.split(), *child, *arguments],
            cwd=ROOT,
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, "1"),
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{implementation.label} failed in valgrind:\n{done.stderr.strip()}")
        return parse_total(out.read_text(encoding="utf-8"))


def has_valgrind() -> bool:
    """Return whether valgrind and callgrind_control are installed."""
    return all(shutil.which(name) for name in ("valgrind", "callgrind_control"))


def parse_total(callgrind: str) -> int:
    """Return the total of a callgrind file."""
    line = re.search(r"^totals: (\d+)", callgrind, re.MULTILINE)
    if line is None:
        raise ValueError("The callgrind file has no total: its process may have ended early.")
    return int(line[1])


def set_counting(state: str) -> None:
    """Turn callgrind's counting on or off from inside the counted process.

    Valgrind receives a command only while instructions run, so the loop polls often, and sleeps in
    between so that it is hardly counted itself: about 0.3 million instructions remain.
    """
    command = ["callgrind_control", f"--instr={state}", str(os.getpid())]
    control = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while control.poll() is None:
        time.sleep(0.002)
    if control.returncode != 0:
        raise RuntimeError(f"callgrind_control --instr={state} failed.")


def main(name: str, label: str, group: str, seed: str, quick: str) -> None:
    """Warm up, then count one run."""
    workload = workloads.get(name)
    n_rows = workload.size(quick == "1")
    run = prepare(workload, workload.find(label, group), int(seed), n_rows)
    run()
    set_counting("on")
    run()
    set_counting("off")


if __name__ == "__main__":
    main(*sys.argv[1:])
