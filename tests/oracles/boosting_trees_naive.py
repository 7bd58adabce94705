"""Naive regression trees of gradient boosting: every candidate split is a mask of rows.

Sums are correctly rounded (``math.fsum``), so that neither the order of the rows nor that of the
columns changes a gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tests.oracles.boosting_losses_naive import (
    LOG_MEAN,
    QUANTILES,
    line_search,
    newton_value,
    ratio,
    soft_threshold,
    solved_value,
)

# A nominal column with more categories than this pays for the choice among its partitions.
MANY_CATEGORIES = 10


@dataclass(frozen=True)
class Config:
    """Parameters of a fit; the defaults restrict and regularize nothing."""

    loss: object = "squared_error"
    # Initial scores in position of those of the loss.
    init: tuple | None = None
    n_estimators: int = 10
    learning_rate: float = 0.1
    method: str = "newton"
    growth: str = "best_first"
    max_leaf_nodes: float = math.inf
    max_depth: float = math.inf
    min_samples_leaf: int = 1
    min_child_weight: float = 0.0
    reg_lambda: float = 0.0
    reg_alpha: float = 0.0
    min_split_gain: float = 0.0
    category_smoothing: float = 0.0
    monotonic: tuple | None = None
    interactions: tuple | None = None
    subsample: float = 1.0
    top_rate: float | None = None
    other_rate: float | None = None
    dropout: float = 0.0
    alpha: float = 0.9
    power: float = 1.5
    multi_output: bool = False
    # Thresholds lie between the distinct values of the whole column, or of the node's rows.
    thresholds_of: str = "column"


@dataclass
class Columns:
    """The table: numbers or category indices, NaN where missing, with the columns' thresholds."""

    X: np.ndarray
    kinds: list
    n_categories: list
    thresholds: list


@dataclass
class Targets:
    """What a tree is fitted to: arrays over all rows of the table, scores in columns."""

    y: np.ndarray
    F: np.ndarray
    g: np.ndarray
    h: np.ndarray
    w: np.ndarray
    # Curvature in the split search: h, or the weights with method="gradient".
    curvature: np.ndarray
    delta: np.ndarray | None


@dataclass
class Node:
    """A node of a tree; ``value``, ``G`` and ``H`` have one entry per score of the tree."""

    rows: np.ndarray
    depth: int = 0
    tested: tuple = ()
    low: float = -math.inf
    high: float = math.inf
    n_rows: int = 0
    G: np.ndarray | None = None
    H: np.ndarray | None = None
    value: np.ndarray | None = None
    column: int | None = None
    threshold: float | None = None
    # Categories that the node's rows have; all others follow the missing values.
    left_categories: tuple | None = None
    right_categories: tuple | None = None
    missing_left: bool | None = None
    gain: float = 0.0
    left: Node | None = None
    right: Node | None = None
    # Distance of the gain from that of the best other partition of the rows, and from
    # min_split_gain; close to 0, another order of summation may grow another tree. The same for
    # splits of other columns, which may part the node's rows alike, but not other rows.
    margin: float = math.inf
    column_margin: float = math.inf

    @property
    def is_leaf(self):
        return self.column is None


@dataclass
class Split:
    """A candidate: the rows of the node that go left, and how other rows are sent."""

    column: int
    goes_left: np.ndarray
    missing_left: bool
    threshold: float | None = None
    left_categories: tuple | None = None
    right_categories: tuple | None = None
    gain: float = 0.0
    bounds: tuple = ()


# Sums and scores


def sums(values, rows):
    """Sum the columns of an (n, K) array over the rows."""
    return np.array([math.fsum(values[rows, k].tolist()) for k in range(values.shape[1])])


def free_value(G, H, config):
    return np.array(
        [newton_value(g, h, config.reg_lambda, config.reg_alpha) for g, h in zip(G, H, strict=True)]
    )


def clipped_value(G, H, low, high, config):
    return np.clip(free_value(G, H, config), low, high)


def score(G, H, low, high, config):
    """Return twice the decrease of the objective by the node's best value within its bounds."""
    if config.monotonic is None:
        return sum(
            ratio(soft_threshold(g, config.reg_alpha) ** 2, h + config.reg_lambda)
            for g, h in zip(G, H, strict=True)
        )
    v = clipped_value(G, H, low, high, config)
    penalty = (H + config.reg_lambda) * v**2 + 2 * config.reg_alpha * np.abs(v)
    return -math.fsum(2 * G * v + penalty)


# Candidate splits of a node


def midpoints(values):
    known = sorted(set(values[~np.isnan(values)].tolist()))
    return [(below + above) / 2 for below, above in pairwise(known)]


def more_rows_left(goes_left):
    return bool(goes_left.sum() >= (~goes_left).sum())


def numeric_splits(columns, node, column, config):
    """Yield the splits of a numeric column: by threshold, missing values left, then right.

    A threshold has known rows of the node on both sides. Known against missing is the last.
    """
    x = columns.X[node.rows, column]
    missing = np.isnan(x)
    of_column = config.thresholds_of == "column"
    thresholds = columns.thresholds[column] if of_column else midpoints(x)
    for threshold in thresholds:
        low = ~missing & (x <= threshold)
        if not low.any() or not (x > threshold).any():
            continue
        if not missing.any():
            yield Split(column, low, more_rows_left(low), threshold)
        else:
            yield Split(column, low | missing, True, threshold)
            yield Split(column, low, False, threshold)
    if missing.any():
        yield Split(column, ~missing, False, math.inf)


def node_means(node):
    """Return the mean gradient of a node, G / H, of each score."""
    return np.array([ratio(g, h) for g, h in zip(node.G, node.H, strict=True)])


def ordered_categories(targets, node, codes, config):
    """Sort the categories of a node by (G - H mean) / (H + category_smoothing), ties by index.

    The mean is that of the node, its G / H. With several scores, by that of the score with the
    largest differences.
    """
    present = sorted(set(codes.tolist()))
    cells = [node.rows[codes == c] for c in present]
    H = np.array([sums(targets.curvature, rows) for rows in cells])
    G = np.array([sums(targets.g, rows) for rows in cells]) - H * node_means(node)
    H += config.category_smoothing
    spread = [
        math.fsum(ratio(g * g, h) for g, h in zip(G[:, k], H[:, k], strict=True))
        for k in range(G.shape[1])
    ]
    k = spread.index(max(spread))
    keys = [(ratio(G[i, k], H[i, k]), c) for i, c in enumerate(present)]
    return [c for _, c in sorted(keys)]


def nominal_splits(columns, targets, node, column, config):
    """Yield the splits of a nominal column: the proper prefixes of the sorted categories.

    Missing values are one more category, behind the others where ratios are equal.
    """
    x = columns.X[node.rows, column]
    absent = columns.n_categories[column]
    codes = np.where(np.isnan(x), absent, x).astype(int)
    order = ordered_categories(targets, node, codes, config)
    for size in range(1, len(order)):
        prefix = order[:size]
        goes_left = np.isin(codes, prefix)
        missing_left = absent in prefix if absent in order else more_rows_left(goes_left)
        sides = [tuple(sorted(set(side) - {absent})) for side in (prefix, order[size:])]
        yield Split(column, goes_left, missing_left, None, *sides)


def chance_gain(columns, targets, node, column, config):
    """Return the gain that as many random categories reach by chance."""
    if columns.kinds[column] != "nominal" or columns.n_categories[column] <= MANY_CATEGORIES:
        return 0.0
    x = columns.X[node.rows, column]
    n_present = len(set(x[~np.isnan(x)].tolist())) + int(np.isnan(x).any())
    squares = sums((targets.g - targets.curvature * node_means(node)) ** 2, node.rows)
    per_category = sum(
        ratio(s, h + config.reg_lambda) for s, h in zip(squares, node.H, strict=True)
    )
    return (n_present - 2) * per_category


def allowed_columns(n_columns, tested, interactions):
    """Return the columns that may be tested below the columns ``tested``."""
    if interactions is None:
        return list(range(n_columns))
    groups = [set(group) for group in interactions]
    rest = set(range(n_columns)) - set().union(*groups)
    groups = [*groups, rest]
    return [j for j in range(n_columns) if any({j, *tested} <= group for group in groups)]


def children_bounds(direction, low, high, left_value, right_value):
    """Return the bounds of the left and of the right child."""
    middle = (left_value + right_value) / 2
    if direction > 0:
        return (low, middle), (middle, high)
    if direction < 0:
        return (middle, high), (low, middle)
    return (low, high), (low, high)


def evaluate(split, targets, node, penalty, config):
    """Set the gain and the children's bounds of a split; return whether it is allowed."""
    sides = node.rows[split.goes_left], node.rows[~split.goes_left]
    if min(len(rows) for rows in sides) < max(1, config.min_samples_leaf):
        return False
    G = [sums(targets.g, rows) for rows in sides]
    H = [sums(targets.curvature, rows) for rows in sides]
    if min(h.mean() for h in H) < config.min_child_weight:
        return False
    split.bounds = ((node.low, node.high),) * 2
    if config.monotonic is not None and config.monotonic[split.column] != 0:
        direction = config.monotonic[split.column]
        left, right = (
            clipped_value(g, h, node.low, node.high, config)[0] for g, h in zip(G, H, strict=True)
        )
        if direction * (right - left) < 0:
            return False
        split.bounds = children_bounds(direction, node.low, node.high, left, right)
    of_children = [score(g, h, node.low, node.high, config) for g, h in zip(G, H, strict=True)]
    split.gain = sum(of_children) - score(node.G, node.H, node.low, node.high, config) - penalty
    return True


def all_splits(columns, targets, node, config):
    """Yield all splits that are allowed, with their gains."""
    for column in allowed_columns(columns.X.shape[1], node.tested, config.interactions):
        if columns.kinds[column] == "nominal":
            candidates = nominal_splits(columns, targets, node, column, config)
        else:
            candidates = numeric_splits(columns, node, column, config)
        penalty = chance_gain(columns, targets, node, column, config)
        for split in candidates:
            if evaluate(split, targets, node, penalty, config):
                yield split


def best_split(columns, targets, node, config):
    """Return the first split of the largest gain, or None; set the margin of the node."""
    if node.depth >= config.max_depth:
        return None
    candidates = list(all_splits(columns, targets, node, config))
    if not candidates:
        return None
    best = max(candidates, key=lambda split: split.gain)
    node.margin = node.column_margin = abs(best.gain - config.min_split_gain)
    if best.gain <= config.min_split_gain:
        return None
    for other in candidates:
        difference = best.gain - other.gain
        if other.column != best.column:
            node.column_margin = min(node.column_margin, difference)
        if not same_partition(best, other):
            node.margin = min(node.margin, difference)
    return best


def same_partition(one, other):
    """Return whether two splits part the rows alike, whichever side is left."""
    return len(set((one.goes_left == other.goes_left).tolist())) == 1


# Growth


def make_node(targets, rows, **position):
    G, H = sums(targets.g, rows), sums(targets.curvature, rows)
    return Node(rows, n_rows=len(rows), G=G, H=H, **position)


def apply_split(targets, node, split):
    """Turn a leaf into a node with two children."""
    node.column, node.gain = split.column, split.gain
    node.threshold, node.missing_left = split.threshold, split.missing_left
    node.left_categories, node.right_categories = split.left_categories, split.right_categories
    position = {"depth": node.depth + 1, "tested": (*node.tested, split.column)}
    (low, high), (low_right, high_right) = split.bounds
    left, right = node.rows[split.goes_left], node.rows[~split.goes_left]
    node.left = make_node(targets, left, low=low, high=high, **position)
    node.right = make_node(targets, right, low=low_right, high=high_right, **position)
    return [node.left, node.right]


def grow_best_first(columns, targets, root, config):
    """Split the leaf of the largest gain, of equal ones the earlier made, again and again."""
    leaves = [(root, best_split(columns, targets, root, config))]
    n_leaves, differences = 1, []
    while True:
        open_leaves = [leaf for leaf in leaves if leaf[1] is not None]
        if not open_leaves or n_leaves >= config.max_leaf_nodes:
            break
        chosen = max(open_leaves, key=lambda leaf: leaf[1].gain)
        differences += [chosen[1].gain - leaf[1].gain for leaf in open_leaves if leaf is not chosen]
        leaves = [leaf for leaf in leaves if leaf is not chosen]
        for child in apply_split(targets, *chosen):
            leaves.append((child, best_split(columns, targets, child, config)))
        n_leaves += 1
    if open_leaves and differences:
        # The order decided which leaves are split.
        root.margin = min(root.margin, *differences)


def grow_breadth_first(columns, targets, root, config):
    """Split the nodes of a depth in order, then those of the next depth."""
    depth, n_leaves = [root], 1
    while depth:
        next_depth = []
        for node in depth:
            if n_leaves >= config.max_leaf_nodes:
                return
            split = best_split(columns, targets, node, config)
            if split is not None:
                next_depth += apply_split(targets, node, split)
                n_leaves += 1
        depth = next_depth


def nodes_of(node):
    """Return the nodes of a tree in pre-order."""
    return [node] if node.is_leaf else [node, *nodes_of(node.left), *nodes_of(node.right)]


def node_value(targets, node, config):
    """Return the value that the node has as a leaf, one per score, within its bounds."""
    values = []
    for k in range(len(node.G)):
        y, F, w = targets.y[node.rows, k], targets.F[node.rows, k], targets.w[node.rows]
        if config.method == "gradient":
            g, h = targets.g[node.rows, k], targets.h[node.rows, k]
            delta = None if targets.delta is None else targets.delta[k]
            options = {"alpha": config.alpha, "power": config.power, "delta": delta}
            values.append(line_search(config.loss, y, F, w, g, h, **options))
        elif config.loss in QUANTILES:
            values.append(solved_value(config.loss, y, F, w, config.alpha))
        else:
            value = newton_value(node.G[k], node.H[k], config.reg_lambda, config.reg_alpha)
            if config.loss in LOG_MEAN:
                # Times the learning rate, at most to the minimum of the loss.
                best = minimum_of_log_mean(targets, node, config)
                value = np.clip(value, min(best, 0.0), max(best, 0.0))
            values.append(value)
    return np.clip(values, node.low, node.high)


def minimum_of_log_mean(targets, node, config):
    """Return the value by which, times the learning rate, the loss of the node is smallest."""
    y, F, w = targets.y[node.rows, 0], targets.F[node.rows, 0], targets.w[node.rows]
    g, h = targets.g[node.rows, 0], targets.h[node.rows, 0]
    if config.monotonic is None or math.fsum(w * y) > 0:
        best = line_search(config.loss, y, F, w, g, h, power=config.power)
    else:  # there is none: the Newton step within the bounds
        best = clipped_value(node.G, node.H, node.low, node.high, config)[0]
    return best / config.learning_rate


def limit_bounds(targets, root, config):
    """Limit the bounds of the leaves of a log-mean loss to the range of their minima."""
    leaves = [node for node in nodes_of(root) if node.is_leaf]
    minima = [minimum_of_log_mean(targets, leaf, config) for leaf in leaves]
    low, high = min(0.0, *minima), max(0.0, *minima)
    for leaf in leaves:
        leaf.low, leaf.high = np.clip([leaf.low, leaf.high], low, high)


def grow_tree(columns, targets, rows, config):
    """Grow a tree on the rows, and set the values of all its nodes."""
    root = make_node(targets, rows)
    growth = {"best_first": grow_best_first, "breadth_first": grow_breadth_first}
    growth[config.growth](columns, targets, root, config)
    if config.monotonic is not None and config.loss in LOG_MEAN and config.method == "newton":
        limit_bounds(targets, root, config)
    for node in nodes_of(root):
        node.value = node_value(targets, node, config)
    return root


# Prediction


def goes_left(node, value):
    if math.isnan(value):
        return node.missing_left
    if node.left_categories is None:
        return value <= node.threshold
    if int(value) in (*node.left_categories, *node.right_categories):
        return int(value) in node.left_categories
    return node.missing_left


def leaf_of(node, row):
    while not node.is_leaf:
        node = node.left if goes_left(node, row[node.column]) else node.right
    return node


def tree_values(trees, X):
    """Return the leaf values of a round, of shape (n, K)."""
    return np.array([np.concatenate([leaf_of(tree, row).value for tree in trees]) for row in X])
