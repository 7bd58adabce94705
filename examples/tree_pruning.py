"""
Comparing presets and pruning methods
=====================================

Credit granted or not: 690 rows, six numeric and nine nominal columns with anonymized names, 67
missing values. Trees are grown by four presets. Then one tree is grown and pruned by every method,
and each method is evaluated on rows that it has not used.
"""

from pathlib import Path

from ceiba import DecisionTreeClassifier, datasets, plots
from ceiba.tree import compare_presets, compare_pruning

out = Path("out")

# %%
# The presets side by side: their trees, and the parameters in which they differ. All but C4.5 grow
# until no split is left.
credit = datasets.load("crx")
X, y = credit
print(credit)
presets = compare_presets(X, y)
print(f"\n{presets}")
print(f"\npresets -> {out / 'tree_presets.png'}")
plots.presets(presets).save(out / "tree_presets.png")

# %%
# Grow once, prune by every method. A quarter of the rows is held out for validation; growth, choice
# and pruning are cross-validated together on the others.
table = compare_pruning(DecisionTreeClassifier(), X, y)
print(f"\n{table}")

# %%
# The same as a chart. The unpruned tree has no training error and the largest error elsewhere. Cost
# complexity leaves a single split, which on this table is hard to beat.
print(f"\npruning methods -> {out / 'tree_pruning_methods.png'}")
plots.pruning_table(table).save(out / "tree_pruning_methods.png")

# %%
# The tree before pruning; nodes that do not fit are folded.
grown, pruned = table.models["unpruned"], table.models["reduced error"]
print(f"unpruned -> {out / 'tree_grown.png'}")
plots.tree(grown, compact=True).save(out / "tree_grown.png")

# %%
# The tree after reduced-error pruning, a new model that keeps the grown tree.
restored = pruned.unpruned().tree_ is grown.tree_
print(f"{len(pruned.pruning_.frames)} pruned nodes; unpruned() restores the tree: {restored}")
print(f"pruned -> {out / 'tree_pruned.png'}")
plots.tree(pruned).save(out / "tree_pruned.png")

# %%
# Its rules, by decreasing coverage.
print(f"\n{pruned.to_rules(order='coverage').to_text(show_missing=False)}")
