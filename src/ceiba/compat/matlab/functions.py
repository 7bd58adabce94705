"""Functions of a fitted tree: predict, prune, view."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.ensemble import ClassificationEnsemble
from ceiba.compat.matlab.fitted_tree import ClassificationTree, FittedTree, RegressionTree
from ceiba.compat.matlab.name_value import NameValue
from ceiba.compat.matlab.tree_bagger import TreeBagger

# Options of predict that only bags have, or nothing.
_UNSUPPORTED = {
    "Subtrees": "prune the tree first, as in predict(prune(tree, Level=1), X)",
    "Trees": "it has no effect with a single tree",
    "TreeWeights": "it has no effect with a single tree",
}
_Fitted = TypeVar("_Fitted", bound=FittedTree)


def predict(
    tree: FittedTree | TreeBagger | ClassificationEnsemble,
    X: Any,
    *pairs: Any,
    nargout: int = 1,
    **named: Any,
) -> Any:
    """Predict rows, and return the nodes at which they end.

    Parameters
    ----------
    tree : ClassificationTree, RegressionTree, ClassificationEnsemble or TreeBagger
        For a bag see `TreeBagger.predict`, which has other outputs; an ensemble has two.
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
    NameValue.read("predict", (), pairs, named, _UNSUPPORTED)
    if not isinstance(tree, FittedTree | ClassificationEnsemble):
        raise TypeError(
            "tree must come from fitctree, fitrtree or fitcensemble, or be a TreeBagger, got "
            f"{type(tree).__name__}."
        )
    return tree.predict(X, nargout=nargout)


def prune(tree: _Fitted, *pairs: Any, **named: Any) -> _Fitted:
    """Prune a tree to a step of its pruning sequence, to an alpha, or at some nodes.

    Parameters
    ----------
    tree : ClassificationTree or RegressionTree
        It is not changed.
    *pairs, **named
        One of the options below, as ``"Level", 1`` or ``Level=1``; without any the same tree is
        returned, with its pruning sequence shown.

    Returns
    -------
    ClassificationTree or RegressionTree
        Its nodes are numbered anew, and its pruning sequence starts at 0 again.

    Other Parameters
    ----------------
    Level : int
        Pruning step: 0 for the whole tree, up to ``max(tree.PruneList)`` for its root.
    Alpha : float
        Prune to the last step whose ``PruneAlpha`` is not above it.
    Nodes : array of int
        Numbers of nodes, from 1, that become leaves.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.compat.matlab import fitctree, prune
    >>> meas, species = datasets.load("iris", as_frame=True)
    >>> tree = fitctree(meas.to_numpy(), species)
    >>> [prune(tree, Level=k).NumNodes for k in range(5)]
    [9, 7, 5, 3, 1]

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
    """
    if not isinstance(tree, FittedTree):
        raise TypeError(f"tree must come from fitctree or fitrtree, got {type(tree).__name__}.")
    options = NameValue.read("prune", ("Level", "Alpha", "Nodes"), pairs, named)
    if not options.given:
        return replace(tree, Prune=True)
    if len(options.given) > 1:
        raise ValueError(f"prune takes one of Level, Alpha and Nodes, got {list(options.given)}.")
    if "Nodes" in options.given:
        return tree.collapse(_inner_nodes(tree, options.of("Nodes")))
    if "Level" in options.given:
        step = options.count("Level", 0, 0)
        if step >= tree.path.n_steps:
            raise ValueError(f"Level must be an int in [0, {tree.path.n_steps - 1}], got {step}.")
    else:
        step = tree.path.step_at(options.number("Alpha", 0.0))
    return tree.collapse(tree.path.pruned_nodes(step))


def _inner_nodes(tree: FittedTree, given: Any) -> Array:
    """Return the listed nodes that are not leaves, numbered from 0."""
    listed = np.atleast_1d(np.asarray(given)).tolist()
    for node in listed:
        is_int = isinstance(node, Integral) and not isinstance(node, bool)
        if not is_int or not 1 <= node <= tree.NumNodes:
            raise ValueError(f"Nodes must list ints in [1, {tree.NumNodes}], got {node!r}.")
    nodes = np.array(listed, np.int64) - 1
    return nodes[~tree.tree.is_leaf[nodes]]


def view(tree: FittedTree, *pairs: Any, **named: Any) -> Any:
    """Print a tree as MATLAB does, with a line for each node, or draw it.

    Parameters
    ----------
    tree : ClassificationTree or RegressionTree
    *pairs, **named
        ``Mode``: "text" prints, "graph" draws by `ceiba.plots.tree`. Both number the nodes from 1.

    Returns
    -------
    Figure or None
        The picture; None if the tree was printed.

    Examples
    --------
    >>> from ceiba.compat.matlab import fitctree, view
    >>> view(fitctree([[0.0]] * 5 + [[1.0]] * 5, ["no"] * 5 + ["yes"] * 5))
    Decision tree for classification
    1  if x1<0.5 then node 2 elseif x1>=0.5 then node 3 else no
    2  class = no
    3  class = yes
    """
    if not isinstance(tree, ClassificationTree | RegressionTree):
        raise TypeError(f"tree must come from fitctree or fitrtree, got {type(tree).__name__}.")
    options = NameValue.read("view", ["Mode"], pairs, named)
    if options.word("Mode", ["text", "graph"], "text") == "text":
        print("\n".join(_lines(tree)))
        return None
    from ceiba.plots.trees.tree import tree as draw

    classes = tree.ClassNames.tolist() if isinstance(tree, ClassificationTree) else None
    return draw(tree.tree, classes=classes, first_number=1)


def _lines(tree: FittedTree) -> Iterator[str]:
    word, predictions = _predictions(tree)
    yield f"Decision tree for {'classification' if word == 'class' else 'regression'}"
    width, children = len(str(tree.NumNodes)), tree.Children.tolist()
    for node, prediction in enumerate(predictions):
        first, second = children[node]
        text = f"{word} = {prediction}"
        if first:
            left, right = _conditions(tree, node)
            text = f"if {left} then node {first} elseif {right} then node {second}"
            text += f" else {prediction}"
        yield f"{node + 1:>{width}}  {text}"


def _predictions(tree: FittedTree) -> tuple[str, list[str]]:
    """Return the word for a prediction, and the prediction of each node as text."""
    if isinstance(tree, ClassificationTree):
        return "class", [str(label) for label in tree.NodeClass.tolist()]
    assert isinstance(tree, RegressionTree)
    return "fit", [f"{mean:g}" for mean in tree.NodeMean.tolist()]


def _conditions(tree: FittedTree, node: int) -> tuple[str, str]:
    name = tree.PredictorNames[int(tree.tree.column[node])]
    if tree.CutCategories[node] != ((), ()):
        left, right = (" ".join(map(str, group)) for group in tree.CutCategories[node])
        return f"{name} in {{{left}}}", f"{name} in {{{right}}}"
    threshold = f"{float(tree.tree.threshold[node]):g}"
    return f"{name}<{threshold}", f"{name}>={threshold}"
