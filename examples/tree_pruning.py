"""
One tree, pruned in every way
=============================

Credit granted or not: 690 rows, six numeric and nine nominal columns whose meaning was taken away,
67 gaps. Four presets grow trees from them. Then one tree is grown and pruned in every way, and each
way is judged by rows that had no say in it.
"""

from pathlib import Path

from ceiba import DecisionTreeClassifier, datasets, plots
from ceiba.tree import compare_presets, pruning_laboratory

out = Path("out")

# %%
# The presets side by side: their trees, and the settings in which they differ. All but C4.5 grow
# until there is nothing left to part.
credit = datasets.load("crx")
X, y = credit
print(credit)
presets = compare_presets(X, y)
print(f"\n{presets}")
print(f"\npresets -> {out / 'tree_presets.png'}")
plots.presets(presets).save(out / "tree_presets.png")

# %%
# Grow once, prune every way. A quarter of the rows is held out for validation; growing, choosing
# and pruning are cross-validated together on the others.
table = pruning_laboratory(DecisionTreeClassifier(), X, y)
print(f"\n{table}")

# %%
# The same as a chart. The whole tree makes no mistake in training and most elsewhere. Cost
# complexity leaves a single test, and on this table that is hard to beat.
print(f"\nlaboratory -> {out / 'tree_laboratory.png'}")
plots.pruning_table(table).save(out / "tree_laboratory.png")

# %%
# The tree before; what has no room is folded.
grown, pruned = table.models["unpruned"], table.models["reduced error"]
print(f"before -> {out / 'tree_grown.png'}")
plots.tree(grown, compact=True).save(out / "tree_grown.png")

# %%
# And after pruning by reduced error: a new model made from the same grown tree, which it keeps.
print(f"{len(pruned.pruning_.steps)} cuts; taken back: {pruned.unpruned().tree_ is grown.tree_}")
print(f"after -> {out / 'tree_pruned.png'}")
plots.tree(pruned).save(out / "tree_pruned.png")

# %%
# What is left, as rules, those that cover most rows first.
print(f"\n{pruned.to_rules(order='coverage').to_text(gaps=False)}")
