"""The path of a fit through the package stays short."""

from __future__ import annotations

import runpy
from itertools import pairwise

from tests.paths import ROOT


def test_fit_of_a_tree_opens_few_files() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "follow_fit.py"))
    calls = tool["record_fit"]("tree")
    assert "DecisionTree.fit" in [call.function for call in calls]
    assert len({call.file for call in calls}) <= 20
    assert sum(one.package != other.package for one, other in pairwise(calls)) <= 35


def test_each_function_is_shown_once_on_request() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "follow_fit.py"))
    calls = tool["record_fit"]("kmeans")
    once = tool["first_calls"](calls)
    assert len(once) == len({(call.file, call.function) for call in calls}) < len(calls)
    assert once[0] == calls[0]
