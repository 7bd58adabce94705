"""Nominal columns of many categories: their gain is lowered by what chance would give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification

from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from ceiba.tree.grow.targets import TargetArrays
from tests.budget import examples
from tests.tree.parts import assert_same_tree

pd = pytest.importorskip("pandas")

N_ROWS = 120


def entropy(y: Any) -> float:
    fractions = np.bincount(y) / len(y)
    fractions = fractions[fractions > 0]
    return float(-(fractions * np.log2(fractions)).sum())


def gini(y: Any) -> float:
    return float(1 - ((np.bincount(y) / len(y)) ** 2).sum())


IMPURITIES = {"gini": gini, "entropy": entropy, "squared_error": np.var}


def best_gain(y: Any, order: Any, impurity: Any) -> float:
    """Return the largest decrease of impurity by two groups of consecutive codes."""
    total, best = impurity(y), 0.0
    for code in np.unique(order)[:-1]:
        left, right = y[order <= code], y[order > code]
        after = (len(left) * impurity(left) + len(right) * impurity(right)) / len(y)
        best = max(best, total - after)
    return best


def table(seed: int, n_categories: int, criterion: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    number = rng.normal(size=N_ROWS)
    codes = np.concatenate([np.arange(n_categories), rng.integers(n_categories, size=N_ROWS)])
    codes = codes[:N_ROWS]
    score = rng.uniform(0, 0.6) * number + rng.uniform(0, 1.5) * (codes % 3 == 0)
    score += rng.normal(size=N_ROWS)
    y = score if criterion == "squared_error" else (score > 0.3).astype(int)
    return pd.DataFrame({"number": number, "text": [f"c{code:03}" for code in codes]}), y


@pytest.mark.parametrize("criterion", IMPURITIES)
@examples(30)
@given(seed=st.integers(0, 10_000), n_categories=st.integers(11, 60))
def test_column_of_largest_corrected_gain_is_chosen(
    criterion: str, seed: int, n_categories: int
) -> None:
    X, y = table(seed, n_categories, criterion)
    impurity = IMPURITIES[criterion]
    by_number = best_gain(y, X["number"].to_numpy(), impurity)
    # Categories in the order of their mean target: some prefix of them is the best group.
    means = X["text"].map(pd.Series(y).groupby(X["text"]).mean()).to_numpy()
    by_text = best_gain(y, means, impurity)
    chance = impurity(y) * (X["text"].nunique() - 2) / (N_ROWS - 1)
    kind = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    tree = kind(criterion=criterion, max_depth=1).fit(X, y).tree_
    if abs(by_text - chance - by_number) < 1e-9:
        return
    expected, gain = (1, by_text) if by_text - chance > by_number else (0, by_number)
    assert tree.column[0] == expected
    assert tree.gain[0] == pytest.approx(gain, rel=1e-9)


@pytest.mark.parametrize("criterion", IMPURITIES)
@pytest.mark.parametrize("columns", [None, 2])
def test_forest_of_one_tree_on_all_rows_equals_the_tree(criterion: str, columns: Any) -> None:
    X, y = table(3, 40, criterion)
    regression = criterion == "squared_error"
    tree = (DecisionTreeRegressor if regression else DecisionTreeClassifier)(criterion=criterion)
    forest = (RandomForestRegressor if regression else RandomForestClassifier)(
        1, criterion=criterion, bootstrap=False, max_features=columns
    )
    assert not (forest.fit(X, y).predict(X) != tree.fit(X, y).predict(X)).any()
    assert forest.tree(0).n_nodes == tree.tree_.n_nodes


def test_rows_without_gain_beyond_chance_are_a_leaf() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"text": [f"c{k}" for k in rng.integers(60, size=N_ROWS)]})
    y = rng.integers(2, size=N_ROWS)
    for options in ({}, {"criterion": "entropy"}, {"max_bins": 64}, {"missing": "fractional"}):
        model = DecisionTreeClassifier(**options).fit(X, y)
        assert model.tree_.reasons[0] == "no_gain"
        model.set_params(category_correction=False)
        assert model.fit(X, y).get_n_leaves() > 1
    y = rng.normal(size=N_ROWS)
    for criterion in ("squared_error", "absolute_error", "poisson"):
        target = np.exp(y) if criterion == "poisson" else y
        model = DecisionTreeRegressor(criterion=criterion).fit(X, target)
        assert model.get_n_leaves() == 1
        model.set_params(category_correction=False)
        assert model.fit(X, target).get_n_leaves() > 1


@pytest.mark.parametrize("algorithm", ["hunt", "id3", "c45"])
def test_presets_of_the_literature_compare_gains_as_they_are(algorithm: str) -> None:
    X, y = table(1, 40, "gini")
    one = DecisionTreeClassifier(algorithm=algorithm).fit(X, y)
    other = DecisionTreeClassifier(algorithm=algorithm, category_correction=False).fit(X, y)
    assert_same_tree(one, other)


def test_ten_categories_are_compared_as_they_are() -> None:
    for n_categories, same in ((10, True), (11, False)):
        X, y = table(5, n_categories, "gini")
        on = DecisionTreeClassifier().fit(X, y)
        off = DecisionTreeClassifier(category_correction=False).fit(X, y)
        assert (on.tree_.n_nodes == off.tree_.n_nodes) == same


@pytest.mark.parametrize("n_categories", [10, 11])
def test_forests_sum_squares_only_for_many_categories(
    n_categories: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[bool] = []
    native = TargetArrays.native

    def record(targets: TargetArrays) -> Any:
        given.append(targets.weighted_square is not None)
        return native(targets)

    monkeypatch.setattr(TargetArrays, "native", record)
    X, y = table(5, n_categories, "squared_error")
    RandomForestRegressor(2).fit(X, y)
    assert given == [n_categories > 10]


LEARNERS: dict[str, Any] = {
    "cart": DecisionTreeClassifier(),
    "adaboost": AdaBoostClassifier(),
    "bagging": BaggingClassifier(n_estimators=10),
    "forest": RandomForestClassifier(50),
}


def mean_loss(learner: Any, n_values: int, n_tables: int) -> float:
    """Return the mean loss of accuracy by a column of random text."""
    losses = []
    for seed in range(n_tables):
        rows, y = make_classification(
            2600, 8, n_informative=4, n_redundant=0, flip_y=0.25, class_sep=1.1, random_state=seed
        )
        rng = np.random.default_rng(seed)
        plain = pd.DataFrame(rows, columns=[f"x{j}" for j in range(8)])
        with_text = plain.assign(text=[f"v{k}" for k in rng.integers(n_values, size=2600)])
        scores = [learner.fit(X[:600], y[:600]).score(X[600:], y[600:]) for X in (plain, with_text)]
        losses.append(scores[0] - scores[1])
    return float(np.mean(losses))


@pytest.mark.parametrize("name", LEARNERS)
def test_random_text_costs_little_accuracy(name: str) -> None:
    assert mean_loss(LEARNERS[name], 300, 4) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("n_values", [60, 150, 300, 600])
def test_random_text_costs_little_accuracy_on_thirty_tables(name: str, n_values: int) -> None:
    assert mean_loss(LEARNERS[name], n_values, 30) < 0.02
