from __future__ import annotations

import numpy as np
import pytest

from benchmarks import workloads
from benchmarks.boosting import peers
from benchmarks.workloads import boosting
from tests.benchmarks.helpers import assert_quick_run_agrees


@pytest.mark.parametrize("name", ["boosting-regression", "boosting-nominal", "boosting-iris"])
def test_work_is_equal(name):
    assert_quick_run_agrees(workloads.get(name))


def test_ours_has_the_requested_trees_and_leaves():
    sample = boosting.numbers("classification")(0, 2_000)[boosting.GROUP]
    model = peers.ceiba("classification", 5, 8).fit(sample).model
    assert model.n_estimators_ == 5
    assert {model.tree(number).n_leaves for number in range(5)} == {8}


def test_a_predictor_is_fitted_once():
    fits = []

    def fit(sample):
        fits.append(sample)
        return peers.FittedBooster(None, lambda X: np.zeros(len(X)))

    run = boosting.fit_once(boosting.predict_all)(peers.Peer(fit, "ceiba"))
    sample = boosting.numbers("regression")(0, 200)[boosting.GROUP]
    shapes = [run(sample).predict(sample.test.X).shape for _ in range(3)]
    assert shapes == [(len(sample.test.y),)] * 3
    assert len(fits) == 1
