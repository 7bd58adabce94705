"""The cost model of fits on Dask, and the workloads of many partitions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import workloads
from benchmarks.cluster.cost import Costs, Fit, predict_seconds, tree_statistic_bytes
from tests.benchmarks.helpers import assert_groups_have_peers, assert_quick_run_agrees

COSTS = Costs(per_pass=0.03, per_task=0.002, per_partition=0.0002, per_statistic_byte=3e-9)
FIT = Fit(passes=10, n_bytes=1e9, n_partitions=100, statistic_bytes=0.0, per_byte=1e-9)


def test_the_terms_add_up():
    none = Costs(0.0, 0.0, 0.0, 0.0)
    assert predict_seconds(FIT, none, 2) == pytest.approx(10 * 1e9 * 1e-9 / 2)
    assert predict_seconds(FIT, replace(none, per_pass=1.0), 2) == pytest.approx(10 + 5)
    assert predict_seconds(FIT, replace(none, per_partition=1.0), 2) == pytest.approx(500 + 5)
    # Four tasks and the merges of eight.
    assert predict_seconds(FIT, replace(none, per_task=1.0), 2) == pytest.approx(40 * 8 / 7 + 5)
    large = replace(FIT, statistic_bytes=7.0)
    merged = replace(none, per_statistic_byte=1.0)
    assert predict_seconds(large, merged, 2) == pytest.approx(7 * (1 + 4) + 5)


def test_more_partitions_hardly_cost_more():
    few, many = (predict_seconds(replace(FIT, n_partitions=n), COSTS, 2) for n in (64, 1024))
    assert few < many < 1.5 * few


def test_workers_share_the_rows():
    large = replace(FIT, n_bytes=1e12, n_partitions=10_000)
    seconds = [predict_seconds(large, COSTS, n, 4) for n in (1, 10, 100)]
    # Passes and merges cost the same on more workers.
    assert seconds[0] > 8 * seconds[1] > 32 * seconds[2]


def test_the_sums_of_a_tree_double_with_each_depth():
    assert tree_statistic_bytes(1, 28, 255, 2) == 28 * 256 * 2 * 8
    assert tree_statistic_bytes(8, 28, 255, 2) == 255 * tree_statistic_bytes(1, 28, 255, 2)


def test_workloads_have_peers():
    found = workloads.select(["dask"])
    assert [each.name for each in found] == ["dask-tree", "dask-kmeans"]
    assert_groups_have_peers(found)


@pytest.mark.slow
@pytest.mark.dask
@pytest.mark.xdist_group("dask")
@pytest.mark.parametrize("name", ["dask-tree", "dask-kmeans"])
def test_quick_runs_receive_the_same_bytes(name):
    pytest.importorskip("distributed")
    assert_quick_run_agrees(workloads.get(name))
