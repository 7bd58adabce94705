"""Draw the path of a structural search: scores of the networks, move by move."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.bayes.structural.path import SearchPath
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import model_error

_MAX_NAME = 44  # characters of a move


@documented
def search_path(model: Any, *, ax: Any = None) -> Any:
    """Draw the scores of the networks along a structural search.

    A line for each move, from the empty network down: the largest conditional log-likelihood, and
    the score BICd that the search increases. The band between them is the penalty of the
    parameters, (log n) / 2 for each. The last network, of which no move increases the score, is
    the result.

    Parameters
    ----------
    model : fitted StructuralTMClassifier, or its ``path_``
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import StructuralTMClassifier, datasets, plots
    >>> vote = datasets.load("vote")
    >>> model = StructuralTMClassifier(missing="category").fit(vote.table, vote.y)
    >>> picture = plots.search_path(model)
    >>> [label.get_text() for label in picture.axes[0].get_yticklabels()][1:3]
    ['+ physician_fee_freeze', '+ synfuels_corporation_cutback']
    """
    path = getattr(model, "path_", model)
    if not isinstance(path, SearchPath):
        raise model_error("model", "a fitted StructuralTMClassifier, or its path_", model)
    lines = np.arange(len(path))
    ax = ax or style.new_axes(7.2, max(2.6, 0.3 * len(path) + 1.5))
    ax.fill_betweenx(
        lines, path.bicd, path.log_likelihood, color=style.GRID, linewidth=0, zorder=1,
        label="penalty of the parameters",
    )  # fmt: skip
    scores = (path.log_likelihood, "conditional log-likelihood", "s"), (path.bicd, "BICd", "o")
    for index, (values, name, marker) in enumerate(scores):
        ax.plot(
            values, lines, color=style.color_of(1 - index), linewidth=1.8, marker=marker,
            markersize=5.5, zorder=2 + index, label=name,
        )  # fmt: skip
    ax.plot(
        path.bicd[-1], lines[-1], "o", markersize=11, markerfacecolor="none",
        markeredgecolor=style.ACCENT, markeredgewidth=2, zorder=4, label="result",
    )  # fmt: skip
    style.style_axes(ax, title="Structural search", x="score", grid="x")
    columns = style.count_text(int(path.n_variables[-1]), "column")
    arcs = style.count_text(int(path.n_arcs[-1]), "arc")
    parameters = style.count_text(int(path.d[-1]), "parameter")
    style.set_note(ax, f"{columns}, {arcs}, {parameters}")
    names = ["empty network", *path.move[1:]]
    style.label_bars(ax, [style.shorten(name, _MAX_NAME) for name in names])
    ax.legend(loc="lower left", **style.LEGEND)
    return ax.figure
