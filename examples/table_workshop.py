"""
The table of the workshop: mixtures, trees and forests
======================================================

Orthopedic patients by six measures of pelvis and spine; the class is a hernia, a spondylolisthesis
or neither. Three families of classifiers are compared by ten-fold cross-validation: one Gaussian
mixture per class with Bayes' rule, a decision tree that is pruned step by step, and random forests.
The efficiency of the workshop is the accuracy; its interval is Wilson's.

Finished folds are kept in ``out/table_workshop.db``, with their seconds.
"""

import warnings
from pathlib import Path

import numpy as np

from ceiba import (
    DecisionTreeClassifier,
    GaussianMixtureClassifier,
    RandomForestClassifier,
    datasets,
    plots,
)
from ceiba.datasets import DatasetNotFoundError
from ceiba.experiments import sweep

out = Path("out")
warnings.simplefilter("ignore", UserWarning)  # components of few rows reach the smallest variance

PROTOCOL = "10-fold"
COVARIANCES = ["full", "diag", "spherical"]
N_COMPONENTS = [1, 2, 3, 4, 5, 6]
PRUNING_STEPS = [0, 1, 2, 3, 4, 5]
N_TREES = [10, 20, 30, 40, 50, 500]

# %%
# The vertebral column is not part of the library; wine, which is, replaces it.
try:
    data = datasets.load("vertebral_column")
except DatasetNotFoundError:
    data = datasets.load("wine")
    print("Absent: vertebral_column.csv; this is the table of wine. Put the file into a folder and")
    print("name it in CEIBA_DATA, or connect to the network to fetch it from OpenML.\n")
print(f"{data}\n")

# %%
# The three sweeps. Units are computed one at a time and each model on one core, so that their times
# can be compared. Step 0 of pruning is the tree as grown; each further step prunes the branch that
# reduces the training error of the tree by the smallest amount per leaf, as in MATLAB.
options = {"protocol": PROTOCOL, "journal": out / "table_workshop.db", "n_jobs": 1}
mixture = GaussianMixtureClassifier(n_jobs=1)
tree = DecisionTreeClassifier(prune_risk="error", n_jobs=1)
forest = RandomForestClassifier(n_jobs=1)
forms = ["n_components", "covariance_type"]
families = {
    "mixture": sweep(mixture, forms, [N_COMPONENTS, COVARIANCES], data.name, **options),
    "tree": sweep(tree, "pruning_step", PRUNING_STEPS, data.name, **options),
    "forest": sweep(forest, "n_estimators", N_TREES, data.name, **options),
}
for family, results in families.items():
    print(f"{family}\n{results.summarize()}\n")

# %%
# Accuracy against the number of components, by covariance; against the pruning step; and against
# the number of trees.
for family, results in families.items():
    plots.sweep_curve(results, "accuracy").save(out / f"workshop_{family}.png")
    print(f"{family} -> {out / f'workshop_{family}.png'}")

# %%
# The time of each setting to fit and to predict, in the fastest fold, since other programs can only
# add to it. A tree that is smaller than the number of pruning steps fails, and has no accuracy.
seconds, accuracy = {}, {}
for family, results in families.items():
    for learner in results.comparison.learners:
        folds = [fold.result for fold in results.comparison.of(data.name, learner.name)]
        key = family, learner.name
        seconds[key] = min(fold.fit_seconds + fold.predict_seconds for fold in folds)
        accuracy[key] = results.comparison.mean("accuracy", data.name, learner.name) or 0.0
mean_seconds = {
    family: np.mean([seconds[key] for key in seconds if key[0] == family]) for family in families
}
print("\nMilliseconds of the fastest fold: mean of the settings, and the costliest one")
for family, mean in mean_seconds.items():
    costliest = max((key for key in seconds if key[0] == family), key=seconds.__getitem__)
    print(f"{family:9}{1000 * mean:5.1f}{1000 * seconds[costliest]:7.1f}  {costliest[1]}")

# %%
# A mixture describes how the rows of each class are distributed, p(row | class), and a tree only
# where the classes are divided. The first can therefore measure how usual a row is. Here is one
# that has the largest value of every measure.
mixture = GaussianMixtureClassifier(covariance_type="diag").fit(data.X, data.y)
tree.fit(data.X, data.y)
unusual = data.X.max(axis=0, keepdims=True)
densities, density = mixture.score_samples(data.X), mixture.score_samples(unusual)[0]
probability = tree.predict_proba(unusual).max()

# %%
# What the numbers answer.
print("\nAnswers")
best = max(accuracy, key=accuracy.__getitem__)
print(f"The highest accuracy is {accuracy[best]:.3f}: {best[0]}, {best[1]}.")
for family, results in families.items():
    top = max((key for key in accuracy if key[0] == family), key=accuracy.__getitem__)
    cells = [cell for cell in results.summarize("accuracy").cells[0] if cell.interval is not None]
    n_reached = sum(cell.interval.upper >= accuracy[best] for cell in cells)
    print(
        f"  {family}: best {top[1]} ({accuracy[top]:.3f}); the intervals of {n_reached} of "
        f"{len(results.settings)} settings reach {accuracy[best]:.3f}."
    )
best_step = families["tree"].best("accuracy")["pruning_step"]
grown, pruned = (accuracy["tree", f"pruning_step={step}"] for step in (0, best_step))
print(
    f"The tree as grown has an accuracy of {grown:.3f}; the best pruning step is {best_step}, with "
    f"{pruned:.3f}."
)
few, many = (("forest", f"n_estimators={n}") for n in (N_TREES[0], N_TREES[-1]))
print(
    f"{N_TREES[-1]} trees instead of {N_TREES[0]} change the accuracy of the forest from "
    f"{accuracy[few]:.3f} to {accuracy[many]:.3f}, for {seconds[many] / seconds[few]:.1f} times "
    "the time."
)
costliest = max(seconds, key=seconds.__getitem__)
order = sorted(mean_seconds, key=mean_seconds.__getitem__, reverse=True)
ratios = [f"{family} {mean_seconds[family] / mean_seconds[order[-1]]:.1f}" for family in order]
print(
    f"Which is the costliest? On average over the settings the {order[0]}; as multiples of the "
    f"{order[-1]}: {', '.join(ratios)}. The costliest setting is {costliest[0]}, {costliest[1]}."
)
print(
    "The mixture classifier is generative: it has the density of the rows of each class, so that "
    "it can draw new rows, sum over missing measures and recognize unusual rows. The row of all "
    f"largest measures has the log-density {density:.0f}, where those of the table are "
    f"{densities.min():.0f} to {densities.max():.0f}."
)
print(
    "The tree is discriminative: it has probabilities of the classes only, and predicts the class "
    f"of the same row with a probability of {probability:.2f}."
)
