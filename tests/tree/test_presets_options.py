"""Every option of the presets changes the tree; contradictions raise."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets

pd = pytest.importorskip("pandas")
ALGORITHMS = ["hunt", "id3", "c45", "cart"]


def mixed(n=240):
    """Return columns of every kind with missing values; three classes and counts."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(1), columns=[*"abc"])
    X["a"] = X["a"].mask(rng.random(n) < 0.15)
    X["b"] = (X["b"] + X["a"].fillna(0)).round(1).mask(rng.random(n) < 0.3)
    X["c"] = (X["c"] / 2 + X["a"].fillna(0)).round(1).mask(rng.random(n) < 0.2)
    labels = pd.CategoricalDtype([*"pqrstu"])
    X["word"] = pd.Series(rng.choice([*"pqrst"], size=n), dtype=labels)
    X["word"] = X["word"].mask(rng.random(n) < 0.1)
    X["size"] = pd.Categorical(rng.choice([*"SML"], size=n), [*"SML"], ordered=True)
    score = X["a"].fillna(2) + X["b"].fillna(1) ** 2 + 2 * X["word"].isin([*"st"])
    score = (score + rng.normal(size=n) / 2).to_numpy()
    return X, np.digitize(score, [0.5, 2.5]), np.maximum(0, score).round()


X, CLASSES, COUNTS = mixed()


def classes(algorithm="cart", **options):
    options = {"pruning": "none", "collapse": False, **options}
    return DecisionTreeClassifier(algorithm=algorithm, **options).fit(X, CLASSES)


def numbers(**options):
    return DecisionTreeRegressor(**options).fit(X, COUNTS)


def shape(model):
    """Return a hash of a tree and its predictions."""
    tree = model.tree_
    predicted = np.asarray(model.predict(X)).tobytes()
    return sha256(tree.nodes.tobytes() + tree.node_values.tobytes() + predicted).hexdigest()


# Every option changes something


INTERVALS = {"splits": "intervals"}
GRID = {"thresholds": "equal_width"}
DRAWN = {"thresholds": "random", "n_thresholds": 2}
CHANGES = [
    ("cart", {}, {"splits": "intervals"}),
    ("cart", {}, {"thresholds": "value"}),
    *[("cart", {}, {"thresholds": rule}) for rule in ("quantile", "equal_width", "mean", "median")],
    ("cart", {}, {"thresholds": "random"}),
    *[
        ("cart", {"thresholds": rule}, {"threshold_scope": "root"})
        for rule in ("quantile", "equal_width", "mean", "median", "random")
    ],
    ("cart", GRID, {"n_thresholds": 3}),
    ("cart", {"thresholds": "quantile"}, {"n_thresholds": 3}),
    ("cart", {"thresholds": "random"}, {"n_thresholds": 3}),
    ("cart", DRAWN, {"random_state": 1}),
    ("cart", INTERVALS, {"n_intervals": 3}),
    ("cart", {**INTERVALS, "n_intervals": 3}, {"n_intervals": 4}),
    ("cart", {}, {"missing": "fractional"}),
    ("cart", {}, {"missing": "surrogate"}),
    ("cart", {"missing": "surrogate"}, {"max_surrogates": 0}),
    ("cart", {"missing": "surrogate"}, {"max_surrogates": 1}),
    # After a branch for every category the column has nothing left to split; two groups do.
    ("cart", {}, {"feature_reuse": "numeric"}),
    ("hunt", {}, {"feature_reuse": "none"}),
    ("id3", {}, {"feature_reuse": "none"}),
    ("id3", {"splits": "binary"}, {"feature_reuse": "all"}),
    ("id3", {}, {"empty_branches": False}),
    ("cart", {"splits": "multiway"}, {"empty_branches": True}),
    ("c45", {}, {"above_average_gain": False}),
    ("cart", {"criterion": "gain_ratio"}, {"above_average_gain": True}),
    ("c45", {}, {"mdl_correction": False}),
    ("cart", {"criterion": "entropy"}, {"mdl_correction": True}),
    ("c45", {}, {"min_split_fraction": 0.8}),
    ("cart", {}, {"min_split_fraction": 0.5}),
    ("c45", {"min_samples_leaf": 9}, {"min_leaf_branches": "all"}),
    ("c45", {}, {"min_samples_leaf": 5}),
    ("c45", {}, {"min_samples_split": 30}),
    ("c45", {}, {"missing": "branch"}),
    ("c45", {}, {"splits": "binary"}),
    ("c45", {}, {"criterion": "entropy", "above_average_gain": False}),
    ("c45", {}, {"thresholds": "midpoint"}),
    ("cart", {}, {"cost_matrix": [[0, 1, 1], [9, 0, 1], [1, 1, 0]]}),
]


@pytest.mark.parametrize(("algorithm", "start", "change"), CHANGES, ids=str)
def test_every_option_changes_the_classifier(algorithm, start, change):
    assert shape(classes(algorithm, **{**start, **change})) != shape(classes(algorithm, **start))


OF_NUMBERS = [
    ({}, {"criterion": "poisson"}),
    ({}, {"splits": "intervals", "n_intervals": 3}),
    ({}, {"thresholds": "value"}),
    ({}, {"thresholds": "median"}),
    ({"thresholds": "median"}, {"threshold_scope": "root"}),
    (GRID, {"n_thresholds": 3}),
    ({}, {"missing": "fractional"}),
    ({}, {"missing": "surrogate"}),
    ({"missing": "surrogate"}, {"max_surrogates": 0}),
    ({}, {"feature_reuse": "none"}),
    ({"splits": "multiway"}, {"empty_branches": True}),
]


@pytest.mark.parametrize(("start", "change"), OF_NUMBERS, ids=str)
def test_every_option_changes_the_regressor(start, change):
    assert shape(numbers(**{**start, **change})) != shape(numbers(**start))


def test_presets_give_four_different_trees():
    assert len({shape(classes(algorithm)) for algorithm in ALGORITHMS}) == 4


PRESETS = {
    "hunt": {
        "criterion": "gini", "splits": "multiway", "thresholds": "midpoint", "missing": "branch",
        "feature_reuse": "all", "empty_branches": True, "above_average_gain": False,
        "mdl_correction": False, "min_split_fraction": 0.0, "min_samples_leaf": 1,
        "min_leaf_branches": "all", "min_samples_split": 2, "collapse": False, "pruning": "none",
    },
    "c45": {
        "criterion": "gain_ratio", "splits": "multiway", "thresholds": "value",
        "missing": "fractional", "feature_reuse": "all", "empty_branches": True,
        "above_average_gain": True, "mdl_correction": True, "min_split_fraction": 0.1,
        "min_samples_leaf": 2, "min_leaf_branches": "two", "min_samples_split": 4, "collapse": True,
        "pruning": "pessimistic",
    },
    "cart": {
        "criterion": "gini", "splits": "binary", "thresholds": "midpoint", "missing": "learned",
        "feature_reuse": "all", "empty_branches": False, "above_average_gain": False,
        "mdl_correction": False, "min_split_fraction": 0.0, "min_samples_leaf": 1,
        "min_leaf_branches": "all", "min_samples_split": 2, "collapse": False, "pruning": "none",
    },
}  # fmt: skip
PRESETS["id3"] = {**PRESETS["hunt"], "criterion": "entropy", "feature_reuse": "numeric"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_preset_equals_its_single_options(algorithm):
    """The options, given on top of another preset, give the same tree."""
    other = "cart" if algorithm != "cart" else "c45"
    given = {**PRESETS[algorithm], "subtree_raising": algorithm == "c45"}
    one = DecisionTreeClassifier(algorithm=algorithm).fit(X, CLASSES)
    explicit = DecisionTreeClassifier(algorithm=other, **given).fit(X, CLASSES)
    assert shape(one) == shape(explicit)
    assert one.get_params()["criterion"] is None


# Meaning of the options


def test_hunt_stops_at_pure_or_equal_rows_only():
    tree = classes("hunt").tree_
    assert set(tree.reasons) <= {"split", "pure", "no_split", "empty"}
    assert "empty" in tree.reasons


def test_nominal_column_is_tested_once_per_path():
    tree = classes("id3").tree_
    word = X.columns.get_loc("word")
    for node in np.flatnonzero(tree.column == word):
        above = tree.parent[node]
        while above >= 0:
            assert tree.column[above] != word
            above = tree.parent[above]
    numeric = [c for c in tree.column if c in (0, 1, 2)]
    assert len(numeric) > len(set(numeric))


def test_no_column_is_tested_twice_per_path():
    tree = classes("hunt", feature_reuse="none").tree_
    for node in np.flatnonzero(~tree.is_leaf):
        above = tree.parent[node]
        while above >= 0:
            assert tree.column[above] != tree.column[node]
            above = tree.parent[above]


def test_empty_branch_predicts_as_its_parent():
    model = DecisionTreeClassifier(algorithm="id3", max_depth=1).fit(X[["word"]], CLASSES)
    tree = model.tree_
    empty = [i for i, reason in enumerate(tree.reasons) if reason == "empty"]
    assert [tree.split(0).branches[i - 1] for i in empty] == [("u",)]
    assert tree.n_rows[empty].tolist() == tree.weight[empty].tolist() == [0]
    assert not tree.node_values[empty].any()
    row = X[["word"]].iloc[:1].assign(word=pd.Categorical(["u"], [*"pqrstu"]))
    np.testing.assert_allclose(
        model.predict_proba(row)[0], tree.node_values[0] / tree.node_values[0].sum(), rtol=1e-12
    )


def test_fractional_weights_add_up():
    model = classes(missing="fractional", min_samples_leaf=5)
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf):
        below = tree.children(node)
        assert tree.weight[below].sum() == pytest.approx(tree.weight[node])
        np.testing.assert_allclose(
            tree.node_values[below].sum(axis=0), tree.node_values[node], rtol=1e-9
        )
        assert tree.n_rows[below].sum() >= tree.n_rows[node]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("missing", ["learned", "branch", "majority", "surrogate"])
def test_training_rows_reach_the_leaves_that_count_them(missing):
    model = classes(missing=missing)
    tree = model.tree_
    found = np.bincount(model.apply(X), minlength=tree.n_nodes)
    assert found[tree.is_leaf].tolist() == tree.n_rows[tree.is_leaf].tolist()


def test_unit_costs_do_not_change_the_tree():
    even = 1 - np.eye(3)
    assert shape(classes(cost_matrix=even)) == shape(classes())
    assert shape(classes(cost_matrix=3 * even)) == shape(classes())


def test_expensive_errors_become_rarer():
    limits = {"max_depth": 3}
    costs = [[0, 1, 1], [20, 0, 1], [1, 1, 0]]
    plain, careful = classes(**limits), classes(**limits, cost_matrix=costs)
    wrong = [((m.predict(X) == 0) & (CLASSES == 1)).sum() for m in (plain, careful)]
    assert wrong[1] < wrong[0]
    # Weights are those of the rows without costs.
    assert careful.tree_.node_values[0].tolist() == np.bincount(CLASSES).tolist()
    assert careful.tree_.weight[0] == len(X)


# Errors


BAD = [
    ("algorithm", "c5"), ("thresholds", "middle"), ("threshold_scope", "leaf"),
    ("threshold_scope", None), ("n_thresholds", 0), ("n_thresholds", 2.5), ("max_surrogates", -1),
    ("max_surrogates", 1.5), ("feature_reuse", "some"), ("empty_branches", "yes"),
    ("above_average_gain", 2), ("mdl_correction", "on"), ("min_split_fraction", -0.1),
    ("min_split_fraction", 1.5), ("min_leaf_branches", "three"), ("missing", "impute"),
    ("splits", "ternary"), ("cost_matrix", "dear"), ("min_samples_leaf", 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_values_raise_and_name_the_parameter(name, value):
    with pytest.raises(ValueError, match=name):
        classes(**{name: value})


@pytest.mark.parametrize("value", [1, 0, -3, 2.5, "many"])
def test_bad_n_intervals_raises(value):
    with pytest.raises(ValueError, match="n_intervals"):
        classes(splits="intervals", n_intervals=value)


CONTRADICTIONS = [
    ({"above_average_gain": True}, "above_average_gain"),
    ({"criterion": "entropy", "above_average_gain": True}, "no effect with criterion='entropy'"),
    ({"mdl_correction": True}, "mdl_correction"),
    ({"criterion": "error", "mdl_correction": True}, "no effect with criterion='error'"),
    ({"n_intervals": 3}, "'n_intervals' has no effect with splits='binary'"),
    ({"splits": "multiway", "n_intervals": 3}, "'n_intervals' has no effect"),
    ({"splits": "multiway", "missing": "surrogate"}, "requires splits='binary'"),
    ({"splits": "intervals", "missing": "surrogate"}, "requires splits='binary'"),
    ({"threshold_scope": "root"}, "no effect with thresholds='midpoint'"),
    ({"threshold_scope": "root", "thresholds": "value"}, "no effect with thresholds='value'"),
    ({"splits": "intervals", "thresholds": "median"}, "midpoint"),
    ({"empty_branches": True}, "'empty_branches' has no effect with splits='binary'"),
    ({"min_leaf_branches": "two"}, "'min_leaf_branches' has no effect"),
    ({"n_thresholds": 3}, "'n_thresholds' has no effect with thresholds='midpoint'"),
    ({"thresholds": "median", "n_thresholds": 3}, "no effect with thresholds='median'"),
    ({"max_surrogates": 1}, "'max_surrogates' has no effect with missing='learned'"),
    ({"m_prior": 3.0}, "'m_prior' has no effect with leaf_probability='plain'"),
]


@pytest.mark.parametrize(("options", "message"), CONTRADICTIONS, ids=str)
def test_contradictions_raise(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        classes(**options)
    assert len(str(caught.value).split()) >= 4


MATRICES = [
    [[0, 1], [1, 0]],
    [[0, 1, 1], [1, 0, 1]],
    [[0, 1, 1], [1, 0, -1], [1, 1, 0]],
    [[0, 1, 1], [1, 0, np.nan], [1, 1, 0]],
    [[0, 1, 1], [1, 0, np.inf], [1, 1, 0]],
    [0, 1, 1],
    np.zeros((3, 3)),
]


@pytest.mark.parametrize("costs", MATRICES, ids=lambda m: str(np.shape(m)))
def test_bad_cost_matrix_raises(costs):
    with pytest.raises(ValueError, match="cost_matrix"):
        classes(cost_matrix=costs)


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "fractional"},
        {"missing": "surrogate"},
        {"splits": "intervals", "n_intervals": 3},
        {"thresholds": "median"},
    ],
)
def test_absolute_error_rejects_options_that_need_sums(options):
    with pytest.raises(ValueError, match="criterion='absolute_error' requires"):
        numbers(criterion="absolute_error", **options)


def test_intervals_of_regression_require_n_intervals():
    with pytest.raises(ValueError, match="n_intervals"):
        numbers(splits="intervals")


@pytest.mark.parametrize("y", [[-1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
def test_poisson_requires_nonnegative_targets(y):
    with pytest.raises(ValueError, match=r"[Pp]oisson"):
        DecisionTreeRegressor(criterion="poisson").fit([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_missing_policies_require_rows_in_memory(missing, tmp_path):
    import ceiba

    path = tmp_path / "rows.csv"
    X.assign(y=CLASSES).to_csv(path, index=False)
    model = DecisionTreeClassifier(missing=missing, max_bins=16)
    with pytest.raises(ValueError, match="memory"):
        model.fit(ceiba.scan(str(path), target="y"))


def test_bundled_tables_fit_with_every_preset():
    for name in ("iris", "vote", "crx"):
        data = datasets.load(name)
        for algorithm in ALGORITHMS:
            model = DecisionTreeClassifier(algorithm=algorithm, max_depth=4)
            assert model.fit(data.table, data.y).score(data.table, data.y) > 0.7
