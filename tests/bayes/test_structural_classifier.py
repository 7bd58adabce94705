"""StructuralTMClassifier: attributes, selection of features, files, missing values, hazards."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import ceiba
from ceiba import NaiveBayesClassifier, StructuralTMClassifier, datasets
from ceiba.base import ParameterError


@pytest.fixture(scope="module")
def german():
    return datasets.load("german_credit")


@pytest.fixture(scope="module")
def fitted(german):
    return StructuralTMClassifier().fit(german.table, german.y)


def numbers(n=300):
    """Two columns that separate three classes, and one of noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return np.column_stack([rng.random(n), y + rng.random(n), y % 2 + rng.random(n)]), y


def test_reference_of_german_credit(fitted, german):
    names = german.table.schema.names
    assert fitted.selected_features_ == [names[j] for j in (0, 1, 2, 4)]
    assert fitted.arcs_ == []
    assert fitted.bicd_ == pytest.approx(-545.178, abs=1e-3)
    assert fitted.path_.d[-1] == 10
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2, 4]
    assert fitted.bicd_ == fitted.path_.bicd[-1]


def test_path_as_text_and_frame(fitted):
    lines = repr(fitted.path_).splitlines()
    assert len(lines) == len(fitted.path_) + 2
    assert lines[2].startswith("+ checking_status")
    frame = fitted.path_.to_frame()
    assert frame["n_variables"].tolist() == [0, 1, 2, 3, 4]
    assert (frame["bicd"].diff().dropna() > 0).all()
    assert (frame["n_fits"] <= 3).all()


def test_final_training(german):
    optimum = StructuralTMClassifier(penalty=0).fit(german.table, german.y)
    path = optimum.path_
    assert optimum.conditional_log_likelihood_ == pytest.approx(path.log_likelihood[-1], abs=1e-3)
    counted = StructuralTMClassifier(training="ml").fit(german.table, german.y)
    assert counted.path_.bicd.tolist() == path.bicd.tolist()
    naive = NaiveBayesClassifier().fit(counted.transform(german.table), german.y)
    np.testing.assert_allclose(
        counted.predict_proba(german.table),
        naive.predict_proba(counted.transform(german.table)),
        atol=1e-12,
    )
    with pytest.raises(ParameterError, match="penalty"):
        StructuralTMClassifier(training="ml", penalty=1.0).fit(german.table, german.y)


def test_importances_are_losses_of_likelihood(fitted, german):
    importances = fitted.feature_importances_
    assert ((importances > 0) == fitted.get_support()).all()
    j = int(np.flatnonzero(fitted.get_support())[1])
    without = [name for name in fitted.selected_features_ if name != german.table.schema.names[j]]
    fewer = NaiveBayesClassifier(training="tm", penalty=0).fit(german.table[without], german.y)
    loss = fitted.path_.log_likelihood[-1] - fewer.conditional_log_likelihood_
    assert importances[j] == pytest.approx(loss, abs=1e-3)


def test_selection_for_other_learners():
    X, y = numbers()
    model = StructuralTMClassifier().fit(X, y)
    support = model.get_support(indices=True)
    np.testing.assert_array_equal(model.transform(X), X[:, support])
    selector = SelectFromModel(StructuralTMClassifier(), threshold=1e-6).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(indices=True), support)
    pipeline = make_pipeline(StructuralTMClassifier(), DecisionTreeClassifier()).fit(X, y)
    assert pipeline[-1].n_features_in_ == len(support)
    assert model.get_feature_names_out().tolist() == [f"x{j}" for j in support]


def test_transform_keeps_tables_and_frames(fitted, german):
    pd = pytest.importorskip("pandas")
    frame = german.table.to_pandas()
    assert fitted.transform(german.table).schema.names == fitted.selected_features_
    assert fitted.transform(frame).shape == (1000, 4)
    model = StructuralTMClassifier().set_output(transform="pandas").fit(frame, german.y)
    pd.testing.assert_frame_equal(model.transform(frame), frame[model.selected_features_])


@pytest.mark.parametrize("missing", ["marginal", "category"])
def test_missing_values(missing):
    vote = datasets.load("vote")
    model = StructuralTMClassifier(missing=missing).fit(vote.table, vote.y)
    assert model.score(vote.table, vote.y) > 0.96
    assert "physician_fee_freeze" in model.selected_features_
    if missing == "category":
        assert model.bicd_ == pytest.approx(-62.341, abs=1e-3)
        assert model.path_.d[-1] == 7


def test_file_of_the_model(fitted, german, tmp_path):
    ceiba.save(fitted, tmp_path / "model.ceiba")
    loaded = ceiba.load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(
        loaded.predict_proba(german.table), fitted.predict_proba(german.table)
    )
    assert repr(loaded.path_) == repr(fitted.path_)
    assert loaded.arcs_ == fitted.arcs_
    assert loaded.get_support().tolist() == fitted.get_support().tolist()


def test_files_in_chunks(german, fitted, tmp_path):
    pytest.importorskip("pyarrow")
    frame = german.table.to_pandas().assign(target=german.y)
    for k in range(3):
        frame.iloc[k * 400 : (k + 1) * 400].to_parquet(tmp_path / f"part-{k}.parquet", index=False)
    rows = ceiba.scan(sorted(tmp_path.glob("*.parquet")), target="target")
    model = StructuralTMClassifier().fit(rows)
    assert model.selected_features_ == fitted.selected_features_
    np.testing.assert_allclose(model.path_.bicd, fitted.path_.bicd, rtol=1e-9)
    with pytest.raises(ValueError, match="transform requires rows in memory"):
        model.transform(rows)


def test_irrelevant_columns_give_an_empty_network():
    rng = np.random.default_rng(0)
    X = rng.choice(["a", "b"], size=(200, 3)).astype(object)
    y = np.arange(200) % 4 // 3
    with pytest.warns(UserWarning, match="No column improves the score"):
        model = StructuralTMClassifier().fit(X, y)
    assert model.selected_features_ == []
    assert not model.feature_importances_.any()
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.25, atol=0.01)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(X).shape == (200, 0)


@pytest.mark.filterwarnings("ignore:No column")
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([["a"], ["b"], ["a"]], ["one", "one", "one"]),
        ([["a"]], ["one"]),
        ([["a"], ["a"], ["a"]], ["one", "two", "two"]),
        ([[1.0], [1.0], [1.0]], [0, 1, 1]),
        ([["a"], ["b"]], ["one", "two"]),
    ],
    ids=["one class", "one row", "constant", "constant number", "two rows"],
)
def test_hazards(X, y):
    model = StructuralTMClassifier().fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert set(model.predict(X)) <= set(y)


def test_pairs_find_exclusive_or():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(500, 4)).astype(str).astype(object)
    y = (X[:, 1] != X[:, 3]).astype(int) ^ (rng.random(500) < 0.05)
    model = StructuralTMClassifier(moves="pairs").fit(X, y)
    assert model.arcs_ == [("x1", "x3")]
    assert model.score(X, y) > 0.93
    assert "x1 -- x3" in repr(model.path_)
