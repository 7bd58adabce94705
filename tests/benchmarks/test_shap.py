from __future__ import annotations

import numpy as np
import pytest

from benchmarks import workloads
from benchmarks.workloads import shap
from tests.benchmarks.helpers import assert_quick_run_agrees


@pytest.mark.slow
@pytest.mark.parametrize("name", ["shap-two-classes", "shap-five-classes"])
def test_work_is_equal(name):
    pytest.importorskip("shap")
    assert_quick_run_agrees(workloads.get(name))


def test_additivity_is_the_largest_difference():
    explained = shap.Explained(np.array([1.0, 2.0, 3.0]), np.array([[1.0], [2.5], [3.25]]))
    result = shap.Result(None, None, lambda model, X, values: explained)
    sample = shap.numbers("classification")(0, 20)[shap.GROUP]
    assert shap.additivity(result, sample) == {"additivity": 0.5}
