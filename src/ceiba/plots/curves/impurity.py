"""Draw the impurity of a node of two classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import entr

from ceiba._typing import Array
from ceiba.plots.docstrings import documented
from ceiba.plots.style import INK, LABEL_SIZE, color_of, new_figure, style_axes

__all__ = ["impurity_curves"]


def _gini(p: Array) -> Array:
    impurity: Array = 2 * p * (1 - p)
    return impurity


def _entropy(p: Array) -> Array:
    bits: Array = (entr(p) + entr(1 - p)) / np.log(2)
    return bits


def _error(p: Array) -> Array:
    minority: Array = np.minimum(p, 1 - p)
    return minority


# Criterion -> its curve, name, formula, line style.
_CURVES: dict[str, tuple[Callable[[Array], Array], str, str, str]] = {
    "gini": (_gini, "Gini", "2p(1 − p)", "-"),
    "entropy": (_entropy, "entropy", "−p log₂ p − (1 − p) log₂(1 − p)", "--"),
    "error": (_error, "error", "min(p, 1 − p)", "-."),
}
_P = np.linspace(0.0, 1.0, 401)


@documented
def impurity_curves(
    criteria: Sequence[str] = ("gini", "entropy", "error"),
    scaled: bool = False,
    *,
    ax: Any = None,
) -> Any:
    """Draw the impurity of two classes against the proportion of the first.

    All curves are 0 for a pure node and largest for equal proportions. The error is piecewise
    linear: a split that leaves the same majority class in every branch does not decrease it,
    whereas it decreases Gini impurity and entropy, which are strictly concave.

    Parameters
    ----------
    criteria : sequence of {"gini", "entropy", "error"}
    scaled : bool
        Halve the entropy, so that all three curves meet at 1/2.
    {ax}

    Returns
    -------
    {picture}

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
    if isinstance(criteria, str) or not len(criteria) or not set(criteria) <= set(_CURVES):
        known = ", ".join(map(repr, _CURVES))
        raise ValueError(f"criteria must be a sequence of some of {known}, got {criteria!r}.")
    if ax is None:
        ax = new_figure(6.4, 4.2).add_subplot()
    for index, name in enumerate(_CURVES):
        if name in criteria:
            _draw_curve(ax, index, name, halved=scaled and name == "entropy")
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    style_axes(
        ax,
        title="Impurity of two classes",
        x="proportion p of the first class",
        y="impurity",
        grid="both",
    )
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=LABEL_SIZE, labelcolor=INK,
        frameon=False, handlelength=2.6,
    )  # fmt: skip
    return ax.figure


def _draw_curve(ax: Any, index: int, name: str, *, halved: bool) -> None:
    curve, title, formula, line = _CURVES[name]
    values = curve(_P) / (2 if halved else 1)
    label = f"{title}, halved:  ½ ({formula})" if halved else f"{title}:  {formula}"
    ax.plot(_P, values, color=color_of(index), linestyle=line, linewidth=2.2, label=label, gid=name)
