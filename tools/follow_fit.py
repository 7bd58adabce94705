"""Print the path of one fit through the package: files, functions and changes of package.

    python tools/follow_fit.py LEARNER [--once]    # tree, forest, ...: see LEARNERS

A table of 150 rows and 4 columns is fitted twice, the first time for imports and caches, and the
calls of the second fit are shown in order, indented by depth. Counted are all calls of Python
functions of the package on the main thread: every EM or Lloyd iteration, every tree or round of the
ensembles in ``LEARNERS``, and a generator each time it resumes. Native code, other libraries, other
threads, comprehensions and lambdas are not counted. With ``--once`` only the first call of each
function is shown and counted, as somebody reads who follows a fit: what an iteration or a tree
repeats is left out. A package is the first folder below ``ceiba``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import ceiba

ROOT = Path(ceiba.__file__).parent
LEARNERS: dict[str, Callable[[], Any]] = {
    "tree": ceiba.DecisionTreeClassifier,
    "forest": lambda: ceiba.RandomForestClassifier(n_estimators=5),
    "mixture": lambda: ceiba.GaussianMixture(2),
    "kmeans": lambda: ceiba.KMeans(3),
    "bagging": lambda: ceiba.BaggingClassifier(n_estimators=3),
    "adaboost": lambda: ceiba.AdaBoostClassifier(n_estimators=3),
    "gradient_boosting": lambda: ceiba.GradientBoostingClassifier(n_estimators=3),
    "naive_bayes": ceiba.NaiveBayesClassifier,
    "tan": ceiba.TANClassifier,
}
# Expressions, and the reading of a hyper-parameter as an attribute.
_SKIPPED = ("<genexpr>", "comp>", "<lambda>", "Attribute.__get__", "Attribute.__set__", "fold")
UNSUPERVISED = ("mixture", "kmeans")


@dataclass(frozen=True)
class Call:
    """One call of a function of the package."""

    depth: int
    file: str
    function: str

    @property
    def package(self) -> str:
        """First folder below ``ceiba``."""
        return self.file.split("/")[0]


@dataclass
class CallRecorder:
    """Profile function that records the calls of the package's functions."""

    calls: list[Call] = field(default_factory=list)
    depth: int = 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """Record a call; other events change the depth only."""
        path = Path(frame.f_code.co_filename)
        name = frame.f_code.co_qualname.replace(".<locals>", "")
        if not path.is_relative_to(ROOT) or name.endswith(_SKIPPED):
            return
        if event == "call":
            file = path.relative_to(ROOT).as_posix()
            self.calls.append(Call(self.depth, file, name))
            self.depth += 1
        elif event == "return":
            self.depth -= 1


def record_fit(learner: str) -> list[Call]:
    """Return the calls of one fit of a small table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)
    data = (X,) if learner in UNSUPERVISED else (X, y)
    LEARNERS[learner]().fit(*data)  # imports and caches
    recorder = CallRecorder()
    sys.setprofile(recorder)
    try:
        LEARNERS[learner]().fit(*data)
    finally:
        sys.setprofile(None)
    return recorder.calls


def first_calls(calls: list[Call]) -> list[Call]:
    """Return the first call of each function."""
    first: dict[tuple[str, str], Call] = {}
    for call in calls:
        first.setdefault((call.file, call.function), call)
    return list(first.values())


def path_lines(calls: list[Call]) -> Iterator[str]:
    """Yield one line per call; equal calls in a row share a line, with their number."""
    before, repeats = None, 0
    for call in [*calls, None]:
        if call == before:
            repeats += 1
            continue
        if before is not None:
            times = f"  x{repeats}" if repeats > 1 else ""
            yield f"{'  ' * before.depth}{before.function}  ({before.file}){times}"
        before, repeats = call, 1


def count_changes(names: list[str]) -> int:
    """Return how often consecutive names differ."""
    return sum(one != other for one, other in pairwise(names))


def main() -> None:
    """Print the path and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("learner", choices=LEARNERS)
    parser.add_argument("--once", action="store_true", help="only the first call of each function")
    arguments = parser.parse_args()
    calls = record_fit(arguments.learner)
    if arguments.once:
        calls = first_calls(calls)
    print("\n".join(path_lines(calls)))
    files = sorted({call.file for call in calls})
    print(f"\ncalls            {len(calls)}")
    print(f"functions        {len({(call.file, call.function) for call in calls})}")
    print(f"files            {len(files)}")
    print(f"package changes  {count_changes([call.package for call in calls])}")
    print(f"file changes     {count_changes([call.file for call in calls])}")
    print("\n" + "\n".join(files))


if __name__ == "__main__":
    main()
