"""Run the implementations of a workload alternately, take minima, and check equal quality."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, sleep
from typing import Any, TypeVar

from benchmarks.workload import Check, Implementation, Metrics, Workload

T = TypeVar("T")

# Thread pools spin for some milliseconds after their work: long enough for all to go to sleep.
SETTLE_SECONDS = 0.02


@dataclass
class Result:
    """Times per call, metrics and status of one implementation.

    ``status`` is one of ``reference``, ``equal``, ``unchecked``, ``differs: ...``,
    ``failed: ...`` or ``not installed``.
    """

    implementation: Implementation
    seconds: list[float] = field(default_factory=list)
    metrics: Metrics = field(default_factory=dict)
    status: str = "unchecked"

    @property
    def ran(self) -> bool:
        """Whether there are times and metrics."""
        return not self.status.startswith(("failed", "not installed"))

    @property
    def is_comparable(self) -> bool:
        """Whether it did the same work, so that its time may be compared."""
        return self.ran and not self.status.startswith("differs")

    @property
    def min_seconds(self) -> float:
        """Seconds of the fastest round."""
        return min(self.seconds)

    @property
    def median_seconds(self) -> float:
        """Median over the rounds."""
        return median(self.seconds)


@dataclass
class Comparison:
    """The results of one run of a workload."""

    workload: Workload
    results: list[Result]
    n_rows: int
    n_rounds: int

    def groups(self) -> dict[str, list[Result]]:
        """Return the results by group, in the workload's order."""
        groups: dict[str, list[Result]] = {}
        for result in self.results:
            groups.setdefault(result.implementation.group, []).append(result)
        return groups

    def ours(self, group: str) -> Result | None:
        """Return the result that ratios refer to: the first of ours that ran."""
        return next((r for r in self.groups()[group] if r.implementation.ours and r.ran), None)

    def fastest_peer(self, group: str) -> Result | None:
        """Return the fastest peer that did the same work."""
        peers = [r for r in self.groups()[group] if not r.implementation.ours and r.is_comparable]
        return min(peers, key=lambda result: result.min_seconds, default=None)

    def relative_time(self, result: Result) -> float | None:
        """Return the time of a result divided by ours, by minima."""
        ours = self.ours(result.implementation.group)
        return result.min_seconds / ours.min_seconds if ours and result.ran else None

    @property
    def passed(self) -> bool:
        """False if ours failed or its quality differs; independent of time."""
        ours = [result for result in self.results if result.implementation.ours]
        return all(result.is_comparable or result.status == "not installed" for result in ours)


def run(workload: Workload, *, rounds: int = 5, seed: int = 0, quick: bool = False) -> Comparison:
    """Run and check each implementation once, then time them in turn, ``rounds`` times."""
    n_rows = workload.size(quick)
    data = workload.make_data(seed, n_rows)
    results = [Result(implementation) for implementation in workload.implementations]
    with warnings.catch_warnings():
        # The number of iterations is fixed on purpose: warnings of non-convergence are expected.
        warnings.simplefilter("ignore")
        for result in results:
            warm_up(result, workload, data)
        timed = [result for result in results if result.ran]
        for turn in range(rounds):
            for result in rotate(timed, turn):
                implementation = result.implementation
                seconds, _ = time_call(implementation.run, data[implementation.group])
                result.seconds.append(seconds / workload.n_calls)
    comparison = Comparison(workload, results, n_rows, rounds)
    for group in comparison.groups().values():
        check_quality(group, workload.active_checks(quick))
    return comparison


def warm_up(result: Result, workload: Workload, data: Mapping[str, Any]) -> None:
    """Run once without timing and compute the metrics; an error becomes the status."""
    implementation = result.implementation
    if not implementation.is_installed():
        result.status = "not installed"
        return
    group_data = data[implementation.group]
    try:
        result.metrics = workload.quality(implementation.run(group_data), group_data)
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        result.status = f"failed: {type(error).__name__}: {first_line}"


def rotate(items: Sequence[T], turn: int) -> list[T]:
    """Return the items with another first one per turn, so that their neighbors' effects vary."""
    first = turn % len(items) if items else 0
    return [*items[first:], *items[:first]]


def time_call(call: Callable[[Any], T], data: Any) -> tuple[float, T]:
    """Return the seconds and the result of one call, without garbage collection during it."""
    settle()
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter()
        result = call(data)
        return perf_counter() - start, result
    finally:
        if was_enabled:
            gc.enable()


def settle() -> None:
    """Collect the garbage of the previous run and let its threads go to sleep."""
    gc.collect()
    sleep(SETTLE_SECONDS)


def check_quality(group: Sequence[Result], checks: Sequence[Check]) -> None:
    """Compare the results of a group with the reference: the first peer that ran."""
    reference = next((r for r in group if r.ran and not r.implementation.ours), None)
    if reference is None:
        return
    for result in group:
        if result is reference:
            result.status = "reference"
        elif result.ran:
            failures = find_failures(result, reference, checks)
            result.status = f"differs: {'; '.join(failures)}" if failures else "equal"


def find_failures(result: Result, reference: Result, checks: Sequence[Check]) -> list[str]:
    """Return the messages of the checks that fail."""
    messages = (
        check.failure(
            result.implementation.group,
            result.metrics.get(check.metric),
            reference.metrics.get(check.metric),
        )
        for check in checks
    )
    return [message for message in messages if message]
