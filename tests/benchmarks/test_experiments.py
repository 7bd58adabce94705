from __future__ import annotations

import pytest

from benchmarks import workloads
from tests.benchmarks.helpers import assert_quick_run_agrees


@pytest.mark.slow
@pytest.mark.parametrize("name", ["experiments-iris", "experiments-table"])
def test_work_is_equal(name):
    assert_quick_run_agrees(workloads.get(name))
