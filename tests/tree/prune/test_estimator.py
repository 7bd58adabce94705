"""Pruning through the estimators: in fit and afterwards, options, errors, scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import tree as peer

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree.prune.folds import held_out_mask
from ceiba.tree.prune.path import cost_complexity_path
from tests.oracles.pruning_complexity import weakest_links
from tests.oracles.pruning_fits import (
    GROWTH,
    assert_collapsed,
    check_subtree_raising,
    risks_of,
    root_and_columns,
)
from tests.oracles.pruning_nodes import exact_costs, inner, plain_rows, unit_costs
from tests.oracles.pruning_reduced import HeldOut, reduced_error
from tests.oracles.pruning_tables import noisy
from tests.tree.parts import assert_same_tree


def classes(name: str = "cleveland") -> tuple[Any, Any]:
    X, y = datasets.load(name)
    return X, y


def gaussian(seed: int = 0, n: int = 300) -> tuple[Any, Any, Any]:
    """Draw columns without ties, overlapping classes and random weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int) + (X[:, 1] > 1)
    return X, y, rng.exponential(size=n)


# scikit-learn


# On other seeds columns tie, or scikit-learn splits a pure node whose impurity it rounds to 1e-16.
LARGE_LEAVES = {"min_samples_leaf": 12}


@pytest.mark.parametrize(("seed", "weighted"), [(2, False), (5, False), (0, True), (5, True)])
def test_path_equals_scikit_learn(seed: int, weighted: bool) -> None:
    X, y, weight = gaussian(seed)
    weight = weight if weighted else None
    theirs = peer.DecisionTreeClassifier(random_state=0, **LARGE_LEAVES)
    expected = theirs.cost_complexity_pruning_path(X, y, weight)
    assert_equal_paths(
        DecisionTreeClassifier(**LARGE_LEAVES).cost_complexity_pruning_path(X, y, weight), expected
    )


def test_regression_path_equals_scikit_learn() -> None:
    X, _, weight = gaussian(5)
    y = X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * weight
    for w in (None, weight):
        theirs = peer.DecisionTreeRegressor(min_samples_leaf=4, random_state=0)
        ours = DecisionTreeRegressor(min_samples_leaf=4)
        assert_equal_paths(
            ours.cost_complexity_pruning_path(X, y, w),
            theirs.cost_complexity_pruning_path(X, y, w),
        )


def assert_equal_paths(found: Any, expected: Any) -> None:
    """Compare paths; scikit-learn prunes links of equal strength one after the other."""
    last = np.append(np.diff(expected.ccp_alphas) > 1e-12, True)
    last[0] = True
    np.testing.assert_allclose(found.ccp_alphas, expected.ccp_alphas[last], atol=1e-12)
    np.testing.assert_allclose(found.impurities, expected.impurities[last], atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_alpha_leaves_as_many_leaves_as_scikit_learn(weighted: bool) -> None:
    X, y, weight = gaussian(5)
    weight = weight if weighted else None
    grown = DecisionTreeClassifier(**LARGE_LEAVES).fit(X, y, weight)
    sizes = set()
    for alpha in np.geomspace(1e-4, 0.4, 25):
        theirs = peer.DecisionTreeClassifier(ccp_alpha=alpha, random_state=0, **LARGE_LEAVES)
        ours = DecisionTreeClassifier(ccp_alpha=alpha, **LARGE_LEAVES).fit(X, y, weight)
        assert ours.get_n_leaves() == theirs.fit(X, y, weight).get_n_leaves()
        assert_same_tree(ours, grown.pruned("cost_complexity", alpha=alpha, risk="impurity"))
        sizes.add(ours.get_n_leaves())
    assert len(sizes) > 8


# In fit and afterwards


@pytest.mark.parametrize("risk", ["impurity", "error"])
@pytest.mark.parametrize("alpha", [0.004, 0.03])
def test_ccp_alpha_equals_pruned_alpha(alpha: float, risk: str) -> None:
    X, y = classes()
    inside = DecisionTreeClassifier(
        pruning="cost_complexity", ccp_alpha=alpha, prune_risk=risk
    ).fit(X, y)
    grown = DecisionTreeClassifier().fit(X, y)
    assert_same_tree(inside, grown.pruned("cost_complexity", alpha=alpha, risk=risk))
    assert inside.get_n_leaves() < grown.get_n_leaves()
    assert inside.unpruned().get_n_leaves() == grown.get_n_leaves()
    root, _ = root_and_columns(grown.tree_)
    steps = weakest_links(root, risks_of(root, "error" if risk == "error" else "gini"))
    expected = [step for step in steps if step.alpha <= alpha * root["weight"]][-1]
    assert inside.get_n_leaves() == expected.n_leaves


@pytest.mark.parametrize("subtree_raising", [False, True])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("cleveland", {}),
        ("glass", {"class_weight": "balanced", "max_bins": 16}),
        ("vote", {"missing": "fractional"}),
        ("hepatitis", {"algorithm": "c45"}),
        ("crx", {"missing": "surrogate"}),
    ],
)
def test_pessimistic_pruning_in_fit_equals_pruned(
    name: str, more: dict[str, Any], subtree_raising: bool
) -> None:
    X, y = classes(name)
    options = {"subtree_raising": subtree_raising, "prune_confidence": 0.2, **more}
    inside = DecisionTreeClassifier(pruning="pessimistic", **options).fit(X, y)
    grown = DecisionTreeClassifier(pruning="none", **more).fit(X, y)
    rows = (X, y) if subtree_raising else ()
    after = grown.pruned("pessimistic", *rows, confidence=0.2, subtree_raising=subtree_raising)
    assert_same_tree(inside, after)
    assert inside.get_n_leaves() < grown.get_n_leaves()


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_cross_validation_in_fit_equals_pruned(rule: str) -> None:
    X, y = classes()
    inside = DecisionTreeClassifier(pruning="cost_complexity", prune_rule=rule, prune_folds=5)
    inside.fit(X, y)
    after = DecisionTreeClassifier().fit(X, y).pruned("cost_complexity", X, y, rule=rule, folds=5)
    assert_same_tree(inside, after)


def test_regression_cross_validation_in_fit_equals_pruned() -> None:
    X, y = datasets.load("auto_mpg")
    inside = DecisionTreeRegressor(pruning="cost_complexity", prune_folds=4).fit(X, y)
    after = DecisionTreeRegressor().fit(X, y).pruned("cost_complexity", X, y, folds=4)
    assert_same_tree(inside, after)
    assert 1 < inside.get_n_leaves() < inside.unpruned().get_n_leaves()


@pytest.mark.parametrize("fraction", [0.2, 0.4])
@pytest.mark.parametrize("name", ["cleveland", "auto_mpg", "vote"])
def test_reduced_error_in_fit_equals_pruned(name: str, fraction: float) -> None:
    X, y = datasets.load(name)
    kind = DecisionTreeRegressor if y.dtype.kind == "f" else DecisionTreeClassifier
    inside = kind(pruning="reduced_error", validation_fraction=fraction, random_state=4).fit(X, y)
    label = None if y.dtype.kind == "f" else np.unique(y, return_inverse=True)[1]
    held = held_out_mask(len(y), fraction, 4, label)
    assert held.sum() == round(fraction * len(y))
    grown = kind().fit(X[~held], y[~held])
    assert_same_tree(inside, grown.pruned("reduced_error", X[held], y[held]))
    assert 1 < inside.get_n_leaves() < grown.get_n_leaves()


@pytest.mark.parametrize("missing", ["learned", "branch", "fractional", "surrogate"])
@pytest.mark.parametrize("name", ["vote", "hepatitis", "crx"])
def test_reduced_error_equals_the_naive_version(name: str, missing: str) -> None:
    X, y = datasets.load(name)
    held = np.arange(len(y)) % 3 == 1
    known = np.isin(y, np.unique(y[~held]))
    grown = DecisionTreeClassifier(missing=missing, max_depth=4).fit(X[~held], y[~held])
    root, columns = root_and_columns(grown.tree_)
    rows = [row for row, use in zip(plain_rows(X), held & known, strict=True) if use]
    codes = np.searchsorted(grown.classes_, y[held & known]).tolist()
    costs = unit_costs(len(grown.classes_))
    data = HeldOut(rows, codes, [1] * len(rows), columns, costs, missing == "fractional")
    expected, made = reduced_error(root, data)
    small = grown.pruned("reduced_error", X[held & known], y[held & known])
    assert_collapsed(grown.tree_, small.tree_, inner(root) - inner(expected))
    assert made
    assert sorted(small.pruning_.nodes.tolist()) == sorted(number for number, *_ in made)


@pytest.mark.parametrize(
    "options",
    [{}, {"leaf_probability": "laplace"}, {"leaf_probability": "m_estimate", "m_prior": 20.0}],
)
@pytest.mark.parametrize("name", ["glass", "german_credit"])
def test_reduced_error_uses_the_predictions_of_leaves(name: str, options: dict[str, Any]) -> None:
    X, y = classes(name)
    held = np.arange(len(y)) % 3 == 0
    grown = DecisionTreeClassifier(**options).fit(X[~held], y[~held])
    small = grown.pruned("reduced_error", X[held], y[held])
    trace = small.pruning_.trace
    assert trace[0]["error_before"] == pytest.approx(1 - grown.score(X[held], y[held]))
    assert trace[-1]["error_after"] == pytest.approx(1 - small.score(X[held], y[held]))


def test_reduced_error_uses_costs_and_weights() -> None:
    X, y = classes()
    held = np.arange(len(y)) % 3 == 1
    weight = 1.0 + np.arange(held.sum()) % 4
    costs = [[0, 1], [5, 0]]
    grown = DecisionTreeClassifier(cost_matrix=costs).fit(X[~held], y[~held])
    root, columns = root_and_columns(grown.tree_)
    rows = [row for row, use in zip(plain_rows(X), held, strict=True) if use]
    codes = np.searchsorted(grown.classes_, y[held]).tolist()
    data = HeldOut(rows, codes, weight.tolist(), columns, exact_costs(costs, 2))
    expected, _ = reduced_error(root, data)
    small = grown.pruned("reduced_error", X[held], y[held], weight)
    assert_collapsed(grown.tree_, small.tree_, inner(root) - inner(expected))


def test_steps_equal_the_naive_path() -> None:
    X, y = classes("iris")
    grown = DecisionTreeClassifier(min_samples_split=10).fit(X, y)
    root, _ = root_and_columns(grown.tree_)
    steps = weakest_links(root, risks_of(root, "error"))
    for k, step in enumerate(steps):
        assert grown.pruned("step", step=k).get_n_leaves() == step.n_leaves
    # The last two effective alphas of iris as in rpart and MATLAB: 0.44 and 0.5 of the root's 2/3.
    path = cost_complexity_path(grown.tree_, "error")
    np.testing.assert_allclose(path.alphas[-2:], [0.44 * 2 / 3, 0.5 * 2 / 3])
    # Mergeable leaves have an effective alpha of 0: step 1 begins at 0, too.
    assert [path.step_at(alpha) for alpha in path.alphas] == [1, *range(1, len(steps))]


# Subtree raising


@pytest.mark.parametrize("growth", GROWTH)
def test_subtree_raising_equals_the_naive_version(growth: str) -> None:
    kinds = []
    for seed in range(10):
        X, y, weight = noisy(seed)
        w = weight if seed % 2 else None
        grown = DecisionTreeClassifier(**GROWTH[growth], pruning="none", collapse=False).fit(
            X, y, w
        )
        kinds += check_subtree_raising(grown, X, y, w, (0.05, 0.25, 0.5)[seed % 3])
    assert {"leaf", "raise"} == set(kinds)


@pytest.mark.parametrize(("name", "growth"), [("crx", "fractional"), ("crx", "surrogate"),
                                           ("crx", "branches"), ("hepatitis", "c45")])  # fmt: skip
def test_subtree_raising_of_real_tables(name: str, growth: str) -> None:
    X, y = classes(name)
    options = {"criterion": "gini", "pruning": "none", "min_samples_leaf": 2, "collapse": False}
    options |= GROWTH[growth]
    if growth == "c45":
        options = {"algorithm": "c45", "pruning": "none", "collapse": False}
    grown = DecisionTreeClassifier(**options).fit(X, y)
    assert "raise" in check_subtree_raising(grown, X, y, None, 0.1)


def test_subtree_raising_does_not_depend_on_threads() -> None:
    # Enough rows that subtrees are pruned by different threads.
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 9000)
    X = rng.normal(size=(9000, 4)) + 0.7 * y[:, None] * rng.random((9000, 4))
    X[rng.random(X.shape) < 0.02] = np.nan
    grown = DecisionTreeClassifier(min_samples_leaf=40).fit(X, y)
    check_subtree_raising(grown, X, y, None, 0.1)
    one, two = (
        grown.set_params(n_jobs=n).pruned("pessimistic", X, y, subtree_raising=True) for n in (1, 2)
    )
    assert_same_tree(one, two)


def test_subtree_raising_uses_costs() -> None:
    for seed in range(6):
        X, y, _ = noisy(seed)
        costs = [[0, 4, 4], [1, 0, 1], [1, 1, 0]]
        grown = DecisionTreeClassifier(cost_matrix=costs).fit(X, y)
        check_subtree_raising(grown, X, y, None, 0.25)


# Options


def leaves(name: str = "cleveland", **options: Any) -> int:
    X, y = classes(name)
    return int(DecisionTreeClassifier(**options).fit(X, y).get_n_leaves())


@pytest.mark.parametrize(
    ("option", "values", "more"),
    [
        ("prune_confidence", [0.05, 0.5], {"pruning": "pessimistic"}),
        ("pruning", ["none", "pessimistic"], {}),
        ("ccp_alpha", [None, 0.01, 0.05], {}),
        ("prune_risk", ["impurity", "error"], {"ccp_alpha": 0.01}),
        ("prune_rule", ["min", "one_se"], {"pruning": "cost_complexity"}),
        ("validation_fraction", [0.1, 0.5], {"pruning": "reduced_error"}),
        ("cost_matrix", [None, [[0, 1], [9, 0]]], {"pruning": "pessimistic"}),
        ("cost_matrix", [None, [[0, 1], [9, 0]]], {"ccp_alpha": 0.01, "prune_risk": "error"}),
        ("collapse", [False, True], {"max_depth": 5}),
    ],
)
def test_options_change_the_tree(option: str, values: list[Any], more: dict[str, Any]) -> None:
    assert len({leaves(**{option: value}, **more) for value in values}) == len(values)


def test_folds_change_the_tree() -> None:
    found = {
        leaves(pruning="cost_complexity", prune_rule="min", prune_folds=folds)
        for folds in (2, 5, 10)
    }
    assert len(found) > 1


def test_subtree_raising_changes_the_tree() -> None:
    tables = ["cleveland", "crx", "german_credit"]
    options = {"algorithm": "c45", "prune_confidence": 0.25}
    found = [
        [leaves(name, subtree_raising=raising, **options) for name in tables]
        for raising in (False, True)
    ]
    assert found[0] != found[1]


def test_collapsing_precedes_pruning() -> None:
    X, y = classes()
    options = {"max_depth": 5, "collapse": True}
    collapsed = DecisionTreeClassifier(**options).fit(X, y)
    assert_same_tree(collapsed, DecisionTreeClassifier(**options, pruning="none").fit(X, y))
    assert collapsed.get_n_leaves() < collapsed.unpruned().get_n_leaves()
    # Such a small alpha prunes nothing by itself.
    small_alpha = DecisionTreeClassifier(**options, pruning="cost_complexity", ccp_alpha=1e-9)
    assert small_alpha.fit(X, y).get_n_leaves() == collapsed.get_n_leaves()


# Errors


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("reduced_error", {}, "requires validation rows: pass X and y"),
        ("step", {}, "step must be an int"),
        ("step", {"step": 10**6}, "step must be an int in"),
        ("step", {"step": -1}, "step must be an int in"),
        ("step", {"step": 1.5}, "step must be an int"),
        ("step", {"step": 1, "alpha": 0.1}, "'alpha' has no effect with method='step'"),
        ("pessimistic", {"step": 1}, "'step' has no effect with method='pessimistic'"),
        ("reduced_error", {"confidence": 0.2}, "'confidence' has no effect"),
        ("cost_complexity", {"alpha": 0.1, "risk": "magic"}, "risk must be"),
        ("cost_complexity", {"alpha": 0.1, "step": 1}, "alpha and step both"),
        ("cost_complexity", {"alpha": -0.1}, "alpha must be a number >= 0, got -0.1"),
        ("cost_complexity", {"alpha": float("nan")}, "alpha must be"),
        ("cost_complexity", {"alpha": 0.1, "folds": 3}, "'folds' has no effect with .* alpha=0.1"),
        ("cost_complexity", {"step": 1, "rule": "min"}, "'rule' has no effect with .* step=1"),
        ("cost_complexity", {"folds": 1}, "folds must be an int >= 2, got 1"),
        ("cost_complexity", {"rule": "max"}, "rule must be 'min' or 'one_se', got 'max'"),
        ("cost_complexity", {}, "requires alpha, step, or the training rows"),
        ("pessimistic", {"subtree_raising": True}, "requires the training rows"),
        ("pessimistic", {"confidence": 0.7}, "confidence must be a float"),
        ("pessimistic", {"confidence": 0.0}, "confidence must be a float"),
        ("magic", {}, "method must be one of"),
    ],
)
def test_invalid_options_raise(method: str, options: dict[str, Any], message: str) -> None:
    X, y = classes("iris")
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.pruned(method, **options)


def test_rows_without_effect_raise() -> None:
    X, y = classes("iris")
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X and y have no effect"):
        model.pruned("cost_complexity", X, y, alpha=0.1)
    with pytest.raises(ValueError, match="y"):
        model.pruned("reduced_error", X)
    with pytest.raises(ValueError, match="weight"):
        model.pruned("reduced_error", X, y, np.zeros(len(y)))


def test_regressors_have_no_pessimistic_pruning() -> None:
    X, y = datasets.load("servo")
    model = DecisionTreeRegressor().fit(X, y)
    with pytest.raises(ValueError, match="method='pessimistic' requires a classifier"):
        model.pruned("pessimistic")
    with pytest.raises(ValueError, match="pruning"):
        DecisionTreeRegressor(pruning="pessimistic").fit(X, y)


def test_unknown_class_raises() -> None:
    X, y = classes("iris")
    model = DecisionTreeClassifier().fit(X, y)
    unknown = np.where(np.arange(len(y)) == 3, "tulip", y.astype(object))
    with pytest.raises(ValueError, match="tulip"):
        model.pruned("reduced_error", X, unknown)


@pytest.mark.parametrize(
    ("costs", "message"),
    [([[0, 1]], "cost_matrix"), ([[0, 1], [1, 0]], "cost_matrix"), (np.full((3, 3), -1), "cost")],
)
def test_invalid_cost_matrix_raises(costs: Any, message: str) -> None:
    X, y = classes("iris")
    with pytest.raises(ValueError, match=message):
        DecisionTreeClassifier(cost_matrix=costs).fit(X, y)
