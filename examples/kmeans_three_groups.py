"""
k-means, iteration by iteration
===============================

Three Gaussian groups in the plane, and three centers that start on one vertical line. The trace of
the fit replays how they separate: the paths of the centers, the rows that change cluster in each
iteration, and the inertia, which never increases.
"""

from pathlib import Path

import numpy as np

from ceiba import KMeans, datasets, plots

out = Path("out")

# %%
# The rows, and a deliberately bad initialization; by default k-means++ would choose a better one.
X, groups = datasets.load("three_groups", as_frame=True)
init = np.array([[0.0, 2.0], [0.0, 3.0], [0.0, 4.0]])
model = KMeans(n_clusters=3, init=init, trace=True).fit(X)

print(f"k-means: {model.n_iter_} iterations, inertia {model.inertia_:.1f}")
for frame in model.trace_:
    print(
        f"  iteration {frame.step:2d}: inertia {frame['inertia']:7.1f}, "
        f"{frame['moved']:3d} rows changed cluster"
    )

# %%
# Each cluster should be one of the groups.
for cluster in range(3):
    counts = np.bincount(groups[model.labels_ == cluster], minlength=3)
    print(f"cluster {cluster}: {counts.max()} of {counts.sum()} rows from one group")

print(f"clusters -> {out / 'three_groups.png'}")
plots.clusters(model, X).save(out / "three_groups.png")

# %%
# An animation of the fit; in a notebook the player displays itself.
print(f"animation -> {out / 'three_groups.gif'}")
plots.play(model, X, out / "three_groups.gif")
