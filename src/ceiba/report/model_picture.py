"""The picture of a fitted model: its tree, its network, or the importance of its columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.inspection import permutation_importance

from ceiba import plots
from ceiba._typing import Array
from ceiba.bayes.base import NetworkClassifier
from ceiba.data.table import Table
from ceiba.ensemble import RandomForestClassifier, RandomForestRegressor
from ceiba.experiments.running.units import Unit, set_seeds, take_rows
from ceiba.plots import style
from ceiba.plots.models import has_tree

_MAX_TREE_NODES = 31
# Of more columns, or of more out-of-bag rows, permutations take too long.
_MAX_COLUMNS, _MAX_ROWS = 200, 10_000
_MAX_BARS = 25
# Permutations of a column, and of all columns together.
_N_REPEATS, _MAX_PERMUTATIONS = 5, 200


@dataclass(frozen=True, slots=True)
class ModelPicture:
    """A figure of a model, its text for readers who do not see it, and the line below it."""

    figure: Any
    alt: str
    caption: str


def draw_model(model: Any, X: Any, y: Any, unit: Unit) -> ModelPicture | None:
    """Draw the picture that suits a model; None if there is none.

    Parameters
    ----------
    model : fitted estimator
    X, y : rows and target of the fit
    unit : Unit
        The model's learner on one fold, whose test rows measure the importance of columns.
    """
    name = type(model).__name__
    if has_tree(model):
        return ModelPicture(
            plots.tree(model, max_nodes=_MAX_TREE_NODES),
            f"The decision tree with {model.tree_.n_leaves} leaves.",
            "The tree of all rows; nodes that do not fit are folded.",
        )
    if isinstance(model, NetworkClassifier):
        return ModelPicture(
            plots.network(model),
            f"The network of {name}: its columns, and the arcs between them.",
            "The network of all rows.",
        )
    table = Table.of(X, warn=False)
    if len(table.schema) > _MAX_COLUMNS:
        return None
    is_forest = isinstance(model, RandomForestClassifier | RandomForestRegressor)
    if is_forest and len(table) <= _MAX_ROWS:
        return ModelPicture(
            plots.importance(model.oob_importance(X, y), max_columns=_MAX_BARS),
            "Permutation importance of the columns, on out-of-bag rows.",
            "How much the out-of-bag loss increases when a column is permuted.",
        )
    return ModelPicture(
        _draw_importance(unit),
        f"Permutation importance of the columns for {name}, on test rows.",
        "How much the score of test rows decreases when a column is permuted: mean and standard "
        f"deviation of {_n_repeats(table)} permutations, in the first fold.",
    )


def _n_repeats(table: Table) -> int:
    return max(2, min(_N_REPEATS, _MAX_PERMUTATIONS // len(table.schema)))


def _draw_importance(unit: Unit) -> Any:
    """Draw the decrease of the score of test rows when a column is permuted."""
    data = unit.dataset
    table = Table.of(data.X, warn=False)
    # scikit-learn permutes the columns of arrays and data frames.
    rows = np.asarray(table) if table.schema.all_numeric else table.to_pandas()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # those of the fit on all rows are known
        model = set_seeds(clone(unit.learner.estimator), unit.seed)
        model.fit(take_rows(rows, unit.train), data.labels[unit.train])
        found = permutation_importance(
            model, take_rows(rows, unit.test), data.labels[unit.test],
            n_repeats=_n_repeats(table), random_state=unit.seed,
        )  # fmt: skip
    shown = np.argsort(-found.importances_mean, kind="stable")[:_MAX_BARS]
    names = [table.schema[j].name for j in shown]
    score = "accuracy" if data.classes is not None else "R²"
    return _bars(names, found.importances_mean[shown], found.importances_std[shown], score)


def _bars(names: list[str], means: Array, deviations: Array, score: str) -> Any:
    ax = style.new_axes(6.8, max(2.2, 0.27 * len(names) + 1.1))
    lines = np.arange(len(names))
    ax.axvline(0, color=style.MUTED, linewidth=0.9)
    ax.hlines(lines, 0, means, color=style.PALETTE[0], linewidth=2.6, alpha=0.35)
    ax.errorbar(
        means, lines, xerr=deviations, fmt="o", color=style.PALETTE[0], markersize=6,
        elinewidth=1.3, capsize=2.5,
    )  # fmt: skip
    style.style_axes(ax, title="Permutation importance", x=f"decrease of {score}", grid="x")
    style.label_bars(ax, [style.shorten(name, 32) for name in names])
    return ax.figure
