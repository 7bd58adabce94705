"""Progress of a long fit: scikit-learn's callbacks and a line in the terminal, behind one watch."""

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
# Makes the fitted attributes of a step, should a callback want them.
Fitted = Callable[[], dict[str, Any]] | None

# A fit that takes less long shows no line.
PATIENCE_SECONDS = 2.0

_here = threading.local()


class CallbackMixin:
    """Callbacks of scikit-learn for an estimator whose ``fit`` is `watched`.

    scikit-learn's own mixin is looked up on use, because importing it imports rich.
    """

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set scikit-learn callbacks, as ``sklearn.callback.ProgressBar()``, for coming fits.

        Parameters
        ----------
        *callbacks : callback instances
            None at all removes those set before.

        Returns
        -------
        self : estimator
        """
        return _callback_support().set_callbacks(self, *callbacks)


def watched(fit: F) -> F:
    """Decorate ``fit`` so that the `Steps` inside it report progress."""

    @wraps(fit)
    def run(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        outer: Watch | None = getattr(_here, "watch", None)
        if outer is not None and outer.estimator is estimator:
            return fit(estimator, *args, **kwargs)  # a fit that calls its parent's
        if "_skl_callbacks" in vars(estimator):
            return _with_callbacks(fit, estimator, args, kwargs)
        return _watch_over(Watch(estimator), fit, args, kwargs)

    return cast(F, run)


def current_watch(estimator: Any) -> Watch | None:
    """The watch over this estimator's fit in this thread, if there is one."""
    watch: Watch | None = getattr(_here, "watch", None)
    return watch if watch is not None and watch.estimator is estimator else None


def _watch_over(watch: Watch, fit: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    outer = getattr(_here, "watch", None)
    _here.watch = watch
    try:
        result = fit(watch.estimator, *args, **kwargs)
        watch.finish()
        return result
    finally:
        _here.watch = outer
        if watch.line is not None:
            watch.line.close()


def _with_callbacks(fit: Callable[..., Any], estimator: Any, args: Any, kwargs: Any) -> Any:
    from sklearn.callback import with_callbacks

    given = inspect.signature(fit).bind(estimator, *args, **kwargs).arguments
    watch = Watch(estimator, CallbackTasks(estimator, given))

    def body(estimator: Any) -> Any:
        return _watch_over(watch, fit, args, kwargs)

    return with_callbacks(body)(estimator)


def _callback_support() -> Any:
    try:
        from sklearn.callback import CallbackSupportMixin
    except ImportError as error:
        raise ImportError(
            "Callbacks need scikit-learn 1.9 or later: pip install --upgrade scikit-learn"
        ) from error
    return CallbackSupportMixin


class Watch:
    """Over one fit: tells callbacks and the terminal which step has begun and ended."""

    def __init__(self, estimator: Any, tasks: CallbackTasks | None = None) -> None:
        self.estimator = estimator
        self.tasks = tasks
        self.line: TerminalLine | None = None
        self.fitted: Fitted = None
        self._name = ""
        self._max_iter = 0
        self._number = 0
        self._run = 0
        # A user who set callbacks sees the progress that they asked for.
        self._started = perf_counter() if tasks is None else float("inf")

    def open_run(self, name: str, max_iter: int, runs: int | None) -> None:
        """A run of at most ``max_iter`` steps begins, one of ``runs``."""
        self._run += 1
        self._name = name if runs == 1 else f"{name}, run {self._run}"
        self._max_iter, self._number = max_iter, 0
        if self.tasks is not None:
            self.tasks.end_run(self._take_fitted())
            self.tasks.open_run(name, max_iter, runs)

    def begin_step(self) -> None:
        """A step begins."""
        self._number += 1
        if self.tasks is not None:
            self.tasks.begin_step()
        elif perf_counter() - self._started > PATIENCE_SECONDS:
            self._started = float("inf")
            self.line = open_line(type(self.estimator).__name__)
        if self.line is not None:
            self.line.move(self._name, self._number, self._max_iter)

    def end_step(self) -> bool:
        """The step has ended; whether a callback asks to stop."""
        return self.tasks is not None and self.tasks.end_step(self._take_fitted())

    def finish(self) -> None:
        """The fit has ended well; the step that ended its last loop is still open."""
        if self.tasks is not None:
            self.tasks.finish(self._take_fitted())

    def _take_fitted(self) -> Fitted:
        fitted, self.fitted = self.fitted, None
        return fitted


class CallbackTasks:
    """The one place that speaks scikit-learn's callback language.

    The fit is the root task, each run a task of it, each step a task of its run.
    """

    def __init__(self, estimator: Any, given: Mapping[str, Any]) -> None:
        self._estimator = estimator
        rest = {
            name: value
            for name, value in list(given.items())[1:]
            if name not in ("X", "y") and value is not None
        }
        self._data = {"X": given.get("X"), "y": given.get("y"), "metadata": rest or None}
        self._root: Any = None
        self._run: Any = None
        self._step: Any = None

    def open_run(self, name: str, max_iter: int, runs: int | None) -> None:
        """Begin a run."""
        if self._root is None:
            self._open_root(runs)
        self._run = self._begin(self._root.subcontext(task_name=name, max_subtasks=max_iter))

    def begin_step(self) -> None:
        """Begin a step of the run."""
        self._step = self._begin(self._run.subcontext(task_name="step"))

    def end_step(self, fitted: Fitted) -> bool:
        """End the step, if one is open; whether a callback asks to stop."""
        step, self._step = self._step, None
        return step is not None and self._end(step, fitted)

    def end_run(self, fitted: Fitted) -> None:
        """End the run and its last step, if they are open."""
        self.end_step(fitted)
        run, self._run = self._run, None
        if run is not None:
            self._end(run, None)

    def finish(self, fitted: Fitted) -> None:
        """End the last step, the last run and the fit."""
        if self._root is None:
            self._open_root(0)
        self.end_run(fitted)
        # By now the estimator itself is fitted.
        self._end(self._root, dict)

    def _open_root(self, runs: int | None) -> None:
        root = _callback_support()._init_callback_context(self._estimator, max_subtasks=runs)
        self._root = self._begin(root)

    def _begin(self, context: Any) -> Any:
        context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return context

    def _end(self, context: Any, fitted: Fitted) -> bool:
        stop = context.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._data
        )
        return bool(stop)


class TerminalLine:
    """A rich progress line on standard error, gone when the fit ends."""

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
        """Step ``number`` of ``run`` begins."""
        text = f"{self._title}: {run}"
        self._progress.update(self._task, description=text, completed=number, total=max_iter)

    def show(self, values: Mapping[str, Any]) -> None:
        """Show the plain numbers among what a step records."""
        numbers = [
            f"{name} {value:.6g}"
            for name, value in values.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        self._progress.update(self._task, numbers=", ".join(numbers))

    def close(self) -> None:
        """Take the line away."""
        self._progress.stop()
        TerminalLine._shown = False


def open_line(title: str) -> TerminalLine | None:
    """A line for a fit that takes long; None where nobody would see it or wants to.

    It needs rich, a terminal as standard error, and the main thread of the main process, so that
    lines of parallel fits do not overwrite each other. ``CEIBA_PROGRESS=0`` switches it off.
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
    """A rich console on standard error, or None where that is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(file=sys.stderr)
