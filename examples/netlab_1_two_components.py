"""
Netlab 1: EM on two components, cycle by cycle
==============================================

The first lab of a course that used Netlab: a mixture of two circles is fitted to rows of two
groups, one cycle of EM at a time. ``ceiba.compat.netlab`` has the functions under their old names;
options are counted from 0, so that ``options(14)`` is ``options[13]``.
"""

from pathlib import Path

from ceiba import plots
from ceiba.compat.netlab import foptions, gmm, gmmem, gmmpost, gmmsamp
from ceiba.plots.style import MUTED, new_figure, tidy

out = Path("out")

# %%
# The truth, and 300 rows of it.
truth = gmm(2, 2, "spherical")
truth.priors = [0.4, 0.6]
truth.centres = [[-1.5, 0.5], [1.5, -0.5]]
truth.covars = [0.3, 0.9]
x, label = gmmsamp(truth, 300, random_state=1)

# %%
# A poor start on purpose: both centres in the same group, and wide. Each call makes one cycle, the
# error is the negative log-likelihood.
mix = gmm(2, 2, "spherical")
mix.centres = [[2.0, -2.0], [2.5, 0.5]]
options = foptions()
options[0], options[13] = -1, 1

mixes, errors = [], []
for cycle in range(11):
    after, options, errlog = gmmem(mix, x, options)
    mixes.append(mix)
    errors.append(errlog[0])
    mix = after
    if cycle % 2 == 0:
        centres = mixes[-1].centres.round(2).tolist()
        print(f"cycle {cycle:2d}: error {errors[-1]:7.2f}, centres {centres}")

# %%
# What was found, beside the truth. The posteriors say which group a row belongs to; where the
# groups meet they are in doubt.
post, _ = gmmpost(mix, x)
right = max((post.argmax(axis=1) == label).mean(), (post.argmax(axis=1) != label).mean())
print(f"\n{'':10}{'prior':>8}{'centre':>18}{'variance':>10}")
for name, model in (("truth", truth), ("found", mix)):
    for prior, (a, b), variance in zip(model.priors, model.centres, model.covars, strict=True):
        print(f"{name:<10}{prior:8.2f}{a:9.2f}{b:9.2f}{variance:10.2f}")
print(f"rows in the right group: {right:.1%}; in doubt: {(post.max(axis=1) < 0.9).sum()}")

# %%
# Four of the cycles. A row's colour is the mix of its components', in the shares of its posteriors.
picture = new_figure(9.6, 8.2)
axes = picture.subplots(2, 2, sharex=True, sharey=True).ravel()
for ax, cycle in zip(axes, (0, 3, 6, 10), strict=True):
    plots.mixture(mixes[cycle], x, ax=ax, deviations=(1, 2), shares=())
    ax.get_legend().remove()
    tidy(ax, title=f"After {cycle} cycles" if cycle else "The start")
    ax.set_title(f"error {errors[cycle]:.1f}", loc="right", fontsize=9.5, color=MUTED, pad=8)
    ax.set(xlim=(-3.6, 4.8), ylim=(-4.2, 3), aspect="equal")
print(f"\ncycles -> {out / 'netlab_two_components.png'}")
picture.save(out / "netlab_two_components.png")

# %%
# All of them as a film: the player takes any frames that hold the parameters.
frames = [
    {
        "weights": model.weights_,
        "means": model.means_,
        "covariances": model.covariances_,
        "log_likelihood": -error,
    }
    for model, error in zip(mixes, errors, strict=True)
]
print(f"film -> {out / 'netlab_two_components.gif'}")
plots.play(frames, x, out / "netlab_two_components.gif", fps=3)
