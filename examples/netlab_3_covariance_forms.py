"""
Netlab 3: spherical, diagonal and full covariances
==================================================

The same rows under three covariance types. More parameters always fit the training rows better;
whether they describe the groups better must be decided on new rows.
"""

from pathlib import Path

import numpy as np

from ceiba import plots
from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit, gmmprob, gmmsamp
from ceiba.plots.style import new_figure, set_note, style_axes

out = Path("out")


def rotated(variances, degrees):
    """Return a covariance with these variances along rotated axes."""
    a = np.deg2rad(degrees)
    axes = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return axes @ np.diag(variances) @ axes.T


# %%
# Three groups: one elongated and rotated by 40 degrees, one elongated vertically, one round. A
# covariance matrix is ``covars[:, :, j]``, as in MATLAB.
truth = gmm(2, 3, "full")
truth.priors = [0.45, 0.35, 0.2]
truth.centres = [[0.0, 0.0], [3.0, 0.5], [-1.0, 3.0]]
truth.covars[:, :, 0] = rotated([2.5, 0.1], 40)
truth.covars[:, :, 1] = rotated([0.15, 2.0], 0)
truth.covars[:, :, 2] = rotated([0.2, 0.2], 0)
x, _ = gmmsamp(truth, 400, random_state=4)
new, _ = gmmsamp(truth, 4000, random_state=5)

# %%
# Ten initializations for each type; the one with the smallest error is kept. ``options[4] = 1``
# resets the covariance of a component that collapses onto a few rows.
options = foptions()
options[[0, 4, 13]] = -1, 1, 300
mixes = {}
for covar_type in ("spherical", "diag", "full"):
    runs = []
    for seed in range(10):
        mix = gmminit(gmm(2, 3, covar_type), x, options, random_state=seed)
        runs.append(gmmem(mix, x, options))
    mix = min(runs, key=lambda run: run[1][7])[0]
    # Sorted from left to right, so that colors agree.
    order = np.argsort(mix.centres[:, 0])
    mix.priors, mix.centres = mix.priors[order], mix.centres[order]
    mix.covars = mix.covars[:, :, order] if covar_type == "full" else mix.covars[order]
    mixes[covar_type] = mix


def error(mix, rows):
    """Return the negative log-likelihood per row."""
    return -np.log(gmmprob(mix, rows)).mean()


print(f"{'type':<11}{'n_param':>8}{'training':>13}{'new rows':>13}")
for covar_type, mix in mixes.items():
    print(f"{covar_type:<11}{mix.nwts:>8}{error(mix, x):>13.3f}{error(mix, new):>13.3f}")
print(f"{'true mixture':<32}{error(truth, new):>13.3f}")

# %%
# Side by side. Circles cannot fit an elongated group, axis-parallel ellipses not a rotated one.
picture = new_figure(12, 4.9)
for ax, (covar_type, mix) in zip(
    picture.subplots(1, 3, sharex=True, sharey=True), mixes.items(), strict=True
):
    plots.mixture(mix, x, ax=ax, deviations=(1, 2), contours=())
    ax.get_legend().remove()
    style_axes(ax, title=covar_type, x="x0", y="x1")
    set_note(ax, f"error of new rows {error(mix, new):.3f}")
    ax.set(xlim=(-4.4, 4.9), ylim=(-4.4, 5.4), aspect="equal")
    ax.label_outer()
print(f"\npicture -> {out / 'netlab_forms.png'}")
picture.save(out / "netlab_forms.png")
