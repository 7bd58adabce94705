"""
A Gaussian mixture with missing values
======================================

One in seven measurements of 150 irises is removed. A mixture is fitted to the rest: missing values
are integrated out in training and in prediction, without imputation. BIC chooses the number of
components and the covariance type, and the mixture estimates the removed values.
"""

from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from ceiba import GaussianMixture, GaussianMixtureClassifier, datasets, plots
from ceiba.mixture import choose_components

out = Path("out")

# %%
# The table with its missing values.
complete, species = datasets.load("iris", as_frame=True)
missing = np.random.default_rng(0).random(complete.shape) < 1 / 7
X = complete.mask(missing)
n_complete = (~missing).all(axis=1).sum()
print(f"{len(X)} rows, {missing.sum()} missing values; {n_complete} rows are complete")

# %%
# A grid of components and covariance types with three initializations each. ``spread`` is the
# difference in log-likelihood between the initializations.
choice = choose_components(X, range(1, 6), ["diag", "tied", "VEV", "full"])
print(f"\n{choice}")
print(f"\nchoice -> {out / 'mixture_choice.png'}")
plots.mixture_choice(choice).save(out / "mixture_choice.png")

# %%
# The mixture with the smallest BIC: covariances of one shape, each with its own volume and
# orientation. Its components largely coincide with the species.
n_components, covariance_type = choice.chosen
model = GaussianMixture(n_components, covariance_type=covariance_type, n_init=3).fit(X)
print(f"{model.n_iter_} iterations, log-likelihood {model.log_likelihood_:.2f}")
print(f"fit events: {model.fit_events_}")
for component in range(n_components):
    names, counts = np.unique(species[model.predict(X) == component], return_counts=True)
    content = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
    print(f"component {component}, weight {model.weights_[component]:.2f}: {content}")

# %%
# The rows in the mixed colors of their components, ellipses, and contours of the density, on the
# first two principal components. A missing value is drawn at the mean of its column, so a row may
# lie far from the component whose color it has.
print(f"density -> {out / 'mixture_iris.png'}")
plots.mixture(model, X).save(out / "mixture_iris.png")

# %%
# The removed values estimated from the observed values of the row, compared with the column means.
imputed, means = model.impute(X), np.broadcast_to(X.mean(), X.shape)
for name, estimate in (("mixture", imputed), ("column means", means)):
    error = np.sqrt(np.mean((estimate - complete.to_numpy())[missing] ** 2))
    print(f"root mean squared error of the {name}: {error:.2f} cm")

# %%
# The same rows under four covariance types.
print(f"forms -> {out / 'mixture_forms.png'}")
plots.covariance_forms(X, 3, ["spherical", "diag", "tied", "VEV"]).save(out / "mixture_forms.png")

# %%
# EM from three badly chosen rows: two components begin in one group, and the likelihood stagnates
# before they separate. In a notebook the player displays itself.
bad_init = {"init_params": "random_from_data", "random_state": 1}
slow = GaussianMixture(3, covariance_type=covariance_type, trace=True, **bad_init).fit(X)
print(f"animation of {slow.n_iter_} iterations -> {out / 'mixture_iris.gif'}")
plots.play(slow, X, out / "mixture_iris.gif", fps=3, max_frames=15)

# %%
# One mixture per class makes a classifier. With one full component it is quadratic discriminant
# analysis, but it accepts missing values.
ours = GaussianMixtureClassifier().fit(complete, species).predict_proba(complete)
theirs = QuadraticDiscriminantAnalysis().fit(complete, species).predict_proba(complete)
print(f"largest difference of a probability: {np.abs(ours - theirs).max():.0e}")
classifier = GaussianMixtureClassifier().fit(X, species)
print(f"training accuracy with missing values: {classifier.score(X, species):.1%}")
