"""The script that runs scikit-learn's tests with Ceiba's estimators."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import sklearn.tree

from ceiba import DecisionTreeClassifier
from tests.paths import ROOT

TESTS = """
import pytest
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

def test_fits_ceiba():
    tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    assert type(tree).__module__.startswith("ceiba")

@pytest.mark.parametrize("depth", [1, 2])
def test_fails(depth):
    DecisionTreeClassifier(max_depth=depth)
    raise RuntimeError(f"\\ndepth {depth} at 0x7f3a is wrong")

def test_uses_another_class():
    ExtraTreeClassifier().fit([[0.0], [1.0]], [0, 1])

@pytest.mark.skip
def test_skipped():
    DecisionTreeClassifier()
"""


def test_counts_the_tests_of_replaced_estimators(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = sklearn.tree.DecisionTreeClassifier
    methods = DecisionTreeClassifier.__init__, DecisionTreeClassifier.fit
    file = tmp_path / "test_tiny.py"
    file.write_text(TESTS)
    broken = tmp_path / "test_broken.py"
    broken.write_text("import a_module_that_does_not_exist")
    tool = runpy.run_path(str(ROOT / "tools" / "sklearn_tests.py"))
    assert tool["main"]([str(file), str(broken), "--failures"]) == 0
    lines = capsys.readouterr().out.splitlines()
    # Tests, passed, share, and tests that are skipped or use no replaced estimator.
    counts = {line.split()[0]: line.split()[1:] for line in lines[:4]}
    assert counts["test_tiny.py"] == ["3", "1", "33.3%", "2"]
    assert counts["test_broken.py"] == ["1", "0", "0.0%", "0"]
    assert counts["all"] == ["4", "1", "25.0%", "2"]
    group = lines.index("    2  RuntimeError: depth # at # is wrong")
    assert lines[group + 2].strip() == "test_tiny.py::test_fails[2]"
    assert any("No module named" in line for line in lines)
    # Nothing stays replaced.
    assert sklearn.tree.DecisionTreeClassifier is original
    assert (DecisionTreeClassifier.__init__, DecisionTreeClassifier.fit) == methods
