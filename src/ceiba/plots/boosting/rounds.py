"""Rounds of boosting side by side: which rows gain weight, and how the boundary moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.plots.boosting.curves import draw_alphas, draw_errors
from ceiba.plots.boosting.stages import boosting_trace, round_numbers
from ceiba.plots.boosting.view import BoostingView
from ceiba.plots.style import LABEL_SIZE, MUTED, TICK_SIZE, new_figure, tidy

__all__ = ["rounds"]

_PANELS = 6


def rounds(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    rounds: Sequence[int] | None = None,
    columns: Sequence[str | int] | None = None,
    resolution: int = 200,
    max_points: int = 600,
    random_state: Any = 0,
    figure: Any = None,
) -> Any:
    """Draw some rounds of boosting over two numeric columns, and all rounds' errors beneath.

    In the panel of a round the area of a row is its weight before the round, in the same measure in
    every panel, cut off where it would cover the others. The dashed line is the border of the
    round's own learner, and the rows that it gets wrong are ringed: they weigh more in the next
    round. Colours and the whole line are what the committee of all rounds so far predicts.
    Committees of Ceiba's trees are drawn exactly, unless they have hundreds of thresholds in a
    column; any other on a grid.

    Parameters
    ----------
    model : fitted classifier
        An `ceiba.AdaBoostClassifier` fitted with ``trace=True``.
    X : array, frame or table
        The rows that it was fitted to.
    y : array of shape (n_rows,), optional
        Their classes; without them rows are grey, and the committee's error is not drawn.
    rounds : sequence of int, optional
        Which rounds, from 1. Unless given six of them, more of the early ones.
    columns : pair of names or numbers, optional
        The columns to show, where there are more than two. The others are held at their median or
        most frequent level: the picture is then one cut through the model.
    resolution : int
        Places of the grid along each axis.
    max_points : int
        Draw a random sample of this many rows where there are more.
    random_state : int or None
        Draws that sample.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        A panel for each round, and two of the error and the say (alpha) of every round's learner.

    Examples
    --------
    >>> from ceiba import AdaBoostClassifier, datasets, plots
    >>> table = datasets.load("nonlinear_boundary", n_rows=80)
    >>> model = AdaBoostClassifier(n_estimators=10, trace=True).fit(table.X, table.y)
    >>> picture = plots.rounds(model, table.X, table.y, rounds=[1, 2, 10])
    >>> len(picture.axes)
    5

    References
    ----------
    Freund & Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55.
    """
    frames = boosting_trace(model)
    places = _places(round_numbers(frames), rounds)
    view = BoostingView.of(
        model, frames, X, y, columns, resolution=resolution, max_points=max_points,
        random_state=random_state,
    )  # fmt: skip
    beside = 2 if len(places) == 4 else min(3, len(places))
    lines = -(-len(places) // beside)
    if figure is None:
        figure = new_figure(max(3.3 * beside, 6.6), 2.9 * lines + 2.2)
    grid = figure.add_gridspec(lines + 1, 2 * beside, height_ratios=[*[2.9] * lines, 1.5])
    for panel, place in enumerate(places):
        line, at = divmod(panel, beside)
        ax = figure.add_subplot(grid[line, 2 * at : 2 * at + 2])
        view.draw(ax, place)
        lowest = panel + beside >= len(places)
        _dress(ax, view, place, x=lowest, y=at == 0)
    draw_errors(figure.add_subplot(grid[lines, :beside]), view, places)
    draw_alphas(figure.add_subplot(grid[lines, beside:]), view, places)
    if view.section.held_words:
        held = view.section.held_words
        figure.suptitle(held, x=0.01, ha="left", fontsize=LABEL_SIZE, color=MUTED)
    view.legend(figure)
    return figure


def _places(kept: list[int], wanted: Sequence[int] | None) -> list[int]:
    """Places of the frames of the wanted rounds."""
    if wanted is None:
        spread = np.geomspace(1, len(kept), min(_PANELS, len(kept)))
        return [number - 1 for number in _apart(spread.round().astype(int).tolist())]
    if isinstance(wanted, int | str) or not len(wanted):
        raise ValueError(f"rounds={wanted!r}: give a sequence of rounds, like [1, 2, 10]")
    for step in wanted:
        if step not in kept:
            raise ValueError(
                f"the trace has no round {step}: it has {_listed(kept)}, counted from 1"
            )
    return [kept.index(step) for step in wanted]


def _apart(numbers: list[int]) -> list[int]:
    """The numbers, each at least one above the one before."""
    found: list[int] = []
    for number in numbers:
        found.append(max(number, found[-1] + 1) if found else number)
    return found


def _listed(steps: list[int]) -> str:
    if steps[-1] - steps[0] == len(steps) - 1:
        return f"{steps[0]:,} to {steps[-1]:,}"
    return f"{', '.join(map(str, steps[:3]))} … {steps[-1]}, thinned to every {steps[1] - steps[0]}"


def _dress(ax: Any, view: BoostingView, place: int, *, x: bool, y: bool) -> None:
    """Number, error and say of a round; names of the columns at the rims only."""
    frame, names = view.frames[place], view.section.names
    tidy(ax, title=f"Round {view.steps[place]:,}", x=names[0] if x else "", y=names[1] if y else "")
    kept = view.steps[place] <= len(view.model.estimators_)
    said = f"error {frame['error']:.3f}, " + (f"α {frame['alpha']:.2f}" if kept else "not kept")
    ax.set_title(said, loc="right", fontsize=TICK_SIZE, color=MUTED, pad=8)
    ax.locator_params(nbins=5)
