"""Draw the path of cost-complexity pruning."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import model_error, one_estimator
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.cross_validation import AlphaChoice, AlphaRule
from ceiba.tree.prune.path import CostComplexityPath, cost_complexity_path

# Rule -> its name, color and size of its ring; both rings are visible if the rules agree.
_RULES: dict[AlphaRule, tuple[str, str, int]] = {
    "min": ("minimum error", style.PALETTE[2], 10),
    "one_se": ("one standard error", style.ACCENT, 15),
}
_MAX_BARS = 60  # more error bars would overlap: a band is drawn instead


@documented
def pruning_path(
    path: CostComplexityPath | Any, choice: AlphaChoice | None = None, *, figure: Any = None
) -> Any:
    """Draw leaves, risk and error of cost-complexity pruning against alpha.

    Every pruning step is a horizontal line from its alpha to that of the next step, on a
    logarithmic axis whose left end is 0. The risk is that of the training rows. With a choice by
    cross-validation, the error of each step is drawn at the middle of its line (in the panel of the
    risk if that is the error) with a bar, for many steps a band, of one standard error to both
    sides; the tree of minimum error and the smallest within one standard error of it are marked,
    and the chosen one is in bold.

    Parameters
    ----------
    path : CostComplexityPath or fitted tree
        For a tree pruned by cost complexity its own choice is drawn, or its step is marked.
    choice : AlphaChoice, optional
        Result of cross-validation of the same path.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(pruning="cost_complexity", prune_risk="error")
    >>> picture = plots.pruning_path(model.fit(iris.table, iris.y))
    >>> [ax.get_ylabel() for ax in picture.axes]
    ['leaves', 'error']

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
    """
    path, choice, chosen, measure = _shown_path(path, choice)
    ends = _step_ends(path)
    separate = choice is not None and measure == "impurity"
    heights = [1.0, 1.0, 1.3] if separate else [1.0, 1.3]
    figure = figure or style.new_figure(7.2, 2.1 * sum(heights) + 0.8 * (chosen is not None))
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    _draw_steps(axes[0], ends, path.n_leaves, "leaves")
    axes[0].set_yscale("log")
    _set_leaf_ticks(axes[0], path.n_leaves)
    _draw_steps(axes[1], ends, path.risks, f"training {measure}")
    if choice is not None:
        name = "cross-validated error" if separate else measure
        _draw_errors(axes[-1], ends, choice, name)
        for rule, look in _RULES.items():
            step = choice.with_rule(rule).step
            _mark_step(axes, ends, path, step, choice.errors[step], look)
    elif chosen is not None:
        look = ("this tree", style.ACCENT, 10)
        _mark_step(axes, ends, path, chosen, path.risks[chosen], look)
    _style_panels(axes, ends, f"Cost complexity, {style.count_text(path.n_steps, 'pruning step')}")
    if chosen is not None:
        _add_legend(figure, axes[-1], choice)
    return figure


def _shown_path(
    given: Any, choice: AlphaChoice | None
) -> tuple[CostComplexityPath, AlphaChoice | None, int | None, str]:
    """Return the path, the choice, the chosen step, and what the path's risks measure."""
    step: int | None = None
    if isinstance(given, CostComplexityPath):
        path, measure = given, str(given.risk)
    else:
        path, own, step = _path_of(given)
        choice = own if choice is None else choice
        squared = getattr(given, "criterion", None) == "squared_error"
        measure = "squared error" if squared else path.risk
    if choice is not None and not np.array_equal(choice.alphas, path.alphas):
        raise ValueError("choice must have the alphas of the path, got those of another path.")
    return path, choice, step if choice is None else choice.step, measure


def _path_of(model: Any) -> tuple[CostComplexityPath, AlphaChoice | None, int | None]:
    if not isinstance(getattr(model, "grown_tree_", None), Tree):
        expected = "a fitted tree or the result of ceiba.tree.cost_complexity_path"
        remedy = one_estimator(model)
        if isinstance(model, Tree) or hasattr(model, "forest_"):
            tree = "tree" if isinstance(model, Tree) else "model.tree(0)"
            remedy = f"pass ceiba.tree.cost_complexity_path({tree})"
        raise model_error("path", expected, model, remedy)
    details = model.pruning_.details if hasattr(model, "pruning_") else {}
    risk = details.get("risk", getattr(model, "prune_risk", "impurity"))
    # Steps are counted on the tree that the estimator's collapsing leaves, as in `pruned`.
    path = cost_complexity_path(model.pruned("none").tree_, risk)
    if "errors" not in details:
        return path, None, details.get("step")
    names = ("errors", "standard_errors", "rule", "folds")
    choice = AlphaChoice(path.alphas, **{name: details[name] for name in names})
    return path, choice, choice.step


def _step_ends(path: CostComplexityPath) -> Array:
    """Return where the steps begin on the axis, and the end of the last."""
    positive = path.alphas[path.alphas > 0]
    if not len(positive):
        raise ValueError(
            "path must have a step with alpha > 0, got only the grown tree: it is a single leaf, "
            "or none of its splits gains anything."
        )
    factor = max(2.0, float(positive[-1] / positive[0]) ** 0.1)
    ends = np.append(path.alphas, positive[-1] * factor)
    clipped: Array = np.maximum(ends, positive[0] / factor)
    return clipped


def _step_centers(ends: Array) -> Array:
    """Return the middle of each step on the logarithmic axis."""
    centers: Array = np.sqrt(ends[:-1]) * np.sqrt(ends[1:])
    return centers


def _draw_steps(ax: Any, ends: Array, values: Array, name: str) -> None:
    ax.stairs(values, ends, baseline=None, color=style.PALETTE[0], linewidth=2.0, label="training")
    ax.set_ylabel(name)


def _set_leaf_ticks(ax: Any, n_leaves: Array) -> None:
    """Set about five ticks at numbers of leaves that occur."""
    from matplotlib.ticker import FixedLocator, NullLocator

    targets = np.geomspace(1, n_leaves[0], 5)
    ticks = {int(n_leaves[np.abs(np.log(n_leaves / target)).argmin()]) for target in targets}
    ax.yaxis.set_major_locator(FixedLocator(sorted(ticks)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _draw_errors(ax: Any, ends: Array, choice: AlphaChoice, name: str) -> None:
    """Draw the error of each step with its standard error, and the limit of the rule."""
    seen = np.diff(ends) > 0  # of several steps at one alpha only the last can be chosen
    x, errors = _step_centers(ends)[seen], choice.errors[seen]
    deviations = choice.standard_errors[seen]
    line = {"color": style.PALETTE[1], "linewidth": 1.4, "zorder": 3,
            "label": f"cross-validated, {choice.folds} folds"}  # fmt: skip
    if len(x) <= _MAX_BARS:
        ax.errorbar(
            x, errors, deviations, fmt="-o", ecolor=style.MUTED, elinewidth=1.0, capsize=2.5,
            markersize=4.5, **line,
        )  # fmt: skip
    else:
        band = {"color": style.PALETTE[1], "alpha": 0.25, "linewidth": 0}
        ax.fill_between(x, errors - deviations, errors + deviations, **band)
        ax.plot(x, errors, **line)
    best = choice.with_rule("min").step
    limit = choice.errors[best] + choice.standard_errors[best]
    label = "minimum + one standard error"
    ax.axhline(limit, color=style.MUTED, linestyle=":", linewidth=1.2, label=label)
    ax.set_ylabel(name)


def _mark_step(
    axes: Any,
    ends: Array,
    path: CostComplexityPath,
    step: int,
    value: float,
    look: tuple[str, str, int],
) -> None:
    """Mark a step by a line through all panels, and by a ring in the last."""
    name, color, ring = look
    x, leaves = _step_centers(ends)[step], style.count_text(int(path.n_leaves[step]), "leaf")
    for ax in axes:
        ax.axvline(x, color=color, linewidth=1.2, alpha=0.6, zorder=1)
    axes[-1].plot(
        x, value, "o", markersize=ring, markerfacecolor="none", markeredgecolor=color,
        markeredgewidth=2, zorder=4, label=f"{name}: {leaves}",
    )  # fmt: skip


def _style_panels(axes: Any, ends: Array, title: str) -> None:
    for ax in axes:
        x = "α, cost of a leaf (log scale; the left end is 0)" if ax is axes[-1] else ""
        style.style_axes(ax, title=title if ax is axes[0] else "", x=x, y=ax.get_ylabel(), grid="y")
    axes[-1].set_xscale("log")
    axes[-1].set_xlim(ends[0], ends[-1])


def _add_legend(figure: Any, ax: Any, choice: AlphaChoice | None) -> None:
    """Add the legend below the panels, with the chosen rule in bold."""
    handles, labels = ax.get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=2, **style.LEGEND)
    for text in legend.get_texts():
        if choice is not None and text.get_text().startswith(_RULES[choice.rule][0] + ":"):
            text.set_weight("bold")
