"""One contestant alone in a fresh process: its peak memory, its instructions.

``python -m benchmarks.alone WORKLOAD LABEL GROUP SEED QUICK`` is what callgrind runs.
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
from benchmarks.memory import ROOT, forget_peak, measure, peak_resident
from benchmarks.workload import Contestant, Workload


def work(workload: Workload, contestant: Contestant, seed: int, rows: int) -> Callable[[], Any]:
    """The contestant's run, its data made."""
    warnings.simplefilter("ignore")
    data = workload.data(seed, rows)[contestant.group]
    return lambda: contestant.run(data)


def memory(workload: Workload, contestant: Contestant, seed: int, quick: bool) -> int:
    """Bytes by which a contestant's run raises the resident size above its data."""
    arguments = {
        "name": workload.name,
        "label": contestant.label,
        "group": contestant.group,
        "seed": seed,
        "quick": quick,
    }
    return int(measure("benchmarks.alone:peak_in_child", arguments).answer["raised"])


def peak_in_child(name: str, label: str, group: str, seed: int, quick: bool) -> dict[str, int]:
    """The child's side of `memory`: a small run first, so that imports do not count."""
    workload = workloads.found(name)
    contestant = workload.contestant(label, group)
    work(workload, contestant, seed, workload.quick_rows)()
    run = work(workload, contestant, seed, workload.size(quick))
    before = forget_peak()
    run()
    return {"raised": peak_resident() - before}


def instructions(workload: Workload, contestant: Contestant, seed: int, quick: bool) -> int:
    """Instructions of one warm run on one thread, counted by callgrind.

    Valgrind knows no AVX-512, so dispatching kernels take their AVX2 path, and it runs
    threads one after another, so there is only one.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        callgrind = f"valgrind -q --tool=callgrind --instr-atstart=no --callgrind-out-file={out}"
        child = [sys.executable, "-m", "benchmarks.alone", workload.name]
        told = [contestant.label, contestant.group, str(seed), str(int(quick))]
        done = subprocess.run(
            [*callgrind.split(), *child, *told],
            cwd=ROOT,
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, "1"),
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{contestant.label} failed in valgrind:\n{done.stderr.strip()}")
        return total(out.read_text(encoding="utf-8"))


def has_valgrind() -> bool:
    """Whether valgrind and its callgrind control are there."""
    return all(shutil.which(name) for name in ("valgrind", "callgrind_control"))


def total(callgrind: str) -> int:
    """The total of a callgrind file."""
    line = re.search(r"^totals: (\d+)", callgrind, re.MULTILINE)
    if line is None:
        raise ValueError("callgrind left no total: did its process end early?")
    return int(line[1])


def switch(state: str) -> None:
    """Turn callgrind's counting on or off from inside the counted process.

    The waiting wakes often because valgrind hears a command only while instructions run, and
    sleeps in between so as not to be counted itself: about 0.3 million instructions remain.
    """
    command = ["callgrind_control", f"--instr={state}", str(os.getpid())]
    control = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while control.poll() is None:
        time.sleep(0.002)
    if control.returncode != 0:
        raise RuntimeError(f"callgrind_control --instr={state} failed")


def main(name: str, label: str, group: str, seed: str, quick: str) -> None:
    """Warm up, then count one run."""
    workload = workloads.found(name)
    rows = workload.size(quick == "1")
    run = work(workload, workload.contestant(label, group), int(seed), rows)
    run()
    switch("on")
    run()
    switch("off")


if __name__ == "__main__":
    main(*sys.argv[1:])
