"""Hazards of trees and forests alike: extreme values, unusual shapes, types and bad input."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import clone

from ceiba import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

pd = pytest.importorskip("pandas")


class Family(NamedTuple):
    """Learners, and options under which each of them uses every row."""

    classifier: Any
    regressor: Any
    small: dict[str, Any]
    whole: list[dict[str, Any]]
    rtol: float


FOREST = {"n_estimators": 3, "bootstrap": False, "n_jobs": 1}
FAMILIES = {
    "tree": Family(DecisionTreeClassifier, DecisionTreeRegressor, {}, [{}], 0.0),
    "forest": Family(
        RandomForestClassifier,
        RandomForestRegressor,
        {"n_estimators": 3},
        [{**FOREST, "max_features": None}, {**FOREST, "max_features": 1}],
        1e-12,
    ),
}
EACH = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
KINDS = pytest.mark.parametrize("kind", ["classifier", "regressor"])
BINS = pytest.mark.parametrize("max_bins", [None, 64])
MISSING = pytest.mark.parametrize("missing", ["learned", "branch", "majority"])

# Small integers of alternating classes, so that all neighbors must be distinguished.
STEPS = np.arange(40)
CLASSES = STEPS % 2


def trees_of(model: Any) -> list[Any]:
    """Return the trees of a tree or a forest."""
    if hasattr(model, "tree_"):
        return [model.tree_]
    return [model.tree(number) for number in range(model.n_estimators)]


def nodes_of(model: Any) -> Any:
    return model.tree_.nodes if hasattr(model, "tree_") else model.forest_.nodes


def assert_separated(family: Family, X: Any, y: Any, **options: Any) -> None:
    """Check that every row is predicted correctly: no two values may be confused."""
    for whole in family.whole:
        model = family.classifier(**whole, **options).fit(X, y)
        assert model.score(X, y) == 1.0
        assert all((tree.n_rows > 0).all() for tree in trees_of(model))
        number = family.regressor(**whole, **options).fit(X, y)
        np.testing.assert_allclose(number.predict(X), y, rtol=family.rtol)


# Values

COLUMNS = {
    "scaled by 1e-30": STEPS * 1e-30,
    "scaled by 1e-300": STEPS * 1e-300,
    "subnormal": STEPS * 5e-324,
    "scaled by 1e200": STEPS * 1e200,
    "up to the largest": 1.7976931348623157e308 * (1 - STEPS * 2.0**-52),
    "both ends": np.where(CLASSES, 1.7e308, -1.7e308),
    "shifted by 1e9": 1e9 + STEPS * 1e-3,
    "one apart at 1e9": 1e9 + STEPS,
    "next floats": 1.0 + STEPS * 2.0**-52,
    "next floats below zero": -1.0 - STEPS * 2.0**-52,
    "int64 above 2^53": 2**53 + STEPS,
    "int64 at its top": 2**63 - 1 - STEPS,
    "int64 at its bottom": -(2**63) + STEPS,
    "int64 at both ends": np.where(CLASSES, 2**63 - 1, -(2**63)),
    "uint64 above 2^63": np.uint64(2**63) + STEPS.astype(np.uint64),
    "uint64 at its top": np.uint64(2**64 - 1) - STEPS.astype(np.uint64),
    "float32": (1 + STEPS * 2.0**-23).astype(np.float32),
    "float32 subnormal": (STEPS * 2.0**-149).astype(np.float32),
    "float32 at its top": (3.4028235e38 * (1 - STEPS * 2.0**-22)).astype(np.float32),
    "int8": (STEPS - 20).astype(np.int8),
    "nanoseconds": np.datetime64("2024-01-01", "ns") + STEPS,
    "days": np.datetime64("1969-12-20", "D") + STEPS,
    "durations": (STEPS - 20).astype("timedelta64[us]"),
    "infinities": np.where(CLASSES, np.inf, -np.inf),
    "truth": CLASSES.astype(bool),
}


@EACH
@BINS
@pytest.mark.parametrize("name", COLUMNS)
def test_distinct_values_of_every_dtype_are_separated(
    name: str, max_bins: int | None, family: Family
) -> None:
    column = COLUMNS[name]
    assert all(set(CLASSES[column == value]) in ({0}, {1}) for value in np.unique(column))
    assert_separated(family, column[:, None], CLASSES, max_bins=max_bins)
    mixed = pd.DataFrame({"x": column, "word": np.where(STEPS < 20, "a", "b")})
    assert_separated(family, mixed, CLASSES, max_bins=max_bins)


@EACH
@BINS
@MISSING
def test_infinity_is_the_largest_value_and_not_missing(
    missing: str, max_bins: int | None, family: Family
) -> None:
    X = np.array([-np.inf, -np.inf, 0.0, 1.0, np.inf, np.inf])[:, None]
    for y in ([0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]):
        assert_separated(family, X, np.array(y), missing=missing, max_bins=max_bins)
    if missing != "majority":
        with_missing = np.vstack([X, [[np.nan]], [[np.nan]]])
        y = np.array([0, 0, 1, 1, 0, 0, 2, 2])
        assert_separated(family, with_missing, y, missing=missing, max_bins=max_bins)


@EACH
@MISSING
@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "datetime64[ns]", "float64", "str", "size"])
def test_missing_values_of_every_dtype(dtype: str, missing: str, family: Family) -> None:
    values: Any = pd.Series(np.arange(12) % 4 + (2**60 if "Int" in dtype else 0))
    if dtype == "size":
        values = pd.Series(pd.Categorical.from_codes(values, [*"SMLX"], ordered=True))
    else:
        values = values.astype(dtype)
    y = np.array([0, 1, 0, 1] * 3)
    y[[2, 6]] = 5
    X = pd.DataFrame({"x": values.mask(y == 5)})
    assert X["x"].isna().sum() == 2
    model = family.classifier(missing=missing, **family.whole[0]).fit(X, y)
    known = y != 5
    assert (model.predict(X[known]) == y[known]).all()
    if missing != "majority":
        assert model.score(X, y) == 1.0


# Shapes


@EACH
@BINS
@MISSING
@KINDS
def test_column_of_missing_values_only(
    kind: str, missing: str, max_bins: int | None, family: Family
) -> None:
    empty = np.full((6, 1), np.nan)
    y = np.array([0, 0, 1, 1, 1, 0])
    options = {"missing": missing, "max_bins": max_bins}
    model = getattr(family, kind)(**family.small, **options).fit(empty, y)
    assert [tree.n_nodes for tree in trees_of(model)] == [1] * len(trees_of(model))
    if family is FAMILIES["tree"]:
        assert model.tree_.reasons == ["no_split"]
    rows = [[3.0], [np.nan]]
    if kind == "classifier":
        np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
        assert (model.predict_proba(rows) >= 0).all()
        assert np.isin(model.predict(rows), [0, 1]).all()
    assert np.isfinite(model.predict(rows)).all()
    assert_separated(family, np.column_stack([empty, STEPS[:6]]), y, **options)
    frame = pd.DataFrame({"x": pd.Series([None] * 6, dtype="str"), "n": STEPS[:6]})
    assert_separated(family, frame, y, **options)


@EACH
def test_fewer_rows_than_columns(family: Family) -> None:
    X, y = np.random.default_rng(2).normal(size=(5, 300)), np.arange(5)
    assert_separated(family, X, y)
    assert_separated(family, X, y, max_bins=3)


@EACH
def test_memory_layout_does_not_change_the_trees(family: Family) -> None:
    X = np.random.default_rng(4).normal(size=(60, 8))
    y = (X[:, 2] * X[:, 4] > 0).astype(int)
    wide = np.empty((120, 16))
    wide[::2, ::2] = X
    frozen = X.copy()
    frozen.flags.writeable = False
    views = [np.asfortranarray(X), wide[::2, ::2], X[::-1][::-1], frozen, X.astype(">f8")]
    model = family.classifier(**family.small).fit(X, y)
    for view in [*views, X.tolist()]:
        other = clone(model).fit(view, y)
        np.testing.assert_array_equal(nodes_of(other), nodes_of(model))
        np.testing.assert_array_equal(other.apply(view), model.apply(X))
        np.testing.assert_array_equal(other.predict_proba(view), model.predict_proba(X))
    y.flags.writeable = False
    np.testing.assert_array_equal(nodes_of(clone(model).fit(X, y)), nodes_of(model))


# Predictions of rows of other types

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float32", "float64"]


@EACH
@pytest.mark.parametrize("fitted", DTYPES)
def test_rows_of_another_dtype_are_predicted_alike(fitted: str, family: Family) -> None:
    X = np.random.default_rng(5).integers(0, 100, size=(80, 2))
    y = (X[:, 0] > 40) ^ (X[:, 1] > 60)
    model = family.classifier(**family.whole[0]).fit(X.astype(fitted), y)
    for dtype in DTYPES:
        assert model.score(X.astype(dtype), y) == 1.0


@EACH
def test_floats_and_out_of_range_values_after_fit_on_integers(family: Family) -> None:
    X, y = np.array([[1], [3], [5], [7]]), np.array([0, 0, 1, 1])
    odd = np.array([[3.9], [4.0], [4.1], [np.inf], [-np.inf], [1e300], [-1e300], [-0.5]])
    signed = family.classifier(**family.whole[0])
    for dtype in (np.uint64, np.int8, np.int64):
        signed.fit(X.astype(dtype), y)
        assert all(tree.threshold[0] == 4 for tree in trees_of(signed))
        assert signed.predict(odd).tolist() == [0, 0, 1, 1, 0, 1, 0, 0]
        assert signed.predict(np.array([[-5], [9]])).tolist() == [0, 1]
    assert signed.predict(np.array([[2**64 - 1]], dtype=np.uint64)).tolist() == [1]
    unsigned = clone(signed).fit(X.astype(np.uint64) + np.uint64(2**63), y)
    assert unsigned.predict(np.array([[-1], [5], [2**63 - 1]])).tolist() == [0, 0, 0]


@MISSING
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(splits="multiway"),
        RandomForestClassifier(9, max_features=1),
        RandomForestRegressor(9, max_features=1),
    ],
    ids=str,
)
def test_unseen_categories_are_missing(model: Any, missing: str) -> None:
    X = pd.DataFrame({"c": [*"aaabbc", None, None], "n": np.arange(8.0)})
    model = clone(model).set_params(missing=missing).fit(X, [0, 0, 0, 1, 1, 1, 2, 2])
    missing_rows = X.assign(c=pd.Series([None] * 8, dtype=object))
    np.testing.assert_array_equal(model.apply(X.assign(c="never seen")), model.apply(missing_rows))
    order = pd.Categorical(X["c"], categories=["z", *"cba"])
    np.testing.assert_array_equal(model.apply(X.assign(c=order)), model.apply(X))


# Bad input


@EACH
@KINDS
def test_bad_input_of_predict_raises(kind: str, family: Family) -> None:
    X = pd.DataFrame({"a": np.arange(6.0), "b": [*"xyxyxz"]})
    model = getattr(family, kind)(**family.small).fit(X, [0, 0, 1, 1, 0, 1])
    plain = clone(model).fit(np.eye(3), [0, 1, 2])
    expecting = f"X has 4 features, but {type(model).__name__} is expecting 3"
    for fitted, wrong, message in [
        (model, X.iloc[:0], "0 sample"),
        (model, X.rename(columns={"a": "q"}), "feature names"),
        (model, X[["b", "a"]], "same order"),
        (model, X[["a"]], "feature names|missing"),
        (model, X.assign(a=[*"uvwxyz"]), "'a' is numeric, but 'u' in row 0"),
        (model, X.assign(b=1.5), "text categories"),
        (plain, np.ones((2, 4)), expecting),
        (plain, np.ones((2, 0)), "0 feature"),
        (plain, np.ones(3), "2D"),
        (plain, np.empty((0, 3)), "0 sample"),
    ]:
        for name in {"predict", "apply", "predict_proba"} & set(dir(model)):
            with pytest.raises(ValueError, match=message):
                getattr(fitted, name)(wrong)


@EACH
@KINDS
def test_bad_input_of_fit_raises(kind: str, family: Family) -> None:
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    for rows, target, weight, message in [
        (np.empty((0, 2)), [], None, "0 sample"),
        (np.empty((4, 0)), y, None, "0 feature"),
        (X, y[:3], None, "inconsistent"),
        (X, None, None, "requires y"),
        (X, y, np.zeros(4), "sample_weight must have at least one positive entry"),
        (X, y, [1, 1, 1, -1], "sample_weight must be zero or in"),
        (X, y, [1, 1, np.nan, 1], "sample_weight must be zero or in"),
        (X, y, [1, 1, np.inf, 1], "sample_weight must be"),
        (X, y, np.ones(3), r"sample_weight\.shape"),
        (X, [0, 1, np.nan, 1], None, "NaN"),
        (X, np.ones((4, 2, 1)), None, "1d array"),
        (X.astype(complex), y, None, "Complex"),
    ]:
        with pytest.raises(ValueError, match=message):
            getattr(family, kind)(**family.small).fit(rows, target, weight)
    with pytest.raises(ValueError, match="infinity"):
        family.regressor(**family.small).fit(X, [0, 1, np.inf, 2])
    with pytest.raises(ValueError, match="continuous"):
        family.classifier(**family.small).fit(X, np.linspace(0, 1, 4))
