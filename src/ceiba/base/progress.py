"""Progress of a long fit: scikit-learn's callbacks and a line in the terminal."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from importlib.util import find_spec
from math import inf
from multiprocessing import current_process
from time import perf_counter
from typing import Any, ClassVar, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
# Function that returns the fitted attributes after an iteration, for callbacks that need them.
AttributeFunction = Callable[[], dict[str, Any]]

# A fit that takes less than this shows no progress line.
DELAY_SECONDS = 2.0

_current = threading.local()


class CallbackMixin:
    """Support scikit-learn's callbacks in a ``fit`` decorated by `reports_progress`.

    scikit-learn's own mixin is imported when it is needed, because it imports rich.
    """

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set scikit-learn callbacks for later fits.

        Parameters
        ----------
        *callbacks : callback instances
            For example ``sklearn.callback.ProgressBar()``. Without arguments all callbacks are
            removed.

        Returns
        -------
        self : estimator
        """
        return _callback_support().set_callbacks(self, *callbacks)


def reports_progress(fit: F) -> F:
    """Decorate ``fit`` so that the `Iterations` inside it report progress."""

    @wraps(fit)
    def run(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        if current_monitor(estimator) is not None:
            return fit(estimator, *args, **kwargs)  # fit called the fit of its base class
        if "_skl_callbacks" not in vars(estimator):
            return _run_monitored(fit, args, kwargs, FitMonitor(estimator))
        from sklearn.callback import with_callbacks

        arguments = inspect.signature(fit).bind(estimator, *args, **kwargs).arguments
        monitor = CallbackMonitor(estimator, arguments)

        def monitored_fit(estimator: Any) -> Any:
            return _run_monitored(fit, args, kwargs, monitor)

        return with_callbacks(monitored_fit)(estimator)

    return cast(F, run)


def format_numbers(values: Mapping[str, Any]) -> list[str]:
    """Return the numbers among recorded values with their names, as text."""
    return [
        f"{name} {value:.6g}"
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]


def current_monitor(estimator: Any) -> FitMonitor | None:
    """Return the monitor of an estimator's fit in this thread, or None."""
    monitor: FitMonitor | None = getattr(_current, "monitor", None)
    return monitor if monitor is not None and monitor.estimator is estimator else None


def _run_monitored(fit: Callable[..., Any], args: Any, kwargs: Any, monitor: FitMonitor) -> Any:
    outer = getattr(_current, "monitor", None)
    _current.monitor = monitor
    try:
        result = fit(monitor.estimator, *args, **kwargs)
        monitor.finish()
        return result
    finally:
        _current.monitor = outer
        monitor.close_line()


def _callback_support() -> Any:
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError as error:
        raise ImportError(
            "Callbacks need scikit-learn 1.9 or later: pip install --upgrade scikit-learn"
        ) from error
    return CallbackSupportMixin


class ProgressLine:
    """A line of progress in the terminal, drawn by rich and removed when it is closed."""

    # Whether there is a line: a fit inside of another must not show a second one.
    shown: ClassVar[bool] = False

    def __init__(self, console_file: Any, delay: float) -> None:
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("{task.fields[text]}"),
            console=Console(file=console_file),
            transient=True,
        )
        self._task = self._bar.add_task("", text="")
        self._starts_at = perf_counter() + delay
        self._started = False
        ProgressLine.shown = True

    @classmethod
    def open(cls, delay: float = 0.0) -> ProgressLine | None:
        """Return a line that is shown after some seconds, or None where it cannot be shown.

        It requires a terminal as standard error and the main thread of the main process, so that
        lines of parallel fits do not overwrite each other. ``CEIBA_PROGRESS=0`` disables it.
        """
        if os.environ.get("CEIBA_PROGRESS") == "0" or cls.shown:
            return None
        if threading.current_thread() is not threading.main_thread():
            return None
        if current_process().name != "MainProcess" or find_spec("rich") is None:
            return None
        if sys.stderr is None or not sys.stderr.isatty():
            return None
        return cls(sys.stderr, delay)

    def update(self, description: str, completed: int, total: int) -> None:
        """Show how much is completed."""
        if not self._started and perf_counter() >= self._starts_at:
            self._started = True
            self._bar.start()
        self._bar.update(self._task, description=description, completed=completed, total=total)

    def show(self, text: str) -> None:
        """Show a text at the end of the line."""
        self._bar.update(self._task, text=text)

    def close(self) -> None:
        """Remove the line."""
        ProgressLine.shown = False
        if self._started:
            self._bar.stop()


class FitMonitor:
    """Show the iterations of one fit in the terminal, if it takes long."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.attributes: AttributeFunction | None = None
        self._line: ProgressLine | None = None
        self._run = 0
        self._started = perf_counter()

    def open_run(self, name: str, max_iter: int, runs: int | None) -> None:
        """Start a run of at most ``max_iter`` iterations, one of ``runs``."""
        self._run += 1
        run = name if runs == 1 else f"{name}, run {self._run}"
        self._description = f"{type(self.estimator).__name__}: {run}"
        self._max_iter, self._number = max_iter, 0

    def resume(self, count: int) -> None:
        """Continue after ``count`` iterations of the run."""
        self._number = count

    def begin_iteration(self) -> None:
        """Start an iteration."""
        self._number += 1
        if perf_counter() - self._started > DELAY_SECONDS:
            self._started = inf
            self._line = ProgressLine.open()
        if self._line is not None:
            self._line.update(self._description, self._number, self._max_iter)

    def show(self, values: Mapping[str, Any]) -> None:
        """Show the numbers among recorded values."""
        if self._line is not None:
            self._line.show(", ".join(format_numbers(values)))

    def end_iteration(self) -> bool:
        """End the iteration, if one is open; return whether a callback requests to stop."""
        return False

    def finish(self) -> None:
        """End the fit; the last iteration of its last run is still open."""

    def close_line(self) -> None:
        """Remove the line."""
        if self._line is not None:
            self._line.close()


class CallbackMonitor(FitMonitor):
    """Report the runs and iterations of one fit to scikit-learn's callbacks.

    The fit is the root task, each run a task of it, each iteration a task of its run.
    """

    def __init__(self, estimator: Any, arguments: Mapping[str, Any]) -> None:
        super().__init__(estimator)
        metadata = {
            name: value
            for name, value in list(arguments.items())[1:]  # without self
            if name not in ("X", "y") and value is not None
        }
        X, y = arguments.get("X"), arguments.get("y")
        self._data = {"X": X, "y": y, "metadata": metadata or None}
        # The open tasks: the fit, a run, an iteration.
        self._tasks: list[Any] = []

    def open_run(self, name: str, max_iter: int, runs: int | None) -> None:
        """Start a run; the one before it ends."""
        self._end_tasks(1)
        self._begin_fit(runs)
        self._begin(self._tasks[0].subcontext(task_name=name, max_subtasks=max_iter))

    def begin_iteration(self) -> None:
        """Start an iteration."""
        self._begin(self._tasks[1].subcontext(task_name="iteration"))

    def end_iteration(self) -> bool:
        """End the iteration, if one is open; return whether a callback requests to stop."""
        return self._end_tasks(2)

    def finish(self) -> None:
        """End the last iteration, the last run and the fit."""
        self._begin_fit(0)
        self._end_tasks(0)

    def _begin_fit(self, runs: int | None) -> None:
        if not self._tasks:
            support = _callback_support()
            self._begin(support._init_callback_context(self.estimator, max_subtasks=runs))

    def _begin(self, task: Any) -> None:
        task.call_on_fit_task_begin(estimator=self.estimator, **self._data)
        self._tasks.append(task)

    def _end_tasks(self, n_open: int) -> bool:
        """End the innermost tasks until ``n_open`` are left."""
        stop = False
        while len(self._tasks) > n_open:
            task = self._tasks.pop()
            attributes, self.attributes = self.attributes, None
            # At the end of the fit the estimator is fitted: callbacks need no further attributes.
            stop = task.call_on_fit_task_end(
                estimator=self.estimator,
                reconstruction_attributes=attributes if self._tasks else dict,
                **self._data,
            )
        return bool(stop)
