"""Draw regression trees of one column as step functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ceiba.data.schema import Kind
from ceiba.data.target import Target
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import check_one_target, has_tree, model_error
from ceiba.plots.planes.section import LeafBoxes, Section
from ceiba.plots.projection import bounding_box
from ceiba.tree.model.tree import Tree

_MAX_COLUMNS = 3  # panels side by side
_MAX_OVERLAID = len(style.PALETTE)  # curves of different color


@documented
def step_functions(
    models: Any,
    x: Any,
    y: Any,
    *,
    overlay: bool = False,
    ax: Any = None,
    figure: Any = None,
    max_points: int = 5_000,
    random_state: Any = 0,
) -> Any:
    """Draw regression trees of one numeric column as step functions over the rows.

    The steps are exact: they come from the thresholds, not from a grid. Several trees, for example
    of different depths or prunings, are drawn side by side or, on one pair of axes, overlaid.

    Parameters
    ----------
    models : fitted tree, sequence of them, or mapping from names to them
        Each a `ceiba.DecisionTreeRegressor` of one numeric column. Without names the titles are
        their leaves and depth.
    x : array of shape (n_rows,), or array, frame or table of one column
    y : array of shape (n_rows,)
        Targets of the rows, for the mean squared error of each tree.
    overlay : bool
        Draw all trees on one pair of axes.
    ax : matplotlib Axes, optional
        Axes to draw all trees on.
    {figure}
    {sample}

    {picture}

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor, plots
    >>> x = np.linspace(0, 6, 60)[:, None]
    >>> trees = [DecisionTreeRegressor(max_depth=d).fit(x, np.sin(x[:, 0])) for d in (1, 2, 4)]
    >>> picture = plots.step_functions(trees, x, np.sin(x[:, 0]))
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['2 leaves, depth 1', '4 leaves, depth 2', '16 leaves, depth 4']
    """
    if ax is not None and figure is not None:
        raise ValueError("ax and figure must not be given together: pass one of them.")
    named = _named_trees(models)
    overlay = overlay or ax is not None
    if overlay and len(named) > _MAX_OVERLAID:
        raise ValueError(
            f"overlay=True requires at most {_MAX_OVERLAID} trees, got {len(named)}: draw them "
            "side by side."
        )
    if getattr(x, "ndim", 0) == 1 or (isinstance(x, list) and x and np.ndim(x[0]) == 0):
        x = np.asarray(x)[:, None]
    section = Section.of(named[0][1], x, width=1)
    targets = Target.of(y, len(section.points), task="regression").values
    n = 1 if overlay else len(named)
    size = (7.4, 4.2) if n == 1 else (3.6, 3.2)
    axes = [ax] if ax else style.panel_grid(figure, n, _MAX_COLUMNS, size, sharex=True, sharey=True)
    rows = section.sample(max_points, random_state)
    for panel in axes:
        panel.scatter(
            section.points[rows], targets[rows], s=0.7 * style.point_size(len(rows)), c=style.MUTED,
            alpha=0.55 if len(rows) <= 2_000 else 0.3, linewidths=0, zorder=1.5,
        )  # fmt: skip
    labels: dict[str, Any] = {"x": section.names[0], "y": "y", "grid": "y"}
    for index, (name, model) in enumerate(named):
        error = f"MSE {np.mean((model.predict(section.table) - targets) ** 2):.3g}"
        if overlay:
            _draw_steps(axes[0], model, section, style.color_of(index), f"{name}  ({error})")
        else:
            _draw_steps(axes[index], model, section, style.color_of(0), name)
            style.style_axes(axes[index], title=name, **labels)
            style.set_note(axes[index], error)
    if overlay:
        style.style_axes(axes[0], title="Regression trees as step functions", **labels)
        look = {"loc": "best", "framealpha": 0.9, "edgecolor": "none"}
        axes[0].legend(fontsize=style.LABEL_SIZE, labelcolor=style.INK, **look)
    else:
        style.label_outer(axes)
    return axes[0].figure


def _named_trees(models: Any) -> list[tuple[str, Any]]:
    if isinstance(models, Mapping):
        named = list(models.items())
    else:
        named = [(None, model) for model in (models if isinstance(models, Sequence) else [models])]
    if not named:
        raise ValueError("models must contain at least one tree, got none.")
    for _, model in named:
        _check_tree(model)
    return [(_tree_title(m.tree_) if name is None else name, m) for name, m in named]


def _tree_title(tree: Tree) -> str:
    return f"{style.count_text(tree.n_leaves, 'leaf')}, depth {tree.max_depth}"


def _check_tree(model: Any) -> None:
    if not has_tree(model) or hasattr(model, "classes_"):
        raise model_error("models", "fitted regression trees of Ceiba", model)
    check_one_target(model.tree_.n_outputs)
    schema = model.tree_.schema
    if len(schema) != 1 or schema[0].kind is not Kind.NUMERIC or schema[0].temporal:
        names = f"columns {schema.names!r}" if len(schema) < 6 else f"{len(schema)} columns"
        raise ValueError(
            f"models must be trees of one numeric column, got {names}: draw two columns with "
            "plots.partition."
        )


def _draw_steps(ax: Any, model: Any, section: Section, color: str, label: str) -> None:
    """Draw the pieces of one tree, horizontal lines joined by vertical ones."""
    low, high = bounding_box([section.points[~np.isnan(section.points[:, 0])]], margin=0.03)
    boxes = LeafBoxes.of(model.tree_, low, high, (0,))
    edges = np.append(boxes.low[:, 0], high)
    values = model.predict(section.rows(boxes.high))
    ax.stairs(values, edges, baseline=None, color=color, linewidth=2.0, zorder=3, label=label)
    ax.set_xlim(low[0], high[0])
