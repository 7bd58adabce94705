"""Assertions about comparisons that several test files share."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import harness
from benchmarks.workload import Workload


def assert_equal_work(comparison: harness.Comparison) -> None:
    """Assert that all that are installed did the same work."""
    for group, results in comparison.groups().items():
        statuses = {result.implementation.label: result.status for result in results}
        allowed = {"reference", "equal", "not installed"}
        if "reference" not in statuses.values():  # no peer of the group is installed
            allowed.add("unchecked")
        assert set(statuses.values()) <= allowed, (group, statuses)
    assert comparison.passed


def assert_quick_run_agrees(workload: Workload, rounds: int = 0) -> harness.Comparison:
    """Run a workload on its small data and check it; without rounds only the warm-up runs."""
    comparison = harness.run(workload, rounds=rounds, quick=True)
    assert_equal_work(comparison)
    return comparison


def assert_groups_have_peers(workloads: Sequence[Workload]) -> None:
    """Assert that ours comes first in every group and has a peer."""
    for workload in workloads:
        groups: dict[str, list[bool]] = {}
        for each in workload.implementations:
            groups.setdefault(each.group, []).append(each.ours)
        for group, ours in groups.items():
            assert ours[0], (workload.name, group)
            assert not all(ours), (workload.name, group)
