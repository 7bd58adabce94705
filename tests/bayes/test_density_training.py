"""Discriminative training of naive Bayes with normal and Poisson columns."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from ceiba import NaiveBayesClassifier
from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.bayes import UnboundedWeightsWarning
from ceiba.bayes.discriminative.density_training import DensityLikelihood
from tests.oracles import bayes_density_naive as naive

DISTRIBUTIONS = {"a": "gaussian", "b": "gaussian", "n": "poisson"}
COLORS = ("blue", "green", "red")


def rows_of(
    n: int = 120, k: int = 3, missing: float = 0.0, seed: int = 0, weighted: bool = True
) -> naive.DensityTable:
    """Overlapping classes: two normal columns, counts, and a column of three categories."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    normal = rng.normal(size=(n, 2)) * (1 + 0.4 * y[:, None]) + 0.8 * y[:, None]
    codes = (y * (rng.random(n) < 0.4) + rng.integers(0, 3, n)) % 3
    counts = rng.poisson(2 + 0.7 * y).astype(float)
    gone = rng.random((n, 4)) < missing
    return naive.DensityTable(
        np.where(gone[:, 0], -1, codes)[:, None],
        np.where(gone[:, 1:3], np.nan, normal * [5, 1] + [3, 0]),
        np.where(gone[:, 3], np.nan, counts)[:, None],
        y,
        rng.uniform(0.5, 2, n) if weighted else np.ones(n),
        (3,),
        k,
    )


def frame_of(rows: naive.DensityTable) -> pd.DataFrame:
    color = np.array([*COLORS, None], object)[rows.codes[:, 0]]
    a, b = rows.normal.T
    return pd.DataFrame({"a": a, "b": b, "n": rows.counts[:, 0], "color": color})


def fit(rows: naive.DensityTable, **parameters: Any) -> NaiveBayesClassifier:
    """Fit from the model of maximum likelihood, as the oracle."""
    model = NaiveBayesClassifier(
        training="tm", distributions=DISTRIBUTIONS, alpha=0.0, var_smoothing=0.0, trace=True,
        **parameters,
    )  # fmt: skip
    return model.fit(frame_of(rows), rows.y, rows.w)


def model_of(model: NaiveBayesClassifier) -> naive.DensityModel:
    """Return the joint distribution of a fitted classifier as that of the oracle."""
    parts = [model.probability_table(name) for name in ("a", "b", "n", "color")]
    normal = [(part["mean"], part["standard_deviation"] ** 2) for part in parts[:2]]
    mean, variance = np.array(normal).transpose(1, 0, 2)
    table = parts[3][list(COLORS)].to_numpy().T
    prior = np.exp(model.model_.network.bias)
    return naive.DensityModel(prior, [table], mean, variance, parts[2][["rate"]].to_numpy().T)


def column(model: NaiveBayesClassifier, name: str) -> Array:
    """Return a number of all iterations; the start, which has no steps, is left out."""
    return np.array([frame[name] for frame in list(model.trace_)[1:]])


@pytest.mark.parametrize("tau", [0.0, 0.4])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_tm_makes_the_steps_of_the_naive_algorithm(missing: float, tau: float) -> None:
    rows = rows_of(40, missing=missing)
    run = naive.tm(rows, tau, tol=1e-9, max_iter=4)
    penalty: Any = {"penalty": "generative", "tau": tau} if tau else {"penalty": 0}
    with pytest.warns(match="did not converge"):
        model = fit(rows, solver="tm", tol=1e-9, max_iter=4, **penalty)
    frames = list(model.trace_)
    found = np.array([frame["objective"] for frame in frames])
    # The joint likelihood of the library has other constants.
    assert found - found[0] == pytest.approx(np.array(run.objective) - run.objective[0], abs=1e-7)
    assert [frame["step"] for frame in frames[1:]] == pytest.approx(run.steps, rel=1e-7)
    assert [frame["max_step"] for frame in frames[1:]] == pytest.approx(run.max_steps, rel=1e-7)
    own = model_of(model)
    np.testing.assert_allclose(own.prior, run.model.prior, rtol=1e-6)
    np.testing.assert_allclose(own.tables[0], run.model.tables[0], rtol=1e-6)
    np.testing.assert_allclose(own.mean, run.model.mean, rtol=1e-6)
    np.testing.assert_allclose(own.variance, run.model.variance, rtol=1e-6)
    np.testing.assert_allclose(own.rate, run.model.rate, rtol=1e-6)


@pytest.mark.parametrize("solver", ["lbfgs", "tm"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_training_ends_at_a_stationary_point(solver: str, missing: float) -> None:
    rows, tau = rows_of(60, missing=missing), 0.4
    tol = 1e-12 if solver == "lbfgs" else 1e-9
    model = fit(rows, solver=solver, tol=tol, penalty="generative", tau=tau)
    assert (np.diff(column(model, "objective")) > 0).all()
    found = model_of(model)
    start = naive.sums_of(naive.fit_generative(rows), rows.w.sum())
    scale = abs(naive.objective(rows, found, tau, start))
    for seed in range(4):
        ends = [
            naive.objective(rows, naive.moved(found, np.random.default_rng(seed), step), tau, start)
            for step in (1e-4, -1e-4)
        ]
        assert abs(ends[0] - ends[1]) / 2e-4 < 2e-4 * scale


def design(rows: naive.DensityTable) -> Array:
    """Terms of the classifier: standardized values, squares and counts, and indicators."""
    X = np.concatenate([rows.normal, rows.counts], axis=1)
    mean = np.average(X, axis=0, weights=rows.w)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=rows.w))
    return np.concatenate([Z, Z[:, :2] ** 2, np.eye(3)[rows.codes[:, 0]]], axis=1)


@pytest.mark.parametrize("solver", ["lbfgs", "newton"])
@pytest.mark.parametrize("k", [2, 3])
def test_ridge_is_that_of_logistic_regression(k: int, solver: str) -> None:
    rows = rows_of(k=k)
    model = fit(rows, solver=solver, tol=1e-13)
    other = LogisticRegression(C=(2 if k == 2 else 1) / 3, tol=1e-10, max_iter=10_000)
    other.fit(design(rows), rows.y, rows.w)
    wanted = other.predict_proba(design(rows))
    np.testing.assert_allclose(model.predict_proba(frame_of(rows)), wanted, atol=1e-5)
    found = rows.w @ np.log(wanted[np.arange(len(rows.y)), rows.y])
    assert model.conditional_log_likelihood_ == pytest.approx(found, abs=1e-4)


@pytest.mark.parametrize("penalty", [0.0, "generative"])
def test_every_solver_reaches_the_optimum_and_its_joint_distribution(penalty: Any) -> None:
    rows = rows_of(200, seed=1)
    exact = {"lbfgs": 1e-13, "newton": 1e-13, "tm": 1e-8}
    models = [
        fit(rows, solver=solver, tol=tol, penalty=penalty, max_iter=3000)
        for solver, tol in exact.items()
    ]
    objectives = [model.trace_[-1]["objective"] for model in models]
    assert objectives == pytest.approx([objectives[0]] * 3, abs=1e-4)
    assert models[1].n_iter_ < 10
    one, *others = (model_of(model) for model in models)
    for other in others:
        # The TM algorithm keeps the margins that are restored after the others.
        np.testing.assert_allclose(other.prior, one.prior, atol=3e-3)
        np.testing.assert_allclose(other.mean, one.mean, atol=3e-2)
        np.testing.assert_allclose(other.variance, one.variance, rtol=1e-2)
        np.testing.assert_allclose(other.rate, one.rate, rtol=3e-3)


@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_columns_keep_their_margins(penalty: float) -> None:
    rows = rows_of()
    model = model_of(fit(rows, penalty=penalty))
    sums, start = (naive.sums_of(m, 1.0) for m in (model, naive.fit_generative(rows)))
    for name in ("values", "squares", "counts"):
        wanted = getattr(start, name).sum(axis=1)
        np.testing.assert_allclose(getattr(sums, name).sum(axis=1), wanted, rtol=1e-5)
    np.testing.assert_allclose(sums.tables[0].sum(axis=1), start.tables[0].sum(axis=1), rtol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_missing_values_are_summed_over_at_prediction(missing: float) -> None:
    rows = rows_of(missing=missing)
    model = fit(rows)
    frame = frame_of(rows)[:5].fillna({"a": 3.0, "b": 0.5, "n": 2.0, "color": "red"})
    joint = model.predict_joint_log_proba(frame)
    np.testing.assert_allclose(
        joint - logsumexp(joint, axis=1, keepdims=True), model.predict_log_proba(frame), atol=1e-9
    )
    grid = {"a": np.linspace(-80, 80, 3201), "n": np.arange(60.0), "color": np.array(COLORS)}
    for name, values in grid.items():
        alone = model.predict_joint_log_proba(frame.assign(**{name: None}).astype(frame.dtypes))
        for i, row in enumerate(frame.to_dict("records")):
            whole = model.predict_joint_log_proba(
                pd.DataFrame([row] * len(values)).assign(**{name: values})
            )
            width = np.log(values[1] - values[0]) if name == "a" else 0.0
            np.testing.assert_allclose(logsumexp(whole, axis=0) + width, alone[i], atol=1e-6)
    evidence = model.evidence(frame[:1], 1)
    p = model.predict_proba(frame[:1])[0, 1]
    assert evidence.log_odds == pytest.approx(np.log(p / (1 - p)), abs=1e-6)


def test_penalties_resolve_as_those_of_categories() -> None:
    rows = rows_of(missing=0.2)
    one, two = fit(rows), fit(rows, penalty="generative")
    assert one.conditional_log_likelihood_ == two.conditional_log_likelihood_
    strong = fit(rows, penalty="generative", tau=1e6)
    generative = naive.posteriors(rows, naive.fit_generative(rows))
    np.testing.assert_allclose(strong.predict_proba(frame_of(rows)), generative, atol=1e-4)
    for missing in ("marginal", "category"):
        with pytest.raises(ParameterError, match="A ridge requires rows without missing values"):
            fit(rows, penalty=3.0, missing=missing)
        with pytest.raises(ParameterError, match="'newton' requires rows without missing values"):
            fit(rows, solver="newton", missing=missing)
    with pytest.raises(ParameterError, match="solver='tm' has no ridge"):
        fit(rows, solver="tm", penalty=3.0)


def test_missing_values_of_categories_can_be_a_category() -> None:
    rows = rows_of(missing=0.2)
    whole = naive.DensityTable(
        **{**vars(rows), "normal": rows_of().normal, "counts": rows_of().counts}
    )
    model = fit(whole, missing="category", solver="newton")
    assert np.isfinite(model.predict_proba(frame_of(whole))).all()
    filled = frame_of(whole).fillna({"color": "none"})
    other = fit(whole, missing="category").predict_proba(frame_of(whole))
    same = NaiveBayesClassifier(
        training="tm", distributions=DISTRIBUTIONS, alpha=0.0, var_smoothing=0.0
    ).fit(filled, rows.y, rows.w)
    np.testing.assert_allclose(same.predict_proba(filled), other, atol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_early_stopping_takes_fewer_iterations(missing: float) -> None:
    rows = rows_of(80, missing=missing)
    whole, early = fit(rows, penalty=0.0), fit(rows, penalty=0.0, early_stopping=True)
    assert 1 <= early.n_iter_ < whole.n_iter_
    assert early.conditional_log_likelihood_ < whole.conditional_log_likelihood_
    assert fit(rows, early_stopping=True, solver="tm").n_iter_ >= 1


@pytest.mark.parametrize(
    ("solver", "missing"),
    [("lbfgs", 0.0), ("newton", 0.0), ("tm", 0.0), ("lbfgs", 0.1), ("tm", 0.1)],
)
def test_likelihood_is_that_of_the_predictions(solver: str, missing: float) -> None:
    rows = rows_of(missing=missing)
    model = fit(rows, solver=solver)
    p = model.predict_log_proba(frame_of(rows))[np.arange(len(rows.y)), rows.y]
    assert model.conditional_log_likelihood_ == pytest.approx(rows.w @ p, abs=1e-8)


def test_weights_are_repetitions() -> None:
    rows = rows_of(60, missing=0.1)
    rows.w = np.random.default_rng(0).integers(1, 4, 60).astype(float)
    again = np.repeat(np.arange(60), rows.w.astype(int))
    one = fit(rows, tol=1e-13).predict_proba(frame_of(rows))
    model = NaiveBayesClassifier(
        training="tm", distributions=DISTRIBUTIONS, alpha=0.0, var_smoothing=0.0, tol=1e-13
    ).fit(frame_of(rows).iloc[again], rows.y[again])
    np.testing.assert_allclose(model.predict_proba(frame_of(rows)), one, atol=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_scale_of_weights_does_not_matter(factor: float, missing: float) -> None:
    rows = rows_of(missing=missing)
    one = fit(rows, penalty="generative").predict_proba(frame_of(rows))
    rows.w = rows.w * factor
    two = fit(rows, penalty="generative").predict_proba(frame_of(rows))
    np.testing.assert_allclose(two, one, atol=1e-4)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_units_and_offsets_do_not_matter(missing: float) -> None:
    rows = rows_of(missing=missing)
    settings: dict[str, Any] = {"training": "tm", "distributions": "gaussian", "tol": 1e-12}
    one = NaiveBayesClassifier(**settings).fit(rows.normal, rows.y).predict_proba(rows.normal)
    for factor, shift in [(1e-200, 0.0), (1e200, 0.0), (1.0, 1e9), (1.0, -1e9)]:
        X = rows.normal * factor + shift
        two = NaiveBayesClassifier(**settings).fit(X, rows.y).predict_proba(X)
        np.testing.assert_allclose(two, one, atol=1e-4)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "tm"])
def test_large_counts(solver: str) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.poisson(1e9 + 2e4 * y)[:, None].astype(float)
    model = NaiveBayesClassifier(training="tm", distributions="poisson", solver=solver, penalty=0.0)
    model.fit(X, y)
    Z = (X - X.mean()) / X.std()
    other = LogisticRegression(C=np.inf, tol=1e-10).fit(Z, y)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(Z), atol=1e-2)
    assert model.probability_table("x0")["rate"].mean() == pytest.approx(1e9, rel=1e-3)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_order_of_columns_does_not_matter(missing: float) -> None:
    rows = rows_of(missing=missing)
    X = np.concatenate([rows.normal, rows.counts], axis=1)
    found = []
    for order in ([0, 1, 2], [2, 0, 1]):
        kinds = {i: "poisson" if j == 2 else "gaussian" for i, j in enumerate(order)}
        model = NaiveBayesClassifier(training="tm", distributions=kinds, tol=1e-12)
        found.append(model.fit(X[:, order], rows.y).predict_proba(X[:, order]))
    np.testing.assert_allclose(found[1], found[0], atol=1e-5)


@pytest.mark.filterwarnings("ignore::ceiba.bayes.UnboundedWeightsWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "newton", "tm"])
def test_constant_columns_and_classes_without_weight(solver: str) -> None:
    rows = rows_of(80)
    frame = frame_of(rows).assign(fixed=7.0, zero=0.0)
    chosen = {**DISTRIBUTIONS, "fixed": "gaussian", "zero": "poisson"}
    settings: dict[str, Any] = {"training": "tm", "solver": solver}
    one = NaiveBayesClassifier(distributions=chosen, **settings).fit(frame, rows.y)
    assert one.dropped_columns_ == ["fixed", "zero"]
    two = NaiveBayesClassifier(distributions=DISTRIBUTIONS, **settings).fit(
        frame.drop(columns=["fixed", "zero"]), rows.y
    )
    np.testing.assert_allclose(
        one.predict_proba(frame), two.predict_proba(frame.drop(columns=["fixed", "zero"]))
    )
    weight = (rows.y != 1).astype(float)
    three = NaiveBayesClassifier(distributions=chosen, **settings).fit(frame, rows.y, weight)
    p = three.predict_proba(frame)
    assert np.isfinite(p).all()
    assert (p[:, 1] == 0).all()
    with pytest.warns(match="No column has two or more categories"):
        none = NaiveBayesClassifier(distributions="gaussian", **settings).fit(
            frame[["fixed"]], rows.y
        )
    np.testing.assert_allclose(none.predict_proba(frame[["fixed"]])[0].sum(), 1.0)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("solver", ["lbfgs", "newton"])
def test_ridge_of_columns_that_are_constant_in_a_class(solver: str, early: bool) -> None:
    # Variances of 1e-9 and weights of 1e9: from the generative model, Newton's method stopped at a
    # likelihood of -2e5, and L-BFGS with early stopping at -4e7.
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = np.column_stack(
        [y * 1.0 + (y == 2) * rng.normal(size=90), 10 * y + 0.01 * rng.normal(size=90)]
    )
    model = NaiveBayesClassifier(
        training="tm", distributions="gaussian", solver=solver, early_stopping=early
    ).fit(X, y)
    assert model.conditional_log_likelihood_ > -10


def test_separable_classes_are_found() -> None:
    y = np.arange(40) % 2
    X = 10.0 * y[:, None] + np.random.default_rng(0).normal(size=(40, 1))
    for solver in ("lbfgs", "tm"):
        with pytest.warns(UnboundedWeightsWarning, match="separable"):
            model = NaiveBayesClassifier(
                training="tm", distributions="gaussian", solver=solver, penalty=0.0
            ).fit(X, y)
        assert model.separable_
    assert not NaiveBayesClassifier(training="tm", distributions="gaussian").fit(X, y).separable_


def test_rows_without_any_value_have_the_class_probabilities() -> None:
    rows = rows_of(missing=0.2)
    rows.codes[0], rows.normal[0], rows.counts[0] = -1, np.nan, np.nan
    model = fit(rows)
    prior = np.exp(model.model_.network.bias)
    np.testing.assert_allclose(model.predict_proba(frame_of(rows))[0], prior)
    # A missing value of nearly no weight is found, too.
    whole = rows_of()
    whole.normal[3, 0], whole.w[3] = np.nan, 1e-13
    assert np.isfinite(fit(whole).conditional_log_likelihood_)


def test_a_vanishing_rate_does_not_bound_the_others() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = np.column_stack([rng.poisson(3, 300) * (y == 0), rng.poisson(2 + y)]).astype(float)
    model = NaiveBayesClassifier(
        training="tm", distributions="poisson", solver="tm", tol=1e-7, trace=True
    )
    with pytest.warns(UnboundedWeightsWarning, match="have no rows"):
        model.fit(X, y)
    assert model.unbounded_cells_ == [("x0>0", "1")]
    assert column(model, "step")[-1] > 0.1
    assert all(one < two for one, two in pairwise(column(model, "objective")))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.0, 1.5, 2.0, 1.0], "whole numbers of at least 0, got 1.5"),
        ([0.0, -1.0, 2.0, 1.0], "at least 0"),
    ],
)
def test_counts_must_be_whole_numbers(values: list[float], message: str) -> None:
    model = NaiveBayesClassifier(training="tm", distributions="poisson")
    with pytest.raises(ValueError, match=message):
        model.fit(np.array(values)[:, None], [0, 1, 0, 1])


@pytest.mark.parametrize("name", ["kernel", "mixture"])
def test_other_densities_raise(name: str) -> None:
    with pytest.raises(ParameterError, match=f"'gaussian' or 'poisson', got '{name}'"):
        NaiveBayesClassifier(training="tm", distributions=name).fit(np.eye(4), [0, 1, 0, 1])


def test_inner_folds_choose_their_start_by_their_own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    folds = []
    objectives = DensityLikelihood.objectives

    def record(self: DensityLikelihood, models: Any) -> Array:
        if len(models) == 2:  # the generative model and the frequencies of the classes
            folds.append(self.fold)
        return objectives(self, models)

    monkeypatch.setattr(DensityLikelihood, "objectives", record)
    fit(rows_of(), early_stopping=True)
    assert [fold is None for fold in folds] == [False] * 5 + [True]
    assert [fold.index for fold in folds[:5] if fold is not None] == list(range(5))
