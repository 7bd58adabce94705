"""What a tree, or a bag of trees, says of new rows."""

from __future__ import annotations

from typing import Any

from ceiba._typing import Array
from ceiba.compat.matlab.classification_tree import ClassificationTree
from ceiba.compat.matlab.fitted_tree import FittedTree
from ceiba.compat.matlab.regression_tree import RegressionTree
from ceiba.compat.matlab.tree_bagger import TreeBagger


def predict(
    tree: FittedTree | TreeBagger, X: Any, *pairs: Any, nargout: int = 1, **named: Any
) -> Any:
    """Predict rows, and say where they end.

    Parameters
    ----------
    tree : ClassificationTree, RegressionTree or TreeBagger
        For a bag see `TreeBagger.predict`: its outputs are others.
    X : array, frame or Table
        With the columns of training; of a frame they are found by name.
    *pairs, **named
        Options of a bag; a tree takes none.
    nargout : int
        How many outputs are wanted: ``label = predict(tree, X)`` has one, and
        ``[label, score] = predict(tree, X)`` is ``label, score = predict(tree, X, nargout=2)``.

    Returns
    -------
    label : ndarray
        The class of each row, or its number.
    score : ndarray of shape (n_rows, k)
        Probabilities of the classes, in the order of ``tree.ClassNames``. For classes alone.
    node : ndarray of int
        Number of the node at which each row ends, from 1. Of a regression tree it is the second
        output.
    cnum : ndarray of int
        Number of the predicted class, from 1. For classes alone.

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
        raise ValueError("predict takes options of a TreeBagger alone, not of a tree")
    outputs = _outputs(tree, X)
    if isinstance(nargout, bool) or nargout not in range(1, len(outputs) + 1):
        raise ValueError(f"nargout={nargout!r}: this tree has 1 to {len(outputs)} outputs")
    return outputs[0] if nargout == 1 else outputs[:nargout]


def _outputs(tree: FittedTree, X: Any) -> tuple[Array, ...]:
    if isinstance(tree, ClassificationTree):
        at = tree.nodes_of(X)
        number = tree.class_number[at]
        return tree.ClassNames[number], tree.ClassProbability[at], at + 1, number + 1
    if isinstance(tree, RegressionTree):
        at = tree.nodes_of(X)
        return tree.NodeMean[at], at + 1
    raise TypeError(
        f"tree must come from fitctree or fitrtree, or be a TreeBagger, not a {type(tree).__name__}"
    )
