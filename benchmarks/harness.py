"""Run a workload's contestants alternately, take minima, and judge equal quality."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, sleep
from typing import Any, TypeVar

from benchmarks.workload import Check, Contestant, Numbers, Workload

T = TypeVar("T")

# Thread pools spin for some milliseconds after their work: long enough for all to fall asleep.
SETTLE = 0.02


@dataclass
class Row:
    """One contestant's line: its times a call, its quality, and what the judge says.

    ``verdict`` is one of ``reference``, ``equal``, ``unchecked``, ``differs: ...``,
    ``failed: ...`` or ``not installed``.
    """

    contestant: Contestant
    seconds: list[float] = field(default_factory=list)
    quality: Numbers = field(default_factory=dict)
    verdict: str = "unchecked"

    @property
    def ran(self) -> bool:
        """Whether there are times and numbers to show."""
        return not self.verdict.startswith(("failed", "not installed"))

    @property
    def counts(self) -> bool:
        """Whether it did the same work, so that its time may be compared."""
        return self.ran and not self.verdict.startswith("differs")

    @property
    def least(self) -> float:
        """The fastest round."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The middle round."""
        return median(self.seconds)


@dataclass
class Outcome:
    """What one run of a workload found."""

    workload: Workload
    rows: list[Row]
    size: int
    rounds: int

    def groups(self) -> dict[str, list[Row]]:
        """Rows by group, in the workload's order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.contestant.group, []).append(row)
        return found

    def ours(self, group: str) -> Row | None:
        """The row that ratios are told from, if ours ran."""
        return next((r for r in self.groups()[group] if r.contestant.ours and r.ran), None)

    def fastest_peer(self, group: str) -> Row | None:
        """The fastest of the peers that did the same work."""
        peers = [r for r in self.groups()[group] if not r.contestant.ours and r.counts]
        return min(peers, key=lambda row: row.least, default=None)

    def times_faster(self, row: Row) -> float | None:
        """How many times faster ours is than this row, by minima."""
        ours = self.ours(row.contestant.group)
        return row.least / ours.least if ours and row.ran else None

    @property
    def good(self) -> bool:
        """False if ours failed or its quality differs. Time never matters here."""
        ours = [row for row in self.rows if row.contestant.ours]
        return all(row.counts or row.verdict == "not installed" for row in ours)


def run(workload: Workload, *, rounds: int = 5, seed: int = 0, quick: bool = False) -> Outcome:
    """Warm up and check every contestant once, then time them in turn, ``rounds`` times."""
    size = workload.size(quick)
    data = workload.data(seed, size)
    rows = [Row(contestant) for contestant in workload.contestants]
    with warnings.catch_warnings():
        # A fixed number of iterations is asked for: that it has not converged is no news.
        warnings.simplefilter("ignore")
        for row in rows:
            warm_up(row, workload, data)
        runners = [row for row in rows if row.ran]
        for turn in range(rounds):
            for row in rotated(runners, turn):
                seconds, _ = timed(row.contestant.run, data[row.contestant.group])
                row.seconds.append(seconds / workload.calls)
    outcome = Outcome(workload, rows, size, rounds)
    for group in outcome.groups().values():
        judge(group, workload.checked(quick))
    return outcome


def warm_up(row: Row, workload: Workload, data: Mapping[str, Any]) -> None:
    """One untimed run, whose result gives the quality; an error becomes the verdict."""
    if not row.contestant.installed():
        row.verdict = "not installed"
        return
    mine = data[row.contestant.group]
    try:
        row.quality = workload.quality(row.contestant.run(mine), mine)
    except Exception as error:
        first_line = str(error).partition("\n")[0]
        row.verdict = f"failed: {type(error).__name__}: {first_line}"


def rotated(items: Sequence[T], turn: int) -> list[T]:
    """The items from another start each turn, so that nobody always runs after the same one."""
    start = turn % len(items) if items else 0
    return [*items[start:], *items[:start]]


def timed(call: Callable[[Any], T], data: Any) -> tuple[float, T]:
    """Seconds of one call, without garbage collection inside it."""
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
    """Nothing left over from the contestant before: garbage gone, its threads asleep."""
    gc.collect()
    sleep(SETTLE)


def judge(group: Sequence[Row], checks: Sequence[Check]) -> None:
    """Compare every row of a group with its reference: the first peer that ran."""
    reference = next((row for row in group if row.ran and not row.contestant.ours), None)
    if reference is None:
        return
    for row in group:
        if row is reference:
            row.verdict = "reference"
        elif row.ran:
            complaints = complaints_of(row, reference, checks)
            row.verdict = f"differs: {'; '.join(complaints)}" if complaints else "equal"


def complaints_of(row: Row, reference: Row, checks: Sequence[Check]) -> list[str]:
    """What each check says against a row."""
    told = (
        check.complaint(
            row.contestant.group,
            row.quality.get(check.number),
            reference.quality.get(check.number),
        )
        for check in checks
    )
    return [text for text in told if text]
