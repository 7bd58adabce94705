"""The one player: it replays the trace of any learner that has a painter."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from ceiba.plots.playback.film import check_path, save_film, write_gif
from ceiba.plots.playback.painter import Painter, painter_for
from ceiba.plots.style import new_figure

__all__ = ["Player", "play"]

_SIZE = (9.6, 4.8)  # inches


class Player:
    """A trace ready to be looked at: frame by frame, in a notebook, or as a file.

    Parameters
    ----------
    painter : Painter
    places : sequence of int
        Which frames of the trace the film shows.
    fps : float
        Frames a second.
    """

    def __init__(self, painter: Painter, places: Sequence[int], fps: float) -> None:
        if not fps > 0:
            raise ValueError(f"fps={fps}: give the frames a second, more than 0")
        self.painter = painter
        self.places = tuple(places)
        self.fps = fps

    def __len__(self) -> int:
        return len(self.places)

    def draw(self, frame: int) -> Any:
        """Frame number ``frame`` of the film as a figure."""
        figure = new_figure(*_SIZE)
        self.painter.draw(self.painter.layout(figure), self.places[frame])
        return figure

    def images(self) -> list[Any]:
        """Every frame as a PIL image."""
        figure = new_figure(*_SIZE)
        from PIL import Image  # comes with matplotlib

        axes = self.painter.layout(figure)
        images = []
        for place in self.places:
            for ax in figure.axes:
                ax.clear()
            self.painter.draw(axes, place)
            images.append(Image.fromarray(figure.pixels()).convert("RGB"))
            # What the first frame laid out stays: nothing jumps, and laying out takes long.
            figure.set_layout_engine("none")
        return images

    def save(self, path: str | Path) -> Path:
        """Write the film: a GIF where ``path`` ends so, else PNG frames in that folder."""
        check_path(path, len(self))
        return save_film(self.images(), path, self.fps)

    def _repr_html_(self) -> str:
        from ceiba.plots.playback.picture import inline_image

        file = BytesIO()
        write_gif(self.images(), file, self.fps)
        return inline_image(file.getvalue(), "gif")

    def __repr__(self) -> str:
        return f"Player({len(self)} frames, {self.fps:g} a second)"


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
    """Replay how a model was learnt, step by step, and save it as a film.

    For k-means: the rows in the colours of their nearest centre, the centres with the paths that
    they came along, rows that changed cluster lit up, and the inertia beside them. For a Gaussian
    mixture: the rows in the mixed colours of the components that are responsible for them, the
    ellipses of one and two standard deviations, the paths of the means, and the log-likelihood.
    For a tree: split after split as it grew, with what the columns had to offer, and then cut after
    cut of its pruning; these can be played of a pruned tree that was fitted without a trace. For
    AdaBoost: the rows as large as they weigh, those that the round's learner misses ringed, its
    border and what the committee predicts so far, with the learners' errors and alphas.

    Parameters
    ----------
    model : fitted estimator or trace
        An estimator fitted with ``trace=True``, or its ``trace_``.
    X : array, frame or table
        The rows to draw, as given to ``fit``.
    path : str or Path, optional
        ``film.gif`` for an animated GIF, or a folder for numbered PNG frames. Nothing is
        written without it.
    y : array of shape (n_rows,), optional
        Classes of the rows, for AdaBoost; without them its rows are grey.
    columns : pair of names or numbers, optional
        The two numeric columns to show of AdaBoost, where there are more.
    fps : float
        Frames a second.
    max_frames : int
        Show this many frames, evenly chosen, the first and the last among them, where the trace
        has more.

    Returns
    -------
    Player
        Shows itself in a notebook; ``draw(i)`` gives a frame as a figure.

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
        raise ValueError(f"max_frames={max_frames}: a film needs at least 2")
    places = np.unique(np.linspace(0, len(trace) - 1, min(len(trace), max_frames)).round())
    painter = painter_for(trace, X, estimator, y=y, columns=columns)
    player = Player(painter, places.astype(int).tolist(), fps)
    if path is not None:
        player.save(path)
    return player


def _trace_of(model: Any) -> tuple[Sequence[Any], Any]:
    """The frames, and the estimator that they came from, if any."""
    estimator = None if isinstance(model, Sequence) else model
    trace = model
    if estimator is not None:
        pruning = getattr(model, "pruning_", None)
        trace = [*getattr(model, "trace_", ()), *getattr(pruning, "trace", ())]
    if not trace:
        raise ValueError("there is no trace to play: fit the model with trace=True")
    return trace, estimator
