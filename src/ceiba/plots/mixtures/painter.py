"""Frames of EM: how the components of a mixture share the rows out among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.mixtures.components import Components
from ceiba.plots.mixtures.view import MixtureView
from ceiba.plots.playback.painter import frame_names, frame_step
from ceiba.plots.style import ACCENT, LABEL_SIZE, PALETTE, colour_of, plain_numbers, tidy

# More rows than this only make a film slow and its colours run together.
_MOST_POINTS = 5_000
_CURVES = {"log_likelihood": "Log-likelihood", "objective": "With the prior"}


class MixturePainter:
    """Draws rows by responsibility, ellipses, the means' paths, and the log-likelihood.

    Parameters
    ----------
    frames : sequence of frames
        Each with ``weights``, ``means``, ``covariances``, (K, d, d) or (K, d), and
        ``log_likelihood``. Where there is an ``objective`` that differs from it, as under a
        prior, that is drawn as well. K may fall from one frame to the next: the component that
        held least is then taken for the dropped one, and the others keep their numbers.
    X : array, frame or table
        The rows to draw; at most 5,000 of them, at random, are.
    model : fitted estimator, optional
        Whose schema the rows are read under, and whose ``account_`` tells of components that
        were started again.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        self._frames = frames
        self._view = MixtureView.of(X, model, _MOST_POINTS)
        self._states = [Components.of_frame(frame) for frame in frames]
        self._states[0].check_width(self._view.names)
        self._events = [e for e in getattr(model, "account_", ()) if e.kind == "reseeded"]
        self._known: dict[int, Array] = {}
        self._numbers = self._number()
        self._means = [state.on(self._view.plane).means for state in self._states]
        self._box = self._view.box(self._states[-1:], passing=self._states)

    def layout(self, figure: Any) -> list[Any]:
        """Rows to the left, the log-likelihood to the right, over the objective if it differs."""
        if len(self._curves()) == 1:
            return list(figure.subplots(1, 2, width_ratios=[2.1, 1]))
        grid = figure.add_gridspec(2, 2, width_ratios=[2.1, 1])
        return [figure.add_subplot(cell) for cell in (grid[:, 0], grid[0, 1], grid[1, 1])]

    def draw(self, axes: Sequence[Any], place: int) -> None:
        """Draw the state of one step, and how it came about."""
        self._draw_rows(axes[0], place)
        for ax, name in zip(axes[1:], self._curves(), strict=True):
            self._draw_curve(ax, name, place)

    def responsibilities(self, place: int) -> Array:
        """Probability of each component for each drawn row, at one frame, (n, K)."""
        if place not in self._known:
            self._known[place] = self._states[place].responsibilities(self._view.rows)
        return self._known[place]

    def numbers(self, place: int) -> list[int]:
        """What the components of a frame are called: their numbers at the start."""
        return self._numbers[place]

    def _number(self) -> list[list[int]]:
        numbers = [list(range(len(self._states[0])))]
        next_number = len(numbers[0])
        for place, state in enumerate(self._states[1:]):
            kept = self._survivors(place, len(state))
            born = range(next_number, next_number + len(state) - len(kept))
            numbers.append([numbers[-1][k] for k in kept] + list(born))
            next_number += len(born)
        return numbers

    def _survivors(self, place: int, n_after: int) -> Array:
        """Which components of a frame the next one still has: all, or those that held most."""
        n_before = len(self._states[place])
        if n_after >= n_before:
            return np.arange(n_before)
        held = self.responsibilities(place).sum(axis=0)
        return np.sort(np.argsort(held, kind="stable")[n_before - n_after :])

    def _draw_rows(self, ax: Any, place: int) -> None:
        self._draw_paths(ax, place)
        self._view.draw(
            ax, self._states[place], self._box,
            numbers=self.numbers(place), responsibilities=self.responsibilities(place),
        )  # fmt: skip
        tidy(ax, title=self._title(place))
        self._view.dress(ax)

    def _draw_paths(self, ax: Any, place: int) -> None:
        """Where each mean has come from; in a single column the curves say enough."""
        if self._view.one_column:
            return
        for number in self.numbers(place):
            path = [
                means[numbers.index(number)]
                for means, numbers in zip(self._means, self._numbers[: place + 1], strict=False)
                if number in numbers
            ]
            x, y = np.transpose(path)
            ax.plot(x, y, "-", color="white", linewidth=3.2, zorder=3.2)
            ax.plot(x, y, "-o", color=colour_of(number), linewidth=1.6, markersize=3, zorder=3.3)

    def _draw_curve(self, ax: Any, name: str, place: int) -> None:
        steps = [self._step(i) for i in range(len(self._frames))]
        values = [float(frame[name]) for frame in self._frames]
        done = slice(0, place + 1)
        ax.plot(steps, values, color="#D8D8D8", linewidth=1.4)
        ax.plot(steps[done], values[done], "-o", color=PALETTE[0], linewidth=1.8, markersize=4)
        ax.plot(steps[place], values[place], "o", color=ACCENT, markersize=8)
        tidy(ax, title=_CURVES[name], x="step", grid="y")
        now = f"{values[place]:.7g}".replace("-", "−")
        ax.set_title(now, loc="right", fontsize=LABEL_SIZE, color=ACCENT, pad=8)
        ax.locator_params(axis="x", integer=True, nbins=6)
        ax.margins(x=0.08)
        plain_numbers(ax)

    def _curves(self) -> list[str]:
        """The log-likelihood, and the objective where it is another."""
        penalised = any(
            frame["objective"] != frame["log_likelihood"]
            for frame in self._frames
            if "objective" in frame_names(frame)
        )
        return list(_CURVES) if penalised else ["log_likelihood"]

    def _title(self, place: int) -> str:
        step = f"Step {self._step(place)} of {self._step(len(self._frames) - 1)}"
        if place == 0:
            return f"{step}: the start"
        before = self.numbers(place - 1)
        gone = sorted(set(before) - set(self.numbers(place)))
        again = sorted({before[event.component] for event in self._repairs(place)})
        said = [f"{_names(gone)} dropped"] if gone else []
        said += [f"{_names(again)} started again"] if again else []
        return f"{step}: {', '.join(said)}" if said else step

    def _repairs(self, place: int) -> list[Any]:
        """What was done to components between the frame before and this one."""
        since, until = self._step(place - 1), self._step(place)
        return [event for event in self._events if since <= event.step < until]

    def _step(self, place: int) -> int:
        return frame_step(self._frames[place], place)


def _names(numbers: list[int]) -> str:
    noun = "component" if len(numbers) == 1 else "components"
    return f"{noun} {' and '.join(str(number) for number in numbers)}"
