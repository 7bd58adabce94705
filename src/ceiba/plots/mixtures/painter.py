"""Draw the frames of EM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots import playback
from ceiba.plots.mixtures.components import Components
from ceiba.plots.mixtures.view import MixtureView
from ceiba.plots.style import color_of, number_text, style_axes

# More rows slow an animation down and blur its colors.
_MAX_POINTS = 5_000
_CURVES = {"log_likelihood": "Log-likelihood", "objective": "Penalized"}


class MixturePainter:
    """Draw the frames of EM: rows, ellipses, paths of the means, likelihood.

    An objective that differs from the log-likelihood, as under a prior, has its own panel. If the
    number of components decreases, those with the smallest total responsibility are taken as
    dropped, and the others keep their numbers.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        self._frames = frames
        self._view = MixtureView.of(X, model, _MAX_POINTS)
        self._components = [Components.of_frame(frame) for frame in frames]
        self._components[0].check_width(self._view.names)
        self._events = [e for e in getattr(model, "fit_events_", ()) if e.kind == "reseeded"]
        self._responsibilities: dict[int, Array] = {}
        self._numbers = self._number_components()
        self._means = [c.on(self._view.projection).means for c in self._components]
        self._box = self._view.box(self._components[-1:], passing=self._components)

    def layout(self, figure: Any) -> list[Any]:
        """Make axes for the rows, and to their right for the likelihood and the objective."""
        if len(self._curves()) == 1:
            return list(figure.subplots(1, 2, width_ratios=[2.1, 1]))
        grid = figure.add_gridspec(2, 2, width_ratios=[2.1, 1])
        return [figure.add_subplot(cell) for cell in (grid[:, 0], grid[0, 1], grid[1, 1])]

    def draw(self, axes: Sequence[Any], index: int) -> None:
        """Draw one iteration."""
        self._draw_rows(axes[0], index)
        for ax, name in zip(axes[1:], self._curves(), strict=True):
            note = number_text(float(self._frames[index][name]), 7)
            playback.draw_progress(ax, self._frames, name, index, title=_CURVES[name], note=note)

    def responsibilities(self, index: int) -> Array:
        """Return the responsibilities for the drawn rows in one frame, (n, K)."""
        if index not in self._responsibilities:
            components = self._components[index]
            self._responsibilities[index] = components.responsibilities(self._view.rows)
        return self._responsibilities[index]

    def numbers(self, index: int) -> list[int]:
        """Return the numbers of a frame's components, which they keep over frames."""
        return self._numbers[index]

    def _number_components(self) -> list[list[int]]:
        numbers = [list(range(len(self._components[0])))]
        next_number = len(numbers[0])
        for index, components in enumerate(self._components[1:]):
            kept = self._kept(index, len(components))
            added = range(next_number, next_number + len(components) - len(kept))
            numbers.append([numbers[-1][k] for k in kept] + list(added))
            next_number += len(added)
        return numbers

    def _kept(self, index: int, n_after: int) -> Array:
        """Return the components of a frame that the next frame still has."""
        n_before = len(self._components[index])
        if n_after >= n_before:
            return np.arange(n_before)
        totals = self.responsibilities(index).sum(axis=0)
        return np.sort(np.argsort(totals, kind="stable")[n_before - n_after :])

    def _draw_rows(self, ax: Any, index: int) -> None:
        self._draw_paths(ax, index)
        self._view.draw(
            ax, self._components[index], self._box,
            numbers=self.numbers(index), responsibilities=self.responsibilities(index),
        )  # fmt: skip
        style_axes(ax, title=self._title(index))
        self._view.label_axes(ax)

    def _draw_paths(self, ax: Any, index: int) -> None:
        """Draw the path of each mean; a single column shows densities instead."""
        if self._view.one_column:
            return
        for number in self.numbers(index):
            path = [
                means[numbers.index(number)]
                for means, numbers in zip(self._means, self._numbers[: index + 1], strict=False)
                if number in numbers
            ]
            playback.draw_path(ax, path, color_of(number), (3.2, 3.3), linewidth=1.6, markersize=3)

    def _curves(self) -> list[str]:
        """Return the log-likelihood, and the objective if it differs."""
        penalized = any(
            frame["objective"] != frame["log_likelihood"]
            for frame in self._frames
            if "objective" in playback.frame_names(frame)
        )
        return list(_CURVES) if penalized else ["log_likelihood"]

    def _title(self, index: int) -> str:
        title = playback.iteration_title(self._frames, index)
        if index == 0:
            return title
        before = self.numbers(index - 1)
        dropped = sorted(set(before) - set(self.numbers(index)))
        reseeded = sorted({before[event.component] for event in self._repairs(index)})
        changes = [f"{_names(dropped)} dropped"] if dropped else []
        changes += [f"{_names(reseeded)} reseeded"] if reseeded else []
        return f"{title}: {', '.join(changes)}" if changes else title

    def _repairs(self, index: int) -> list[Any]:
        """Return the events between the previous frame and this one."""
        since, until = (playback.frame_iteration(self._frames[i], i) for i in (index - 1, index))
        return [event for event in self._events if since <= event.step < until]


def _names(numbers: list[int]) -> str:
    noun = "component" if len(numbers) == 1 else "components"
    return f"{noun} {' and '.join(str(number) for number in numbers)}"
