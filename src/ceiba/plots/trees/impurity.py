"""Impurity of two classes against the share of one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import entr

from ceiba._typing import Array
from ceiba.plots.style import INK, LABEL_SIZE, colour_of, new_figure, tidy

__all__ = ["impurity_curves"]


def _gini(p: Array) -> Array:
    impurity: Array = 2 * p * (1 - p)
    return impurity


def _entropy(p: Array) -> Array:
    bits: Array = (entr(p) + entr(1 - p)) / np.log(2)
    return bits


def _error(p: Array) -> Array:
    rest: Array = np.minimum(p, 1 - p)
    return rest


# Criterion -> its curve, what it is called, its formula, the look of its line.
_CURVES: dict[str, tuple[Callable[[Array], Array], str, str, str]] = {
    "gini": (_gini, "Gini", "2p(1 − p)", "-"),
    "entropy": (_entropy, "entropy", "−p log₂ p − (1 − p) log₂(1 − p)", "--"),
    "error": (_error, "error", "min(p, 1 − p)", "-."),
}
_PLACES = np.linspace(0.0, 1.0, 401)


def impurity_curves(
    criteria: Sequence[str] = ("gini", "entropy", "error"),
    scaled: bool = False,
    *,
    ax: Any = None,
) -> Any:
    """Draw the impurity of a node of two classes against the share of one of them.

    All curves are 0 where the node is pure and highest where both classes are equally many. Error
    is straight on either side of the middle: a split that leaves the same class ahead in every
    branch does not lower it, while it lowers Gini impurity and entropy, whose curves bend.

    Parameters
    ----------
    criteria : sequence of {"gini", "entropy", "error"}
    scaled : bool
        Halve the entropy, so that all three curves meet at 1/2.
    ax : Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("impurity.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import plots
    >>> picture = plots.impurity_curves(scaled=True)
    >>> [float(line.get_ydata().max()) for line in picture.axes[0].lines]
    [0.5, 0.5, 0.5]

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", section 4.1.
    """
    _check(criteria)
    if ax is None:
        ax = new_figure(6.4, 4.2).add_subplot()
    for place, name in enumerate(_CURVES):
        if name in criteria:
            _draw(ax, place, name, halved=scaled and name == "entropy")
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    tidy(ax, title="Impurity of two classes", x="share p of the first class", y="impurity",
         grid="both")  # fmt: skip
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=LABEL_SIZE, labelcolor=INK,
        frameon=False, handlelength=2.6,
    )  # fmt: skip
    return ax.figure


def _check(criteria: Sequence[str]) -> None:
    if isinstance(criteria, str) or not len(criteria):
        raise ValueError(f'criteria={criteria!r}: give a sequence, like ["gini", "entropy"]')
    for name in criteria:
        if name not in _CURVES:
            known = ", ".join(map(repr, _CURVES))
            raise ValueError(f"{name!r} is no impurity of two classes: give some of {known}")


def _draw(ax: Any, place: int, name: str, *, halved: bool) -> None:
    curve, title, formula, line = _CURVES[name]
    values = curve(_PLACES) / (2 if halved else 1)
    label = f"{title}, halved:  ½ ({formula})" if halved else f"{title}:  {formula}"
    ax.plot(
        _PLACES, values, color=colour_of(place), linestyle=line, linewidth=2.2, label=label,
        gid=name,
    )  # fmt: skip
