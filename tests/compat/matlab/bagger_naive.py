"""Naive predictions and errors of a bag of trees, from its trees and out-of-bag rows."""

from __future__ import annotations

import numpy as np

from ceiba.compat.matlab import predict


def noisy(seed, n=60, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(n, 3)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    signal = np.nan_to_num(X[:, 0]) + rng.normal(scale=3, size=n)
    return X, (signal > 4).astype(int) + (signal > 8), signal


def predictions(bag, X):
    """Return the predictions of each tree, of shape (trees, rows, classes or 1)."""
    if bag.Method == "classification":
        return np.array([predict(tree, X, nargout=2)[1] for tree in bag.Trees])
    return np.array([predict(tree, X)[:, None] for tree in bag.Trees])


def row_means(values, use, weights, default):
    """Return the weighted mean of the trees used for each row; a default if there are none."""
    found = []
    for i in range(values.shape[1]):
        trees = [t for t in range(len(values)) if use[i, t] and weights[t] > 0]
        if trees:
            found.append(
                sum(weights[t] * values[t, i] for t in trees) / sum(weights[t] for t in trees)
            )
        else:
            found.append(default)
    return found


def row_deviation(values, use, i):
    own = values[use[i], i]
    return np.sqrt(((own - own.mean(axis=0)) ** 2).mean(axis=0))


def mean_loss(means, true, weights, classification):
    """Return the weighted mean loss of the rows that have a prediction."""
    total = loss = 0.0
    for mean, y, w in zip(means, true, weights, strict=True):
        if mean is None:
            continue
        total += w
        loss += w * (np.argmax(mean) != y if classification else (mean[0] - y) ** 2)
    return loss / total if total else np.nan


def errors(values, use, true, weights, mode, default, tree_weights=None):
    classification = np.asarray(true).dtype.kind == "i"
    n_trees = len(values)
    tree_weights = np.ones(n_trees) if tree_weights is None else tree_weights
    if mode == "individual":
        stages = [[t] for t in range(n_trees)]
    else:
        stages = [list(range(t + 1)) for t in range(n_trees)]
    found = [
        mean_loss(
            row_means(values[s], use[:, s], tree_weights[s], default), true, weights, classification
        )
        for s in stages
    ]
    return found[-1] if mode == "ensemble" else found


def quantile(bag, X, q):
    """Return the smallest training value at which the weight, by shared leaves, reaches q."""
    train = np.array([predict(tree, bag.X, nargout=2)[1] for tree in bag.Trees])
    new = np.array([predict(tree, X, nargout=2)[1] for tree in bag.Trees])
    order = np.argsort(bag.Y, kind="stable")
    found = []
    for i in range(new.shape[1]):
        weight = np.zeros(len(bag.Y))
        for t in range(len(new)):
            shared = train[t] == new[t, i]
            weight += shared * bag.W / bag.W[shared].sum()
        own = order[weight[order] > 0]
        reached = np.cumsum(weight[own]) / weight.sum()
        found.append(bag.Y[own[np.argmax(reached >= q - 1e-9)]])
    return found
