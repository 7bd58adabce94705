"""
The table of nearest neighbors: k, weights and metrics
======================================================

How many neighbors should vote? Should nearer ones count more? Which distance? Accuracy of k-nearest
neighbors by five-fold cross-validation, for all combinations of k, two weights and four metrics, on
five numeric tables. Columns are divided by their standard deviation in the training rows; at the
end the same is done without, which makes the answer depend on the units of the columns.

Finished folds are kept in ``out/table_neighbors.db``.
"""

import warnings
from pathlib import Path

import numpy as np

from ceiba import KNeighborsClassifier, datasets, plots
from ceiba.datasets import DatasetNotFoundError
from ceiba.experiments import compare, summarize, sweep

out = Path("out")
warnings.simplefilter("ignore", UserWarning)  # of attempts to fetch an absent table

PROTOCOL = "5-fold"
TABLES = ["vertebral_column", "wine", "glass", "vehicle", "breast_cancer_diagnostic"]
N_NEIGHBORS = [1, 3, 5, 7, 9, 15, 25, 41]
WEIGHTS = ["uniform", "distance"]
METRICS = ["euclidean", "manhattan", "chebyshev", "cosine"]

# %%
# Tables that are not part of the library are left out if they are absent.
tables, absent = [], []
for name in TABLES:
    try:
        datasets.load(name)
        tables.append(name)
    except DatasetNotFoundError:
        absent.append(f"{name}.csv")
if absent:
    print(f"Absent: {', '.join(absent)}. Put them into a folder and name it in CEIBA_DATA.\n")

# %%
# Accuracy against k, with equal votes and with votes by 1 / distance.
options = {"protocol": PROTOCOL, "journal": out / "table_neighbors.db"}
scaled = KNeighborsClassifier(scale="std", metric="euclidean")
by_weights = sweep(scaled, ["n_neighbors", "weights"], [N_NEIGHBORS, WEIGHTS], tables, **options)
print(f"Number of neighbors, and weights\n{by_weights.summarize('accuracy')}")
plots.sweep_curve(by_weights, "accuracy").save(out / "neighbors_weights.png")
print(f"accuracy against k -> {out / 'neighbors_weights.png'}")

# %%
# Four metrics, with equal votes.
by_metric = sweep(scaled, ["n_neighbors", "metric"], [N_NEIGHBORS, METRICS], tables, **options)
plots.sweep_curve(by_metric, "accuracy").save(out / "neighbors_metrics.png")
print(f"metrics -> {out / 'neighbors_metrics.png'}")

# %%
# All combinations. For each metric and weight, the best k and its accuracy, which is a little too
# good for new rows, since k was chosen on the rows that test it.
parameters = ["metric", "weights", "n_neighbors"]
crossed = sweep(scaled, parameters, [METRICS, WEIGHTS, N_NEIGHBORS], tables, **options)
accuracy = crossed.means("accuracy")
print("\nMetrics and weights: accuracy at the best k, and this k")
print(f"{'':21}" + "".join(f"{name[:16]:>18}" for name in tables))
for i, metric in enumerate(METRICS):
    for j, weights in enumerate(WEIGHTS):
        best = accuracy[i, j].argmax(axis=0)
        cells = [f"{accuracy[i, j, k, t]:.3f}, k = {N_NEIGHBORS[k]:2}" for t, k in enumerate(best)]
        print(f"{metric:12}{weights:9}" + "".join(f"{cell:>18}" for cell in cells))

# %%
# Units: the same neighbors without scaling, and the number of neighbors that leave-one-out of the
# training rows chooses in each fold.
learners = {
    "5, scaled": KNeighborsClassifier(5, scale="std"),
    "5, own units": KNeighborsClassifier(5),
    "chosen by leave-one-out, scaled": KNeighborsClassifier("loo", scale="std"),
}
units = compare(learners, tables, **options)
print(f"\nUnits, and k chosen inside of the folds\n{summarize(units, control='5, scaled')}")

# %%
# What the numbers answer.
print("\nAnswers")
by_table = accuracy[METRICS.index("euclidean"), WEIGHTS.index("uniform")]
for t, name in enumerate(tables):
    best, last = by_table[:, t].argmax(), by_table[-1, t]
    print(
        f"{name}: the best k is {N_NEIGHBORS[best]} ({by_table[best, t]:.3f}); k = 1 has "
        f"{by_table[0, t]:.3f}, and k = {N_NEIGHBORS[-1]} has {last:.3f}."
    )
uniform, distance = 100 * accuracy.mean(axis=(0, 3))
print(
    "Weights by distance instead of equal ones change the mean accuracy by "
    f"{distance[0] - uniform[0]:+.1f} points at k = {N_NEIGHBORS[0]}, and by "
    f"{distance[-1] - uniform[-1]:+.1f} at k = {N_NEIGHBORS[-1]}."
)
means = dict(zip(METRICS, accuracy.max(axis=2).mean(axis=(1, 2)), strict=True))
order = sorted(means, key=means.__getitem__, reverse=True)
print(
    "Metrics, by mean accuracy at the best k: "
    + ", ".join(f"{metric} {means[metric]:.3f}" for metric in order)
    + "."
)
changes = {
    name: 100
    * (units.mean("accuracy", name, "5, own units") - units.mean("accuracy", name, "5, scaled"))
    for name in tables
}
worst = min(changes, key=changes.__getitem__)
print(
    f"Without scaling the accuracy changes by {np.mean(list(changes.values())):+.1f} points on "
    f"average, and by {changes[worst]:+.1f} on {worst}."
)
