"""Progress of a long fit: scikit-learn's callbacks and a line in the terminal."""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from importlib.util import find_spec
from multiprocessing import current_process
from time import perf_counter
from typing import Any, TypeVar, cast

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
        outer: FitMonitor | None = getattr(_current, "monitor", None)
        if outer is not None and outer.estimator is estimator:
            return fit(estimator, *args, **kwargs)  # fit called the fit of its base class
        if "_skl_callbacks" in vars(estimator):
            return _run_with_callbacks(fit, estimator, args, kwargs)
        return _run_monitored(FitMonitor(estimator), fit, args, kwargs)

    return cast(F, run)


def current_monitor(estimator: Any) -> FitMonitor | None:
    """Return the monitor of an estimator's fit in this thread, or None."""
    monitor: FitMonitor | None = getattr(_current, "monitor", None)
    return monitor if monitor is not None and monitor.estimator is estimator else None


def _run_monitored(monitor: FitMonitor, fit: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    outer = getattr(_current, "monitor", None)
    _current.monitor = monitor
    try:
        result = fit(monitor.estimator, *args, **kwargs)
        monitor.finish()
        return result
    finally:
        _current.monitor = outer
        if monitor.line is not None:
            monitor.line.close()


def _run_with_callbacks(fit: Callable[..., Any], estimator: Any, args: Any, kwargs: Any) -> Any:
    from sklearn.callback import with_callbacks

    arguments = inspect.signature(fit).bind(estimator, *args, **kwargs).arguments
    monitor = FitMonitor(estimator, CallbackTasks(estimator, arguments))

    def monitored_fit(estimator: Any) -> Any:
        return _run_monitored(monitor, fit, args, kwargs)

    return with_callbacks(monitored_fit)(estimator)


def _callback_support() -> Any:
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError as error:
        raise ImportError(
            "Callbacks need scikit-learn 1.9 or later: pip install --upgrade scikit-learn"
        ) from error
    return CallbackSupportMixin


class FitMonitor:
    """Report the iterations of one fit to callbacks or to the terminal."""

    def __init__(self, estimator: Any, tasks: CallbackTasks | None = None) -> None:
        self.estimator = estimator
        self.tasks = tasks
        self.line: TerminalLine | None = None
        self.attributes: AttributeFunction | None = None
        self._name = ""
        self._max_iter = 0
        self._number = 0
        self._run = 0
        # An infinite start time keeps the terminal line from being shown: callbacks replace it.
        self._started = perf_counter() if tasks is None else float("inf")

    def open_run(self, name: str, max_iter: int, runs: int | None) -> None:
        """Start a run of at most ``max_iter`` iterations, one of ``runs``."""
        self._run += 1
        self._name = name if runs == 1 else f"{name}, run {self._run}"
        self._max_iter, self._number = max_iter, 0
        if self.tasks is not None:
            self.tasks.end_run(self._pop_attributes())
            self.tasks.open_run(name, max_iter, runs)

    def begin_iteration(self) -> None:
        """Start an iteration."""
        self._number += 1
        if self.tasks is not None:
            self.tasks.begin_iteration()
        elif perf_counter() - self._started > DELAY_SECONDS:
            self._started = float("inf")
            self.line = open_line(type(self.estimator).__name__)
        if self.line is not None:
            self.line.move(self._name, self._number, self._max_iter)

    def end_iteration(self) -> bool:
        """End the iteration; return whether a callback requests to stop."""
        return self.tasks is not None and self.tasks.end_iteration(self._pop_attributes())

    def finish(self) -> None:
        """End the fit; the last iteration of its last loop is still open."""
        if self.tasks is not None:
            self.tasks.finish(self._pop_attributes())

    def _pop_attributes(self) -> AttributeFunction | None:
        attributes, self.attributes = self.attributes, None
        return attributes


class CallbackTasks:
    """Translate runs and iterations into scikit-learn's callback contexts.

    The fit is the root task, each run a task of it, each iteration a task of its run.
    """

    def __init__(self, estimator: Any, arguments: Mapping[str, Any]) -> None:
        self._estimator = estimator
        metadata = {
            name: value
            for name, value in list(arguments.items())[1:]  # without self
            if name not in ("X", "y") and value is not None
        }
        X, y = arguments.get("X"), arguments.get("y")
        self._data = {"X": X, "y": y, "metadata": metadata or None}
        self._root: Any = None
        self._run: Any = None
        self._iteration: Any = None

    def open_run(self, name: str, max_iter: int, runs: int | None) -> None:
        """Start a run."""
        if self._root is None:
            self._open_root(runs)
        self._run = self._begin(self._root.subcontext(task_name=name, max_subtasks=max_iter))

    def begin_iteration(self) -> None:
        """Start an iteration of the run."""
        self._iteration = self._begin(self._run.subcontext(task_name="iteration"))

    def end_iteration(self, attributes: AttributeFunction | None) -> bool:
        """End the current iteration, if any; return whether a callback requests to stop."""
        iteration, self._iteration = self._iteration, None
        return iteration is not None and self._end(iteration, attributes)

    def end_run(self, attributes: AttributeFunction | None) -> None:
        """End the current run, if any, and its last iteration."""
        self.end_iteration(attributes)
        run, self._run = self._run, None
        if run is not None:
            self._end(run, None)

    def finish(self, attributes: AttributeFunction | None) -> None:
        """End the last iteration, the last run and the fit."""
        if self._root is None:
            self._open_root(0)
        self.end_run(attributes)
        # The estimator is fitted by now, so that callbacks need no further attributes.
        self._end(self._root, dict)

    def _open_root(self, runs: int | None) -> None:
        root = _callback_support()._init_callback_context(self._estimator, max_subtasks=runs)
        self._root = self._begin(root)

    def _begin(self, context: Any) -> Any:
        context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return context

    def _end(self, context: Any, attributes: AttributeFunction | None) -> bool:
        stop = context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=attributes, **self._data
        )
        return bool(stop)


class TerminalLine:
    """Progress line on standard error (by rich), removed when the fit ends."""

    _shown = False

    def __init__(self, title: str, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeElapsedColumn as Elapsed

        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            Elapsed(),
            TextColumn("{task.fields[numbers]}"),
        )
        self._progress = Progress(
            TextColumn("{task.description}"), *columns, console=console, transient=True
        )
        self._title = title
        self._task = self._progress.add_task(title, numbers="")
        self._progress.start()
        TerminalLine._shown = True

    def move(self, run: str, number: int, max_iter: int) -> None:
        """Show that iteration ``number`` of ``run`` has started."""
        text = f"{self._title}: {run}"
        self._progress.update(self._task, description=text, completed=number, total=max_iter)

    def show(self, values: Mapping[str, Any]) -> None:
        """Show the numbers among recorded values."""
        numbers = [
            f"{name} {value:.6g}"
            for name, value in values.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        self._progress.update(self._task, numbers=", ".join(numbers))

    def close(self) -> None:
        """Remove the line."""
        self._progress.stop()
        TerminalLine._shown = False


def open_line(title: str) -> TerminalLine | None:
    """Open a progress line; return None if it is disabled or cannot be shown.

    It requires rich, a terminal as standard error, and the main thread of the main process, so
    that lines of parallel fits do not overwrite each other. ``CEIBA_PROGRESS=0`` disables it.
    """
    if os.environ.get("CEIBA_PROGRESS") == "0" or TerminalLine._shown:
        return None
    if threading.current_thread() is not threading.main_thread():
        return None
    if current_process().name != "MainProcess" or find_spec("rich") is None:
        return None
    console = terminal()
    return TerminalLine(title, console) if console is not None else None


def terminal() -> Any:
    """Return a rich console on standard error, or None if that is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(file=sys.stderr)
