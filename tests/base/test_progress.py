from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from ceiba.base import CallbackMixin, Iterations, ParameterError, progress, reports_progress


class Halver(CallbackMixin, BaseEstimator):
    """Halves the mean of X until it is small."""

    def __init__(self, start=1.0, max_iter=10, n_init=1, trace=False, after=None):
        self.start = start
        self.max_iter = max_iter
        self.n_init = n_init
        self.trace = trace
        self.after = after

    @reports_progress
    def fit(self, X, y=None, sample_weight=None):
        for _ in range(self.n_init):
            steps = Iterations(
                self, self.max_iter, trace=self.trace, name="halving", runs=self.n_init
            )
            value = self.start
            steps.record(value=value)
            for step in steps:
                value = value / 2
                step.record(value=value, array=lambda value=value: np.full(3, value))
                step.report_attributes(lambda value=value: {"value_": value})
                if self.after is not None:
                    self.after(step)
                if value < 0.1:
                    break
            self.n_iter_, self.stopped_, self.trace_ = steps.count, steps.stopped, steps.trace
        self.value_ = value
        return self

    def score(self, X, y=None):
        return -self.value_


class Plain(BaseEstimator):
    """No steps at all."""

    @reports_progress
    def fit(self, X, y=None):
        self.done_ = True
        return self

    set_callbacks = CallbackMixin.set_callbacks


class Diary:
    """A callback that records its calls."""

    def __init__(self, stop_at=None, fail_at=None):
        self.stop_at = stop_at
        self.fail_at = fail_at
        self.events = []
        self.values = []
        self.data = None

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        self.events.append(f"+{context.task_name}{context.task_id}")
        self.data = (X, y, metadata)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.events.append(f"-{context.task_name}{context.task_id}")
        if fitted_estimator is not None:
            self.values.append(getattr(fitted_estimator, "value_", None))
        if context.task_name == "iteration" and context.task_id == self.fail_at:
            raise RuntimeError("the diary is full")
        return context.task_name == "iteration" and context.task_id == self.stop_at


X = np.zeros((4, 2))


def test_steps_count_and_end_at_max_iter():
    steps = Iterations(None, 3)
    assert [step.number for step in steps] == [1, 2, 3]
    assert (steps.count, steps.stopped, steps.trace) == (3, False, None)
    assert list(Iterations(None, 0)) == []


def test_a_run_that_continues_another_goes_on_with_its_count_and_trace():
    first = Iterations(None, 2, trace=True)
    for step in first:
        step.record(value=step.number)
    second = Iterations(None, 4, after=first)
    for step in second:
        step.record(value=step.number)
    assert [frame.step for frame in second.trace] == [1, 2, 3, 4]
    with pytest.raises(ParameterError, match=r"'trace' has no effect with after, .* got True"):
        Iterations(None, 4, trace=True, after=first)


def test_the_trace_keeps_start_and_steps():
    model = Halver(max_iter=3, trace=True).fit(X)
    assert [frame.step for frame in model.trace_] == [0, 1, 2, 3]
    assert [frame["value"] for frame in model.trace_] == [1.0, 0.5, 0.25, 0.125]
    assert model.trace_[2]["array"].tolist() == [0.25] * 3


def test_without_trace_functions_are_not_called():
    steps = Iterations(None, 2)
    for step in steps:
        step.record(value=lambda: pytest.fail("evaluated"))
    assert steps.trace is None


def test_a_callback_hears_every_task_in_order():
    diary = Diary()
    weight = np.ones(4)
    model = Halver(n_init=2).set_callbacks(diary).fit(X, [0, 1, 0, 1], sample_weight=weight)
    run = [
        "+iteration0",
        "-iteration0",
        "+iteration1",
        "-iteration1",
        "+iteration2",
        "-iteration2",
        "+iteration3",
        "-iteration3",
    ]
    assert diary.events == [
        "setup", "+fit0",
        "+halving0", *run, "-halving0",
        "+halving1", *run, "-halving1",
        "-fit0", "teardown",
    ]  # fmt: skip
    assert diary.values == [0.5, 0.25, 0.125, 0.0625] * 2 + [model.value_]
    assert diary.data[0] is X
    assert diary.data[1] == [0, 1, 0, 1]
    assert diary.data[2] == {"sample_weight": weight}
    assert not [name for name in vars(model) if "callback" in name and name != "_skl_callbacks"]


def test_positional_arguments_reach_callbacks_too():
    diary = Diary()
    Halver().set_callbacks(diary).fit(X, None, X[:, 0])
    assert diary.data[2]["sample_weight"].shape == (4,)


def test_a_callback_can_stop_the_loop():
    diary = Diary(stop_at=1)
    model = Halver().set_callbacks(diary).fit(X)
    assert (model.n_iter_, model.stopped_) == (2, True)
    assert diary.events[-4:] == ["-iteration1", "-halving0", "-fit0", "teardown"]
    assert not Halver().fit(X).stopped_


@pytest.mark.parametrize("index", [0, 3])
def test_an_error_of_a_callback_is_not_lost(index):
    diary = Diary(fail_at=index)
    with pytest.raises(RuntimeError, match="diary is full"):
        Halver().set_callbacks(diary).fit(X)
    assert diary.events[-1] == "teardown"


def test_callbacks_go_as_they_came():
    diary = Diary()
    model = Halver().set_callbacks(diary)
    clone(model).fit(X)
    assert diary.events[0] == "setup"
    diary.events.clear()
    model.set_callbacks().fit(X)
    assert diary.events == []
    with pytest.raises(TypeError, match="protocol"):
        model.set_callbacks(3)


def test_a_fit_without_steps_is_one_task():
    diary = Diary()
    Plain().set_callbacks(diary).fit(X)
    assert diary.events == ["setup", "+fit0", "-fit0", "teardown"]


def test_scikit_learns_progress_bar(capsys):
    from sklearn.callback import ProgressBar

    model = Halver(n_init=2).set_callbacks(ProgressBar()).fit(X)
    assert model.n_iter_ == 4
    shown = capsys.readouterr().out
    assert "Halver - fit" in shown
    assert "Halver - halving #1" in shown


def test_scikit_learns_scoring_monitor():
    from sklearn.callback import ScoringMonitor

    monitor = ScoringMonitor(scoring={"score": lambda model, X, y: -model.value_})
    Halver().set_callbacks(monitor).fit(X, np.zeros(4))
    log = monitor.get_logs().data
    scores = [row["score"] for row in log if row["task_name"] == "iteration"]
    assert scores == [-0.5, -0.25, -0.125, -0.0625]


def test_a_meta_estimator_passes_its_bar_on(capsys):
    from sklearn.callback import ProgressBar

    search = GridSearchCV(Halver(), {"max_iter": [1, 2]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, [0, 1, 0, 1])
    pipe = make_pipeline(Halver()).set_callbacks(ProgressBar())
    assert pipe.fit(X)[-1].n_iter_ == 4
    assert "Halver - halving" in capsys.readouterr().out


def test_a_scikit_learn_without_callbacks_raises(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    assert Halver().fit(X).n_iter_ == 4
    with pytest.raises(ImportError, match=r"scikit-learn 1\.9"):
        Halver().set_callbacks(Diary())


def test_the_signature_stays():
    import inspect

    assert list(inspect.signature(Halver.fit).parameters) == ["self", "X", "y", "sample_weight"]
    assert Halver.fit.__name__ == "fit"


class FakeTerminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    """A terminal on standard error, and no patience."""
    stream = FakeTerminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("CEIBA_PROGRESS", raising=False)
    monkeypatch.setattr(progress, "DELAY_SECONDS", -1.0)
    return stream


def test_a_long_fit_shows_a_line_in_a_terminal(screen):
    seen = []
    model = Halver(max_iter=3, after=lambda step: seen.append(progress.ProgressLine.shown))
    model.fit(X)
    assert seen == [True, True, True]
    assert not progress.ProgressLine.shown
    assert "Halver: halving" in screen.getvalue()
    assert "3/3" in screen.getvalue()
    assert "value 0.125" in screen.getvalue()


def test_the_line_numbers_the_runs(screen):
    Halver(n_init=2).fit(X)
    assert "halving, run 2" in screen.getvalue()


def test_a_short_fit_shows_nothing(screen, monkeypatch):
    monkeypatch.setattr(progress, "DELAY_SECONDS", 60.0)
    Halver().fit(X)
    assert screen.getvalue() == ""


def test_patience_counts_from_the_beginning_of_the_fit(screen, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(progress, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(progress, "DELAY_SECONDS", 5.5)
    seen = []
    Halver(n_init=2, after=lambda step: seen.append(progress.ProgressLine.shown)).fit(X)
    assert seen == [False] * 5 + [True] * 3


def test_the_line_can_be_switched_off(screen, monkeypatch):
    monkeypatch.setenv("CEIBA_PROGRESS", "0")
    Halver().fit(X)
    assert screen.getvalue() == ""


def test_no_line_without_terminal(screen, monkeypatch):
    monkeypatch.setattr(screen, "isatty", lambda: False)
    Halver().fit(X)
    assert screen.getvalue() == ""


def test_no_line_without_rich(screen, monkeypatch):
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    Halver().fit(X)
    assert screen.getvalue() == ""


def test_no_line_beside_callbacks(screen):
    Halver().set_callbacks(Diary()).fit(X)
    assert screen.getvalue() == ""


def test_no_line_from_another_thread(screen):
    thread = threading.Thread(target=Halver().fit, args=(X,))
    thread.start()
    thread.join()
    assert screen.getvalue() == ""


def test_a_fit_inside_a_fit_draws_no_second_line(screen):
    Halver(after=lambda step: Halver(start=3.0).fit(X)).fit(X)
    assert "Halver: halving" in screen.getvalue()
    assert "value 1.5" not in screen.getvalue()


def test_ctrl_c_ends_the_fit_and_cleans_up(screen):
    diary = Diary()

    def press(step):
        if step.number == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Halver(after=press).fit(X)
    assert not progress.ProgressLine.shown
    with pytest.raises(KeyboardInterrupt):
        Halver(after=press).set_callbacks(diary).fit(X)
    assert diary.events[-2:] == ["+iteration1", "teardown"]
    assert progress.current_monitor(None) is None
    assert getattr(progress._current, "monitor", None) is None


def test_another_estimators_steps_do_not_mix_in():
    diary = Diary()
    other = Halver(start=0.15)
    Halver(max_iter=1, after=lambda step: other.fit(X)).set_callbacks(diary).fit(X)
    assert diary.events == [
        "setup", "+fit0", "+halving0", "+iteration0",
        "-iteration0", "-halving0", "-fit0", "teardown",
    ]  # fmt: skip


def test_a_fit_that_calls_its_parents_is_one_fit():
    class Child(Halver):
        @reports_progress
        def fit(self, X, y=None, sample_weight=None):
            return super().fit(X, y, sample_weight)

    diary = Diary()
    Child().set_callbacks(diary).fit(X)
    assert diary.events.count("+fit0") == 1


def test_importing_ceiba_does_not_import_rich():
    code = "import sys, ceiba.base, ceiba.export; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
