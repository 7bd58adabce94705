"""The written-out arithmetic of splits adds up to what the model has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor, load, save
from ceiba.data import Table

N = 300
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)).round(1)
SIGNAL = X[:, 0] * X[:, 1] + X[:, 2] + RNG.normal(size=N)
CODES = RNG.integers(0, 15, N)
SIGNAL += np.sin(CODES)
X[RNG.random(X.shape) < 0.1] = np.nan
FRAME = pd.DataFrame(X, columns=list("abc"))
FRAME["name"] = [f"c{code:02d}" for code in CODES]
TABLE = Table.of(FRAME, kinds={"name": "nominal"})
CLASSES = np.digitize(SIGNAL, [-1, 1])

SMALL = {"n_estimators": 3, "max_leaf_nodes": 5, "trace": True, "min_samples_leaf": 5}
REGRESSORS = {
    "squared": {},
    "penalized": {"reg_lambda": 3.0, "reg_alpha": 2.0, "gradient_bits": 8},
    "monotonic": {"monotonic_cst": [1, 0, -1, 0], "reg_alpha": 0.5},
    "gradient": {"method": "gradient"},
    "huber": {"method": "gradient", "loss": "huber"},
    "quantile": {"loss": "quantile"},
    "poisson": {"loss": "poisson", "subsample": 0.7},
    "dropout": {"dropout": 0.6, "n_estimators": 6},
    "gamma": {"loss": "gamma", "learning_rate": 1.0},
}
CLASSIFIERS = {
    "two": {},
    "three": {},
    "vector": {"multi_strategy": "multi_output_tree"},
    "exponential": {"loss": "exponential", "method": "gradient"},
}
# Their steps are not Newton steps.
LINE_SEARCHES = ("huber", "quantile")


def fit(case, scale=1.0):
    if case in REGRESSORS:
        y = np.abs(SIGNAL).round() if case == "poisson" else SIGNAL * scale
        y = np.exp(SIGNAL) if case == "gamma" else y
        return GradientBoostingRegressor(**{**SMALL, **REGRESSORS[case]}).fit(TABLE, y)
    y = CLASSES if case in ("three", "vector") else CLASSES > 1
    return GradientBoostingClassifier(**{**SMALL, **CLASSIFIERS[case]}).fit(TABLE, y)


def splits(model):
    """Yield all splits of a model: round, output, node, arithmetic."""
    for number in range(model.n_estimators_):
        for output in range(model.n_trees_per_round_):
            for node in model.tree(number, output).inner_nodes.tolist():
                yield number, output, node, model.split_arithmetic(number, output, node=node)


def shrunk(gradient, alpha):
    return np.sign(gradient) * np.maximum(np.abs(gradient) - alpha, 0)


def check_leaf(part, model, split):
    """Check the step of a leaf, and its value in the model."""
    assert part.value == pytest.approx(split.rate * part.step, rel=1e-13)
    if part.leaf_gradient is None:
        return False
    newton = model.method == "newton"
    alpha = model.reg_alpha / split.unit if newton else 0
    weight = part.leaf_hessian + part.added_hessian + newton * model.reg_lambda
    step = -shrunk(part.leaf_gradient, alpha) / weight * split.unit
    if part.limit is None:
        assert part.step == pytest.approx(step, rel=1e-12)
    else:
        assert abs(part.step - step) > 1e-9 * abs(step)
        assert part.limit == ("monotonic_cst" if model.monotonic_cst else "line search")
    return True


@pytest.mark.parametrize("case", [*REGRESSORS, *CLASSIFIERS])
def test_the_numbers_add_up_to_the_model(case):
    model = fit(case)
    assert model.boosted_trees_.n_nodes > model.boosted_trees_.n_trees
    n_newton = n_corrected = 0
    for number, output, _, split in splits(model):
        parts = split.left, split.right
        for name in ("gradient", "hessian"):
            total = sum(getattr(part, name) for part in parts)
            np.testing.assert_allclose(total, getattr(split.node, name), rtol=1e-12, atol=1e-9)
        assert split.left.n_rows + split.right.n_rows == split.node.n_rows
        gain = split.left.score + split.right.score - split.node.score - split.correction
        assert gain == pytest.approx(split.gain, rel=1e-9)
        assert split.correction >= 0
        n_corrected += split.correction > 0
        if model.monotonic_cst is None:
            newton = model.method == "newton"
            for part in (split.node, *parts):
                size = shrunk(part.gradient, newton * model.reg_alpha)
                score = (size**2 / (part.hessian + newton * model.reg_lambda)).sum()
                assert part.score == pytest.approx(score, rel=1e-12)
        leaves = [part for part in parts if part.step is not None]
        n_newton += sum(check_leaf(part, model, split) for part in leaves)
        is_leaf = model.tree(number, output).is_leaf
        assert len(leaves) == sum(is_leaf[part.node] for part in parts)
    assert (n_newton == 0) == (case in LINE_SEARCHES)
    if case == "squared":
        assert n_corrected > 0


def test_sums_are_those_of_the_rows_of_a_node():
    model = fit("squared")
    for number, output, node, split in splits(model):
        tree = model.tree(number, output)
        leaf = model.apply(TABLE)[:, number]
        below = [n for n in range(tree.n_nodes) if node in ancestors(tree, n)]
        rows = np.isin(leaf, below)
        gradient = model.trace_[number]["gradient"][0, rows]
        assert split.node.gradient[0] == pytest.approx(gradient.sum(), abs=1e-4)
        assert split.node.hessian[0] == pytest.approx(rows.sum(), rel=1e-6)


def ancestors(tree, node):
    """Return a node and those above it."""
    found = [node]
    while found[-1] > 0:
        found.append(int(tree.parent[found[-1]]))
    return found


def test_units_of_huge_targets():
    model = fit("squared", scale=1e180)
    split = model.split_arithmetic(0)
    assert split.unit > 1e150
    assert "(times" in repr(next(s for *_, s in splits(model) if s.left.step is not None))
    for *_, one in splits(model):
        for part in (one.left, one.right):
            if part.step is not None:
                check_leaf(part, model, one)


def test_text_of_each_kind_of_step():
    assert "(line search)" in "\n".join(repr(s) for *_, s in splits(fit("huber")))
    assert "(by chance)" in "\n".join(repr(s) for *_, s in splits(fit("squared")))
    assert "is split again" in repr(fit("squared").split_arithmetic(0))
    assert "node, output 2: " in repr(fit("vector").split_arithmetic(0))
    assert "max(|G| - 2, 0)^2 / (H + 3)" in repr(fit("penalized").split_arithmetic(0))
    assert "v in [-inf, inf]" in repr(fit("monotonic").split_arithmetic(0))


def test_limited_steps_are_marked():
    """Newton steps of a logarithmic link end at the minimum of the leaf."""
    rows = np.arange(60.0)[:, None]
    y = np.where(rows[:, 0] < 50, 1.0, 1000.0)
    model = GradientBoostingRegressor(
        1, loss="gamma", learning_rate=1.0, max_leaf_nodes=2, reg_lambda=0.0, trace=True
    )
    split = model.set_params(min_samples_leaf=1).fit(rows, y).split_arithmetic(0)
    limits = {part.limit for part in (split.left, split.right)}
    assert limits == {None, "line search"}
    assert "step = -5.12098 (limited by the line search), value = 1 * -5.12098" in repr(split)


def test_steps_at_the_bounds_of_constraints_are_marked():
    model = GradientBoostingRegressor(
        4, monotonic_cst=[1, 0, -1, 0], max_leaf_nodes=20, min_samples_leaf=2, trace=True
    ).fit(TABLE, SIGNAL)
    parts = [(s, part) for *_, s in splits(model) for part in (s.left, s.right) if part.limit]
    assert {part.limit for _, part in parts} == {"monotonic_cst"}
    assert all("(limited by monotonic_cst), value = " in repr(split) for split, _ in parts)
    assert all(check_leaf(part, model, split) for split, part in parts)


class FlatSteps:
    """A loss whose first rows have next to no curvature."""

    def gradient(self, y, raw):
        return np.where(y > 0, 1.0, -1.0)

    def hessian(self, y, raw):
        return np.where(y > 0, 1e-9, 1.0)

    def loss(self, y, raw):
        return np.abs(y - raw)


def test_weight_that_a_leaf_lacks_is_added():
    rows = np.repeat([0.0, 1.0], 20)[:, None]
    model = GradientBoostingRegressor(
        1, loss=FlatSteps(), reg_lambda=0.0, gradient_bits=5, min_samples_leaf=1, trace=True
    ).fit(rows, 1 - rows[:, 0])
    split = model.split_arithmetic(0)
    assert split.left.added_hessian == pytest.approx(1e-3 - 20e-9)
    assert "H = 2e-08 + 0.00099998 (min_child_weight), step = -20000, value" in repr(split)
    for part in (split.left, split.right):
        assert check_leaf(part, model, split)


def test_a_loaded_model_and_a_warm_start_have_the_arithmetic(tmp_path):
    model = fit("squared").set_params(warm_start=True, n_estimators=5).fit(TABLE, SIGNAL)
    save(model, tmp_path / "model.ceiba")
    loaded = load(tmp_path / "model.ceiba")
    assert repr(loaded.split_arithmetic(4)) == repr(model.split_arithmetic(4))
    with pytest.raises(ValueError, match="requires the trace of round 2"):
        model.split_arithmetic(2)


def test_errors_name_the_remedy():
    model = GradientBoostingRegressor(2).fit(X, SIGNAL)
    with pytest.raises(ValueError, match="fit with trace=True"):
        model.split_arithmetic(0)
    model = fit("squared")
    with pytest.raises(ValueError, match=r"one of the split nodes .*, got 99"):
        model.split_arithmetic(0, node=99)
    with pytest.raises(ValueError, match="number must be in"):
        model.split_arithmetic(3)
