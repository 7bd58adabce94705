"""The player, its films and its painters."""

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
from ceiba.plots.clustering.painter import CentresPainter
from ceiba.plots.playback import painter as register
from ceiba.plots.style import GLOW
from tests.plots.figures import blobs, mixed_frame, traced


@pytest.fixture(scope="module")
def rows():
    return blobs()


@pytest.fixture(scope="module")
def model(rows):
    return traced(rows)


@pytest.fixture
def own_register(monkeypatch):
    """A register of painters that a test may add to."""
    monkeypatch.setattr(register, "_makers", dict(register._makers))


def glowing(ax):
    """How many rows are lit up."""
    lit = ax.collections[0]
    assert len(lit.get_offsets()) == 0 or to_hex(lit.get_facecolor()[0]) == GLOW.lower()
    return len(lit.get_offsets())


def test_every_step_is_a_frame(rows, model):
    player = plots.play(model, rows)
    assert len(player) == len(model.trace_) > 3
    assert repr(player) == f"Player({len(player)} frames, 2 a second)"


def test_as_many_rows_light_up_as_moved(rows, model):
    player = plots.play(model, rows)
    moved = [frame["moved"] for frame in model.trace_]
    lit = [glowing(player.draw(frame).axes[0]) for frame in range(len(player))]
    assert lit == [0, *moved[1:]]
    assert sum(lit) > 0


def test_titles_count_the_steps(rows, model):
    player = plots.play(model, rows)
    last = model.trace_[-1].step
    titles = [player.draw(frame).axes[0].get_title(loc="left") for frame in (0, 1)]
    assert titles[0] == f"Step {model.trace_[0].step} of {last}: the start"
    second = model.trace_[1]
    assert titles[1] == f"Step {second.step} of {last}: {second['moved']} rows changed cluster"


def test_last_frame_shows_the_labels_of_the_model(rows, model):
    painter = CentresPainter(model.trace_, rows, model)
    np.testing.assert_array_equal(painter.labels(len(model.trace_) - 1), model.labels_)


def test_centres_leave_paths(rows, model):
    ax = plots.play(model, rows).draw(2).axes[0]
    paths = [line.get_xydata() for line in ax.lines if line.get_color() != "white"]
    expected = np.stack([frame["centres"] for frame in model.trace_[:3]], axis=1)
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
    path = tmp_path / "new" / "film.gif"
    player = plots.play(model, rows, path, fps=4, max_frames=4)
    with Image.open(path) as film:
        assert film.format == "GIF"
        assert film.n_frames == len(player)
        assert film.size == (1152, 576)
        assert film.info["loop"] == 0
        times = []
        for frame in range(film.n_frames):
            film.seek(frame)
            times.append(film.info["duration"])
            assert film.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
    assert times == [250] * (len(player) - 1) + [750]


def test_gif_keeps_the_glow(rows, model, tmp_path):
    plots.play(model, rows, tmp_path / "film.gif", max_frames=4)
    with Image.open(tmp_path / "film.gif") as film:
        film.seek(1)
        colours = {colour for _, colour in film.convert("RGB").getcolors(1 << 20)}
    assert tuple(bytes.fromhex(GLOW[1:])) in colours


def test_folder_gets_numbered_frames(rows, model, tmp_path):
    player = plots.play(model, rows, tmp_path / "frames", max_frames=4)
    paths = sorted((tmp_path / "frames").iterdir())
    assert [path.name for path in paths] == [f"frame_{i:04d}.png" for i in range(len(player))]
    images = [np.asarray(Image.open(path)) for path in paths]
    assert {image.shape for image in images} == {(576, 1152, 3)}
    assert all((a != b).any() for a, b in pairwise(images))


def test_frames_of_a_longer_film_are_not_mixed_in(rows, model, tmp_path):
    (tmp_path / "frame_0999.png").touch()
    with pytest.raises(FileExistsError, match="frame_0999"):
        plots.play(model, rows, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_other_endings_are_refused(rows, model, tmp_path):
    with pytest.raises(ValueError, match=r"film.mp4: a film is saved as .gif"):
        plots.play(model, rows, tmp_path / "film.mp4")


def test_long_traces_are_thinned(rows, model):
    player = plots.play(model, rows, max_frames=3)
    assert len(player) == 3
    assert (player.places[0], player.places[-1]) == (0, len(model.trace_) - 1)


@pytest.mark.parametrize(("option", "message"), [("fps", "fps=0"), ("max_frames", "at least 2")])
def test_wrong_options_are_sentences(rows, model, option, message):
    with pytest.raises(ValueError, match=message):
        plots.play(model, rows, **{option: 0})


def test_no_trace_is_a_sentence(rows):
    for without in (KMeans(3).fit(rows), [], Trace()):
        with pytest.raises(ValueError, match="trace=True"):
            plots.play(without, rows)


def test_a_trace_or_mappings_play_as_well(rows, model):
    frames = [dict(frame.values) for frame in model.trace_]
    for trace in (model.trace_, frames):
        player = plots.play(trace, rows)
        assert glowing(player.draw(1).axes[0]) == model.trace_[1]["moved"]
    assert player.draw(1).axes[0].get_title(loc="left").startswith("Step 1 of")


def test_tables_with_labels_and_gaps_play():
    frame = mixed_frame()
    model = KMeans(3, init="random", n_init=1, trace=True).fit(frame)
    player = plots.play(model, frame)
    moved = [step["moved"] for step in model.trace_][1:]
    assert [glowing(player.draw(i).axes[0]) for i in range(1, len(player))] == moved


def test_large_tables_are_sampled():
    X = blobs(6_000)
    model = traced(X)
    ax = plots.play(model, X).draw(0).axes[0]
    assert sum(len(points.get_offsets()) for points in ax.collections[:7]) == 5_000


def test_player_shows_itself(rows, model):
    html = plots.play(model, rows, max_frames=2)._repr_html_()
    assert html.startswith('<img src="data:image/gif;base64,R0lGOD')


class LossPainter:
    """The smallest painter there can be."""

    def __init__(self, frames, X, model):
        self.frames, self.model = frames, model

    def layout(self, figure):
        return figure.add_subplot()

    def draw(self, axes, place):
        axes.plot([frame["loss"] for frame in self.frames[: place + 1]], "o-")


@pytest.mark.usefixtures("own_register")
def test_a_painter_joins_by_one_call(tmp_path):
    plots.register_painter({"loss"}, LossPainter)
    fitted = SimpleNamespace(trace_=[{"loss": 1 / step} for step in range(1, 6)])
    player = plots.play(fitted, None, tmp_path / "loss.gif")
    assert player.painter.model is fitted
    with Image.open(tmp_path / "loss.gif") as film:
        assert film.n_frames == 5


@pytest.mark.usefixtures("own_register")
def test_the_painter_that_asks_for_most_draws(rows, model):
    plots.register_painter({"inertia"}, LossPainter)
    assert isinstance(plots.play(model, rows).painter, CentresPainter)


def test_unknown_frames_are_a_sentence():
    with pytest.raises(ValueError, match="no painter draws frames of depth, leaves"):
        plots.play([{"depth": 1, "leaves": 2}], None)
    with pytest.raises(TypeError, match="not int"):
        plots.play([1, 2], None)
