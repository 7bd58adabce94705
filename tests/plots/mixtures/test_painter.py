"""Tests of the frames of EM."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from ceiba import GaussianMixture, plots
from ceiba.plots.mixtures.mixture import MixturePainter
from ceiba.plots.style import ACCENT, PALETTE
from tests.plots.mixtures.figures import RGB, em_frames, inside, three_groups, with_missing


@pytest.fixture(scope="module")
def rows():
    return three_groups()


@pytest.fixture(scope="module")
def model(rows):
    """Fit from random rows, so that several iterations are needed."""
    learner = GaussianMixture(3, init_params="random_from_data", tol=1e-3, trace=True)
    return learner.fit(rows)


def row_points(ax):
    (points,) = [c for c in ax.collections if c.get_zorder() == 2]
    return points


def paths(ax):
    """Return the paths of the means by color."""
    return {
        to_hex(line.get_color()).upper(): line.get_xydata()
        for line in ax.lines
        if line.get_zorder() == 3.3
    }


def frames_with_drop(rows):
    """Return frames in which the second component loses its rows and is dropped."""
    frames = em_frames(rows, [rows[0], [60.0, 60.0], rows[1], rows[2]], n_iter=7)
    sizes = [len(frame["weights"]) for frame in frames]
    assert sizes[0] == 4
    assert sizes[-1] == 3
    return frames, sizes.index(3)


def test_every_iteration_is_a_frame(rows, model):
    player = plots.play(model, rows)
    assert isinstance(player.painter, MixturePainter)
    assert len(player) == len(model.trace_) > 3


def test_rows_have_the_colors_of_their_frame(rows, model):
    player = plots.play(model, rows)
    last = player.draw(len(player) - 1).axes[0]
    found = row_points(last).get_facecolor()[:, :3]
    np.testing.assert_allclose(found, model.predict_proba(rows) @ RGB[:3], atol=1e-9)
    first = row_points(player.draw(0).axes[0]).get_facecolor()[:, :3]
    assert np.abs(first - found).max() > 0.1


def test_ellipses_are_those_of_the_frame(rows, model):
    player = plots.play(model, rows)
    for index in (0, 2):
        lines = [line for line in player.draw(index).axes[0].lines if line.get_zorder() == 3.1]
        frame = model.trace_[index]
        assert len(lines) == 6
        for k in range(3):
            away = lines[2 * k + 1].get_xydata() - frame["means"][k]
            squared = np.einsum("ni,ij,nj->n", away, np.linalg.inv(frame["covariances"][k]), away)
            np.testing.assert_allclose(squared, 4.0)


def test_means_leave_paths(rows, model):
    found = paths(plots.play(model, rows).draw(2).axes[0])
    expected = np.stack([frame["means"] for frame in model.trace_[:3]], axis=1)
    for k in range(3):
        np.testing.assert_allclose(found[PALETTE[k]], expected[k])


def test_likelihood_is_drawn_up_to_the_frame(rows, model):
    figure = plots.play(model, rows).draw(2)
    _, ax = figure.axes
    whole, done, now = (list(line.get_ydata()) for line in ax.lines)
    likelihood = [frame["log_likelihood"] for frame in model.trace_]
    assert (whole, done, now) == (likelihood, likelihood[:3], [likelihood[2]])
    assert ax.lines[-1].get_color() == ACCENT
    assert ax.get_title(loc="left") == "Log-likelihood"
    written = ax.get_title(loc="right").replace("−", "-")
    assert float(written) == pytest.approx(likelihood[2], rel=1e-6)


def test_under_a_prior_the_objective_has_a_panel(rows):
    model = GaussianMixture(2, prior="default", trace=True).fit(rows)
    figure = plots.play(model, rows).draw(1)
    _, likelihood, objective = figure.axes
    assert objective.get_title(loc="left") == "Penalized"
    for ax, name in ((likelihood, "log_likelihood"), (objective, "objective")):
        assert list(ax.lines[0].get_ydata()) == [frame[name] for frame in model.trace_]
    assert inside(figure)


def test_titles_count_the_iterations(rows, model):
    player = plots.play(model, rows)
    iterations = [frame.step for frame in model.trace_]
    titles = [player.draw(frame).axes[0].get_title(loc="left") for frame in (0, 1)]
    assert titles == [
        f"Iteration {iterations[0]} of {iterations[-1]}: initialization",
        f"Iteration {iterations[1]} of {iterations[-1]}",
    ]


def test_axes_keep_their_limits(rows, model):
    player = plots.play(model, rows)
    for axes in (0, 1):
        first, last = (player.draw(frame).axes[axes] for frame in (0, len(player) - 1))
        assert first.get_xlim() == last.get_xlim()
        assert first.get_ylim() == last.get_ylim()


def test_other_components_keep_number_and_color_after_a_drop(rows):
    frames, drop = frames_with_drop(rows)
    painter = MixturePainter(frames, rows, None)
    assert painter.numbers(drop - 1) == [0, 1, 2, 3]
    assert painter.numbers(drop) == painter.numbers(len(frames) - 1) == [0, 2, 3]
    ax = plots.play(frames, rows).draw(drop).axes[0]
    assert max(ax.get_xlim()) < 30, "a mean far away makes the rows small"
    assert [text.get_text() for text in ax.texts] == ["0", "2", "3"]
    assert ax.get_title(loc="left") == f"Iteration {drop} of {len(frames) - 1}: component 1 dropped"
    colors = row_points(ax).get_facecolor()[:, :3]
    np.testing.assert_allclose(colors, painter.responsibilities(drop) @ RGB[[0, 2, 3]], atol=1e-9)
    found = paths(ax)
    assert set(found) == {PALETTE[0], PALETTE[2], PALETTE[3]}
    np.testing.assert_allclose(found[PALETTE[2]][-1], frames[drop]["means"][1])
    np.testing.assert_allclose(found[PALETTE[2]][0], frames[0]["means"][2])


def test_reseeded_components_are_in_the_title(rows):
    frames, drop = frames_with_drop(rows)
    event = SimpleNamespace(kind="reseeded", step=drop, component=1)
    floored = SimpleNamespace(kind="floored", step=drop, component=0)
    fitted = SimpleNamespace(trace_=frames, fit_events_=[event, floored])
    player = plots.play(fitted, rows)
    titles = [player.draw(index).axes[0].get_title(loc="left") for index in (drop, drop + 1)]
    last = len(frames) - 1
    assert titles == [
        f"Iteration {drop} of {last}: component 1 dropped",
        f"Iteration {drop + 1} of {last}: component 2 reseeded",
    ]


def test_added_component_has_a_new_number(rows):
    frames, _ = frames_with_drop(rows)
    painter = MixturePainter([*frames, frames[0]], rows, None)
    assert painter.numbers(len(frames)) == [0, 2, 3, 4]


@pytest.mark.filterwarnings("ignore::ceiba.mixture.CollapsedComponentWarning")
def test_dropped_component_of_a_fit_is_played(rows, tmp_path):
    start = np.concatenate([rows[:2], [[60.0, 60.0]]])
    model = GaussianMixture(
        3, means_init=start, weights_init=np.ones(3) / 3, precisions_init=np.stack([np.eye(2)] * 3),
        empty_component="drop", trace=True,
    ).fit(rows)  # fmt: skip
    assert len(model.means_) == 2
    player = plots.play(model, rows, tmp_path / "fit.gif", max_frames=4)
    assert player.painter.numbers(len(model.trace_) - 1) == [0, 1]
    with Image.open(tmp_path / "fit.gif") as image:
        assert image.n_frames == len(player)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical", "EII", "VVV", "EEV"])
def test_traces_of_every_covariance_type_are_played(rows, form):
    model = GaussianMixture(2, covariance_type=form, max_iter=4, tol=0.1, trace=True).fit(rows)
    painter = MixturePainter(model.trace_, rows, model)
    found = painter.responsibilities(len(model.trace_) - 1)
    np.testing.assert_allclose(found, model.predict_proba(rows), atol=1e-9)


def test_missing_values_are_played():
    X = with_missing(three_groups(d=4))
    model = GaussianMixture(2, max_iter=4, tol=0.1, trace=True).fit(X)
    painter = MixturePainter(model.trace_, X, model)
    found = painter.responsibilities(len(model.trace_) - 1)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9)


def test_one_column_is_played(rows, tmp_path):
    X = with_missing(rows[:, :1])
    model = GaussianMixture(2, max_iter=5, tol=1e-2, trace=True).fit(X)
    player = plots.play(model, X, tmp_path / "fit.gif", max_frames=2)
    figures = [player.draw(index) for index in (0, len(player) - 1)]
    assert inside(figures[0])
    assert figures[0].axes[0].get_ylim() == figures[1].axes[0].get_ylim()


def test_gif_has_every_frame_in_mixed_colors(rows, model, tmp_path):
    path = tmp_path / "fit.gif"
    player = plots.play(model, rows, path, max_frames=4)
    with Image.open(path) as image:
        assert image.n_frames == len(player) == 4
        assert image.size == (1152, 576)
        frames = []
        for frame in range(4):
            image.seek(frame)
            frames.append(np.asarray(image.convert("RGB")))
    assert all((a != b).any() for a, b in pairwise(frames))
    assert tuple(bytes.fromhex(ACCENT[1:])) in {tuple(p) for p in frames[0].reshape(-1, 3)}


def test_large_tables_are_sampled():
    X = three_groups(6_000)
    model = GaussianMixture(2, max_iter=2, tol=0.1, trace=True).fit(X)
    points = row_points(plots.play(model, X).draw(0).axes[0])
    assert len(points.get_offsets()) == 5_000


def test_traces_and_mappings_are_played(rows, model):
    mappings = [
        {name: frame[name] for name in ("weights", "means", "covariances", "log_likelihood")}
        for frame in model.trace_
    ]
    for trace in (model.trace_, mappings):
        figure = plots.play(trace, rows).draw(1)
        found = row_points(figure.axes[0]).get_facecolor()[:, :3]
        expected = MixturePainter(model.trace_, rows, model).responsibilities(1) @ RGB[:3]
        np.testing.assert_allclose(found, expected)
        assert len(figure.axes) == 2


def test_rows_of_another_width_raise(model):
    with pytest.raises(ValueError, match=r"3 columns .* but the mixture was fitted to 2"):
        plots.play(model.trace_, np.ones((5, 3)))


def test_nothing_is_clipped(rows, model):
    assert inside(plots.play(model, rows).draw(1))
