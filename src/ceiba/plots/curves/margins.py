"""Margins of a committee on paper: how surely it is right about each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.ensemble.common.votes import lead
from ceiba.plots.planes.regions import class_codes
from ceiba.plots.style import INK, LABEL_SIZE, MUTED, colour_of, new_figure, tidy

__all__ = ["margins"]

_LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.5, 1, 1.5)))
_ENDS = 1.04
_WRONG = "#F1F1F1"
_STAGES = (0.05, 0.2, 1.0)  # shares of the rounds that are drawn unless stages are given


def margins(
    model: Any, X: Any, y: Any, *, stages: Sequence[int] | None = None, ax: Any = None
) -> Any:
    """Draw the distribution of a committee's margins: the share of rows up to each margin.

    A row's margin is the share of the votes, by their weight, that its class has, less the largest
    share of another: 1 where all agree on it, and below 0 where the row is predicted wrongly. Of
    boosting it is ``model.margins``, drawn after some of the rounds: they go on to widen the
    smallest margins when no row is wrong any more. Of any other classifier it is taken from the
    probabilities.

    Parameters
    ----------
    model : fitted classifier, or mapping from names to them
        A forest, a bag or a boosted committee; several of the same classes are drawn as one curve
        each.
    X : array, frame or table
    y : array of shape (n_rows,)
        Classes of the rows.
    stages : sequence of int, optional
        The numbers of rounds after which margins of boosting are drawn. Unless given the last and
        two early ones.
    ax : Axes, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("margins.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import AdaBoostClassifier, RandomForestClassifier, datasets, plots
    >>> table = datasets.load("nonlinear_boundary")
    >>> forest = RandomForestClassifier(20).fit(table.X, table.y)
    >>> boosted = AdaBoostClassifier(n_estimators=20).fit(table.X, table.y)
    >>> picture = plots.margins({"forest": forest, "boosting": boosted}, table.X, table.y)
    >>> picture.axes[0].get_xlabel()
    'margin (below 0: predicted wrongly)'

    References
    ----------
    Schapire, Freund, Bartlett & Lee (1998), "Boosting the margin: a new explanation for the
    effectiveness of voting methods", The Annals of Statistics 26.
    """
    curves = _curves(model, X, y, stages)
    if ax is None:
        ax = new_figure(6.4, 4.2).add_subplot()
    ax.axvspan(-_ENDS, 0, color=_WRONG, linewidth=0, zorder=0)
    ax.axvline(0, color=MUTED, linewidth=0.9, zorder=1)
    for place, (name, values) in enumerate(curves.items()):
        _draw(ax, place, name, values)
    n_rows = len(next(iter(curves.values())))
    title = f"Margins of {n_rows:,} {'row' if n_rows == 1 else 'rows'}"
    x, y = "margin (below 0: predicted wrongly)", "share of rows up to the margin"
    tidy(ax, title=title, x=x, y=y, grid="y")
    ax.set_xlim(-_ENDS, _ENDS)
    ax.set_ylim(0, 1.02)
    ax.legend(
        loc="upper left", fontsize=LABEL_SIZE, labelcolor=INK, frameon=False, handlelength=2.6
    )
    return ax.figure


def _draw(ax: Any, place: int, name: str, values: Array) -> None:
    """The share of rows up to each margin, with the share that is not above 0 in the label."""
    margin, counts = np.unique(values, return_counts=True)
    share = np.concatenate([[0.0], np.cumsum(counts) / len(values), [1.0]])
    missed = np.mean(values <= 0)
    ax.step(
        [-_ENDS, *margin, _ENDS], share, where="post", color=colour_of(place),
        linestyle=_LINES[place % len(_LINES)], linewidth=1.9, zorder=2,
        label=f"{name}: {missed:.1%} at 0 or below",
    )  # fmt: skip


def _curves(model: Any, X: Any, y: Any, stages: Sequence[int] | None) -> dict[str, Array]:
    """Margins by the name of their curve."""
    if isinstance(model, Mapping):
        if not model:
            raise ValueError("there is no model: give a fitted classifier, or a mapping of some")
        if stages is not None:
            raise ValueError("stages are those of one boosted classifier: give it without a name")
        return {str(name): _margins(one, X, y) for name, one in model.items()}
    if not hasattr(model, "margins"):
        if stages is not None:
            raise ValueError(f"{type(model).__name__} has no stages: they are those of boosting")
        return {type(model).__name__: _margins(model, X, y)}
    return {
        f"{stage:,} {'round' if stage == 1 else 'rounds'}": _margins(_after(model, stage), X, y)
        for stage in _stages(len(model.estimators_), stages)
    }


def _stages(last: int, wanted: Sequence[int] | None) -> list[int]:
    """The numbers of rounds to draw, ascending."""
    if wanted is None:
        return sorted({max(1, round(share * last)) for share in _STAGES})
    if isinstance(wanted, int | str) or not len(wanted):
        raise ValueError(f"stages={wanted!r}: give a sequence of rounds, like [5, 50]")
    for stage in wanted:
        if not 1 <= stage <= last:
            raise ValueError(f"there is no stage {stage}: the committee has {last:,}, from 1")
    return sorted(set(wanted))


def _after(model: Any, stage: int) -> Any:
    """The committee as it was after so many rounds."""
    committee = copy(model)
    committee.estimators_ = model.estimators_[:stage]
    committee.estimator_weights_ = model.estimator_weights_[:stage]
    return committee


def _margins(model: Any, X: Any, y: Any) -> Array:
    """The model's own margins, or those of its probabilities."""
    if hasattr(model, "margins"):
        own: Array = np.asarray(model.margins(X, y), dtype=float)
        return own
    if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
        raise ValueError(
            f"{type(model).__name__} has no margins: give a fitted classifier with predict_proba"
        )
    shares = np.asarray(model.predict_proba(X), dtype=float)
    return lead(shares, class_codes(model, y, len(shares)))
