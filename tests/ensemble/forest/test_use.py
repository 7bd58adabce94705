"""Forests: copies, scikit-learn tools, other containers and engines, single trees."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ceiba
from ceiba import RandomForestClassifier, RandomForestRegressor
from tests.ensemble.forest.parts import (
    CLASSES,
    NEW,
    NUMBERS,
    X,
    classes,
    digest,
    everything,
    numbers,
)

KINDS = [RandomForestClassifier, RandomForestRegressor]
EACH = pytest.mark.parametrize("kind", KINDS)
# With few trees some rows are never out of bag, which is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")


def target(kind: Any) -> Any:
    return CLASSES if kind is RandomForestClassifier else NUMBERS


# Copies


@EACH
def test_clone_pickle_and_deepcopy(kind: Any) -> None:
    options = {"quantiles": True} if kind is RandomForestRegressor else {}
    model = kind(20, oob_score=True, importance=True, **options).fit(X, target(kind))
    again = clone(model)
    assert not hasattr(again, "forest_")
    assert again.get_params() == model.get_params()
    assert everything(again.fit(X, target(kind))) == everything(model)
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert everything(copied) == everything(model)
        assert not copied.forest_.nodes.flags.writeable
        np.testing.assert_array_equal(copied.predict(NEW), model.predict(NEW))


def test_forest_arrays_are_read_only() -> None:
    forest = classes(2).forest_
    arrays = [value for value in vars(forest).values() if isinstance(value, np.ndarray)]
    assert len(arrays) >= 7
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


# scikit-learn tools


@EACH
def test_grid_search(kind: Any) -> None:
    grid = {"max_features": [1, 0.5], "min_samples_leaf": [1, 30]}
    search = GridSearchCV(kind(4), grid, cv=3).fit(X, target(kind))
    assert len(set(search.cv_results_["mean_test_score"])) > 2
    assert search.best_estimator_.min_samples_leaf == search.best_params_["min_samples_leaf"]
    assert search.predict(NEW).shape == (len(NEW),)


@EACH
def test_pipeline_and_cross_validation(kind: Any) -> None:
    rows = X[[*"bcdef"]]
    pipe = make_pipeline(StandardScaler(), kind(10)).fit(rows, target(kind))
    assert pipe.score(rows, target(kind)) > 0.6
    scores = cross_val_score(kind(10), X, target(kind), cv=3)
    assert scores.mean() > 0.2
    chosen = SelectFromModel(kind(10), threshold=0.1).fit(rows, target(kind))
    assert "b" in chosen.get_feature_names_out()
    found = permutation_importance(
        kind(10).fit(rows, target(kind)), rows, target(kind), n_repeats=2, random_state=0
    )
    assert found.importances_mean.argmax() == 0


@EACH
def test_feature_names(kind: Any) -> None:
    y = target(kind)
    model = kind(3).fit(X, y)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.n_features_in_ == 8
    assert model.schema_.names == list(X.columns)
    plain = X[[*"bcdef"]].to_numpy()
    without = kind(3).fit(plain, y)
    assert not hasattr(without, "feature_names_in_")
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        kind(3).fit(X[[*"bcdef"]], y).predict(plain)
    with pytest.warns(UserWarning, match="X has feature names, but"):
        without.predict(X[[*"bcdef"]])


def test_polars_and_arrow_frames() -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    words = X.assign(size=X["size"].astype(object))
    model = RandomForestClassifier(5).fit(words, CLASSES)
    expected = model.predict_proba(words)
    for frame in (pl.from_pandas(words), pa.Table.from_pandas(words)):
        np.testing.assert_array_equal(model.predict_proba(frame), expected)
        assert digest(RandomForestClassifier(5).fit(frame, CLASSES)) == digest(model)
    table = ceiba.data.table.Table.of(words)
    np.testing.assert_array_equal(model.predict_proba(table), expected)


# Other engines


@pytest.fixture
def files(tmp_path: Any) -> Any:
    """Return the pattern of three files with the table."""
    pytest.importorskip("pyarrow")
    frame = X.assign(size=X["size"].astype(str), y=CLASSES, z=NUMBERS)
    for k in range(3):
        frame.iloc[80 * k : 80 * k + 80].to_parquet(tmp_path / f"part{k}.parquet", index=False)
    return tmp_path / "*.parquet"


NOT_IN_MEMORY = "requires rows in memory, got a"


@EACH
def test_files_are_rejected_by_fit_and_accepted_by_predict(kind: Any, files: Any) -> None:
    name = "y" if kind is RandomForestClassifier else "z"
    scanned = ceiba.scan(files, columns=list(X.columns), target=name)
    with pytest.raises(ValueError, match=f"{kind.__name__} {NOT_IN_MEMORY}"):
        kind(3).fit(scanned)
    with pytest.raises(ValueError, match=f"{kind.__name__} {NOT_IN_MEMORY}"):
        kind(3, max_bins=16).fit(scanned)
    frame = X.assign(size=X["size"].astype(str))
    model = kind(5).fit(frame, target(kind))
    np.testing.assert_array_equal(model.predict(scanned), model.predict(frame))
    np.testing.assert_array_equal(model.apply(scanned), model.apply(frame))
    assert model.score(scanned) == pytest.approx(model.score(frame, target(kind)), rel=1e-12)
    with pytest.raises(ValueError, match="rows in memory"):
        model.oob_importance(scanned, None)


@pytest.mark.dask
@pytest.mark.xdist_group("dask in process")
@pytest.mark.filterwarnings("ignore:Port 8787")
@pytest.mark.usefixtures("current_client")
def test_dask_is_rejected_by_fit_and_accepted_by_predict() -> None:
    dd = pytest.importorskip("dask.dataframe")
    rows = X[[*"bcdef"]]
    for kind in KINDS:
        frame = dd.from_pandas(rows.assign(y=target(kind)), npartitions=2)
        with pytest.raises(ValueError, match=f"{kind.__name__} {NOT_IN_MEMORY}"):
            kind(3).fit(frame[[*"bcdef"]], frame["y"])
        model = kind(3).fit(rows, target(kind))
        before = everything(model)
        with pytest.raises(ValueError, match=NOT_IN_MEMORY):
            model.fit(frame[[*"bcdef"]], frame["y"])
        assert everything(model) == before
        found = model.predict(frame[[*"bcdef"]])
        np.testing.assert_array_equal(np.asarray(found), model.predict(rows))


# Single trees


@pytest.mark.parametrize("fit", [classes, numbers])
@pytest.mark.parametrize("options", [{}, {"missing": "branch"}, {"max_depth": 1}], ids=str)
def test_single_trees_predict_as_in_the_forest(fit: Any, options: dict[str, Any]) -> None:
    model = fit(4, **options)
    table = ceiba.data.table.Table.of(X)
    predictions = []
    for t in range(4):
        tree = model.tree(t)
        leaf = model.apply(X)[:, t]
        np.testing.assert_array_equal(tree.apply(table), leaf)
        assert tree.is_leaf[leaf].all()
        value = tree.node_values[leaf]
        predictions.append(
            value / value.sum(axis=1, keepdims=True) if fit is classes else value[:, 0]
        )
        assert tree.weight[0] == len(X)
        assert "word" in tree.to_text() or options
    np.testing.assert_allclose(
        model._predict(X), np.mean(predictions, axis=0), rtol=1e-12, atol=1e-12
    )
    assert not any(np.array_equal(a, b) for a, b in combinations(predictions, 2))


def test_the_explained_sum_of_trees_is_kept_with_its_forest_only() -> None:
    X = np.random.default_rng(0).normal(size=(80, 3))
    model = RandomForestClassifier(4).fit(X, X[:, 0] > 0)
    pickled = pickle.dumps(model)
    values = model.shap_values(X[:5])
    assert model._tree_sum() is model._tree_sum()
    assert pickle.dumps(model) == pickled
    assert "tree_sums" not in vars(pickle.loads(pickled).forest_)
    assert "tree_sums" not in vars(model.drop_trees([0]).forest_)
    model.set_params(leaf_probability="laplace")
    assert not np.array_equal(model.shap_values(X[:5]), values)
    again = model.set_params(leaf_probability="plain").fit(X, X[:, 1] > 0)
    fresh = clone(model).fit(X, X[:, 1] > 0)
    assert not np.array_equal(again.shap_values(X[:5]), values)
    np.testing.assert_array_equal(again.shap_values(X[:5]), fresh.shap_values(X[:5]))


def test_a_large_sum_of_trees_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ceiba.ensemble.forest.explain._MAX_KEPT_BYTES", 0)
    X = np.arange(20.0)[:, None]
    model = RandomForestRegressor(2).fit(X, X[:, 0])
    assert model._tree_sum() is not model._tree_sum()
