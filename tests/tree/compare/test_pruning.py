"""Comparison of pruning methods against the same numbers computed directly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.data.table import Table
from ceiba.inference import t_interval, wilson
from ceiba.tree.compare.pruning import compare_pruning
from ceiba.tree.prune.cross_validation import geometric_means
from ceiba.tree.prune.folds import assign_folds, held_out_mask
from ceiba.tree.prune.path import cost_complexity_path

METHODS = [
    "unpruned",
    "reduced error",
    "pessimistic",
    "pessimistic, subtree raising",
    "cost complexity, min, impurity",
    "cost complexity, one_se, impurity",
    "cost complexity, min, error",
    "cost complexity, one_se, error",
]


@pytest.fixture(scope="module")
def glass():
    return datasets.load("glass")


@pytest.fixture(scope="module")
def table(glass):
    return compare_pruning(DecisionTreeClassifier(), glass.table, glass.y, folds=4, seed=3)


def encode(y):
    return np.unique(y, return_inverse=True)[1]


def numbers(n=160, missing=0.0):
    draw = np.random.default_rng(5)
    X = draw.normal(size=(n, 3))
    y = X[:, 0] ** 2 + 0.5 * draw.normal(size=n)
    X[draw.uniform(size=(n, 3)) < missing] = np.nan
    return X, y


def test_has_a_row_for_every_method(table):
    assert [row.name for row in table] == METHODS
    assert list(table.models) == METHODS
    grown = table["unpruned"]
    for row in table:
        tree = table.models[row.name].tree_
        assert (row.n_leaves, row.depth) == (tree.n_leaves, tree.max_depth)
        assert row.n_leaves <= grown.n_leaves
    assert len({row.n_leaves for row in table}) > 3
    assert grown.training.estimate == min(row.training.estimate for row in table)


def test_training_and_validation_errors_equal_those_of_the_models(glass, table):
    held = held_out_mask(len(glass.y), 0.25, 3, encode(glass.y))
    for rows, name in ((~held, "training"), (held, "validation")):
        X, y = glass.table.take(rows), np.asarray(glass.y)[rows]
        for row in table:
            wrong = np.count_nonzero(table.models[row.name].predict(X) != y)
            assert getattr(row, name) == wilson(wrong, len(y), 0.95)
    assert any(f"{held.sum()} of {len(held)} rows held out" in note for note in table.notes)


def test_cross_validated_errors_equal_direct_ones(glass, table):
    kept = ~held_out_mask(len(glass.y), 0.25, 3, encode(glass.y))
    X, y = glass.table.take(kept), np.asarray(glass.y)[kept]
    fold = assign_folds(len(y), 4, 3, encode(y))
    wrong = dict.fromkeys(("unpruned", "pessimistic", "cost complexity, min, error"), 0)
    for k in range(4):
        own = fold != k
        grown = DecisionTreeClassifier(random_state=3 + 1 + k).fit(X.take(own), y[own])
        options = {"risk": "error", "folds": 5, "rule": "min"}
        models = {
            "unpruned": grown,
            "pessimistic": grown.pruned("pessimistic", subtree_raising=False),
            "cost complexity, min, error": grown.pruned(
                "cost_complexity", X.take(own), y[own], **options
            ),
        }
        for name, model in models.items():
            wrong[name] += np.count_nonzero(model.predict(X.take(~own)) != y[~own])
    for name, count in wrong.items():
        assert table[name].cross_validated == wilson(count, len(y), 0.95)


def test_uses_the_given_validation_rows(glass):
    y = np.asarray(glass.y)
    even = np.arange(len(y)) % 2 == 0
    model = DecisionTreeClassifier(max_depth=4)
    given = compare_pruning(
        model, glass.table.take(even), y[even], glass.table.take(~even), y[~even], folds=3
    )
    grown = DecisionTreeClassifier(max_depth=4).fit(glass.table.take(even), y[even])
    expected = grown.pruned("reduced_error", glass.table.take(~even), y[~even])
    assert given["reduced error"].n_leaves == expected.tree_.n_leaves
    wrong = np.count_nonzero(expected.predict(glass.table.take(~even)) != y[~even])
    assert given["reduced error"].validation == wilson(wrong, int((~even).sum()), 0.95)
    assert f"{(~even).sum()} rows given" in given.notes[0]
    assert not hasattr(model, "tree_")


def test_regression_has_fewer_methods_and_t_intervals():
    X, y = numbers()
    found = compare_pruning(DecisionTreeRegressor(), X, y, folds=3, confidence_level=0.9)
    names = [row.name for row in found]
    assert names == ["unpruned", "reduced error", "cost complexity, min", "cost complexity, one_se"]
    held = held_out_mask(len(y), 0.25, 0)
    for row in found:
        left = found.models[row.name].predict(X[held]) - y[held]
        assert row.validation == t_interval(left**2, 0.9)
    assert found["unpruned"].training.estimate == 0.0
    assert found["cost complexity, one_se"].n_leaves < found["unpruned"].n_leaves
    assert "squared error" in str(found)


def test_depends_on_seed_and_folds_but_not_on_threads(glass, table):
    def run(**options):
        options = {"folds": 4, "seed": 3} | options
        jobs = options.pop("n_jobs", None)
        model = DecisionTreeClassifier(n_jobs=jobs)
        return compare_pruning(model, glass.table, glass.y, **options)

    assert str(run(n_jobs=1)) == str(table)
    assert run(seed=4).rows != table.rows
    assert run(inner_folds=2).rows != table.rows
    assert run(folds=6).rows != table.rows
    narrow = run(confidence_level=0.5)
    assert narrow["unpruned"].validation.lower > table["unpruned"].validation.lower


def test_prints_as_text_and_converts_to_a_frame(table):
    lines = str(table).splitlines()
    assert lines[0].split()[:2] == ["leaves", "depth"]
    for row, line in zip(table, lines[1:], strict=False):
        assert line.startswith(row.name)
        assert f"{row.validation.estimate:.4f} [{row.validation.lower:.4f}, " in line
    assert repr(table) == str(table)
    frame = table.to_frame()
    assert frame.index.tolist() == METHODS
    assert frame.loc["unpruned", "cross_validated_upper"] == table["unpruned"].cross_validated.upper
    with pytest.raises(KeyError, match="'unpruned'"):
        table["none"]


def test_invalid_arguments_raise(glass):
    X, y = glass.table, glass.y
    with pytest.raises(TypeError, match="LogisticRegression"):
        compare_pruning(LogisticRegression(), X, y)
    with pytest.raises(ValueError, match="must be passed together"):
        compare_pruning(DecisionTreeClassifier(), X, y, X)
    with pytest.raises(ValueError, match="folds=1000 cannot be greater"):
        compare_pruning(DecisionTreeClassifier(), X, y, folds=1000)
    with pytest.raises(ValueError, match="confidence_level must be"):
        compare_pruning(
            DecisionTreeClassifier(), X, y, folds=2, inner_folds=2, confidence_level=2.0
        )


def naive_losses(model, X, y, weight, path, risk, folds, seed):
    """Prune every fold's tree, and predict once for each step."""
    task = type(model)
    label = encode(y) if task is DecisionTreeClassifier else None
    fold = assign_folds(len(y), folds, seed, label)
    losses = np.zeros((len(path), len(y)))
    for k in range(folds):
        out = fold == k
        own = None if weight is None else weight[~out]
        grown = task(**model.get_params()).fit(X.take(~out), y[~out], sample_weight=own)
        for step, alpha in enumerate(geometric_means(path.alphas)):
            pruned = grown.pruned("cost_complexity", alpha=alpha, risk=risk)
            if pruned.tree_.missing == "fractional":
                losses[step, out] = fractional_losses(pruned, X.take(out), y[out])
                continue
            predicted = pruned.predict(X.take(out))
            losses[step, out] = (predicted - y[out]) ** 2 if label is None else predicted != y[out]
    return losses


def fractional_losses(model, X, y):
    """Average the losses of the leaves that fractions of a row reach."""
    tree = model.tree_
    if tree.leaves.shape[1]:
        certain = np.eye(tree.leaves.shape[1])[tree.leaf_class]
        right = replace(tree, leaves=certain).predict(X)
        return 1.0 - right[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    nodes = tree.nodes.copy()
    squares = tree.node_values[tree.is_leaf, 0] ** 2
    nodes[tree.is_leaf, 0] = squares.view(np.uint64)
    return y * y - 2 * y * tree.predict(X) + replace(tree, nodes=nodes).predict(X)


@pytest.mark.parametrize(
    ("name", "options", "risk", "weighted"),
    [
        ("iris", {}, "error", False),
        ("vote", {"missing": "majority"}, "impurity", True),
        (
            "glass",
            {"min_samples_leaf": 4, "leaf_probability": "m_estimate", "m_prior": 20.0},
            "error",
            True,
        ),
        ("vote", {"missing": "fractional", "min_samples_leaf": 3}, "error", True),
        ("vote", {"algorithm": "c45"}, "impurity", False),
        ("numbers", {"min_samples_leaf": 6}, "impurity", True),
        ("numbers", {"min_samples_leaf": 6, "missing": "fractional"}, "impurity", True),
    ],
)
def test_chosen_alpha_equals_the_naive_one(name, options, risk, weighted):
    if name == "numbers":
        X, y = numbers(missing=0.1)
        X, model = Table.of(X), DecisionTreeRegressor(**options)
    else:
        data = datasets.load(name)
        X, y, model = data.table, np.asarray(data.y), DecisionTreeClassifier(**options)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    model.set_params(random_state=7).fit(X, y, sample_weight=weight)
    path = cost_complexity_path(model.pruned("none").tree_, risk)
    losses = naive_losses(model, X, y, weight, path, risk, 4, 7)
    errors = np.average(losses, axis=1, weights=weight)
    spread = np.average((losses - errors[:, None]) ** 2, axis=1, weights=weight)
    found, min_rule = (
        model.pruned(
            "cost_complexity", X, y, weight, risk=risk, folds=4, rule=rule
        ).pruning_.details
        for rule in ("one_se", "min")
    )
    np.testing.assert_allclose(found["errors"], errors, rtol=1e-9)
    np.testing.assert_allclose(found["standard_errors"], np.sqrt(spread / len(y)), rtol=1e-6)
    best = max(k for k, error in enumerate(errors) if error <= errors.min() + 1e-12)
    assert min_rule["step"] == best
    within = errors <= errors.min() + found["standard_errors"][best]
    assert found["step"] == max(np.flatnonzero(within))
    assert found["alpha"] == path.alphas[found["step"]]


def test_the_confidence_level_is_checked_before_the_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*args: object, **kwargs: object) -> None:
        raise AssertionError("fitted before the check")

    monkeypatch.setattr(DecisionTreeClassifier, "fit", fit)
    with pytest.raises(ValueError, match="confidence_level must be"):
        compare_pruning(DecisionTreeClassifier(), [[0], [1]], [0, 1], confidence_level=2.0)
