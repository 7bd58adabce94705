"""
A forest of votes, judged out of the bag
========================================

How 435 members of the United States Congress voted in 1984 on sixteen questions, and their party;
392 votes are missing. A random forest takes the table as it is. Every tree leaves out a third of
the rows, and these tell how good the forest is, how many trees it needs and which questions matter,
so that no rows have to be held out.
"""

from pathlib import Path

import numpy as np

import ceiba
from ceiba import RandomForestClassifier, datasets, plots

out = Path("out")

# %%
# Grow. Two questions are added that nobody was asked: their answers are drawn, yes or no, and one
# of sixty different ones.
votes = datasets.load("vote", as_frame=True)
draw = np.random.default_rng(0)
coin = draw.choice(["y", "n"], len(votes.y))
number = [f"number {answer}" for answer in draw.integers(60, size=len(votes.y))]
X, y = votes.X.assign(a_coin=coin, a_number=number), votes.y
forest = RandomForestClassifier(300, oob_score=True, importance=True).fit(X, y)
print(votes)
print(f"{forest.forest_}, {forest.oob_score_:.1%} right out of the bag")

# %%
# How many trees are enough? The error falls quickly and then wavers by chance; from the marked
# number on it stays within one standard error of where it ends.
print(f"\n{forest.oob_curve_.answer()}")
print(f"curve -> {out / 'forest_curve.png'}")
plots.oob_curve(forest).save(out / "forest_curve.png")

# %%
# What is a question worth? Its answers are permuted among the rows that a tree has not seen, and
# the tree errs more often, or not. Within the grey band that is chance: both drawn questions read
# as zero, and so does every question that the others can stand in for.
importance = forest.oob_importance_
print(f"\n{importance.to_table()}")
print(f"\nimportance -> {out / 'forest_importance.png'}")
plots.importance(forest).save(out / "forest_importance.png")

# %%
# Impurity importance is misled by the sixty different answers, among which a good split is found by
# chance. Told by rows out of the bag instead, most of that is gone.
corrected = forest.corrected_importances(X, y)
shares = corrected / corrected.sum()
print(f"\n{'share in the decrease of impurity':<34} {'in training':>11} {'out of bag':>11}")
for name in ("physician_fee_freeze", "a_number", "a_coin"):
    column = importance.names.index(name)
    print(f"{name:<34} {forest.feature_importances_[column]:>11.3f} {shares[column]:>11.3f}")

# %%
# Whom does it take for one of the other party? Out of the bag, the surest mistakes.
own = forest.oob_decision_function_[np.arange(len(y)), np.searchsorted(forest.classes_, y)]
print("\nsurest mistakes")
for row in np.argsort(own, kind="stable")[:5]:
    print(f"  row {row}, {y[row]}: {own[row]:.0%} of the trees that have not seen it say so")

# %%
# A forest is a few arrays, sixteen bytes a node. Mapped from its file it predicts the same.
path = out / "forest_votes.ceiba"
ceiba.save(forest, path)
mapped = ceiba.load(path, mmap=True)
same = np.array_equal(mapped.predict_proba(X), forest.predict_proba(X))
print(
    f"\nmodel -> {path}, {path.stat().st_size / 1000:.0f} kB; mapped, it predicts the same: {same}"
)
