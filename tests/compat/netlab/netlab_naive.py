"""Netlab's formulas written out, one component at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import multivariate_normal

from ceiba.compat import netlab

TYPES = ("spherical", "diag", "full", "ppca")


def covariance(mix, j):
    """Return the covariance matrix of component j."""
    d = mix.nin
    if mix.covar_type == "spherical":
        return mix.covars[j] * np.eye(d)
    if mix.covar_type == "diag":
        return np.diag(mix.covars[j])
    if mix.covar_type == "full":
        return mix.covars[:, :, j]
    matrix = mix.covars[j] * np.eye(d)
    for axis in range(mix.ppca_dim):
        u = mix.U[:, axis, j]
        matrix = matrix + (mix.lambda_[j, axis] - mix.covars[j]) * np.outer(u, u)
    return matrix


def activations(mix, x):
    columns = [
        np.atleast_1d(multivariate_normal.pdf(x, mix.centres[j], covariance(mix, j)))
        for j in range(mix.ncentres)
    ]
    return np.column_stack(columns)


def posteriors(mix, x):
    joint = activations(mix, x) * mix.priors
    return joint / joint.sum(axis=1, keepdims=True)


def error(mix, x):
    return -sum(np.log(activations(mix, x) @ mix.priors))


@dataclass
class Cycle:
    priors: np.ndarray
    centres: np.ndarray
    covariances: list


def cycle(mix, x):
    """Return the parameters after one cycle of EM."""
    post = posteriors(mix, x)
    n, d = x.shape
    priors = post.sum(axis=0) / n
    centres, covariances = [], []
    for j in range(mix.ncentres):
        mass = post[:, j].sum()
        centre = sum(post[i, j] * x[i] for i in range(n)) / mass
        spread = sum(post[i, j] * np.outer(x[i] - centre, x[i] - centre) for i in range(n)) / mass
        centres.append(centre)
        covariances.append(restricted(spread, mix.covar_type, mix.ppca_dim, d))
    return Cycle(priors, np.array(centres), covariances)


def restricted(spread, covar_type, ppca_dim, d):
    """Return a covariance matrix restricted to a type."""
    if covar_type == "spherical":
        return np.trace(spread) / d * np.eye(d)
    if covar_type == "diag":
        return np.diag(np.diag(spread))
    if covar_type == "full":
        return spread
    values, vectors = np.linalg.eig(spread)
    order = np.argsort(-values.real)
    values, vectors = values.real[order], vectors.real[:, order]
    values[ppca_dim:] = values[ppca_dim:].mean()
    return vectors @ np.diag(values) @ vectors.T


@dataclass
class Clusters:
    centres: np.ndarray
    labels: list
    errlog: list


def kmeans(centres, data, cycles, centre_tolerance, error_tolerance):
    centres = np.array(centres, float)
    errlog = []
    for _ in range(cycles):
        squared = [[((row - centre) ** 2).sum() for centre in centres] for row in data]
        labels = [row.index(min(row)) for row in squared]
        errlog.append(sum(min(row) for row in squared))
        before = centres.copy()
        for j in range(len(centres)):
            mine = data[[label == j for label in labels]]
            if len(mine):
                centres[j] = mine.mean(axis=0)
        if (
            len(errlog) > 1
            and np.abs(centres - before).max() < centre_tolerance
            and abs(errlog[-1] - errlog[-2]) < error_tolerance
        ):
            break
    return Clusters(centres, labels, errlog)


def some_mix(covar_type, d, k, seed):
    """Draw a mixture; ppca has d - 1 axes or one."""
    random = np.random.default_rng(seed)
    q = max(1, min(2, d - 1)) if covar_type == "ppca" else None
    mix = netlab.gmm(d, k, covar_type, q, random_state=seed)
    mix.priors = random.dirichlet(np.full(k, 5.0))
    mix.centres = 2 * random.standard_normal((k, d))
    if covar_type == "spherical":
        mix.covars = random.uniform(0.5, 2.0, k)
    elif covar_type == "diag":
        mix.covars = random.uniform(0.5, 2.0, (k, d))
    elif covar_type == "full":
        roots = random.standard_normal((k, d, d))
        mix.covars = np.stack([root @ root.T + 0.5 * np.eye(d) for root in roots], axis=2)
    else:
        mix.U = np.stack(
            [np.linalg.qr(random.standard_normal((d, q)))[0] for _ in range(k)], axis=2
        )
        mix.covars = random.uniform(0.3, 0.6, k)
        mix.lambda_ = -np.sort(-random.uniform(1.0, 3.0, (k, q)), axis=1)
    return mix


def quiet(cycles=0, **entries):
    """Return options without output; ``_2=1e-3`` sets options[2]."""
    options = netlab.foptions()
    options[0], options[13] = -1, cycles
    for name, value in entries.items():
        options[int(name[1:])] = value
    return options
