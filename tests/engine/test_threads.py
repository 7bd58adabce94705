"""How many threads a fit may use, and tasks on a pool."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from ceiba import _native
from ceiba.engine.local import LocalEngine, effective_threads, inside_task, run_tasks

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def test_none_is_every_core_and_minus_one_as_well() -> None:
    assert effective_threads() == effective_threads(None) == effective_threads(-1)
    assert 1 <= effective_threads() <= CORES


@pytest.mark.parametrize("n_jobs", [1, CORES, 10 * CORES, -CORES, -10 * CORES])
def test_what_is_asked_is_limited_by_what_is_there(n_jobs: int) -> None:
    asked = n_jobs if n_jobs > 0 else CORES + 1 + n_jobs
    assert effective_threads(n_jobs) == max(1, min(asked, effective_threads()))


def test_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="n_jobs must be a nonzero int"):
        effective_threads(0)


@pytest.mark.parametrize("allowed", [1, 2])
def test_the_environment_is_honoured(allowed: int) -> None:
    code = "from ceiba.engine.local import effective_threads; print(effective_threads())"
    environment = {**os.environ, "OMP_NUM_THREADS": str(allowed)}
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(shown.stdout) == min(allowed, CORES)


def test_threadpoolctl_is_honoured() -> None:
    with threadpool_limits(1):
        assert effective_threads() == 1
        assert effective_threads(-1) == 1


def test_a_task_is_single_threaded_inside() -> None:
    assert set(run_tasks(lambda _: effective_threads(), range(8), 3)) == {1}
    assert run_tasks(lambda _: effective_threads(), range(2), 1) == [1, 1]


def test_the_mark_of_a_task_ends_with_it() -> None:
    before = effective_threads()
    with inside_task():
        with inside_task():
            pass
        assert effective_threads() == 1
    assert effective_threads() == before


def _tell(queue: Any) -> None:
    queue.put((effective_threads(), effective_threads(-1)))


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs the fork start method"
)
def test_a_forked_child_has_one_thread() -> None:
    effective_threads()  # OpenMP has been asked in the parent
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_tell, args=(queue,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert queue.get() == (1, 1)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(threads: int) -> None:
    assert LocalEngine(threads).map(lambda x: -x, range(50)) == [-x for x in range(50)]


@pytest.mark.parametrize("threads", [1, 2])
def test_the_first_error_cancels_what_has_not_begun(threads: int) -> None:
    """Task 0 ends only after task 1 has failed: the error must not wait for it in line."""
    failing = threading.Event()
    begun: list[int] = []

    def work(task: int) -> None:
        begun.append(task)
        if task == 0 and threads > 1:
            assert failing.wait(60)
        if task == 1:
            failing.set()
            raise KeyError("task 1")
        time.sleep(0.001)

    with pytest.raises(KeyError, match="task 1"):
        run_tasks(work, range(10_000), threads)
    assert len(begun) < 10_000


def test_ctrl_c_does_not_wait_for_running_tasks() -> None:
    heard = threading.Event()

    def work(task: int) -> None:
        if task == 0:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert heard.wait(60)

    with pytest.raises(KeyboardInterrupt):
        run_tasks(work, range(10), 2)
    heard.set()


# Threads that cannot be started

FITS = """
import numpy as np
from ceiba import BaggingClassifier, KMeans, RandomForestClassifier, _native
rng = np.random.default_rng(0)
X = rng.normal(size=(4_000, 8))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
def fit():
    models = RandomForestClassifier(4, n_jobs=2), BaggingClassifier(n_estimators=3, n_jobs=2)
    found = [model.fit(X, y).predict_proba(X).sum(axis=0).tolist() for model in models]
    return [*found, KMeans(3, n_jobs=2).fit(X).inertia_]
"""
LIMITED = """
import resource
print(_native.startable_threads(4))
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(_native.startable_threads(4))
print(fit())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_fewer_threads_where_the_system_refuses_more() -> None:
    """OpenMP would end the process: no stack of 2 GiB fits into what is left."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_STACKSIZE": "2G"}
    run = subprocess.run(
        [sys.executable, "-c", FITS + LIMITED], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    here: dict[str, Any] = {}
    exec(FITS, here)
    assert run.stdout.splitlines() == ["4", "0", str(here["fit"]())]


@pytest.mark.parametrize("startable", [0, 1, 2])
def test_tasks_run_on_the_threads_that_can_be_started(
    startable: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_native, "startable_threads", lambda wanted: min(wanted, startable))
    assert run_tasks(lambda i: (i, effective_threads()), range(5), 4) == [(i, 1) for i in range(5)]
