"""
Netlab 4: classification by class densities
===========================================

One mixture per class and Bayes' rule: the predicted class has the largest prior times density. The
true densities are known here, and with them the accuracy of the optimal classifier.
"""

from pathlib import Path

import numpy as np

from ceiba import GaussianMixture
from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit, gmmprob, gmmsamp
from ceiba.plots.style import INK, MUTED, PALETTE, new_figure, set_note, style_axes

out = Path("out")

# %%
# Two classes of two groups each, arranged crosswise, so that no straight line separates them.
classes = []
for priors, centers in (
    ([0.5, 0.5], [[-1.6, -1.2], [1.6, 1.2]]),
    ([0.7, 0.3], [[-1.2, 1.4], [1.8, -1.6]]),
):
    mix = gmm(2, 2, "full")
    mix.priors, mix.centres = priors, centers
    mix.covars = np.stack([[[0.9, 0.3], [0.3, 0.5]], [[0.5, -0.2], [-0.2, 0.9]]], axis=2)
    classes.append(mix)


def draw(n, seed):
    """Return ``n`` rows of each class, and their classes."""
    rows = [gmmsamp(mix, n, random_state=seed + c)[0] for c, mix in enumerate(classes)]
    return np.vstack(rows), np.repeat([0, 1], n)


def posterior(mixes, x):
    """Return the probability of the second class, for equal class priors."""
    first, second = (gmmprob(mix, x) for mix in mixes)
    return second / (first + second)


x, y = draw(200, 10)
new, new_y = draw(5000, 20)

# %%
# One or two components per class. With one full component this is quadratic discriminant analysis.
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
    print(f"{k} component(s) per class: accuracy {rate:.1%} on new rows")
print(f"true densities:           accuracy {best:.1%}")

# %%
# The same with Ceiba's own estimator, which initializes itself, checks convergence and works with
# logarithms.
own = [GaussianMixture(2, n_init=5).fit(x[y == c]).score_samples(new) for c in (0, 1)]
print(f"GaussianMixture:          accuracy {((own[1] > own[0]) == new_y).mean():.1%}")

# %%
# The posterior of the second class as color, the boundary between the classes, and the true one.
picture = new_figure(11, 4.8)
grid = np.stack(np.meshgrid(np.linspace(-4.6, 4.6, 161), np.linspace(-4.6, 4.6, 161)), axis=-1)
flat = grid.reshape(-1, 2)
true = posterior(classes, flat).reshape(161, 161)
for ax, (k, mixes) in zip(
    picture.subplots(1, 2, sharex=True, sharey=True), models.items(), strict=True
):
    estimated = posterior(mixes, flat).reshape(161, 161)
    ax.contourf(
        grid[..., 0], grid[..., 1], estimated, 12, cmap="RdBu_r", alpha=0.35, vmin=0, vmax=1
    )
    ax.contour(grid[..., 0], grid[..., 1], true, [0.5], colors=MUTED, linestyles="--")
    ax.contour(grid[..., 0], grid[..., 1], estimated, [0.5], colors=INK, linewidths=1.8)
    for c, (color, marker) in enumerate(((PALETTE[0], "o"), (PALETTE[4], "s"))):
        ax.scatter(
            *x[y == c].T, s=13, color=color, marker=marker, alpha=0.7, linewidths=0,
            label=f"class {c}",
        )  # fmt: skip
    style_axes(ax, title=f"{k} component{'s' * (k > 1)} per class", x="x0", y="x1")
    rate = ((posterior(mixes, new) > 0.5) == new_y).mean()
    set_note(ax, f"accuracy {rate:.1%}; optimal {best:.1%}")
    ax.plot([], [], "-", color=INK, linewidth=1.8, label="boundary")
    ax.plot([], [], "--", color=MUTED, label="true boundary")
    ax.label_outer()
picture.axes[0].legend(loc="lower left", fontsize=8.5)
print(f"\npicture -> {out / 'netlab_classes.png'}")
picture.save(out / "netlab_classes.png")
