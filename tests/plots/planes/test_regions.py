"""Tests of decision regions: predictions of the model, and thresholds of a tree."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from ceiba import DecisionTreeClassifier, datasets
from ceiba.data import Table
from ceiba.plots.planes.regions import regions
from ceiba.plots.planes.section import LeafBoxes, Section
from ceiba.plots.style import INK, PALETTE
from tests.budget import examples
from tests.plots.mixtures.figures import inside

RGB = np.array([to_rgb(color) for color in PALETTE])
WHITE = np.ones(3)
# Every kind of split, and every policy for missing values.
GROWN = [
    {}, {"max_bins": 6}, {"splits": "multiway", "missing": "branch"}, {"algorithm": "id3"},
    {"splits": "intervals", "n_intervals": 4}, {"missing": "majority", "thresholds": "mean"},
    {"missing": "fractional"}, {"missing": "surrogate"},
]  # fmt: skip


def plane(n=120, seed=0, classes=3):
    """Return rows of two columns whose classes depend on both."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    return X, np.digitize(X[:, 0] + np.sin(3 * X[:, 1]), np.linspace(-0.8, 0.8, classes - 1))


def mixed(n=200, seed=0):
    """Return floats, integers, nominal and ordinal categories, with missing values."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "width": random.normal(size=n),
            "color": random.choice(["red", "green", "blue"], size=n),
            "height": random.integers(0, 30, size=n),
            "size": pd.Categorical(
                random.choice(["S", "M", "L"], size=n), categories=["S", "M", "L"], ordered=True
            ),
            "age": random.random(n),
        }
    )
    signal = frame["width"] + frame["height"] / 10 + (frame["color"] == "red") + frame["age"]
    y = np.where(signal + 0.8 * (frame["size"] == "L") > np.median(signal), "yes", "no")
    for name in ("width", "color", "size", "age"):
        frame.loc[random.random(n) < 0.1, name] = None
    return frame, y


def path_box(tree, leaf, shown, low, high):
    """Return the limits of a leaf in the shown columns, from the leaf to the root."""
    low, high = np.array(low), np.array(high)
    node = leaf
    while node:
        above = tree.parent[node]
        axis = shown.index(tree.column[above]) if tree.column[above] in shown else None
        if axis is not None and node == tree.child[above]:
            high[axis] = min(high[axis], tree.threshold[above])
        elif axis is not None:
            low[axis] = max(low[axis], tree.threshold[above])
        node = above
    return low, high


def pale_mix(weights):
    """Return the colors of regions by class probabilities."""
    weights = np.asarray(weights, float)
    return 0.38 * weights @ RGB[: weights.shape[1]] + 0.62 * WHITE


def boxes_of(ax):
    (drawn,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    corners = np.array([path.vertices[:4] for path in drawn.get_paths()])
    return corners, drawn


def color_at(ax, points):
    """Return the color of the rectangle of each point; upper edges belong to it."""
    corners, drawn = boxes_of(ax)
    low, high = corners.min(axis=1), corners.max(axis=1)
    inside_box = ((points[:, None] > low) & (points[:, None] <= high)).all(axis=2)
    np.testing.assert_array_equal(inside_box.sum(axis=1), 1)
    return drawn.get_facecolor()[inside_box.argmax(axis=1), :3]


def random_points(ax, n=400, seed=1):
    """Return random points in the visible region."""
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    return np.random.default_rng(seed).uniform((x0, y0), (x1, y1), (n, 2))


@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"max_bins": 8}], ids=str)
def test_rectangles_have_the_color_of_the_prediction(options, classes):
    X, y = plane(classes=classes)
    model = DecisionTreeClassifier(**options).fit(X, y)
    ax = regions(model, X, y).axes[0]
    points = random_points(ax)
    weights = np.eye(classes)[model.predict(points)]
    np.testing.assert_allclose(color_at(ax, points), pale_mix(weights), atol=1e-9)


def test_rectangles_end_at_the_thresholds_on_their_paths():
    X, y = plane()
    tree = DecisionTreeClassifier().fit(X, y).tree_
    low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
    boxes = LeafBoxes.of(tree, low, high, (0, 1))
    assert sorted(boxes.leaves) == np.flatnonzero(tree.is_leaf).tolist()
    for leaf, *box in zip(boxes.leaves, boxes.low, boxes.high, strict=True):
        np.testing.assert_array_equal(box, path_box(tree, leaf, (0, 1), low, high))
    areas = (boxes.high - boxes.low).prod(axis=1)
    np.testing.assert_allclose(areas.sum(), (high - low).prod())


def test_edges_are_those_of_the_leaves():
    X, y = plane()
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    with_edges, without = (regions(model, X, y, edges=e).axes[0] for e in (True, False))
    corners, drawn = boxes_of(with_edges)
    assert len(corners) == model.tree_.n_leaves
    assert drawn.get_linewidth()[0] > 0
    assert boxes_of(without)[1].get_linewidth()[0] == 0
    x0, x1 = with_edges.get_xlim()
    inner = model.tree_.column == 0
    found = np.unique(corners[:, :, 0])
    np.testing.assert_allclose(found, np.unique([x0, x1, *model.tree_.threshold[inner]]))


@examples(40)
@given(
    seed=st.integers(0, 10_000),
    options=st.sampled_from(GROWN),
    shown=st.permutations(["width", "height", "age"]),
)
def test_boxes_are_the_leaves_of_rows_in_the_section(seed, options, shown):
    frame, y = mixed(120, seed)
    model = DecisionTreeClassifier(**options).fit(frame, y)
    section = Section.of(model, frame, shown[:2])
    boxes = section.boxes(model.tree_)
    # The corners, and random points between them.
    random = np.random.default_rng(seed)
    between = boxes.high - random.random(boxes.high.shape) * (boxes.high - boxes.low) * 0.999
    for points in (boxes.high, between):
        np.testing.assert_array_equal(model.apply(section.rows(points)), boxes.leaves)
    np.testing.assert_allclose(
        (boxes.high - boxes.low).prod(axis=1).sum(), (section.high - section.low).prod()
    )


def test_other_columns_are_fixed_at_their_median_or_mode():
    frame, y = mixed()
    model = DecisionTreeClassifier(max_depth=4).fit(frame, y)
    section = Section.of(model, frame, ["width", "height"])
    ages = np.sort(frame["age"].dropna())
    fixed = section.rows(np.array([[0.5, 3.0]]))
    assert fixed.column(4).tolist() == [ages[(len(ages) - 1) // 2]]
    categories = fixed.schema[1].categories
    assert categories[fixed.column(1)[0]] == frame["color"].value_counts().index[0]
    assert (fixed.column(0).tolist(), fixed.column(2).tolist()) == ([0.5], [3.0])
    known = frame["size"].cat.codes[frame["size"].notna()].to_numpy()
    assert fixed.column(3).tolist() == [np.sort(known)[(len(known) - 1) // 2]]


def test_title_lists_fixed_columns():
    frame, y = mixed()
    model = DecisionTreeClassifier(max_depth=4).fit(frame, y)
    ax = regions(model, frame, y, columns=["width", "height"]).axes[0]
    color = frame["color"].value_counts().index[0]
    title = ax.get_title(loc="left")
    assert f"fixed: color = {color}, size = M, age = 0." in title
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    cleveland = datasets.load("cleveland")
    model = DecisionTreeClassifier(max_depth=3).fit(cleveland.table, cleveland.y)
    title = regions(model, cleveland.table).axes[0].get_title(loc="left")
    assert title.endswith("\n11 other columns fixed at the median or most frequent category")
    X, y = plane()
    title = regions(DecisionTreeClassifier().fit(X, y), X, y).axes[0].get_title(loc="left")
    assert title == "DecisionTreeClassifier, 120 rows"


def test_title_formats_fixed_times():
    X, y = plane(31)
    day = pd.to_timedelta(np.arange(31), "D")
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(
        born=pd.Timestamp("2000-01-01") + day, old=day
    )
    model = DecisionTreeClassifier().fit(frame, y)
    ax = regions(model, frame, y, columns=["a", "b"]).axes[0]
    assert ax.get_title(loc="left").endswith("fixed: born = 2000-01-16, old = 15 days")


def test_default_columns_are_the_most_important():
    iris = datasets.load("iris")
    model = DecisionTreeClassifier().fit(iris.table, iris.y)
    best = sorted(np.argsort(-model.feature_importances_)[:2])
    ax = regions(model, iris.table).axes[0]
    assert [ax.get_xlabel(), ax.get_ylabel()] == [iris.feature_names[j] for j in best]
    ax = regions(model, iris.table, columns=(1, iris.feature_names[0])).axes[0]
    assert [ax.get_xlabel(), ax.get_ylabel()] == iris.feature_names[1::-1]
    knn = KNeighborsClassifier().fit(iris.X, iris.y)
    ax = regions(knn, iris.X, resolution=5).axes[0]
    assert [ax.get_xlabel(), ax.get_ylabel()] == ["x0", "x1"]


@pytest.mark.parametrize("probabilities", [False, True])
def test_grid_shows_the_predictions_of_other_classifiers(probabilities):
    X, y = plane()
    model = KNeighborsClassifier(7).fit(X, y)
    ax = regions(model, X, y, resolution=20, probabilities=probabilities).axes[0]
    (image,) = ax.images
    x0, x1, y0, y1 = image.get_extent()
    assert ((x0, x1), (y0, y1)) == (ax.get_xlim(), ax.get_ylim())
    row, column = np.divmod(np.arange(400), 20)
    points = np.stack([x0 + (x1 - x0) * (column + 0.5) / 20, y0 + (y1 - y0) * (row + 0.5) / 20], 1)
    weights = model.predict_proba(points) if probabilities else np.eye(3)[model.predict(points)]
    np.testing.assert_allclose(image.get_array()[row, column], pale_mix(weights), atol=1e-9)


def test_probabilities_mix_the_colors_of_a_tree():
    X, y = plane()
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    ax = regions(model, X, y, probabilities=True).axes[0]
    points = random_points(ax)
    np.testing.assert_allclose(
        color_at(ax, points), pale_mix(model.predict_proba(points)), atol=1e-9
    )


def test_scikit_learn_models_get_their_container():
    frame, y = mixed()
    numbers = frame[["width", "height", "age"]].fillna(0.0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # about names of features
        ax = regions(model, numbers, y, columns=["age", "width"], resolution=30).axes[0]
    row, column = 3, 17
    x0, x1, y0, y1 = ax.images[0].get_extent()
    point = {"width": y0 + (y1 - y0) * 3.5 / 30, "age": x0 + (x1 - x0) * 17.5 / 30}
    middle = np.sort(numbers["height"])[(len(numbers) - 1) // 2]
    row_frame = pd.DataFrame([{**point, "height": middle}])[list(numbers)]
    predicted = np.eye(2)[list(model.classes_).index(model.predict(row_frame)[0])]
    np.testing.assert_allclose(
        ax.images[0].get_array()[row, column], pale_mix([predicted])[0], atol=1e-9
    )


def test_rows_have_the_color_of_their_class():
    X, y = plane()
    names = np.array(["low", "middle", "top"])[y]
    model = DecisionTreeClassifier(max_depth=2).fit(X, names)
    ax = regions(model, X, names).axes[0]
    _, *classes, wrong = ax.collections
    for point, (label, points) in enumerate(zip(model.classes_, classes, strict=True)):
        np.testing.assert_array_equal(points.get_offsets(), X[names == label])
        np.testing.assert_allclose(points.get_facecolor()[0, :3], RGB[point])
    missed = model.predict(X) != names
    np.testing.assert_array_equal(wrong.get_offsets(), X[missed])
    np.testing.assert_allclose(wrong.get_facecolor()[:, :3], RGB[y[missed]])
    np.testing.assert_allclose(wrong.get_edgecolor()[0, :3], to_rgb(INK))
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[-1] == f"misclassified  ({missed.sum()} rows)"
    assert texts[0] == f"low  ({(names == 'low').sum()} rows)"


def test_without_classes_rows_are_gray():
    X, y = plane()
    ax = regions(DecisionTreeClassifier().fit(X, y), X).axes[0]
    _, points = ax.collections
    np.testing.assert_array_equal(points.get_offsets(), X)
    assert ax.get_legend() is None


def test_rows_with_a_missing_shown_value_are_omitted():
    X, y = plane()
    X[:7, 0], X[5:9, 1] = np.nan, np.nan
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    ax = regions(model, X, y).axes[0]
    assert ax.get_title(loc="left").endswith("120 rows (111 drawn)")
    drawn = np.concatenate([points.get_offsets() for points in ax.collections[1:4]])
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, X[9:]))


def test_split_of_missing_values_shows_the_observed_side():
    X = np.array([[np.nan, 0.0]] * 5 + [[float(i), float(i % 2)] for i in range(6)])
    y = np.array([1] * 5 + [0] * 6)
    model = DecisionTreeClassifier().fit(X, y)
    assert np.isinf(model.tree_.threshold[0])
    boxes = Section.of(model, X).boxes(model.tree_)
    assert boxes.leaves.tolist() == model.apply([[1.0, 0.0]]).tolist()


def test_large_tables_are_sampled():
    X, y = plane(300)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)

    def drawn(**options):
        ax = regions(model, X, max_points=40, **options).axes[0]
        return ax, ax.collections[1].get_offsets()

    ax, first = drawn()
    assert len(first) == 40
    assert ax.get_title(loc="left").endswith("300 rows (40 drawn)")
    assert not np.array_equal(first, drawn(random_state=1)[1])


def test_given_axes_are_used():
    X, y = plane()
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert regions(DecisionTreeClassifier().fit(X, y), X, y, ax=right) is figure
    assert right.collections
    assert not left.collections


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (SklearnTree(), {"edges": True}, "requires a tree of Ceiba"),
        (SklearnTree(), {"resolution": 1}, "resolution must be at least 2"),
        (DecisionTreeClassifier(), {"resolution": 50}, "no effect with a tree of Ceiba"),
        (DecisionTreeClassifier(), {"columns": ["x0"]}, "columns must be 2 names"),
        (DecisionTreeClassifier(), {"columns": "x0"}, "columns must be 2 names"),
        (DecisionTreeClassifier(), {"columns": ["x0", 0]}, "2 different columns"),
        (DecisionTreeClassifier(), {"columns": ["x0", 9]}, "from 0 to 1, got 9"),
        (DecisionTreeClassifier(), {"columns": ["x0", "z"]}, "got 'z'"),
        (DecisionTreeClassifier(), {"columns": ["x0", "x_1"]}, r"Did you mean 'x1'\?"),
        (DecisionTreeClassifier(), {"max_points": 0}, "max_points must be at least 1, got 0"),
        (DecisionTreeClassifier(), {"y": [7] * 120}, "unknown class 7"),
        (DecisionTreeClassifier(), {"y": [0]}, "120 rows in X, 1 in y"),
    ],
)
def test_invalid_options_raise(model, options, message):
    X, y = plane()
    with pytest.raises(ValueError, match=message):
        regions(model.fit(X, y), X, **options)


def test_columns_that_are_not_numeric_raise():
    frame, y = mixed()
    frame["born"] = pd.Timestamp("2000-01-01") + pd.to_timedelta(np.arange(len(frame)), "D")
    model = DecisionTreeClassifier(max_depth=2).fit(frame, y)
    with pytest.raises(ValueError, match="'color' is nominal: choose among 'width'"):
        regions(model, frame, columns=["width", "color"])
    with pytest.raises(ValueError, match="'born' is temporal"):
        regions(model, frame, columns=["width", "born"])
    few = frame[["color", "width"]]
    with pytest.raises(ValueError, match="at least 2 numeric columns, got 1"):
        regions(DecisionTreeClassifier().fit(few, y), few)


def test_tables_without_observed_values_raise():
    frame, y = mixed()
    model = DecisionTreeClassifier(max_depth=2).fit(frame, y)
    empty = frame.assign(age=np.nan)
    with pytest.raises(ValueError, match="'age' has no observed value"):
        regions(model, empty, columns=["width", "height"])
    with pytest.raises(ValueError, match="without missing values in the shown columns"):
        regions(model, empty, columns=["width", "age"])
    X, y = plane()
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        regions(DecisionTreeClassifier().fit(X, y), X)


def test_nothing_is_clipped():
    frame, y = mixed()
    model = DecisionTreeClassifier().fit(frame, y)
    assert inside(regions(model, frame, y, columns=["width", "height"], edges=True))


def test_integers_and_float32_are_drawn_at_their_thresholds():
    random = np.random.default_rng(3)
    whole, single = random.integers(0, 9, 80), random.random(80).astype(np.float32)
    frame = pd.DataFrame({"a": whole, "b": single})
    y = (whole > 4) ^ (single > 0.5)
    model = DecisionTreeClassifier().fit(frame, y)
    ax = regions(model, frame, y).axes[0]
    drawn = np.column_stack([whole, single]).astype(float)
    predicted = np.eye(2)[model.predict(frame).astype(int)]
    np.testing.assert_allclose(color_at(ax, drawn), pale_mix(predicted), atol=1e-9)
    assert Table.of(frame).schema[0].dtype == "int64"
