"""Draw a Gaussian mixture, under several covariance types, and the frames of EM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.mixture.gaussian_mixture import GaussianMixture
from ceiba.plots import playback, style
from ceiba.plots.docstrings import documented
from ceiba.plots.mixtures.view import DEVIATIONS, Box, Components, MixtureView

_CONTOURS = (0.25, 0.5, 0.75, 0.9, 0.99)
_FORM_CONTOURS = (0.5, 0.9)
_MAX_COLUMNS = 4  # panels side by side
# Values of a frame -> titles of their curves.
_CURVES = {"log_likelihood": "Log-likelihood", "objective": "Penalized"}
_MAX_ASPECT = 1.6  # ratio of the axis ranges up to which both have one scale


@documented
def mixture(
    model: Any,
    X: Any,
    *,
    deviations: Sequence[float] = DEVIATIONS,
    contours: Sequence[float] = _CONTOURS,
    ax: Any = None,
    max_points: int = 20_000,
    random_state: Any = 0,
) -> Any:
    """Draw rows under a Gaussian mixture: responsibilities, ellipses and density.

    The color of a row mixes the colors of the components by responsibility, so that ambiguous rows
    are visible. Two columns are the axes of the picture; more columns are projected on their first
    two principal components together with the mixture, whose projected means and covariances are
    exact. A single column is drawn as a histogram under the density, with its rows in a strip
    below. A missing value is drawn at the mean of its column, in the color that follows from the
    observed values of the row.

    Parameters
    ----------
    model : fitted mixture
        With ``weights_``, ``means_`` and ``covariances_``.
    {rows}
    deviations : sequence of float
        Standard deviations of the ellipses around each mean, or of the shades under the density
        of a single column; ``()`` for none.
    contours : sequence of float
        Probabilities enclosed by contours of equal density, or by lines at these densities for a
        single column; ``()`` for none.
    {ax}
    {sample}

    {picture}

    Examples
    --------
    >>> from ceiba import GaussianMixture, plots
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [8.0, 9.0], [9.0, 8.0]]
    >>> picture = plots.mixture(GaussianMixture(2).fit(X), X)
    >>> len(picture.axes)
    1
    """
    if not all(0 < deviation < np.inf for deviation in deviations):
        raise ValueError(f"deviations must be finite and greater than 0, got {deviations}.")
    if not all(0 < probability < 1 for probability in contours):
        raise ValueError(f"contours must be probabilities between 0 and 1, got {contours}.")
    components = Components.of_model(model)
    view = MixtureView.of(X, model, max_points, random_state)
    components.check_width(view.names)
    is_new = ax is None
    ax = ax or style.new_axes(7.4, 5.2)
    box = view.box([components], max(deviations, default=0.0))
    view.draw(ax, components, box, deviations=deviations, contours=contours)
    style.style_axes(ax, title=_title(model, components, view))
    view.label_axes(ax)
    if len(components) <= style.MAX_LEGEND:
        handles = _legend_handles(components, deviations, contours)
        style.add_legend(ax, "component", beside=is_new, handles=handles)
    return ax.figure


def _title(model: Any, components: Components, view: MixtureView) -> str:
    covariance_type = getattr(model, "covariance_type", None)
    name = type(model).__name__ + (f" ({covariance_type})" if covariance_type else "")
    rows = style.rows_text(view.n_rows, len(view.rows))
    return f"{name}, {style.count_text(len(components), 'component')} of {rows}"


def _legend_handles(
    components: Components, deviations: Sequence[float], contours: Sequence[float]
) -> list[Any]:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=style.marker_of(k), markersize=6,
               color=style.color_of(k), label=f"{k}  (weight {weight:.1%})")
        for k, weight in enumerate(components.weights)
    ]  # fmt: skip
    one_column = components.means.shape[1] == 1
    if len(deviations):
        label = f"{'shades' if one_column else 'ellipses'}: {_listed(deviations)} σ"
        handles.append(Line2D([], [], color=style.INK, linewidth=1.8, label=label))
    if len(contours):
        percent = _listed([100 * probability for probability in contours])
        label = f"{'lines' if one_column else 'contours'} enclose\n{percent} %"
        handles.append(Line2D([], [], color=style.MUTED, linewidth=0.8, label=label))
    return handles


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.4g}" for number in sorted(numbers))


@documented
def covariance_forms(
    X: Any,
    n_components: int,
    forms: Sequence[str] = ("spherical", "diag", "tied", "full"),
    *,
    figure: Any = None,
    max_points: int = 5_000,
    **options: Any,
) -> Any:
    """Draw fits of a Gaussian mixture under several covariance types.

    Every panel shows the same rows on the same axes, as `mixture` draws them, with ellipses of one
    and two standard deviations and contours that enclose 50 and 90 % of the probability. Components
    have the numbers of the nearest components of the first panel. Above each panel are the
    log-likelihood and BIC, the smallest BIC in color. If the axes of a new figure have similar
    ranges, they get one scale, so that a spherical component is a circle.

    Parameters
    ----------
    X : array, frame or table of shape (n_rows, n_columns)
        Rows in memory.
    n_components : int
    forms : sequence of str
        Values of ``covariance_type``, one panel each.
    {figure}
    max_points : int
        Draw a random sample of this many rows if there are more; all rows are used by the fits.
    **options
        Further parameters of `ceiba.GaussianMixture`, such as ``n_init=10``.

    {picture}

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> X, _ = datasets.load("iris")
    >>> picture = plots.covariance_forms(X, 3, ["EII", "full"])
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['EII', 'full']
    """
    if isinstance(forms, str) or not len(forms):
        raise ValueError(f'forms must be a sequence like ["tied", "full"], got {forms!r}.')
    types: Sequence[Any] = forms
    without_latent = {name: value for name, value in options.items() if name != "n_latent"}
    models = [
        GaussianMixture(
            n_components, covariance_type=form, **(options if form == "ppca" else without_latent)
        ).fit(X)
        for form in types
    ]
    view = MixtureView.of(X, models[0], max_points)
    fits = [Components.of_model(model) for model in models]
    axes = style.panel_grid(figure, len(models), _MAX_COLUMNS, (3.2, 3.9))
    box, equal = view.box(fits), False
    # Panels of a given figure may be too low to be square: constrained layout clips titles then.
    if figure is None:
        box, equal = _equal_ranges(box, view)
    for ax, components in zip(axes, fits, strict=True):
        numbers = _matching_numbers(components, fits[0])
        view.draw(ax, components, box, numbers=numbers, contours=_FORM_CONTOURS)
        ax.set_aspect("equal" if equal else "auto")
    _write_titles(axes, models, [float(model.bic(X)) for model in models])
    for ax in axes:
        view.label_axes(ax)
    style.label_outer(axes)
    return axes[0].figure


def _equal_ranges(box: Box, view: MixtureView) -> tuple[Box, bool]:
    """Extend the box to a square if its sides are similar; return also whether."""
    low, high = box
    sizes = high - low
    if view.one_column or sizes.max() > _MAX_ASPECT * sizes.min():
        return box, False
    center, half = (low + high) / 2, sizes.max() / 2
    return (center - half, center + half), True


def _matching_numbers(components: Components, first: Components) -> list[int]:
    """Number the components like the nearest ones of the first panel."""
    scale = first.standard_deviations().mean(axis=0)
    rows, columns = linear_sum_assignment(
        cdist(components.means / scale, first.means / scale, "sqeuclidean")
    )
    numbers = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    free = iter(range(len(first), len(first) + len(components)))
    return [numbers[k] if k in numbers else next(free) for k in range(len(components))]


def _write_titles(axes: Sequence[Any], models: Sequence[Any], bics: Sequence[float]) -> None:
    best = int(np.argmin(bics))
    for index, (ax, model, bic) in enumerate(zip(axes, models, bics, strict=True)):
        style.style_axes(ax, title=model.covariance_type)
        likelihood = style.number_text(model.log_likelihood_, 6)
        color = style.ACCENT if index == best and len(bics) > 1 else style.MUTED
        style.set_note(ax, f"log-likelihood {likelihood}\nBIC {style.number_text(bic, 6)}", color)


class MixturePainter:
    """Draw the frames of EM: rows, ellipses, paths of the means, likelihood.

    An objective that differs from the log-likelihood, as under a prior, has its own panel. If the
    number of components decreases, those with the smallest total responsibility are taken as
    dropped, and the others keep their numbers.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        self._frames = frames
        self._view = MixtureView.of(X, model, playback.MAX_POINTS)
        self._components = [Components.of_frame(frame) for frame in frames]
        self._components[0].check_width(self._view.names)
        self._events = [e for e in getattr(model, "fit_events_", ()) if e.kind == "reseeded"]
        self._responsibilities: dict[int, Array] = {}
        self._numbers = self._number_components()
        self._means = [c.on(self._view.projection).means for c in self._components]
        self._box = self._view.box(self._components[-1:], passing=self._components)

    def layout(self, figure: Any) -> list[Any]:
        """Make axes for the rows, and to their right for the likelihood and the objective."""
        return playback.axes_beside(figure, len(self._curves()), 2.1)

    def draw(self, axes: Sequence[Any], index: int) -> None:
        """Draw one iteration."""
        self._draw_rows(axes[0], index)
        for ax, name in zip(axes[1:], self._curves(), strict=True):
            note = style.number_text(float(self._frames[index][name]), 7)
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
        style.style_axes(ax, title=self._title(index))
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
            playback.draw_path(
                ax, path, style.color_of(number), (3.2, 3.3), linewidth=1.6, markersize=3
            )

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
