"""Predictions of a tree or of a bag of trees."""

from __future__ import annotations

from typing import Any

from ceiba._typing import Array
from ceiba.compat.matlab.fitted_tree import ClassificationTree, FittedTree, RegressionTree
from ceiba.compat.matlab.tree_bagger import TreeBagger


def predict(
    tree: FittedTree | TreeBagger, X: Any, *pairs: Any, nargout: int = 1, **named: Any
) -> Any:
    """Predict rows, and return the nodes at which they end.

    Parameters
    ----------
    tree : ClassificationTree, RegressionTree or TreeBagger
        For a bag see `TreeBagger.predict`, which has other outputs.
    X : array, frame or Table
        Rows with the columns of training; those of a frame are found by name.
    *pairs, **named
        Options of a bag; a tree has none.
    nargout : int
        Number of outputs: ``label = predict(tree, X)`` has one, and
        ``[label, score] = predict(tree, X)`` is ``label, score = predict(tree, X, nargout=2)``.

    Returns
    -------
    label : ndarray
        Predicted class or number of each row.
    score : ndarray of shape (n_rows, k)
        Probabilities of the classes, in the order of ``tree.ClassNames``; classification only.
    node : ndarray of int
        Number, from 1, of the node at which each row ends. For a regression tree it is the second
        output.
    cnum : ndarray of int
        Number, from 1, of the predicted class; classification only.

    Examples
    --------
    >>> from ceiba.compat.matlab import fitctree, predict
    >>> tree = fitctree([[0.0]] * 5 + [[1.0]] * 5, ["no"] * 5 + ["yes"] * 5)
    >>> label, score, node, cnum = predict(tree, [[0.2], [0.9], [float("nan")]], nargout=4)
    >>> label.tolist(), node.tolist(), cnum.tolist()
    (['no', 'yes', 'no'], [2, 3, 1], [1, 2, 1])
    """
    if isinstance(tree, TreeBagger):
        return tree.predict(X, *pairs, nargout=nargout, **named)
    if pairs or named:
        raise ValueError("options of predict have no effect with a single tree: leave them out.")
    outputs = _outputs(tree, X)
    if isinstance(nargout, bool) or nargout not in range(1, len(outputs) + 1):
        raise ValueError(f"nargout must be an int in [1, {len(outputs)}], got {nargout!r}.")
    return outputs[0] if nargout == 1 else outputs[:nargout]


def _outputs(tree: FittedTree, X: Any) -> tuple[Array, ...]:
    if isinstance(tree, ClassificationTree):
        node = tree.apply(X)
        class_index = tree.class_index[node]
        labels, scores = tree.ClassNames[class_index], tree.ClassProbability[node]
        return labels, scores, node + 1, class_index + 1
    if isinstance(tree, RegressionTree):
        node = tree.apply(X)
        return tree.NodeMean[node], node + 1
    raise TypeError(
        f"tree must come from fitctree or fitrtree, or be a TreeBagger, got {type(tree).__name__}."
    )
