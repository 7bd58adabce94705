"""
Netlab 2: a density of three spherical components
=================================================

Three groups of different size and variance, modeled by a mixture with one variance per component.
``gmminit`` initializes it by a few cycles of k-means, ``gmmem`` fits it and logs the error, and
``gmmprob`` evaluates the density.
"""

from pathlib import Path

import numpy as np

from ceiba import plots
from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit, gmmprob, gmmsamp
from ceiba.plots.style import ACCENT, MUTED, PALETTE, new_figure, style_axes

out = Path("out")


def table(mix):
    """Return one row per component: prior, center, variance."""
    return np.column_stack([mix.priors, mix.centres, mix.covars])


# %%
# 500 rows sampled from the true mixture.
truth = gmm(2, 3, "spherical")
truth.priors = [0.5, 0.3, 0.2]
truth.centres = [[0.0, 0.0], [3.0, 2.5], [0.5, 3.5]]
truth.covars = [1.0, 0.5, 0.1]
x, _ = gmmsamp(truth, 500, random_state=0)

# %%
# Five cycles of k-means from random rows, then EM until the error changes by less than 0.01.
# k-means may end with two centers in one group, and so may EM: of five initializations the one with
# the smallest error is kept. Runs with the same error have found the same maximum.
options = foptions()
options[0], options[2] = -1, 1e-2
runs = []
for seed in range(5):
    options[13] = 5
    init = gmminit(gmm(2, 3, "spherical"), x, options, random_state=seed)
    options[13] = 200
    runs.append((init, *gmmem(init, x, options)))
    print(f"initialization {seed}: error {runs[-1][2][7]:8.2f} after {len(runs[-1][3]):3d} cycles")
init, mix, options, errlog = min(runs, key=lambda run: run[2][7])

# %%
# Each row is a component: prior, center, variance. The initial variance is the squared distance to
# the nearest other center, so that every component covers some rows.
for name, model in (("initial", init), ("estimated", mix), ("true", truth)):
    print(f"\n{name}\n{table(model).round(2)}")

# %%
# The circles of one standard deviation, the density, and the error of every cycle.
picture = new_figure(13, 4.4)
left, middle, right = picture.subplots(1, 3, width_ratios=[1.15, 1.15, 0.9])
plots.mixture(mix, x, ax=left, deviations=(1,), contours=())
left.get_legend().remove()
style_axes(left, title="Rows and circles of one σ", x="x0", y="x1")
left.set(xlim=(-4.2, 5.2), ylim=(-4.2, 5.2), aspect="equal")

grid = np.stack(np.meshgrid(*[np.linspace(-4.2, 5.2, 121)] * 2), axis=-1)
density = gmmprob(mix, grid.reshape(-1, 2)).reshape(121, 121)
levels = middle.contourf(grid[..., 0], grid[..., 1], np.sqrt(density), 14, cmap="Blues")
middle.contour(levels, colors="white", linewidths=0.4)
middle.plot(*np.transpose(mix.centres), "+", color=ACCENT, markersize=9, markeredgewidth=1.8)
style_axes(middle, title="Square root of gmmprob", x="x0", y="x1")
middle.set_aspect("equal")

right.plot(np.arange(1, len(errlog) + 1), errlog, "-o", color=PALETTE[0], markersize=3)
for other in runs:
    right.plot(np.arange(1, len(other[3]) + 1), other[3], "-", color=MUTED, alpha=0.6, zorder=1)
style_axes(
    right, title="errlog of five initializations", x="cycle", y="negative log-likelihood", grid="y"
)
print(f"\npicture -> {out / 'netlab_spherical.png'}")
picture.save(out / "netlab_spherical.png")
