"""Models converted to scikit-learn predict the same."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import export_text

import ceiba
from ceiba.data.table import Table
from ceiba.ensemble.common.sample_fit import ConstantMember
from ceiba.export import NotExpressibleError, to_code, to_onnx, to_sklearn
from tests.export.mixed_table import table as mixed_table

RNG = np.random.default_rng(16)
N = 300
EXACT = RNG.normal(size=(N, 4)).astype(np.float32).astype(np.float64)
EXACT[:, 3] = RNG.integers(0, 5, N)
LABEL = np.array(["a", "b", "c"])[
    ((EXACT[:, 0] > 0).astype(int) + (EXACT[:, 1] * EXACT[:, 3] > 1) + (RNG.random(N) < 0.1)) % 3
]
NUMBER = EXACT[:, 0] + EXACT[:, 3] ** 2 + RNG.normal(size=N)
HOLES = np.where(RNG.random(EXACT.shape) < 0.15, np.nan, EXACT)
CLOUDS = EXACT + 3 * (RNG.random((N, 1)) < 0.4)
# Rows of the test: new ones, with values equal to thresholds' neighbors among them.
NEW = np.vstack([EXACT, RNG.normal(size=(500, 4)).astype(np.float32).astype(np.float64)])
NEW_HOLES = np.where(RNG.random(NEW.shape) < 0.2, np.nan, NEW)

CLASSIFIERS: dict[str, Any] = {
    "cart": ceiba.DecisionTreeClassifier(),
    "pruned": ceiba.DecisionTreeClassifier(ccp_alpha=0.01, criterion="entropy"),
    "laplace": ceiba.DecisionTreeClassifier(max_depth=4, leaf_probability="laplace"),
    "majority": ceiba.DecisionTreeClassifier(missing="majority", max_bins=16),
    "values": ceiba.DecisionTreeClassifier(thresholds="value", max_leaf_nodes=9),
    "root": ceiba.DecisionTreeClassifier(min_samples_leaf=N),
    "forest": ceiba.RandomForestClassifier(12, random_state=0),
    "smoothed forest": ceiba.RandomForestClassifier(12, leaf_probability="laplace"),
    "extra trees": ceiba.ExtraTreesClassifier(5),
    "bagging": ceiba.BaggingClassifier(n_estimators=8, max_features=0.5),
}
REGRESSORS: dict[str, Any] = {
    "cart": ceiba.DecisionTreeRegressor(),
    "shallow": ceiba.DecisionTreeRegressor(max_depth=3),
    "forest": ceiba.RandomForestRegressor(12),
    "extra trees": ceiba.ExtraTreesRegressor(12),
    "bagging": ceiba.BaggingRegressor(n_estimators=8, max_features=3),
}
# scikit-learn's AdaBoost refuses missing values.
KNOWN_ONLY: dict[str, Any] = {
    "adaboost": ceiba.AdaBoostClassifier(n_estimators=10),
    "deep adaboost": ceiba.AdaBoostClassifier(n_estimators=10, max_depth=3, learning_rate=0.5),
    "m1": ceiba.AdaBoostClassifier(n_estimators=5, max_depth=3, algorithm="m1"),
    "adaboost regressor": ceiba.AdaBoostRegressor(n_estimators=10),
    "absolute error": ceiba.DecisionTreeRegressor(criterion="absolute_error", max_depth=4),
}


def check_predictions(model: Any, rows: Any, given: Any = None, X: Any = None) -> Any:
    converted = to_sklearn(model, X)
    assert type(converted).__name__ in (type(model).__name__, f"Hist{type(model).__name__}")
    assert type(converted).__module__.startswith("sklearn.")
    given = rows if given is None else given
    if hasattr(model, "classes_"):
        expected = model.predict_proba(rows)
        np.testing.assert_allclose(converted.predict_proba(given), expected, atol=1e-12)
        ranked = np.sort(expected, axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > 1e-9  # sums of members are rounded differently
        np.testing.assert_array_equal(converted.predict(given)[clear], model.predict(rows)[clear])
    else:
        np.testing.assert_allclose(converted.predict(given), model.predict(rows), rtol=1e-12)
    return converted


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_predict_the_same(name):
    model = CLASSIFIERS[name].fit(HOLES, LABEL)
    check_predictions(model, NEW_HOLES)
    check_predictions(model, NEW_HOLES.astype(np.float32))
    # Rows that need no other thresholds, also if they are few, change none.
    check_predictions(model, NEW_HOLES, X=HOLES)
    check_predictions(model, NEW_HOLES, X=HOLES[:3])


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_predict_the_same(name):
    check_predictions(REGRESSORS[name].fit(HOLES, NUMBER), NEW_HOLES)


@pytest.mark.parametrize("name", KNOWN_ONLY)
def test_models_without_missing_values_predict_the_same(name):
    model = KNOWN_ONLY[name]
    model.fit(EXACT, LABEL if hasattr(model, "predict_proba") else NUMBER)
    converted = check_predictions(model, NEW)
    if hasattr(model, "decision_function"):
        np.testing.assert_allclose(
            converted.decision_function(NEW), model.decision_function(NEW), atol=1e-12
        )


def test_two_classes_of_adaboost():
    model = ceiba.AdaBoostClassifier(n_estimators=10).fit(EXACT, LABEL == "a")
    converted = check_predictions(model, NEW)
    np.testing.assert_allclose(
        converted.decision_function(NEW), model.decision_function(NEW), atol=1e-12
    )


BOOSTING: dict[str, Any] = {
    "two classes": (ceiba.GradientBoostingClassifier(6), LABEL == "a"),
    "exponential": (ceiba.GradientBoostingClassifier(6, loss="exponential"), LABEL == "a"),
    "three classes": (ceiba.GradientBoostingClassifier(6), LABEL),
    "one tree": (ceiba.GradientBoostingClassifier(4, multi_strategy="multi_output_tree"), LABEL),
    "squared error": (ceiba.GradientBoostingRegressor(6), NUMBER),
    "huber": (ceiba.GradientBoostingRegressor(6, loss="huber"), NUMBER),
    "absolute error": (ceiba.GradientBoostingRegressor(6, loss="absolute_error"), NUMBER),
    "poisson": (ceiba.GradientBoostingRegressor(6, loss="poisson"), np.abs(NUMBER)),
    "tweedie": (ceiba.GradientBoostingRegressor(6, loss="tweedie"), np.abs(NUMBER)),
}


@pytest.mark.parametrize("name", BOOSTING)
def test_gradient_boosting_predicts_the_same(name):
    model, target = BOOSTING[name]
    model.fit(HOLES, target)
    rows = np.random.default_rng(2).normal(size=(400, 4))  # float64: nothing is rounded
    rows[::7, 1] = np.nan
    converted = check_predictions(model, np.vstack([rows, NEW_HOLES]))
    stages = list(zip(converted.staged_predict(rows), model.staged_predict(rows), strict=True))
    assert len(stages) == model.n_estimators_
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(*stages[1], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gradient_boosting_of_a_mixed_table():
    frame, label, _ = mixed_table()
    model = ceiba.GradientBoostingClassifier(5, min_samples_leaf=5).fit(frame, label)
    rows = frame.copy()
    rows.loc[::3, "color"] = None
    codes = pd.DataFrame(index=rows.index)
    for column in model.schema_:
        values = rows[column.name]
        if column.categories:
            values = values.map({category: i for i, category in enumerate(column.categories)})
        codes[column.name] = values.astype(float)
    converted = check_predictions(model, rows, codes)
    assert any(tree.nodes["is_categorical"].any() for (tree, *_) in converted._predictors)
    codes["color"] = codes["color"].mask(codes["color"] == 2, 77)  # no such category
    rows["color"] = rows["color"].mask(codes["color"] == 77, None)
    check_predictions(model, rows, codes)


class LogLink:
    """A custom loss whose predictions need a function of Python."""

    def gradient(self, y, raw):
        return raw - y

    def hessian(self, y, raw):
        return np.ones_like(raw)

    def inverse_link(self, raw):
        return np.exp(raw)


@pytest.mark.parametrize("convert", [to_sklearn, to_onnx, lambda model: to_code(model, "c")])
def test_boosting_that_only_python_has_is_refused(convert):
    if convert is to_onnx:
        pytest.importorskip("onnx", reason="requires the extra 'onnx': pip install ceiba[onnx]")
    model = ceiba.GradientBoostingRegressor(2, init=LinearRegression()).fit(EXACT, NUMBER)
    with pytest.raises(NotExpressibleError, match="no init predictor, got LinearRegression"):
        convert(model)
    model = ceiba.GradientBoostingRegressor(2, loss=LogLink()).fit(EXACT, NUMBER)
    with pytest.raises(NotExpressibleError, match="no inverse_link of a custom loss, got LogLink"):
        convert(model)


def test_rows_have_no_effect_on_gradient_boosting():
    model = ceiba.GradientBoostingRegressor(2).fit(EXACT, NUMBER)
    with pytest.raises(ValueError, match="kept in float64: leave it out"):
        to_sklearn(model, EXACT)


def test_nodes_keep_their_numbers_and_statistics():
    model = ceiba.DecisionTreeClassifier(max_depth=4).fit(HOLES, LABEL)
    converted = to_sklearn(model)
    np.testing.assert_array_equal(converted.apply(NEW_HOLES), model.apply(NEW_HOLES))
    paths = (converted.decision_path(NEW_HOLES) - model.decision_path(NEW_HOLES)).nnz
    assert paths == 0
    tree = model.tree_
    np.testing.assert_array_equal(converted.tree_.n_node_samples, tree.n_rows)
    np.testing.assert_array_equal(converted.tree_.weighted_n_node_samples, tree.weight)
    np.testing.assert_array_equal(converted.tree_.impurity, tree.impurity)
    np.testing.assert_allclose(converted.feature_importances_, model.feature_importances_)
    assert (converted.get_depth(), converted.get_n_leaves()) == (4, model.get_n_leaves())


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_forests_have_the_impurities_of_their_criterion(criterion):
    model = ceiba.RandomForestClassifier(4, criterion=criterion, max_depth=5).fit(EXACT, LABEL)
    converted = to_sklearn(model)
    assert converted.criterion == converted.estimators_[0].criterion == criterion
    np.testing.assert_allclose(converted.feature_importances_, model.feature_importances_)
    number = ceiba.RandomForestRegressor(2, criterion="absolute_error", max_depth=3)
    converted = to_sklearn(number.fit(EXACT, NUMBER))
    assert converted.criterion == converted.estimators_[0].criterion == "squared_error"


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "EII", "VEV", "VEI"])
def test_mixtures_predict_the_same(kind):
    model = ceiba.GaussianMixture(3, covariance_type=kind, max_iter=300).fit(CLOUDS)
    converted = to_sklearn(model)
    np.testing.assert_allclose(converted.predict_proba(NEW), model.predict_proba(NEW), atol=1e-9)
    np.testing.assert_allclose(converted.score_samples(NEW), model.score_samples(NEW), rtol=1e-9)
    np.testing.assert_array_equal(converted.predict(NEW), model.predict(NEW))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kmeans_predicts_the_same(dtype):
    model = ceiba.KMeans(5).fit(EXACT.astype(dtype))
    converted, rows = to_sklearn(model), NEW.astype(dtype)
    np.testing.assert_array_equal(converted.predict(rows), model.predict(rows))
    np.testing.assert_allclose(converted.transform(rows), model.transform(rows), rtol=1e-4)
    assert list(converted.get_feature_names_out()) == [f"kmeans{i}" for i in range(5)]


def test_columns_of_a_frame():
    frame = pd.DataFrame(EXACT, columns=list("pqrs"))
    frame["truth"] = RNG.random(N) < 0.5
    frame["size"] = pd.Categorical(
        np.array(["small", "middle", "large"])[RNG.integers(0, 3, N)],
        ["small", "middle", "large"], ordered=True,
    )  # fmt: skip
    frame["answer"] = np.where(RNG.random(N) < 0.4, "yes", "no")
    label = (frame["truth"] ^ (frame["size"] > "small") ^ (frame["answer"] == "yes")).to_numpy()
    model = ceiba.DecisionTreeClassifier().fit(frame, label)
    used = {model.tree_.split(node).name for node in np.flatnonzero(~model.tree_.is_leaf)}
    assert used >= {"truth", "size", "answer"}
    codes = frame.assign(
        truth=frame["truth"].astype(float), size=frame["size"].cat.codes,
        answer=(frame["answer"] == "yes").astype(float),
    )  # fmt: skip
    codes.iloc[:9, 4], codes.iloc[5:20, 6] = np.nan, np.nan
    changed = frame.astype({"truth": object, "answer": object})
    changed.iloc[:9, 4], changed.iloc[5:20, 6] = None, None
    converted = check_predictions(model, changed, codes)
    assert list(converted.feature_names_in_) == list(frame.columns)
    assert "truth <= 0.50" in export_text(converted, feature_names=list(frame.columns))


@pytest.mark.parametrize("values", [("u", "v"), (False, True)])
@pytest.mark.parametrize("missing_label", [0, 1])
def test_split_of_known_and_missing_categories(values, missing_label):
    codes = np.tile([0.0, 1.0, np.nan], 60)
    frame = pd.DataFrame(
        {"answer": pd.Series([None] * len(codes), dtype=object), "x": RNG.random(180)}
    )
    for code, value in enumerate(values):
        frame.loc[codes == code, "answer"] = value
    label = np.where(np.isnan(codes), missing_label, 1 - missing_label)
    label[:6] = 1 - label[:6]  # below the root is more to learn
    for model in (ceiba.DecisionTreeClassifier(max_depth=3), ceiba.RandomForestClassifier(5)):
        model.fit(frame, label)
        tree = model.tree_ if hasattr(model, "tree_") else model.forest_.tree(0)
        splits = [tree.split(node) for node in np.flatnonzero(~tree.is_leaf)]
        assert any(split.name == "answer" and () in split.branches for split in splits)
        check_predictions(model, frame, frame.assign(answer=codes))


@cache
def decimals() -> np.ndarray:
    """Decimal numbers, which float32 rounds up or down."""
    return np.round(np.random.default_rng(1).normal(size=(2000, 3)), 2)


def changed_leaves(model: Any, rows: np.ndarray, X: Any = None) -> int:
    return int((to_sklearn(model, X).apply(rows) != model.apply(rows)).sum())


@pytest.mark.parametrize("thresholds", ["midpoint", "value", "random", "mean", "quantile"])
def test_training_rows_keep_their_leaves(thresholds):
    rows = decimals()
    label = (rows[:, 0] * rows[:, 1] + rows[:, 2] > 0) ^ (np.arange(len(rows)) % 7 == 0)
    model = ceiba.DecisionTreeClassifier(thresholds=thresholds).fit(rows, label)
    assert model.get_n_leaves() > 100
    assert changed_leaves(model, rows, rows) == 0
    if thresholds in ("midpoint", "value", "random"):
        assert changed_leaves(model, rows) == 0
    # Of other rows, those change that lie within half a float32 of a threshold.
    other = np.random.default_rng(2).normal(size=(100_000, 3))
    assert changed_leaves(model, other) <= 10


@pytest.mark.parametrize("digits", [1, 2])
def test_training_rows_of_forests_keep_their_leaves(digits):
    """Midpoints of decimals are the values of rows that a tree did not draw, up to rounding."""
    rows = np.round(decimals() + 5, digits)
    label = (rows[:, 0] * rows[:, 1] > 5 * rows[:, 2]) ^ (np.arange(len(rows)) % 5 == 0)
    model = ceiba.RandomForestClassifier(10).fit(rows, label)
    trees = model.forest_.apply(Table.of(rows, model.schema_))
    for X in (None, rows):
        converted = to_sklearn(model, X)
        np.testing.assert_array_equal(converted.apply(rows), trees)


def test_values_closer_than_float32_are_the_only_ones_confused():
    base = np.float32(1.0)
    step = float(np.spacing(base))
    rng = np.random.default_rng(3)
    rows = 1.0 + np.sort(rng.random(400))[:, None] * 400 * step  # one value per float32 on average
    label = np.arange(400) % 2
    model = ceiba.DecisionTreeClassifier().fit(rows, label)
    short = rows.astype(np.float32)
    same_short = np.isin(short, short[1:][np.diff(short[:, 0]) == 0])[:, 0]
    changed = to_sklearn(model, rows).apply(rows) != model.apply(rows)
    assert not (changed & ~same_short).any()
    assert same_short.any()
    assert not same_short.all()


REFUSED = [
    (ceiba.DecisionTreeClassifier(missing="fractional"), "no missing='fractional'"),
    (ceiba.DecisionTreeClassifier(missing="surrogate"), "no missing='surrogate'"),
    (ceiba.DecisionTreeClassifier(splits="intervals", n_intervals=3), "two branches, got 3"),
    (ceiba.DecisionTreeClassifier(missing="branch"), "without missing='branch'"),
    (ceiba.DecisionTreeClassifier(cost_matrix=1 - np.eye(3)), "minimum cost"),
    (ceiba.AdaBoostClassifier(algorithm="samme.r"), "no algorithm='samme.r'"),
    (ceiba.BaggingClassifier(voting="majority"), "no majority vote"),
    (ceiba.GaussianMixtureClassifier(), "got GaussianMixtureClassifier"),
]


@pytest.mark.parametrize(("model", "text"), REFUSED)
def test_what_scikit_learn_lacks_is_refused(model, text):
    model.fit(HOLES if "missing" in text else EXACT, LABEL)
    with pytest.raises(NotExpressibleError, match=text):
        to_sklearn(model)


def test_columns_that_scikit_learn_lacks_are_refused():
    nominal = pd.DataFrame({"color": list("rgb") * 20})
    label = (nominal["color"] == "g").to_numpy()
    with pytest.raises(NotExpressibleError, match="'color' has 3 categories: encode it"):
        to_sklearn(ceiba.DecisionTreeClassifier().fit(nominal, label))
    multiway = ceiba.DecisionTreeClassifier(algorithm="id3").fit(nominal, label)
    with pytest.raises(NotExpressibleError, match="two branches, got 3 in node 0"):
        to_sklearn(multiway)
    with pytest.raises(NotExpressibleError, match="no nominal columns, got 'color'"):
        to_sklearn(ceiba.KMeans(2).fit(nominal.assign(x=np.arange(60.0))))
    with_identifier = pd.DataFrame({"id": [f"n{i}" for i in range(60)], "x": np.arange(60.0)})
    with pytest.warns(UserWarning, match="like an identifier"):
        mixture = ceiba.GaussianMixture(1).fit(with_identifier)
    with pytest.raises(NotExpressibleError, match="no columns of text, got 'id'"):
        to_sklearn(mixture)
    times = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=60)})
    with pytest.raises(NotExpressibleError, match="times of column 'day'"):
        to_sklearn(ceiba.DecisionTreeClassifier().fit(times, np.arange(60) > 20))


def test_members_of_other_libraries_are_kept():
    model = ceiba.BaggingClassifier(LogisticRegression(), n_estimators=3).fit(EXACT, LABEL)
    check_predictions(model, NEW)
    with pytest.raises(ValueError, match="X requires a model of Ceiba's own trees"):
        to_sklearn(model, EXACT)
    with pytest.raises(NotExpressibleError, match="got LogisticRegression"):
        to_sklearn(LogisticRegression().fit(EXACT, LABEL))


FOREIGN: dict[str, Any] = {
    "votes": LinearSVC(),
    "some classes": KNeighborsClassifier(3),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
}


@pytest.mark.parametrize("classes", [(-1, 1, 2), (0, 1, 2), ("a", "b", "c"), (0.0, 1.0, 2.0)])
@pytest.mark.parametrize("name", FOREIGN)
def test_bagging_of_other_libraries_predicts_class_indices(name, classes):
    """The samples are so small that some lack a class, and some have only one."""
    label = np.array(classes)[np.searchsorted([-0.5, 1.5], EXACT[:, 0])]
    model = ceiba.BaggingClassifier(FOREIGN[name], n_estimators=12, max_samples=4, random_state=0)
    converted = check_predictions(model.fit(EXACT, label), NEW)
    has_constant = any(isinstance(member, ConstantMember) for member in model.estimators_)
    assert has_constant == (name != "votes")  # LinearSVC accepts rows of weight zero
    assert converted.fit(EXACT, label).score(EXACT, label) > 0.3
    for truth in (label == classes[0], np.where(label == classes[0], -1, 1)):
        model.fit(EXACT, truth)
        np.testing.assert_array_equal(to_sklearn(model).predict(NEW), model.predict(NEW))
        if hasattr(model, "decision_function"):
            converted = to_sklearn(model)
            expected = model.decision_function(NEW)
            np.testing.assert_allclose(converted.decision_function(NEW), expected)


def test_ensembles_of_pipelines():
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    boosted = ceiba.AdaBoostClassifier(pipeline, n_estimators=4, reweighting="resampling")
    check_predictions(boosted.fit(EXACT, LABEL), NEW)
    regressor = make_pipeline(StandardScaler(), LinearRegression())
    check_predictions(ceiba.BaggingRegressor(regressor, n_estimators=3).fit(EXACT, NUMBER), NEW)
    bag = ceiba.BaggingClassifier(pipeline, n_estimators=3, max_features=2).fit(EXACT, LABEL)
    assert isinstance(check_predictions(bag, NEW).estimator, Pipeline)
    resampled = ceiba.AdaBoostRegressor(regressor, n_estimators=3, reweighting="resampling")
    assert isinstance(check_predictions(resampled.fit(EXACT, NUMBER), NEW).estimator, Pipeline)


def test_nested_ensembles_keep_the_leaves_of_training_rows():
    rows = decimals()
    label = np.array(["no", "yes"])[(rows[:, 0] * rows[:, 1] + rows[:, 2] > 0).astype(int)]
    inner = ceiba.BaggingClassifier(ceiba.DecisionTreeClassifier(thresholds="mean"), n_estimators=2)
    model = ceiba.BaggingClassifier(inner, n_estimators=3, max_features=2, random_state=0)
    converted = check_predictions(model.fit(rows, label), rows, X=rows)
    columns = model.estimators_features_[0]
    expected = to_sklearn(model.estimators_[0], rows[:, columns])
    for tree, other in zip(converted.estimators_[0].estimators_, expected.estimators_, strict=True):
        np.testing.assert_array_equal(tree.tree_.threshold, other.tree_.threshold)


def test_rows_have_no_effect_on_models_without_thresholds():
    for model in (ceiba.KMeans(2), ceiba.GaussianMixture(2)):
        with pytest.raises(ValueError, match="has no thresholds: leave it out"):
            to_sklearn(model.fit(CLOUDS), CLOUDS)


def test_onnx_is_imported_only_where_it_is_used(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'ceiba\[onnx\]'"):
        to_onnx(ceiba.DecisionTreeClassifier().fit(EXACT, LABEL))


def test_scaled_mixture_is_expressible_and_scaled_k_means_is_not():
    rows = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 1e3, 1e-2]
    for form in ("full", "tied", "diag", "spherical"):
        model = ceiba.GaussianMixture(2, covariance_type=form, scale="std").fit(rows)
        converted = to_sklearn(model)
        np.testing.assert_allclose(converted.score_samples(rows), model.score_samples(rows))
    with pytest.raises(NotExpressibleError, match="KMeans has no scale, got 'std'"):
        to_sklearn(ceiba.KMeans(2, scale="std").fit(rows))
