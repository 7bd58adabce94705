"""Latent class mixtures against the naive oracle, and what EM promises."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import ceiba
from ceiba import LatentClassMixture
from ceiba._native import uniforms
from ceiba.base import Iterations, ParameterError
from ceiba.bayes.coding import CodedData
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.latent.em import LatentClassEM
from ceiba.bayes.latent.init import initial_network
from ceiba.bayes.latent.pairs import PairTables
from ceiba.bayes.latent.refine import refine
from ceiba.bayes.network import Smoothing
from ceiba.bayes.statistics import CodedRows, TableCounts
from ceiba.cluster.lloyd import DrawKey
from ceiba.data import Table
from ceiba.engine.local import LocalEngine
from tests.bayes.parts import table_of
from tests.oracles import bayes_latent_naive as naive
from tests.oracles.bayes_naive import Rows, fit_generative, naive_structure, posteriors, to_weights
from tests.oracles.bayes_tm_naive import tm
from tests.oracles.test_bayes_latent_self import CATEGORIES, table

SIZES = tuple(r + 1 for r in CATEGORIES)


def data_of(rows: Rows, sizes: tuple[int, ...] = SIZES) -> CodedData:
    """Return rows of an oracle as the data of a fit."""
    engine = LocalEngine(1)
    coded = CodedRows(rows.X.astype(np.uint8), np.zeros(len(rows.X), np.int32), rows.w, 1)
    prepared = engine.prepared_rows(coded)
    families = Families(Structure.naive(len(sizes)), sizes)
    counts = engine.reduce(prepared, TableCounts.of, families)
    table = Table.of(np.zeros((1, len(sizes))))
    encoding = ceiba.bayes.CategoryEncoding.of(table.schema, {}, range(len(sizes)))
    has_missing = bool(counts.table[~families.is_known].any())
    return CodedData(engine, prepared, table.schema, None, encoding, sizes, counts, has_missing)


def random_shares(n: int, k: int, seed: int, run: int) -> np.ndarray:
    shares = np.empty((n, k))
    for c in range(k):
        own = np.empty(n)
        uniforms(seed, DrawKey(seed, run, 0).stream + c, 0, own)
        shares[:, c] = -np.log1p(-own)
    return shares / shares.sum(axis=1, keepdims=True)


def run_em(rows: Rows, *, tree: bool, alpha: float, k: int = 2, max_iter: int = 40):
    data = data_of(rows)
    start = initial_network(data, k, "random", Smoothing(alpha), 3, 0)
    pairs = PairTables.of(SIZES, k, "abcd", max_counts=150) if tree else None
    em = LatentClassEM(data, Smoothing(alpha), pairs, -1.0)
    return em.run(start, Iterations(None, max_iter))


def frame(n=300, seed=0, share=0.0):
    """Rows of three groups as words, and the groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    columns = {f"x{j}": np.where(rng.random(n) < 0.8, y, rng.integers(0, 3, n)) for j in range(6)}
    rows = [
        {name: None if rng.random() < share else "abc"[own[i]] for name, own in columns.items()}
        for i in range(n)
    ]
    return Table.of(rows), y


# EM


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_em_agrees_with_the_oracle(alpha):
    rows, _ = table()
    soft = replace(rows, Y=random_shares(len(rows.X), 2, 3, 0))
    expected = naive.fit_latent(soft, alpha=alpha, tol=-1.0, max_iter=41)
    found = run_em(rows, tree=False, alpha=alpha)
    assert found.last.log_likelihood == pytest.approx(expected.log_likelihood[-1], rel=1e-10)
    differences = np.diff(found.objectives) - np.diff(expected.objective)
    np.testing.assert_allclose(differences, 0, atol=1e-9)


def test_trees_agree_with_the_oracle():
    rows, _ = table()
    shares = random_shares(len(rows.X), 2, 3, 0)
    structure = naive_structure(range(4))
    start = fit_generative(replace(rows, Y=shares), structure, 0.0)
    soft = replace(rows, Y=posteriors(to_weights(start), structure, rows.X))
    expected = naive.fit_latent(soft, tree=True, tol=-1.0, max_iter=41)
    found = run_em(rows, tree=True, alpha=0.0)
    assert found.last.log_likelihood == pytest.approx(expected.log_likelihood[-1], rel=1e-9)
    arcs = {(p, c) for c, parents in expected.structure.items() for p in parents}
    assert set(found.last.families.structure.arcs) == arcs


@pytest.mark.parametrize(
    ("tree", "alpha", "share"), list(product([False, True], [0.0, 1.0], [0.0, 0.2]))
)
def test_the_objective_never_decreases(tree, alpha, share):
    rows, _ = table(seed=4)
    hidden = np.random.default_rng(5).random(rows.X.shape) < share
    rows = replace(rows, X=np.where(hidden, CATEGORIES, rows.X))
    found = run_em(rows, tree=tree, alpha=alpha, k=3, max_iter=60)
    assert np.diff(found.objectives).min() > -1e-8
    assert found.objectives[-1] > found.objectives[0] + 1


@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_missing_values_are_summed_over(structure):
    """The likelihood of a row with missing values is the sum over its completions."""
    X, _ = frame(share=0.2)
    model = LatentClassMixture(3, structure=structure, n_init=2).fit(X)
    letters = {"x0": "a", "x1": None, "x2": "c", "x3": None, "x4": "b", "x5": "a"}
    complete = [letters | {"x1": one, "x3": two} for one, two in product("abc", repeat=2)]
    total = np.logaddexp.reduce(model.score_samples(Table.of(complete, X.schema)))
    given = model.score_samples(Table.of([letters], X.schema))
    np.testing.assert_allclose(given, total, rtol=1e-12)


def test_expected_counts_have_the_weight_of_all_rows():
    rows, _ = table()
    hidden = np.random.default_rng(5).random(rows.X.shape) < 0.2
    incomplete = replace(rows, X=np.where(hidden, CATEGORIES, rows.X))
    found = run_em(incomplete, tree=True, alpha=0.5, max_iter=5).last
    for family in range(4):
        own = found.families.view(found.counts.table, family)
        assert own.sum() == pytest.approx(rows.total)


# The estimator


@pytest.mark.parametrize("init", ["k-means++", "random_from_data", "random"])
def test_groups_are_found(init):
    X, y = frame()
    labels = LatentClassMixture(3, init=init).fit_predict(X)
    assert adjusted_rand_score(y, labels) > 0.85


def test_dependent_columns_need_a_tree():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    first = rng.integers(0, 3, 600)
    second = np.where(rng.random(600) < 0.9, (first + y) % 3, rng.integers(0, 3, 600))
    X = Table.of([{"a": "abc"[i], "b": "def"[j]} for i, j in zip(first, second, strict=True)])
    one = LatentClassMixture(2, structure="independent").fit(X)
    tree = LatentClassMixture(2, structure="tree").fit(X)
    assert tree.arcs_ == [("a", "b")]
    assert tree.log_likelihood_ > one.log_likelihood_ + 5


def test_weights_count_as_rows():
    X, _ = frame(100)
    weight = np.random.default_rng(0).integers(0, 3, 100)
    one = LatentClassMixture(1, alpha=0.5).fit(X, sample_weight=weight)
    other = LatentClassMixture(1, alpha=0.5).fit(X.take(np.repeat(np.arange(100), weight)))
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_)
    assert one.bic(X, weight) == pytest.approx(other.bic(X.take(np.repeat(np.arange(100), weight))))


def test_criteria_choose_the_number_of_components():
    X, _ = frame()
    model = LatentClassMixture("bic", max_components=5, n_init=2).fit(X)
    assert model.n_components_ == 3
    assert model.choice_.n_components.tolist() == [1, 2, 3, 4, 5]
    assert model.choice_.bic[2] == pytest.approx(model.bic(X))
    assert model.choice_.aic[2] == pytest.approx(model.aic(X))
    assert model.n_parameters_ == 2 + 3 * 6 * 2


def test_score_and_attributes():
    X, _ = frame(share=0.1)
    model = LatentClassMixture(3, trace=True, structure="tree").fit(X)
    n = len(X)
    assert model.score(X) == pytest.approx(model.log_likelihood_ / n)
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert (model.predict(X) == model.predict_proba(X).argmax(axis=1)).all()
    assert model.trace_[-1]["objective"] / n == model.lower_bound_ == model.lower_bounds_[-1]
    assert len(model.lower_bounds_) == model.n_iter_ + 1
    tables = model.conditional_tables_
    assert list(tables) == list(X.schema.names)
    (parent, child), *_ = model.arcs_
    sums = tables[child].groupby(parent).sum()
    np.testing.assert_allclose(sums.to_numpy(), 1)


def test_missing_values_as_a_category():
    X, _ = frame(share=0.2)
    model = LatentClassMixture(2, missing="category").fit(X)
    own = model.conditional_tables_["x0"]
    assert own.index.tolist() == ["a", "b", "c", "missing"]
    np.testing.assert_allclose(own.sum(), 1)
    drawn, _ = model.sample(500)
    assert 0.1 < drawn.to_pandas()["x0"].isna().mean() < 0.3


def test_samples_have_the_distribution_of_the_mixture():
    X, _ = frame()
    model = LatentClassMixture(3, structure="tree").fit(X)
    drawn, labels = model.sample(4000)
    np.testing.assert_allclose(np.bincount(labels) / 4000, model.weights_, atol=0.03)
    everything = [dict(zip(X.schema.names, row, strict=True)) for row in product("abc", repeat=6)]
    log_p = model.score_samples(Table.of(everything, X.schema))
    assert np.exp(log_p).sum() == pytest.approx(1)
    assert model.score(drawn) == pytest.approx(np.exp(log_p) @ log_p, abs=0.1)
    with pytest.raises(ValueError, match="n_samples must be an int >= 1"):
        model.sample(0)


def test_numbers_are_discretized():
    X = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0], [6]], 100, axis=0)
    for discretization in ("equal_frequency", "equal_width", "kmeans"):
        labels = LatentClassMixture(2, discretization=discretization).fit_predict(X)
        assert adjusted_rand_score(np.repeat([0, 1], 100), labels) > 0.85
    with pytest.raises(ParameterError, match="'mdl' requires a class"):
        LatentClassMixture(2, discretization="mdl").fit(X)


def test_results_are_saved(tmp_path):
    X, _ = frame(share=0.1)
    model = LatentClassMixture("aic", max_components=3, structure="tree", trace=True).fit(X)
    ceiba.save(model, tmp_path / "model.ceiba")
    loaded = ceiba.load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.choice_.chosen == model.n_components_
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_without_informative_columns():
    X = Table.of([{"a": "x"}] * 10)
    with pytest.warns(UserWarning, match="No column has two or more categories"):
        model = LatentClassMixture(2).fit(X)
    np.testing.assert_allclose(model.score_samples(X), 0, atol=1e-12)
    assert model.dropped_columns_ == ["a"]


def test_warnings_and_errors():
    X, _ = frame(40)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        LatentClassMixture(3, max_iter=1).fit(X)
    with pytest.raises(ValueError, match="n_components = 41"):
        LatentClassMixture(41).fit(X)
    with pytest.raises(ParameterError, match="tau"):
        LatentClassMixture(2, tau=1.0).fit(X)
    with pytest.raises(ParameterError, match="max_components"):
        LatentClassMixture(2, max_components=3).fit(X)


# Hazards


@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_a_row_without_values_has_the_weights_as_posteriors(structure):
    X, _ = frame(share=0.1)
    model = LatentClassMixture(3, structure=structure, n_init=1).fit(X)
    nothing = Table.of([dict.fromkeys(X.schema.names)], X.schema)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.weights_, rtol=1e-12)
    np.testing.assert_allclose(model.score_samples(nothing), 0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::ceiba.data.table.UnseenCategoryWarning")
def test_unseen_categories_are_summed_over():
    X, _ = frame()
    model = LatentClassMixture(3, n_init=1).fit(X)
    row = dict.fromkeys(X.schema.names, "a")
    frames = [Table.of([row | {"x1": value}]) for value in ("z", None)]
    unseen, unknown = (model.predict_proba(own.to_pandas()) for own in frames)
    np.testing.assert_array_equal(unseen, unknown)


def test_thousands_of_columns_do_not_underflow():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = (rng.random((40, 3000)) < np.where(y, 0.8, 0.2)[:, None]).astype(float)
    model = LatentClassMixture(2, n_bins=2, n_init=1).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert adjusted_rand_score(y, model.predict(X)) == 1


@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_impossible_rows_have_posteriors(structure):
    """Without pseudo-counts some combinations have no probability in any component."""
    rows = [{"a": "x", "b": "u"}, {"a": "y", "b": "v"}, {"a": "z", "b": "w"}] * 5
    X = Table.of(rows)
    model = LatentClassMixture(3, alpha=0, structure=structure).fit(X)
    other = Table.of([{"a": "x", "b": "w"}], X.schema)
    np.testing.assert_allclose(model.predict_proba(other).sum(axis=1), 1)
    assert np.isfinite(model.score_samples(other)).all()


def test_more_components_than_distinct_rows():
    X = Table.of([{"a": "x"}, {"a": "y"}] * 5)
    for init in ("k-means++", "random_from_data", "random"):
        model = LatentClassMixture(5, alpha=0, init=init).fit(X)
        assert model.score(X) == pytest.approx(np.log(0.5))


def test_large_and_small_weights():
    X, _ = frame(60)
    plain = LatentClassMixture(2, alpha=0, n_init=1, tol=1e-4).fit(X)
    for scale in (1e-30, 1e30):
        scaled = LatentClassMixture(2, alpha=0, n_init=1, tol=1e-4)
        scaled.fit(X, sample_weight=np.full(60, scale))
        assert np.isfinite(scaled.lower_bound_)
    assert scaled.lower_bound_ == pytest.approx(plain.lower_bound_, abs=0.01)


# Refinement


def test_refinement_agrees_with_the_oracle():
    rows, start = table()
    em = naive.fit_latent(start, alpha=1.0)
    soft = Rows(rows.X, em.responsibilities, rows.w, rows.categories)
    structure = naive_structure(range(4))
    network = fit_generative(soft, structure)
    expected = tm(
        soft, structure, tau=0.3, start=network, likelihood=naive.class_information,
        gradient=naive.information_residuals,
    )  # fmt: skip
    data = data_of(rows)
    families = Families(Structure.naive(4), SIZES)
    ours = LatentClassEM(data, Smoothing(1.0), None, 0.0).expect(
        families, table_of(families, to_weights(network))
    )
    found = refine(data, ours, 0.3, 1000)
    assert np.diff(found.objectives).min() >= 0
    gain = expected.objective[-1] - expected.objective[0]
    assert found.objectives[-1] - found.objectives[0] == pytest.approx(gain, abs=0.01)


def test_refinement_raises_the_information():
    X, y = frame(share=0.1)
    plain = LatentClassMixture(3).fit(X)
    refined = LatentClassMixture(3, refinement="information").fit(X)
    P = plain.predict_proba(X)
    information = (P * np.log(P / P.mean(axis=0))).sum(axis=1).mean()
    assert refined.information_ > information
    assert refined.lower_bound_ == plain.lower_bound_
    assert adjusted_rand_score(y, refined.predict(X)) > 0.8
