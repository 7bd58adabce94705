"""Run scikit-learn's own tests with Ceiba's estimators instead of scikit-learn's.

    python tools/sklearn_tests.py [--timeout SECONDS] [--failures] [FILE ...]

The test files of the installed scikit-learn are collected by pytest after the estimators of
``sklearn.tree``, ``sklearn.ensemble``, ``sklearn.cluster`` and ``sklearn.mixture`` that Ceiba has
too were replaced by Ceiba's; scikit-learn itself, for example its ``ExtraTreesClassifier``, keeps
its own. A ``FILE`` is an absolute path or one below the folder of scikit-learn; without one the
files of ``FILES`` are run. A table counts per file the tests that create or fit one of Ceiba's
estimators, and how many of them pass; tests that use none (of private functions, of other
estimators) and skipped ones are in the last column. Failures are grouped by the first line of
their error, with numbers replaced; ``--failures`` lists the tests of every group.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import sklearn

import ceiba

SKLEARN = Path(sklearn.__file__).parent
FILES = (
    "tree/tests/test_tree.py",
    "tree/tests/test_split.py",
    "tree/tests/test_monotonic_tree.py",
    "ensemble/tests/test_forest.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_weight_boosting.py",
    "ensemble/tests/test_common.py",
    "ensemble/tests/test_voting.py",
    "ensemble/tests/test_stacking.py",
    "cluster/tests/test_k_means.py",
    "mixture/tests/test_gaussian_mixture.py",
    "mixture/tests/test_mixture.py",
)
MAX_MESSAGE = 110


@dataclass
class FileResult:
    """Counts and failures of one test file."""

    n_passed: int = 0
    n_other: int = 0  # tests that are skipped, or use no estimator of Ceiba
    failures: dict[str, str] = field(default_factory=dict)  # test -> first line of its error

    @property
    def n_tests(self) -> int:
        """Number of tests that use an estimator of Ceiba."""
        return self.n_passed + len(self.failures)


class Replacement:
    """Plugin of pytest that replaces the estimators and counts the tests that use them."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.results: dict[str, FileResult] = defaultdict(FileResult)
        self._used = False
        for name, package in ceiba.ESTIMATORS.items():
            counterpart = package.replace("ceiba", "sklearn")
            if find_spec(counterpart) is None:
                continue
            module = import_module(counterpart)
            if hasattr(module, name):
                estimator = getattr(import_module(package), name)
                for method in ("__init__", "fit"):
                    patch.setattr(estimator, method, self._noting(getattr(estimator, method)))
                patch.setattr(module, name, estimator)

    def _noting(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method, which notes that it was called."""

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            self._used = True
            return method(*args, **kwargs)

        return call

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Reset the note before every test."""
        self._used = False
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the result of a test."""
        failed = report.failed
        if report.when != "call" and not failed and not report.skipped:
            return
        file, _, test = report.nodeid.partition("::")
        result = self.results[file]
        if report.skipped or not self._used:
            result.n_other += 1
        elif failed:
            result.failures[test] = first_line(report)
        else:
            result.n_passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a file that cannot be imported as one failure."""
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1]
            self.results[report.nodeid].failures["(collection)"] = normalized(last)


def first_line(report: pytest.TestReport) -> str:
    """Return the first line of the error of a failed test, and more if it is its type alone."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(report.longrepr if crash is None else crash.message)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return normalized(" ".join(lines[:3] if lines[0].endswith(":") else lines[:1]))


def normalized(message: str) -> str:
    """Return a message with its numbers replaced and at most ``MAX_MESSAGE`` characters."""
    text = re.sub(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e-?\d+)?", "#", message)
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 3]}..."


def table(results: dict[str, FileResult]) -> str:
    """Return the counts per file and their sums as a text table."""
    rows = [*results.items(), ("all", _sum_of(results.values()))]
    width = max(len(name) for name, _ in rows)
    lines = [f"{'file':<{width}}  tests  passed  share  other"]
    for name, result in rows:
        share = f"{result.n_passed / result.n_tests:.1%}" if result.n_tests else "-"
        lines.append(
            f"{name:<{width}}  {result.n_tests:>5}  {result.n_passed:>6}  {share:>6} "
            f"{result.n_other:>5}"
        )
    return "\n".join(lines)


def _sum_of(results: Any) -> FileResult:
    total = FileResult()
    for number, result in enumerate(results):
        total.n_passed += result.n_passed
        total.n_other += result.n_other
        total.failures |= {f"{number} {test}": line for test, line in result.failures.items()}
    return total


def groups(results: dict[str, FileResult], with_tests: bool) -> str:
    """Return the failures by first line of their error, the most frequent first."""
    tests: dict[str, list[str]] = defaultdict(list)
    for file, result in results.items():
        for test, line in result.failures.items():
            tests[line].append(f"{Path(file).name}::{test}")
    lines = []
    for line, names in sorted(tests.items(), key=lambda group: -len(group[1])):
        lines.append(f"{len(names):>5}  {line}")
        lines += [f"         {name}" for name in names if with_tests]
    return "\n".join(lines)


def run(files: list[str], timeout: float) -> dict[str, FileResult]:
    """Run test files with Ceiba's estimators and return their results."""
    paths = [str(SKLEARN / file) for file in files]  # an absolute path stays as it is
    inside = all(SKLEARN in Path(path).parents for path in paths)
    root = SKLEARN if inside else os.path.commonpath([Path(path).parent for path in paths])
    options = [
        "-q", "--tb=no", "-rN", "--no-header", "--disable-warnings", "-p", "no:cacheprovider",
        "--continue-on-collection-errors", f"--timeout={timeout}", f"--rootdir={root}",
        "-c", os.devnull,
    ]  # fmt: skip
    # Progress goes to standard error: standard output is the table.
    with redirect_stdout(sys.stderr), pytest.MonkeyPatch.context() as patch:
        replacement = Replacement(patch)
        pytest.main([*options, *paths], plugins=[replacement])
    return dict(replacement.results)


def main(arguments: list[str] | None = None) -> int:
    """Run the tests and print the table and the groups; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", default=list(FILES), metavar="FILE")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds per test")
    parser.add_argument("--failures", action="store_true", help="list the tests of each group")
    options = parser.parse_args(arguments)
    results = run(options.files, options.timeout)
    if not results:
        print("No test was found.", file=sys.stderr)
        return 1
    print(table(results))
    print(f"\nFailures by first line of the error\n\n{groups(results, options.failures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
