"""Draw the margins of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.ensemble.common.votes import class_margin
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import check_one_target, model_error
from ceiba.plots.planes.section import class_codes

_LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.5, 1, 1.5)))
_LIMIT = 1.04
_NEGATIVE = "#F1F1F1"
_DEFAULT_STAGES = (0.05, 0.2, 1.0)  # fractions of the rounds


@documented
def margins(
    model: Any, X: Any, y: Any, *, stages: Sequence[int] | None = None, ax: Any = None
) -> Any:
    """Draw the cumulative distribution of the margins of an ensemble.

    The margin of a row is the weighted fraction of the votes for its class minus the largest
    fraction for another class: 1 if the vote is unanimous, negative if the row is misclassified.
    For boosting it is ``model.margins``, drawn after several numbers of rounds, since further
    rounds increase the smallest margins even if no row is misclassified any more. For any other
    classifier it is computed from the probabilities.

    Parameters
    ----------
    model : fitted classifier, or mapping from names to fitted classifiers
        A forest, a bagging ensemble or a boosted ensemble; several models of the same classes are
        drawn as one curve each.
    X : array, frame or table of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
        Classes of the rows.
    stages : sequence of int, optional
        Numbers of rounds after which the margins of boosting are drawn. By default the last and
        two early ones.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import AdaBoostClassifier, RandomForestClassifier, datasets, plots
    >>> table = datasets.load("nonlinear_boundary")
    >>> forest = RandomForestClassifier(20).fit(table.X, table.y)
    >>> boosted = AdaBoostClassifier(n_estimators=20).fit(table.X, table.y)
    >>> picture = plots.margins({"forest": forest, "boosting": boosted}, table.X, table.y)
    >>> picture.axes[0].get_xlabel()
    'margin (negative: misclassified)'

    References
    ----------
    Schapire, Freund, Bartlett & Lee (1998), "Boosting the margin: a new explanation for the
    effectiveness of voting methods", The Annals of Statistics 26.
    """
    curves = _curves(model, X, y, stages)
    ax = ax or style.new_axes(6.4, 4.2)
    ax.axvspan(-_LIMIT, 0, color=_NEGATIVE, linewidth=0, zorder=0)
    ax.axvline(0, color=style.MUTED, linewidth=0.9, zorder=1)
    for index, (name, values) in enumerate(curves.items()):
        _draw_curve(ax, index, name, values)
    title = f"Margins of {style.count_text(len(next(iter(curves.values()))), 'row')}"
    x, y = "margin (negative: misclassified)", "fraction of rows up to the margin"
    style.style_axes(ax, title=title, x=x, y=y, grid="y")
    ax.set_xlim(-_LIMIT, _LIMIT)
    ax.set_ylim(0, 1.02)
    ax.legend(loc="upper left", handlelength=2.6, **style.LEGEND)
    return ax.figure


def _draw_curve(ax: Any, index: int, name: str, values: Array) -> None:
    """Draw the fraction of rows up to each margin; the label has the fraction up to 0."""
    margin, counts = np.unique(values, return_counts=True)
    fraction = np.concatenate([[0.0], np.cumsum(counts) / len(values), [1.0]])
    ax.step(
        [-_LIMIT, *margin, _LIMIT], fraction, where="post", color=style.color_of(index),
        linestyle=_LINES[index % len(_LINES)], linewidth=1.9, zorder=2,
        label=f"{name}: {np.mean(values <= 0):.1%} at 0 or below",
    )  # fmt: skip


def _curves(model: Any, X: Any, y: Any, stages: Sequence[int] | None) -> dict[str, Array]:
    if isinstance(model, Mapping):
        if not model:
            raise ValueError("model must contain at least one fitted classifier, got none.")
        if stages is not None:
            raise ValueError("stages requires a single boosted classifier, got a mapping.")
        return {str(name): _margins(one, X, y) for name, one in model.items()}
    if not hasattr(model, "margins"):
        if stages is not None:
            raise ValueError(f"stages requires a boosted classifier, got {type(model).__name__}.")
        return {type(model).__name__: _margins(model, X, y)}
    return {
        style.count_text(stage, "round"): _margins(_truncated(model, stage), X, y)
        for stage in _checked_stages(len(model.estimators_), stages)
    }


def _checked_stages(last: int, stages: Sequence[int] | None) -> list[int]:
    if stages is None:
        return sorted({max(1, round(fraction * last)) for fraction in _DEFAULT_STAGES})
    if isinstance(stages, int | str) or not len(stages):
        raise ValueError(f"stages must be a sequence of rounds like [5, 50], got {stages!r}.")
    for stage in stages:
        if not 1 <= stage <= last:
            raise ValueError(f"stages must be rounds from 1 to {last:,}, got {stage}.")
    return sorted(set(stages))


def _truncated(model: Any, stage: int) -> Any:
    ensemble = copy(model)
    ensemble.estimators_ = model.estimators_[:stage]
    ensemble.estimator_weights_ = model.estimator_weights_[:stage]
    return ensemble


def _margins(model: Any, X: Any, y: Any) -> Array:
    """Return the model's own margins, or those of its probabilities."""
    if hasattr(model, "margins"):
        return np.asarray(model.margins(X, y), dtype=float)
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise model_error("model", "a fitted classifier with predict_proba", model)
    check_one_target(getattr(model, "n_outputs_", 1))
    probabilities = np.asarray(model.predict_proba(X), dtype=float)
    return class_margin(probabilities, class_codes(model, y, len(probabilities)))
