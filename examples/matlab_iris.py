"""
MATLAB's trees: fit, view, prune by level
=========================================

A lab written for MATLAB, on Fisher's irises. ``ceiba.compat.matlab`` provides the functions under
their MATLAB names, with their options and defaults; nodes, classes and columns are numbered from 1.
``[label, score] = predict(tree, X)`` is ``predict(tree, X, nargout=2)``.
"""

from pathlib import Path

import numpy as np

from ceiba import datasets
from ceiba.compat.matlab import fitctree, fitrtree, predict, prune, view

out = Path("out")

# %%
# ``load fisheriris``, and its tree.
frame, species = datasets.load("iris", as_frame=True)
meas = frame.to_numpy()
names = ["SL", "SW", "PL", "PW"]
ctree = fitctree(meas, species, "PredictorNames", names)
view(ctree)

# %%
# Every level of the pruning sequence (MATLAB's name of a pruning step): its alpha, its nodes, and
# its training error.
print(f"\n{'level':>5}{'alpha':>9}{'nodes':>7}{'error':>8}")
for level, alpha in enumerate(ctree.PruneAlpha):
    pruned = prune(ctree, "Level", level)
    error = np.mean(predict(pruned, meas) != species)
    print(f"{level:>5}{alpha:>9.4f}{pruned.NumNodes:>7}{error:>8.3f}")

# %%
# The tree of level 2 as a picture; its nodes are numbered from 0, as in Ceiba.
pruned = prune(ctree, "Level", 2)
print(f"\ntree -> {out / 'matlab_iris.png'}")
view(pruned, "Mode", "graph").save(out / "matlab_iris.png")

# %%
# Three flowers: label, score, node and class number. The petal length of the last one, which the
# root tests, is missing: as in MATLAB the row stays at the root.
flowers = [[5.0, 3.4, 1.5, 0.2], [6.1, 2.9, 4.7, 1.4], [6.5, 3.0, np.nan, 2.1]]
label, score, node, cnum = predict(pruned, flowers, nargout=4)
for row in zip(label, score.round(2).tolist(), node, cnum, strict=True):
    print("{:<12} score {}, node {}, class {}".format(*row))

# %%
# With surrogates it continues, by another column.
with_surrogates = fitctree(
    meas, species, "PredictorNames", names, "Surrogate", "on", "MaxNumSplits", 2
)
print(f"with surrogates: {predict(with_surrogates, flowers).tolist()}")

# %%
# Regression: petal width from the other three columns, pruned at alpha = 0.01.
rtree = fitrtree(meas[:, :3], meas[:, 3], "PredictorNames", names[:3], "MinLeafSize", 5)
pruned = prune(rtree, "Alpha", 0.01)
print(f"\n{rtree.NumNodes} nodes, pruned to {pruned.NumNodes}")
view(pruned)
