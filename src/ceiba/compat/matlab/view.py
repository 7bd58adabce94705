"""A tree as text or picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ceiba.compat.matlab.fitted_tree import ClassificationTree, FittedTree, RegressionTree
from ceiba.compat.matlab.name_value import NameValue


def view(tree: FittedTree, *pairs: Any, **named: Any) -> Any:
    """Print a tree as MATLAB does, with a line for each node, or draw it.

    Parameters
    ----------
    tree : ClassificationTree or RegressionTree
    *pairs, **named
        ``Mode``: "text" prints, "graph" draws by `ceiba.plots.tree`, whose nodes are numbered from
        0.

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
    return draw(tree.tree, classes=classes)


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
