"""MATLAB's tree functions under their own names: an old lab script moves by its imports.

Options, their meaning and their defaults are those of MATLAB's ``fitctree``, ``fitrtree`` and
``TreeBagger``; the work is done by Ceiba's own trees and forests. What Python makes different:

- ``[label, score] = predict(tree, X)`` is ``label, score = predict(tree, X, nargout=2)``.
- Options may be given as in MATLAB, ``fitctree(X, Y, "MinLeafSize", 5)``, or as
  ``fitctree(X, Y, MinLeafSize=5)``. What is not taken is refused with what to use instead.
- Nodes, classes and columns are numbered from 1, as in MATLAB; an array of them is looked up in
  Python by its number minus 1: ``tree.NodeClass[node - 1]``.
- Cell arrays are lists, and vectors have one axis.
- Functions of a bag are its methods: ``oobError(bag)`` is ``bag.oobError()``.

Where the trees themselves may differ (ties, gaps in training) `fitctree` and `TreeBagger` say so.
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

from ceiba.compat.matlab.classification_tree import ClassificationTree
from ceiba.compat.matlab.fitctree import fitctree
from ceiba.compat.matlab.fitrtree import fitrtree
from ceiba.compat.matlab.predict import predict
from ceiba.compat.matlab.prune import prune
from ceiba.compat.matlab.regression_tree import RegressionTree
from ceiba.compat.matlab.tree_bagger import TreeBagger
from ceiba.compat.matlab.view import view

__all__ = [
    "ClassificationTree",
    "RegressionTree",
    "TreeBagger",
    "fitctree",
    "fitrtree",
    "predict",
    "prune",
    "view",
]
