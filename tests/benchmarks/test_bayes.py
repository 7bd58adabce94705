"""Workloads of Bayesian network classifiers do the same work in all libraries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import workloads
from benchmarks.workloads import bayes
from tests.benchmarks.helpers import assert_groups_have_peers, assert_quick_run_agrees


def test_every_workload_is_listed() -> None:
    assert set(workloads.select(["bayes"])) == set(bayes.WORKLOADS)


def test_groups_have_peers() -> None:
    assert_groups_have_peers([each for each in bayes.WORKLOADS if "search" not in each.name])


@pytest.mark.slow
@pytest.mark.parametrize("workload", bayes.WORKLOADS, ids=lambda workload: workload.name)
def test_quick_runs_agree(workload: workloads.Workload) -> None:
    assert_quick_run_agrees(replace(workload, quick_n_rows=min(workload.quick_n_rows, 1_500)))
