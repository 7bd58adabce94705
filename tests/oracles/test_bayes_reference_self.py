"""Naive Bayesian network classifiers reproduce the reference numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.bayes_dependence_naive import tan_structure
from tests.oracles.bayes_naive import (
    arcs_of,
    conditional_log_likelihood,
    fit_generative,
    informative_features,
    n_parameters,
    naive_structure,
    posteriors,
    to_weights,
)
from tests.oracles.bayes_optimizers_naive import fit_newton, supremum
from tests.oracles.bayes_reference import CV_ACCURACY, FOLDS_OF_SEED_0, REFERENCE, TAN_ARCS
from tests.oracles.bayes_tables import NAMES, folds, reference_rows

CLOSE = 1e-3


def nb_structure(rows):
    return naive_structure(informative_features(rows.X))


@pytest.mark.parametrize("name", NAMES)
def test_tables(name):
    rows, expected = reference_rows(name), REFERENCE[name]
    assert len(rows.X) == expected.n_rows
    assert rows.categories == expected.categories


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["nb", "tan"])
def test_whole_tables(name, kind):
    rows, expected = reference_rows(name), getattr(REFERENCE[name], kind)
    structure = nb_structure(rows) if kind == "nb" else tan_structure(rows)
    if kind == "tan" and name in TAN_ARCS:
        assert arcs_of(structure) == TAN_ARCS[name]
    assert n_parameters(structure, rows.categories, rows.n_classes) == expected.d
    generative = to_weights(fit_generative(rows, structure))
    cll = conditional_log_likelihood(rows, generative, structure)
    assert cll == pytest.approx(expected.generative, abs=CLOSE)
    assert supremum(rows, structure) == pytest.approx(expected.supremum, abs=CLOSE)
    value, weights = fit_newton(rows, structure, ridge=3.0)
    assert value == pytest.approx(expected.objective3, abs=CLOSE)
    cll = conditional_log_likelihood(rows, weights, structure)
    assert cll == pytest.approx(expected.cll3, abs=CLOSE)


def fold_accuracies(name, seed, column):
    """Percent correct in the folds of one split, for the columns NB, TAN, NB-TM+ and TAN-TM+."""
    found = []
    for fold in folds(name, seed):
        structure = nb_structure(fold.train) if "NB" in column else tan_structure(fold.train)
        if column.endswith("TM+"):
            weights = fit_newton(fold.train, structure, ridge=3.0)[1]
        else:
            weights = to_weights(fit_generative(fold.train, structure))
        predicted = posteriors(weights, structure, fold.X).argmax(axis=1)
        found.append(100 * np.mean(predicted == fold.y))
    return found


@pytest.mark.parametrize(("name", "column"), list(FOLDS_OF_SEED_0))
def test_folds_of_one_split(name, column):
    found = fold_accuracies(name, 0, column)
    np.testing.assert_allclose(found, FOLDS_OF_SEED_0[name, column], atol=0.006)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("column", ["NB", "TAN", "NB-TM+", "TAN-TM+"])
def test_cross_validation(name, column):
    found = [a for seed in range(5) for a in fold_accuracies(name, seed, column)]
    mean, deviation = CV_ACCURACY[name][column]
    assert np.mean(found) == pytest.approx(mean, abs=0.3)
    assert np.std(found) == pytest.approx(deviation, abs=0.3)
