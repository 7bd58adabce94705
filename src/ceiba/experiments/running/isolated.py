"""Run one unit in this process, which ``python -m ceiba.experiments.running.isolated`` started.

Standard input has the pickled unit, standard output receives the pickled result.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from ceiba.engine.local import inside_task


def peak_memory() -> int:
    """Return the largest number of bytes that this process had in memory so far."""
    status = Path("/proc/self/status")
    if status.is_file():
        # Not getrusage: on Linux its maximum begins with that of the process that started this one.
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    """Read a unit, run it, and write its result."""
    # What a learner prints must not get into the result.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    path, content = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    unit, is_one_of_several = pickle.loads(content)
    with inside_task() if is_one_of_several else nullcontext():
        result = unit.run()
    with output:
        pickle.dump(replace(result, peak_memory=peak_memory()), output)


if __name__ == "__main__":
    main()
