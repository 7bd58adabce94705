"""The loop of an iterative learner: it counts, records, reports progress and hears Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ceiba.base.progress import Watch, current_watch
from ceiba.base.trace import Trace


class Steps:
    """The steps of one run of an iterative learner.

    Every step tells scikit-learn's callbacks and the terminal, if there are any, how far the fit
    is; a callback may end the loop. Ctrl-C raises ``KeyboardInterrupt`` between two steps as
    everywhere in Python. Progress is told for the steps of a `watched` ``fit`` only.

    Parameters
    ----------
    estimator : estimator
        Whose steps these are.
    max_iter : int
        Most steps.
    trace : bool
        Whether to keep what the steps record.
    name : str
        What progress calls the run.
    runs : int or None
        How many runs the fit makes in all (``n_init``); None where nobody knows.
    after : Steps, optional
        A shorter run that this one goes on with: its count and its trace are taken over.

    Attributes
    ----------
    count : int
        Steps begun.
    trace : Trace or None
        What was recorded; None without ``trace``.
    stopped : bool
        Whether a callback ended the loop.

    Examples
    --------
    >>> steps = Steps(None, 100, trace=True, name="halving")
    >>> value = 1.0
    >>> for step in steps:
    ...     value /= 2
    ...     step.record(value=value)
    ...     if value < 0.1:
    ...         break
    >>> steps.count, [frame["value"] for frame in steps.trace]
    (4, [0.5, 0.25, 0.125, 0.0625])
    """

    __slots__ = ("_begun", "_watch", "count", "max_iter", "stopped", "trace")

    def __init__(
        self,
        estimator: Any,
        max_iter: int,
        *,
        trace: bool = False,
        name: str = "steps",
        runs: int | None = 1,
        after: Steps | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.trace = Trace() if trace else None
        self.count = 0
        if after is not None:
            self.trace, self.count = after.trace, after.count
        self.stopped = False
        self._begun = False
        self._watch: Watch | None = current_watch(estimator)
        if self._watch is not None:
            self._watch.open_run(name, max_iter, runs)

    def __iter__(self) -> Iterator[Step]:
        return self

    def __next__(self) -> Step:
        watch = self._watch
        if watch is not None and self._begun and watch.end_step():
            self.stopped = True
        self._begun = True
        if self.stopped or self.count >= self.max_iter:
            raise StopIteration
        self.count += 1
        if watch is not None:
            watch.begin_step()
        return Step(self, self.count)

    def record(self, **values: Any) -> None:
        """Keep ``values`` for the step begun last; before the loop, as step 0: the start.

        See `Step.record`.
        """
        if self.trace is not None:
            self.trace.record(self.count, values)
        if self._watch is not None and self._watch.line is not None:
            self._watch.line.show(values)

    def end(self, **values: Any) -> None:
        """Keep ``values`` as one more frame after the last step: what the run ended with."""
        if self.trace is not None:
            self.trace.record(self.count + 1, values)


class Step:
    """One step of a run; made by `Steps`.

    Parameters
    ----------
    steps : Steps
        The run.
    number : int
        Its number, from 1.
    """

    __slots__ = ("_steps", "number")

    def __init__(self, steps: Steps, number: int) -> None:
        self._steps = steps
        self.number = number

    def record(self, **values: Any) -> None:
        """Keep ``values`` in the trace, if there is one, and show the plain numbers as progress.

        A value is an array (copied), a number, a string or None, or a function without arguments
        that gives one: it is called only when a trace is kept. One call a step.
        """
        self._steps.record(**values)

    def offer(self, fitted: Callable[[], dict[str, Any]]) -> None:
        """Say how to make the fitted attributes, should a callback want the model of this step."""
        watch = self._steps._watch
        if watch is not None:
            watch.fitted = fitted
