"""MATLAB's functions for trees, ensembles, k-means and mixtures under their own names.

An old script needs new imports only. Options, their meaning and their defaults are those of
MATLAB's ``fitctree``, ``fitrtree``, ``TreeBagger``, ``fitcensemble``, ``kmeans`` and ``fitgmdist``,
on top of Ceiba's own estimators.
Differences in Python:

- ``[label, score] = predict(tree, X)`` is ``label, score = predict(tree, X, nargout=2)``.
- Options may be given as in MATLAB, ``fitctree(X, Y, "MinLeafSize", 5)``, or as
  ``fitctree(X, Y, MinLeafSize=5)``. An option that is not supported raises an error that names the
  alternative.
- Nodes, classes and columns are numbered from 1, as in MATLAB; Python arrays are indexed from 0:
  ``tree.NodeClass[node - 1]``.
- Cell arrays are lists, and vectors have one axis.
- Functions of a fitted model are its methods: ``oobError(bag)`` is ``bag.oobError()``, and
  ``loss(tree, X, Y)`` is ``tree.loss(X, Y)``. ``predict``, ``prune`` and ``view`` are functions.

The notes of `fitctree` and `TreeBagger` list where the trees themselves may differ (ties, missing
values in training).
`ceiba.DecisionTreeClassifier`, `ceiba.RandomForestClassifier` and their regressors do more.

Examples
--------
>>> from ceiba import datasets
>>> from ceiba.compat.matlab import fitctree, predict, prune
>>> meas, species = datasets.load("iris", as_frame=True)
>>> ctree = fitctree(meas.to_numpy(), species)
>>> ctree.NumNodes, ctree.PruneAlpha.round(4).tolist()
(9, [0.0, 0.0067, 0.0133, 0.2933, 0.3333])
>>> smaller = prune(ctree, "Level", 1)
>>> label, score, node, cnum = predict(smaller, [[5.0, 3.0, 4.5, 1.4]], nargout=4)
>>> label.tolist(), node.tolist(), cnum.tolist()
(['versicolor'], [6], [2])

References
----------
Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees".
Breiman (2001), "Random forests", Machine Learning 45.
"""

from ceiba.compat.matlab.clustering import kmeans
from ceiba.compat.matlab.cross_validation import PartitionedModel
from ceiba.compat.matlab.ensemble import ClassificationEnsemble, fitcensemble, templateTree
from ceiba.compat.matlab.fit import fitctree, fitrtree
from ceiba.compat.matlab.fitted_tree import ClassificationTree, RegressionTree
from ceiba.compat.matlab.functions import predict, prune, view
from ceiba.compat.matlab.mixtures import GMDistribution, fitgmdist
from ceiba.compat.matlab.tree_bagger import TreeBagger

__all__ = [
    "ClassificationEnsemble",
    "ClassificationTree",
    "GMDistribution",
    "PartitionedModel",
    "RegressionTree",
    "TreeBagger",
    "fitcensemble",
    "fitctree",
    "fitgmdist",
    "fitrtree",
    "kmeans",
    "predict",
    "prune",
    "templateTree",
    "view",
]
