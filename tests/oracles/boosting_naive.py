"""A naive gradient boosting: one function per step, random draws as arguments.

The losses are in ``boosting_losses_naive.py``, the trees in ``boosting_trees_naive.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from tests.oracles.boosting_losses_naive import (
    as_columns,
    gradient,
    hessian,
    huber_delta,
    initial_scores,
    n_scores,
)
from tests.oracles.boosting_trees_naive import (
    Columns,
    Config,
    Targets,
    grow_tree,
    midpoints,
    nodes_of,
    tree_values,
)


@dataclass
class Model:
    """A fitted model: one list of trees, and one weight of all their values, per round."""

    init: np.ndarray
    rounds: list = field(default_factory=list)
    weights: list = field(default_factory=list)
    dropped: list = field(default_factory=list)
    deltas: list = field(default_factory=list)

    def raw_scores(self, X):
        return self.staged_raw_scores(X)[-1]

    def staged_raw_scores(self, X):
        """Return the scores after 0, 1, ... rounds, by the weights at the end of the fit."""
        F = np.tile(self.init, (len(X), 1))
        stages = [F]
        for trees, weight in zip(self.rounds, self.weights, strict=True):
            stages.append(stages[-1] + weight * tree_values(trees, X))
        return stages

    def margin(self, columns=False):
        """Return the smallest distance of a decision from another one, in units of gain.

        With ``columns=True`` also from splits of other columns that part the rows alike.
        """
        nodes = [node for trees in self.rounds for tree in trees for node in nodes_of(tree)]
        margins = [min(n.margin, n.column_margin) if columns else n.margin for n in nodes]
        return min(margins, default=math.inf)


# Rounds


def sample_rows(g, w, draws, config):
    """Return the rows of a round, and the factors of their weights."""
    n, factors = len(w), np.ones(len(w))
    used = np.ones(n, dtype=bool)
    if config.top_rate is not None:
        order = sorted(range(n), key=lambda i: (-math.fsum(np.abs(g[i])), i))
        n_top = math.ceil(config.top_rate * n)
        for i in order[n_top:]:
            used[i] = draws[i] < config.other_rate / (1 - config.top_rate)
            factors[i] = (1 - config.top_rate) / config.other_rate
    elif config.subsample < 1:
        used = np.asarray(draws) < config.subsample
    return np.flatnonzero(used & (w > 0)), factors


def drop_rounds(n_rounds, draws, dropout):
    """Return the earlier rounds that are left out of the scores of this round."""
    return [r for r in range(n_rounds) if dropout > 0 and draws[r] < dropout]


def derivatives(y, F, w, config):
    """Return g and h, multiplied by the weights, and delta of the Huber loss."""
    delta = huber_delta(y, F, w, config.alpha) if config.loss == "huber" else None
    options = {"alpha": config.alpha, "power": config.power, "delta": delta}
    g = gradient(config.loss, y, F, **options) * w[:, None]
    h = hessian(config.loss, y, F, power=config.power) * w[:, None]
    return g, h, delta


def fit_round(columns, y, F, w, draws, config):
    """Return the trees of one round, and delta of the Huber loss."""
    g, h, delta = derivatives(y, F, w, config)
    rows, factors = sample_rows(g, w, draws, config)
    g, h, w = g * factors[:, None], h * factors[:, None], w * factors
    curvature = h if config.method == "newton" else np.repeat(w[:, None], g.shape[1], axis=1)
    Y = np.broadcast_to(as_columns(y), F.shape)
    every = Targets(Y, F, g, h, w, curvature, delta)
    if config.multi_output:
        return [grow_tree(columns, every, rows, config)], delta
    trees = [grow_tree(columns, one_score(every, k), rows, config) for k in range(F.shape[1])]
    return trees, delta


def one_score(targets, k):
    """Return the targets of the tree of score k."""
    own = slice(k, k + 1)
    delta = None if targets.delta is None else targets.delta[own]
    y, F, g, h = (a[:, own] for a in (targets.y, targets.F, targets.g, targets.h))
    return Targets(y, F, g, h, targets.w, targets.curvature[:, own], delta)


def check_config(config, columns, n_outputs):
    """Raise where parameters exclude each other; drop constraints that constrain nothing."""
    if config.method == "gradient" and (
        config.reg_lambda or config.reg_alpha or config.min_child_weight
    ):
        raise ValueError("reg_lambda, reg_alpha and min_child_weight require method='newton'.")
    if config.top_rate is not None and config.subsample < 1:
        raise ValueError("top_rate requires subsample=1.")
    if config.monotonic is None or not any(config.monotonic):
        return replace(config, monotonic=None)
    if n_outputs > 1:
        raise ValueError(f"monotonic requires one score, got {n_outputs}.")
    if any(
        c and kind == "nominal" for c, kind in zip(config.monotonic, columns.kinds, strict=True)
    ):
        raise ValueError("monotonic must be 0 for nominal columns.")
    return config


def fit(
    X,
    y,
    *,
    kinds=None,
    n_categories=None,
    weight=None,
    row_draws=None,
    round_draws=None,
    **parameters,
):
    """Fit a model; ``parameters`` are the fields of ``Config``.

    ``kinds[j]`` is "numeric" or "nominal", ``n_categories[j]`` the number of categories of a
    nominal column. ``row_draws[r]`` has one uniform number per row, ``round_draws[r]`` one per
    earlier round.
    """
    config = Config(**parameters)
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    w = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    kinds = ["numeric"] * X.shape[1] if kinds is None else list(kinds)
    thresholds = [midpoints(column) for column in X.T]
    columns = Columns(X, kinds, n_categories, thresholds)
    config = check_config(config, columns, n_scores(config.loss, y))

    init = initial_scores(config.loss, y, w, alpha=config.alpha)
    model = Model(init if config.init is None else np.array(config.init, dtype=float))
    values = []
    for r in range(config.n_estimators):
        dropped = drop_rounds(r, None if round_draws is None else round_draws[r], config.dropout)
        F = np.tile(model.init, (len(y), 1))
        for s in range(r):
            if s not in dropped:
                F = F + model.weights[s] * values[s]
        draws = None if row_draws is None else row_draws[r]
        trees, delta = fit_round(columns, y, F, w, draws, config)

        k, rate = len(dropped), config.learning_rate
        for s in dropped:
            model.weights[s] *= k / (k + rate)
        model.weights.append(rate / (k + rate) if k else rate)
        model.rounds.append(trees)
        model.dropped.append(dropped)
        model.deltas.append(delta)
        values.append(tree_values(trees, X))
    return model
