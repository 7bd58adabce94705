"""Draw gradient boosting: losses over the rounds, importances, and the player's frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._native import NodeTest
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.ensemble.gradient_boosting.base import BaseGradientBoosting
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import is_fitted, model_error
from ceiba.plots.playback import MAX_POINTS, axes_beside
from ceiba.tree.explain.conditions import branch_text
from ceiba.tree.model.node_dtype import NodeView

_NAMES = {"training": "training rows", "validation": "validation rows"}
_MAX_NAME = 32  # characters of a column's name
_MAX_TITLE = 66  # characters above the rows of an animation
_MAX_BARS = 8  # columns beside an animation


@documented
def loss_curve(model: Any, *, ax: Any = None) -> Any:
    """Draw the mean loss of gradient boosting over its rounds.

    The loss on validation rows is followed with ``X_val`` or ``early_stopping``, that on training
    rows with ``trace`` or ``verbose``. With early stopping a line marks the best round, after which
    the trees were dropped.

    Parameters
    ----------
    model : fitted GradientBoostingClassifier or GradientBoostingRegressor
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import GradientBoostingClassifier, datasets, plots
    >>> crx = datasets.load("crx")
    >>> model = GradientBoostingClassifier(early_stopping=True, trace=True)
    >>> picture = plots.loss_curve(model.fit(crx.table, crx.y))
    >>> len(picture.axes[0].get_lines())
    3
    """
    losses = _check(model).losses_
    if not losses:
        raise ValueError(
            "There are no losses to draw: fit the model with trace=True, early_stopping=True or "
            "X_val."
        )
    ax = ax or style.new_axes(6.4, 4.2)
    for index, name in enumerate(name for name in _NAMES if name in losses):
        values = losses[name]
        rounds = np.arange(1, len(values) + 1)
        ax.plot(
            rounds, values, color=style.PALETTE[index], linewidth=1.8, label=_NAMES[name], gid=name
        )
    best = model.n_estimators_
    if len(losses.get("validation", ())) > best:  # early stopping has dropped rounds
        ax.axvline(best, color=style.ACCENT, linewidth=1.2, linestyle=":", gid="best")
        style.set_note(ax, f"best round: {best:,}", style.ACCENT)
    style.style_axes(
        ax, title="Loss over the rounds", x="round", y=f"mean loss ({_loss(model)})", grid="y"
    )
    ax.locator_params(axis="x", integer=True)
    style.plain_numbers(ax)
    ax.legend(loc="best", **style.LEGEND)  # beside the line of the best round, wherever that is
    return ax.figure


@documented
def split_importance(model: Any, *, max_columns: int = 20, ax: Any = None) -> Any:
    """Draw the importance of each column in gradient boosting: share of gain, share of splits.

    The gain of a split is twice what it decreases the objective by. Columns with
    many splits and little gain are used for fine corrections.

    Parameters
    ----------
    model : fitted GradientBoostingClassifier or GradientBoostingRegressor
    max_columns : int
        Maximum number of columns to draw, those of largest gain.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import GradientBoostingClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = GradientBoostingClassifier(10).fit(iris.table, iris.y)
    >>> picture = plots.split_importance(model)
    >>> len(picture.axes[0].get_yticklabels())
    4
    """
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1, got {max_columns}.")
    gain, split = _check(model).importances("gain"), model.importances("split")
    shown = np.argsort(-gain, kind="stable")[:max_columns]
    ax = ax or style.new_axes(6.8, max(2.4, 0.32 * len(shown) + 1.3))
    lines = np.arange(len(shown))
    for values, offset, color, label in (
        (gain, -0.19, style.PALETTE[0], "gain"),
        (split, 0.19, style.PALETTE[1], "number of splits"),
    ):
        ax.barh(lines + offset, values[shown], 0.36, color=color, label=label, gid=label)
    style.style_axes(ax, title="Importance of the columns", x="share of the total", grid="x")
    style.label_bars(ax, style.shorten_names([model.schema_.names[j] for j in shown], _MAX_NAME))
    ax.legend(loc="lower right", **style.LEGEND)
    return ax.figure


def _check(model: Any) -> Any:
    if not isinstance(model, BaseGradientBoosting) or not is_fitted(model):
        expected = "a fitted GradientBoostingClassifier or GradientBoostingRegressor"
        raise model_error("model", expected, model)
    return model


def _loss(model: Any) -> str:
    return model.loss if isinstance(model.loss, str) else type(model.loss).__name__


class GradientPainter:
    """Draw the rounds of gradient boosting: gradients, the values of the round's tree, losses.

    Rows are drawn over one numeric column, by default the one of largest gain.
    """

    def __init__(
        self, frames: Sequence[Any], X: Any, model: Any, *, columns: Sequence[Any] | None = None
    ) -> None:
        if model is None:
            raise ValueError("A trace of boosting requires its trees: play the fitted model.")
        self._frames = frames
        self._model = model
        table = X if isinstance(X, Table) else Table.of(X, schema=model.schema_)
        n_rows = frames[0]["gradient"].shape[1]
        if len(table) != n_rows:
            raise ValueError(
                f"X must be the {n_rows:,} rows that the trees were fitted to, got {len(table):,}: "
                "leave out rows of weight zero, and pass X_val to fit instead of holding rows out."
            )
        self._column = _numeric_column(model, columns)
        self._x = np.asarray(table.column(self._column), np.float64)
        self._rows = np.unique(np.linspace(0, n_rows - 1, min(n_rows, MAX_POINTS)).astype(int))
        leaves = model.apply(table)  # a classifier has several trees per round
        self._leaves = leaves if leaves.ndim == 2 else leaves[:, :, 0]

    def layout(self, figure: Any) -> list[Any]:
        """Make axes for the rows, and to their right for losses and gains."""
        return axes_beside(figure, 2, 1.9)

    def draw(self, axes: Sequence[Any], index: int) -> None:
        """Draw one round."""
        frame = self._frames[index]
        self._draw_rows(axes[0], frame)
        self._draw_losses(axes[1], index)
        self._draw_gains(axes[2], frame)

    def _draw_rows(self, ax: Any, frame: Any) -> None:
        """Draw the negative gradient of each row, which the tree fits, and its leaf's step."""
        model, number, rows = self._model, frame["round"], self._rows
        x, name = self._x[rows], style.shorten_middle(model.schema_.names[self._column], 60)
        ax.plot(
            x, -frame["gradient"][0, rows], "o", color=style.PALETTE[0], markersize=4, alpha=0.6,
            gid="gradient",
        )  # fmt: skip
        y = "negative gradient (dots)"
        if number < model.n_estimators_:
            # Not the values of the model: dropout may have rescaled them since.
            first, leaf = frame["first_nodes"][0], self._leaves[rows, number]
            step = frame["leaf_steps"][first + leaf, 0] / frame["unit"]
            ax.plot(x, step, "_", color=style.ACCENT, markersize=7, markeredgewidth=2, gid="tree")
            y += ", step of the leaf (dashes)"
        output = f", class {model.classes_[0]}" if model.n_trees_per_round_ > 1 else ""
        title = f"Round {number + 1:,}{output}: {self._root_text(number)}"
        title = style.shorten_middle(title, _MAX_TITLE)
        style.style_axes(ax, title=title, x=name, y=y, grid="y")

    def _root_text(self, number: int) -> str:
        """Return the first split of the round's tree."""
        if number >= self._model.n_estimators_:
            return "dropped by early stopping"
        tree = self._model.tree(number)
        leaves = style.count_text(tree.n_leaves, "leaf")
        if tree.is_leaf[0]:
            return leaves
        split = tree.split(0)
        return f"{leaves}, first split {branch_text(split, 0, tree.schema[split.column])}"

    def _draw_losses(self, ax: Any, index: int) -> None:
        frames = self._frames
        rounds = [frame["round"] + 1 for frame in frames]
        names = [name for name in _NAMES if name in frames[0].values]
        for number, name in enumerate(names):
            values = [frame[name] for frame in frames]
            color = style.PALETTE[number]
            ax.plot(rounds, values, color=style.PALE, linewidth=1.4)
            done = slice(0, index + 1)
            ax.plot(rounds[done], values[done], color=color, linewidth=1.8, label=_NAMES[name])
            ax.plot(rounds[index], values[index], "o", color=style.ACCENT, markersize=6)
        style.style_axes(ax, title="Mean loss", x="round", grid="y")
        ax.locator_params(axis="x", integer=True, nbins=6)
        style.plain_numbers(ax)
        if len(names) > 1:
            ax.legend(loc="upper right", **{**style.LEGEND, "fontsize": style.TICK_SIZE})

    def _draw_gains(self, ax: Any, frame: Any) -> None:
        """Draw the gain of each column in the trees of the round, for those of largest gain."""
        model, number = self._model, frame["round"]
        shown = np.argsort(-model.importances("gain"), kind="stable")[:_MAX_BARS]
        gains = np.zeros(len(model.schema_))
        if number < model.n_estimators_:
            trees, k = model.boosted_trees_, model.n_trees_per_round_
            # One tree for all outputs is stored once per output, with the same splits.
            n_trees = k if frame["node_sums"].shape[1] == 1 else 1
            nodes = slice(*trees.tree_offsets[[number * k, number * k + n_trees]])
            view = NodeView(trees.nodes[nodes])
            inner = view.kind != NodeTest.LEAF
            np.add.at(gains, view.column[inner], trees.node_gains[nodes][inner])
        ax.barh(np.arange(len(shown)), gains[shown], 0.6, color=style.PALETTE[2], gid="gain")
        style.style_axes(ax, title="Gain of the round", grid="x")
        style.label_bars(ax, style.shorten_names([model.schema_.names[j] for j in shown], 14))
        ax.locator_params(axis="x", nbins=4)


def _numeric_column(model: Any, columns: Sequence[Any] | None) -> int:
    """Return the index of the column to draw."""
    schema = model.schema_
    numeric = [j for j, column in enumerate(schema) if column.kind is Kind.NUMERIC]
    if columns is None:
        if not numeric:
            raise ValueError("The rounds are drawn over a numeric column, got only nominal ones.")
        gains = model.importances("gain")
        return max(numeric, key=lambda j: gains[j])
    names = [schema.names[j] for j in numeric]
    if isinstance(columns, str) or len(columns) != 1 or columns[0] not in [*names, *numeric]:
        shown = f"{', '.join(map(repr, names[:8]))}{', ...' * (len(names) > 8)}"
        raise ValueError(
            "columns must be a list of exactly one numeric column for gradient boosting, got "
            f"{columns!r}: choose among {shown}."
        )
    return schema.names.index(columns[0]) if isinstance(columns[0], str) else int(columns[0])
