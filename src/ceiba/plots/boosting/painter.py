"""Frames of boosting: rows gain weight, learners join, and the boundary moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.plots.boosting.curves import draw_alphas, draw_errors
from ceiba.plots.boosting.stages import check_boosted
from ceiba.plots.boosting.view import BoostingView
from ceiba.plots.style import ACCENT, LABEL_SIZE, tidy

# Fewer places and rows than a still picture has: films are made of many.
_RESOLUTION = 150
_MOST_POINTS = 1_000


class BoostingPainter:
    """Draws rows by weight, the round's learner, the committee's regions, error and alpha.

    Parameters
    ----------
    frames : sequence of frames
        One a round: ``weights`` of the rows before it, ``error``, ``alpha`` and ``wrong``.
    X : array, frame or table
        The rows that the model was fitted to; at most 1,000 of them, at random, are drawn.
    model : fitted classifier
        Whose rounds these are.
    y : array of shape (n_rows,), optional
        Classes of the rows; without them rows are grey.
    columns : pair of names or numbers, optional
        The columns to show, where there are more than two.
    """

    def __init__(
        self,
        frames: Sequence[Any],
        X: Any,
        model: Any,
        *,
        y: Any = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        check_boosted(model)
        self._view = BoostingView.of(
            model, frames, X, y, columns, resolution=_RESOLUTION, max_points=_MOST_POINTS
        )

    def layout(self, figure: Any) -> list[Any]:
        """Rows to the left, errors over alphas to the right, the legend beneath."""
        grid = figure.add_gridspec(2, 2, width_ratios=[1.9, 1])
        self._view.legend(figure)
        return [figure.add_subplot(cell) for cell in (grid[:, 0], grid[0, 1], grid[1, 1])]

    def draw(self, axes: Sequence[Any], place: int) -> None:
        """Draw one round, and the errors and alphas up to it."""
        view = self._view
        view.draw(axes[0], place)
        tidy(axes[0], title=self._title(place), x=view.section.names[0], y=view.section.names[1])
        draw_errors(axes[1], view, [place], place)
        draw_alphas(axes[2], view, [place], place)
        for ax, values in ((axes[1], view.errors), (axes[2], view.alphas)):
            now = f"{values[place]:.3f}".replace("-", "−")
            ax.set_title(now, loc="right", fontsize=LABEL_SIZE, color=ACCENT, pad=8)

    def _title(self, place: int) -> str:
        frame, view = self._view.frames[place], self._view
        n = int(np.count_nonzero(frame["wrong"]))
        missed = f"{n:,} {'row' if n == 1 else 'rows'} missed, {frame['error']:.1%} of the weight"
        held = f"\n{view.section.held_words}" if view.section.held_words else ""
        return f"Round {view.steps[place]:,} of {view.steps[-1]:,}: {missed}{held}"
