"""Draw the out-of-bag error and the permutation importance of a forest."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.ensemble.forest.oob import OobCurve, PermutationImportance
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import check_one_target, model_error

_ARRAYS = ("n_trees", "error", "lower", "upper", "n_rows")
_INSIGNIFICANT = "#8E8E8E"
_MAX_NAME = 32  # characters of a column's name


@documented
def oob_curve(curve: OobCurve | Any, *, ax: Any = None) -> Any:
    """Draw a forest's out-of-bag error against its number of trees.

    The band is the confidence interval of the error. The curve is dashed while some rows have not
    been out of bag yet. From the marked number of trees on it stays between the dotted lines, one
    standard error from its last value; if it has not settled, the picture states so.

    Parameters
    ----------
    curve : OobCurve or fitted forest
        A forest fitted with ``oob_score=True``, or its ``oob_curve_``.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = RandomForestClassifier(30, oob_score=True).fit(iris.table, iris.y)
    >>> picture = plots.oob_curve(model)
    >>> picture.axes[0].get_ylabel()
    'error rate, 95% band'

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45, section 3.1.
    """
    record = getattr(curve, "oob_curve_", curve)
    if not isinstance(record, OobCurve):
        check_one_target(getattr(curve, "n_outputs_", 1))
        expected = "a random forest fitted with oob_score=True, or its oob_curve_"
        raise model_error("curve", expected, curve, _curve_remedy(curve))
    known = np.isfinite(np.asarray(record.error, dtype=float))
    if not known.any():
        raise ValueError("No row was out of bag, so there is no error to draw: grow more trees.")
    trees, error, low, high, rows = (np.asarray(getattr(record, name))[known] for name in _ARRAYS)
    ax = ax or style.new_axes(6.4, 4.2)
    ax.fill_between(trees, low, high, color=style.PALETTE[0], alpha=0.18, linewidth=0, gid="band")
    complete = int(np.argmax(rows == rows[-1]))
    _draw_error(ax, trees, error, complete)
    x = "trees (dashed: not every row has been out of bag)" if complete else "trees"
    y = f"{record.measure}, {record.confidence_level:.0%} band"
    style.style_axes(ax, title="Out-of-bag error", x=x, y=y, grid="y")
    note = f"{error[-1]:.4g} with {style.count_text(int(trees[-1]), 'tree')}"
    style.set_note(ax, note, style.PALETTE[0])
    ax.set_xlim(0, trees[-1] * 1.02)
    ax.locator_params(axis="x", integer=True)
    for end in (error[-1] - record.standard_error, error[-1] + record.standard_error):
        ax.axhline(end, color=style.ACCENT, linewidth=1.1, linestyle=":", zorder=2, gid="tolerance")
    _mark_enough(ax, record.n_trees_sufficient, trees, error)
    return ax.figure


def _curve_remedy(model: Any) -> str | None:
    if hasattr(model, "forest_"):
        dropped = "its out-of-bag results were dropped with its trees, " * bool(model.oob_score)
        return f"{dropped}fit it{' again' * bool(dropped)} with oob_score=True"
    if hasattr(model, "estimators_features_"):
        return "a bagging ensemble has the number oob_score_ alone"
    return None


def _draw_error(ax: Any, trees: Array, error: Array, complete: int) -> None:
    """Draw the curve, dashed until every row has been out of bag."""
    look = {"color": style.PALETTE[0], "linewidth": 1.8, "zorder": 3}
    ax.plot(trees[: complete + 1], error[: complete + 1], linestyle=(0, (2, 1)), **look)
    dot = {"marker": "o", "markersize": 4} if complete == len(trees) - 1 else {}
    ax.plot(trees[complete:], error[complete:], **look, **dot)


def _mark_enough(ax: Any, enough: int | None, trees: Array, error: Array) -> None:
    """Mark the number of trees that is enough, or note that the curve has not settled."""
    look: dict[str, Any] = {"textcoords": "offset points", "va": "top", "zorder": 3.5}
    look["fontsize"] = style.LABEL_SIZE
    if enough is None:
        text = f"not settled after {style.count_text(int(trees[-1]), 'tree')}"
        look |= {"xycoords": "axes fraction", "ha": "right", "color": style.MUTED}
        ax.annotate(text, (1.0, 1.0), (-4, -6), **look)
        return
    ax.axvline(enough, color=style.ACCENT, linewidth=1.2, alpha=0.7, zorder=2.5)
    ax.plot(enough, error[trees == enough], "o", color=style.ACCENT, markersize=8, zorder=4)
    text = f"{style.count_text(enough, 'tree')} {'is' if enough == 1 else 'are'} enough"
    look |= {"xycoords": ("data", "axes fraction"), "color": style.ACCENT}
    ax.annotate(text, (enough, 1.0), (7, -6), **look)


@documented
def importance(
    record: PermutationImportance | Any, *, max_columns: int = 30, ax: Any = None
) -> Any:
    """Draw the permutation importance of every column, sorted, with its null band.

    The importance of a column is the increase of the out-of-bag loss when its values are permuted
    among the rows; its bar spans one standard error to both sides. The gray band is the range of a
    column that the target does not depend on: columns inside it are gray.

    Parameters
    ----------
    record : PermutationImportance or fitted forest
        Result of ``oob_importance(X, y)``, or a forest fitted with ``importance=True``.
    max_columns : int
        Maximum number of columns to draw, those of largest importance.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = RandomForestClassifier(30, importance=True).fit(iris.table, iris.y)
    >>> picture = plots.importance(model)
    >>> len(picture.axes[0].get_yticklabels())
    4

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45, section 10.
    """
    result = _importance_record(record)
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1, got {max_columns}.")
    shown = np.argsort(-result.importances, kind="stable")[:max_columns]
    is_new = ax is None
    ax = ax or style.new_axes(6.8, max(2.4, 0.27 * len(shown) + 1.3))
    significant = result.above_noise[shown] > 0
    _draw_band(ax, result.null_band[shown], result.confidence_level)
    _draw_values(ax, result.importances[shown], result.standard_errors[shown], significant)
    x = f"increase of the out-of-bag {result.measure}"
    style.style_axes(ax, title="Permutation importance", x=x, grid="x")
    style.set_note(ax, _significance_text(result, len(shown)))
    style.label_bars(ax, style.shorten_names([result.feature_names[j] for j in shown], _MAX_NAME))
    for label, strong in zip(ax.get_yticklabels(), significant, strict=True):
        label.set_color(style.INK if strong else _INSIGNIFICANT)
    _add_importance_legend(ax, below=is_new)
    return ax.figure


def _importance_record(given: Any) -> PermutationImportance:
    record = getattr(given, "oob_importance_", given)
    if not isinstance(record, PermutationImportance):
        check_one_target(getattr(given, "n_outputs_", 1))
        expected = "a random forest fitted with importance=True, or its oob_importance(X, y)"
        remedy = "sklearn.inspection.permutation_importance measures other models"
        if hasattr(given, "forest_"):
            remedy = "fit it with importance=True, or pass model.oob_importance(X, y)"
        raise model_error("record", expected, given, remedy)
    if not np.isfinite(record.null_band).all():
        raise ValueError(
            "Importance measured on a single row has no null band: measure it on more rows."
        )
    return record


def _draw_band(ax: Any, band: Array, confidence_level: float) -> None:
    """Draw the null band of every column; adjacent bands join."""
    edges = np.arange(len(band) + 1) - 0.5
    ax.fill_betweenx(
        np.repeat(edges, 2)[1:-1], np.repeat(-band, 2), np.repeat(band, 2), color=style.GRID,
        linewidth=0, zorder=0.5, label=f"null band ({confidence_level:.0%})",
    )  # fmt: skip
    ax.axvline(0, color=style.MUTED, linewidth=0.9, zorder=1)


def _draw_values(ax: Any, value: Array, error: Array, significant: Array) -> None:
    """Draw a dot on a stem for each column, hollow and gray inside the null band."""
    lines = np.arange(len(value))
    for mask, color, fill, label in (
        (significant, style.PALETTE[0], style.PALETTE[0], "importance ± one standard error"),
        (~significant, _INSIGNIFICANT, "white", "inside the null band"),
    ):
        ax.hlines(lines[mask], 0, value[mask], color=color, linewidth=2.6, alpha=0.35, zorder=2)
        if mask.any():
            ax.errorbar(
                value[mask], lines[mask], xerr=error[mask], fmt="o", color=color,
                markerfacecolor=fill, markeredgewidth=1.4, markersize=6, elinewidth=1.3,
                capsize=2.5, zorder=3, label=label,
            )  # fmt: skip


def _significance_text(record: PermutationImportance, drawn: int) -> str:
    n_significant, n_columns = int((record.above_noise > 0).sum()), len(record.feature_names)
    text = f"{n_significant:,} of {n_columns:,} columns above the band"
    return text if drawn == n_columns else f"{text}, {drawn:,} drawn"


def _add_importance_legend(ax: Any, below: bool) -> None:
    """Add the legend below a new figure, or else at the least important columns."""
    look = {"fontsize": style.TICK_SIZE, "labelcolor": style.INK, "handlelength": 1.6}
    handles, labels = ax.get_legend_handles_labels()
    if below:
        ax.figure.legend(
            handles, labels, loc="outside lower center", ncols=len(labels), columnspacing=1.4,
            frameon=False, **look,
        )  # fmt: skip
    else:
        ax.legend(handles, labels, loc="lower right", **look)
