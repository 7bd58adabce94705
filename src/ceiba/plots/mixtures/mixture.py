"""A Gaussian mixture on paper: who is responsible for which row, and the density."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.plots.mixtures.components import Components
from ceiba.plots.mixtures.view import DEVIATIONS, MixtureView
from ceiba.plots.style import INK, LABEL_SIZE, MUTED, colour_of, marker_of, new_figure, tidy

__all__ = ["mixture"]

_LEGEND_COMPONENTS = 14
_SHARES = (0.25, 0.5, 0.75, 0.9, 0.99)


def mixture(
    model: Any,
    X: Any,
    *,
    deviations: Sequence[float] = DEVIATIONS,
    shares: Sequence[float] = _SHARES,
    ax: Any = None,
    max_points: int = 20_000,
    random_state: Any = 0,
) -> Any:
    """Draw rows under a Gaussian mixture: colours by responsibility, ellipses and density.

    The colour of a row is the mix of its components' colours, in the shares that they are
    responsible for it, so that doubtful rows show. Two columns are drawn as they are, more on their
    first two principal components, with the marginal mixture on that plane, whose means and
    covariances are the projected ones exactly. A single column is drawn as a histogram under the
    density, with its rows in a strip beneath. A gap is drawn at its column's mean, in the colour
    that the row's other values give it.

    Parameters
    ----------
    model : fitted mixture
        With ``weights_``, ``means_`` and ``covariances_``.
    X : array, frame or table
    deviations : sequence of float
        Ellipses so many standard deviations about each mean; shades beneath the curve for a
        single column. None of them for ``()``.
    shares : sequence of float
        Contours of equal density that hold these shares of the mixture's probability; lines
        at those densities for a single column. None of them for ``()``.
    ax : Axes, optional
        Where to draw; a new figure unless given.
    max_points : int
        Draw a random sample of this many rows where there are more.
    random_state : int or None
        Draws that sample.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("mixture.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import GaussianMixture, plots
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0], [8.0, 9.0], [9.0, 8.0]]
    >>> picture = plots.mixture(GaussianMixture(2).fit(X), X)
    >>> len(picture.axes)
    1
    """
    _check(deviations, shares)
    components = Components.of_model(model)
    view = MixtureView.of(X, model, max_points, random_state)
    components.check_width(view.names)
    own = ax is None
    if own:
        ax = new_figure(7.4, 5.2).add_subplot()
    box = view.box([components], max(deviations, default=0.0))
    view.draw(ax, components, box, deviations=deviations, shares=shares)
    tidy(ax, title=_title(model, components, view))
    view.dress(ax)
    if len(components) <= _LEGEND_COMPONENTS:
        _legend(ax, components, deviations, shares, beside=own)
    return ax.figure


def _check(deviations: Sequence[float], shares: Sequence[float]) -> None:
    if not all(0 < deviation < np.inf for deviation in deviations):
        raise ValueError(f"deviations={deviations}: give standard deviations, more than 0")
    if not all(0 < share < 1 for share in shares):
        raise ValueError(f"shares={shares}: give shares of the probability, between 0 and 1")


def _title(model: Any, components: Components, view: MixtureView) -> str:
    form = getattr(model, "covariance_type", None)
    name = type(model).__name__ + (f" ({form})" if form else "")
    n = len(components)
    title = f"{name}, {n} {'component' if n == 1 else 'components'} of {view.n_rows:,} rows"
    drawn = len(view.rows)
    return title + (f" ({drawn:,} drawn)" if drawn < view.n_rows else "")


def _legend(
    ax: Any,
    components: Components,
    deviations: Sequence[float],
    shares: Sequence[float],
    *,
    beside: bool,
) -> None:
    """Beside the axes where the figure is ours to lay out, else inside them."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=marker_of(k), markersize=6, color=colour_of(k),
               label=f"{k}  (weight {weight:.1%})")
        for k, weight in enumerate(components.weights)
    ]  # fmt: skip
    one = components.means.shape[1] == 1
    if len(deviations):
        label = f"{'shades' if one else 'ellipses'}: {_list(deviations)} σ"
        handles.append(Line2D([], [], color=INK, linewidth=1.8, label=label))
    if len(shares):
        held = _list([100 * share for share in shares])
        label = f"{'levels' if one else 'contours'} hold\n{held} %"
        handles.append(Line2D([], [], color=MUTED, linewidth=0.8, label=label))
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
    legend = ax.legend(
        handles=handles, title="component", fontsize=LABEL_SIZE, labelcolor=INK,
        title_fontsize=LABEL_SIZE, alignment="left", **(place if beside else {"loc": "best"}),
    )  # fmt: skip
    legend.get_title().set_color(MUTED)


def _list(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.4g}" for number in sorted(numbers))
