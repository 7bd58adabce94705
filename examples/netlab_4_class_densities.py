"""
Netlab 4: classes by their densities
====================================

A mixture for each class, Bayes' rule between them: the class is that whose prior times density is
larger. The truth is known here, and with it the best that any classifier can do.
"""

from pathlib import Path

import numpy as np

from ceiba import GaussianMixture
from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit, gmmprob, gmmsamp
from ceiba.plots.style import INK, MUTED, PALETTE, new_figure, tidy

out = Path("out")

# %%
# Two classes of two groups each, crossed, so that no straight line parts them.
classes = []
for priors, centres in (
    ([0.5, 0.5], [[-1.6, -1.2], [1.6, 1.2]]),
    ([0.7, 0.3], [[-1.2, 1.4], [1.8, -1.6]]),
):
    mix = gmm(2, 2, "full")
    mix.priors, mix.centres = priors, centres
    mix.covars = np.stack([[[0.9, 0.3], [0.3, 0.5]], [[0.5, -0.2], [-0.2, 0.9]]], axis=2)
    classes.append(mix)


def draw(n, seed):
    """``n`` rows of each class, and their classes."""
    rows = [gmmsamp(mix, n, random_state=seed + c)[0] for c, mix in enumerate(classes)]
    return np.vstack(rows), np.repeat([0, 1], n)


def posterior(mixes, x):
    """Probability of the second class, where both are as frequent."""
    first, second = (gmmprob(mix, x) for mix in mixes)
    return second / (first + second)


x, y = draw(200, 10)
new, new_y = draw(5000, 20)

# %%
# One component or two for each class. With one full component this is quadratic discriminant
# analysis.
options = foptions()
options[[0, 13]] = -1, 200
models = {}
for k in (1, 2):
    models[k] = []
    for c in (0, 1):
        mix = gmminit(gmm(2, k, "full"), x[y == c], options, random_state=0)
        models[k].append(gmmem(mix, x[y == c], options)[0])

best = ((posterior(classes, new) > 0.5) == new_y).mean()
for k, mixes in models.items():
    rate = ((posterior(mixes, new) > 0.5) == new_y).mean()
    print(f"{k} component(s) a class: {rate:.1%} of new rows right")
print(f"the true densities:     {best:.1%}")

# %%
# The same with Ceiba's own estimator, which starts and ends by itself and works with logarithms.
own = [GaussianMixture(2, n_init=5).fit(x[y == c]).score_samples(new) for c in (0, 1)]
print(f"GaussianMixture:        {((own[1] > own[0]) == new_y).mean():.1%}")

# %%
# The posterior of the second class as colour, the border between the classes, and the true one.
picture = new_figure(11, 4.8)
grid = np.stack(np.meshgrid(np.linspace(-4.6, 4.6, 161), np.linspace(-4.6, 4.6, 161)), axis=-1)
flat = grid.reshape(-1, 2)
true = posterior(classes, flat).reshape(161, 161)
for ax, (k, mixes) in zip(
    picture.subplots(1, 2, sharex=True, sharey=True), models.items(), strict=True
):
    found = posterior(mixes, flat).reshape(161, 161)
    ax.contourf(grid[..., 0], grid[..., 1], found, 12, cmap="RdBu_r", alpha=0.35, vmin=0, vmax=1)
    ax.contour(grid[..., 0], grid[..., 1], true, [0.5], colors=MUTED, linestyles="--")
    ax.contour(grid[..., 0], grid[..., 1], found, [0.5], colors=INK, linewidths=1.8)
    for c, (colour, marker) in enumerate(((PALETTE[0], "o"), (PALETTE[4], "s"))):
        ax.scatter(
            *x[y == c].T, s=13, color=colour, marker=marker, alpha=0.7, linewidths=0,
            label=f"class {c}",
        )  # fmt: skip
    tidy(ax, title=f"{k} component{'s' * (k > 1)} a class", x="x0", y="x1")
    rate = ((posterior(mixes, new) > 0.5) == new_y).mean()
    said = f"{rate:.1%} of new rows right; best {best:.1%}"
    ax.set_title(said, loc="right", fontsize=9.5, color=MUTED, pad=8)
    ax.plot([], [], "-", color=INK, linewidth=1.8, label="border")
    ax.plot([], [], "--", color=MUTED, label="true border")
    ax.label_outer()
picture.axes[0].legend(loc="lower left", fontsize=8.5)
print(f"\npicture -> {out / 'netlab_classes.png'}")
picture.save(out / "netlab_classes.png")
