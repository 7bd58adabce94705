"""A decision tree whose leaves predict several targets."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Any, NoReturn

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf
from ceiba.base.record import check_values
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import MAX_ROUNDING, check_leaf_rows, check_tree


def single_output_error(what: str, n_outputs: int) -> ValueError:
    """Return the error of something that exists for one target only."""
    return ValueError(
        f"{what} requires a model of one target, got one of {n_outputs}: fit a model for each "
        "column of y."
    )


def check_single_output(n_outputs: int, what: str) -> None:
    """Raise ValueError for a model of several outputs."""
    if n_outputs > 1:
        raise single_output_error(what, n_outputs)


@dataclass(frozen=True, eq=False)
class MultiOutputTree(Tree):
    """A decision tree of several outputs: one structure, and a vector for each leaf.

    ``leaves`` and ``node_values`` have the columns of all outputs, one output after another: for
    numbers one each, for classes one per class.

    Parameters
    ----------
    output_classes : ndarray of int64 of shape (n_outputs,)
        Number of classes of each output; 0 for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor
    >>> X = np.arange(4.0)[:, None]
    >>> tree = DecisionTreeRegressor().fit(X, np.column_stack([X > 1, 2 * X])).tree_
    >>> tree.n_outputs, tree.value.shape
    (2, (7, 2, 1))
    """

    output_classes: Annotated[Array, ArrayOf("int64", "n_outputs")] = field(
        default_factory=lambda: np.empty(0, np.int64)
    )

    def __repr__(self) -> str:
        return f"MultiOutput{super().__repr__()[:-1]}, {self.n_outputs} outputs)"

    @classmethod
    def of(cls, tree: Tree, means: Array, output_classes: Array) -> MultiOutputTree:
        """Add the mean targets of the nodes, class fractions or numbers, to a structure."""
        nodes, is_leaf = tree.nodes.copy(), tree.is_leaf
        view = NodeView(nodes)
        leaves, row = np.unique(means[is_leaf], axis=0, return_inverse=True)
        view.word[is_leaf] = 0
        view.child[is_leaf] = row.reshape(-1)
        values = means * tree.weight[:, None] if output_classes[0] else means
        structure = {entry.name: getattr(tree, entry.name) for entry in fields(Tree) if entry.init}
        new = {"nodes": nodes, "leaves": leaves, "node_values": values}
        return cls(**{**structure, **new}, output_classes=output_classes)

    @property
    def n_outputs(self) -> int:
        """Number of outputs: the columns of y."""
        return len(self.output_classes)

    @property
    def n_classes(self) -> Array:
        """Number of classes of each output; 1 for regression."""
        return np.maximum(self.output_classes, 1)

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of an output; 1 for regression."""
        return int(self.n_classes.max())

    @property
    def has_class_weights(self) -> bool:
        """Whether the values of the nodes are class weights rather than means."""
        return bool(self.output_classes[0])

    @property
    def value(self) -> Array:
        """Class fractions or means of each node: (n_nodes, n_outputs, max_n_classes).

        An output with fewer classes than another is filled with zeros, as in scikit-learn.
        """
        values = self.node_values
        if self.has_class_weights:
            values = values / self.weight[:, None]
        padded = np.zeros((self.n_nodes, self.n_outputs, self.max_n_classes))
        for k, part in enumerate(split_outputs(values, self.output_classes)):
            padded[:, k, : part.shape[1]] = part
        return padded

    def leaf_values(self, leaf: Array) -> Array:
        """Return the vectors of leaves, with the columns of all outputs."""
        return np.asarray(self.leaves[self.child[leaf]])

    @property
    def is_classification(self) -> bool:
        """Raise ValueError: what shows or converts a tree of one target has no form for several."""
        self._raise_single_output("is_classification")

    @property
    def prediction_values(self) -> Array:
        """Raise ValueError, as `is_classification`."""
        self._raise_single_output("prediction_values")

    def to_text(self, **options: Any) -> str:
        """Raise ValueError: the text of a tree shows one target."""
        self._raise_single_output("to_text()")

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Raise ValueError: the dictionary of a tree has one target."""
        self._raise_single_output("to_dict()")

    def _raise_single_output(self, what: str) -> NoReturn:
        raise single_output_error(what, self.n_outputs)

    def check(self) -> None:
        """Raise ValueError for arrays that contradict each other."""
        check_output_classes(self.output_classes, self.leaves.shape[1])
        check_tree(self, _check_vectors)


def _check_vectors(tree: Tree) -> None:
    """Check what the leaves of a tree predict."""
    assert isinstance(tree, MultiOutputTree)
    check_leaf_rows(tree)
    if tree.missing != "branch" or len(tree.costs):
        raise ValueError(
            "missing must be 'branch' and costs empty in a tree of several targets, got "
            f"{tree.missing!r} and costs of shape {tree.costs.shape}."
        )
    valid = np.isfinite(tree.weight) & (tree.weight > 0)
    check_values("weight", tree.weight, valid, "finite and positive")
    check_vectors("leaves", tree.leaves, tree.output_classes)


def check_output_classes(output_classes: Array, width: int) -> None:
    """Raise ValueError unless vectors of this width belong to the outputs."""
    classes = output_classes
    if len(classes) < 2 or (classes < 0).any() or (classes == 0).any() != (classes == 0).all():
        raise ValueError(
            "output_classes must be the numbers of classes of two or more outputs, or 0 for all of "
            f"them, got {classes.tolist()}."
        )
    if np.maximum(classes, 1).sum() != width:
        raise ValueError(
            f"output_classes must belong to leaves with {width} columns, got {classes.tolist()}."
        )


def check_vectors(name: str, vectors: Array, output_classes: Array) -> None:
    """Raise ValueError unless the vectors of leaves are numbers, or probabilities of classes."""
    check_values(name, vectors, np.isfinite(vectors), "finite")
    if not output_classes[0]:
        return
    check_values(name, vectors, vectors >= 0, "not negative")
    for part in split_outputs(vectors, output_classes):
        total = part.sum(axis=1)
        rule = "probabilities that sum to 1 in every output"
        check_values(name, total, np.abs(total - 1) <= MAX_ROUNDING, rule)


def split_outputs(values: Array, output_classes: Array) -> list[Array]:
    """Return the columns of each output."""
    ends = np.cumsum(np.maximum(output_classes, 1))
    return [np.ascontiguousarray(part) for part in np.split(values, ends[:-1], axis=1)]
