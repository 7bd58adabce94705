"""Play the trace of any learner that has a painter, and save it as an animation.

The player does not depend on any learner. A learner whose frames hold, for example, ``means`` and
``covariances`` adds a painter with one call::

    register_painter({"means", "covariances"}, MixturePainter)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from io import BytesIO
from numbers import Integral
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.base.trace import Frame
from ceiba.plots import style
from ceiba.plots.models import model_error

MAX_POINTS = 5_000  # more rows slow an animation down and blur its colors
_SIZE = (9.6, 4.8)  # inches
_COLORS = ("white", style.ACCENT, style.HIGHLIGHT, style.INK, style.MUTED, *style.PALETTE)
_SAMPLED_FRAMES = 5  # frames whose colors make up the palette
_LAST_FRAME = 3  # the last frame is shown this many times as long


class Painter(Protocol):
    """Draw the frames of one trace, in any order."""

    def layout(self, figure: Any) -> Any:
        """Make the axes on an empty figure; the result is passed to `draw`."""
        ...

    def draw(self, axes: Any, index: int) -> None:
        """Draw the frame at ``index`` on these axes."""
        ...


PainterFactory = Callable[..., Painter]

_factories: dict[frozenset[str], PainterFactory] = {}


def register_painter(names: Iterable[str], factory: PainterFactory) -> None:
    """Register the painter of traces whose frames hold all of ``names``.

    Parameters
    ----------
    names : iterable of str
        Values that a frame must hold. If several painters match, the one that requires most
        values is used.
    factory : callable
        ``factory(frames, X, model)`` returns a `Painter`; ``model`` is None if a bare trace is
        played. It may also accept the keywords ``y`` and ``columns`` of `play`.
    """
    _factories[frozenset(names)] = factory


def painter_for(frames: Sequence[Any], X: Any, model: Any, **options: Any) -> Painter:
    """Make the painter that matches these frames; options that are None are not passed on."""
    available = frame_names(frames[0])
    matches = [names for names in _factories if names <= available]
    left_out = getattr(frames, "left_out", ())
    if not matches and left_out:
        raise ValueError(
            f"The trace cannot be played without {', '.join(left_out)}, of which it keeps at most "
            "16 MB per step: fit fewer rows with trace=True."
        )
    if not matches:
        known = "; ".join(", ".join(sorted(names)) for names in _factories)
        raise ValueError(
            f"No painter is registered for frames with {', '.join(sorted(available)) or 'nothing'}"
            f" (registered: {known}). Add one with register_painter."
        )
    factory = _factories[max(matches, key=len)]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in signature(factory).parameters:
            raise ValueError(f"{name!r} has no effect on the animation of this trace: omit it.")
    return factory(frames, X, model, **given)


def frame_names(frame: Any) -> frozenset[str]:
    """Return the names of the values of a frame, a `Frame` or a mapping."""
    if isinstance(frame, Frame):
        return frozenset(frame.values)
    if isinstance(frame, Mapping):
        return frozenset(frame)
    raise TypeError(f"A frame must be a ceiba.base.Frame or a mapping, got {type(frame).__name__}.")


def frame_iteration(frame: Any, index: int) -> int:
    """Return the iteration of a frame; the index for a plain mapping."""
    return frame.step if isinstance(frame, Frame) else index


def iteration_title(frames: Sequence[Any], index: int) -> str:
    """Return the title of one frame of an iterative fit."""
    number, last = (frame_iteration(frames[i], i) for i in (index, len(frames) - 1))
    return f"Iteration {number} of {last}" + (": initialization" if index == 0 else "")


def axes_beside(figure: Any, n_right: int, ratio: float) -> list[Any]:
    """Make one pair of axes at the left, and ``n_right`` at the right, of a ratio of widths."""
    grid = figure.add_gridspec(n_right, 2, width_ratios=[ratio, 1])
    cells = [grid[:, 0], *(grid[line, 1] for line in range(n_right))]
    return [figure.add_subplot(cell) for cell in cells]


def draw_path(ax: Any, points: Any, color: str, layers: Sequence[float], **look: Any) -> None:
    """Draw the path of a center, with a white border that is legible on any color."""
    x, y = np.transpose(points)
    ax.plot(x, y, "-", color="white", linewidth=3.2, zorder=layers[0])
    ax.plot(x, y, "-o", color=color, zorder=layers[1], **look)


def draw_progress(
    ax: Any, frames: Sequence[Any], name: str, index: int, *, title: str, note: str
) -> None:
    """Draw one value of all frames as a curve, marked up to the frame at ``index``."""
    iterations = [frame_iteration(frame, i) for i, frame in enumerate(frames)]
    values = [float(frame[name]) for frame in frames]
    done = slice(0, index + 1)
    ax.plot(iterations, values, color=style.PALE, linewidth=1.4)
    ax.plot(
        iterations[done], values[done], "-o", color=style.PALETTE[0], linewidth=1.8, markersize=4
    )
    ax.plot(iterations[index], values[index], "o", color=style.ACCENT, markersize=8)
    style.style_axes(ax, title=title, x="iteration", grid="y")
    style.set_note(ax, note, style.ACCENT)
    ax.locator_params(axis="x", integer=True, nbins=6)
    ax.margins(x=0.08)
    style.plain_numbers(ax)


class Player:
    """A trace to be shown frame by frame, in a notebook, or as a file.

    Parameters
    ----------
    painter : Painter
    frame_indices : sequence of int
        Frames of the trace to show.
    fps : float
        Frames per second.
    """

    def __init__(self, painter: Painter, frame_indices: Sequence[int], fps: float) -> None:
        if not fps > 0:
            raise ValueError(f"fps must be greater than 0, got {fps}.")
        self.painter = painter
        self.frame_indices = tuple(frame_indices)
        self.fps = fps

    def __len__(self) -> int:
        return len(self.frame_indices)

    def draw(self, frame: int) -> Any:
        """Draw one frame of the animation, counted from 0, as a figure."""
        if not isinstance(frame, Integral) or not 0 <= frame < len(self):
            raise ValueError(f"frame must be an int in [0, {len(self) - 1}], got {frame!r}.")
        figure = style.new_figure(*_SIZE)
        self.painter.draw(self.painter.layout(figure), self.frame_indices[int(frame)])
        return figure

    def images(self) -> list[Any]:
        """Render every frame as a PIL image."""
        figure = style.new_figure(*_SIZE)
        from PIL import Image  # installed with matplotlib

        axes = self.painter.layout(figure)
        images = []
        for index in self.frame_indices:
            for ax in figure.axes:
                ax.clear()
            self.painter.draw(axes, index)
            images.append(Image.fromarray(figure.pixels()).convert("RGB"))
            # All frames keep the layout of the first, so that nothing moves; layout is also slow.
            figure.set_layout_engine("none")
        return images

    def save(self, path: str | Path) -> Path:
        """Write a GIF if ``path`` ends in .gif, or else PNG frames into that folder."""
        path = Path(path)
        _check_path(path, len(self))
        images = self.images()
        if not _is_gif(path):
            path.mkdir(parents=True, exist_ok=True)
            for image, name in zip(images, _frame_files(len(images)), strict=True):
                image.save(path / name)
            return path
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            _write_gif(images, file, self.fps)
        return path

    def _repr_html_(self) -> str:
        from ceiba.plots.figure import inline_image

        file = BytesIO()
        _write_gif(self.images(), file, self.fps)
        return inline_image(file.getvalue(), "gif")

    def __repr__(self) -> str:
        return f"Player({len(self)} frames, {self.fps:g} per second)"


def play(
    model: Any,
    X: Any,
    path: str | Path | None = None,
    *,
    y: Any = None,
    columns: Sequence[str | int] | None = None,
    fps: float = 2.0,
    max_frames: int = 100,
) -> Player:
    """Animate a fit, iteration by iteration.

    k-means: the rows in the color of the nearest center, the paths of the centers, the rows that
    changed cluster highlighted, and the inertia. Gaussian mixture: the rows in the mixed colors of
    the responsible components, ellipses of one and two standard deviations, the paths of the means,
    and the log-likelihood. Tree: each split with the best gain per column, then each step of the
    pruning; a pruned tree can be played even if it was fitted without a trace. AdaBoost: the area
    of a row is its weight, the rows misclassified in the round are ringed, with the boundaries of
    the round's estimator and of the ensemble, the errors and the estimator weights. Gradient
    boosting: the negative gradient of each row over a numeric column and the value of the round's
    tree, the losses, and the gain of each column.

    Parameters
    ----------
    model : fitted estimator or trace
        An estimator fitted with ``trace=True``, or its ``trace_``.
    X : array, frame or table of shape (n_rows, n_columns)
        The rows to draw, as passed to ``fit``.
    path : str or Path, optional
        ``fit.gif`` for an animated GIF, or a folder for numbered PNG frames. Nothing is written
        if None.
    y : array of shape (n_rows,), optional
        Classes of the rows, for AdaBoost; without them its rows are gray.
    columns : sequence of str or int, optional
        The two numeric columns to show, for AdaBoost on more than two columns; for gradient
        boosting one, by default that of largest gain.
    fps : float
        Frames per second.
    max_frames : int
        Maximum number of frames; those of a longer trace are thinned evenly, and the first and
        the last are kept.

    Returns
    -------
    Player
        Displays itself in a notebook; ``draw(i)`` returns a frame as a figure.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import KMeans, plots
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [8.0, 9.0]])
    >>> model = KMeans(2, trace=True).fit(X)
    >>> len(plots.play(model, X)) == len(model.trace_)
    True
    """
    trace, estimator = _trace_of(model)
    if max_frames < 2:
        raise ValueError(f"max_frames must be at least 2, got {max_frames}.")
    indices = np.unique(np.linspace(0, len(trace) - 1, min(len(trace), max_frames)).round())
    painter = painter_for(trace, X, estimator, y=y, columns=columns)
    player = Player(painter, indices.astype(int).tolist(), fps)
    if path is not None:
        player.save(path)
    return player


def _trace_of(model: Any) -> tuple[Sequence[Any], Any]:
    """Return the frames, and the estimator that recorded them, if any."""
    estimator = None if isinstance(model, Sequence) else model
    trace = model
    if estimator is not None:
        pruning = getattr(model, "pruning_", None)
        trace = [*getattr(model, "trace_", ()), *getattr(pruning, "trace", ())]
    if not trace:
        raise _no_trace_error(model)
    return trace, estimator


def _no_trace_error(model: Any) -> Exception:
    """Return the error for a model without frames, with the reason."""
    expected = "an estimator fitted with trace=True, or its trace_"
    if isinstance(model, Sequence):
        return ValueError(f"model must be {expected}, got an empty {type(model).__name__}.")
    if not hasattr(model, "trace"):
        return model_error("model", expected, model)
    if not hasattr(model, "trace_"):
        return ValueError("There is no trace to play: fit the model with trace=True.")
    return ValueError("There is no trace to play: the fit made no step, such as a split of a tree.")


def _check_path(path: Path, n_frames: int) -> None:
    """Refuse a path to which an animation cannot be saved, before anything is drawn."""
    if _is_gif(path):
        return
    if path.suffix and not path.is_dir():
        raise ValueError(f"path must end in .gif or name a folder for PNG frames, got {path.name}.")
    others = {found.name for found in path.glob("frame_*.png")} - set(_frame_files(n_frames))
    if others:
        raise FileExistsError(
            f"{path} contains frames of a longer animation ({min(others)}): empty the folder or "
            "choose another."
        )


def _is_gif(path: Path) -> bool:
    return path.suffix.lower() == ".gif"


def _frame_files(n_frames: int) -> list[str]:
    return [f"frame_{index:04d}.png" for index in range(n_frames)]


def _write_gif(images: Sequence[Any], file: IO[bytes], fps: float) -> None:
    """Write an endless GIF whose frames share one palette, so that no color flickers."""
    palette = _palette(images)
    frames = [_indexed(image, palette) for image in images]
    durations = [round(1000 / fps)] * len(frames)
    durations[-1] *= _LAST_FRAME
    frames[0].save(
        file, format="GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0
    )


def _palette(images: Sequence[Any]) -> Array:
    """Return 256 colors: those of the style, and the best others of some frames."""
    from PIL import Image, ImageColor

    sampled = np.unique(np.linspace(0, len(images) - 1, _SAMPLED_FRAMES).round().astype(int))
    sheet = Image.fromarray(np.concatenate([np.asarray(images[index]) for index in sampled]))
    own = [ImageColor.getrgb(name) for name in _COLORS]
    others = np.reshape(sheet.quantize(colors=256 - len(own)).getpalette() or [], (-1, 3))
    return np.concatenate([own, others]).astype(np.uint8)


def _indexed(image: Any, palette: Array) -> Any:
    from PIL import Image

    # The look-up of Pillow is coarse: it maps a near white of the palette to white.
    pixels = np.asarray(image).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    colors, inverse = np.unique(pixels, return_inverse=True)
    channels = np.stack([colors >> 16, colors >> 8 & 255, colors & 255], axis=1)
    nearest = np.argmin(cdist(channels, palette, "sqeuclidean"), axis=1).astype(np.uint8)
    indexed = Image.fromarray(nearest[inverse].reshape(pixels.shape), "P")
    indexed.putpalette(palette.tobytes())
    return indexed
