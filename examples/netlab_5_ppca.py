"""
Netlab 5: probabilistic principal components
============================================

Groups in many columns often vary in a few directions only. A component of type ``"ppca"`` has a few
principal axes ``U``, the variances ``lambda_`` along them, and one variance ``covars`` in all other
directions: it is between a spherical and a full covariance. The number of axes is chosen on new
rows.
"""

from pathlib import Path

import numpy as np

from ceiba.compat.netlab import foptions, gmm, gmmem, gmminit, gmmpost, gmmprob, gmmsamp
from ceiba.plots.style import ACCENT, INK, MUTED, PALETTE, color_of, new_figure, style_axes

out = Path("out")

# %%
# Three groups in eight columns, each in a plane of its own, with 50 rows each on average.
random = np.random.default_rng(0)
truth = gmm(8, 3, "ppca", 2)
truth.centres = random.normal(0, 2.5, (3, 8))
truth.U = np.stack([np.linalg.qr(random.normal(size=(8, 2)))[0] for _ in range(3)], axis=2)
truth.lambda_ = np.array([[9.0, 4.0], [6.0, 3.0], [5.0, 5.0]])
truth.covars = np.array([0.3, 0.3, 0.3])
x, _ = gmmsamp(truth, 150, random_state=1)
new, _ = gmmsamp(truth, 5000, random_state=2)


def fitted(covar_type, ppca_dim=None):
    """Fit three components from ten initializations and keep the smallest error."""
    options = foptions()
    options[[0, 4, 13]] = -1, 1, 300
    runs = []
    for seed in range(10):
        mix = gmminit(gmm(8, 3, covar_type, ppca_dim), x, options, random_state=seed)
        runs.append(gmmem(mix, x, options))
    return min(runs, key=lambda run: run[1][7])[0]


def error(mix, rows):
    """Return the negative log-likelihood per row."""
    return -np.log(gmmprob(mix, rows)).mean()


# %%
# The error of the training rows decreases with every axis; that of new rows is smallest at two.
mixes = {q: fitted("ppca", q) for q in range(1, 8)}
others = {covar_type: fitted(covar_type) for covar_type in ("spherical", "diag", "full")}
print(f"{'type':<12}{'training':>12}{'new rows':>13}")
for name, mix in [*others.items(), *((f"ppca {q}", mix) for q, mix in mixes.items())]:
    print(f"{name:<12}{error(mix, x):>12.3f}{error(mix, new):>13.3f}")
print(f"{'true':<12}{'':12}{error(truth, new):>13.3f}")

# %%
# The estimated variances along two axes, and in the other directions.
best = mixes[2]
for j in range(3):
    along = ", ".join(f"{value:.2f}" for value in best.lambda_[j])
    print(
        f"component {j}: prior {best.priors[j]:.2f}, variances {along}, noise {best.covars[j]:.2f}"
    )

# %%
# Left: the rows on their first two principal components, with the axes of each component, two
# standard deviations long to either side. Right: the errors by number of axes.
picture = new_figure(11.5, 4.8)
left, right = picture.subplots(1, 2, width_ratios=[1.2, 1])
mean = x.mean(axis=0)
plane = np.linalg.svd(x - mean, full_matrices=False)[2][:2].T
component = gmmpost(best, x)[0].argmax(axis=1)
for j in range(3):
    left.scatter(*((x[component == j] - mean) @ plane).T, s=16, color=color_of(j), alpha=0.7,
                 linewidths=0)  # fmt: skip
    for axis in range(2):
        arm = 2 * np.sqrt(best.lambda_[j, axis]) * best.U[:, axis, j]
        ends = (best.centres[j] + np.outer([-1, 1], arm) - mean) @ plane
        left.plot(*ends.T, "-", color=INK, linewidth=3.4 - axis, solid_capstyle="round")
        left.plot(*ends.T, "-", color=color_of(j), linewidth=1.9 - axis, solid_capstyle="round")
style_axes(
    left, title="ppca_dim = 2: axes of two σ", x="principal component 1", y="principal component 2"
)
left.set_aspect("equal", adjustable="datalim")

for rows, name, color, marker in (
    (x, "training rows", PALETTE[0], "o"),
    (new, "new rows", ACCENT, "s"),
):
    right.plot(list(mixes), [error(mix, rows) for mix in mixes.values()], "-", color=color,
               marker=marker, markersize=5, label=f"ppca, {name}")  # fmt: skip
for (covar_type, mix), style in zip(others.items(), (":", "-.", "--"), strict=True):
    right.axhline(
        error(mix, new),
        linestyle=style,
        color=MUTED,
        linewidth=1.2,
        label=f"{covar_type}, new rows",
    )
style_axes(right, title="Error per row", x="ppca_dim", y="negative log-likelihood", grid="y")
right.legend(loc="best", fontsize=8.5)
print(f"\npicture -> {out / 'netlab_ppca.png'}")
picture.save(out / "netlab_ppca.png")
