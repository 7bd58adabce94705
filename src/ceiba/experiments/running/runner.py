"""Run the units of an experiment: on threads, in processes of their own, or on a Dask cluster.

Units that the journal has are not computed again. Every other one is written to the journal when it
ends, so that an experiment that is interrupted or killed continues where it stopped.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ceiba.engine.local import effective_threads, inside_task, run_tasks
from ceiba.experiments.running.journal import Journal, UnitResult
from ceiba.experiments.running.progress import Progress, UnitProgress
from ceiba.experiments.running.units import Dataset, Unit

# How often Dask computes a unit again whose worker was lost.
_RETRIES = 3


@dataclass(frozen=True, slots=True)
class UnitRunner:
    """Where and how units are computed.

    Parameters
    ----------
    n_jobs : int or None
        Number of units at a time; None for all cores.
    isolate : bool
        Whether every unit has a process of its own, whose peak memory is measured.
    client : dask.distributed.Client or None
        The cluster that computes the units.
    progress : bool, callable or None
        See `ceiba.experiments.compare`.
    """

    n_jobs: int | None = None
    isolate: bool = False
    client: Any = None
    progress: Progress = None

    def __post_init__(self) -> None:
        if self.client is None:
            return
        if not hasattr(self.client, "scatter"):
            raise ValueError(
                f"client must be a dask.distributed.Client or None, got {self.client!r}."
            )
        if self.isolate:
            raise ValueError("isolate=True has no effect with client=: leave out one of them.")
        if self.n_jobs is not None:
            raise ValueError("n_jobs has no effect with client=: the cluster has its own workers.")

    def run(self, units: Sequence[Unit], journal: Journal) -> tuple[dict[str, UnitResult], int]:
        """Return the results of all units by key, and how many were not in the journal."""
        distinct = {unit.key: unit for unit in units}
        results = journal.find(distinct)
        waiting = [unit for key, unit in distinct.items() if key not in results]
        journal.discard(unit.key for unit in waiting)  # those that failed before
        workers = min(self._workers(), max(1, len(waiting)))
        with UnitProgress(waiting, len(results), workers, self.progress) as progress:

            def finish(unit: Unit, result: UnitResult) -> None:
                journal.add(unit.key, result)
                results[unit.key] = result
                progress.finish(unit, result)

            if self.client is not None:
                _run_on_dask(waiting, self.client, finish)
            else:
                _run_here(waiting, run_isolated if self.isolate else Unit.run, workers, finish)
        return results, len(waiting)

    def _workers(self) -> int:
        if self.client is not None:
            return max(1, int(sum(self.client.nthreads().values())))
        return effective_threads(self.n_jobs)


Finish = Callable[[Unit, UnitResult], None]


def _run_here(
    units: Sequence[Unit], run: Callable[[Unit], UnitResult], workers: int, finish: Finish
) -> None:
    """Run units on threads; one at a time may use all cores, several have one core each."""

    def run_one(unit: Unit) -> None:
        finish(unit, run(unit))

    if workers == 1:
        for unit in units:
            run_one(unit)
    else:
        run_tasks(run_one, units, workers)


def run_isolated(unit: Unit) -> UnitResult:
    """Run a unit in a process of its own; one that crashes is a failed unit.

    The result has the peak memory of the process, which includes that of the libraries.
    """
    try:
        from cloudpickle import dumps  # also pickles classes of a script or notebook
    except ImportError:
        dumps = pickle.dumps
    # The process has to import modules of the user before it reads the unit.
    content = pickle.dumps((sys.path, dumps((unit, effective_threads() == 1))))
    # Not multiprocessing: it would import the user's script again, whether it is guarded or not.
    command = [sys.executable, "-m", "ceiba.experiments.running.isolated"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        output, messages = process.communicate(content)
    except BaseException:  # Ctrl-C: nothing waits for the process any more
        process.kill()
        process.wait()
        raise
    if process.returncode == 0:
        result: UnitResult = pickle.loads(output)
        return result
    last = messages.decode(errors="replace").strip().rpartition("\n")[2]
    reason = last if process.returncode > 0 else f"signal {-process.returncode}"
    error = f"ProcessError: the process of the unit ended with {reason or 'no message'}"
    return UnitResult(unit.test, None, None, 0.0, 0.0, error=error)


def _run_on_dask(units: Iterable[Unit], client: Any, finish: Finish) -> None:
    """Run units on a cluster; each dataset is sent to a worker once, not with every unit."""
    from distributed import as_completed

    datasets: dict[int, Any] = {}
    waiting = {}
    try:
        for unit in units:
            if id(unit.dataset) not in datasets:
                datasets[id(unit.dataset)] = client.scatter(unit.dataset, hash=False)
            future = client.submit(
                _run_on_worker,
                datasets[id(unit.dataset)],
                replace(unit, dataset=_NO_ROWS),
                pure=False,
                retries=_RETRIES,
            )
            waiting[future] = unit
        for future in as_completed(waiting):
            unit = waiting[future]
            if future.status == "finished":
                finish(unit, future.result())
            else:
                error = future.exception()
                message = f"{type(error).__name__}: {error}"
                finish(unit, UnitResult(unit.test, None, None, 0.0, 0.0, error=message))
    except BaseException:
        client.cancel(list(waiting))
        raise


# Stands for the dataset in a unit that is sent to a worker, which has the rows already.
_NO_ROWS = Dataset("", [], [], "classification")


def _run_on_worker(dataset: Dataset, unit: Unit) -> UnitResult:
    with inside_task():  # a worker runs as many units at a time as it has threads
        return replace(unit, dataset=dataset).run()
