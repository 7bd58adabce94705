"""
Netlab 2: a density of three circles
====================================

Three groups of different size and width, described by a mixture with one variance for each
component. ``gmminit`` starts it from a few cycles of k-means, ``gmmem`` trains it and logs its
error, and ``gmmprob`` gives the density anywhere.
"""

from pathlib import Path

import numpy as np

from ceiba import plots
from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit, gmmprob, gmmsamp
from ceiba.plots.style import ACCENT, MUTED, PALETTE, new_figure, tidy

out = Path("out")


def table(mix):
    """One row a component: prior, centre, variance."""
    return np.column_stack([mix.priors, mix.centres, mix.covars])


# %%
# 500 rows.
truth = gmm(2, 3, "spherical")
truth.priors = [0.5, 0.3, 0.2]
truth.centres = [[0.0, 0.0], [3.0, 2.5], [0.5, 3.5]]
truth.covars = [1.0, 0.5, 0.1]
x, _ = gmmsamp(truth, 500, random_state=0)

# %%
# Five cycles of k-means from random rows, and EM from there until the error changes by less than a
# hundredth. k-means may end with two centres in one group, and EM then with it: of five such starts
# the one with the least error is kept. Runs that end alike have found the same maximum.
options = foptions()
options[0], options[2] = -1, 1e-2
runs = []
for seed in range(5):
    options[13] = 5
    start = gmminit(gmm(2, 3, "spherical"), x, options, random_state=seed)
    options[13] = 200
    runs.append((start, *gmmem(start, x, options)))
    print(f"start {seed}: error {runs[-1][2][7]:8.2f} after {len(runs[-1][3]):3d} cycles")
start, mix, options, errlog = min(runs, key=lambda run: run[2][7])

# %%
# Each row is a component: prior, centre, variance. A circle begins as wide as the distance to the
# next centre, so that no component misses rows.
for name, model in (("start", start), ("found", mix), ("truth", truth)):
    print(f"\n{name}\n{table(model).round(2)}")

# %%
# The circles of one standard deviation, the density as a landscape, and the way down of the error.
picture = new_figure(13, 4.4)
left, middle, right = picture.subplots(1, 3, width_ratios=[1.15, 1.15, 0.9])
plots.mixture(mix, x, ax=left, deviations=(1,), shares=())
left.get_legend().remove()
tidy(left, title="Rows and circles of one σ", x="x0", y="x1")
left.set(xlim=(-4.2, 5.2), ylim=(-4.2, 5.2), aspect="equal")

grid = np.stack(np.meshgrid(*[np.linspace(-4.2, 5.2, 121)] * 2), axis=-1)
density = gmmprob(mix, grid.reshape(-1, 2)).reshape(121, 121)
shades = middle.contourf(grid[..., 0], grid[..., 1], np.sqrt(density), 14, cmap="Blues")
middle.contour(shades, colors="white", linewidths=0.4)
middle.plot(*np.transpose(mix.centres), "+", color=ACCENT, markersize=9, markeredgewidth=1.8)
tidy(middle, title="gmmprob, as its square root", x="x0", y="x1")
middle.set_aspect("equal")

right.plot(np.arange(1, len(errlog) + 1), errlog, "-o", color=PALETTE[0], markersize=3)
for other in runs:
    right.plot(np.arange(1, len(other[3]) + 1), other[3], "-", color=MUTED, alpha=0.6, zorder=1)
tidy(right, title="errlog of five starts", x="cycle", y="negative log-likelihood", grid="y")
print(f"\npicture -> {out / 'netlab_spherical.png'}")
picture.save(out / "netlab_spherical.png")
