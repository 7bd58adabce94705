"""The other pictures of the lecture: impurities, steps, partitions, surfaces, boundaries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor as TheirTree

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.inference import wilson
from ceiba.plots.planes.boundaries import boundaries
from ceiba.plots.planes.surface import partition, surface
from ceiba.plots.style import PALETTE, new_figure
from ceiba.plots.trees.impurity import impurity_curves
from ceiba.plots.trees.presets import presets
from ceiba.plots.trees.pruning import pruning_path, pruning_table
from ceiba.plots.trees.steps import steps
from ceiba.tree.compare.presets import compare_presets
from ceiba.tree.compare.pruning import PruningRow, PruningTable
from ceiba.tree.prune.cross_validation import AlphaChoice, geometric_means
from ceiba.tree.prune.path import ComplexityPath, complexity_path
from tests.plots.mixtures.figures import inside


def wave(n=80, seed=0):
    """A noisy sine along one column."""
    random = np.random.default_rng(seed)
    x = random.uniform(0, 6, n)
    return x[:, None], np.sin(x) + 0.2 * random.normal(size=n)


def hill(n=150, seed=0):
    """A noisy surface over two columns."""
    random = np.random.default_rng(seed)
    X = random.random((n, 2)) * (1, 50)
    return X, np.sin(5 * X[:, 0]) + (X[:, 1] / 50) ** 2 + 0.05 * random.normal(size=n)


def stairs(ax):
    return [patch for patch in ax.patches if isinstance(patch, StepPatch)]


# Impurity


def node_impurity(p):
    """Impurities of 1000 p rows of one class beside the others, counted row by row."""
    rows = np.repeat([0, 1], [round(1000 * p), 1000 - round(1000 * p)])
    shares = np.bincount(rows, minlength=2) / 1000
    bits = -sum(share * np.log2(share) for share in shares if share > 0)
    return {"gini": 1 - (shares**2).sum(), "entropy": bits, "error": 1 - shares.max()}


@pytest.mark.parametrize("scaled", [False, True])
def test_curves_are_the_impurities(scaled):
    ax = impurity_curves(scaled=scaled).axes[0]
    assert [line.get_gid() for line in ax.lines] == ["gini", "entropy", "error"]
    for line in ax.lines:
        factor = 0.5 if scaled and line.get_gid() == "entropy" else 1.0
        p, values = line.get_data()
        for place in (0, 30, 200, 310, 400):
            expected = factor * node_impurity(p[place])[line.get_gid()]
            assert values[place] == pytest.approx(expected, abs=2e-3)
        assert values[[0, -1]].tolist() == [0, 0]
        assert values.max() == values[200] == (1.0 if factor == 1 and values[200] > 0.6 else 0.5)


def test_curves_are_those_asked_for_in_their_own_colours():
    every, two = impurity_curves().axes[0], impurity_curves(["error", "gini"]).axes[0]
    assert [line.get_gid() for line in two.lines] == ["gini", "error"]
    colours = {line.get_gid(): line.get_color() for line in every.lines}
    assert [line.get_color() for line in two.lines] == [colours["gini"], colours["error"]]
    assert len(two.get_legend().get_texts()) == 2


@pytest.mark.parametrize("criteria", ["gini", [], ["gini", "twoing"]])
def test_impurities_that_do_not_exist_are_refused(criteria):
    with pytest.raises(ValueError, match=r"criteria=|'twoing' is no impurity"):
        impurity_curves(criteria)


# Steps


@pytest.mark.parametrize("options", [{}, {"max_depth": 3}, {"max_bins": 9}, {"max_leaf_nodes": 2}])
def test_steps_are_what_the_tree_predicts(options):
    x, y = wave()
    model = DecisionTreeRegressor(**options).fit(x, y)
    (drawn,) = stairs(steps(model, x, y).axes[0])
    values, edges, _ = drawn.get_data()
    assert sorted(edges[1:-1]) == sorted(model.tree_.threshold[~model.tree_.is_leaf])
    assert (np.diff(edges) > 0).all()
    everywhere = np.concatenate([edges[1:], (edges[1:] + edges[:-1]) / 2, x[:, 0]])
    at = np.searchsorted(edges[1:], everywhere)  # a threshold belongs to the step before it
    np.testing.assert_array_equal(values[at], model.predict(everywhere[:, None]))
    assert edges[0] < x.min()
    assert edges[-1] > x.max()


def test_rows_stand_under_the_steps():
    x, y = wave()
    x[:5] = np.nan
    model = DecisionTreeRegressor(max_depth=2).fit(x, y)
    (points,) = steps(model, x, y).axes[0].collections
    np.testing.assert_array_equal(points.get_offsets(), np.column_stack([x, y])[5:])
    (points,) = steps(model, x, y, max_points=10).axes[0].collections
    assert len(points.get_offsets()) == 10
    (others,) = steps(model, x, y, max_points=10, random_state=1).axes[0].collections
    assert not np.array_equal(points.get_offsets(), others.get_offsets())


def test_trees_stand_side_by_side_with_their_errors():
    x, y = wave()
    models = [DecisionTreeRegressor(max_depth=d).fit(x, y) for d in (1, 2, 3, 5)]
    figure = steps(models, x, y)
    assert len(figure.axes) == 4
    for ax, model in zip(figure.axes, models, strict=True):
        leaves, depth = model.get_n_leaves(), model.get_depth()
        assert ax.get_title(loc="left") == f"{leaves} leaves, depth {depth}"
        error = np.mean((model.predict(x) - y) ** 2)
        assert ax.get_title(loc="right") == f"MSE {error:.3g}"
        assert len(stairs(ax)[0].get_data()[0]) == leaves
        assert ax.get_ylim() == figure.axes[0].get_ylim()
    assert [ax.get_xlabel() for ax in figure.axes] == ["", "", "x0", "x0"]
    assert [ax.get_ylabel() for ax in figure.axes] == ["y", "", "y", ""]
    assert inside(figure)


@pytest.mark.parametrize("given_axes", [False, True])
def test_trees_lie_over_each_other(given_axes):
    x, y = wave()
    models = {f"to depth {d}": DecisionTreeRegressor(max_depth=d).fit(x, y) for d in (1, 3)}
    outer = Figure()
    left, right = outer.subplots(1, 2)
    figure = steps(models, x, y, **({"ax": right} if given_axes else {"overlay": True}))
    ax = right if given_axes else figure.axes[0]
    assert (figure is outer) == given_axes
    assert not left.patches
    assert [patch.get_edgecolor() for patch in stairs(ax)] == [
        patch.get_edgecolor() for patch in Figure().subplots().bar([0, 1], 1, edgecolor=PALETTE[:2])
    ]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    errors = [np.mean((model.predict(x) - y) ** 2) for model in models.values()]
    assert labels == [
        f"{name}  (MSE {error:.3g})" for name, error in zip(models, errors, strict=True)
    ]


def test_any_container_of_one_column_is_drawn():
    x, y = wave()
    frame = pd.DataFrame({"time": x[:, 0]})
    model = DecisionTreeRegressor(max_depth=3).fit(frame, y)
    for given in (frame, frame["time"], x[:, 0], x, x[:, 0].tolist(), x.tolist()):
        figure = steps(model, given, y)
        (points,) = figure.axes[0].collections
        np.testing.assert_array_equal(points.get_offsets(), np.column_stack([x, y]))
        assert figure.axes[0].get_xlabel() == "time"


def test_steps_of_whole_numbers():
    x = np.arange(12)
    y = np.array([3.0, 1.0, 4.0])[x // 4]
    model = DecisionTreeRegressor().fit(x[:, None], y)
    values, edges, _ = stairs(steps(model, x, y).axes[0])[0].get_data()
    assert values.tolist() == [3.0, 1.0, 4.0]
    assert (3 <= edges[1] < 4) & (7 <= edges[2] < 8)


def test_a_tree_without_a_split_is_one_level_line():
    x, y = wave()
    ax = steps(DecisionTreeRegressor().fit(x, np.full(len(x), 2.5)), x, y).axes[0]
    assert stairs(ax)[0].get_data()[0].tolist() == [2.5]
    assert ax.get_title(loc="left") == "1 leaf, depth 0"


def test_steps_on_a_given_figure():
    x, y = wave()
    model = DecisionTreeRegressor(max_depth=1).fit(x, y)
    left, right = new_figure(8, 3).subfigures(1, 2)
    assert steps([model, model], x, y, figure=right) is right
    assert len(right.axes) == 2
    assert not left.axes
    with pytest.raises(ValueError, match="either ax or figure"):
        steps(model, x, y, figure=right, ax=right.axes[0])


def test_what_has_no_steps_in_one_dimension_is_refused():
    x, y = wave()
    X, z = hill()
    with pytest.raises(ValueError, match="of a fitted regression tree of Ceiba, not of Decision"):
        steps(DecisionTreeClassifier().fit(x, y > 0), x, y)
    with pytest.raises(ValueError, match="regression tree of Ceiba"):
        steps(TheirTree().fit(x, y), x, y)
    with pytest.raises(ValueError, match=r"draw two with plots\.partition"):
        steps(DecisionTreeRegressor().fit(X, z), X, z)
    model = DecisionTreeRegressor(max_depth=2).fit(x, y)
    with pytest.raises(ValueError, match="no tree to draw"):
        steps([], x, y)
    with pytest.raises(ValueError, match="one panel tells 7 trees apart, not 8"):
        steps([model] * 8, x, y, overlay=True)
    with pytest.raises(ValueError, match="x has no value"):
        steps(model, np.full((3, 1), np.nan), y[:3])


# Two dimensions


@pytest.mark.parametrize("leaves", [2, 9, 40])
def test_rectangles_have_the_value_of_their_leaf(leaves):
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=leaves).fit(X, y)
    ax, bar = partition(model, X, y).axes
    drawn = next(c for c in ax.collections if isinstance(c, PolyCollection))
    corners = np.array([path.vertices[:4] for path in drawn.get_paths()])
    assert len(corners) == leaves
    inner = ~model.tree_.is_leaf
    for axis, seen in enumerate((ax.get_xlim(), ax.get_ylim())):
        cuts = model.tree_.threshold[inner & (model.tree_.column == axis)]
        np.testing.assert_array_equal(np.unique(corners[:, :, axis]), np.unique([*seen, *cuts]))
    middles = model.predict(corners.mean(axis=1))
    low, high = bar.get_ylim()
    np.testing.assert_allclose([low, high], [y.min(), y.max()])
    colours = drawn.get_facecolor()
    by_value = colours[np.argsort(middles, kind="stable")]
    # The colours grow lighter with the value.
    assert (np.diff(by_value[:, :3] @ (0.299, 0.587, 0.114)) > -2e-3).all()


def test_values_are_written_where_there_is_room():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=6).fit(X, y)
    ax = partition(model, X).axes[0]
    assert len(ax.texts) >= 4
    for text in ax.texts:
        assert text.get_text().replace("−", "-") == f"{model.predict([text.xy])[0]:.3g}"
    assert not partition(model, X, values=False).axes[0].texts
    crowded = DecisionTreeRegressor().fit(X, y)
    assert len(partition(crowded, X).axes[0].texts) < crowded.get_n_leaves() / 2


def test_rows_of_a_partition_have_the_colour_of_their_target():
    X, y = hill()
    model = DecisionTreeRegressor().fit(X, y)  # each row has a leaf of its own
    ax = partition(model, X, y, max_points=60).axes[0]
    rectangles, points = ax.collections
    assert len(points.get_offsets()) == 60
    corners = np.array([path.vertices[:4] for path in rectangles.get_paths()])
    for place, colour in zip(points.get_offsets(), points.get_facecolor(), strict=True):
        held = (place > corners.min(axis=1)).all(axis=1) & (place <= corners.max(axis=1)).all(
            axis=1
        )
        np.testing.assert_allclose(rectangles.get_facecolor()[held], [colour])
    assert ax.get_title(loc="left") == "DecisionTreeRegressor, 150 leaves, 150 rows (60 drawn)"
    assert len(partition(model, X).axes[0].collections) == 1


def test_more_columns_are_held_in_a_partition():
    X, y = hill()
    X = np.column_stack([X, np.arange(len(X)) % 5.0])
    model = DecisionTreeRegressor(max_depth=6).fit(X, y + (X[:, 2] > 3))
    ax = partition(model, X, columns=[1, 0]).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x0")
    title, held = ax.get_title(loc="left").split("\n")
    assert held == "held: x2 = 2"
    assert title.endswith(f"of {model.get_n_leaves()} seen")
    for text in ax.texts:
        place = [[text.xy[1], text.xy[0], 2.0]]
        assert text.get_text().replace("−", "-") == f"{model.predict(place)[0]:.3g}"


def faces_of(ax):
    """Corners of all faces of the surface, (n, 4, 3)."""
    (drawn,) = (c for c in ax.collections if isinstance(c, Poly3DCollection))
    return drawn._faces


def test_level_faces_of_the_surface_are_what_the_tree_predicts():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y)
    ax = surface(model, X).axes[0]
    faces = faces_of(ax)
    level = np.ptp(faces[:, :, 2], axis=1) == 0
    tops = faces[level]
    middles = tops.mean(axis=1)
    np.testing.assert_allclose(middles[:, 2], model.predict(middles[:, :2]))
    spans = np.ptp(tops[:, :, :2], axis=1)
    seen = np.ptp([ax.get_xlim(), ax.get_ylim()], axis=1)
    np.testing.assert_allclose(spans.prod(axis=1).sum(), seen.prod())


def test_upright_faces_of_the_surface_join_its_levels():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y)
    faces = faces_of(surface(model, X).axes[0])
    walls = faces[np.ptp(faces[:, :, 2], axis=1) > 0]
    assert len(walls)
    for wall in walls:
        axis = int(np.flatnonzero(np.ptp(wall[:, :2], axis=0) == 0)[0])
        step = np.eye(2)[axis] * 1e-9
        middle = wall[:, :2].mean(axis=0)
        both = model.predict([middle - step, middle + step])
        np.testing.assert_allclose(np.sort(both), [wall[:, 2].min(), wall[:, 2].max()])
        assert wall[0, axis] in model.tree_.threshold[model.tree_.column == axis]


def test_rows_stand_above_and_below_the_surface():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y)
    ax = surface(model, X, y).axes[0]
    below, above = (c for c in ax.collections if not isinstance(c, Poly3DCollection))
    high = y >= model.predict(X)
    for points, mine in ((below, ~high), (above, high)):
        np.testing.assert_allclose(np.column_stack(points._offsets3d), np.c_[X, y][mine])
    assert below.get_zorder() < faces_layer(ax) < above.get_zorder()
    assert "150 rows" in ax.get_title(loc="left")
    (c,) = surface(model, X).axes[0].collections
    assert isinstance(c, Poly3DCollection)


def faces_layer(ax):
    return next(c for c in ax.collections if isinstance(c, Poly3DCollection)).get_zorder()


def test_the_surface_is_seen_from_where_it_is_asked():
    X, y = hill()
    model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, y)
    figure = Figure()
    left, right = (figure.add_subplot(1, 2, k, projection="3d") for k in (1, 2))
    assert surface(model, X, elevation=11, azimuth=22, ax=right) is figure
    assert (right.elev, right.azim) == (11, 22)
    assert not left.collections
    with pytest.raises(ValueError, match='projection="3d"'):
        surface(model, X, ax=Figure().subplots())


@pytest.mark.parametrize("draw", [partition, surface])
def test_what_has_no_steps_in_two_dimensions_is_refused(draw):
    X, y = hill()
    with pytest.raises(ValueError, match=r"draw a classifier with plots\.regions"):
        draw(DecisionTreeClassifier().fit(X, y > 0), X)
    with pytest.raises(ValueError, match="regression tree of Ceiba"):
        draw(TheirTree().fit(X, y), X)
    with pytest.raises(ValueError, match="shows 2 numeric columns, and the table has 1"):
        draw(DecisionTreeRegressor().fit(X[:, :1], y), X[:, :1])


def test_a_surface_of_too_many_cells_is_refused():
    X, y = hill(1000)
    with pytest.raises(ValueError, match="too many for three dimensions"):
        surface(DecisionTreeRegressor().fit(X, y), X)


@pytest.mark.parametrize("draw", [partition, surface])
def test_a_tree_without_a_split_is_level(draw):
    X, y = hill()
    figure = draw(DecisionTreeRegressor().fit(X, np.ones(len(y))), X)
    assert figure.axes[0].get_title(loc="left") == "DecisionTreeRegressor, 1 leaf"
    assert inside(figure)


# Boundaries


def test_a_line_and_a_staircase():
    figure = boundaries(folds=5)
    axes = np.array(figure.axes).reshape(2, 2)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for line, name in zip(axes, ("linear_boundary", "nonlinear_boundary"), strict=True):
        X, y = datasets.load(name)
        assert [text.get_text() for text in line[0].texts] == [name]
        models = LogisticRegression(C=1e6, solver="newton-cholesky"), DecisionTreeClassifier()
        for ax, model in zip(line, models, strict=True):
            held_out = cross_val_score(model, X, y, cv=folds).mean()
            training = model.fit(X, y).score(X, y)
            said = f"training {training:.2f}\ncross-validated {held_out:.2f}"
            assert ax.get_title(loc="right") == said
        assert len(line[1].collections[0].get_paths()) == model.get_n_leaves() > 4
    assert [ax.get_title(loc="left") for ax in axes[0]] == ["logistic regression", "decision tree"]
    linear, tree = (ax.get_title(loc="right").split("\n")[0] for ax in axes[1])
    assert (linear, tree) == ("training 0.97", "training 1.00")
    assert inside(figure)


def test_other_tables_models_and_parts():
    moons = datasets.load("two_moons", n_rows=60)
    models = {"bayes": GaussianNB()}
    figures = [
        boundaries([moons, "xor"], models=models, folds=3, random_state=seed) for seed in (0, 1)
    ]
    titles = [[ax.get_title(loc="right") for ax in figure.axes] for figure in figures]
    assert len(titles[0]) == 2
    assert titles[0] != titles[1]
    assert not hasattr(models["bayes"], "classes_")  # clones are fitted
    left, right = new_figure(8, 4).subfigures(1, 2)
    assert boundaries(["xor"], models=models, folds=3, figure=right) is right
    assert not left.axes


@pytest.mark.parametrize(
    ("tables", "options", "said"),
    [
        ("xor", {}, "give a sequence"),
        ([], {}, "give a sequence"),
        (["iris"], {}, "two numeric columns"),
        (["xor"], {"models": {}}, "models is empty"),
    ],
)
def test_tables_that_do_not_lie_in_a_plane_are_refused(tables, options, said):
    with pytest.raises(ValueError, match=said):
        boundaries(tables, **options)


def test_tables_of_numbers_have_no_boundaries():
    numbers = datasets.names(task="regression")
    with pytest.raises(ValueError, match="no table of classes"):
        boundaries([numbers[0]])


# Pruning


def path_of(risk="error", alphas=(0.0, 0.002, 0.01, 0.05, 0.3), leaves=(40, 21, 9, 3, 1)):
    """A path with made-up numbers."""
    levels = len(alphas)
    risks = np.linspace(0.02, 0.5, levels)
    nothing = np.zeros(1)
    return ComplexityPath(
        np.array(alphas), np.array(leaves), risks, np.array([levels]), risk, nothing, nothing
    )


def choice_by(rule, path, errors=(0.30, 0.24, 0.20, 0.22, 0.45)):
    return AlphaChoice.of(path, np.array(errors), np.full(len(errors), 0.03), rule, 7)


def rings(ax):
    """Where the proposed trees are marked, by the label."""
    return {
        line.get_label().split(":")[0]: tuple(line.get_xydata()[0])
        for line in ax.lines
        if line.get_markerfacecolor() == "none"
    }


@pytest.mark.parametrize("risk", ["error", "impurity"])
def test_levels_of_a_path_reach_from_their_alpha_to_the_next(risk):
    path = path_of(risk)
    figure = pruning_path(path)
    leaves, risks = figure.axes
    for ax, values in ((leaves, path.n_leaves), (risks, path.risks)):
        drawn, ends, _ = stairs(ax)[0].get_data()
        np.testing.assert_array_equal(drawn, values)
        np.testing.assert_array_equal(ends[1:-1], path.alphas[1:])
        assert 0 < ends[0] < path.alphas[1]  # the left end stands for 0
        assert ends[-1] > path.alphas[-1]
        assert ax.get_xscale() == "log"
    assert risks.get_ylabel() == f"training {risk}"
    assert leaves.get_yscale() == "log"
    assert set(leaves.get_yticks()) <= set(path.n_leaves)
    assert not figure.legends


@pytest.mark.parametrize(("risk", "panels"), [("error", 2), ("impurity", 3)])
def test_cross_validated_errors_stand_in_the_middle_of_their_levels(risk, panels):
    path = path_of(risk)
    choice = choice_by("one_se", path)
    figure = pruning_path(path, choice)
    assert len(figure.axes) == panels
    (bars,) = figure.axes[-1].containers
    x, errors = bars.lines[0].get_data()
    np.testing.assert_array_equal(errors, choice.errors)
    np.testing.assert_allclose(x[1:-1], geometric_means(path.alphas)[1:-1])
    reach = np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
    np.testing.assert_allclose(reach, np.column_stack([errors - 0.03, errors + 0.03]))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "cross-validated, 7 folds" in labels
    assert inside(figure)


def test_errors_of_many_levels_are_a_band():
    alphas, leaves = np.append(0.0, np.geomspace(1e-4, 1, 99)), np.arange(100, 0, -1)
    path = path_of(alphas=alphas, leaves=leaves)
    choice = choice_by("min", path, np.linspace(0.4, 0.2, 100))
    ax = pruning_path(path, choice).axes[-1]
    assert not ax.containers
    (band,) = ax.collections
    (line,) = (line for line in ax.lines if line.get_label().startswith("cross-validated"))
    np.testing.assert_array_equal(line.get_ydata(), choice.errors)
    heights = band.get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [0.2 - 0.03, 0.4 + 0.03])


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_a_tree_that_cross_validation_pruned_shows_its_choice(rule):
    X, y = hill()
    model = DecisionTreeClassifier(
        pruning="cost_complexity", prune_risk="error", prune_rule=rule, prune_folds=4
    ).fit(X, y > 0.4)
    figure = pruning_path(model)
    path = complexity_path(model.grown_tree_, "error")
    np.testing.assert_array_equal(stairs(figure.axes[0])[0].get_data()[0], path.n_leaves)
    told = model.pruning_.options
    drawn = figure.axes[-1].containers[0].lines[0].get_ydata()
    np.testing.assert_array_equal(drawn, told["errors"][-len(drawn) :])
    bold = [t.get_text() for t in figure.legends[0].get_texts() if t.get_weight() == "bold"]
    n = model.get_n_leaves()
    assert [text.split(": ")[1] for text in bold] == [f"{n} {'leaf' if n == 1 else 'leaves'}"]


def test_a_tree_that_was_pruned_to_a_level_is_marked():
    X, y = hill()
    model = DecisionTreeRegressor().fit(X, y)
    plain = pruning_path(model)
    assert not plain.legends
    pruned = model.pruned("level", level=20)
    figure = pruning_path(pruned)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[-1] == f"this tree: {pruned.get_n_leaves()} leaves"
    path = complexity_path(model.tree_)
    ((_, value),) = rings(figure.axes[-1]).values()
    assert value == path.risks[20]
    assert figure.axes[-1].get_ylabel() == "training squared error"
    medians = DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    assert pruning_path(medians).axes[-1].get_ylabel() == "training impurity"


def test_a_regression_tree_shows_training_and_cross_validated_error_on_one_scale():
    X, y = hill()
    model = DecisionTreeRegressor(pruning="cost_complexity", prune_folds=3).fit(X, y)
    figure = pruning_path(model)
    assert [ax.get_ylabel() for ax in figure.axes] == ["leaves", "squared error"]


@pytest.mark.parametrize("rule", ["min", "one_se"])
def test_both_rules_are_marked_and_the_one_taken_is_in_bold(rule):
    path = path_of()
    choice = choice_by(rule, path)
    figure = pruning_path(path, choice)
    ax = figure.axes[-1]
    x = ax.containers[0].lines[0].get_xdata()
    levels = {
        "least error": choice.by("min").level,
        "one standard error": choice.by("one_se").level,
    }
    assert levels == {"least error": 2, "one standard error": 3}
    assert rings(ax) == {name: (x[at], choice.errors[at]) for name, at in levels.items()}
    for panel in figure.axes:
        upright = {line.get_xdata()[0] for line in panel.lines if len(set(line.get_xdata())) == 1}
        assert {x[2], x[3]} <= upright
    level = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert level == [0.20 + 0.03]
    bold = [t.get_text() for t in figure.legends[0].get_texts() if t.get_weight() == "bold"]
    chosen = {"min": "least error: 9 leaves", "one_se": "one standard error: 3 leaves"}
    assert bold == [chosen[rule]]


def test_a_level_that_is_never_the_best_is_left_out():
    path = path_of(alphas=(0.0, 0.0, 0.01, 0.05, 0.3))  # the first cut is free
    choice = choice_by("min", path, errors=(0.2, 0.2, 0.3, 0.3, 0.4))
    ax = pruning_path(path, choice).axes[-1]
    assert len(ax.containers[0].lines[0].get_xdata()) == 4
    assert rings(ax)["least error"][1] == 0.2


def test_paths_that_cannot_be_drawn_are_refused():
    path = path_of()
    with pytest.raises(ValueError, match="choice is of another path"):
        pruning_path(path, choice_by("min", path_of(alphas=(0.0, 0.1, 0.2, 0.3, 0.4))))
    with pytest.raises(ValueError, match="no level above alpha = 0"):
        pruning_path(path_of(alphas=(0.0,), leaves=(1,)))
    with pytest.raises(TypeError, match="a fitted tree's, not that of DecisionTreeRegressor"):
        pruning_path(TheirTree())


def table_of(measure="error", ways=("unpruned", "reduced error", "cost complexity, one_se")):
    """A laboratory's table with made-up numbers."""
    rows = tuple(
        PruningRow(way, 60 // (k + 1), 9 - k, *(wilson(5 * k + j, 100) for j in (0, 30, 20)))
        for k, way in enumerate(ways)
    )
    return PruningTable(rows, {}, measure, ("Validation: 100 rows given.", "Intervals: 95 %."))


@pytest.mark.parametrize("measure", ["error", "squared error"])
def test_errors_of_the_laboratory_stand_with_their_intervals(measure):
    table = table_of(measure)
    figure = pruning_table(table)
    errors, leaves = figure.axes
    assert [label.get_text() for label in errors.get_yticklabels()] == [row.name for row in table]
    kinds = ("training", "validation", "cross_validated")
    for bars, kind in zip(errors.containers, kinds, strict=True):
        intervals = [getattr(row, kind) for row in table]
        x, y = bars.lines[0].get_data()
        np.testing.assert_allclose(x, [interval.estimate for interval in intervals])
        np.testing.assert_allclose(y, range(len(table)), atol=0.3)
        ends = np.array([segment[:, 0] for segment in bars.lines[2][0].get_segments()])
        expected = [(interval.lower, interval.upper) for interval in intervals]
        np.testing.assert_allclose(ends, expected, atol=1e-12)
        assert bars.get_label() == kind.replace("_", "-")
    assert (errors.get_xlabel(), leaves.get_xlabel()) == (measure, "leaves")
    assert errors.get_ylim()[0] > errors.get_ylim()[1]  # as the table reads, from the top
    assert inside(figure)


def test_leaves_of_the_laboratory_are_bars():
    table = table_of()
    figure = pruning_table(table)
    ax = figure.axes[1]
    assert [bar.get_width() for bar in ax.patches] == [row.n_leaves for row in table]
    assert [text.get_text() for text in ax.texts] == [
        f"{row.n_leaves}  (depth {row.depth})" for row in table
    ]
    assert figure.get_supxlabel() == "\n".join(table.notes)


@pytest.mark.parametrize(("draw", "given"), [(pruning_path, path_of), (pruning_table, table_of)])
def test_pruning_on_a_given_figure(draw, given):
    left, right = new_figure(14, 6).subfigures(1, 2)
    assert draw(given(), figure=right) is right
    assert len(right.axes) == 2
    assert not left.axes


# Presets


def test_presets_have_a_bar_in_every_panel():
    vote = datasets.load("vote")
    table = compare_presets(vote.table, vote.y)
    figure = presets(table)
    n = len(table.rows)
    for ax, entry in zip(figure.axes, ("n_leaves", "depth", "error"), strict=True):
        values = [getattr(row, entry) for row in table]
        assert [bar.get_width() for bar in ax.patches[:n]] == values
        said = [float(text.get_text().split(" of ")[0]) for text in ax.texts]
        np.testing.assert_allclose(said, values, atol=5e-4)
        assert ax.get_xlim()[1] > max(bar.get_width() for bar in ax.patches)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == [f"{row.name}\n{row.root}" for row in table]
    assert inside(figure)


def test_leaves_before_pruning_are_hollow_bars():
    vote = datasets.load("vote")
    table = compare_presets(vote.table, vote.y, presets=("c45", "cart"))
    row = table["c45"]
    assert row.grown_leaves > row.n_leaves
    leaves, depth, _ = presets(table).axes
    pruned, whole = leaves.patches[2:]
    assert pruned.get_width() == row.grown_leaves
    assert (pruned.get_visible(), whole.get_visible()) == (True, False)
    assert leaves.texts[0].get_text() == f"{row.n_leaves} of {row.grown_leaves}"
    assert not any(bar.get_visible() for bar in depth.patches[2:])


def test_presets_without_a_split_and_without_an_error():
    table = compare_presets([[1.0], [1.0]], ["a", "a"], presets=("cart",))
    assert presets(table).axes[2].get_xlim() == (0, 1)
    left, right = new_figure(14, 3).subfigures(1, 2)
    assert presets(table, figure=right) is right
    assert not left.axes
