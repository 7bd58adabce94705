"""Every option of the lecture's trees changes a result; what contradicts itself is refused."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets

pd = pytest.importorskip("pandas")
ALGORITHMS = ["hunt", "id3", "c45", "cart"]


def mixed(n=240):
    """Numbers and levels with gaps, an ordinal column; three classes and counts."""
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
    """What tells one tree from another, and what it predicts."""
    tree = model.tree_
    said = np.asarray(model.predict(X)).tobytes()
    return sha256(tree.nodes.tobytes() + tree.value.tobytes() + said).hexdigest()


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
        ("cart", {"thresholds": rule}, {"at": "root"})
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
    # A branch for every level leaves nothing to ask of the column again; two groups do.
    ("cart", {}, {"reuse": "numeric"}),
    ("hunt", {}, {"reuse": "none"}),
    ("id3", {}, {"reuse": "none"}),
    ("id3", {"splits": "binary"}, {"reuse": "all"}),
    ("id3", {}, {"empty_branches": False}),
    ("cart", {"splits": "multiway"}, {"empty_branches": True}),
    ("c45", {}, {"gain_guard": False}),
    ("cart", {"criterion": "gain_ratio"}, {"gain_guard": True}),
    ("c45", {}, {"mdl_correction": False}),
    ("cart", {"criterion": "entropy"}, {"mdl_correction": True}),
    ("c45", {}, {"cut_share": 0.8}),
    ("cart", {}, {"cut_share": 0.5}),
    ("c45", {"min_samples_leaf": 9}, {"leaf_rule": "every"}),
    ("c45", {}, {"min_samples_leaf": 5}),
    ("c45", {}, {"min_samples_split": 30}),
    ("c45", {}, {"missing": "branch"}),
    ("c45", {}, {"splits": "binary"}),
    ("c45", {}, {"criterion": "entropy", "gain_guard": False}),
    ("c45", {}, {"thresholds": "midpoint"}),
    ("cart", {}, {"cost_matrix": [[0, 1, 1], [9, 0, 1], [1, 1, 0]]}),
]


@pytest.mark.parametrize(("algorithm", "start", "change"), CHANGES, ids=str)
def test_every_option_changes_the_tree_of_classes(algorithm, start, change):
    assert shape(classes(algorithm, **{**start, **change})) != shape(classes(algorithm, **start))


OF_NUMBERS = [
    ({}, {"criterion": "poisson"}),
    ({}, {"splits": "intervals", "n_intervals": 3}),
    ({}, {"thresholds": "value"}),
    ({}, {"thresholds": "median"}),
    ({"thresholds": "median"}, {"at": "root"}),
    (GRID, {"n_thresholds": 3}),
    ({}, {"missing": "fractional"}),
    ({}, {"missing": "surrogate"}),
    ({"missing": "surrogate"}, {"max_surrogates": 0}),
    ({}, {"reuse": "none"}),
    ({"splits": "multiway"}, {"empty_branches": True}),
]


@pytest.mark.parametrize(("start", "change"), OF_NUMBERS, ids=str)
def test_every_option_changes_the_tree_of_numbers(start, change):
    assert shape(numbers(**{**start, **change})) != shape(numbers(**start))


def test_presets_are_four_trees():
    assert len({shape(classes(algorithm)) for algorithm in ALGORITHMS}) == 4


PRESETS = {
    "hunt": {
        "criterion": "gini", "splits": "multiway", "thresholds": "midpoint", "missing": "branch",
        "reuse": "all", "empty_branches": True, "gain_guard": False, "mdl_correction": False,
        "cut_share": 0.0, "min_samples_leaf": 1, "leaf_rule": "every", "min_samples_split": 2,
        "collapse": False, "pruning": "none",
    },
    "c45": {
        "criterion": "gain_ratio", "splits": "multiway", "thresholds": "value",
        "missing": "fractional", "reuse": "all", "empty_branches": True, "gain_guard": True,
        "mdl_correction": True, "cut_share": 0.1, "min_samples_leaf": 2, "leaf_rule": "two",
        "min_samples_split": 4, "collapse": True, "pruning": "pessimistic",
    },
    "cart": {
        "criterion": "gini", "splits": "binary", "thresholds": "midpoint", "missing": "learned",
        "reuse": "all", "empty_branches": False, "gain_guard": False, "mdl_correction": False,
        "cut_share": 0.0, "min_samples_leaf": 1, "leaf_rule": "every", "min_samples_split": 2,
        "collapse": False, "pruning": "none",
    },
}  # fmt: skip
PRESETS["id3"] = {**PRESETS["hunt"], "criterion": "entropy", "reuse": "numeric"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_preset_is_its_options_one_by_one(algorithm):
    """Told as options of another preset they give the same tree."""
    other = "cart" if algorithm != "cart" else "c45"
    given = {**PRESETS[algorithm], "raising": algorithm == "c45"}
    one = DecisionTreeClassifier(algorithm=algorithm).fit(X, CLASSES)
    told = DecisionTreeClassifier(algorithm=other, **given).fit(X, CLASSES)
    assert shape(one) == shape(told)
    assert one.get_params()["criterion"] is None


# What options say


def test_hunt_ends_at_pure_or_equal_rows_alone():
    tree = classes("hunt").tree_
    assert set(tree.reasons) <= {"split", "pure", "no_split", "empty"}
    assert "empty" in tree.reasons


def test_a_nominal_column_is_asked_once_on_a_path():
    tree = classes("id3").tree_
    word = X.columns.get_loc("word")
    for node in np.flatnonzero(tree.column == word):
        above = tree.parent[node]
        while above >= 0:
            assert tree.column[above] != word
            above = tree.parent[above]
    numeric = [c for c in tree.column if c in (0, 1, 2)]
    assert len(numeric) > len(set(numeric))


def test_no_column_is_asked_twice_on_a_path():
    tree = classes("hunt", reuse="none").tree_
    for node in np.flatnonzero(~tree.is_leaf):
        above = tree.parent[node]
        while above >= 0:
            assert tree.column[above] != tree.column[node]
            above = tree.parent[above]


def test_an_empty_branch_answers_as_the_node_above():
    model = DecisionTreeClassifier(algorithm="id3", max_depth=1).fit(X[["word"]], CLASSES)
    tree = model.tree_
    empty = [i for i, reason in enumerate(tree.reasons) if reason == "empty"]
    assert [tree.split(0).branches[i - 1] for i in empty] == [("u",)]
    assert tree.n_rows[empty].tolist() == tree.weight[empty].tolist() == [0]
    assert not tree.value[empty].any()
    row = X[["word"]].iloc[:1].assign(word=pd.Categorical(["u"], [*"pqrstu"]))
    np.testing.assert_allclose(
        model.predict_proba(row)[0], tree.value[0] / tree.value[0].sum(), rtol=1e-12
    )


def test_fractions_add_up():
    model = classes(missing="fractional", min_samples_leaf=5)
    tree = model.tree_
    for node in np.flatnonzero(~tree.is_leaf):
        below = tree.children(node)
        assert tree.weight[below].sum() == pytest.approx(tree.weight[node])
        np.testing.assert_allclose(tree.value[below].sum(axis=0), tree.value[node], rtol=1e-9)
        assert tree.n_rows[below].sum() >= tree.n_rows[node]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize("missing", ["learned", "branch", "majority", "surrogate"])
def test_training_rows_come_to_the_leaves_that_counted_them(missing):
    model = classes(missing=missing)
    tree = model.tree_
    found = np.bincount(model.apply(X), minlength=tree.n_nodes)
    assert found[tree.is_leaf].tolist() == tree.n_rows[tree.is_leaf].tolist()


def test_costs_of_one_change_nothing():
    even = 1 - np.eye(3)
    assert shape(classes(cost_matrix=even)) == shape(classes())
    assert shape(classes(cost_matrix=3 * even)) == shape(classes())


def test_dear_mistakes_are_made_less_often():
    limits = {"max_depth": 3}
    dear = [[0, 1, 1], [20, 0, 1], [1, 1, 0]]
    plain, careful = classes(**limits), classes(**limits, cost_matrix=dear)
    wrong = [((m.predict(X) == 0) & (CLASSES == 1)).sum() for m in (plain, careful)]
    assert wrong[1] < wrong[0]
    # Weights and shares are those of the rows as given.
    assert careful.tree_.value[0].tolist() == np.bincount(CLASSES).tolist()
    assert careful.tree_.weight[0] == len(X)


# What is refused


BAD = [
    ("algorithm", "c5"), ("thresholds", "middle"), ("at", "leaf"), ("at", None),
    ("n_thresholds", 0), ("n_thresholds", 2.5), ("max_surrogates", -1), ("max_surrogates", 1.5),
    ("reuse", "some"), ("empty_branches", "yes"), ("gain_guard", 2), ("mdl_correction", "on"),
    ("cut_share", -0.1), ("cut_share", 1.5), ("leaf_rule", "three"), ("missing", "impute"),
    ("splits", "ternary"), ("cost_matrix", "dear"), ("min_samples_leaf", 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        classes(**{name: value})


@pytest.mark.parametrize("value", [1, 0, -3, 2.5, "many"])
def test_bad_numbers_of_intervals(value):
    with pytest.raises(ValueError, match="n_intervals"):
        classes(splits="intervals", n_intervals=value)


CONTRADICTIONS = [
    ({"gain_guard": True}, "gain_guard"),
    ({"criterion": "entropy", "gain_guard": True}, "gain_ratio"),
    ({"mdl_correction": True}, "mdl_correction"),
    ({"criterion": "error", "mdl_correction": True}, "entropy"),
    ({"n_intervals": 3}, "intervals"),
    ({"splits": "multiway", "n_intervals": 3}, "intervals"),
    ({"splits": "multiway", "missing": "surrogate"}, "binary"),
    ({"splits": "intervals", "missing": "surrogate"}, "binary"),
    ({"at": "root"}, "thresholds"),
    ({"at": "root", "thresholds": "value"}, "thresholds"),
    ({"splits": "intervals", "thresholds": "median"}, "midpoint"),
    ({"empty_branches": True}, "multiway"),
    ({"leaf_rule": "two"}, "multiway"),
]


@pytest.mark.parametrize(("options", "message"), CONTRADICTIONS, ids=str)
def test_what_contradicts_itself_is_refused(options, message):
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
def test_bad_costs_are_refused(costs):
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
def test_medians_refuse_what_needs_sums(options):
    with pytest.raises(ValueError, match="squared_error"):
        numbers(criterion="absolute_error", **options)


def test_intervals_of_numbers_need_their_number():
    with pytest.raises(ValueError, match="n_intervals"):
        numbers(splits="intervals")


@pytest.mark.parametrize("y", [[-1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
def test_poisson_needs_counts(y):
    with pytest.raises(ValueError, match=r"[Pp]oisson"):
        DecisionTreeRegressor(criterion="poisson").fit([[1.0], [2.0], [3.0]], y)


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_files_refuse_what_needs_rows_in_memory(missing, tmp_path):
    import ceiba

    path = tmp_path / "rows.csv"
    X.assign(y=CLASSES).to_csv(path, index=False)
    model = DecisionTreeClassifier(missing=missing, max_bins=16)
    with pytest.raises(ValueError, match="memory"):
        model.fit(ceiba.scan(str(path), target="y"))


def test_bundled_tables_grow_by_every_preset():
    for name in ("iris", "vote", "crx"):
        data = datasets.load(name)
        for algorithm in ALGORITHMS:
            model = DecisionTreeClassifier(algorithm=algorithm, max_depth=4)
            assert model.fit(data.table, data.y).score(data.table, data.y) > 0.7
