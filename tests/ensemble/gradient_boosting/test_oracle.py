"""Raw scores of both estimators against the naive gradient boosting of tests/oracles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor, _native
from ceiba.ensemble.gradient_boosting.dropout import DROPOUT_STREAM
from ceiba.ensemble.gradient_boosting.row_sampling import ROW_STREAM
from tests.budget import examples
from tests.oracles import boosting_naive as naive

REGRESSION = (
    "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie",
)  # fmt: skip
# A gain this close to the next one is decided by rounding.
MIN_MARGIN = 1e-7
N_ROUNDS = 4


def make_table(rng, n, *, missing=True, nominal=True):
    """Return columns with few distinct values: numbers, with missing ones, and categories."""
    X = np.column_stack(
        [
            rng.integers(0, 12, n) / 4,
            np.round(rng.normal(size=n), 1),
            rng.integers(0, 5, n),
            rng.integers(0, 14, n),
        ]
    ).astype(float)
    kinds, n_categories = ["numeric"] * 4, [0] * 4
    if nominal:
        kinds[2:], n_categories[2:] = ["nominal"] * 2, [5, 14]
    if missing:
        for column in (1, 2, 3):
            X[rng.random(n) < 0.15, column] = np.nan
    return X, kinds, n_categories


def as_table(X, kinds, n_categories):
    """Return a Table whose categories have the codes of X."""
    columns = {}
    for j, (kind, size) in enumerate(zip(kinds, n_categories, strict=True)):
        if kind == "numeric":
            columns[f"x{j}"] = X[:, j]
            continue
        labels = np.array([f"c{code:02d}" for code in range(size)], dtype=object)
        codes = np.nan_to_num(X[:, j], nan=0).astype(int)
        columns[f"x{j}"] = np.where(np.isnan(X[:, j]), None, labels[codes])
    return columns


def make_target(rng, X, loss, n_classes=2):
    """Return a target that depends on all columns."""
    filled = np.nan_to_num(X, nan=1.0)
    signal = filled[:, 0] - filled[:, 1] + 0.3 * filled[:, 2] * filled[:, 0] / 3
    signal = signal + rng.normal(size=len(X))
    if loss in ("poisson", "tweedie"):
        return np.maximum(np.round(signal, 2), 0.0) + (np.arange(len(X)) == 0)
    if loss == "gamma":
        return np.exp(signal / 3)
    if loss in ("log_loss", "exponential"):
        return np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    return signal


def frame_of(X, kinds, n_categories):
    pandas = pytest.importorskip("pandas")
    columns = as_table(X, kinds, n_categories)
    frame = pandas.DataFrame(columns)
    for j, kind in enumerate(kinds):
        if kind == "nominal":
            labels = [f"c{code:02d}" for code in range(n_categories[j])]
            frame[f"x{j}"] = pandas.Categorical(frame[f"x{j}"], categories=labels)
    return frame


def draws_of(seed, n_rows, n_rounds):
    rows, rounds = [], []
    for number in range(n_rounds):
        row_draws, round_draws = np.empty(n_rows), np.empty(number)
        _native.uniforms(seed, ROW_STREAM + number, 0, row_draws)
        if number:
            _native.uniforms(seed, DROPOUT_STREAM + number, 0, round_draws)
        rows.append(row_draws)
        rounds.append(round_draws)
    return rows, rounds


def check(seed, loss, n_classes=2, *, missing=True, nominal=True, weighted=True, **parameters):
    """Fit both on one table, and compare the raw scores of the training rows."""
    rng = np.random.default_rng(seed)
    n = 90
    X, kinds, n_categories = make_table(rng, n, missing=missing, nominal=nominal)
    y = make_target(rng, X, loss, n_classes)
    # Many gains are equal unless all rows have different weights.
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    own = {
        "n_estimators": N_ROUNDS, "min_samples_leaf": 5, "max_leaf_nodes": 6,
        # A gain of zero would be decided by rounding.
        "min_split_gain": 1e-6, **parameters,
    }  # fmt: skip
    row_draws, round_draws = draws_of(0, n, N_ROUNDS)
    strategy = own.pop("multi_strategy", None)
    renamed = {"monotonic_cst": "monotonic", "interaction_cst": "interactions"}
    expected = {renamed.get(name, name): value for name, value in own.items() if value is not None}
    if own.pop("sampling", None) == "goss":
        own |= {"sampling": "goss"}
        expected.pop("sampling")
        expected |= {"top_rate": own.get("top_rate", 0.2), "other_rate": own.get("other_rate", 0.1)}
    if own.get("method") != "gradient":
        expected = {"reg_lambda": 1.0, "min_child_weight": 1e-3, **expected}
    oracle = naive.fit(
        X, y, kinds=kinds, n_categories=n_categories, weight=weight, row_draws=row_draws,
        round_draws=round_draws, loss=loss, multi_output=strategy == "multi_output_tree",
        **{"category_smoothing": 10.0, **expected},
    )  # fmt: skip
    # Columns that divide the sample alike differ on the other rows.
    is_sample = "subsample" in parameters or "sampling" in parameters
    assume(oracle.margin(columns=is_sample) > MIN_MARGIN)
    classifier = loss in ("log_loss", "exponential")
    cls = GradientBoostingClassifier if classifier else GradientBoostingRegressor
    if strategy is not None:
        own["multi_strategy"] = strategy
    model = cls(loss=loss, gradient_bits=41, **own)
    frame = frame_of(X, kinds, n_categories)
    model.fit(frame, y, sample_weight=weight)
    raw = model._raw_scores(frame)
    np.testing.assert_allclose(raw, oracle.raw_scores(X), rtol=1e-9, atol=1e-9)
    return model, oracle


@pytest.mark.parametrize("method", ["newton", "gradient"])
@pytest.mark.parametrize("loss", [*REGRESSION, "log_loss", "exponential"])
@given(seed=st.integers(0, 10_000))
@examples(12)
def test_losses(loss, method, seed):
    check(seed, loss, method=method)


@given(seed=st.integers(0, 10_000), loss=st.sampled_from(["squared_error", "gamma"]))
@examples(12)
def test_without_weights(seed, loss):
    check(seed, loss, weighted=False)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
@pytest.mark.parametrize("method", ["newton", "gradient"])
@given(seed=st.integers(0, 10_000))
@examples(12)
def test_three_classes(strategy, method, seed):
    check(seed, "log_loss", 3, method=method, multi_strategy=strategy)


@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(["squared_error", "log_loss", "poisson"]),
    growth=st.sampled_from(["best_first", "breadth_first"]),
    max_depth=st.sampled_from([None, 2, 3]),
    reg_lambda=st.sampled_from([0.0, 1.0, 5.0]),
    reg_alpha=st.sampled_from([0.0, 0.5]),
    min_child_weight=st.sampled_from([0.0, 3.0]),
    min_split_gain=st.sampled_from([1e-6, 1.0]),
    learning_rate=st.sampled_from([0.1, 1.0]),
)
@examples(60)
def test_growth_and_regularization(seed, loss, **parameters):
    check(seed, loss, **parameters)


@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(["squared_error", "log_loss", "poisson", "gamma", "tweedie"]),
    monotonic=st.sampled_from([None, [1, -1, 0, 0], [-1, 0, 0, 0]]),
    interactions=st.sampled_from([None, [[0, 1]], [[0], [1], [2, 3]]]),
)
@examples(40)
def test_constraints(seed, loss, monotonic, interactions):
    check(seed, loss, monotonic_cst=monotonic, interaction_cst=interactions)


@given(seed=st.integers(0, 10_000), method=st.sampled_from(["newton", "gradient"]))
@examples(12)
def test_interactions_with_line_search(seed, method):
    check(seed, "absolute_error", method=method, interaction_cst=[[0, 1]])


@pytest.mark.parametrize(
    "parameters",
    [
        {"subsample": 0.6},
        {"sampling": "goss", "top_rate": 0.3, "other_rate": 0.2},
        {"dropout": 0.4, "learning_rate": 0.5},
        {"subsample": 0.7, "dropout": 0.4},
    ],
)
@given(seed=st.integers(0, 10_000), loss=st.sampled_from(["squared_error", "log_loss"]))
@examples(12)
def test_sampling(parameters, seed, loss):
    check(seed, loss, min_samples_leaf=3, **parameters)


@pytest.mark.parametrize("method", ["newton", "gradient"])
@given(seed=st.integers(0, 10_000), loss=st.sampled_from([*REGRESSION, "log_loss"]))
@examples(20)
def test_one_side_sampling_of_all_losses(method, seed, loss):
    check(
        seed, loss, method=method, min_samples_leaf=3, sampling="goss", top_rate=0.3, other_rate=0.2
    )
