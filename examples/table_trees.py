"""
The table of trees: criteria, pruning and missing values
========================================================

All combinations of four criteria, four pruning methods and five ways to treat missing values, on
six tables by ten-fold cross-validation. Five tables have missing values of their own; in the sixth,
a quarter of all values is removed at random. Which of the three choices matters?

Finished folds are kept in ``out/table_trees.db``; all combinations are in ``out/table_trees.csv``.
"""

from pathlib import Path

import numpy as np

from ceiba import DecisionTreeClassifier, datasets, plots
from ceiba.experiments import sweep

out = Path("out")

PROTOCOL = "10-fold"
TABLES = ["vote", "hepatitis", "crx", "cleveland", "breast_cancer_wisconsin_original", "vehicle"]
CHOICES = {
    "criterion": ["gini", "entropy", "gain_ratio", "error"],
    "pruning": ["none", "reduced_error", "pessimistic", "cost_complexity"],
    "missing": ["learned", "branch", "majority", "fractional", "surrogate"],
}

# %%
# The tables, all of which come with the library.
tables = {}
for name in TABLES:
    X, y = datasets.load(name, as_frame=True)
    name = name.removesuffix("_cancer_wisconsin_original")
    if name == "vehicle":
        name = "vehicle-25%"
        X = X.mask(np.random.default_rng(0).random(X.shape) < 0.25)
    tables[name] = X, y
    print(f"{name}: {len(X)} rows, {X.shape[1]} columns, {X.isna().to_numpy().mean():.1%} missing")

# %%
# All combinations.
results = sweep(
    DecisionTreeClassifier(),
    list(CHOICES),
    list(CHOICES.values()),
    tables,
    protocol=PROTOCOL,
    journal=out / "table_trees.db",
)
(out / "table_trees.csv").write_text(results.summarize("accuracy").to_csv(), encoding="utf-8")
accuracy = results.means("accuracy")  # by criterion, pruning, missing and table

# %%
# The three choices, one at a time: the mean over all settings of the other two. The range of a
# choice is the difference of its best and its worst value.
ranges = {}
for axis, (parameter, values) in enumerate(CHOICES.items()):
    others = tuple(other for other in range(3) if other != axis)
    means = accuracy.mean(axis=others)
    ranges[parameter] = np.ptp(means, axis=0)
    print(f"\n{parameter:16}" + "".join(f"{name:>12}" for name in tables) + f"{'mean':>8}")
    for value, row in zip(values, means, strict=True):
        cells = "".join(f"{cell:12.3f}" for cell in row)
        print(f"{value:16}{cells}{row.mean():8.3f}")
    cells = "".join(f"{cell:12.3f}" for cell in ranges[parameter])
    print(f"{'range':16}{cells}{ranges[parameter].mean():8.3f}")

# %%
# Pruning is also for trees that can be read: the number of leaves of the tree of all rows.
leaves = {
    pruning: [
        DecisionTreeClassifier(pruning=pruning).fit(*data).tree_.n_leaves
        for data in tables.values()
    ]
    for pruning in CHOICES["pruning"]
}
print(f"\n{'leaves':16}" + "".join(f"{name:>12}" for name in tables))
for pruning, counts in leaves.items():
    print(f"{pruning:16}" + "".join(f"{count:12}" for count in counts))

# %%
# The default setting of all methods of pruning, as a chart.
pruned = sweep(
    DecisionTreeClassifier(),
    "pruning",
    CHOICES["pruning"],
    tables,
    protocol=PROTOCOL,
    journal=out / "table_trees.db",
)
print(f"\n{pruned.summarize('accuracy')}")
plots.score_intervals(pruned.summarize("accuracy")).save(out / "trees_pruning.png")
print(f"pruning methods -> {out / 'trees_pruning.png'}")

# %%
# What the numbers answer.
print("\nAnswers")
for parameter in sorted(ranges, key=lambda parameter: -ranges[parameter].mean()):
    axis = list(CHOICES).index(parameter)
    means = accuracy.mean(axis=tuple(other for other in range(4) if other != axis))
    print(
        f"{parameter}: the best is {CHOICES[parameter][means.argmax()]} ({means.max():.3f} on "
        f"average), the worst {CHOICES[parameter][means.argmin()]} ({means.min():.3f}). Within a "
        f"table they differ by {ranges[parameter].mean():.3f} on average, and by up to "
        f"{ranges[parameter].max():.3f} ({list(tables)[ranges[parameter].argmax()]})."
    )
for pruning, counts in leaves.items():
    if pruning != "none":
        share = np.mean(np.array(counts) / leaves["none"])
        print(f"Trees pruned by {pruning} have {share:.0%} of the leaves as grown, on average.")
for t, name in enumerate(tables):
    setting = np.unravel_index(accuracy[..., t].argmax(), accuracy.shape[:3])
    chosen = ", ".join(values[i] for values, i in zip(CHOICES.values(), setting, strict=True))
    print(f"{name}: the best of all combinations is {chosen}, {accuracy[..., t].max():.3f}.")
print("These are the best of many on the rows that test them: they are too good for new rows.")
