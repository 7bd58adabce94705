"""Rows and frames shared by the tests of mixture plots."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.colors import to_rgb
from scipy.stats import multivariate_normal

from ceiba.plots.style import PALETTE

RGB = np.array([to_rgb(color) for color in PALETTE])


def three_groups(n=120, d=2, seed=0):
    """Return rows of three overlapping groups of different shapes."""
    random = np.random.default_rng(seed)
    centers = 2.5 * random.normal(size=(3, d))
    roots = random.normal(size=(3, d, d)) / np.sqrt(d) + 0.5 * np.eye(d)
    group = np.arange(n) % 3
    return centers[group] + np.einsum("nij,nj->ni", roots[group], random.normal(size=(n, d)))


def with_missing(X, fraction=0.2, seed=1):
    """Remove values at random, and all values of one row."""
    masked = np.where(np.random.default_rng(seed).random(X.shape) < fraction, np.nan, X)
    masked[3] = np.nan
    return masked


def matrices(model):
    """Return the covariances of a fitted mixture, (K, d, d), by its covariance type."""
    K, d = model.means_.shape
    found = np.asarray(model.covariances_)
    if model.covariance_type in ("tied", "EEE"):
        return np.broadcast_to(found, (K, d, d))
    if found.ndim == 1:
        return found[:, None, None] * np.eye(d)
    if found.ndim == 2:
        return found[:, :, None] * np.eye(d)
    return found


def naive_joint(rows, weights, means, covariances):
    """Return weight times density of the observed values, (n, K), by missing pattern."""
    out = np.empty((len(rows), len(weights)))
    for pattern in {tuple(row) for row in np.isnan(rows)}:
        own, observed = (np.isnan(rows) == pattern).all(axis=1), ~np.array(pattern)
        values = rows[own][:, observed]
        for k, (weight, mean, covariance) in enumerate(
            zip(weights, means, covariances, strict=True)
        ):
            out[own, k] = weight
            if observed.any():
                marginal = multivariate_normal(
                    mean[observed], covariance[np.ix_(observed, observed)]
                )
                out[own, k] *= marginal.pdf(values)
    return out


def em_frames(X, start, n_iter=6, min_total=1e-2):
    """Return frames of plain EM from given means; empty components are dropped."""
    means = np.array(start, dtype=float)
    weights = np.full(len(means), 1 / len(means))
    covariances = np.stack([np.cov(X.T).reshape(X.shape[1], -1)] * len(means))
    frames = []
    for _ in range(n_iter):
        joint = naive_joint(X, weights, means, covariances)
        likelihood = float(np.log(joint.sum(axis=1)).sum())
        frames.append(
            {
                "weights": weights,
                "means": means,
                "covariances": covariances,
                "log_likelihood": likelihood,
                "objective": likelihood,
            }
        )
        responsibilities = joint / joint.sum(axis=1, keepdims=True)
        responsibilities = responsibilities[:, responsibilities.sum(axis=0) >= min_total]
        totals = responsibilities.sum(axis=0)
        weights, means = totals / len(X), (responsibilities.T @ X) / totals[:, None]
        deviation = X[:, None] - means
        covariances = (
            np.einsum("nk,nki,nkj->kij", responsibilities, deviation, deviation)
            / totals[:, None, None]
        )
    return frames


def choice_of(ks=(1, 2, 3, 4), forms=("diag", "full"), *, cv=True, **columns):
    """Return a stand-in for the table of a grid of fits, with made-up numbers."""
    n = np.tile(ks, len(forms))
    form = np.repeat(forms, len(ks))
    base = 500.0 + 10.0 * (n - 3) ** 2 + 25.0 * (form == forms[0])
    table = {
        "n_components": n,
        "covariance_type": form,
        "log_likelihood": -base / 2,
        "n_parameters": 5 * n,
        "bic": base,
        "aic": base - 20.0 * n,
        "icl": base + 30.0 * n,
        "cv": -base / 100 if cv else np.full(len(n), np.nan),
        "spread": np.zeros(len(n)),
        "converged": np.ones(len(n), bool),
        **columns,
    }
    best = {
        name: _best(table, sign * table[name])
        for name, sign in {"bic": 1, "aic": 1, "icl": 1, "cv": -1}.items()
        if np.isfinite(table[name]).any()
    }
    return SimpleNamespace(table=table, best=best, n_init=5, criterion="bic")


def _best(table, values):
    at = int(np.nanargmin(values))
    return int(table["n_components"][at]), str(table["covariance_type"][at])


def inside(figure):
    """Return whether everything is inside the figure."""
    figure.draw_without_rendering()
    box, page = figure.get_tightbbox(), figure.get_size_inches()
    return box.x0 >= 0 and box.y0 >= 0 and box.x1 <= page[0] and box.y1 <= page[1]
