"""Long runs of bagging and AdaBoost: comparison with naive versions, and invariants."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    load,
    save,
)
from ceiba.data import Table
from ceiba.ensemble.common.rows import table_columns
from ceiba.ensemble.common.sampling import OutOfBagWarning
from tests.ensemble.adaboost import test_oracle as boost
from tests.ensemble.adaboost import test_trees as trees
from tests.ensemble.bagging import by_hand as hand
from tests.soak.cases import Chance, cases, longer, rows_drawn, some_table, state

pytestmark = pytest.mark.soak
SEEDS = st.integers(0, 2**63 - 1)


test_rounds_of_stumps = longer(
    20_000,
    boost.test_rounds_of_stumps_match_naive,
    boost.tables(),
    st.sampled_from(["samme", "m1"]),
)
test_rounds_of_samme_r = longer(
    10_000, boost.test_rounds_of_samme_r_match_paper, boost.tables(), st.sampled_from([0.5, 1.0])
)
test_rounds_of_r2 = longer(
    10_000,
    boost.test_rounds_of_r2_match_paper,
    SEEDS,
    st.sampled_from(["linear", "square", "exponential"]),
)
test_members_on_shared_encoding = longer(
    5_000, trees.test_members_on_arrays_equal_their_own_fit, SEEDS
)


# Bagging


def some_bagging(chance: Chance) -> tuple[Any, Any, Any, Any]:
    """Return bagging of Ceiba's trees, rows, targets and weights."""
    X, classes, numbers, weight = some_table(chance, 30, 120)
    if weight is not None and (weight % 1 != 0).any():  # the naive draws use integers
        weight = None
    options = rows_drawn(chance) | {
        "max_features": chance.of(1.0, 0.7, 1),
        "bootstrap_features": chance.of(False, True),
        "random_state": chance.between(0, 2**32 - 1),
        "n_jobs": chance.of(1, 2),
    }
    own = {"max_depth": chance.of(2, None), "max_features": chance.of(None, 1)}
    if chance.of(True, False):
        member = DecisionTreeRegressor(**own)
        return BaggingRegressor(member, 4, **options), X, numbers, weight
    voting = chance.of("probability", "majority")
    member = DecisionTreeClassifier(**own)
    return BaggingClassifier(member, 4, voting=voting, **options), X, classes, weight


def check_draws(model: Any, n: int, weight: Any) -> None:
    """Compare the rows and columns of each member with the naive draws."""
    counts = [1] * n if weight is None else weight.astype(int).tolist()
    there = np.flatnonzero(counts)
    max_samples = model.max_samples
    for number, rows in enumerate(model.estimators_samples_):
        seed = hand.member_seed(model.random_state, number)
        draws = len(there) if max_samples is None else max_samples
        if not isinstance(draws, int):  # a fraction of the total weight
            draws = max(1, round(max_samples * (sum(counts) if model.bootstrap else len(there))))
        if model.bootstrap:
            assert rows.tolist() == hand.rows_with_replacement(seed, counts, draws)
        else:
            chosen = hand.rows_without_replacement(seed, len(there), draws)
            assert rows.tolist() == there[chosen].tolist()
        p = model.n_features_in_
        wanted = model.max_features
        wanted = wanted if isinstance(wanted, int) else max(1, int(wanted * p))
        drawn = hand.columns(seed, p, wanted, replace=model.bootstrap_features)
        assert model.estimators_features_[number].tolist() == drawn


def members_again(model: Any, table: Table, y: Any, weight: Any) -> list[Any]:
    """Fit the members by hand to their rows and columns."""
    members = []
    for number, rows in enumerate(model.estimators_samples_):
        counts = np.bincount(rows, minlength=len(table)).astype(float)
        if not model.bootstrap and weight is not None:
            counts *= weight
        part = table_columns(table, model.estimators_features_[number])
        # With the rows of weight zero, a member has all classes.
        member = clone(model.estimators_[number]).fit(part, y, counts)
        members.append((member, part))
    return members


def check_decision(model: Any, X: Any, members: list[Any]) -> None:
    """Compare predictions with means or votes of the members."""
    if isinstance(model, BaggingRegressor):
        mean = sum(member.predict(part) for member, part in members) / len(members)
        np.testing.assert_allclose(model.predict(X), mean, rtol=1e-12)
        return
    n, k = len(X), len(model.classes_)
    probabilities, votes = np.zeros((n, k)), np.zeros((n, k), int)
    for member, part in members:
        indices = np.searchsorted(model.classes_, member.classes_)
        probabilities[:, indices] += member.predict_proba(part) / len(members)
        predicted = np.searchsorted(model.classes_, member.predict(part))
        votes[np.arange(n), predicted] += 1
    if model.voting == "probability":
        np.testing.assert_allclose(model.predict_proba(X), probabilities, rtol=1e-12, atol=1e-15)
        first = model.predict_proba(X).argmax(axis=1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[first])
        return
    np.testing.assert_array_equal(model.votes(X).counts, votes)
    elected = [hand.elected(row.tolist(), model.seed_, i) for i, row in enumerate(votes)]
    np.testing.assert_array_equal(model.predict(X), model.classes_[elected])


@cases(2_000)
@given(seed=SEEDS)
def test_random_ensembles_match_naive(seed: int) -> None:
    model, X, y, weight = some_bagging(Chance(seed))
    model.fit(X, y, weight)
    check_draws(model, len(X), weight)
    check_decision(model, X, members_again(model, Table.of(X), y, weight))


# Files and threads


def some_ensemble(chance: Chance) -> tuple[Any, Any, Any, Any]:
    """Return bagging or AdaBoost, rows, targets and weights."""
    if chance.of(True, False):
        return some_bagging(chance)
    X, classes, numbers, weight = some_table(chance, 18, 300)
    options = {
        "n_estimators": chance.between(1, 5),
        "learning_rate": chance.of(1.0, 0.5),
        "max_depth": chance.between(1, 3),
        "reweighting": chance.of("weights", "resampling"),
        "random_state": chance.between(0, 2**32 - 1),
        "trace": chance.of(True, False),
        "n_jobs": 1,
    }
    if chance.of(True, False):
        loss = chance.of("linear", "square", "exponential")
        return AdaBoostRegressor(loss=loss, **options), X, numbers, weight
    algorithm = chance.of("samme", "m1", "samme.r")
    return AdaBoostClassifier(algorithm=algorithm, **options), X, classes, weight


def fitted(model: Any, X: Any, y: Any, weight: Any) -> Any:
    """Fit the model; return None if boosting cannot start."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfBagWarning)
        try:
            return model.fit(X, y, weight)
        except ValueError as error:
            if "is worse than random" not in str(error) and "one class" not in str(error):
                raise
            return None


@cases(2_000)
@given(seed=SEEDS)
def test_model_file_and_threads_change_nothing(seed: int, tmp_path_factory: Any) -> None:
    model, X, y, weight = some_ensemble(Chance(seed))
    if fitted(model, X, y, weight) is None:
        return
    other = clone(model).set_params(n_jobs=3).fit(X, y, weight)
    assert state(other) == state(model)
    path = tmp_path_factory.getbasetemp() / "ensemble"
    save(model, path)
    for mmap in (False, True):
        back = load(path, mmap=mmap)
        assert state(back) == state(model)
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
