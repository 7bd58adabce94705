"""
A decision tree with missing values
===================================

How 435 members of the United States Congress voted in 1984 on sixteen questions, and their party.
392 votes are missing, and a missing vote may be informative itself. A tree takes the table without
preprocessing; ``missing`` sets its policy for missing values.
"""

from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ceiba import DecisionTreeClassifier, datasets
from ceiba.plots.style import ACCENT, MARKERS, PALETTE, new_figure, style_axes

out = Path("out")

# %%
# The tree as text: the condition of each node, its rows and classes, and the gain of its split; in
# a leaf the prediction and why it was not split.
votes = datasets.load("vote")
X, y = votes
print(votes)
model = DecisionTreeClassifier(criterion="entropy", max_depth=3, trace=True).fit(X, y)
print(model.to_text(max_depth=2))

# %%
# The trace keeps the best gain of every column at each split. At the root one question has by far
# the largest gain.
root = model.trace_[0]
order = np.argsort(root["candidate_gain"])
print(f"\nroot: {root['split']}, gain {root['gain']:.3f} of {root['impurity']:.3f} bits")
print(f"runner-up: {root['runner_up']}, gain {root['runner_up_gain']:.3f}")

# %%
# Three policies for missing values, by cross-validation: the branch with the larger gain, a branch
# of their own, or the heavier branch.
folds = StratifiedKFold(5, shuffle=True, random_state=0)
depths = range(1, 7)
results = {}
for policy in ("learned", "branch", "majority"):
    trees = [DecisionTreeClassifier(missing=policy, max_depth=depth) for depth in depths]
    results[policy] = np.array([cross_val_score(tree, X, y, cv=folds) for tree in trees])
print(f"\naccuracy by depth   {'   '.join(f'{depth:>3}' for depth in depths)}")
for policy, scores in results.items():
    print(f"  {policy:<16}  {' '.join(f'{score:.3f}' for score in scores.mean(axis=1))}")

# %%
# Both as pictures: the gains at the root, and the accuracy of the three policies with one standard
# error. The bars overlap, and other folds favor another policy: on this table the choice hardly
# matters.
picture = new_figure(10.5, 4.4)
left, right = picture.subplots(1, 2, width_ratios=[1.25, 1])
names = [votes.feature_names[column].replace("_", " ") for column in order]
colors = [ACCENT if column == root["column"] else PALETTE[0] for column in order]
left.barh(names, root["candidate_gain"][order], color=colors, height=0.7)
style_axes(left, title="Best gain per column, at the root", x="gain (bits)", grid="x")
for index, (policy, scores) in enumerate(results.items()):
    error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
    right.errorbar(
        np.array(depths) + 0.12 * (index - 1), scores.mean(axis=1), error, label=policy,
        color=PALETTE[index], marker=MARKERS[index], markersize=5, linewidth=1.4, elinewidth=1,
    )  # fmt: skip
style_axes(
    right,
    title="Policies for missing values, five folds",
    x="max_depth",
    y="accuracy ± standard error",
    grid="y",
)
right.legend(title="missing", loc="lower left", frameon=False, fontsize=9, title_fontsize=9)

print(f"\npicture -> {out / 'tree_votes.png'}")
picture.save(out / "tree_votes.png")
