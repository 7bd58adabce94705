"""The loop of an iterative learner: count, record a trace and report progress."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ceiba.base.parameters import unused_error
from ceiba.base.progress import AttributeFunction, FitMonitor, current_monitor, format_numbers
from ceiba.base.trace import Trace


class Iterations:
    """Iterations of one run of an iterative learner.

    Each iteration reports progress to scikit-learn's callbacks and the terminal, if there are any;
    a callback may end the loop. If the learner's ``verbose`` is true, every recorded iteration is
    printed, or every one in ``verbose_interval``. Ctrl-C raises ``KeyboardInterrupt`` between two
    iterations, as everywhere in Python. Progress is reported inside a ``fit`` decorated with
    `reports_progress`.

    Parameters
    ----------
    estimator : estimator
        The learner that is being fitted.
    max_iter : int
        Maximum number of iterations.
    trace : bool
        Whether to keep the recorded values; not with ``after``.
    name : str
        Name of the run in progress reports.
    runs : int or None
        Number of runs of the fit (``n_init``); None if unknown.
    after : Iterations, optional
        A run that this one continues: counting and recording go on from its count and trace.

    Attributes
    ----------
    count : int
        Number of iterations started.
    trace : Trace or None
        The recorded frames; None without ``trace``.
    stopped : bool
        Whether a callback ended the loop.

    Examples
    --------
    >>> iterations = Iterations(None, 100, trace=True, name="halving")
    >>> value = 1.0
    >>> for iteration in iterations:
    ...     value /= 2
    ...     iteration.record(value=value)
    ...     if value < 0.1:
    ...         break
    >>> iterations.count, [frame["value"] for frame in iterations.trace]
    (4, [0.5, 0.25, 0.125, 0.0625])
    """

    __slots__ = (
        "_interval", "_monitor", "_started", "count", "max_iter", "stopped", "title", "trace",
    )  # fmt: skip

    def __init__(
        self,
        estimator: Any,
        max_iter: int,
        *,
        trace: bool = False,
        name: str = "iterations",
        runs: int | None = 1,
        after: Iterations | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.trace = Trace() if trace else None
        self.count = 0
        if after is not None:
            if trace:
                raise unused_error("trace", "after, whose trace is continued", trace, False)
            self.trace, self.count = after.trace, after.count
        self.stopped = False
        self._started = False
        self.title = f"{type(estimator).__name__}: {name}"
        verbose = getattr(estimator, "verbose", False)
        self._interval = getattr(estimator, "verbose_interval", 1) if verbose else 0
        self._monitor: FitMonitor | None = current_monitor(estimator)
        if self._monitor is not None:
            self._monitor.open_run(name, max_iter, runs)

    def __iter__(self) -> Iterator[Iteration]:
        return self

    def __next__(self) -> Iteration:
        monitor = self._monitor
        if monitor is not None and self._started and monitor.end_iteration():
            self.stopped = True
        self._started = True
        if self.stopped or self.count >= self.max_iter:
            raise StopIteration
        self.count += 1
        if monitor is not None:
            monitor.begin_iteration()
        return Iteration(self, self.count)

    def resume(self, count: int, trace: Trace | None) -> None:
        """Continue a run of which ``count`` iterations were made, with their trace."""
        self.count, self.trace = count, trace
        if self._monitor is not None:
            self._monitor.resume(count)

    def record(self, **values: Any) -> None:
        """Record ``values`` of this iteration, 0 before the loop: see `Iteration.record`."""
        if self.trace is not None:
            self.trace.record(self.count, values)
        if self._monitor is not None:
            self._monitor.show(values)
        if self._interval and self.count % self._interval == 0:
            numbers = "".join(f", {number}" for number in format_numbers(values))
            print(f"{self.title} {self.count} of {self.max_iter}{numbers}", flush=True)

    def end(self, **values: Any) -> None:
        """Record ``values`` as one more frame after the last iteration."""
        if self.trace is not None:
            self.trace.record(self.count + 1, values)


@dataclass(frozen=True, slots=True, eq=False)
class Iteration:
    """One iteration of a run, made by `Iterations`; ``number`` counts from 1."""

    _run: Iterations
    number: int

    def record(self, **values: Any) -> None:
        """Record values in the trace and show the numbers among them as progress.

        A value is an array (copied), a number, a string or None, or a function without arguments
        that returns one; the function is called only if there is a trace. Call this method once
        per iteration.
        """
        self._run.record(**values)

    def report_attributes(self, attributes: AttributeFunction) -> None:
        """Pass a function that returns the fitted attributes so far, for callbacks."""
        monitor = self._run._monitor
        if monitor is not None:
            monitor.attributes = attributes
