"""Tests of the player, its animations and its painters."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from ceiba import plots
from ceiba.base.trace import Trace
from ceiba.cluster.kmeans import KMeans
from ceiba.plots import playback as registry
from ceiba.plots.clustering import KMeansPainter
from ceiba.plots.style import HIGHLIGHT
from tests.plots.figures import blobs, mixed_frame, traced


@pytest.fixture(scope="module")
def rows():
    return blobs()


@pytest.fixture(scope="module")
def model(rows):
    return traced(rows)


@pytest.fixture
def own_registry(monkeypatch):
    """Replace the registry of painters by a copy that a test may change."""
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))


def n_highlighted(ax):
    """Return the number of highlighted rows."""
    points = ax.collections[0]
    assert len(points.get_offsets()) == 0 or to_hex(points.get_facecolor()[0]) == HIGHLIGHT.lower()
    return len(points.get_offsets())


def test_every_iteration_is_a_frame(rows, model):
    player = plots.play(model, rows)
    assert len(player) == len(model.trace_) > 3
    assert repr(player) == f"Player({len(player)} frames, 2 per second)"


def test_moved_rows_are_highlighted(rows, model):
    player = plots.play(model, rows)
    moved = [frame["moved"] for frame in model.trace_]
    counts = [n_highlighted(player.draw(frame).axes[0]) for frame in range(len(player))]
    assert counts == [0, *moved[1:]]
    assert sum(counts) > 0


def test_titles_count_the_iterations(rows, model):
    player = plots.play(model, rows)
    last = model.trace_[-1].step
    titles = [player.draw(frame).axes[0].get_title(loc="left") for frame in (0, 1)]
    assert titles[0] == f"Iteration {model.trace_[0].step} of {last}: initialization"
    second = model.trace_[1]
    assert titles[1] == f"Iteration {second.step} of {last}: {second['moved']} rows changed cluster"


def test_last_frame_shows_the_labels_of_the_model(rows, model):
    painter = KMeansPainter(model.trace_, rows, model)
    np.testing.assert_array_equal(painter.labels(len(model.trace_) - 1), model.labels_)


def test_centers_leave_paths(rows, model):
    ax = plots.play(model, rows).draw(2).axes[0]
    paths = [line.get_xydata() for line in ax.lines if line.get_color() != "white"]
    expected = np.stack([frame["centers"] for frame in model.trace_[:3]], axis=1)
    np.testing.assert_allclose(paths, expected)


def test_inertia_is_drawn_up_to_the_frame(rows, model):
    ax = plots.play(model, rows).draw(2).axes[1]
    whole, done, now = (line.get_ydata() for line in ax.lines)
    inertia = [frame["inertia"] for frame in model.trace_]
    assert (list(whole), list(done), list(now)) == (inertia, inertia[:3], [inertia[2]])


def test_axes_keep_their_limits(rows, model):
    player = plots.play(model, rows)
    first, last = (player.draw(frame).axes[0] for frame in (0, len(player) - 1))
    assert first.get_xlim() == last.get_xlim()
    assert first.get_ylim() == last.get_ylim()


def test_gif_has_every_frame(rows, model, tmp_path):
    path = tmp_path / "new" / "fit.gif"
    player = plots.play(model, rows, path, fps=4, max_frames=4)
    with Image.open(path) as image:
        assert image.format == "GIF"
        assert image.n_frames == len(player)
        assert image.size == (1152, 576)
        assert image.info["loop"] == 0
        times = []
        for frame in range(image.n_frames):
            image.seek(frame)
            times.append(image.info["duration"])
            assert image.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    assert times == [250] * (len(player) - 1) + [750]


def test_gif_keeps_the_highlight_color(rows, model, tmp_path):
    plots.play(model, rows, tmp_path / "fit.gif", max_frames=4)
    with Image.open(tmp_path / "fit.gif") as image:
        image.seek(1)
        colors = {color for _, color in image.convert("RGB").getcolors(1 << 20)}
    assert tuple(bytes.fromhex(HIGHLIGHT[1:])) in colors


def test_folder_gets_numbered_frames(rows, model, tmp_path):
    player = plots.play(model, rows, tmp_path / "frames", max_frames=4)
    paths = sorted((tmp_path / "frames").iterdir())
    assert [path.name for path in paths] == [f"frame_{i:04d}.png" for i in range(len(player))]
    images = [np.asarray(Image.open(path)) for path in paths]
    assert {image.shape for image in images} == {(576, 1152, 3)}
    assert all((a != b).any() for a, b in pairwise(images))


def test_frames_of_a_longer_animation_raise(rows, model, tmp_path):
    (tmp_path / "frame_0999.png").touch()
    with pytest.raises(FileExistsError, match="frame_0999"):
        plots.play(model, rows, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_other_suffixes_raise(rows, model, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.gif or name a folder .* got fit\.mp4"):
        plots.play(model, rows, tmp_path / "fit.mp4")


def test_long_traces_are_thinned(rows, model):
    player = plots.play(model, rows, max_frames=3)
    assert len(player) == 3
    assert (player.frame_indices[0], player.frame_indices[-1]) == (0, len(model.trace_) - 1)


@pytest.mark.parametrize(
    ("option", "message"),
    [("fps", "fps must be greater than 0"), ("max_frames", "max_frames must be at least 2")],
)
def test_invalid_options_raise(rows, model, option, message):
    with pytest.raises(ValueError, match=message):
        plots.play(model, rows, **{option: 0})


def test_missing_trace_raises(rows):
    for without in (KMeans(3).fit(rows), [], Trace()):
        with pytest.raises(ValueError, match="trace=True"):
            plots.play(without, rows)


def test_traces_and_mappings_are_played(rows, model):
    frames = [dict(frame.values) for frame in model.trace_]
    for trace in (model.trace_, frames):
        player = plots.play(trace, rows)
        assert n_highlighted(player.draw(1).axes[0]) == model.trace_[1]["moved"]
    assert player.draw(1).axes[0].get_title(loc="left").startswith("Iteration 1 of")


def test_tables_with_categories_and_missing_values_are_played():
    frame = mixed_frame()
    model = KMeans(3, init="random", n_init=1, trace=True).fit(frame)
    player = plots.play(model, frame)
    moved = [step["moved"] for step in model.trace_][1:]
    assert [n_highlighted(player.draw(i).axes[0]) for i in range(1, len(player))] == moved


def test_large_tables_are_sampled():
    X = blobs(6_000)
    model = traced(X)
    ax = plots.play(model, X).draw(0).axes[0]
    assert sum(len(points.get_offsets()) for points in ax.collections[:7]) == 5_000


def test_player_displays_itself(rows, model):
    html = plots.play(model, rows, max_frames=2)._repr_html_()
    assert html.startswith('<img src="data:image/gif;base64,R0lGOD')


class LossPainter:
    """A minimal painter."""

    def __init__(self, frames, X, model):
        self.frames, self.model = frames, model

    def layout(self, figure):
        return figure.add_subplot()

    def draw(self, axes, index):
        axes.plot([frame["loss"] for frame in self.frames[: index + 1]], "o-")


@pytest.mark.usefixtures("own_registry")
def test_painter_is_registered_by_one_call(tmp_path):
    plots.register_painter({"loss"}, LossPainter)
    fitted = SimpleNamespace(trace_=[{"loss": 1 / step} for step in range(1, 6)])
    player = plots.play(fitted, None, tmp_path / "loss.gif")
    assert player.painter.model is fitted
    with Image.open(tmp_path / "loss.gif") as image:
        assert image.n_frames == 5


@pytest.mark.usefixtures("own_registry")
def test_painter_that_requires_most_values_is_used(rows, model):
    plots.register_painter({"inertia"}, LossPainter)
    assert isinstance(plots.play(model, rows).painter, KMeansPainter)


def test_traces_without_a_large_array_name_it():
    trace = Trace(max_bytes=400)
    trace.record(0, {"training": 1.0, "gradient": np.zeros(1000), "n_leaves": 2})
    with pytest.raises(ValueError, match="cannot be played without gradient"):
        plots.play(trace, np.zeros((1000, 2)))


def test_unknown_frames_raise():
    with pytest.raises(ValueError, match="No painter is registered for frames with depth, leaves"):
        plots.play([{"depth": 1, "leaves": 2}], None)
    with pytest.raises(TypeError, match="got int"):
        plots.play([1, 2], None)


@pytest.mark.parametrize("frame", [99, -1, -5, 1.5])
def test_frames_that_do_not_exist(rows, model, frame):
    player = plots.play(model, rows)
    with pytest.raises(ValueError, match=rf"frame must be an int in \[0, {len(player) - 1}\], got"):
        player.draw(frame)
