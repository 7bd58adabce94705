"""Members of bagging: the rows they get, and which estimators are supported."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from ceiba import BaggingClassifier, BaggingRegressor, GaussianMixtureClassifier, datasets
from ceiba.data import Table
from ceiba.engine.local import effective_threads
from ceiba.ensemble.common.rows import table_columns, unique_names
from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()
XR, YR = hand.slope()


class Recorder(ClassifierMixin, BaseEstimator):
    """Records its input and predicts its first class."""

    def fit(self, X, y):
        self.classes_, self.X_, self.y_ = np.unique(y), X, y
        return self

    def predict(self, X):
        self.predicted_X_ = X
        return np.full(X.shape[0], self.classes_[0])


class WeightRecorder(Recorder):
    """Also records weights and other metadata."""

    def fit(self, X, y, sample_weight=None, note=None):
        self.weight_, self.note_ = sample_weight, note
        return super().fit(X, y)

    def predict(self, X, tone=None):
        self.tone_ = tone
        return super().predict(X)


def mixed():
    """Return a frame with numbers, text, categories, dates and missing values."""
    frame = pd.DataFrame(X, columns=[*"abcd"])
    frame.loc[::7, "a"] = np.nan
    frame["count"] = pd.array([None if row % 11 == 5 else row for row in range(90)], "Int64")
    frame["when"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(90) % 30, unit="D")
    frame["word"] = np.where(np.arange(90) % 5 == 0, None, Y.astype(object))
    frame["size"] = pd.Categorical(np.array(["S", "M", "L"])[np.arange(90) % 3], ["S", "M", "L"])
    return frame


# Tables for Ceiba's estimators


def test_ceiba_members_are_fitted_to_tables():
    frame = mixed()
    model = BaggingClassifier(n_estimators=5, max_features=5, random_state=3).fit(frame, Y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    total = np.zeros((90, 3))
    for member, rows, chosen in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        part = table_columns(Table.of(frame), chosen)
        assert member.feature_names_in_.tolist() == frame.columns[chosen].tolist()
        weight = np.bincount(rows, minlength=90)
        total += clone(member).fit(part, Y, weight).predict_proba(part)
    np.testing.assert_array_equal(model.predict_proba(frame), total / 5)
    assert model.score(frame, Y) > 0.9


@pytest.mark.parametrize(
    "container", [pl.from_pandas, pa.Table.from_pandas, Table.of], ids=["polars", "arrow", "table"]
)
def test_every_container_gives_the_same_model(container):
    frame = mixed()
    model = BaggingClassifier(n_estimators=4, max_features=0.7).fit(frame, Y)
    other = BaggingClassifier(n_estimators=4, max_features=0.7).fit(container(frame), Y)
    np.testing.assert_array_equal(model.predict_proba(frame), other.predict_proba(frame))
    np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(container(frame)))


def test_lists_of_rows_are_accepted():
    model = BaggingClassifier(n_estimators=3).fit(X.tolist(), Y.tolist())
    same = BaggingClassifier(n_estimators=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X.tolist()), same.predict_proba(X))
    theirs = BaggingClassifier(GaussianNB(), 3).fit(X.tolist(), Y.tolist())
    np.testing.assert_array_equal(theirs.predict(X.tolist()), theirs.predict(X))


def test_repeated_columns_of_a_table_get_new_names():
    table = Table.of(mixed())
    chosen = np.array([4, 6, 4, 5, 4, 7])
    part = table_columns(table, chosen)
    assert part.schema.names == ["count", "word", "count (2)", "when", "count (3)", "size"]
    for index, column in enumerate(chosen):
        np.testing.assert_array_equal(part.column(index), table.column(column))
        np.testing.assert_array_equal(part.missing_mask(index), table.missing_mask(column))
        assert part.schema[index].kind is table.schema[column].kind
        assert part.schema[index].categories == table.schema[column].categories
    block = table_columns(Table.of(X), np.array([2, 2]))
    assert not block.schema.named
    np.testing.assert_array_equal(block.block, X[:, [2, 2]])


def test_new_names_are_unique():
    assert unique_names(["a", "a (2)", "a", "a"]) == ["a", "a (2)", "a (3)", "a (4)"]
    assert unique_names(["a", "a", "a (2)"]) == ["a", "a (3)", "a (2)"]


def test_nested_ceiba_members():
    frame = mixed()
    inner = BaggingClassifier(DecisionTreeClassifier(max_depth=2), 3)
    model = BaggingClassifier(inner, 4).fit(frame, Y)
    assert model.score(frame, Y) > 0.8
    gaussian = BaggingClassifier(GaussianMixtureClassifier(), 4, max_features=2).fit(X, Y)
    assert gaussian.score(X, Y) > 0.5


def test_nested_other_estimators_get_the_rows_as_passed():
    inner = BaggingClassifier(Recorder(), 2)
    model = BaggingClassifier(inner, 2).fit(mixed(), Y)
    assert isinstance(model.estimators_[0].estimators_[0].X_, pd.DataFrame)


# Frames and arrays for other estimators


@pytest.mark.parametrize(
    ("container", "kind"),
    [
        (pd.DataFrame, pd.DataFrame),
        (pl.from_pandas, pl.DataFrame),
        (pa.Table.from_pandas, pa.Table),
        (pd.DataFrame.to_numpy, np.ndarray),
    ],
    ids=["pandas", "polars", "arrow", "array"],
)
@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_other_estimators_get_the_rows_as_passed(container, kind, twice):
    frame = mixed()
    given = container(frame)
    model = BaggingClassifier(
        Recorder(), 3, max_features=0.7, bootstrap_features=twice, random_state=4
    ).fit(given, Y)
    model.predict(given)
    for member, rows, chosen in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        assert isinstance(member.X_, kind)
        assert isinstance(member.predicted_X_, kind)
        assert member.X_.shape == (90, 5)
        assert member.predicted_X_.shape == (90, 5)
        np.testing.assert_array_equal(member.y_, Y[rows])
        if kind is pd.DataFrame:
            expected = frame.iloc[rows, chosen].reset_index(drop=True)
            found = member.X_.reset_index(drop=True)
            pd.testing.assert_frame_equal(found.set_axis(expected.columns, axis=1), expected)
            assert len(set(found.columns)) == 5
        elif kind is pl.DataFrame:
            names = np.array(given.columns)[chosen].tolist()
            assert member.X_.columns == unique_names(names)
            assert member.X_.row(7) == given.select(names[:1]).row(int(rows[7])) + tuple(
                given[name][int(rows[7])] for name in names[1:]
            )


def test_repeated_columns_without_text_names():
    frame = pd.DataFrame(X)
    options = {"bootstrap_features": True, "random_state": 4}
    model = BaggingClassifier(GaussianNB(), 4, **options).fit(frame, Y)
    array = BaggingClassifier(GaussianNB(), 4, **options).fit(X, Y)
    assert any(len(set(chosen)) < 4 for chosen in model.estimators_features_)
    np.testing.assert_array_equal(model.predict_proba(frame), array.predict_proba(X))


def test_other_estimators_get_feature_names():
    frame = mixed()[[*"bcd"]]
    model = BaggingClassifier(LogisticRegression(), 3, max_features=2).fit(frame, Y)
    for member, chosen in zip(model.estimators_, model.estimators_features_, strict=True):
        assert member.feature_names_in_.tolist() == frame.columns[chosen].tolist()
    assert model.feature_names_in_.tolist() == [*"bcd"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"b": "z"}))
    plain = BaggingClassifier(LogisticRegression(), 2).fit(X, Y)
    with pytest.raises(ValueError, match="X has 2 features, but BaggingClassifier is expecting 4"):
        plain.predict(X[:, :2])


def test_pipeline_with_column_transformer():
    frame = mixed()
    coded = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["word", "size"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), [*"abcd"]),
    )
    model = BaggingClassifier(make_pipeline(coded, LogisticRegression()), 4).fit(frame, Y)
    assert model.score(frame, Y) > 0.9


def test_missing_values_in_arrays_require_estimators_that_accept_them():
    holed = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = BaggingClassifier(HistGradientBoostingClassifier(max_iter=5), 2).fit(holed, Y)
    assert model.score(holed, Y) > 0.6
    assert model.__sklearn_tags__().input_tags.allow_nan
    strict = BaggingClassifier(GaussianNB(), 2)
    assert not strict.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match=r"member [01] of the ensemble could not be fitted.*NaN"):
        strict.fit(holed, Y)


def test_grid_search_as_member():
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=2)
    model = BaggingClassifier(search, 3).fit(X, Y)
    assert {member.best_params_["var_smoothing"] for member in model.estimators_} <= {1e-9, 1.0}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_members_without_probabilities_vote():
    model = BaggingClassifier(LinearSVC(), 5).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), model.votes(X).counts / 5)


def test_members_get_the_original_labels():
    model = BaggingClassifier(LogisticRegression(class_weight={"ant": 5.0}), 2).fit(X, Y)
    assert [member.classes_.tolist() for member in model.estimators_] == [["ant", "bee", "cow"]] * 2


@pytest.mark.parametrize(
    "labels",
    [Y == "ant", (Y == "ant") * 1.0, np.where(Y == "ant", -5, 7), Y.astype(object)],
    ids=["bool", "float", "int", "object"],
)
@pytest.mark.parametrize("member", [None, GaussianNB()], ids=["ours", "theirs"])
def test_label_types_are_kept(labels, member):
    model = BaggingClassifier(member, 3).fit(X, labels)
    assert model.classes_.dtype == labels.dtype
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels) > 0.6


# Metadata


def test_metadata_is_indexed_by_row():
    note, weight = np.arange(90) * 10, np.arange(90) % 3
    with config_context(enable_metadata_routing=True):
        member = WeightRecorder().set_fit_request(sample_weight=True, note=True)
        member.set_predict_request(tone=True)
        model = BaggingClassifier(member, 5, n_jobs=2).fit(X, Y, sample_weight=weight, note=note)
        model.predict(X, tone="kind")
        for fitted, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            counts = np.bincount(rows, minlength=90)
            # The rows that are drawn, and row 0 for its class, whose rows have weight zero.
            there = [*np.flatnonzero(counts), 0]
            np.testing.assert_array_equal(fitted.note_, note[there])
            np.testing.assert_array_equal(fitted.weight_, counts[there])
            assert fitted.tone_ == "kind"


def test_with_routing_weights_that_are_not_requested_become_repeated_rows():
    weight = np.arange(90) % 3
    with config_context(enable_metadata_routing=True):
        model = BaggingClassifier(WeightRecorder(), 3).fit(X, Y, sample_weight=weight)
        for fitted, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
            assert fitted.weight_ is None
            np.testing.assert_array_equal(fitted.X_, X[rows])
    plain = BaggingClassifier(n_estimators=3).fit(X, Y, weight)
    with config_context(enable_metadata_routing=True):
        routed = BaggingClassifier(n_estimators=3).fit(X, Y, weight)
    np.testing.assert_array_equal(plain.predict_proba(X), routed.predict_proba(X))


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_metadata_routing_through_grid_search(kind):
    rows, y = (X, Y) if kind is BaggingClassifier else (XR, YR)
    tree = DecisionTreeClassifier() if kind is BaggingClassifier else DecisionTreeRegressor()
    weight = np.arange(90) % 4
    with config_context(enable_metadata_routing=True):
        bag = kind(tree.set_fit_request(sample_weight=True), 3)
        search = GridSearchCV(bag, {"estimator__max_depth": [1, 4]}, cv=2)
        search.fit(rows, y, sample_weight=weight)
        best = search.best_estimator_
    by_hand = clone(best).fit(rows, y, weight)
    for one, two in zip(best.estimators_samples_, by_hand.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, two)
    assert all((weight[rows] > 0).all() for rows in best.estimators_samples_)


def test_pipeline_with_routing_gets_weights():
    with config_context(enable_metadata_routing=True):
        last = LogisticRegression().set_fit_request(sample_weight=True)
        scale = StandardScaler().set_fit_request(sample_weight=False)
        model = BaggingClassifier(make_pipeline(scale, last), 3, n_jobs=2).fit(X, Y)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        counts = np.bincount(rows, minlength=90)
        there = np.flatnonzero(counts)
        scaled = StandardScaler().fit_transform(X[there])  # without weights
        by_hand = clone(member[-1]).fit(scaled, Y[there], sample_weight=counts[there])
        np.testing.assert_allclose(member[-1].coef_, by_hand.coef_, rtol=1e-9)


def test_metadata_without_routing_is_an_error():
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        BaggingClassifier().fit(X, Y, note=np.arange(90))
    model = BaggingClassifier(n_estimators=2).fit(X, Y)
    for method in (model.predict, model.predict_proba, model.predict_log_proba):
        with pytest.raises(ValueError, match="enable_metadata_routing"):
            method(X, tone="kind")


def test_sklearn_config_applies_to_members():
    with config_context(transform_output="pandas"):
        pipe = make_pipeline(StandardScaler(), Recorder())
        model = BaggingClassifier(pipe, 6, n_jobs=2).fit(mixed()[[*"bcd"]], Y)
    assert all(isinstance(member[-1].X_, pd.DataFrame) for member in model.estimators_)


class ThreadRecorder(Recorder):
    """Records the number of BLAS threads in fit."""

    def fit(self, X, y):
        # Libraries on OpenMP, as peers of the benchmarks have, have a limit per thread.
        self.threads_ = {
            pool["num_threads"]
            for pool in threadpool_info()
            if pool["user_api"] == "blas" and pool.get("threading_layer") != "openmp"
        }
        return super().fit(X, y)


@pytest.mark.skipif(effective_threads(2) < 2, reason="one core")
def test_parallel_members_have_one_blas_thread_each():
    with threadpool_limits(2, user_api="blas"):
        alone = BaggingClassifier(ThreadRecorder(), 2, n_jobs=1).fit(X, Y)
        beside = BaggingClassifier(ThreadRecorder(), 2, n_jobs=2).fit(X, Y)
        after = ThreadRecorder().fit(X, Y)
    assert [member.threads_ for member in alone.estimators_] == [{2}] * 2
    assert [member.threads_ for member in beside.estimators_] == [{1}] * 2
    assert after.threads_ == {2}


def test_oob_scores_of_bundled_tables():
    for name, min_score in (("vote", 0.93), ("iris", 0.9)):
        data = datasets.load(name)
        model = BaggingClassifier(n_estimators=25, oob_score=True).fit(data.table, data.y)
        assert model.oob_score_ > min_score
