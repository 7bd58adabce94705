"""
The table of ensembles: how many members?
=========================================

Bagging of trees, random forests that draw columns at each node or once per tree, and AdaBoost of
stumps and of small trees, by their number of members: accuracy by five-fold cross-validation on
five tables. How many members are enough? Do more ever harm? Where are columns best drawn?

Finished folds are kept in ``out/table_ensembles.db``.
"""

import warnings
from pathlib import Path

import numpy as np

from ceiba import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, datasets, plots
from ceiba.datasets import DatasetNotFoundError
from ceiba.experiments import sweep

out = Path("out")
warnings.simplefilter("ignore", UserWarning)  # of attempts to fetch an absent table

PROTOCOL = "5-fold"
TABLES = ["vertebral_column", "german_credit", "vehicle", "tic_tac_toe", "breast_cancer_diagnostic"]
N_MEMBERS = [1, 2, 5, 10, 20, 50, 100, 200]

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
# The ensembles.
ensembles = {
    "bagging": BaggingClassifier(),
    "forest, columns per node": RandomForestClassifier(),
    "forest, columns per tree": RandomForestClassifier(max_features_per="tree"),
    "AdaBoost of stumps": AdaBoostClassifier(),
    "AdaBoost of depth 3": AdaBoostClassifier(max_depth=3),
}
options = {"protocol": PROTOCOL, "journal": out / "table_ensembles.db"}
sweeps = {
    name: sweep(ensemble, "n_estimators", N_MEMBERS, tables, **options)
    for name, ensemble in ensembles.items()
}
for name, results in sweeps.items():
    print(f"{name}\n{results.summarize('accuracy')}\n")

# %%
# Accuracy against the number of members.
for name, results in sweeps.items():
    path = out / f"ensembles_{name.replace(', ', '_').replace(' ', '_').lower()}.png"
    plots.sweep_curve(results, "accuracy").save(path)
    print(f"{name} -> {path}")

# %%
# How many columns should a node see? Forests of a hundred trees.
columns = sweep(
    RandomForestClassifier(),
    ["max_features_per", "max_features"],
    [["node", "tree"], ["sqrt", 0.3, 0.5, 0.7, 1.0]],
    tables,
    **options,
)
print(f"\nColumns of a forest\n{columns.summarize('accuracy')}")

# %%
# What the numbers answer.
print("\nAnswers")
accuracy = {
    name: np.array(
        [
            [results.comparison.mean("accuracy", table, learner.name) for table in tables]
            for learner in results.comparison.learners
        ]
    )
    for name, results in sweeps.items()
}
for name, values in accuracy.items():
    means = values.mean(axis=1)
    enough = N_MEMBERS[int(np.argmax(means >= means.max() - 0.005))]
    print(
        f"{name}: mean accuracy {means[0]:.3f} with {N_MEMBERS[0]} member, {means[-1]:.3f} with "
        f"{N_MEMBERS[-1]}; {enough} are enough to be within half a point of the best."
    )
    harm = values.max(axis=0) - values[-1]
    worst = harm.argmax()
    print(
        f"  On {tables[worst]}, {N_MEMBERS[-1]} members are {100 * harm[worst]:.1f} points below "
        f"the best number, {N_MEMBERS[values[:, worst].argmax()]}; {100 * harm.mean():.1f} on "
        "average."
    )
last = {name: values[-1] for name, values in accuracy.items()}
for t, table in enumerate(tables):
    best = max(last, key=lambda name: last[name][t])
    print(f"{table}: the best ensemble of {N_MEMBERS[-1]} members is {best}, {last[best][t]:.3f}.")
drawn = [
    np.mean([columns.comparison.mean("accuracy", table, learner.name) for table in tables])
    for learner in columns.comparison.learners
]
per_node, per_tree = (
    {
        setting[1]: mean
        for setting, mean in zip(columns.settings, drawn, strict=True)
        if setting[0] == per
    }
    for per in ("node", "tree")
)
print(
    f"Columns drawn per node: best {max(per_node, key=per_node.get)} "
    f"({max(per_node.values()):.3f} on average); per tree: best {max(per_tree, key=per_tree.get)} "
    f"({max(per_tree.values()):.3f})."
)
