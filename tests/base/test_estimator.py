"""The estimator contract through a learner: what it takes, learns, keeps and refuses."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ceiba import KMeans, scan
from ceiba.data import Kind, Table
from tests.oracles.kmeans_tables import groups
from tests.oracles.prior_learners import MidrangeRegressor, PriorClassifier

X = groups(1, 60, 3, 3)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
FITTED = KMeans(3).fit(X)


# Containers


CONTAINERS = {
    "fortran": np.asfortranarray,
    "every second row": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "every second column": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "last row first": lambda rows: rows[::-1].copy()[::-1],
    "byte order": lambda rows: rows.astype(">f8"),
    "long double": lambda rows: rows.astype(np.longdouble),
    "list": lambda rows: rows.tolist(),
    "objects": lambda rows: rows.astype(object),
    "masked": np.ma.masked_array,
    "frame": pd.DataFrame,
    "table": Table.of,
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_the_same_rows_in_any_container_give_the_same_model(name):
    rows = CONTAINERS[name](X)
    model = KMeans(3).fit(rows)
    np.testing.assert_array_equal(model.cluster_centers_, FITTED.cluster_centers_)
    np.testing.assert_array_equal(model.labels_, FITTED.labels_)
    np.testing.assert_array_equal(model.predict(rows), FITTED.labels_)
    np.testing.assert_array_equal(model.transform(rows), FITTED.transform(X))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(library):
    made = pytest.importorskip(library)
    columns = {name: X[:, j] for j, name in enumerate("abc")}
    frame = made.DataFrame(columns) if library == "polars" else made.table(columns)
    model = KMeans(3).fit(frame)
    np.testing.assert_array_equal(model.cluster_centers_, FITTED.cluster_centers_)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame), FITTED.labels_)


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.int64, np.float64),
        (np.int8, np.float64),
        (np.uint32, np.float64),
        (bool, np.float64),
    ],
)
def test_types_of_numbers(dtype, kept):
    rows = (10 * X).round().clip(-100, 100)
    rows = (rows > 0) if dtype is bool else np.abs(rows) if "u" in np.dtype(dtype).str else rows
    model = KMeans(3).fit(rows.astype(dtype))
    assert model.cluster_centers_.dtype == kept
    assert model.labels_.dtype == np.int32
    assert model.transform(rows.astype(dtype)).dtype == kept
    wide = KMeans(3).fit(rows.astype(np.float64))
    np.testing.assert_allclose(model.cluster_centers_, wide.cluster_centers_, rtol=1e-5, atol=1e-5)


def test_input_is_read_and_never_written():
    rows, weight = X.copy(), np.ones(60)
    rows.flags.writeable = weight.flags.writeable = False
    model = KMeans(3).fit(rows, sample_weight=weight)
    model.predict(rows), model.transform(rows), model.score(rows, sample_weight=weight)
    model.partial_fit(rows)
    np.testing.assert_array_equal(rows, X)


def test_a_writable_array_is_left_as_it_was():
    rows = X.copy()
    KMeans(3).fit(rows).predict(rows)
    np.testing.assert_array_equal(rows, X)


@pytest.mark.parametrize(
    "bad", [X[0], X[None], 3.0, "text", None, X.astype(complex), [[1.0], [2.0, 3.0]]], ids=str
)
def test_what_is_no_table_is_refused(bad):
    with pytest.raises((ValueError, TypeError)):
        KMeans(1).fit(bad)


# Schema, names, widths


def test_fit_learns_the_schema():
    frame = FRAME.assign(color=np.resize(["red", "blue"], 60))
    model = KMeans(3).fit(frame)
    assert model.n_features_in_ == 4
    assert model.schema_.names == ["a", "b", "c", "color"]
    assert model.schema_[3].kind is Kind.NOMINAL
    assert model.schema_[3].categories == ("blue", "red")
    assert model.encoded_names_ == ["a", "b", "c", "color=blue", "color=red"]
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "color"]


def test_names_are_forgotten_by_a_fit_without_names():
    model = KMeans(3).fit(FRAME)
    assert hasattr(model, "feature_names_in_")
    assert not hasattr(model.fit(X), "feature_names_in_")


METHODS = pytest.mark.parametrize("method", ["predict", "transform", "score", "partial_fit"])


@METHODS
@pytest.mark.parametrize(
    "frame",
    [
        FRAME[["b", "a", "c"]],
        FRAME.rename(columns={"c": "d"}),
        FRAME[["a", "b"]],
        FRAME.assign(d=1.0),
    ],
    ids=["order", "name", "fewer", "more"],
)
def test_other_columns_than_in_training_are_refused(method, frame):
    model = KMeans(3).fit(FRAME)
    with pytest.raises(ValueError, match=r"feature names|columns"):
        getattr(model, method)(frame)


@METHODS
@pytest.mark.parametrize(
    "rows", [X[:, :2], X[:, :2].tolist(), np.hstack([X, X])], ids=["2", "list", "6"]
)
def test_another_width_is_refused(method, rows):
    model = KMeans(3).fit(X)
    with pytest.raises(ValueError, match=r"[26] (features|columns)"):
        getattr(model, method)(rows)


def test_names_on_one_side_only_are_warned_of():
    with pytest.warns(UserWarning, match="feature names"):
        named = KMeans(3).fit(FRAME).predict(X)
    with pytest.warns(UserWarning, match="feature names"):
        unnamed = KMeans(3).fit(X).predict(FRAME)
    np.testing.assert_array_equal(named, unnamed)


def test_categories_are_matched_by_label():
    one = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1], "c": pd.Categorical(["u", "u", "v", "v"])})
    other = one.assign(c=pd.Categorical(one["c"].tolist(), categories=["w", "v", "u"]))
    model = KMeans(2).fit(one)
    np.testing.assert_array_equal(model.predict(other), model.labels_)
    np.testing.assert_array_equal(model.transform(other), model.transform(one))


def test_an_unseen_category_is_missing():
    frame = pd.DataFrame({"x": [0.0, 0.1, 5.0, 5.1], "c": ["u", "u", "v", "v"]})
    model = KMeans(2).fit(frame)
    unseen, missing = frame.assign(c="z"), frame.assign(c=None)
    np.testing.assert_array_equal(model.transform(unseen), model.transform(missing))
    np.testing.assert_array_equal(model.predict(unseen), model.labels_)


@METHODS
def test_before_a_fit_there_is_nothing(method):
    if method == "partial_fit":
        assert KMeans(3).partial_fit(X).n_iter_ == 1
        return
    with pytest.raises(NotFittedError):
        getattr(KMeans(3), method)(X)


def test_a_failed_fit_leaves_a_fitted_model_usable():
    model = KMeans(3).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((10, 2), np.inf))
    np.testing.assert_array_equal(model.predict(X), FITTED.labels_)


# The ecosystem


def test_clone_has_the_parameters_and_nothing_else():
    model = KMeans(5, init=X[:5], tol=0.1, random_state=None, trace=True).fit(X)
    other = clone(model)
    assert not hasattr(other, "cluster_centers_")
    for name, value in model.get_params().items():
        np.testing.assert_array_equal(other.get_params()[name], value)


def test_parameters_can_be_set_and_shown():
    model = KMeans().set_params(n_clusters=4, tol=0.5)
    assert (model.n_clusters, model.tol) == (4, 0.5)
    assert repr(model) == "KMeans(n_clusters=4, tol=0.5)"
    with pytest.raises(ValueError, match="no_such"):
        model.set_params(no_such=1)


def test_pickles_are_small_and_predict_the_same():
    rows = groups(2, 5000, 4, 3)
    model = KMeans(3).fit(rows)
    text = pickle.dumps(model)
    # Labels and centers, not the rows or the scratch of training.
    assert len(text) < 5000 * 4 + 10_000
    for other in (pickle.loads(text), copy.copy(model), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.predict(rows), model.labels_)


def test_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), KMeans(3))
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(pipeline.fit_predict(X), KMeans(3).fit_predict(scaled))
    np.testing.assert_array_equal(pipeline.predict(X), KMeans(3).fit(scaled).labels_)
    assert pipeline.score(X) == KMeans(3).fit(scaled).score(scaled)
    pipeline.set_params(kmeans__n_clusters=2).fit(X, kmeans__sample_weight=np.ones(60))
    assert pipeline.transform(X).shape == (60, 2)


def test_in_a_grid_search():
    search = GridSearchCV(
        KMeans(), {"n_clusters": [1, 2, 3], "init": ["random", "k-means++"]}, cv=3
    )
    search.fit(X)
    assert search.best_params_["n_clusters"] == 3
    assert search.best_estimator_.cluster_centers_.shape == (3, 3)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert (cross_val_score(KMeans(3), FRAME, cv=3) < 0).all()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_output_as_a_frame(library):
    pytest.importorskip(library)
    model = KMeans(3).set_output(transform=library).fit(FRAME)
    out = model.transform(FRAME)
    assert type(out).__module__.startswith(library)
    assert list(out.columns) == model.get_feature_names_out().tolist()
    assert list(out.columns) == ["kmeans0", "kmeans1", "kmeans2"]
    np.testing.assert_array_equal(out.to_numpy(), KMeans(3).fit(FRAME).transform(FRAME))
    assert list(model.fit_transform(FRAME).columns) == list(out.columns)


def test_methods_agree_with_each_other():
    model = KMeans(3)
    np.testing.assert_array_equal(model.fit_predict(X), model.labels_)
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))
    np.testing.assert_array_equal(model.transform(X).argmin(axis=1), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_, rel=1e-12)
    weight = np.arange(60.0)
    squared = model.transform(X).min(axis=1) ** 2
    assert model.score(X, sample_weight=weight) == pytest.approx(-(weight * squared).sum())


def test_weights_may_be_a_list_a_series_or_whole_numbers():
    weight = np.arange(60) % 3
    expected = KMeans(3).fit(X, sample_weight=weight.astype(float)).cluster_centers_
    for made in (weight, weight.tolist(), pd.Series(weight), weight.astype(np.float32)):
        found = KMeans(3).fit(X, sample_weight=made).cluster_centers_
        np.testing.assert_array_equal(found, expected)


def test_the_defaults_give_the_same_model_everywhere():
    assert KMeans().random_state == 0
    np.testing.assert_array_equal(
        KMeans(3).fit(X).cluster_centers_,
        KMeans(3, random_state=0, n_jobs=1).fit(X).cluster_centers_,
    )


def test_tags_declare_what_the_learner_accepts():
    tags = KMeans().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.input_tags.sparse
    assert not tags.target_tags.required
    assert tags.transformer_tags.preserves_dtype == ["float64", "float32"]


# Supervised learners


Y = np.resize(["yes", "no", "yes"], 60)
TARGETS = {
    "list": list,
    "objects": lambda y: y.astype(object),
    "series": pd.Series,
    "categories": lambda y: pd.Series(y, dtype="category"),
}
SUPERVISED = pytest.mark.parametrize("learner", [PriorClassifier, MidrangeRegressor])


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_target_in_any_container_gives_the_same_model(name):
    model = PriorClassifier().fit(X, TARGETS[name](Y))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.class_counts_.tolist() == [20, 40]
    assert model.predict(X[:3]).tolist() == ["yes"] * 3
    assert model.score(X, Y) == 40 / 60


@SUPERVISED
def test_a_supervised_learner_needs_a_target(learner):
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        learner().fit(X)
    with pytest.raises(ValueError, match="60 rows in X, 59 in y"):
        learner().fit(X, np.ones(59))
    with pytest.raises(ValueError, match="Multiple targets"):
        learner().fit(X, np.ones((60, 2)))
    assert learner().__sklearn_tags__().target_tags.required


def test_a_clustering_takes_no_notice_of_a_target():
    np.testing.assert_array_equal(KMeans(3).fit(X, Y).labels_, FITTED.labels_)


def test_tasks_refuse_each_others_targets():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        PriorClassifier().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="is not a number"):
        MidrangeRegressor().fit(X, Y)
    with pytest.raises(ValueError, match="infinity"):
        MidrangeRegressor().fit(X, np.full(60, np.inf))


def test_a_scan_is_fitted_by_its_target_column(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.csv"
    FRAME.assign(y=Y, height=X[:, 0]).to_csv(path, index=False)
    source = scan(path, target="y", partition_bytes=500)
    assert len(source.partitions) > 3
    model = PriorClassifier().fit(source)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.class_counts_.tolist() == [20, 40]
    assert model.predict(source).tolist() == ["yes"] * 60
    with pytest.raises(ValueError, match=r"scan\(\.\.\., target="):
        PriorClassifier().fit(scan(path))
    with pytest.raises(ValueError, match="y must be None for a scan"):
        PriorClassifier().fit(source, Y)
    middle = MidrangeRegressor().fit(scan(path, target="height", columns=["b", "c"])).value_
    assert middle == X[:, 0].min() / 2 + X[:, 0].max() / 2


def test_a_fitted_model_opens_rows_with_and_without_a_target():
    model = PriorClassifier().fit(X, Y)
    _, source = model._open_source(X, reset=False)
    assert source.partitions[0].load().target is None
    for task in (None, "classification"):
        _, source = model._open_source(X, reset=False, y=Y, task=task)
        assert source.partitions[0].load().target is Y
    with pytest.raises(ValueError, match="requires y to be passed"):
        model._open_source(X, reset=False, task="classification")
