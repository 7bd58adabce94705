"""Properties of all trees: monotone maps, weights, row order, depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba._typing import Array
from ceiba.data.table import Table
from tests.budget import examples

EXAMPLES = examples(40)
CRITERIA = ["gini", "entropy", "gain_ratio", "error", "squared_error", "absolute_error"]
MISSING = ["learned", "branch", "majority"]


@st.composite
def tables(draw: st.DrawFn, with_missing: bool = True, maximum: int = 30) -> tuple[Array, Array]:
    """Draw few distinct numbers, so that ties and equal rows are common; targets 0 to 2."""
    n, d = draw(st.integers(1, maximum)), draw(st.integers(1, 3))
    value = st.integers(-4, 4).map(float)
    if with_missing:
        value = st.one_of(value, st.just(np.nan))
    X = draw(arrays(np.float64, (n, d), elements=value))
    return X, draw(arrays(np.int64, n, elements=st.integers(0, 2)))


def model(criterion: str, **options: Any) -> Any:
    kind = DecisionTreeRegressor if criterion.endswith("_error") else DecisionTreeClassifier
    return kind(criterion=criterion, n_jobs=1, **options)


def options(draw: Any) -> dict[str, Any]:
    return {
        "criterion": draw(st.sampled_from(CRITERIA)),
        "missing": draw(st.sampled_from(MISSING)),
        "max_bins": draw(st.sampled_from([None, 16, 3])),
        "min_samples_leaf": draw(st.sampled_from([1, 1, 2])),
    }


def sides(tree: Any) -> list[bytes]:
    """Return shape, counts and values, without thresholds."""
    names = ("child", "column", "n_rows", "weight", "node_values", "gain", "ties", "reason")
    return [getattr(tree, name).tobytes() for name in names]


def whole(tree: Any) -> list[bytes]:
    return [tree.nodes.tobytes(), tree.tables.tobytes(), tree.words.tobytes(), *sides(tree)]


MAPS = {
    "cubed": lambda x: x**3,
    "exponential": np.exp,
    "tiny": lambda x: x * 1e-300,
    "huge": lambda x: x * 1e300,
    "far away": lambda x: x + 1e12,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "next floats": lambda x: 1 + x * 2.0**-52,
    "infinite at the top": lambda x: np.where(x == 4, np.inf, x),
}


@pytest.mark.parametrize("name", MAPS)
@examples(15)
@given(data=st.data())
def test_monotone_maps_keep_the_partition(name: str, data: st.DataObject) -> None:
    X, y = data.draw(tables())
    given_options = options(data.draw) | {"max_bins": data.draw(st.sampled_from([None, 16]))}
    plain = model(**given_options).fit(X, y)
    mapped = X.copy()
    column = data.draw(st.integers(0, X.shape[1] - 1))
    mapped[:, column] = MAPS[name](X[:, column])
    other = model(**given_options).fit(mapped, y)
    assert sides(plain.tree_) == sides(other.tree_)
    np.testing.assert_array_equal(plain.apply(X), other.apply(mapped))


@EXAMPLES
@given(data=st.data())
def test_dtypes_give_the_same_tree(data: st.DataObject) -> None:
    X, y = data.draw(tables(with_missing=False))
    given_options = options(data.draw)
    plain = model(**given_options).fit(X, y)
    for dtype in (np.int64, np.float32, np.int8):
        other = model(**given_options).fit(X.astype(dtype), y)
        assert sides(plain.tree_) == sides(other.tree_)
        np.testing.assert_array_equal(plain.apply(X), other.apply(X.astype(dtype)))
    shifted = model(**given_options).fit((X + 4).astype(np.uint64), y)
    assert sides(plain.tree_) == sides(shifted.tree_)


@EXAMPLES
@given(data=st.data())
def test_ordinal_categories_are_ordered_numbers(data: st.DataObject) -> None:
    X, y = data.draw(tables())
    given_options = options(data.draw) | {"max_bins": None}
    codes = X[:, :1]
    plain = model(**given_options).fit(codes, y)
    words = [f"w{int(k) + 4}" if k == k else None for k in codes[:, 0]]
    categories = [f"w{k}" for k in range(9)]
    rows = Table.of([{"x": word} for word in words], kinds={"x": categories})
    ordinal = model(**given_options).fit(rows, y)
    assert sides(plain.tree_) == sides(ordinal.tree_)


# Weights


@EXAMPLES
@given(data=st.data())
def test_integer_weights_equal_repetition(data: st.DataObject) -> None:
    X, y = data.draw(tables())
    given_options = options(data.draw) | {"min_samples_leaf": 1}
    times = data.draw(arrays(np.int64, len(X), elements=st.integers(0, 4)))
    assume(set(y[times > 0]) == set(y))  # a class of weight zero stays, without rows
    weighted = model(**given_options).fit(X, y, times).tree_
    repeated = model(**given_options).fit(X.repeat(times, axis=0), y.repeat(times)).tree_
    assert weighted.nodes.tobytes() == repeated.nodes.tobytes()
    for name in ("weight", "node_values", "impurity", "gain", "ties"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name))


@EXAMPLES
@given(data=st.data())
def test_rows_of_zero_weight_are_ignored(data: st.DataObject) -> None:
    X, y = data.draw(tables())
    given_options = options(data.draw)
    w = data.draw(arrays(np.float64, len(X), elements=st.sampled_from([0.0, 0.0, 1.0, 0.3, 7.0])))
    assume(set(y[w > 0]) == set(y))  # a class of weight zero stays, without rows
    all_rows = model(**given_options).fit(X, y, w)
    kept = model(**given_options).fit(X[w > 0], y[w > 0], w[w > 0])
    assert whole(all_rows.tree_) == whole(kept.tree_)
    if hasattr(kept, "classes_"):
        np.testing.assert_array_equal(all_rows.classes_, kept.classes_)


@EXAMPLES
@given(data=st.data())
def test_row_order_does_not_matter(data: st.DataObject) -> None:
    X, y = data.draw(tables())
    given_options = options(data.draw)
    w = data.draw(st.sampled_from([None, np.linspace(0.1, 3, len(X))]))
    order = np.array(data.draw(st.permutations(range(len(X)))))
    plain = model(**given_options).fit(X, y, w)
    other = model(**given_options).fit(X[order], y[order], None if w is None else w[order])
    assert whole(plain.tree_) == whole(other.tree_)


@EXAMPLES
@given(data=st.data())
def test_category_names_do_not_matter(data: st.DataObject) -> None:
    """Ties depend on the order of categories, so the new names keep it."""
    X, y = data.draw(tables())
    given_options = options(data.draw) | {
        "splits": data.draw(st.sampled_from(["binary", "multiway"]))
    }
    frames = [
        [{"x": None if v != v else f"{stem}{int(v) + 5}"} for v in X[:, 0]] for stem in ("a", "zz")
    ]
    trees = [model(**given_options).fit(frame, y).tree_ for frame in frames]
    assert whole(trees[0]) == whole(trees[1])


# Predictions


@EXAMPLES
@given(data=st.data())
def test_probabilities_sum_to_one(data: st.DataObject) -> None:
    X, y = data.draw(tables())
    given_options = options(data.draw)
    given_options["criterion"] = data.draw(st.sampled_from(CRITERIA[:4]))
    leaf = data.draw(st.sampled_from(["plain", "laplace", "m_estimate"]))
    w = data.draw(arrays(np.float64, len(X), elements=st.floats(1e-6, 1e6)))
    fitted = model(**given_options, leaf_probability=leaf).fit(X, y, w)
    other = np.array(data.draw(tables())[0][:, :1]).repeat(X.shape[1], axis=1)
    for rows in (X, other):
        fractions = fitted.predict_proba(rows)
        np.testing.assert_allclose(fractions.sum(axis=1), 1.0, rtol=1e-12)
        assert (fractions >= 0).all()
        assert fractions.shape == (len(rows), len(fitted.classes_))


@EXAMPLES
@given(data=st.data())
def test_training_impurity_decreases_with_depth(data: st.DataObject) -> None:
    X, y = data.draw(tables(maximum=60))
    given_options = options(data.draw)
    last = np.inf
    for depth in (1, 2, 3, 5, None):
        tree = model(**given_options, max_depth=depth).fit(X, y).tree_
        leaf = tree.is_leaf
        left = float((tree.weight * tree.impurity)[leaf].sum() / tree.weight[0])
        assert left <= last + 1e-12
        last = left
    assert (tree.gain >= 0).all()


@EXAMPLES
@given(data=st.data())
def test_full_tree_separates_distinct_rows(data: st.DataObject) -> None:
    X, y = data.draw(tables())
    criterion = data.draw(st.sampled_from(CRITERIA))
    fitted = model(criterion, missing="branch").fit(X, y)
    rows = [tuple("missing" if v != v else v for v in row) for row in X]
    agree = {row: {k for other, k in zip(rows, y, strict=True) if other == row} for row in rows}
    clear = np.array([len(agree[row]) == 1 for row in rows])
    np.testing.assert_array_equal(fitted.predict(X)[clear], y[clear])
