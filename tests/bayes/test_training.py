"""Discriminative training against the naive oracles, scikit-learn and the reference numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ceiba.base import ParameterError
from ceiba.bayes.discriminative.objective import ConditionalLikelihood
from ceiba.bayes.discriminative.train import train, unbounded_cells
from ceiba.bayes.network import ClassTable, as_network
from ceiba.bayes.statistics import CodedRows, Fold, TableCounts
from ceiba.engine.contract import Batch
from tests.bayes.parts import (
    NAIVE,
    TREE,
    coded,
    config,
    families_of,
    posteriors,
    random_rows,
    table_of,
    training_data,
)
from tests.oracles import bayes_naive as naive
from tests.oracles.bayes_dependence_naive import tan_structure
from tests.oracles.bayes_missing_naive import fit_em, observed_cll, tm_missing
from tests.oracles.bayes_optimizers_naive import fit_lbfgs, one_hot
from tests.oracles.bayes_reference import REFERENCE
from tests.oracles.bayes_tables import reference_rows
from tests.oracles.bayes_tm_naive import tm

STRUCTURES = {"naive": NAIVE, "tree": TREE}
PENALTIES: list[tuple[Any, float, float]] = [(0.0, 0.0, 0.0), (3.0, 3.0, 0.0)]
PENALTIES.append(("generative", 0.0, 0.4))


@pytest.mark.parametrize("solver", ["lbfgs", "tm"])
def test_missing_values_have_the_generative_penalty_by_default(solver: str) -> None:
    missing = config(solver, "auto", 0.4, sums_missing=True)
    assert (missing.ridge, missing.tau) == (0.0, 0.4)
    complete = config(solver, "auto", 0.4)
    assert (complete.ridge, complete.tau) == ({"lbfgs": 3.0, "tm": 0.0}[solver], 0.0)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "tm"])
def test_a_failed_line_search_is_no_convergence(
    solver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = training_data(random_rows(), NAIVE)
    monkeypatch.setattr(ConditionalLikelihood, "ascend", lambda *arguments: None)
    monkeypatch.setattr("ceiba.bayes.discriminative.tm._search", lambda *arguments: None)
    assert not train(data, config(solver, 0.0), None, False).converged
    # At the optimum no step can ascend.
    monkeypatch.undo()
    optimum = train(data, config("lbfgs", 0.0), None, False).weights
    monkeypatch.setattr(ConditionalLikelihood, "ascend", lambda *arguments: None)
    at_optimum = replace(data, network=as_network(data.families, optimum))
    if solver != "tm":
        assert train(at_optimum, config(solver, 0.0), None, False).converged


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
@pytest.mark.parametrize(("penalty", "ridge", "tau"), PENALTIES)
@pytest.mark.parametrize("solver", ["lbfgs", "newton", "tm"])
def test_every_solver_reaches_the_optimum(
    solver: str, penalty: Any, ridge: float, tau: float, structure: naive.Structure
) -> None:
    if solver == "tm" and ridge:
        pytest.skip("solver='tm' has no ridge")
    rows = random_rows(seed=3)
    wanted, weights = fit_lbfgs(rows, structure, ridge, tau)
    data = training_data(rows, structure)
    result = train(data, config(solver, penalty, tol=1e-12), None, False)
    assert result.converged
    assert result.objective == pytest.approx(wanted, abs=1e-4)
    assert not result.is_separable
    expected = naive.posteriors(weights, structure, rows.X)
    np.testing.assert_allclose(posteriors(data, result.weights), expected, atol=2e-3)


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
@pytest.mark.parametrize("tau", [0.0, 0.4])
def test_tm_makes_the_steps_of_the_naive_algorithm(structure: naive.Structure, tau: float) -> None:
    rows = random_rows(seed=5, n=60)
    run = tm(rows, structure, tau=tau, tol=1e-6)
    penalty = "generative" if tau else 0.0
    data = training_data(rows, structure)
    result = train(data, config("tm", penalty, tau or 0.1, tol=1e-6), None, True)
    assert result.trace is not None
    assert [f["objective"] for f in result.trace] == pytest.approx(run.objective, abs=1e-7)
    frames = list(result.trace)[1:]
    assert [f["step"] for f in frames] == pytest.approx(run.steps, rel=1e-6)
    assert [f["max_step"] for f in frames] == pytest.approx(run.max_steps, rel=1e-6)
    np.testing.assert_allclose(
        result.weights.table, table_of(data.families, run.weights).table, atol=1e-6
    )


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_missing_values_are_summed_over(structure: naive.Structure) -> None:
    rows = random_rows(seed=7, n=40, missing=0.3)
    start, _ = fit_em(rows, structure)
    run = tm_missing(rows, structure, tol=1e-5, max_iter=25)
    families = families_of(structure, rows.categories)
    network = table_of(families, naive.to_weights(start))
    data = training_data(rows, structure, network=network, sums_missing=True)
    result = train(data, config("tm", sums_missing=True, tol=1e-5, max_iter=25), None, True)
    assert result.trace is not None
    assert [f["objective"] for f in result.trace] == pytest.approx(run.objective, abs=1e-6)
    # L-BFGS reaches a stationary point of the same likelihood, from the same network.
    optimum = train(data, config(sums_missing=True, penalty=0.0, max_iter=100), None, False)
    assert optimum.log_likelihood >= run.objective[-1] - 1e-3


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
@pytest.mark.parametrize(("ridge", "tau"), [(0.0, 0.0), (0.0, 0.4)])
def test_gradient_with_missing_values_matches_differences(
    structure: naive.Structure, ridge: float, tau: float
) -> None:
    rows = random_rows(seed=9, n=50, missing=0.3)
    data = training_data(rows, structure, sums_missing=True)
    penalty = "generative" if tau else 0.0
    objective = data.objective(config(penalty=penalty, tau=tau or 0.1, sums_missing=True))
    value = objective.value(data.network)
    rng = np.random.default_rng(0)
    known = data.families.is_known[:, None]
    direction = ClassTable(
        np.where(known, rng.normal(size=data.network.table.shape), 0.0), rng.normal(size=3)
    )
    step = 1e-5
    high, low = objective.along(value, direction, np.array([step, -step]))
    assert (high - low) / (2 * step) == pytest.approx(value.gradient.dot(direction), rel=1e-5)
    if not tau:
        expected = observed_cll(rows, _tables(data.families, value.weights), structure)
        assert value.log_likelihood == pytest.approx(expected, abs=1e-9)


def _tables(families: Any, weights: ClassTable) -> naive.Tables:
    found = {}
    for family, feature in enumerate(families.structure.features):
        known = tuple(slice(0, n - 1) for n in families.shapes[family])
        found[feature] = families.view(weights.table, family)[known]
    return naive.Tables(weights.bias, found)


@pytest.mark.parametrize("k", [2, 3])
def test_ridge_is_that_of_logistic_regression(k: int) -> None:
    rows = random_rows(seed=11, k=k, weighted=False)
    Z = one_hot(rows, TREE)[:, 1:]
    y = np.argmax(rows.Y, axis=1)
    model = LogisticRegression(C=(2.0 if k == 2 else 1.0) / 3.0, tol=1e-10, max_iter=10_000)
    data = training_data(rows, TREE)
    result = train(data, config(penalty=3.0), None, False)
    expected = model.fit(Z, y).predict_proba(Z)
    np.testing.assert_allclose(posteriors(data, result.weights), expected, atol=1e-4)


FAST = ("corral", "iris", "hepatitis", "heart", "vote", "cleve")


@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in REFERENCE]
)
def test_reference_numbers(name: str) -> None:
    rows, wanted = reference_rows(name), REFERENCE[name]
    features = [j for j, r in enumerate(rows.categories) if r > 1]
    for structure, numbers in (
        (naive.naive_structure(features), wanted.nb),
        (tan_structure(rows), wanted.tan),
    ):
        data = training_data(rows, structure)
        start = data.objective(config()).value(data.network)
        assert start.log_likelihood == pytest.approx(numbers.generative, abs=1e-3)
        unpenalized = train(data, config(), None, False)
        assert unpenalized.log_likelihood == pytest.approx(numbers.supremum, abs=2e-3)
        assert unpenalized.is_separable == (numbers.supremum == 0)
        ridge = train(data, config(penalty="auto"), None, False)
        assert ridge.objective == pytest.approx(numbers.objective3, abs=1e-3)
        assert ridge.log_likelihood == pytest.approx(numbers.cll3, abs=2e-3)


def test_separable_classes_and_empty_cells_are_found() -> None:
    X = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 0], [1, 0, 1]] * 5)
    y = X[:, 0]
    rows = naive.make_rows(X, y, None, (2, 3, 2), 2)
    data = training_data(rows, NAIVE)
    result = train(data, config(), None, False)
    assert result.is_separable
    assert np.isfinite(result.weights.table).all()
    assert not train(data, config(penalty=3.0), None, False).is_separable
    counts = TableCounts.of(data.rows, data.families)
    cells = unbounded_cells(data.families, ClassTable(counts.table, counts.bias))
    # Feature 0 has one class in each category; categories 1 and 2 of feature 1 too.
    assert cells.tolist() == [[0, 1], [1, 0], [4, 1], [5, 0]]


def test_early_stopping_takes_fewer_iterations() -> None:
    rows = random_rows(seed=13, n=40, weighted=False)
    data = training_data(rows, TREE)
    whole = train(data, config(), None, False)
    early = train(data, config(early_stopping=True), None, False)
    assert 1 <= early.n_iter < whole.n_iter
    assert early.log_likelihood < whole.log_likelihood


def test_folds_do_not_depend_on_the_partitions() -> None:
    rows = coded(random_rows(n=90))
    whole = Fold(2, 5, True, 1).select(Batch(rows))
    parts = []
    for start in (0, 40):
        part = slice(start, start + 50 if start else 40)
        weight = None if rows.weight is None else rows.weight[part]
        assert rows.labels is not None
        own = CodedRows(rows.codes[part], rows.labels[part], weight, rows.n_classes)
        parts.append(Fold(2, 5, True, 1).select(Batch(own, first_row=start)).codes)
    np.testing.assert_array_equal(np.concatenate(parts), whole.codes)
    others = Fold(2, 5, False, 1).select(Batch(rows))
    assert len(others) + len(whole) == 90
    assert len(whole) > 5


def test_threads_do_not_change_the_bits() -> None:
    rows = random_rows(seed=17, n=20_000)
    found = [
        train(training_data(rows, TREE, threads=threads), config(penalty=3.0), None, False)
        for threads in (1, 2, 3)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.weights.table, found[0].weights.table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("tm", 1.0), "solver='tm' has no ridge"),
        (("lbfgs", 1.0, 0.1, True), "A ridge requires rows without missing values"),
        (("newton", "auto", 0.1, True), "solver='newton' requires rows without missing values"),
    ],
)
def test_settings_that_contradict_each_other_raise(arguments: Any, message: str) -> None:
    solver, penalty, *rest = arguments
    with pytest.raises(ParameterError, match=message):
        config(solver, penalty, sums_missing=bool(rest))
