"""TANClassifier: tables, missing values, AODE, and prediction against enumeration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import ceiba
from ceiba import NaiveBayesClassifier, TANClassifier
from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.bayes import InfrequentParentsWarning
from ceiba.bayes.discriminative import train
from ceiba.bayes.em import fit_missing
from ceiba.bayes.families import Families
from ceiba.bayes.network import ClassTable, Smoothing
from ceiba.bayes.statistics import TableCounts
from ceiba.data.table import UnseenCategoryWarning
from tests.bayes.test_messages import as_tables, naive_structure
from tests.bayes.test_structure import OneBatch, coded, random_table
from tests.oracles import bayes_dependence_naive as dependence
from tests.oracles.bayes_missing_naive import fit_em, observed_posteriors
from tests.oracles.bayes_naive import fit_generative, posteriors, to_weights
from tests.oracles.bayes_tm_naive import flatten


def oracle_structure(model: TANClassifier) -> dict[int, tuple[int, ...]]:
    return naive_structure(model.model_.structure)


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("structure", ["tree", "forest", "kdb"])
def test_posteriors_of_complete_rows_equal_the_naive_ones(structure: str, alpha: float) -> None:
    X, y, rows = random_table(0)
    model = TANClassifier(structure=structure, alpha=alpha).fit(X, y)
    own = oracle_structure(model)
    theta = to_weights(fit_generative(rows, own, alpha))
    np.testing.assert_allclose(model.predict_proba(X), posteriors(theta, own, rows.X), atol=1e-12)


# Missing values


@pytest.mark.parametrize("alpha", [1.0, 0.25])
def test_em_equals_enumeration_and_never_descends(alpha: float) -> None:
    X, y, rows = random_table(1, n=60, missing=0.3)
    model = TANClassifier(alpha=alpha, em_tol=0, em_max_iter=30)
    with pytest.warns(ConvergenceWarning, match="increase em_max_iter"):
        model.fit(X, y)
    own = oracle_structure(model)
    theta, history = fit_em(rows, own, alpha, tol=-1.0, max_iter=30)
    families = model.model_.families
    np.testing.assert_allclose(
        flatten(as_tables(families, model.model_.weights)), flatten(to_weights(theta)), atol=1e-9
    )
    assert model.em_n_iter_ == 30
    counts = TableCounts.of(coded(rows), families)
    found = fit_missing(
        lambda summarize, *arguments: OneBatch().reduce(coded(rows), summarize, *arguments),
        families,
        ClassTable(counts.table, counts.bias),
        Smoothing(alpha),
        30,
        0.0,
    )
    np.testing.assert_allclose(found.objectives, history[:30], rtol=1e-11)
    assert (np.diff(found.objectives) > -1e-9).all()


def test_em_of_an_m_estimate_never_descends() -> None:
    _, _, rows = random_table(2, n=60, missing=0.3)
    families = Families(TANClassifier().fit(*random_table(2)[:2]).model_.structure, (4,) * 5)
    counts = TableCounts.of(coded(rows), families)
    found = fit_missing(
        lambda summarize, *arguments: OneBatch().reduce(coded(rows), summarize, *arguments),
        families,
        ClassTable(counts.table, counts.bias),
        Smoothing(m_prior=2.0),
    )
    assert found.converged
    assert len(found.objectives) > 3
    assert (np.diff(found.objectives) > -1e-9).all()


def test_without_missing_values_there_is_no_em() -> None:
    X, y, _ = random_table(0)
    model = TANClassifier().fit(X, y)
    assert not hasattr(model, "em_n_iter_")
    incomplete = random_table(0, missing=0.1)
    model.fit(*incomplete[:2])
    assert model.em_n_iter_ > 1
    model.fit(X, y)
    assert not hasattr(model, "em_n_iter_")


@pytest.mark.parametrize("structure", ["tree", "kdb", [("a", "e"), ("b", "e"), ("d", "e")]])
@pytest.mark.parametrize("training", ["ml", "tm"])
def test_missing_values_of_prediction_are_summed_over(structure: Any, training: str) -> None:
    if training == "tm" and structure != "tree":
        structure = [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("c", "e")]
    X, y, _ = random_table(3)
    model = TANClassifier(structure=structure, training=training).fit(X, y)
    incomplete, _, gone = random_table(3, missing=0.5)
    incomplete.iloc[5] = None
    gone.X[5] = 3
    incomplete.iloc[6, 0] = "a category that training does not have"
    gone.X[6, 0] = 3
    weights = as_tables(model.model_.families, model.model_.network)
    expected = observed_posteriors(weights, oracle_structure(model), gone.X, gone.categories)
    with pytest.warns(UnseenCategoryWarning):
        found = model.predict_proba(incomplete)
    np.testing.assert_allclose(found, expected, atol=2e-6 if training == "tm" else 1e-10)
    if training == "ml":
        np.testing.assert_allclose(found[5], np.exp(model.model_.bias), atol=1e-12)


def test_many_parents_require_a_category_for_missing_values() -> None:
    X, y, _ = random_table(0, missing=0.2)
    with pytest.raises(ValueError, match=r"missing='marginal' requires .* use missing='category'"):
        TANClassifier(structure="kdb").fit(X, y)
    TANClassifier(structure="kdb", max_parents=1).fit(X, y)
    model = TANClassifier(structure="kdb", missing="category").fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_discriminative_training_starts_from_em() -> None:
    X, y, _ = random_table(1, n=60, missing=0.3)
    generative = TANClassifier().fit(X, y)
    trained = TANClassifier(training="tm", trace=True).fit(X, y)
    log_proba = generative.predict_log_proba(X)
    start = log_proba[np.arange(len(y)), y].sum()
    first = trained.trace_[0].values["conditional_log_likelihood"]
    assert first == pytest.approx(start, rel=1e-9)
    assert trained.em_n_iter_ == generative.em_n_iter_
    stopped = TANClassifier(training="tm", early_stopping=True).fit(X, y)
    assert np.isfinite(stopped.predict_log_proba(X)).all()


# AODE


@pytest.mark.filterwarnings("ignore::ceiba.bayes.InfrequentParentsWarning")
@pytest.mark.parametrize("min_frequency", [1, 45, 1000])
@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_aode_equals_the_naive_average(min_frequency: int, alpha: float) -> None:
    X, y, rows = random_table(4)
    model = TANClassifier(structure="aode", min_frequency=min_frequency, alpha=alpha).fit(X, y)
    expected = [dependence.aode_posterior(rows, x, alpha, min_frequency) for x in rows.X]
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)


def test_aode_without_parents_warns() -> None:
    X, y, _ = random_table(4)
    shares = np.full(len(X), 1 / len(X))
    with pytest.warns(InfrequentParentsWarning, match="min_frequency=1 in rows of total weight 1"):
        TANClassifier(structure="aode").fit(X, y, sample_weight=shares)
    one = TANClassifier(structure="aode", alpha=0.0).fit(X, y)
    scaled = TANClassifier(structure="aode", alpha=0.0, min_frequency=1 / len(X) - 1e-9)
    found = scaled.fit(X, y, sample_weight=shares).predict_proba(X)
    np.testing.assert_allclose(found, one.predict_proba(X), atol=1e-12)


def test_aode_predicts_with_the_known_parents() -> None:
    X, y, rows = random_table(5)
    model = TANClassifier(structure="aode").fit(X, y)
    row = X.iloc[[0]].assign(b=None, d="new")
    joint = np.zeros(3)
    for parent in (0, 2, 4):
        own = as_tables(
            model.model_.networks[parent].families, model.model_.networks[parent].network
        )
        x = rows.X[0]
        p = np.exp(own.classes + own.features[parent][x[parent]])
        for child in {0, 2, 4} - {parent}:
            p = p * np.exp(own.features[child][x[parent], x[child]])
        joint += p / 3
    with pytest.warns(UnseenCategoryWarning):
        found = np.exp(model.predict_joint_log_proba(row))[0]
    np.testing.assert_allclose(found, joint, rtol=1e-10)
    nothing = X.iloc[[0]].map(lambda value: None)
    prior = (model.class_count_ + 1) / (model.class_count_.sum() + 3)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], prior)


def test_aode_of_missing_values_priors_and_m_estimates() -> None:
    X, y, _ = random_table(6, missing=0.3)
    for options in ({}, {"missing": "category"}, {"m_prior": 2.0}, {"priors": [0.2, 0.3, 0.5]}):
        model = TANClassifier(structure="aode", **options).fit(X, y)
        proba = model.predict_proba(X)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        assert model.score(X, y) > 0.5


def test_aode_is_one_average_of_networks() -> None:
    X, y, _ = random_table(0)
    with pytest.raises(ParameterError, match="training='tm' requires one network"):
        TANClassifier(structure="aode", training="tm").fit(X, y)
    model = TANClassifier().fit(X, y)
    model.set_params(structure="aode").fit(X, y)
    assert not hasattr(model, "arcs_")
    assert not hasattr(model, "arc_information_")


# Files and edge cases


@pytest.mark.parametrize(
    "options", [{}, {"structure": "aode"}, {"structure": "kdb"}, {"training": "tm"}]
)
def test_models_are_saved_and_loaded(options: dict[str, Any], tmp_path: Path) -> None:
    X, y, _ = random_table(0)
    model = TANClassifier(**options).fit(X, y)
    ceiba.save(model, tmp_path / "model.ceiba")
    loaded = ceiba.load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("structure", ["tree", "forest", "kdb", "aode", []])
def test_few_columns(structure: Any) -> None:
    X: Array = np.array([["a"], ["b"], ["a"], ["b"], ["b"]], object)
    y = np.array([0, 1, 0, 1, 0])
    proba = TANClassifier(structure=structure).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba[0], [3 / 4, 1 / 4] if structure == "aode" else proba[0])
    assert np.isfinite(proba).all()
    constant = np.array([["a"]] * 5, object)
    with pytest.warns(UserWarning, match="No column has two or more categories"):
        model = TANClassifier(structure=structure).fit(constant, y)
    np.testing.assert_allclose(model.predict_proba(constant)[0], [4 / 7, 3 / 7])


def test_inner_folds_have_the_limits_of_em(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = random_table(1, n=60, missing=0.3)
    limits = []

    def record(*arguments: Any) -> Any:
        limits.append(arguments[4:])
        return fit_missing(*arguments)

    monkeypatch.setattr(train, "fit_missing", record)
    model = TANClassifier(training="tm", early_stopping=True, em_max_iter=3, em_tol=0.5)
    model.fit(X, y)
    assert limits == [(3, 0.5)] * 5


def test_arcs_have_a_stronger_generative_penalty_by_default() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 1).astype(int)
    X = X.astype(str).astype(object)
    X[X == "nan"] = None
    arcs = [(0, 1)]
    for structure, tau in ((arcs, 1.0), (None, 0.1)):
        learner: Any = NaiveBayesClassifier if structure is None else TANClassifier
        options = {} if structure is None else {"structure": structure}
        found = learner(training="tm", **options).fit(X, y)
        wanted = learner(training="tm", penalty="generative", tau=tau, **options).fit(X, y)
        np.testing.assert_array_equal(found.predict_proba(X), wanted.predict_proba(X))
