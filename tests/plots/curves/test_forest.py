"""Tests of the out-of-bag curve and of permutation importance."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from ceiba import RandomForestClassifier, RandomForestRegressor, plots
from ceiba.ensemble.forest.oob import OobCurve, PermutationImportance
from ceiba.plots.style import ACCENT, INK, PALETTE
from tests.plots.mixtures.figures import inside


def curve(error=None, total=30, **changes):
    """Return a decreasing curve; every row has been out of bag from tree 11 on."""
    trees = np.arange(1, 41)
    error = 0.1 + 0.3 / trees if error is None else error
    record = {
        "n_trees": trees,
        "error": error,
        "lower": error - 0.02,
        "upper": error + 0.03,
        "n_rows": np.minimum(trees + total - 11, total),
        "confidence_level": 0.9,
        "measure": "error rate",
    }
    return OobCurve(**{**record, **changes})


def settled(enough):
    """Return a curve that jumps to its last value at so many trees."""
    return curve(np.where(np.arange(1, 41) < enough, 0.5, 0.1))


def importances(**changes):
    """Return seven columns, of which the second and the fifth are above their bands."""
    record = {
        "feature_names": ["noise", "age", "month", "constant", "dose", "$height$", "noise 2"],
        "importances": np.array([0.01, 0.3, -0.02, 0.0, 0.12, 0.04, -0.005]),
        "standard_errors": np.linspace(0.01, 0.02, 7),
        "null_band": np.array([0.02, 0.05, 0.03, 0.02, 0.1, 0.05, 0.01]),
        "confidence_level": 0.95,
        "measure": "error rate",
        "n_repeats": 1,
    }
    return PermutationImportance(**{**record, **changes})


def texts(ax):
    return [text.get_text() for text in ax.texts]


# Out-of-bag curve


def test_curve_is_drawn_whole_and_dashed_before_all_rows_were_out_of_bag():
    record = curve()
    ax = plots.oob_curve(record).axes[0]
    dashed, whole = ax.lines[:2]
    assert dashed.is_dashed()
    assert not whole.is_dashed()
    np.testing.assert_array_equal(dashed.get_xdata(), record.n_trees[:11])
    np.testing.assert_array_equal(whole.get_xdata(), record.n_trees[10:])
    drawn = np.concatenate([dashed.get_ydata(), whole.get_ydata()[1:]])
    np.testing.assert_array_equal(drawn, record.error)
    assert "dashed: not every row has been out of bag" in ax.get_xlabel()


def test_curve_of_rows_that_were_all_out_of_bag_has_no_dashes():
    ax = plots.oob_curve(curve(n_rows=np.full(40, 30))).axes[0]
    assert ax.get_xlabel() == "trees"
    assert len(ax.lines[0].get_xdata()) == 1


def test_band_lies_between_low_and_high():
    record = curve()
    ax = plots.oob_curve(record).axes[0]
    (band,) = (c for c in ax.collections if c.get_gid() == "band")
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
    for edge in (record.lower, record.upper):
        assert set(zip(record.n_trees, edge, strict=True)) <= corners
    assert ax.get_ylabel() == "error rate, 90% band"


@pytest.mark.parametrize(
    ("enough", "text"),
    [(12, "12 trees are enough"), (1, "1 tree is enough"), (20, "20 trees are enough")],
)
def test_enough_trees_are_marked(enough, text):
    record = settled(enough)
    assert record.n_trees_sufficient == enough
    picture = plots.oob_curve(record)
    ax = picture.axes[0]
    assert texts(ax) == [text]
    (dot,) = (line for line in ax.lines if line.get_markersize() == 8)
    assert (dot.get_xdata(), dot.get_ydata()) == (enough, record.error[enough - 1])
    assert dot.get_color() == ACCENT
    assert inside(picture)


def test_dotted_lines_are_one_standard_error_from_the_last_value():
    record = curve()
    lines = [x for x in plots.oob_curve(record).axes[0].lines if x.get_gid() == "tolerance"]
    ends = [line.get_ydata()[0] for line in lines]
    np.testing.assert_allclose(ends, record.error[-1] + record.standard_error * np.array([-1, 1]))


def test_unsettled_curve_is_noted():
    record = settled(30)
    assert record.n_trees_sufficient is None
    ax = plots.oob_curve(record).axes[0]
    assert texts(ax) == ["not settled after 40 trees"]
    assert not any(line.get_markersize() == 8 for line in ax.lines)


def test_trees_before_any_out_of_bag_row_are_omitted():
    record = curve()
    for name in ("error", "lower", "upper"):
        getattr(record, name)[:3] = np.nan
    ax = plots.oob_curve(record).axes[0]
    assert ax.lines[0].get_xdata()[0] == 4
    assert ax.get_title(loc="right") == f"{record.error[-1]:.4g} with 40 trees"
    record.error[:] = np.nan
    with pytest.raises(ValueError, match="No row was out of bag"):
        plots.oob_curve(record)


def test_missing_curve_error_names_the_option():
    with pytest.raises(TypeError, match=r"fitted with oob_score=True.* got SimpleNamespace"):
        plots.oob_curve(SimpleNamespace(trees=3))


# Importance


def test_columns_are_sorted_and_noise_is_gray():
    picture = plots.importance(importances())
    ax = picture.axes[0]
    labels = ax.get_yticklabels()
    names = ["age", "dose", "$height$", "noise", "constant", "noise 2", "month"]
    assert [label.get_text() for label in labels] == names
    assert [label.get_color() == INK for label in labels] == [True] * 2 + [False] * 5
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first is at the top
    assert ax.get_title(loc="right") == "2 of 7 columns above the band"
    assert inside(picture)


def test_dots_are_at_the_values_with_their_errors():
    record = importances()
    ax = plots.importance(record).axes[0]
    strong, weak = (container for container in ax.containers)
    assert strong.lines[0].get_xdata().tolist() == [0.3, 0.12]
    assert to_hex(strong.lines[0].get_markerfacecolor()) == PALETTE[0].lower()
    assert to_hex(weak.lines[0].get_markerfacecolor()) == "#ffffff"
    order = np.argsort(-record.importances, kind="stable")
    np.testing.assert_array_equal(weak.lines[0].get_xdata(), record.importances[order[2:]])
    bars = [path.vertices[:, 0] for path in weak.lines[2][0].get_paths()]
    spread = record.standard_errors[order[2:], None] * [-1, 1]
    np.testing.assert_allclose(bars, record.importances[order[2:], None] + spread)


def test_every_column_has_its_own_band():
    record = importances()
    ax = plots.importance(record).axes[0]
    corners = ax.collections[0].get_paths()[0].vertices
    for line, column in enumerate(np.argsort(-record.importances, kind="stable")):
        for height in (line - 0.5, line + 0.5):
            for side in (-1, 1):
                corner = side * record.null_band[column], height
                assert np.isclose(corners, corner).all(axis=1).any()


def test_only_the_most_important_columns_are_drawn():
    ax = plots.importance(importances(), max_columns=3).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["age", "dose", "$height$"]
    assert ax.get_title(loc="right") == "2 of 7 columns above the band, 3 drawn"


def test_all_noise_is_all_gray():
    ax = plots.importance(importances(null_band=np.full(7, 0.4))).axes[0]
    assert len(ax.containers) == 1
    assert not any(label.get_color() == INK for label in ax.get_yticklabels())


def test_missing_importance_raises():
    with pytest.raises(TypeError, match=r"importance=True.*oob_importance\(X, y\)"):
        plots.importance(SimpleNamespace())
    with pytest.raises(ValueError, match="max_columns must be at least 1"):
        plots.importance(importances(), max_columns=0)
    with pytest.raises(ValueError, match="single row has no null band"):
        plots.importance(importances(null_band=np.full(7, np.inf)))


# Both, and fitted forests


def test_given_axes_are_used():
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plots.oob_curve(curve(), ax=axes[0]) is figure
    assert plots.importance(importances(), ax=axes[1]) is figure
    assert all(ax.has_data() for ax in axes)
    assert axes[1].get_legend() is not None


@pytest.fixture(scope="module")
def forest():
    """Fit a forest to two relevant columns and two of noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    y = X[:, 0] + X[:, 2] + 0.3 * random.normal(size=200) > 0
    return RandomForestClassifier(40, oob_score=True, importance=True).fit(X, y)


def test_curve_of_a_forest_ends_at_its_out_of_bag_error(forest):
    ax = plots.oob_curve(forest).axes[0]
    assert ax.lines[1].get_ydata()[-1] == pytest.approx(1 - forest.oob_score_)
    assert ax.lines[1].get_xdata()[-1] == 40


def test_noise_columns_of_a_forest_are_gray(forest):
    labels = plots.importance(forest).axes[0].get_yticklabels()
    strong = {label.get_text() for label in labels if label.get_color() == INK}
    assert strong == {"x0", "x2"}


def test_regression_forests_are_drawn():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 3))
    y = X[:, 1] + 0.2 * random.normal(size=150)
    model = RandomForestRegressor(20, oob_score=True, importance=True).fit(X, y)
    assert plots.oob_curve(model).axes[0].get_ylabel() == "mean squared error, 95% band"
    ax = plots.importance(model).axes[0]
    assert ax.get_xlabel() == "increase of the out-of-bag mean squared error"
    assert ax.get_yticklabels()[0].get_text() == "x1"


def test_forest_without_records_raises():
    model = RandomForestClassifier(3).fit(np.arange(8.0)[:, None], [0, 1] * 4)
    with pytest.raises(TypeError, match="fit it with oob_score=True"):
        plots.oob_curve(model)
    with pytest.raises(TypeError, match="fit it with importance=True"):
        plots.importance(model)
