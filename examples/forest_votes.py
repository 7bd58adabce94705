"""
A random forest with out-of-bag estimates
=========================================

How 435 members of the United States Congress voted in 1984 on sixteen questions, and their party;
392 votes are missing. A random forest takes the table without preprocessing. Every tree leaves out
about a third of the rows, and these out-of-bag rows estimate the error of the forest, the number of
trees that it needs and the importance of the questions, so that no rows have to be held out.
"""

from pathlib import Path

import numpy as np

import ceiba
from ceiba import RandomForestClassifier, datasets, plots

out = Path("out")

# %%
# Fit, with two random columns added: one with two categories and one with sixty.
votes = datasets.load("vote", as_frame=True)
random = np.random.default_rng(0)
coin = random.choice(["y", "n"], len(votes.y))
number = [f"number {value}" for value in random.integers(60, size=len(votes.y))]
X, y = votes.X.assign(a_coin=coin, a_number=number), votes.y
forest = RandomForestClassifier(300, oob_score=True, importance=True).fit(X, y)
print(votes)
print(f"{forest.forest_}, out-of-bag accuracy {forest.oob_score_:.1%}")

# %%
# How many trees are enough? The error decreases quickly and then varies by chance; from the marked
# number on it stays within one standard error of its last value.
print(f"\n{forest.oob_curve_.summary()}")
print(f"curve -> {out / 'forest_curve.png'}")
plots.oob_curve(forest).save(out / "forest_curve.png")

# %%
# The importance of a question is the increase of the error when its answers are permuted among the
# out-of-bag rows of a tree. The gray band is the range of chance: both random columns are inside,
# and so is every question whose information is also in the others.
importance = forest.oob_importance_
print(f"\n{importance.to_table()}")
print(f"\nimportance -> {out / 'forest_importance.png'}")
plots.importance(forest).save(out / "forest_importance.png")

# %%
# The decrease of impurity favors the column of sixty categories, in which a good split of the
# training rows is found by chance. Measured on out-of-bag rows, most of this bias vanishes.
corrected = forest.corrected_importances(X, y)
corrected = corrected / corrected.sum()
print(f"\n{'fraction of the impurity decrease':<34} {'in training':>11} {'out of bag':>11}")
for name in ("physician_fee_freeze", "a_number", "a_coin"):
    column = importance.feature_names.index(name)
    print(f"{name:<34} {forest.feature_importances_[column]:>11.3f} {corrected[column]:>11.3f}")

# %%
# Which members does it misclassify most confidently (out of bag)?
own = forest.oob_decision_function_[np.arange(len(y)), np.searchsorted(forest.classes_, y)]
print("\nmost confident errors, out of bag")
for row in np.argsort(own, kind="stable")[:5]:
    print(f"  row {row}, {y[row]}: probability of the true party {own[row]:.0%}")

# %%
# A forest is a few arrays of sixteen bytes per node. Mapped from a file it predicts the same.
path = out / "forest_votes.ceiba"
ceiba.save(forest, path)
mapped = ceiba.load(path, mmap=True)
same = np.array_equal(mapped.predict_proba(X), forest.predict_proba(X))
print(f"\nmodel -> {path}, {path.stat().st_size / 1000:.0f} kB; same predictions if mapped: {same}")
