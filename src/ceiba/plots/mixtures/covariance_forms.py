"""One table under several forms of covariance, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from ceiba.mixture.gaussian_mixture import GaussianMixture
from ceiba.plots.mixtures.components import Components
from ceiba.plots.mixtures.view import Box, MixtureView
from ceiba.plots.style import ACCENT, LABEL_SIZE, MUTED, new_figure, tidy

__all__ = ["covariance_forms"]

_COLUMNS = 4  # panels beside each other
_SHARES = (0.5, 0.9)
_ALIKE = 1.6  # ranges of the axes, one over the other


def covariance_forms(
    X: Any,
    n_components: int,
    forms: Sequence[str] = ("spherical", "diag", "tied", "full"),
    *,
    figure: Any = None,
    max_points: int = 5_000,
    **options: Any,
) -> Any:
    """Fit a Gaussian mixture under each form of covariance, and draw the fits side by side.

    Every panel shows the same rows on the same axes, as `mixture` draws them: ellipses of one and
    two standard deviations, and contours that hold 50 and 90 % of the probability. Components are
    numbered as those of the first panel that they are nearest to. Above each panel stand the
    log-likelihood and BIC, the lowest BIC in colour. Where both axes of a new figure span about as
    much, they have one scale, and a spherical component is a circle; otherwise it looks like an
    ellipse.

    Parameters
    ----------
    X : array, frame or table
        Rows in memory.
    n_components : int
    forms : sequence of str
        Values of ``covariance_type``, a panel each.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.
    max_points : int
        Draw a random sample of this many rows where there are more; all of them are fitted.
    **options
        Further parameters of `ceiba.GaussianMixture`: ``n_init=10``, ``random_state=1``.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> X, _ = datasets.load("iris")
    >>> picture = plots.covariance_forms(X, 3, ["EII", "full"])
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['EII', 'full']
    """
    if isinstance(forms, str) or not len(forms):
        raise ValueError(f'forms={forms!r}: give a sequence of forms, like ["tied", "full"]')
    models = [_fitted(X, n_components, covariance_type=form, **options) for form in forms]
    view = MixtureView.of(X, models[0], max_points)
    states = [Components.of_model(model) for model in models]
    axes = _panels(figure, len(models))
    # Panels of a given figure may be too low to be square: constrained layout cuts titles then.
    box, alike = _squared(view.box(states), view) if figure is None else (view.box(states), False)
    for ax, state in zip(axes, states, strict=True):
        view.draw(ax, state, box, numbers=_numbers(state, states[0]), shares=_SHARES)
        ax.set_aspect("equal" if alike else "auto")
    _write_titles(axes, models, [float(model.bic(X)) for model in models])
    _label_outer(axes, view)
    return axes[0].figure


def _squared(box: Box, view: MixtureView) -> tuple[Box, bool]:
    """The box with sides of one length, if they are alike, and whether they are."""
    low, high = box
    sizes = high - low
    if view.one_column or sizes.max() > _ALIKE * sizes.min():
        return box, False
    middle, half = (low + high) / 2, sizes.max() / 2
    return (middle - half, middle + half), True


def _fitted(X: Any, n_components: int, **options: Any) -> GaussianMixture:
    return GaussianMixture(n_components, **options).fit(X)


def _numbers(state: Components, first: Components) -> list[int]:
    """What components are called: as those of the first panel whose places they have taken."""
    scale = first.deviations().mean(axis=0)
    rows, columns = linear_sum_assignment(
        cdist(state.means / scale, first.means / scale, "sqeuclidean")
    )
    numbers = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    free = iter(range(len(first), len(first) + len(state)))
    return [numbers[k] if k in numbers else next(free) for k in range(len(state))]


def _panels(figure: Any, n_panels: int) -> list[Any]:
    """Axes in lines of at most four, about as many in each."""
    rows = -(-n_panels // _COLUMNS)
    columns = -(-n_panels // rows)
    if figure is None:
        figure = new_figure(3.2 * columns, 3.9 * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[n_panels:]:
        ax.remove()
    return list(axes[:n_panels])


def _write_titles(axes: Sequence[Any], models: Sequence[Any], bics: Sequence[float]) -> None:
    best = int(np.argmin(bics))
    for place, (ax, model, bic) in enumerate(zip(axes, models, bics, strict=True)):
        tidy(ax, title=model.covariance_type)
        said = f"log-likelihood {_written(model.log_likelihood_)}\nBIC {_written(bic)}"
        colour = ACCENT if place == best and len(bics) > 1 else MUTED
        ax.set_title(said, loc="right", fontsize=LABEL_SIZE, color=colour, pad=8)


def _label_outer(axes: Sequence[Any], view: MixtureView) -> None:
    """Name the axes, and number them, to the left and where no panel stands beneath."""
    columns = axes[0].get_subplotspec().get_gridspec().ncols
    for place, ax in enumerate(axes):
        view.dress(ax)
        if place + columns < len(axes):
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
        if place % columns:
            ax.set_ylabel("")
            ax.tick_params(labelleft=False)


def _written(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")
