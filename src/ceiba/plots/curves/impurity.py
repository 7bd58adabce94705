"""Draw the impurity of a node of two classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import entr

from ceiba._typing import Array
from ceiba.base import unused_error
from ceiba.plots import style
from ceiba.plots.docstrings import documented

_P = np.linspace(0.0, 1.0, 401)
_ENTROPY = (entr(_P) + entr(1 - _P)) / np.log(2)
# Criterion -> its values, name, formula, line style.
_CURVES: dict[str, tuple[Array, str, str, str]] = {
    "gini": (2 * _P * (1 - _P), "Gini", "2p(1 − p)", "-"),
    "entropy": (_ENTROPY, "entropy", "−p log₂ p − (1 − p) log₂(1 − p)", "--"),
    "error": (np.minimum(_P, 1 - _P), "error", "min(p, 1 − p)", "-."),
}


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
        Halve the entropy, so that all three curves meet at 1/2; requires ``"entropy"``.
    {ax}

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
    if scaled and "entropy" not in criteria:
        raise unused_error("scaled", f"criteria={criteria!r}", scaled, False)
    ax = ax or style.new_axes(6.4, 4.2)
    for index, name in enumerate(_CURVES):
        if name in criteria:
            _draw_curve(ax, index, name, halved=scaled and name == "entropy")
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    title, x = "Impurity of two classes", "proportion p of the first class"
    style.style_axes(ax, title=title, x=x, y="impurity", grid="both")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), handlelength=2.6, **style.LEGEND)
    return ax.figure


def _draw_curve(ax: Any, index: int, name: str, *, halved: bool) -> None:
    values, title, formula, line = _CURVES[name]
    label = f"{title}, halved:  ½ ({formula})" if halved else f"{title}:  {formula}"
    look = {"color": style.color_of(index), "linestyle": line, "linewidth": 2.2}
    ax.plot(_P, values / (2 if halved else 1), label=label, gid=name, **look)
