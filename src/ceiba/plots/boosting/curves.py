"""Error and say of the learners that boosting adds, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ceiba.plots.boosting.view import BoostingView
from ceiba.plots.style import ACCENT, INK, PALETTE, TICK_SIZE, plain_numbers, tidy

_PALE = "#D8D8D8"


def draw_errors(ax: Any, view: BoostingView, marked: Sequence[int], upto: int = -1) -> None:
    """Weighted error of each round's learner, and the committee's on the rows where it is known.

    Parameters
    ----------
    ax : Axes
    view : BoostingView
    marked : sequence of int
        Places of the frames that are drawn beside.
    upto : int
        Place of the last frame that has been; later ones are pale.
    """
    _draw_curve(ax, view, view.errors, upto, PALETTE[0], "-", "learner, weighted")
    _draw_marks(ax, view, view.errors, marked)
    if view.committee is not None:
        _draw_curve(ax, view, view.committee, upto, PALETTE[2], (0, (3, 1)), "committee")
    # Room above the curves for the legend, which then stays where it is in a film.
    _dress(ax, view, "Error", 1.4 * max([*view.errors, *(view.committee or [])]))
    ax.legend(
        loc="upper right", ncols=2, fontsize=TICK_SIZE, labelcolor=INK, frameon=False,
        handlelength=2.2, columnspacing=1.2, borderaxespad=0.0,
    )  # fmt: skip


def draw_alphas(ax: Any, view: BoostingView, marked: Sequence[int], upto: int = -1) -> None:
    """How much each round's learner has to say, as `draw_errors`."""
    _draw_curve(ax, view, view.alphas, upto, PALETTE[0], "-", "")
    _draw_marks(ax, view, view.alphas, marked)
    _dress(ax, view, "Say of the learner, α", 1.12 * max(view.alphas))


def _draw_curve(
    ax: Any,
    view: BoostingView,
    values: Sequence[float],
    upto: int,
    colour: str,
    line: Any,
    label: str,
) -> None:
    done = slice(0, upto % len(values) + 1)
    ax.plot(view.steps, values, color=_PALE, linewidth=1.4, linestyle=line)
    ax.plot(
        view.steps[done], values[done], color=colour, linewidth=1.7, linestyle=line, label=label
    )


def _draw_marks(
    ax: Any, view: BoostingView, values: Sequence[float], marked: Sequence[int]
) -> None:
    ax.plot(
        [view.steps[place] for place in marked], [values[place] for place in marked], "o",
        color=ACCENT, markersize=6, zorder=3, clip_on=False, gid="shown",
    )  # fmt: skip


def _dress(ax: Any, view: BoostingView, title: str, top: float) -> None:
    tidy(ax, title=title, x="round", grid="y")
    first, last = view.steps[0], view.steps[-1]
    room = max(0.5, 0.04 * (last - first))
    ax.set(xlim=(first - room, last + room), ylim=(0, top or 1.0))
    ax.locator_params(axis="x", integer=True, nbins=6)
    ax.locator_params(axis="y", nbins=5)
    plain_numbers(ax)
