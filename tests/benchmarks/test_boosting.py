from __future__ import annotations

import numpy as np
import pytest

from benchmarks import workloads
from benchmarks.boosting import peers, quality
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


@pytest.mark.parametrize("name", ["vehicle", "auto_mpg"])
def test_quality_is_that_of_the_best_peer(name):
    table = next(table for table in quality.all_tables(1_000) if table.name == name)
    for metric, by_name in quality.compare(table, 1).items():
        mean, error = quality.shortfall(metric, by_name)
        # The best of several peers is better by chance, too.
        assert mean < 3 * error + 0.01, (metric, by_name)


def test_tables_of_quality_are_divided_anew():
    for table in quality.all_tables(300):
        train, test = next(table.splits(1))
        assert len(train.X) == len(train.y)
        assert len(test.X) == len(test.y)
