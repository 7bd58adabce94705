"""A bag of trees a second time, from what its trees and its bags show alone."""

from __future__ import annotations

import numpy as np

from ceiba.compat.matlab import predict


def noisy(seed, n=60, gaps=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(n, 3)).astype(float)
    X[rng.random(X.shape) < gaps] = np.nan
    signal = np.nan_to_num(X[:, 0]) + rng.normal(scale=3, size=n)
    return X, (signal > 4).astype(int) + (signal > 8), signal


def told(bag, X):
    """What each tree says of each row: trees x rows x classes, or x 1."""
    if bag.Method == "classification":
        return np.array([predict(tree, X, nargout=2)[1] for tree in bag.Trees])
    return np.array([predict(tree, X)[:, None] for tree in bag.Trees])


def mean_of(said, speak, weights, default):
    """Row by row the weighted mean of the trees that may speak; a default where none may."""
    found = []
    for i in range(said.shape[1]):
        trees = [t for t in range(len(said)) if speak[i, t] and weights[t] > 0]
        if trees:
            found.append(
                sum(weights[t] * said[t, i] for t in trees) / sum(weights[t] for t in trees)
            )
        else:
            found.append(default)
    return found


def deviation_of(said, speak, i):
    own = said[speak[i], i]
    return np.sqrt(((own - own.mean(axis=0)) ** 2).mean(axis=0))


def error_of(means, true, weights, of_classes):
    """Weighted loss of the rows that have a prediction: class numbers, or numbers."""
    total = loss = 0.0
    for mean, y, w in zip(means, true, weights, strict=True):
        if mean is None:
            continue
        total += w
        loss += w * (np.argmax(mean) != y if of_classes else (mean[0] - y) ** 2)
    return loss / total if total else np.nan


def errors(said, speak, true, weights, mode, default, tree_weights=None):
    of_classes = np.asarray(true).dtype.kind == "i"
    n_trees = len(said)
    tree_weights = np.ones(n_trees) if tree_weights is None else tree_weights
    if mode == "individual":
        stages = [[t] for t in range(n_trees)]
    else:
        stages = [list(range(t + 1)) for t in range(n_trees)]
    found = [
        error_of(mean_of(said[s], speak[:, s], tree_weights[s], default), true, weights, of_classes)
        for s in stages
    ]
    return found[-1] if mode == "ensemble" else found


def quantile(bag, X, q):
    """Least training number whose weight, by leaves shared, and that of all below reach q."""
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
