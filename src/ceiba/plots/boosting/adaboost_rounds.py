"""Draw the rounds of AdaBoost, side by side or as frames of an animation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.plots import style
from ceiba.plots.boosting.adaboost_view import AdaBoostView, check_boosted, round_numbers
from ceiba.plots.docstrings import documented
from ceiba.plots.playback import axes_beside

_N_PANELS = 6
# Fewer grid points and rows than a still picture: an animation has many frames.
_ANIMATED_RESOLUTION = 150
_MAX_ANIMATED_POINTS = 1_000

_Curves = dict[str, tuple[list[float], str, Any]]  # label -> values, color and line style


@documented
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
    """Draw some rounds of boosting over two columns, and errors and weights of all rounds.

    In the panel of a round the area of a row is its weight before the round, on the same scale in
    every panel, up to a maximum. The dashed line is the boundary of the round's estimator, and the
    rows that it misclassifies are ringed: their weight increases in the next round. The colors and
    the solid line are the prediction of the ensemble of all rounds so far. Ensembles of Ceiba's
    trees are drawn exactly, unless they have hundreds of thresholds in a column; others on a grid.

    Parameters
    ----------
    model : fitted classifier
        A `ceiba.AdaBoostClassifier` fitted with ``trace=True``.
    X : array, frame or table of shape (n_rows, n_columns)
        The rows that it was fitted to.
    y : array of shape (n_rows,), optional
        Their classes; without them the rows are gray, and the error of the ensemble is not drawn.
    rounds : sequence of int, optional
        Rounds to draw, from 1. By default six, most of them early.
    columns : pair of str or int, optional
        The two numeric columns to show; required if there are more. The others are fixed at their
        median or most frequent category: the picture is then one section through the model.
    resolution : int
        Grid points along each axis, for an ensemble that is not drawn exactly.
    {sample}
    {figure}

    {picture}

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
    check_boosted(model)
    frames: Sequence[Any] = getattr(model, "trace_", None) or ()
    if not len(frames):
        raise ValueError("There is no trace of the rounds: fit the model with trace=True.")
    indices = _frame_indices(round_numbers(frames), rounds)
    view = AdaBoostView.of(
        model, frames, X, y, columns, resolution=resolution, max_points=max_points,
        random_state=random_state,
    )  # fmt: skip
    n_columns = 2 if len(indices) == 4 else min(3, len(indices))
    n_lines = -(-len(indices) // n_columns)
    figure = figure or style.new_figure(max(3.3 * n_columns, 6.6), 2.9 * n_lines + 2.2)
    grid = figure.add_gridspec(n_lines + 1, 2 * n_columns, height_ratios=[*[2.9] * n_lines, 1.5])
    for panel, index in enumerate(indices):
        line, column = divmod(panel, n_columns)
        ax = figure.add_subplot(grid[line, 2 * column : 2 * column + 2])
        view.draw(ax, index)
        is_lowest = panel + n_columns >= len(indices)
        _label_panel(ax, view, index, x=is_lowest, y=column == 0)
    _draw_errors(figure.add_subplot(grid[n_lines, :n_columns]), view, indices)
    _draw_weights(figure.add_subplot(grid[n_lines, n_columns:]), view, indices)
    if view.section.fixed_text:
        figure.suptitle(
            view.section.fixed_text, x=0.01, ha="left", fontsize=style.LABEL_SIZE, color=style.MUTED
        )
    view.add_legend(figure)
    return figure


def _frame_indices(kept: list[int], requested: Sequence[int] | None) -> list[int]:
    if requested is None:
        spread = np.geomspace(1, len(kept), min(_N_PANELS, len(kept)))
        return [number - 1 for number in _increasing(spread.round().astype(int).tolist())]
    if isinstance(requested, int | str) or not len(requested):
        raise ValueError(f"rounds must be a sequence of rounds like [1, 2, 10], got {requested!r}.")
    for number in requested:
        if number not in kept:
            raise ValueError(f"rounds must be in the trace, {_range_text(kept)}, got {number}.")
    return [kept.index(number) for number in requested]


def _increasing(numbers: list[int]) -> list[int]:
    """Raise numbers so that each is at least one above its predecessor."""
    found: list[int] = []
    for number in numbers:
        found.append(max(number, found[-1] + 1) if found else number)
    return found


def _range_text(rounds: list[int]) -> str:
    if rounds[-1] - rounds[0] == len(rounds) - 1:
        return f"from {rounds[0]:,} to {rounds[-1]:,}"
    first = ", ".join(map(str, rounds[:3]))
    return f"{first}, … {rounds[-1]} (thinned to every {rounds[1] - rounds[0]})"


def _label_panel(ax: Any, view: AdaBoostView, index: int, *, x: bool, y: bool) -> None:
    """Set round, error and estimator weight; label the outer axes only."""
    frame, number, names = view.frames[index], view.rounds[index], view.section.names
    x_name, y_name = names[0] if x else "", names[1] if y else ""
    style.style_axes(ax, title=f"Round {number:,}", x=x_name, y=y_name)
    is_kept = number <= len(view.model.estimators_)
    weight = f"α {frame['alpha']:.2f}" if is_kept else "not kept"
    style.set_note(ax, f"error {frame['error']:.3f}, {weight}", fontsize=style.TICK_SIZE)
    ax.locator_params(nbins=5)


def _draw_errors(ax: Any, view: AdaBoostView, marked: Sequence[int], last: int = -1) -> None:
    """Draw the weighted error of each estimator, and that of the ensemble if known."""
    curves: _Curves = {"estimator, weighted": (view.errors, style.PALETTE[0], "-")}
    if view.ensemble_errors is not None:
        curves["ensemble"] = view.ensemble_errors, style.PALETTE[2], (0, (3, 1))
    # Leave space above the curves for the legend, which then does not move in an animation.
    _draw_curves(ax, view, "Error", curves, 1.4, marked, last)
    spacing = {"handlelength": 2.2, "columnspacing": 1.2, "borderaxespad": 0.0}
    ax.legend(
        loc="upper right", ncols=2, **spacing, **{**style.LEGEND, "fontsize": style.TICK_SIZE}
    )


def _draw_weights(ax: Any, view: AdaBoostView, marked: Sequence[int], last: int = -1) -> None:
    """Draw the weight of each round's estimator, like `_draw_errors`."""
    curves: _Curves = {"": (view.estimator_weights, style.PALETTE[0], "-")}
    _draw_curves(ax, view, "Estimator weight α", curves, 1.12, marked, last)


def _draw_curves(
    ax: Any,
    view: AdaBoostView,
    title: str,
    curves: _Curves,
    headroom: float,
    marked: Sequence[int],
    last: int,
) -> None:
    """Draw curves over the rounds, pale after the frame at ``last``, with marks on the first."""
    rounds, done = view.rounds, slice(0, last % len(view.rounds) + 1)
    for label, (values, color, line) in curves.items():
        ax.plot(rounds, values, color=style.PALE, linewidth=1.4, linestyle=line)
        look = {"color": color, "linestyle": line, "label": label}
        ax.plot(rounds[done], values[done], linewidth=1.7, **look)
    values = next(iter(curves.values()))[0]
    ax.plot(
        [rounds[index] for index in marked], [values[index] for index in marked], "o",
        color=style.ACCENT, markersize=6, zorder=3, clip_on=False, gid="shown",
    )  # fmt: skip
    style.style_axes(ax, title=title, x="round", grid="y")
    top = headroom * max(max(values) for values, _, _ in curves.values())
    margin = max(0.5, 0.04 * (rounds[-1] - rounds[0]))
    ax.set(xlim=(rounds[0] - margin, rounds[-1] + margin), ylim=(0, top or 1.0))
    ax.locator_params(axis="x", integer=True, nbins=6)
    ax.locator_params(axis="y", nbins=5)
    style.plain_numbers(ax)


class AdaBoostPainter:
    """Draw the frames of boosting: rows by weight, regions, errors and weights."""

    def __init__(
        self,
        frames: Sequence[Any],
        X: Any,
        model: Any,
        *,
        y: Any = None,
        columns: Sequence[str | int] | None = None,
    ) -> None:
        if model is None:
            raise ValueError("A trace of boosting requires its ensemble: play the fitted model.")
        check_boosted(model)
        self._view = AdaBoostView.of(
            model, frames, X, y, columns, resolution=_ANIMATED_RESOLUTION,
            max_points=_MAX_ANIMATED_POINTS,
        )  # fmt: skip

    def layout(self, figure: Any) -> list[Any]:
        """Make axes for the rows, to their right for errors and weights, and the legend."""
        self._view.add_legend(figure)
        return axes_beside(figure, 2, 1.9)

    def draw(self, axes: Sequence[Any], index: int) -> None:
        """Draw one round, and the errors and estimator weights up to it."""
        view = self._view
        view.draw(axes[0], index)
        x, y = view.section.names
        style.style_axes(axes[0], title=self._title(index), x=x, y=y)
        _draw_errors(axes[1], view, [index], index)
        _draw_weights(axes[2], view, [index], index)
        for ax, values in ((axes[1], view.errors), (axes[2], view.estimator_weights)):
            style.set_note(ax, f"{values[index]:.3f}".replace("-", "−"), style.ACCENT)

    def _title(self, index: int) -> str:
        frame, view = self._view.frames[index], self._view
        n_wrong = style.count_text(int(np.count_nonzero(frame["wrong"])), "row")
        wrong = f"{n_wrong} misclassified, {frame['error']:.1%} of the weight"
        fixed = f"\n{view.section.fixed_text}" if view.section.fixed_text else ""
        return f"Round {view.rounds[index]:,} of {view.rounds[-1]:,}: {wrong}{fixed}"
