"""Draw the choice of components and covariance type: criteria against components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import model_error

if TYPE_CHECKING:
    from ceiba.mixture import MixtureChoice


# Column of the table -> title of its panel.
_PANELS = {
    "bic": "BIC (min)",
    "icl": "ICL (min)",
    "aic": "AIC (min)",
    "cv": "Cross-validation (max)",
}
# Both are a constant minus twice the log-likelihood, so the initializations differ in them by twice
# its spread. The effect of a worse initialization on the entropy in ICL and on held-out rows is not
# known.
_TWICE_SPREAD = ("bic", "aic")
# In log-likelihood. Twice this is the smallest difference in BIC that counts as positive evidence
# (Kass & Raftery, "Bayes factors", JASA 90, 1995).
_DISAGREEMENT = 1.0
_LINES = ("-", "--", ":")
# Offset between the lines at one number of components, so that no bar hides another.
_OFFSET, _MAX_OFFSETS = 0.08, 0.5
_RING: dict[str, Any] = {
    "linestyle": "",
    "marker": "o",
    "markersize": 10,
    "markerfacecolor": "none",
    "markeredgecolor": style.ACCENT,
    "markeredgewidth": 2,
}


@documented
def mixture_choice(choice: MixtureChoice, *, figure: Any = None) -> Any:
    """Draw the selection criteria against the number of components.

    There is a panel for each of BIC, ICL, AIC and the cross-validated log-likelihood that the table
    contains. Each covariance type is a line, and the proposal of each criterion is ringed. If
    initializations differ by more than one unit of log-likelihood, a bar in the panels of BIC and
    AIC extends to the worst of them: other random initializations could have put the point anywhere
    on it. A hollow marker is a fit that stopped before it converged.

    Parameters
    ----------
    choice : MixtureChoice
        Result of `ceiba.mixture.choose_components`, or ``choice_`` of a mixture.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> from ceiba.mixture import choose_components
    >>> X, _ = datasets.load("iris")
    >>> picture = plots.mixture_choice(choose_components(X, [1, 2, 3], ["diag", "full"], n_init=1))
    >>> [ax.get_title(loc="right") for ax in picture.axes]
    ['2, full', '2, full', '3, full']
    """
    if not hasattr(choice, "best"):
        remedy = "pass its choice_" if hasattr(choice, "choice_") else None
        expected = "the result of ceiba.mixture.choose_components"
        raise model_error("choice", expected, choice, remedy)
    forms = list(dict.fromkeys(choice.table["covariance_type"].tolist()))
    names = [name for name in _PANELS if np.isfinite(choice.table[name]).any()]
    columns = 2 if len(names) == 4 else len(names)
    rows = len(names) // columns
    if figure is None:
        height = max(3.4 * rows, 0.23 * (len(forms) + 6))  # at least that of the legend
        figure = style.new_figure(3.4 * columns + 2.0, height)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    offset = min(_OFFSET, _MAX_OFFSETS / len(forms))
    shifts = {form: offset * (i - (len(forms) - 1) / 2) for i, form in enumerate(forms)}
    for ax, name in zip(axes, names, strict=True):
        for index, form in enumerate(forms):
            _draw_form(ax, choice, name, form, shifts[form], _line_style(index))
        _set_limits(ax, choice, name)
        if name in choice.best:
            _mark_proposal(ax, choice, name, shifts[choice.best[name][1]])
    _add_legend(figure, choice, forms)
    return figure


def _draw_form(
    ax: Any, choice: MixtureChoice, name: str, form: str, shift: float, look: dict[str, Any]
) -> None:
    """Draw the line of a covariance type, hollow markers, and bars of disagreement."""
    table = choice.table
    own = np.flatnonzero((table["covariance_type"] == form) & np.isfinite(table[name]))
    own = own[np.argsort(table["n_components"][own], kind="stable")]
    k, values = table["n_components"][own] + shift, table[name][own]
    ax.plot(k, values, **look)
    early = ~table["converged"][own].astype(bool)
    ax.plot(k[early], values[early], **{**look, "linestyle": ""}, markerfacecolor="white")
    if name in _TWICE_SPREAD:
        differ = table["spread"][own] > _DISAGREEMENT
        reach = 2 * table["spread"][own][differ]
        ax.errorbar(
            k[differ], values[differ], [np.zeros_like(reach), reach], fmt="none",
            ecolor=look["color"], elinewidth=1.0, capsize=3, alpha=0.8, zorder=1.8,
        )  # fmt: skip


def _line_style(index: int) -> dict[str, Any]:
    """Return the style of a line; the dashes change whenever the colors repeat."""
    return {
        "color": style.color_of(index),
        "marker": style.MARKERS[index % len(style.MARKERS)],
        "linestyle": _LINES[index // len(style.MARKERS) % len(_LINES)],
        "linewidth": 1.5,
        "markersize": 5,
        "markeredgewidth": 1.2,
    }


def _set_limits(ax: Any, choice: MixtureChoice, name: str) -> None:
    """Set limits by the points alone, since long bars may exceed them."""
    style.style_axes(ax, title=_PANELS[name], x="components", grid="y")
    style.plain_numbers(ax)
    values = choice.table[name][np.isfinite(choice.table[name])]
    margin = 0.07 * (np.ptp(values) or max(abs(values[0]), 1.0))
    ax.set_ylim(values.min() - margin, values.max() + margin)
    ks = np.unique(choice.table["n_components"])
    ax.set_xlim(ks[0] - 0.5, ks[-1] + 0.5)
    ax.set_xticks(ks[:: -(-len(ks) // 10)])


def _mark_proposal(ax: Any, choice: MixtureChoice, name: str, shift: float) -> None:
    """Ring the proposal of a criterion; the chosen criterion is in bold."""
    k, form = choice.best[name]
    table = choice.table
    at = np.flatnonzero((table["n_components"] == k) & (table["covariance_type"] == form))[0]
    ax.plot(k + shift, table[name][at], **{**_RING, "markersize": 12}, zorder=4)
    style.set_note(
        ax, f"{k}, {form}", style.ACCENT, weight="bold" if name == choice.criterion else "normal"
    )


def _add_legend(figure: Any, choice: MixtureChoice, forms: list[str]) -> None:
    """Add the covariance types, and only those marks that occur."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=form, **_line_style(i)) for i, form in enumerate(forms)]
    plain: dict[str, Any] = {"color": style.MUTED, "linestyle": ""}
    if not choice.table["converged"].all():
        hollow = {**plain, "marker": "o", "markerfacecolor": "white"}
        handles.append(Line2D([], [], label="not converged", **hollow))
    if (choice.table["spread"] > _DISAGREEMENT).any():
        bar = {**plain, "marker": "|", "markersize": 11}
        handles.append(Line2D([], [], label="up to the worst\ninitialization", **bar))
    handles.append(Line2D([], [], label="proposed", **_RING))
    legend = figure.legend(
        handles=handles, loc="outside right center", title="covariance",
        title_fontsize=style.LABEL_SIZE, alignment="left", **style.LEGEND,
    )  # fmt: skip
    legend.get_title().set_color(style.MUTED)
