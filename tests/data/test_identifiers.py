"""Identifiers are left out of a fit, few rows per category are warned of."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import ceiba
from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GaussianMixture,
    GaussianMixtureClassifier,
    KMeans,
    KNeighborsClassifier,
    LatentClassMixture,
    NaiveBayesClassifier,
    RandomForestClassifier,
    StructuralTMClassifier,
    TANClassifier,
)
from ceiba.data import IdentifierWarning, ManyCategoriesWarning, Table

N = 60
LEARNERS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(algorithm="c45"),
    RandomForestClassifier(4, random_state=0),
    BaggingClassifier(n_estimators=3, random_state=0),
    AdaBoostClassifier(n_estimators=3),
    KMeans(2, random_state=0),
    GaussianMixture(2, random_state=0),
    GaussianMixtureClassifier(),
    KNeighborsClassifier(),
    LatentClassMixture(2),
    NaiveBayesClassifier(),
    StructuralTMClassifier(),
    TANClassifier(),
]


def frame(n=N):
    random = np.random.default_rng(0)
    x = random.normal(size=n)
    return pd.DataFrame({"id": [f"n{i}" for i in range(n)], "x": x, "y": np.where(x > 0, "a", "b")})


@pytest.fixture(params=LEARNERS, ids=lambda learner: type(learner).__name__)
def learner(request):
    return request.param


def test_an_identifier_is_left_out_of_the_fit(learner):
    data = frame()
    X, y = data[["id", "x"]], data["y"]
    with pytest.warns(
        IdentifierWarning, match="'id' has a different category.*leave it out"
    ) as found:
        learner.fit(X, y)
    assert [entry.filename for entry in found] == [__file__]
    assert learner.schema_[0].categories == ()
    assert learner.n_features_in_ == 2
    assert learner.feature_names_in_.tolist() == ["id", "x"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = learner.predict(X)
        other = learner.predict(X.assign(id="never seen"))
    np.testing.assert_array_equal(predicted, other)
    alike = (KMeans, KNeighborsClassifier, GaussianMixture, GaussianMixtureClassifier)
    if isinstance(learner, alike):
        without = learner.fit(X[["x"]], y).predict(X[["x"]])
        np.testing.assert_array_equal(predicted, without)
    if hasattr(learner, "tree_"):
        assert learner.feature_importances_[0] == 0


@pytest.mark.parametrize(
    "declare",
    [
        lambda X: X.astype({"id": "category"}),
        lambda X: Table.of(X, kinds={"id": "nominal"}),
        lambda X: Table.of(X, Table.of(X, kinds={"id": "nominal"}).schema),
    ],
    ids=["categorical", "kinds", "schema"],
)
def test_an_explicit_kind_keeps_the_column(declare):
    data = frame()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DecisionTreeClassifier(category_correction=False).fit(
            declare(data[["id"]]), data["y"]
        )
    assert len(model.schema_[0].categories) == N
    assert model.score(declare(data[["id"]]), data["y"]) == 1


@pytest.mark.filterwarnings("ignore:Column 'id'")
@pytest.mark.parametrize("scale", [None, "std"])
def test_methods_of_mixtures_without_the_identifier(tmp_path, scale):
    data = frame().assign(z=lambda data: data["x"] ** 2)
    X, numbers = data[["x", "id", "z"]], data[["x", "z"]]
    plain = GaussianMixture(2, random_state=0, scale=scale).fit(numbers)
    model = GaussianMixture(2, random_state=0, scale=scale).fit(X)
    ceiba.save(model, tmp_path / "model.ceiba")
    for found in (model, ceiba.load(tmp_path / "model.ceiba")):
        assert found.feature_names_in_.tolist() == ["x", "id", "z"]
        np.testing.assert_array_equal(found.means_, plain.means_)
        np.testing.assert_array_equal(found.covariances_, plain.covariances_)
        np.testing.assert_array_equal(found.sample(9)[0], plain.sample(9)[0])
        np.testing.assert_array_equal(found.score_samples(X), plain.score_samples(numbers))
        holes = X.assign(z=X["z"].where(X["z"] > 0.5))
        filled = found.impute(holes)
        np.testing.assert_array_equal(filled, plain.impute(holes[["x", "z"]]))
        assert filled.shape == (N, 2)
    model.partial_fit(X)
    np.testing.assert_array_equal(model.means_, plain.partial_fit(numbers).means_)
    with pytest.raises(ValueError, match="got nominal column 'y'"):
        GaussianMixture(2).fit(data)


def test_mixtures_name_dependent_columns_beside_an_identifier():
    data = frame().assign(w=lambda data: 2 * data["x"], v=lambda data: data["x"] ** 2)
    with (
        pytest.warns(IdentifierWarning),
        pytest.warns(UserWarning, match="'x', 'w' are linearly dependent: x = 0.5 w"),
    ):
        GaussianMixture(1).fit(data[["x", "id", "w", "v"]])


def test_the_table_keeps_the_column():
    with pytest.warns(IdentifierWarning):
        table = Table.of(frame())
    assert len(table.schema[0].categories) == N
    model = DecisionTreeClassifier().fit(table, frame()["y"])  # no second warning
    assert model.schema_[0].categories == ()
    other = Table.of(table, kinds={"y": ["b", "a"]})
    assert other.schema[0].is_identifier
    assert not Table.of(table, kinds={"id": "nominal"}).schema[0].is_identifier
    assert table.take(slice(5)).schema[0].is_identifier


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_scans_leave_identifiers_out(form, tmp_path):
    data, path = frame(), tmp_path / f"rows.{form}"
    getattr(data, f"to_{form}")(path, index=False)
    with pytest.warns(IdentifierWarning):
        read = ceiba.read(path, columns=["id", "x"])
    expected = KMeans(2, random_state=0).fit(read)
    scan = ceiba.scan(path, target="y", partition_bytes=600)
    with pytest.warns(IdentifierWarning):
        found = KMeans(2, random_state=0).fit(scan)
    assert found.schema_ == expected.schema_
    assert found.schema_[0].categories == ()
    np.testing.assert_allclose(found.cluster_centers_, expected.cluster_centers_)
    declared = ceiba.scan(path, target="y", kinds={"id": "nominal"})
    assert len(DecisionTreeClassifier(max_bins=255).fit(declared).schema_[0].categories) == N


@pytest.mark.dask
@pytest.mark.xdist_group("dask")
@pytest.mark.usefixtures("current_client")
def test_dask_leaves_identifiers_out():
    dd = pytest.importorskip("dask.dataframe")
    data = frame()
    parts = dd.from_pandas(data, npartitions=4)
    with pytest.warns(IdentifierWarning, match="'id'") as found:
        model = DecisionTreeClassifier(max_bins=255).fit(parts[["id", "x"]], parts["y"])
    assert [entry.filename for entry in found] == [__file__]
    assert model.schema_[0].categories == ()
    kept = parts[["id", "x"]].astype({"id": "category"})
    assert len(KMeans(2).fit(kept).schema_[0].categories) == N


@pytest.mark.parametrize(
    ("n_categories", "n_rows", "warned"),
    [(300, 600, True), (60, 299, True), (60, 300, False), (10, 25, False), (11, 25, True)],
)
def test_few_rows_per_category_warn(n_categories, n_rows, warned):
    column = [f"c{i % n_categories}" for i in range(n_rows)]
    data = pd.DataFrame({"code": column, "x": np.arange(n_rows) % 7})
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        DecisionTreeClassifier(max_depth=1).fit(data, data["x"])
        Table.of(data, kinds={"code": "nominal"})
        Table.of(data.astype({"code": "category"}))
    assert [entry.category for entry in found] == [ManyCategoriesWarning] * warned
    if warned:
        assert found[0].filename == __file__
        assert f"'code' has {n_categories} categories for {n_rows} values" in str(found[0].message)


@pytest.mark.parametrize(("n_rows", "marked"), [(20, False), (21, True)])
def test_few_rows_may_all_differ(n_rows, marked):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert Table.of(frame(n_rows)).schema[0].is_identifier == marked
    assert [entry.category for entry in found] == [IdentifierWarning] * marked


def test_an_identifier_alone_is_nothing_to_learn_from():
    data = frame()
    with pytest.warns(IdentifierWarning):
        tree = DecisionTreeClassifier().fit(data[["id"]], data["y"])
    assert tree.tree_.n_nodes == 1
    with (
        pytest.warns(IdentifierWarning),
        pytest.raises(ValueError, match="no column to compute distances"),
    ):
        KMeans(2).fit(data[["id"]])
