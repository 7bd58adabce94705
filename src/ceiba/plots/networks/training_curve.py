"""Draw the conditional likelihood along discriminative training."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.base import NetworkClassifier
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import is_fitted, model_error
from ceiba.plots.networks.view import named_models

_MAX_ITERATIONS = 40  # drawn one by one; more are drawn on a logarithmic axis


@documented
def training_curve(model: Any, *, figure: Any = None) -> Any:
    """Draw the conditional log-likelihood along the iterations of discriminative training.

    Iteration 0 is the generative model of the counts, where training begins. With a penalty the
    curve of the conditional log-likelihood need not ascend in every iteration: its objective does.
    Models trained with ``solver='tm'`` have a second panel: the step lambda of each iteration
    against lambda_max, the largest one for which no expected count is negative.

    Parameters
    ----------
    model : fitted Bayesian network classifier, or mapping from names to such classifiers
        Fitted with ``training='tm'`` and ``trace=True``.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import NaiveBayesClassifier, datasets, plots
    >>> vote = datasets.load("vote")
    >>> model = NaiveBayesClassifier(training="tm", missing="category", trace=True)
    >>> picture = plots.training_curve(model.fit(vote.table, vote.y))
    >>> picture.axes[0].get_ylabel()
    'conditional log-likelihood'
    """
    models = {name: _check(one) for name, one in named_models(model, "model").items()}
    stepped = [name for name, one in models.items() if len(_column(one, "max_step")[0])]
    n_panels = 1 + bool(stepped)
    figure = figure or style.new_figure(6.8, 3.7 if n_panels == 1 else 5.6)
    axes = figure.subplots(n_panels, 1, squeeze=False, height_ratios=[3, 2][:n_panels])[:, 0]
    for index, (name, one) in enumerate(models.items()):
        _draw_likelihood(axes[0], index, name, one)
    style.style_axes(
        axes[0], title="Discriminative training", y="conditional log-likelihood", grid="y"
    )
    style.plain_numbers(axes[0])
    axes[0].legend(loc="lower right", **style.LEGEND)
    if stepped:
        for index, name in enumerate(models):
            if name in stepped:
                _draw_steps(axes[1], index, models[name])
        axes[1].set_yscale("log")
        style.style_axes(axes[1], y="lambda", grid="y")
        style.set_note(axes[1], "solid: lambda of each iteration, dashed: lambda_max")
    n_iter = max(one.trace_[-1].step for one in models.values())
    for ax in axes:
        _set_iterations(ax, n_iter)
    axes[-1].set_xlabel("iteration (0: the generative model)")
    return axes[0].figure


def _check(model: Any) -> NetworkClassifier:
    if not isinstance(model, NetworkClassifier) or not is_fitted(model):
        raise model_error("model", "a Bayesian network classifier fitted with trace=True", model)
    if not hasattr(model, "trace_"):
        raise ValueError(
            f"model must be trained with training='tm' and trace=True, got "
            f"training={model.training!r} and trace={model.trace!r}."
        )
    return model


def _column(model: NetworkClassifier, name: str) -> tuple[Array, Array]:
    """Return the iterations with a value in the trace, and the values."""
    frames = [frame for frame in model.trace_ if frame.values.get(name) is not None]
    values = [float(frame[name]) for frame in frames]
    return np.array([frame.step for frame in frames], int), np.array(values)


def _draw_likelihood(ax: Any, index: int, name: str, model: NetworkClassifier) -> None:
    """Draw the curve of a model; the first and the last iteration are marked."""
    steps, values = _column(model, "conditional_log_likelihood")
    last = f"{values[-1]:.2f}".replace("-", "−")
    color, iterations = style.color_of(index), style.count_text(int(steps[-1]), "iteration")
    ax.plot(
        steps, values, color=color, linewidth=1.8, zorder=2 + 0.01 * index,
        label=f"{name}: {last} after {iterations}",
    )  # fmt: skip
    ax.plot(steps[0], values[0], "o", color=color, markerfacecolor="white", zorder=3)
    ax.plot(steps[-1], values[-1], "o", color=color, markersize=5, zorder=3)


def _draw_steps(ax: Any, index: int, model: NetworkClassifier) -> None:
    """Draw lambda and lambda_max; an unbounded lambda_max is not drawn."""
    color = style.color_of(index)
    steps, values = _column(model, "step")
    ax.plot(steps, values, ".-", color=color, linewidth=1.5, markersize=5, gid="lambda")
    steps, values = _column(model, "max_step")
    bounded = np.where(np.isfinite(values), values, np.nan)
    ax.plot(
        steps, bounded, color=color, linewidth=1.1, linestyle=(0, (4, 2)), alpha=0.7,
        gid="lambda_max",
    )  # fmt: skip


def _set_iterations(ax: Any, n_iter: int) -> None:
    """Set the axis of iterations, logarithmic from 1 on if there are many."""
    if n_iter <= _MAX_ITERATIONS:
        ax.locator_params(axis="x", integer=True)
        ax.set_xlim(-0.03 * max(n_iter, 1), 1.03 * max(n_iter, 1))
        return
    ax.set_xscale("symlog", linthresh=1.0, linscale=0.4)
    ticks = [0, *(10**k for k in range(len(str(n_iter))))]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(-0.15, 1.2 * n_iter)
