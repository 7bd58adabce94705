"""The workloads of nearest neighbors run, and all libraries find the same neighbors."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import workloads
from benchmarks.workload import Workload
from benchmarks.workloads import neighbors


def test_the_family_has_all_workloads() -> None:
    assert set(workloads.select(["neighbors"])) == set(neighbors.WORKLOADS)


EUCLIDEAN = [w.name for w in neighbors.WORKLOADS if w not in neighbors.TABLES]


@pytest.mark.slow
@pytest.mark.parametrize("workload", neighbors.TABLES, ids=lambda workload: workload.name)
def test_tables_have_equal_neighbors(workload: Workload) -> None:
    data = workload.make_data(0, 200)
    found: dict[str, dict[str, float]] = {}
    for each in workload.implementations:
        if each.is_installed():
            scores = workload.quality(each.run(data[each.group]), data[each.group])
            for check in workload.checks:
                wanted = found.setdefault(each.group, scores)
                assert not check.failure(each.group, scores[check.metric], wanted[check.metric])


@pytest.mark.slow
@pytest.mark.parametrize("name", EUCLIDEAN)
def test_all_libraries_find_the_same_neighbors(name: str) -> None:
    workload = workloads.get(name)
    data = workload.make_data(0, 600)
    for each in workload.implementations:
        if each.is_installed():
            problem = data[each.group]
            found = each.run(problem)
            wanted = np.sort(
                np.linalg.norm(problem.queries[:5, None] - problem.X[None], axis=2), axis=1
            )[:, :10]
            np.testing.assert_allclose(found[:5], wanted, rtol=1e-3)
