"""Draw ROC curves of the learners of a comparison."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import auc, roc_curve

from ceiba.experiments import Comparison, Predictions
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.experiments.results import (
    add_missing,
    check_classification,
    check_comparison,
    label_index,
    learner_names,
    legend_below,
    legend_height,
    name_text,
    plain_legend,
    pooled_probabilities,
)

_LEGEND_TITLE = "AUC of the pooled rows of all folds"
_WIDTH = 5.4  # inches
_LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1)))  # changes whenever the colors repeat


@documented
def roc(
    comparison: Comparison, dataset: str | None = None, *, label: Any = None, ax: Any = None
) -> Any:
    """Draw the ROC curve of each learner, from the pooled test rows of all folds.

    A curve has the fraction of the rows of the class that are found (true positive rate) against
    the fraction of other rows that are taken for it (false positive rate), for all thresholds of
    the predicted probability. The area under it (AUC) is that of the pooled rows, which differs
    from the mean of the AUC of the folds if models of folds have different scales of probability.

    Parameters
    ----------
    comparison : Comparison
        Of classifiers; those without probabilities have a line in the legend alone.
    dataset : str, optional
        Name of the dataset; not necessary if there is one.
    label : object, optional
        The class that is found. By default the second of two classes; with more classes it is
        required, and the others are the rest.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier, plots
    >>> from ceiba.experiments import compare
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, "vote", protocol="5-fold")
    >>> picture = plots.roc(results)
    >>> [text.get_text() for text in picture.legends[0].get_texts()]
    ['tree: 0.935', 'naive Bayes: 0.973']

    References
    ----------
    Fawcett (2006), "An introduction to ROC analysis", Pattern Recognition Letters 27.
    """
    check_classification(check_comparison(comparison))
    name = comparison.dataset_name(dataset)
    pooled, reasons = pooled_probabilities(comparison, name)
    first = next(iter(pooled.values()))
    chosen = _check_label(first, label)
    is_new = ax is None
    ax = ax or _new_axes(comparison)
    ax.plot([0, 1], [0, 1], color=style.MUTED, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    handles = [
        _draw_curve(ax, index, learner, rows, chosen)
        for index, (learner, rows) in enumerate(pooled.items())
    ]
    add_missing(ax, reasons)
    handles += [line for line in ax.lines if line.get_gid() == "missing"]
    positive = style.shorten(first.classes[chosen])
    style.style_axes(ax, x="false positive rate", y=f"true positive rate, {positive}", grid="both")
    ax.yaxis.label.set_parse_math(False)
    style.set_title(ax, f"ROC, {name_text(name, 26)}", parse_math=False)
    style.set_note(ax, style.count_text(len(first), "prediction"))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_aspect("equal")
    if is_new:
        legend_below(ax.figure, handles, title=_LEGEND_TITLE)
    else:
        plain_legend(ax.legend(handles=handles, loc="lower right", title="AUC", **style.LEGEND))
    return ax.figure


def _new_axes(comparison: Comparison) -> Any:
    """Make axes on a figure with space for a legend of all learners."""
    labels = [f"{name_text(name)}: 0.000" for name in learner_names(comparison)]
    return style.new_axes(_WIDTH, 5.0 + legend_height(labels, _WIDTH, _LEGEND_TITLE))


def _check_label(rows: Predictions, label: Any) -> int:
    """Return the index of the class; raise if it is required or no row or all rows have it."""
    chosen = label_index(rows.classes, label)
    if chosen is None:
        raise ValueError(
            f"label is required with {len(rows.classes)} classes: one of {list(rows.classes)}."
        )
    n_positive = int((rows.true_codes == chosen).sum())
    if n_positive in (0, len(rows)):
        raise ValueError(
            f"label must be a class of some test rows, but not of all, got "
            f"{rows.classes[chosen]!r} of {n_positive:,} of {len(rows):,} rows."
        )
    return chosen


def _draw_curve(ax: Any, index: int, learner: str, rows: Predictions, chosen: int) -> Any:
    """Draw the curve of a learner with all its thresholds, and return it."""
    false, true, _ = roc_curve(rows.true_codes == chosen, rows.probabilities[:, chosen])
    (line,) = ax.plot(
        false, true, color=style.color_of(index), linewidth=1.6, zorder=3, gid="roc",
        linestyle=_LINES[index // len(style.PALETTE) % len(_LINES)],
        label=f"{name_text(learner)}: {auc(false, true):.3f}",
    )  # fmt: skip
    return line
