"""
k-means, step by step
=====================

Three Gaussian groups in the plane, and three centres that all start above one another. The trace
of the fit replays how they part: the paths of the centres, the rows that change cluster at each
step, and the inertia, which never rises.
"""

from pathlib import Path

import numpy as np

from ceiba import KMeans, datasets, plots

out = Path("out")

# %%
# The rows, and a start that is bad on purpose. Left alone, k-means++ would start better.
X, groups = datasets.load("three_groups", as_frame=True)
start = np.array([[0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
model = KMeans(n_clusters=3, init=start, trace=True).fit(X)

print(f"k-means: {model.n_iter_} steps, inertia {model.inertia_:.1f}")
for frame in model.trace_:
    print(
        f"  step {frame.step:2d}: inertia {frame['inertia']:7.1f}, {frame['moved']:3d} rows moved"
    )

# %%
# What was found: each cluster should be one of the groups.
for cluster in range(3):
    inside = np.bincount(groups[model.labels_ == cluster], minlength=3)
    print(f"cluster {cluster}: {inside.max()} of {inside.sum()} rows from one group")

print(f"clusters -> {out / 'three_groups.png'}")
plots.clusters(X, model).save(out / "three_groups.png")

# %%
# How it came about. In a notebook the player shows itself.
print(f"film -> {out / 'three_groups.gif'}")
plots.play(model, X, out / "three_groups.gif")
