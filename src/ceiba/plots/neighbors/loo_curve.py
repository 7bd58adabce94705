"""Draw the leave-one-out loss against the number of neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.neighbors import LeaveOneOutCurve
from ceiba.neighbors.base import NeighborLearner
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import is_fitted, model_error

_MAX_DOTS = 60  # numbers of neighbors that have a dot each


@documented
def loo_curve(curve: LeaveOneOutCurve | Any, *, ax: Any = None) -> Any:
    """Draw the leave-one-out loss of nearest neighbors against their number.

    The band is one standard error to both sides. The dotted line is the smallest loss plus its
    standard error: the chosen number is the largest one that is not above it, which is the
    smoothest model that is not noticeably worse than the best.

    Parameters
    ----------
    curve : fitted model or LeaveOneOutCurve
        A `KNeighborsClassifier` or `KNeighborsRegressor` fitted with ``n_neighbors='loo'``, or its
        ``loo_curve_``.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import KNeighborsClassifier, datasets, plots
    >>> wine = datasets.load("wine")
    >>> model = KNeighborsClassifier("loo", scale="std").fit(wine.table, wine.y)
    >>> picture = plots.loo_curve(model)
    >>> picture.axes[0].get_xlabel()
    'number of neighbors k'
    """
    record = getattr(curve, "loo_curve_", curve)
    if not isinstance(record, LeaveOneOutCurve):
        expected = "a model fitted with n_neighbors='loo', or its loo_curve_"
        is_other = isinstance(curve, NeighborLearner) and is_fitted(curve)
        remedy = "fit it with n_neighbors='loo'" if is_other and hasattr(curve, "weights") else None
        raise model_error("curve", expected, curve, remedy)
    ks, loss, error = record.n_neighbors, record.loss, record.standard_error
    ax = ax or style.new_axes(6.4, 4.2)
    color = style.PALETTE[0]
    ax.fill_between(
        ks, loss - error, loss + error, color=color, alpha=0.18, linewidth=0, gid="band"
    )
    dots = {"marker": "o", "markersize": 3.5} if len(ks) <= _MAX_DOTS else {}
    ax.plot(ks, loss, color=color, linewidth=1.6, zorder=3, gid="loss", **dots)
    best = int(np.argmin(loss))
    limit = loss[best] + error[best]
    ax.axhline(limit, color=style.MUTED, linewidth=1.1, linestyle=":", zorder=2, gid="limit")
    y = f"{_loss_name(curve)}, ± one standard error"
    style.style_axes(ax, title="Leave-one-out", x="number of neighbors k", y=y, grid="y")
    style.plain_numbers(ax)
    ax.set_xlim(min(0.5, 1 - 0.02 * len(ks)), ks[-1] + max(0.5, 0.02 * len(ks)))
    ax.locator_params(axis="x", integer=True)
    if len(ks) < 4:
        ax.set_xticks(ks)
    _mark(ax, record, best)
    return ax.figure


def _loss_name(curve: Any) -> str:
    if isinstance(curve, LeaveOneOutCurve):
        return "loss"
    return "error rate" if hasattr(curve, "classes_") else "mean squared error"


def _mark(ax: Any, record: LeaveOneOutCurve, best: int) -> None:
    """Mark the best and the chosen number, and write them above the axes."""
    chosen = int(np.flatnonzero(record.n_neighbors == record.chosen)[0])
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 8, "zorder": 4}
    k, loss = record.n_neighbors, record.loss
    ax.plot(
        k[best], loss[best], color=style.PALETTE[0], markerfacecolor="white", markeredgewidth=1.8,
        gid="best", label=f"smallest: k = {k[best]:,}, {style.number_text(loss[best], 4)}", **look,
    )  # fmt: skip
    look["markersize"] = 8 if chosen != best else 5
    ax.plot(
        k[chosen], loss[chosen], color=style.ACCENT, gid="chosen",
        label=f"chosen: k = {k[chosen]:,}, {style.number_text(loss[chosen], 4)}", **look,
    )  # fmt: skip
    ax.axvline(k[chosen], color=style.ACCENT, linewidth=1.2, alpha=0.7, zorder=2.5)
    ax.legend(loc="best", **style.LEGEND)
