"""A long campaign of bags and boosting: draws and votes by hand, rounds beside the naive ones."""

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
from ceiba.ensemble.common.oob import OutOfBagWarning
from ceiba.ensemble.common.rows import table_columns
from tests.ensemble.adaboost import test_oracle as boost
from tests.ensemble.adaboost import test_trees as trees
from tests.ensemble.bagging import by_hand as hand
from tests.soak.cases import Chance, cases, rows_drawn, some_table, state

pytestmark = pytest.mark.soak
SEEDS = st.integers(0, 2**63 - 1)


def longer(number: int, test: Any, *drawn: Any) -> Any:
    """A property that the suite tests too, with many more cases."""
    return cases(number)(given(*drawn)(test.hypothesis.inner_test))


test_rounds_of_stumps = longer(
    20_000, boost.test_rounds_of_stumps, boost.tables(), st.sampled_from(["samme", "m1"])
)
test_rounds_by_probabilities = longer(
    10_000, boost.test_rounds_by_probabilities, boost.tables(), st.sampled_from([0.5, 1.0])
)
test_rounds_of_numbers = longer(
    10_000, boost.test_rounds_of_numbers, SEEDS,
    st.sampled_from(["linear", "square", "exponential"]),
)  # fmt: skip
test_members_on_codes = longer(
    5_000, trees.test_members_of_arrays_are_what_their_own_fit_gives, SEEDS
)


# Bags


def some_bag(chance: Chance) -> tuple[Any, Any, Any, Any]:
    """A bag of our trees, its rows, targets and weights."""
    X, classes, numbers, weight = some_table(chance, 18, 120)
    if weight is not None and (weight % 1 != 0).any():  # by hand, draws are of whole numbers
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
    """Rows and columns of each member are those that its seed draws by hand."""
    whole = [1] * n if weight is None else weight.astype(int).tolist()
    there = np.flatnonzero(whole)
    asked = model.max_samples
    for number, rows in enumerate(model.estimators_samples_):
        seed = hand.member_seed(model.random_state, number)
        usual = sum(whole) if model.bootstrap else len(there)
        draws = asked if isinstance(asked, int) else usual if asked is None else None
        draws = max(1, round(asked * usual)) if draws is None else draws
        if model.bootstrap:
            assert rows.tolist() == hand.rows_with_replacement(seed, whole, draws)
        else:
            chosen = hand.rows_without_replacement(seed, len(there), draws)
            assert rows.tolist() == there[chosen].tolist()
        p = model.n_features_in_
        wanted = model.max_features
        wanted = wanted if isinstance(wanted, int) else max(1, int(wanted * p))
        drawn = hand.columns(seed, p, wanted, replace=model.bootstrap_features)
        assert model.estimators_features_[number].tolist() == drawn


def members_again(model: Any, table: Table, y: Any, weight: Any) -> list[Any]:
    """What members fitted by hand to their rows and columns say of all rows."""
    told = []
    for number, rows in enumerate(model.estimators_samples_):
        counts = np.bincount(rows, minlength=len(table)).astype(float)
        if not model.bootstrap and weight is not None:
            counts *= weight
        part = table_columns(table, model.estimators_features_[number])
        there = np.flatnonzero(counts)
        member = clone(model.estimators_[number]).fit(part.take(there), y[there], counts[there])
        told.append((member, part))
    return told


def check_decision(model: Any, X: Any, members: list[Any]) -> None:
    """Means of members, or votes of which ties are drawn."""
    if isinstance(model, BaggingRegressor):
        mean = sum(member.predict(part) for member, part in members) / len(members)
        np.testing.assert_allclose(model.predict(X), mean, rtol=1e-12)
        return
    n, k = len(X), len(model.classes_)
    shares, votes = np.zeros((n, k)), np.zeros((n, k), int)
    for member, part in members:
        places = np.searchsorted(model.classes_, member.classes_)
        shares[:, places] += member.predict_proba(part) / len(members)
        told = np.searchsorted(model.classes_, member.predict(part))
        votes[np.arange(n), told] += 1
    if model.voting == "probability":
        np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-12, atol=1e-15)
        first = model.predict_proba(X).argmax(axis=1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[first])
        return
    np.testing.assert_array_equal(model.votes(X).counts, votes)
    elected = [hand.elected(row.tolist(), model.seed_, i) for i, row in enumerate(votes)]
    np.testing.assert_array_equal(model.predict(X), model.classes_[elected])


@cases(2_000)
@given(seed=SEEDS)
def test_any_bag_is_the_one_by_hand(seed: int) -> None:
    model, X, y, weight = some_bag(Chance(seed))
    model.fit(X, y, weight)
    check_draws(model, len(X), weight)
    check_decision(model, X, members_again(model, Table.of(X), y, weight))


# Files and threads


def some_committee(chance: Chance) -> tuple[Any, Any, Any, Any]:
    """A bag or boosted members."""
    if chance.of(True, False):
        return some_bag(chance)
    X, classes, numbers, weight = some_table(chance, 18, 300)
    options = {
        "n_estimators": chance.between(1, 5),
        "learning_rate": chance.of(1.0, 0.5),
        "max_depth": chance.between(1, 3),
        "by": chance.of("weights", "draws"),
        "random_state": chance.between(0, 2**32 - 1),
        "trace": chance.of(True, False),
        "n_jobs": 1,
    }
    if chance.of(True, False):
        loss = chance.of("linear", "square", "exponential")
        return AdaBoostRegressor(loss=loss, **options), X, numbers, weight
    algorithm = chance.of("samme", "m1", "real")
    return AdaBoostClassifier(algorithm=algorithm, **options), X, classes, weight


def fitted(model: Any, X: Any, y: Any, weight: Any) -> Any:
    """The model; None where there is nothing to boost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfBagWarning)
        try:
            return model.fit(X, y, weight)
        except ValueError as error:
            if "nothing to boost" not in str(error) and "one class" not in str(error):
                raise
            return None


@cases(2_000)
@given(seed=SEEDS)
def test_a_file_or_threads_change_no_bit(seed: int, tmp_path_factory: Any) -> None:
    model, X, y, weight = some_committee(Chance(seed))
    if fitted(model, X, y, weight) is None:
        return
    other = clone(model).set_params(n_jobs=3).fit(X, y, weight)
    assert state(other) == state(model)
    path = tmp_path_factory.getbasetemp() / "committee"
    save(model, path)
    for mmap in (False, True):
        back = load(path, mmap=mmap)
        assert state(back) == state(model)
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
