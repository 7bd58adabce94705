"""
MATLAB's trees: fit, view, prune by level
=========================================

A lab of a course that used MATLAB, on Fisher's irises. ``ceiba.compat.matlab`` has the functions
under their old names, with their options and defaults; nodes, classes and columns are numbered
from 1. ``[label, score] = predict(tree, X)`` is ``predict(tree, X, nargout=2)``.
"""

from pathlib import Path

import numpy as np

from ceiba import datasets
from ceiba.compat.matlab import fitctree, fitrtree, predict, prune, view

out = Path("out")

# %%
# ``load fisheriris``, and a tree of it.
frame, species = datasets.load("iris", as_frame=True)
meas = frame.to_numpy()
names = ["SL", "SW", "PL", "PW"]
ctree = fitctree(meas, species, "PredictorNames", names)
view(ctree)

# %%
# Every level of the pruning sequence: the price of a leaf at which it begins, its nodes, and its
# error on the rows that it was grown from.
print(f"\n{'level':>5}{'alpha':>9}{'nodes':>7}{'error':>8}")
for level, alpha in enumerate(ctree.PruneAlpha):
    smaller = prune(ctree, "Level", level)
    error = np.mean(predict(smaller, meas) != species)
    print(f"{level:>5}{alpha:>9.4f}{smaller.NumNodes:>7}{error:>8.3f}")

# %%
# The tree of level 2 as a picture, whose nodes have Ceiba's numbers, from 0.
smaller = prune(ctree, "Level", 2)
print(f"\ntree -> {out / 'matlab_iris.png'}")
view(smaller, "Mode", "graph").save(out / "matlab_iris.png")

# %%
# Three flowers: label, score, node and number of the class. The last one lacks its petal length, by
# which the root decides: as in MATLAB it stays there.
flowers = [[5.0, 3.4, 1.5, 0.2], [6.1, 2.9, 4.7, 1.4], [6.5, 3.0, np.nan, 2.1]]
label, score, node, cnum = predict(smaller, flowers, nargout=4)
for row in zip(label, score.round(2).tolist(), node, cnum, strict=True):
    print("{:<12} score {}, node {}, class {}".format(*row))

# %%
# With surrogates it goes on, by another column.
careful = fitctree(meas, species, "PredictorNames", names, "Surrogate", "on", "MaxNumSplits", 2)
print(f"with surrogates: {predict(careful, flowers).tolist()}")

# %%
# Numbers: petal width from the other three columns, and the best tree where a leaf costs 0.01.
rtree = fitrtree(meas[:, :3], meas[:, 3], "PredictorNames", names[:3], "MinLeafSize", 5)
smaller = prune(rtree, "Alpha", 0.01)
print(f"\n{rtree.NumNodes} nodes, pruned to {smaller.NumNodes}")
view(smaller)
