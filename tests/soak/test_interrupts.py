"""Fits that Ctrl-C ends anywhere: what was fitted stays whole, and a new fit is right.

Twice over: at any moment, by a signal while native code runs; and at any line of Python, by an
exception instead.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import ceiba
from tests.ensemble.forest.parts import table
from tests.soak.cases import state, times

pytestmark = [
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction"),
    pytest.mark.filterwarnings("ignore:.*did not converge"),
]
PACKAGE = str(Path(ceiba.__file__).parent)
MEASURED = {"oob_score": True, "importance": True}
MODELS: dict[str, Any] = {
    "forest of classes": ceiba.RandomForestClassifier(12, **MEASURED),
    "forest of numbers": ceiba.RandomForestRegressor(12, quantiles=True, **MEASURED),
    "bag of classes": ceiba.BaggingClassifier(n_estimators=5, voting="majority", oob_score=True),
    "bag of numbers": ceiba.BaggingRegressor(n_estimators=5, oob_score=True),
    "boosted classes": ceiba.AdaBoostClassifier(n_estimators=8, trace=True),
    "boosted numbers": ceiba.AdaBoostRegressor(n_estimators=8, trace=True),
    "gradient boosting of classes": ceiba.GradientBoostingClassifier(8, trace=True),
    "gradient boosting of numbers": ceiba.GradientBoostingRegressor(8, loss="huber", dropout=0.3),
    "naive Bayes of classes": ceiba.NaiveBayesClassifier(distributions={"b": "gaussian"}),
    "trained classes": ceiba.NaiveBayesClassifier(training="tm", missing="category"),
    "tree of classes": ceiba.TANClassifier(),
    "trained tree of classes": ceiba.TANClassifier(training="tm", trace=True),
    "searched classes": ceiba.StructuralTMClassifier(missing="category"),
    "neighbors of classes": ceiba.KNeighborsClassifier("loo", metric="gower"),
    "neighbors of numbers": ceiba.KNeighborsRegressor("loo", scale="std"),
    "latent classes": ceiba.LatentClassMixture(3, structure="tree", n_init=2, max_iter=10),
}
EACH = pytest.mark.parametrize("name", MODELS)


class Case:
    """A model that knows a small table, before it is fitted to another."""

    def __init__(self, name: str, rows: int) -> None:
        self.old, self.new = table(60, seed=1), table(rows, seed=2)
        self.index = 1 if "classes" in name else 2
        options = {"oob_score": True} if "oob_score" in MODELS[name].get_params() else {}
        self.model = clone(MODELS[name]).set_params(**options)
        self.before = state(self.fit_to(self.old, self.model))
        self.after = state(self.fit_to(self.new, clone(self.model)))

    def fit_to(self, rows: Any, model: Any) -> Any:
        return model.fit(rows[0], rows[self.index])

    def again(self) -> Any:
        return self.fit_to(self.old, clone(self.model))

    def check(self, model: Any) -> None:
        """It is what it was, or what it was to become; and a fit to other rows is as ever."""
        assert state(model) in (self.before, self.after)
        rows = self.old[0]
        np.testing.assert_array_equal(model.predict(rows), model.predict(rows))
        assert state(self.fit_to(self.old, model)) == self.before


# By a signal


@pytest.fixture
def armed() -> Iterator[list[bool]]:
    """While it holds True, Ctrl-C is heard; a late one is not."""
    holds = [False]

    def heard(number: int, frame: Any) -> None:
        if holds[0]:
            holds[0] = False
            raise KeyboardInterrupt

    kept = signal.signal(signal.SIGINT, heard)
    yield holds
    signal.signal(signal.SIGINT, kept)


def interrupted(fit: Callable[[], Any], after: float, armed: list[bool]) -> bool:
    """Whether Ctrl-C, so many seconds from now, ended the fit."""
    main = threading.main_thread().ident or 0
    timer = threading.Timer(after, signal.pthread_kill, [main, signal.SIGINT])
    try:
        armed[0] = True
        timer.start()
        fit()
        armed[0] = False
    except KeyboardInterrupt:
        return True
    finally:
        timer.cancel()
        timer.join()
    return False


@EACH
def test_a_signal_at_any_moment(name: str, armed: list[bool]) -> None:
    case = Case(name, 900)
    begin = time.perf_counter()
    case.fit_to(case.new, clone(case.model))
    length = time.perf_counter() - begin
    rng = np.random.default_rng(0)
    ended = 0
    for _ in times(150):
        model = case.again()
        after = float(rng.random() * length)
        ended += interrupted(lambda model=model: case.fit_to(case.new, model), after, armed)
        case.check(model)
    print(f"{name}: {ended} of {len(times(150))} fits were ended")


# At a line


class Breaking:
    """Raises KeyboardInterrupt in place of the n-th line of the package."""

    def __init__(self, line: int) -> None:
        self.left, self.location = line, ""

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                self.location = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
                raise KeyboardInterrupt
        return self


def lines_of(fit: Callable[[], Any]) -> int:
    """How many lines of the package a fit runs."""
    counter = Breaking(sys.maxsize)
    sys.settrace(counter)
    try:
        fit()
    finally:
        sys.settrace(None)
    return sys.maxsize - counter.left


@EACH
def test_an_interrupt_at_any_line(name: str) -> None:
    case = Case(name, 80)
    model = case.again()
    lines = lines_of(lambda: case.fit_to(case.new, model))
    some = np.random.default_rng(1).permutation(lines)[: len(times(lines))]
    torn, ended = set(), 0
    # Its last lines are where the fitted state is put in place.
    for line in sorted({*some.tolist(), *range(lines - 60, lines)}):
        model, breaking = case.again(), Breaking(line + 1)
        sys.settrace(breaking)
        try:
            # Lines are not always as many: some are run once, and remembered.
            with suppress(KeyboardInterrupt):
                case.fit_to(case.new, model)
        finally:
            sys.settrace(None)
        ended += breaking.left <= 0
        if state(model) not in (case.before, case.after):
            torn.add(breaking.location)
    assert ended > 0
    assert not torn, "an interrupt here leaves half of a fit"
    case.check(model)
