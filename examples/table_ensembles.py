"""
The table of ensembles: how many members?
=========================================

Bagging of trees, random forests that draw columns at each node or once per tree, and AdaBoost and
gradient boosting of stumps and of small trees, by their number of members: accuracy by five-fold
cross-validation on five tables. How many members are enough? Do more ever harm? Where are columns
best drawn?

Finished folds are kept in ``out/table_ensembles.db``.
"""

import warnings
from pathlib import Path

import numpy as np

from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    datasets,
    plots,
)
from ceiba.datasets import DatasetNotFoundError
from ceiba.experiments import sweep

out = Path("out")
warnings.simplefilter("ignore", UserWarning)  # of attempts to fetch an absent table

PROTOCOL = "5-fold"
TABLES = ["vertebral_column", "german_credit", "vehicle", "tic_tac_toe", "breast_cancer_diagnostic"]
N_MEMBERS = [1, 2, 5, 10, 20, 50, 100, 200]
DRAWN_PER = ["node", "tree"]
DEPTHS = [1, 3]
MAX_FEATURES = ["sqrt", 0.3, 0.5, 0.7, 1.0]

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
# Bagging of trees that are fully grown.
options = {"protocol": PROTOCOL, "journal": out / "table_ensembles.db"}
bagging = sweep(BaggingClassifier(), "n_estimators", N_MEMBERS, tables, **options)
print(f"Bagging\n{bagging.summarize('accuracy')}")
print(f"bagging -> {out / 'ensembles_bagging.png'}\n")
plots.sweep_curve(bagging, "accuracy").save(out / "ensembles_bagging.png")

# %%
# Forests, which in addition draw a few columns: anew at each node, or once for each tree.
forest = sweep(
    RandomForestClassifier(),
    ["n_estimators", "max_features_per"],
    [N_MEMBERS, DRAWN_PER],
    tables,
    **options,
)
print(f"Forests\n{forest.summarize('accuracy')}")
print(f"forests -> {out / 'ensembles_forest.png'}\n")
plots.sweep_curve(forest, "accuracy").save(out / "ensembles_forest.png")

# %%
# AdaBoost of stumps, and of trees of depth 3.
boosting = sweep(
    AdaBoostClassifier(), ["n_estimators", "max_depth"], [N_MEMBERS, DEPTHS], tables, **options
)
print(f"AdaBoost\n{boosting.summarize('accuracy')}")
print(f"AdaBoost -> {out / 'ensembles_adaboost.png'}\n")
plots.sweep_curve(boosting, "accuracy").save(out / "ensembles_adaboost.png")

# %%
# Gradient boosting of the same trees, in steps of the learning rate 0.1.
gradient = sweep(
    GradientBoostingClassifier(),
    ["n_estimators", "max_depth"],
    [N_MEMBERS, DEPTHS],
    tables,
    **options,
)
print(f"Gradient boosting\n{gradient.summarize('accuracy')}")
print(f"gradient boosting -> {out / 'ensembles_gradient_boosting.png'}\n")
plots.sweep_curve(gradient, "accuracy").save(out / "ensembles_gradient_boosting.png")

# %%
# How many columns should be drawn? Forests of a hundred trees.
columns = sweep(
    RandomForestClassifier(),
    ["max_features", "max_features_per"],
    [MAX_FEATURES, DRAWN_PER],
    tables,
    **options,
)
print(f"Columns of a forest\n{columns.summarize('accuracy')}")
print(f"columns -> {out / 'ensembles_columns.png'}")
plots.sweep_curve(columns, "accuracy").save(out / "ensembles_columns.png")


# %%
# What the numbers answer, from the accuracies by number of members, other parameter and table.
of_forest = forest.means("accuracy")
of_boosting = boosting.means("accuracy")
of_gradient = gradient.means("accuracy")
accuracy = {
    "bagging": bagging.means("accuracy"),
    **{f"forest (columns per {per})": of_forest[:, i] for i, per in enumerate(DRAWN_PER)},
    **{f"AdaBoost (depth {depth})": of_boosting[:, i] for i, depth in enumerate(DEPTHS)},
    **{f"gradient boosting (depth {d})": of_gradient[:, i] for i, d in enumerate(DEPTHS)},
}
print("\nAnswers")
for name, values in accuracy.items():
    means, harm = values.mean(axis=1), values.max(axis=0) - values[-1]
    enough = N_MEMBERS[int(np.argmax(means >= means.max() - 0.005))]
    worst = harm.argmax()
    print(
        f"{name}: mean accuracy {means[0]:.3f} with {N_MEMBERS[0]}, {means[-1]:.3f} with "
        f"{N_MEMBERS[-1]} members; {enough} are within half a point of the best.\n"
        f"  Do more harm? {N_MEMBERS[-1]} are {100 * harm.mean():.1f} points below the best number "
        f"on average, {100 * harm[worst]:.1f} on {tables[worst]} "
        f"(best {N_MEMBERS[values[:, worst].argmax()]})."
    )
for t, table in enumerate(tables):
    best = max(accuracy, key=lambda name: accuracy[name][-1, t])
    print(f"{table}: the best of {N_MEMBERS[-1]} members is {best}, {accuracy[best][-1, t]:.3f}.")
drawn = columns.means("accuracy").mean(axis=2)
for i, per in enumerate(DRAWN_PER):
    best = MAX_FEATURES[drawn[:, i].argmax()]
    print(f"Columns drawn per {per}: the best is {best}, {drawn[:, i].max():.3f} on average.")
