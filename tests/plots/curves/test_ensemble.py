"""Pictures of committees: the out-of-bag curve, importance with its band, margins."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from ceiba import RandomForestClassifier, RandomForestRegressor, plots
from ceiba.ensemble.forest.importance import PermutationImportance
from ceiba.ensemble.forest.oob import OobCurve
from ceiba.plots.style import ACCENT, INK, PALETTE
from tests.plots.mixtures.figures import inside


def curve(error=None, n_rows=30, **changes):
    """A curve that falls; every row has been out of bag from tree 11 on."""
    trees = np.arange(1, 41)
    error = 0.1 + 0.3 / trees if error is None else error
    record = {
        "trees": trees,
        "error": error,
        "low": error - 0.02,
        "high": error + 0.03,
        "rows": np.minimum(trees + n_rows - 11, n_rows),
        "level": 0.9,
        "measure": "error rate",
    }
    return OobCurve(**{**record, **changes})


def settled(enough):
    """A curve that jumps to its last value with so many trees."""
    return curve(np.where(np.arange(1, 41) < enough, 0.5, 0.1))


def importances(**changes):
    """Seven columns, of which the second and the fifth stand above their bands."""
    record = {
        "names": ["noise", "age", "month", "constant", "dose", "$height$", "noise 2"],
        "value": np.array([0.01, 0.3, -0.02, 0.0, 0.12, 0.04, -0.005]),
        "error": np.linspace(0.01, 0.02, 7),
        "band": np.array([0.02, 0.05, 0.03, 0.02, 0.1, 0.05, 0.01]),
        "level": 0.95,
        "measure": "error rate",
        "repeats": 1,
    }
    return PermutationImportance(**{**record, **changes})


def words(ax):
    return [text.get_text() for text in ax.texts]


# Out-of-bag curve


def test_curve_is_drawn_whole_and_dashed_before_all_rows_were_out_of_bag():
    record = curve()
    ax = plots.oob_curve(record).axes[0]
    dashed, whole = ax.lines[:2]
    assert dashed.is_dashed()
    assert not whole.is_dashed()
    np.testing.assert_array_equal(dashed.get_xdata(), record.trees[:11])
    np.testing.assert_array_equal(whole.get_xdata(), record.trees[10:])
    drawn = np.concatenate([dashed.get_ydata(), whole.get_ydata()[1:]])
    np.testing.assert_array_equal(drawn, record.error)
    assert "dashed: not every row has been out of bag" in ax.get_xlabel()


def test_curve_of_rows_that_were_all_out_of_bag_has_no_dashes():
    ax = plots.oob_curve(curve(rows=np.full(40, 30))).axes[0]
    assert ax.get_xlabel() == "trees"
    assert len(ax.lines[0].get_xdata()) == 1


def test_band_lies_between_low_and_high():
    record = curve()
    ax = plots.oob_curve(record).axes[0]
    (band,) = (c for c in ax.collections if c.get_gid() == "band")
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
    for edge in (record.low, record.high):
        assert set(zip(record.trees, edge, strict=True)) <= corners
    assert ax.get_ylabel() == "error rate, 90% band"


@pytest.mark.parametrize(
    ("enough", "said"),
    [(12, "12 trees are enough"), (1, "1 tree is enough"), (20, "20 trees are enough")],
)
def test_enough_trees_are_marked(enough, said):
    record = settled(enough)
    assert record.enough == enough
    picture = plots.oob_curve(record)
    ax = picture.axes[0]
    assert words(ax) == [said]
    (dot,) = (line for line in ax.lines if line.get_markersize() == 8)
    assert (dot.get_xdata(), dot.get_ydata()) == (enough, record.error[enough - 1])
    assert dot.get_color() == ACCENT
    assert inside(picture)


def test_strip_is_one_standard_error_about_the_last_value():
    record = curve()
    lines = [x for x in plots.oob_curve(record).axes[0].lines if x.get_gid() == "strip"]
    ends = [line.get_ydata()[0] for line in lines]
    np.testing.assert_allclose(ends, record.error[-1] + record.tolerance * np.array([-1, 1]))


def test_curve_that_has_not_settled_says_so():
    record = settled(30)
    assert record.enough is None
    ax = plots.oob_curve(record).axes[0]
    assert words(ax) == ["not settled after 40 trees"]
    assert not any(line.get_markersize() == 8 for line in ax.lines)


def test_trees_before_any_row_was_out_of_bag_are_left_out():
    record = curve()
    for name in ("error", "low", "high"):
        getattr(record, name)[:3] = np.nan
    ax = plots.oob_curve(record).axes[0]
    assert ax.lines[0].get_xdata()[0] == 4
    assert ax.get_title(loc="right") == f"{record.error[-1]:.4g} with 40 trees"
    record.error[:] = np.nan
    with pytest.raises(ValueError, match="no row was ever out of bag"):
        plots.oob_curve(record)


def test_without_a_curve_the_option_is_named():
    with pytest.raises(ValueError, match=r"SimpleNamespace has no curve.*oob_score=True"):
        plots.oob_curve(SimpleNamespace(trees=3))


# Importance


def test_columns_are_sorted_and_noise_is_grey():
    picture = plots.importance(importances())
    ax = picture.axes[0]
    labels = ax.get_yticklabels()
    names = ["age", "dose", "$height$", "noise", "constant", "noise 2", "month"]
    assert [label.get_text() for label in labels] == names
    assert [label.get_color() == INK for label in labels] == [True] * 2 + [False] * 5
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first stands at the top
    assert ax.get_title(loc="right") == "2 of 7 columns above the band"
    assert inside(picture)


def test_dots_stand_at_the_values_with_their_errors():
    record = importances()
    ax = plots.importance(record).axes[0]
    strong, quiet = (container for container in ax.containers)
    assert strong.lines[0].get_xdata().tolist() == [0.3, 0.12]
    assert to_hex(strong.lines[0].get_markerfacecolor()) == PALETTE[0].lower()
    assert to_hex(quiet.lines[0].get_markerfacecolor()) == "#ffffff"
    order = np.argsort(-record.value, kind="stable")
    np.testing.assert_array_equal(quiet.lines[0].get_xdata(), record.value[order[2:]])
    bars = [path.vertices[:, 0] for path in quiet.lines[2][0].get_paths()]
    spread = record.error[order[2:], None] * [-1, 1]
    np.testing.assert_allclose(bars, record.value[order[2:], None] + spread)


def test_band_is_each_columns_own():
    record = importances()
    ax = plots.importance(record).axes[0]
    corners = ax.collections[0].get_paths()[0].vertices
    for place, column in enumerate(np.argsort(-record.value, kind="stable")):
        for height in (place - 0.5, place + 0.5):
            for side in (-1, 1):
                wanted = side * record.band[column], height
                assert np.isclose(corners, wanted).all(axis=1).any()


def test_only_the_most_important_columns_are_drawn():
    ax = plots.importance(importances(), max_columns=3).axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["age", "dose", "$height$"]
    assert ax.get_title(loc="right") == "2 of 7 columns above the band, 3 drawn"


def test_all_noise_is_all_grey():
    ax = plots.importance(importances(band=np.full(7, 0.4))).axes[0]
    assert len(ax.containers) == 1
    assert not any(label.get_color() == INK for label in ax.get_yticklabels())


def test_importance_that_is_not_there_is_a_sentence():
    with pytest.raises(ValueError, match=r"importance=True.*oob_importance\(X, y\)"):
        plots.importance(SimpleNamespace())
    with pytest.raises(ValueError, match="max_columns=0"):
        plots.importance(importances(), max_columns=0)
    with pytest.raises(ValueError, match="single row has no band"):
        plots.importance(importances(band=np.full(7, np.inf)))


# Both, and of real forests


def test_given_axes_are_used():
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert plots.oob_curve(curve(), ax=axes[0]) is figure
    assert plots.importance(importances(), ax=axes[1]) is figure
    assert all(ax.has_data() for ax in axes)
    assert axes[1].get_legend() is not None


@pytest.fixture(scope="module")
def forest():
    """A forest of two columns that matter and two of noise."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    y = X[:, 0] + X[:, 2] + 0.3 * random.normal(size=200) > 0
    return RandomForestClassifier(40, oob_score=True, importance=True).fit(X, y)


def test_curve_of_a_forest_ends_at_its_out_of_bag_error(forest):
    ax = plots.oob_curve(forest).axes[0]
    assert ax.lines[1].get_ydata()[-1] == pytest.approx(1 - forest.oob_score_)
    assert ax.lines[1].get_xdata()[-1] == 40


def test_noise_columns_of_a_forest_are_grey(forest):
    labels = plots.importance(forest).axes[0].get_yticklabels()
    strong = {label.get_text() for label in labels if label.get_color() == INK}
    assert strong == {"x0", "x2"}


def test_forests_of_numbers_have_pictures():
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 3))
    y = X[:, 1] + 0.2 * random.normal(size=150)
    model = RandomForestRegressor(20, oob_score=True, importance=True).fit(X, y)
    assert plots.oob_curve(model).axes[0].get_ylabel() == "mean squared error, 95% band"
    ax = plots.importance(model).axes[0]
    assert ax.get_xlabel() == "growth of the out-of-bag mean squared error"
    assert ax.get_yticklabels()[0].get_text() == "x1"


def test_a_forest_without_records_is_told_the_option():
    model = RandomForestClassifier(3).fit(np.arange(8.0)[:, None], [0, 1] * 4)
    with pytest.raises(ValueError, match="fit the forest with oob_score=True"):
        plots.oob_curve(model)
    with pytest.raises(ValueError, match="fit the forest with importance=True"):
        plots.importance(model)
