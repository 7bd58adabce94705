"""Two boundaries, one straight and one bent, under a linear model and under a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ceiba.datasets import Dataset, load
from ceiba.plots.planes.regions import regions
from ceiba.plots.style import LABEL_SIZE, MUTED, TITLE_SIZE, new_figure
from ceiba.tree.classifier import DecisionTreeClassifier

__all__ = ["boundaries"]


def boundaries(
    tables: Sequence[str | Dataset] = ("linear_boundary", "nonlinear_boundary"),
    *,
    models: Mapping[str, Any] | None = None,
    folds: int = 10,
    random_state: int = 0,
    figure: Any = None,
) -> Any:
    """Draw the regions of a linear model beside those of a tree, on tables of two columns.

    A row of panels for each table, a column for each model. Above each panel stand the accuracy
    on the rows that are drawn, all of which the model was fitted to, and the cross-validated
    accuracy. No straight line parts the classes of ``nonlinear_boundary``; a tree parts both
    tables, but makes a staircase of the slanted line of ``linear_boundary``, which costs it
    accuracy on rows that it has not seen.

    Parameters
    ----------
    tables : sequence of str or Dataset
        Names for `ceiba.datasets.load`, or what it loads, of two numeric columns.
    models : mapping from names to classifiers, optional
        What to fit to every table. Unless given, scikit-learn's ``LogisticRegression`` (with next
        to no penalty, so that it may find the line) and a fully grown `DecisionTreeClassifier`.
    folds : int
        Parts of the stratified cross-validation.
    random_state : int
        Draws these parts.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> picture = plots.boundaries([datasets.load("nonlinear_boundary", n_rows=60)], folds=3)
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['logistic regression', 'decision tree']
    """
    if isinstance(tables, str | Dataset) or not len(tables):
        raise ValueError(f'tables={tables!r}: give a sequence, like ["linear_boundary"]')
    every = [load(table) if isinstance(table, str) else table for table in tables]
    for table in every:
        _check(table)
    chosen = _default() if models is None else models
    if not chosen:
        raise ValueError("models is empty: give at least one classifier")
    if figure is None:
        figure = new_figure(3.9 * len(chosen), 3.6 * len(every))
    axes = figure.subplots(len(every), len(chosen), squeeze=False)
    parts = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    for line, table in zip(axes, every, strict=True):
        for ax, (name, model) in zip(line, chosen.items(), strict=True):
            fitted = clone(model).fit(table.X, table.y)
            regions(fitted, table.X, table.y, ax=ax)
            _dress(ax, table, name, fitted, cross_val_score(model, table.X, table.y, cv=parts))
        line[0].annotate(
            table.name, (0, 0.5), (-48, 0), xycoords="axes fraction",
            textcoords="offset points", rotation=90, ha="center", va="center",
            fontsize=LABEL_SIZE, color=MUTED,
        )  # fmt: skip
    return figure


def _default() -> dict[str, Any]:
    return {
        "logistic regression": LogisticRegression(C=1e6, solver="newton-cholesky"),
        "decision tree": DecisionTreeClassifier(),
    }


def _check(table: Dataset) -> None:
    if table.task != "classification":
        raise ValueError(f"{table.name} is no table of classes, and these are classifiers")
    if len(table.schema) != 2 or not table.schema.all_numeric:
        raise ValueError(
            f"{table.name} has the columns {table.feature_names!r}: give tables of two numeric "
            "columns, or draw one model with plots.regions"
        )


def _dress(ax: Any, table: Dataset, name: str, model: Any, scores: Any) -> None:
    """Name the model and say how good it is; colours are the classes in every panel."""
    ax.set_title(name, loc="left", fontsize=TITLE_SIZE)
    training = np.mean(np.asarray(model.predict(table.X)) == np.asarray(table.y))
    said = f"training {training:.2f}\ncross-validated {np.mean(scores):.2f}"
    ax.set_title(said, loc="right", fontsize=LABEL_SIZE, color=MUTED, pad=8)
    ax.get_legend().remove()
    ax.set_xlabel(table.feature_names[0])
    ax.set_ylabel(table.feature_names[1])
