"""
Iris as a mixture of Gaussians, with gaps
=========================================

Of the measurements of 150 irises one in seven is taken away. A mixture is fitted to what is left:
gaps are integrated out, in training and in prediction, and nothing is filled in first. BIC says how
many components there are and of which form, and the mixture estimates what was taken away.
"""

from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from ceiba import GaussianMixture, GaussianMixtureClassifier, datasets, plots
from ceiba.mixture import choose_components

out = Path("out")

# %%
# The table with its gaps.
whole, species = datasets.load("iris", as_frame=True)
gaps = np.random.default_rng(0).random(whole.shape) < 1 / 7
X = whole.mask(gaps)
print(f"{len(X)} rows, {gaps.sum()} gaps; {(~gaps).all(axis=1).sum()} rows are complete")

# %%
# Sizes and forms over a grid, three starts each. ``spread`` tells how far apart, in log-likelihood,
# the starts ended.
choice = choose_components(X, range(1, 6), ["diag", "tied", "VEV", "full"])
print(f"\n{choice}")
print(f"\nchoice -> {out / 'mixture_choice.png'}")
plots.mixture_choice(choice).save(out / "mixture_choice.png")

# %%
# The mixture that BIC prefers: matrices of one shape, each with a volume and an orientation of its
# own. Its components are the species, by and large.
n_components, form = choice.chosen
model = GaussianMixture(n_components, covariance_type=form, n_init=3).fit(X)
print(f"{model.n_iter_} steps, log-likelihood {model.log_likelihood_:.2f}")
print(f"account: {model.account_}")
for component in range(n_components):
    names, counts = np.unique(species[model.predict(X) == component], return_counts=True)
    inside = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
    print(f"component {component}, weight {model.weights_[component]:.2f}: {inside}")

# %%
# Rows in the mixed colours of their components, ellipses, and contours of the density, on the first
# two principal components. A row with gaps is drawn at the means of the columns that it misses: so
# it may lie far from its component, whose colour it has.
print(f"density -> {out / 'mixture_iris.png'}")
plots.mixture(model, X).save(out / "mixture_iris.png")

# %%
# What was taken away, estimated from the rest of its row: the root of the mean squared error,
# beside that of the columns' means.
filled, means = model.impute(X), np.broadcast_to(X.mean(), X.shape)
for name, guess in (("mixture", filled), ("column means", means)):
    error = np.sqrt(np.mean((guess - whole.to_numpy())[gaps] ** 2))
    print(f"error of the {name}: {error:.2f} cm")

# %%
# The same rows under four forms. One that shares more has fewer parameters.
print(f"forms -> {out / 'mixture_forms.png'}")
plots.covariance_forms(X, 3, ["spherical", "diag", "tied", "VEV"]).save(out / "mixture_forms.png")

# %%
# EM, step by step, from three rows that are badly chosen: two components begin in one group, and
# the likelihood rests for a while before they part. In a notebook the player shows itself.
badly = {"init_params": "random_from_data", "random_state": 1}
slow = GaussianMixture(3, covariance_type=form, trace=True, **badly).fit(X)
print(f"film of {slow.n_iter_} steps -> {out / 'mixture_iris.gif'}")
plots.play(slow, X, out / "mixture_iris.gif", fps=3, max_frames=15)

# %%
# One mixture a class makes a classifier. With one full component it is quadratic discriminant
# analysis, and it takes gaps.
ours = GaussianMixtureClassifier().fit(whole, species).predict_proba(whole)
theirs = QuadraticDiscriminantAnalysis().fit(whole, species).predict_proba(whole)
print(f"largest difference of a probability: {np.abs(ours - theirs).max():.0e}")
with_gaps = GaussianMixtureClassifier().fit(X, species)
print(f"rows with gaps, right: {with_gaps.score(X, species):.1%}")
