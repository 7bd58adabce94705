"""Rows and models shared by the tests of plots."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

from ceiba.cluster.kmeans import KMeans


def blobs(n=90, d=2, k=3, seed=0):
    return make_blobs(n, d, centers=k, cluster_std=2.0, random_state=seed)[0]


def traced(X, k=3):
    """Fit k-means from rows at one end, so that it needs several iterations."""
    start = X[np.argsort(X[:, 0])[:k]]
    return KMeans(k, init=start, trace=True).fit(X)


def mixed_frame(n=60):
    random = np.random.default_rng(0)
    size = np.arange(n) % 3 * 5 + random.normal(size=n)
    size[::9] = np.nan
    color = np.array(["red", "green", "blue"])[random.integers(3, size=n)]
    return pd.DataFrame({"size": size, "color": color})
