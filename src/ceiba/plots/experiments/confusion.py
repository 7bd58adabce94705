"""Draw the confusion matrix of a learner."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.experiments import Comparison, confusion_matrix
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.experiments.results import (
    check_classification,
    check_comparison,
    name_text,
    names_width,
    pooled_predictions,
)

_MAX_SHARES = 12  # classes up to which a cell has its share below the count
_MAX_COUNTS = 40  # classes up to which a cell has its count
_MAX_LABEL = 20  # characters of the label of a class


@documented
def confusion(
    comparison: Comparison, learner: str, dataset: str | None = None, *, ax: Any = None
) -> Any:
    """Draw the confusion matrix of a learner, from the pooled test rows of all folds.

    A cell has the number of rows of a class (row) that are predicted as a class (column), and
    their share of the rows of the class, which is also its color. Repeated protocols test a row
    several times.

    Parameters
    ----------
    comparison : Comparison
        Of classifiers.
    learner : str
        Name of the learner.
    dataset : str, optional
        Name of the dataset; not necessary if there is one.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, plots
    >>> from ceiba.experiments import compare
    >>> results = compare({"tree": DecisionTreeClassifier()}, "iris", protocol="5-fold")
    >>> picture = plots.confusion(results, "tree")
    >>> picture.axes[0].texts[0].get_text()
    '50\\n100%'
    """
    check_classification(check_comparison(comparison))
    name = comparison.dataset_name(dataset)
    rows = pooled_predictions(comparison, name, learner)
    if rows is None:
        errors = [fold.result.error for fold in comparison.of(name, learner) if fold.result.error]
        raise ValueError(
            f"learner must have predictions of all folds, got {learner!r}, which failed on "
            f"{name}: {errors[0] if errors else 'no folds'}."
        )
    counts = confusion_matrix(rows)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)
    labels = [style.shorten(label, _MAX_LABEL) for label in rows.classes]
    ax = ax or _new_axes(labels, name_text(learner))
    ax.imshow(shares, cmap=_color_map(), vmin=0, vmax=1, aspect="equal")
    if len(counts) <= _MAX_COUNTS:
        _write_cells(ax, counts, shares)
    note = f"{name_text(name)}\n{counts.trace():,} of {counts.sum():,} correct"
    style.style_axes(ax, x=f"predicted class\n{note}", y="true class")
    ax.xaxis.label.set_parse_math(False)
    _label_classes(ax, labels)
    style.set_title(ax, name_text(learner), parse_math=False)
    return ax.figure


def _new_axes(labels: list[str], title: str) -> Any:
    """Make axes with a square for each cell, and space for the labels and the title."""
    side = max(1.8, len(labels) * _cell_side(len(labels)))
    space = names_width(labels)
    width = max(side, names_width([title], style.TITLE_SIZE), 2.6) + space + 0.6
    return style.new_axes(width, side + min(space, 1.0) + 1.25, anchor="W")


def _cell_side(n_classes: int) -> float:
    """Return the side of a cell in inches."""
    return 0.62 if n_classes <= _MAX_SHARES else 0.32 if n_classes <= _MAX_COUNTS else 0.2


def _color_map() -> Any:
    """Return colors from white to the first of the palette."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shares", ["white", style.PALETTE[0]])


def _write_cells(ax: Any, counts: Array, shares: Array) -> None:
    """Write counts, and shares of few classes; of many classes, no zeros."""
    with_shares = len(counts) <= _MAX_SHARES
    for (i, j), count in np.ndenumerate(counts):
        text = f"{count:,}" if count or with_shares else ""
        if with_shares and count:
            text += f"\n{shares[i, j]:.0%}"
        color = "white" if shares[i, j] > 0.55 else style.INK if count else style.MUTED
        size = style.LABEL_SIZE if with_shares else style.TICK_SIZE - 1.5
        ax.text(j, i, text, ha="center", va="center", color=color, fontsize=size)


def _label_classes(ax: Any, labels: list[str]) -> None:
    """Label both axes; long labels of columns are turned."""
    is_long = names_width(labels) > 0.95 * _cell_side(len(labels))
    positions = range(len(labels))
    ax.set_yticks(positions, labels)
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if is_long else {}
    ax.set_xticks(positions, labels, **turned)
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set_parse_math(False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(True)
        spine.set_color(style.GRID)
