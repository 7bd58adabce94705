"""
A decision tree of votes, with gaps
===================================

How 435 members of the United States Congress voted in 1984 on sixteen questions, and their party.
Of the votes 392 are missing, and a missing vote may tell something itself. A tree takes the table
as it is; what it does with gaps is one of three rules.
"""

from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ceiba import DecisionTreeClassifier, datasets
from ceiba.plots.style import ACCENT, MARKERS, PALETTE, new_figure, tidy

out = Path("out")

# %%
# Grow and read: the condition of each node, its rows and classes, the gain of its split; in a leaf
# the prediction and why it was not split.
votes = datasets.load("vote")
X, y = votes
print(votes)
model = DecisionTreeClassifier(criterion="entropy", max_depth=3, trace=True).fit(X, y)
print(model.to_text(max_depth=2))

# %%
# The trace keeps what every column had to offer at each split. At the root one question leads by
# far.
root = model.trace_[0]
order = np.argsort(root["candidate_gain"])
print(f"\nroot: {root['split']}, gain {root['gain']:.3f} of {root['impurity']:.3f} bits")
print(f"runner-up: {root['runner_up']}, gain {root['runner_up_gain']:.3f}")

# %%
# The rules for gaps, by cross-validation: gaps go where the gain is larger, have a branch of their
# own, or join the heavier branch.
folds = StratifiedKFold(5, shuffle=True, random_state=0)
depths = range(1, 7)
rules = {}
for rule in ("learned", "branch", "majority"):
    trees = [DecisionTreeClassifier(missing=rule, max_depth=depth) for depth in depths]
    rules[rule] = np.array([cross_val_score(tree, X, y, cv=folds) for tree in trees])
print(f"\naccuracy by depth   {'   '.join(f'{depth:>3}' for depth in depths)}")
for rule, scores in rules.items():
    print(f"  {rule:<16}  {' '.join(f'{score:.3f}' for score in scores.mean(axis=1))}")

# %%
# Both as pictures: the candidates of the root, and the three rules with one standard error. The
# bars overlap, and other folds put another rule in front: on this table the choice hardly matters.
picture = new_figure(10.5, 4.4)
left, right = picture.subplots(1, 2, width_ratios=[1.25, 1])
names = [votes.feature_names[column].replace("_", " ") for column in order]
colours = [ACCENT if column == root["column"] else PALETTE[0] for column in order]
left.barh(names, root["candidate_gain"][order], color=colours, height=0.7)
tidy(left, title="Best split of each column, at the root", x="gain (bits)", grid="x")
for shift, (rule, scores) in enumerate(rules.items()):
    error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    right.errorbar(
        np.array(depths) + 0.12 * (shift - 1), scores.mean(axis=1), error, label=rule,
        color=PALETTE[shift], marker=MARKERS[shift], markersize=5, linewidth=1.4, elinewidth=1,
    )  # fmt: skip
tidy(
    right,
    title="Rules for gaps, five folds",
    x="max_depth",
    y="accuracy ± standard error",
    grid="y",
)
right.legend(title="missing", loc="lower left", frameon=False, fontsize=9, title_fontsize=9)

print(f"\npicture -> {out / 'tree_votes.png'}")
picture.save(out / "tree_votes.png")
