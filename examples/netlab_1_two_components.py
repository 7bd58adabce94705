"""
Netlab 1: EM on two components, cycle by cycle
==============================================

A classic lab for Netlab: a mixture of two spherical components is fitted to rows of two groups, one
cycle of EM at a time. ``ceiba.compat.netlab`` provides the functions under their Netlab names;
options are indexed from 0, so that ``options(14)`` is ``options[13]``.
"""

from pathlib import Path

from ceiba import plots
from ceiba.compat.netlab import foptions, gmm, gmmem, gmmpost, gmmsamp
from ceiba.plots.style import new_figure, set_note, style_axes

out = Path("out")

# %%
# The true mixture, and 300 rows sampled from it.
truth = gmm(2, 2, "spherical")
truth.priors = [0.4, 0.6]
truth.centres = [[-1.5, 0.5], [1.5, -0.5]]
truth.covars = [0.3, 0.9]
x, label = gmmsamp(truth, 300, random_state=1)

# %%
# A deliberately poor initialization: both centers in the same group, with large variances. Each
# call makes one cycle; the error is the negative log-likelihood.
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
        centers = mixes[-1].centres.round(2).tolist()
        print(f"cycle {cycle:2d}: error {errors[-1]:7.2f}, centers {centers}")

# %%
# The estimates beside the true parameters. The posteriors assign rows to groups; they are ambiguous
# where the groups overlap.
post, _ = gmmpost(mix, x)
accuracy = max((post.argmax(axis=1) == label).mean(), (post.argmax(axis=1) != label).mean())
print(f"\n{'':10}{'prior':>8}{'center':>18}{'variance':>10}")
for name, model in (("true", truth), ("estimated", mix)):
    for prior, (a, b), variance in zip(model.priors, model.centres, model.covars, strict=True):
        print(f"{name:<10}{prior:8.2f}{a:9.2f}{b:9.2f}{variance:10.2f}")
n_ambiguous = (post.max(axis=1) < 0.9).sum()
print(f"rows in the right group: {accuracy:.1%}; ambiguous rows: {n_ambiguous}")

# %%
# Four of the cycles. The color of a row mixes the colors of the components by posterior.
picture = new_figure(9.6, 8.2)
axes = picture.subplots(2, 2, sharex=True, sharey=True).ravel()
for ax, cycle in zip(axes, (0, 3, 6, 10), strict=True):
    plots.mixture(mixes[cycle], x, ax=ax, deviations=(1, 2), contours=())
    ax.get_legend().remove()
    style_axes(ax, title=f"After {cycle} cycles" if cycle else "Initialization")
    set_note(ax, f"error {errors[cycle]:.1f}")
    ax.set(xlim=(-3.6, 4.8), ylim=(-4.2, 3), aspect="equal")
print(f"\ncycles -> {out / 'netlab_two_components.png'}")
picture.save(out / "netlab_two_components.png")

# %%
# An animation of all cycles: the player accepts any frames that contain the parameters.
frames = [
    {
        "weights": model.weights_,
        "means": model.means_,
        "covariances": model.covariances_,
        "log_likelihood": -error,
    }
    for model, error in zip(mixes, errors, strict=True)
]
print(f"animation -> {out / 'netlab_two_components.gif'}")
plots.play(frames, x, out / "netlab_two_components.gif", fps=3)
