"""Progress of an experiment: units that are finished, and the time that is left."""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from ceiba.base.progress import DELAY_SECONDS, ProgressLine
from ceiba.experiments.running.journal import UnitResult
from ceiba.experiments.running.units import Unit

# What `compare` accepts: None, True, False, or a function of units finished, units in all and the
# estimated seconds left.
Progress = bool | None | Callable[[int, int, float | None], None]


class TimeLeft:
    """Estimate the time that waiting units take from that of the finished ones.

    A unit is expected to take the mean time of the finished units of its learner on its dataset;
    else of its learner, else of all.
    """

    def __init__(self, waiting: Sequence[Unit], workers: int) -> None:
        self._workers = workers
        self._waiting: dict[tuple[str, str], int] = defaultdict(int)
        for unit in waiting:
            self._waiting[_pair(unit)] += 1
        self._sums: dict[Any, tuple[int, float]] = {}

    def finish(self, unit: Unit, seconds: float) -> None:
        """Count a unit as finished after some seconds."""
        pair = _pair(unit)
        self._waiting[pair] -= 1
        for group in (pair, pair[1], ""):
            count, total = self._sums.get(group, (0, 0.0))
            self._sums[group] = count + 1, total + seconds

    def seconds(self) -> float | None:
        """Return the estimated seconds left; None before the first unit is finished."""
        if not self._sums:
            return None
        expected = 0.0
        for pair, n_units in self._waiting.items():
            group = next(group for group in (pair, pair[1], "") if group in self._sums)
            count, total = self._sums[group]
            expected += n_units * total / count
        return expected / self._workers


def _pair(unit: Unit) -> tuple[str, str]:
    return unit.dataset.name, unit.learner.name


class UnitProgress:
    """Show the progress of units while they run.

    Parameters
    ----------
    waiting : sequence of Unit
        Units to compute.
    n_stored : int
        Units whose results the journal had.
    workers : int
        Units that run at a time.
    progress : bool, callable or None
        True for a line in the terminal, or lines of text where standard error is none; None for a
        line in the terminal if the units take long; a function is called after every unit.
    """

    def __init__(
        self, waiting: Sequence[Unit], n_stored: int, workers: int, progress: Progress
    ) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise ValueError(f"progress must be True, False, None or a function, got {progress!r}.")
        self._time_left = TimeLeft(waiting, workers)
        self._n_units, self._n_done = n_stored + len(waiting), n_stored
        self._progress = progress
        self._lock = threading.Lock()
        self._line: ProgressLine | None = None
        self._printed = self._tenths()

    def __enter__(self) -> UnitProgress:
        if self._progress is True or self._progress is None:
            delay = 0.0 if self._progress else DELAY_SECONDS
            self._line = ProgressLine.open(delay)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._line is not None:
            self._line.close()

    def finish(self, unit: Unit, result: UnitResult) -> None:
        """Show that a unit is finished."""
        with self._lock:
            self._n_done += 1
            self._time_left.finish(unit, result.fit_seconds + result.predict_seconds)
            left = self._time_left.seconds()
            if callable(self._progress):
                self._progress(self._n_done, self._n_units, left)
            elif self._line is not None:
                description = f"{unit.dataset.name}: {unit.learner.name}"
                self._line.update(description, self._n_done, self._n_units)
                self._line.show(format_left(left))
            elif self._progress and self._tenths() > self._printed:
                self._printed = self._tenths()
                text = f"{self._n_done} of {self._n_units} units, {format_left(left)}"
                print(text, file=sys.stderr, flush=True)

    def _tenths(self) -> int:
        return 10 * self._n_done // max(1, self._n_units)


def format_left(seconds: float | None) -> str:
    """Return the time left as text.

    Examples
    --------
    >>> format_left(75.0), format_left(0.2), format_left(7300.0)
    ('1:15 left', '0:01 left', '2:01:40 left')
    """
    if seconds is None:
        return ""
    minutes, rest = divmod(max(1, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
    return f"{clock} left"
