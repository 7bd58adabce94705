"""The choice of components and form: each criterion against the number of components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.style import (
    ACCENT,
    INK,
    LABEL_SIZE,
    MARKERS,
    MUTED,
    colour_of,
    new_figure,
    plain_numbers,
    tidy,
)

if TYPE_CHECKING:
    from ceiba.mixture import MixtureChoice

__all__ = ["mixture_choice"]

# Column of the table -> title of its panel.
_PANELS = {
    "bic": "BIC (smallest)",
    "icl": "ICL (smallest)",
    "aic": "AIC (smallest)",
    "cv": "Cross-validation (largest)",
}
# Both are a constant less twice the log-likelihood, so that starts spread in them by twice its
# spread. What the entropy in ICL and the held-out rows make of a worse start is not known.
_SPREAD_BY_TWO = ("bic", "aic")
# In log-likelihood. Twice of it is what BIC must differ by to be worth more than a bare mention
# (Kass & Raftery, "Bayes factors", JASA 90, 1995).
_DISAGREEMENT = 1.0
_LINES = ("-", "--", ":")
# How far apart lines stand at a number of components, so that no bar hides another.
_APART, _WIDEST = 0.08, 0.5
_RING: dict[str, Any] = {
    "linestyle": "",
    "marker": "o",
    "markersize": 10,
    "markerfacecolor": "none",
    "markeredgecolor": ACCENT,
    "markeredgewidth": 2,
}


def mixture_choice(choice: MixtureChoice, *, figure: Any = None) -> Any:
    """Draw BIC, ICL, AIC and the cross-validated likelihood against the number of components.

    Each form of covariance is a line. What a criterion proposes is ringed. Where starts disagree,
    by more than one unit of log-likelihood, a bar in the panels of BIC and AIC reaches up to the
    worst of them: another draw of the starts could have put the point anywhere on it. A hollow
    marker is a fit that stopped before it converged.

    Parameters
    ----------
    choice : MixtureChoice
        What `ceiba.mixture.choose_components` returned, or a mixture's ``choice_``.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        A panel for each criterion that the table has values of.

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> from ceiba.mixture import choose_components
    >>> X, _ = datasets.load("iris")
    >>> picture = plots.mixture_choice(choose_components(X, [1, 2, 3], ["diag", "full"], n_init=1))
    >>> [ax.get_title(loc="right") for ax in picture.axes]
    ['2, full', '2, full', '3, full']
    """
    names = [name for name in _PANELS if np.isfinite(choice.table[name]).any()]
    columns = 2 if len(names) == 4 else len(names)
    rows = len(names) // columns
    if figure is None:
        height = max(3.4 * rows, 0.23 * (len(_forms(choice)) + 6))  # room for the legend
        figure = new_figure(3.4 * columns + 2.0, height)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, name in zip(axes, names, strict=True):
        for form in _forms(choice):
            _draw_form(ax, choice, name, form)
        _dress(ax, choice, name)
        _mark(ax, choice, name)
    _legend(figure, choice)
    return figure


def _forms(choice: MixtureChoice) -> list[str]:
    return list(dict.fromkeys(str(form) for form in choice.table["covariance_type"]))


def _places(choice: MixtureChoice, form: str) -> Array:
    """Where along x the fits of a form stand, one for each line of the table."""
    forms = _forms(choice)
    apart = min(_APART, _WIDEST / len(forms))
    shift = apart * (forms.index(form) - (len(forms) - 1) / 2)
    places: Array = choice.table["n_components"] + shift
    return places


def _draw_form(ax: Any, choice: MixtureChoice, name: str, form: str) -> None:
    """One line, with hollow markers where the fit did not converge, and its disagreements."""
    table = choice.table
    mine = np.flatnonzero((table["covariance_type"] == form) & np.isfinite(table[name]))
    mine = mine[np.argsort(table["n_components"][mine], kind="stable")]
    k, values = _places(choice, form)[mine], table[name][mine]
    style = _style(_forms(choice).index(form))
    ax.plot(k, values, **style)
    early = ~table["converged"][mine].astype(bool)
    ax.plot(k[early], values[early], **{**style, "linestyle": ""}, markerfacecolor="white")
    if name in _SPREAD_BY_TWO:
        apart = _disagree(choice)[mine]
        reach = 2 * table["spread"][mine][apart]
        ax.errorbar(
            k[apart], values[apart], [np.zeros_like(reach), reach], fmt="none",
            ecolor=style["color"], elinewidth=1.0, capsize=3, alpha=0.8, zorder=1.8,
        )  # fmt: skip


def _style(place: int) -> dict[str, Any]:
    """Look of a form's line: colours come round after seven, with other dashes then."""
    return {
        "color": colour_of(place),
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": _LINES[place // len(MARKERS) % len(_LINES)],
        "linewidth": 1.5,
        "markersize": 5,
        "markeredgewidth": 1.2,
    }


def _disagree(choice: MixtureChoice) -> Array:
    """Mask of the fits whose starts ended apart."""
    apart: Array = choice.table["spread"] > _DISAGREEMENT
    return apart


def _dress(ax: Any, choice: MixtureChoice, name: str) -> None:
    """Limits by the points: the bar of a start that went astray may leave the picture."""
    tidy(ax, title=_PANELS[name], x="components", grid="y")
    plain_numbers(ax)
    values = choice.table[name][np.isfinite(choice.table[name])]
    margin = 0.07 * (np.ptp(values) or max(abs(values[0]), 1.0))
    ax.set_ylim(values.min() - margin, values.max() + margin)
    ks = np.unique(choice.table["n_components"])
    ax.set_xlim(ks[0] - 0.5, ks[-1] + 0.5)
    ax.set_xticks(ks[:: -(-len(ks) // 10)])


def _mark(ax: Any, choice: MixtureChoice, name: str) -> None:
    """Ring what this criterion proposes; in bold where it is the one asked for."""
    if name not in choice.best:
        return
    k, form = choice.best[name]
    table = choice.table
    at = np.flatnonzero((table["n_components"] == k) & (table["covariance_type"] == form))[0]
    ax.plot(_places(choice, form)[at], table[name][at], **{**_RING, "markersize": 12}, zorder=4)
    weight = "bold" if name == choice.criterion else "normal"
    ax.set_title(
        f"{k}, {form}", loc="right", fontsize=LABEL_SIZE, color=ACCENT, weight=weight, pad=8
    )


def _legend(figure: Any, choice: MixtureChoice) -> None:
    """The forms, and only those marks that the picture has."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], label=form, **_style(place)) for place, form in enumerate(_forms(choice))
    ]
    plain: dict[str, Any] = {"color": MUTED, "linestyle": ""}
    if not choice.table["converged"].all():
        hollow = {**plain, "marker": "o", "markerfacecolor": "white"}
        handles.append(Line2D([], [], label="not converged", **hollow))
    if _disagree(choice).any():
        bar = {**plain, "marker": "|", "markersize": 11}
        handles.append(Line2D([], [], label="up to the\nworst start", **bar))
    handles.append(Line2D([], [], label="proposed", **_RING))
    legend = figure.legend(
        handles=handles, loc="outside right center", fontsize=LABEL_SIZE, labelcolor=INK,
        title="covariance", title_fontsize=LABEL_SIZE, alignment="left", frameon=False,
    )  # fmt: skip
    legend.get_title().set_color(MUTED)
