"""The transformer: outputs, names, inverse, options, files and model files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import ceiba
from ceiba import Discretizer, datasets
from ceiba.base import ParameterError
from ceiba.bayes.discretize import learn
from ceiba.data import Table

IRIS = datasets.load("iris")
X, Y = np.asarray(IRIS.table), np.asarray(IRIS.y)
MIXED = pd.DataFrame(
    {
        "size": [1.0, 2.0, np.nan, 4.0, 9.0, 9.5],
        "flat": [5] * 6,
        "color": ["red", None, "blue", "red", "red", "blue"],
        "when": pd.to_datetime([f"2020-01-0{d}" for d in (1, 2, 3, 4, 5, 6)]),
    }
)


def test_codes_are_those_of_thresholds():
    model = Discretizer().fit(X, Y)
    codes = model.transform(X)
    assert codes.dtype == np.float64
    for j, own in enumerate(model.thresholds_.values()):
        np.testing.assert_array_equal(codes[:, j], np.searchsorted(own, X[:, j], side="right"))
    assert model.n_categories_.tolist() == [3, 3, 3, 3]
    assert model.constant_columns_ == []
    np.testing.assert_array_equal(codes, Discretizer().fit_transform(X, Y))


def test_mixed_columns():
    model = Discretizer("equal_frequency", n_bins=2).fit(MIXED)
    codes = model.transform(MIXED)
    nan = np.nan
    expected = [[0, 1, 0], [0, nan, 0], [nan, 0, 0], [0, 1, 1], [1, 1, 1], [1, 0, 1]]
    np.testing.assert_array_equal(codes, expected)
    assert model.constant_columns_ == ["flat"]
    assert model.get_feature_names_out().tolist() == ["size", "color", "when"]
    assert model.n_categories_.tolist() == [2, 1, 2, 2]
    assert model.thresholds_["size"].tolist() == [6.5]
    assert model.thresholds_["flat"].tolist() == []
    assert str(model.thresholds_["when"][0]) == "2020-01-03T12:00:00.000000000"


def test_constant_columns_are_kept_on_request():
    model = Discretizer("equal_width", n_bins=2, constant="keep").fit(MIXED)
    assert model.transform(MIXED)[:, 1].tolist() == [0.0] * 6
    assert model.get_feature_names_out().tolist() == list(MIXED)
    assert model.constant_columns_ == ["flat"]


def test_labels():
    model = Discretizer("equal_frequency", n_bins=2, encode="labels").fit(MIXED)
    table = model.transform(MIXED)
    assert isinstance(table, Table)
    assert table["size"].tolist() == ["< 6.5", "< 6.5", None, "< 6.5", ">= 6.5", ">= 6.5"]
    assert table["color"].tolist() == ["red", None, "blue", "red", "red", "blue"]
    frame = model.set_output(transform="pandas").transform(MIXED.set_index(pd.Index(range(3, 9))))
    assert frame["size"].cat.ordered
    assert frame.index.tolist() == list(range(3, 9))
    assert frame["when"].iloc[0] == "< 2020-01-03T12:00:00"
    assert frame.columns.tolist() == ["size", "color", "when"]
    polars = pytest.importorskip("polars")
    wide = model.set_output(transform="polars").transform(MIXED)
    assert isinstance(wide, polars.DataFrame)
    assert wide.columns == ["size", "color", "when"]


def test_frames_of_codes():
    model = Discretizer("kmeans", n_bins=2).set_output(transform="pandas").fit(MIXED)
    frame = model.transform(MIXED)
    assert frame.columns.tolist() == ["size", "color", "when"]
    assert frame["size"].isna().sum() == 1


def test_indicators():
    ordinal = Discretizer("equal_frequency", n_bins=2).fit(MIXED)
    model = clone(ordinal).set_params(encode="onehot").fit(MIXED)
    sparse = model.transform(MIXED)
    dense = clone(model).set_params(encode="onehot-dense").fit_transform(MIXED)
    np.testing.assert_array_equal(sparse.toarray(), dense)
    codes = ordinal.transform(MIXED)
    expected = np.concatenate([codes == 0, codes == 1], axis=1)[:, [0, 3, 1, 4, 2, 5]]
    np.testing.assert_array_equal(dense, expected)
    assert model.get_feature_names_out().tolist()[:4] == [
        "size=< 6.5", "size=>= 6.5", "color=blue", "color=red"
    ]  # fmt: skip


@pytest.mark.parametrize("encode", ["ordinal", "labels", "onehot", "onehot-dense"])
def test_inverse_transform(encode):
    model = Discretizer("equal_frequency", n_bins=3, encode=encode).fit(X)
    output = model.transform(X)
    values = model.inverse_transform(output)
    assert values.shape == X.shape
    plain = clone(model).set_params(encode="ordinal").fit(X)
    np.testing.assert_array_equal(plain.transform(values), plain.transform(X))
    first = X[plain.transform(X)[:, 0] == 0, 0]
    assert values[0, 0] == pytest.approx((first.min() + first.max()) / 2)


def test_inverse_transform_of_mixed_columns():
    model = Discretizer("equal_frequency", n_bins=2).fit(MIXED)
    values = model.inverse_transform(model.transform(MIXED))
    assert values.dtype == object
    assert values[:, 1].tolist() == [5.0] * 6
    assert values[:, 2].tolist() == ["red", None, "blue", "red", "red", "blue"]
    assert np.isnan(values[2, 0])
    again = pd.DataFrame(values, columns=MIXED.columns).astype({"size": float, "flat": int})
    again["when"] = pd.to_datetime(again["when"])
    np.testing.assert_array_equal(model.transform(again), model.transform(MIXED))


def test_empty_intervals_have_a_value():
    model = Discretizer("given", thresholds=[[-5.0, 2.0, 8.0]]).fit([[1.0], [9.0], [9.5]])
    values = model.inverse_transform([[0], [1], [2], [3], [np.nan]])[:, 0]
    assert model.transform(values[:, None])[:4, 0].tolist() == [0, 1, 2, 3]
    assert values[1] == 1.0
    assert values[3] == 9.25
    assert np.isnan(values[4])


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[0.0]], r"X must have shape \(n_rows, 4\), as returned by transform, got \(1, 1\)"),
        ([[0, 3, 0, 0]], r"X must be codes from 0 to 2 or NaN in column .* got 3.0 in row 0"),
        ([[0, 0.5, 0, 0]], r"X must be codes from 0 to 2"),
    ],
)
def test_codes_of_inverse_transform_are_checked(codes, message):
    with pytest.raises(ValueError, match=message):
        Discretizer().fit(X, Y).inverse_transform(codes)


def test_labels_of_inverse_transform_are_checked():
    model = Discretizer("given", thresholds=[[2.0]], encode="labels").fit([[1.0], [9.0]])
    with pytest.raises(ValueError, match=r"X must have the labels of transform in column 'x0'"):
        model.inverse_transform(pd.DataFrame({"x0": ["< 3"]}))


def test_given_thresholds_by_name_index_and_list():
    by_name = Discretizer("equal_width", n_bins=2, thresholds={"size": [3, 5.5]}).fit(MIXED)
    assert by_name.thresholds_["size"].tolist() == [3.0, 5.5]
    assert len(by_name.thresholds_["when"]) == 1
    given = {0: np.array([3.0]), "flat": [5], "when": ["2020-01-03", np.datetime64("2020-01-05")]}
    model = Discretizer("given", thresholds=given).fit(MIXED)
    assert model.n_categories_.tolist() == [2, 2, 2, 3]
    assert model.transform(MIXED)[:, 3].tolist() == [0, 0, 1, 1, 2, 2]
    assert model.transform(MIXED)[:, 1].tolist() == [1] * 6
    listed = Discretizer("given", thresholds=[[3.0], [5], None, given["when"]]).fit(MIXED)
    np.testing.assert_array_equal(listed.transform(MIXED), model.transform(MIXED))


def test_large_integers_are_given_exactly():
    x = np.array([[2**60], [2**60 + 1]])
    assert Discretizer("given", thresholds={0: [2**60 + 1]}).fit_transform(x).tolist() == [[0], [1]]


def test_numbers_of_intervals_per_column():
    model = Discretizer("equal_width", n_bins=[2, 3, 4, 5]).fit(X)
    assert model.n_categories_.tolist() == [2, 3, 4, 5]
    expected = KBinsDiscretizer([2, 3, 4, 5], encode="ordinal", strategy="uniform").fit_transform(X)
    assert (model.transform(X) != expected).mean() < 0.01  # rounding of edges


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "mdl", "n_bins": 3}, r"'n_bins' has no effect with method='mdl'"),
        ({"method": "given", "n_bins": 3}, r"'n_bins' has no effect with method='given'"),
        ({"method": "given"}, r"requires thresholds for every numeric column, got none for 'size'"),
        (
            {"thresholds": {"length": [1]}},
            r"keys of thresholds must name columns of X \(.*\), got 'length'",
        ),
        ({"thresholds": {4: [1]}}, r"indices below 4, got 4"),
        ({"thresholds": {"color": [1]}}, r"those of numeric columns, but 'color' is nominal"),
        (
            {"thresholds": {"size": [2, 1]}},
            r"thresholds\['size'\] must be ascending finite numbers",
        ),
        ({"thresholds": {"size": [1, np.inf]}}, r"must be ascending finite numbers"),
        ({"thresholds": {"size": [10**400]}}, r"must be ascending finite numbers"),
        ({"thresholds": {1.0: [1]}}, r"indices below 4, got 1.0"),
        ({"thresholds": {"size": ["a"]}}, r"must be ascending finite numbers"),
        ({"thresholds": {"size": 3.0}}, r"must be ascending finite numbers"),
        ({"thresholds": {"when": ["soon"]}}, r"must be ascending finite numbers, or times"),
        ({"thresholds": [[1]]}, r"an entry for each of the 4 columns, got 1 entries"),
        (
            {"method": "kmeans", "n_bins": [2, 3]},
            r"n_bins must be an int, or 4 ints in \[2, 65534\]",
        ),
        ({"method": "kmeans", "n_bins": [2, 3, 1, 4]}, r"n_bins must be an int, or 4 ints"),
        ({"method": "kmeans", "n_bins": 1}, r"'n_bins' parameter of Discretizer must be"),
        ({"method": "chi2"}, r"'method' parameter of Discretizer must be 'mdl'"),
    ],
)
def test_options_that_do_not_apply_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        Discretizer(**options).fit(MIXED, [0, 1, 0, 1, 0, 1])


def test_classes_are_required_by_mdl_alone():
    with pytest.raises(ValueError, match=r"method='mdl' requires y to be passed, but the target y"):
        Discretizer().fit(X)
    with pytest.raises(ValueError, match="continuous"):
        Discretizer().fit(X, X[:, 0])
    Discretizer("equal_width").fit(X, X[:, 0])


def test_identifiers_and_unseen_categories():
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(30)], "x": np.arange(30.0)})
    with pytest.warns(ceiba.data.IdentifierWarning):
        model = Discretizer("equal_width").fit(frame)
    assert model.constant_columns_ == ["id"]
    assert model.inverse_transform([[0.0]])[0, 0] is None
    other = Discretizer("equal_width").fit(MIXED)
    with pytest.warns(ceiba.data.table.UnseenCategoryWarning):
        codes = other.transform(MIXED.assign(color="green"))
    assert np.isnan(codes[:, 1]).all()


def test_a_column_without_values_is_dropped():
    model = Discretizer().fit(np.c_[X[:, 0], np.full(150, np.nan)], Y)
    assert model.constant_columns_ == ["x1"]
    assert np.isnan(model.inverse_transform([[0.0]])[0, 1])


def test_rows_of_weight_zero_are_ignored():
    weight = (np.arange(150) % 3 > 0).astype(float)
    found = Discretizer().fit(X, Y, sample_weight=weight).thresholds_
    expected = Discretizer().fit(X[weight > 0], Y[weight > 0]).thresholds_
    for name, own in found.items():
        np.testing.assert_array_equal(own, expected[name])


def test_in_a_pipeline_thresholds_are_learned_in_every_fold():
    model = make_pipeline(Discretizer(encode="onehot"), LogisticRegression())
    assert cross_val_score(model, X, Y, cv=5).mean() > 0.9


def test_summary():
    text = Discretizer("equal_frequency", n_bins=2).fit(MIXED).summary()
    assert text.splitlines()[:3] == ["size      weight", "  < 6.5        3", "  >= 6.5       2"]
    assert "flat (dropped)" in text
    assert "color   weight\n  blue       2\n" in text


@pytest.mark.parametrize("encode", ["ordinal", "labels"])
def test_model_files(encode, tmp_path):
    given = {"size": [3.0, 5.5]}
    model = Discretizer("kmeans", n_bins=2, thresholds=given, encode=encode).fit(MIXED)
    ceiba.save(model, tmp_path / "model.ceiba")
    loaded = ceiba.load(tmp_path / "model.ceiba")
    assert repr(loaded) == repr(model)
    assert loaded.summary() == model.summary()
    output = model.transform(MIXED)
    assert np.array_equal(
        np.asarray(loaded.transform(MIXED)), np.asarray(output), equal_nan=encode == "ordinal"
    )
    found = loaded.inverse_transform(output)
    assert found[:, 2].tolist() == model.inverse_transform(output)[:, 2].tolist()


def test_inconsistent_states_are_refused():
    model, other = Discretizer().fit(X, Y), Discretizer().fit(X[:, :2], Y)
    wrong = clone(model)
    wrong.__dict__ |= vars(model) | {"_rows": other._rows}
    with pytest.raises(ValueError, match="must be those of encoding_"):
        wrong._check_state()
    wrong.__dict__ |= {"encoding_": other.encoding_}
    with pytest.raises(ValueError, match="encoding_ must be a CategoryEncoding"):
        wrong._check_state()


def test_many_values_of_files_are_put_into_bins(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=4000), "n": rng.integers(0, 9, 4000)})
    frame.loc[::50, "x"] = np.nan
    frame["y"] = np.where(frame["x"] > 0.3, "b", np.where(frame["n"] > 4, "c", "a"))
    exact = Discretizer().fit(frame[["x", "n"]], frame["y"])
    monkeypatch.setattr(learn, "MAX_VALUES", 500)
    monkeypatch.setattr(learn, "N_BINS", 100)
    monkeypatch.setattr(learn, "SAMPLE_ROWS", 1000)
    found = []
    for ends in ([0, 4000], [0, 700, 2500, 4000]):
        folder = tmp_path / str(len(ends))
        folder.mkdir()
        for k, (begin, end) in enumerate(pairwise(ends)):
            frame[begin:end].to_parquet(folder / f"{k}.parquet", index=False)
        rows = ceiba.scan(sorted(folder.iterdir()), target="y")
        found.append(Discretizer().fit(rows))
    one, other = (model.thresholds_ for model in found)
    np.testing.assert_array_equal(one["x"], other["x"])
    np.testing.assert_array_equal(one["n"], exact.thresholds_["n"])
    # The nearest border of bins, of which each has some 40 rows.
    values = frame["x"].dropna().to_numpy()
    assert abs(np.sum(values < one["x"][0]) - np.sum(values < 0.3)) < 80
    np.testing.assert_array_equal(found[0]._rows.weights, found[1]._rows.weights)
