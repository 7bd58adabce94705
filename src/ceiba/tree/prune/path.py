"""Cost-complexity path: Breiman's nested subtrees, by weakest-link pruning of the risk R(t)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ceiba import _native
from ceiba._repr import fields_repr
from ceiba._typing import Array
from ceiba.tree.model.subtrees import frames_from_columns, min_above, subtree_sums
from ceiba.tree.model.tree import Tree

Risk = Literal["impurity", "error"]

# Effective alphas that differ by less than this fraction of the root's risk are equal.
_RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class PathStep:
    """One pruning step of a cost-complexity path: the subtree for a range of alpha.

    It is the best from the effective ``alpha`` on; ``risk`` is its resubstitution risk, as a
    fraction of the root's weight.
    """

    step: int
    alpha: float
    n_leaves: int
    risk: float


@dataclass(frozen=True, eq=False)
class CostComplexityPath:
    """Nested sequence of subtrees of minimal cost-complexity.

    Step 0 is the grown tree and the last step its root alone. The subtree of step k is the smallest
    one that minimizes risk + alpha * n_leaves for every alpha in ``[alphas[k], alphas[k + 1])``.

    Parameters
    ----------
    alphas : ndarray of shape (n_steps,)
        Effective alphas in ascending order; the first is 0.
    n_leaves : ndarray of shape (n_steps,)
    risks : ndarray of shape (n_steps,)
        Resubstitution risk of each subtree, as a fraction of the root's weight.
    collapsed_at : ndarray of shape (n_nodes,)
        Step at which the node becomes a leaf: 0 for leaves of the grown tree, ``n_steps`` where an
        ancestor becomes a leaf first.
    risk : {"impurity", "error"}
    removed_at : ndarray of shape (n_nodes,)
        Step at which an ancestor of the node becomes a leaf; ``n_steps`` for the root.
    replaced_by : ndarray of shape (n_nodes,)
        That ancestor; -1 for the root.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier().fit(iris.table, iris.y)
    >>> path = cost_complexity_path(model.tree_, "error")
    >>> [(step.n_leaves, round(step.alpha, 4)) for step in path]
    [(9, 0.0), (7, 0.0033), (4, 0.0067), (3, 0.0133), (2, 0.2933), (1, 0.3333)]
    >>> path.step_at(0.02), path.pruned_nodes(3)
    (3, array([3, 4], dtype=int32))
    """

    alphas: Array
    n_leaves: Array
    risks: Array
    collapsed_at: Array
    risk: str
    removed_at: Array = field(repr=False)
    replaced_by: Array = field(repr=False)
    _node_risks: Array = field(repr=False)

    __repr__ = fields_repr

    @property
    def n_steps(self) -> int:
        """Number of subtrees in the sequence."""
        return len(self.alphas)

    def __len__(self) -> int:
        return self.n_steps

    def __iter__(self) -> Iterator[PathStep]:
        columns = (self.alphas.tolist(), self.n_leaves.tolist(), self.risks.tolist())
        for step, numbers in enumerate(zip(*columns, strict=True)):
            yield PathStep(step, *numbers)

    def step_at(self, alpha: float) -> int:
        """Return the step whose subtree is the best for an alpha."""
        if not alpha >= 0:
            raise ValueError(f"alpha must be a number >= 0, got {alpha!r}.")
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1

    def pruned_nodes(self, step: int) -> Array:
        """Return the inner nodes of the grown tree that are leaves at a step, ascending."""
        self._check_step(step)
        became_leaf = (self.collapsed_at > 0) & (self.collapsed_at <= step)
        return np.flatnonzero(became_leaf & (step < self.removed_at)).astype(np.int32)

    def frames(self, step: int) -> list[dict[str, Any]]:
        """Return a trace frame for each node that becomes a leaf, in order, up to a step."""
        self._check_step(step)
        collapsed_at, removed_at, replaced_by = self.collapsed_at, self.removed_at, self.replaced_by
        ever_leaf = collapsed_at < removed_at
        replaced = ever_leaf & (replaced_by >= 0)
        n, risks = len(collapsed_at), self._node_risks[replaced]
        n_merged = np.bincount(replaced_by[replaced], minlength=n)
        risk_before = np.bincount(replaced_by[replaced], risks, minlength=n)
        nodes = np.flatnonzero(ever_leaf & (collapsed_at > 0) & (collapsed_at <= step))
        nodes = nodes[np.lexsort((-nodes, collapsed_at[nodes]))]
        return frames_from_columns(
            {
                "node": nodes,
                "step": collapsed_at[nodes],
                "alpha": self.alphas[collapsed_at[nodes]],
                "risk_before": risk_before[nodes],
                "risk_after": self._node_risks[nodes],
                "n_leaves": self.n_leaves[0] - np.cumsum(n_merged[nodes] - 1),
            }
        )

    def _check_step(self, step: int) -> None:
        if not 0 <= step < self.n_steps:
            raise ValueError(
                f"the pruning step must be an int in [0, {self.n_steps - 1}], got {step}."
            )


def cost_complexity_path(tree: Tree, risk: Risk = "impurity") -> CostComplexityPath:
    """Compute the cost-complexity pruning path of a grown tree.

    Parameters
    ----------
    tree : Tree
    risk : {"impurity", "error"}
        Resubstitution risk of a leaf: its impurity times its fraction of the weight, or the
        fraction of the weight that it misclassifies.

    Returns
    -------
    CostComplexityPath

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
    """
    # A tree is immutable, and each choice among the steps of its path needs the path again.
    cache: dict[str, CostComplexityPath] = vars(tree).setdefault("_complexity_paths", {})
    if risk not in cache:
        risks = node_risks(tree, risk)
        alphas, collapsed_at = weakest_links(tree, risks)
        removed_at, replaced_by = _removals(tree.parent, collapsed_at, len(alphas))
        n_leaves, step_risks = _step_totals(collapsed_at, removed_at, risks, len(alphas))
        cache[risk] = CostComplexityPath(
            alphas, n_leaves, step_risks, collapsed_at, risk, removed_at, replaced_by, risks
        )
    return cache[risk]


def weakest_links(tree: Tree, risks: Array) -> tuple[Array, Array]:
    """Compute the effective alphas of a tree and the step that makes each node a leaf.

    ``risks`` are the resubstitution risks of the nodes as leaves. Alphas ascend from 0, for the
    grown tree; the step is 0 for leaves, and n_steps for nodes below one that becomes a leaf first.
    """
    tolerance = _RELATIVE_TOLERANCE * float(risks[0])
    node_alphas, is_weakest = _effective_alphas(tree, risks, tolerance)
    alphas: list[float] = []
    for alpha in np.sort(node_alphas[is_weakest]).tolist():
        if not alphas or alpha > alphas[-1] + tolerance:
            alphas.append(alpha)
    never = len(alphas) + 1
    step = np.searchsorted(alphas, node_alphas, side="right")
    on_path = node_alphas <= np.append(-np.inf, alphas)[step] + tolerance
    collapsed_at = np.where(on_path & ~tree.is_leaf, step, never)
    collapsed_at[collapsed_at > min_above(tree.parent, collapsed_at, never)] = never
    collapsed_at[tree.is_leaf] = 0
    return np.array([0.0, *alphas]), collapsed_at.astype(np.int32)


def _effective_alphas(tree: Tree, risks: Array, tolerance: float) -> tuple[Array, Array]:
    """Compute the effective alpha of each node, and which collapse before their ancestors."""
    no_gain = _subtrees_without_gain(tree, risks, tolerance)
    node_alphas, weakest_nodes = _native.tree_weakest_links(
        np.ascontiguousarray(risks), np.ascontiguousarray(tree.child), tree.n_branches,
        ~tree.is_leaf & ~no_gain, tolerance,
    )  # fmt: skip
    is_weakest = no_gain.copy()
    is_weakest[weakest_nodes] = True
    return np.where(no_gain, 0.0, node_alphas), is_weakest


def _subtrees_without_gain(tree: Tree, risks: Array, tolerance: float) -> Array:
    """Mark inner nodes whose whole subtree does not lower the risk."""
    subtree_risks = subtree_sums(tree, risks)
    n_leaves = subtree_sums(tree, np.ones(tree.n_nodes))
    return np.asarray(~tree.is_leaf & (risks - subtree_risks <= tolerance * (n_leaves - 1)))


def _removals(parent: Array, collapsed_at: Array, n_steps: int) -> tuple[Array, Array]:
    """Return the step that removes each node, and the ancestor that then becomes a leaf."""
    n = len(parent)
    key = collapsed_at.astype(np.int64) * n + np.arange(n)
    # Among the ancestors that collapse first, the smallest index is the topmost node.
    first = min_above(parent, key, n_steps * n)
    never = first >= n_steps * n
    return np.where(never, n_steps, first // n), np.where(never, -1, first % n)


def _step_totals(
    collapsed_at: Array, removed_at: Array, risks: Array, n_steps: int
) -> tuple[Array, Array]:
    """Sum leaves and risk of the subtree of each step."""
    ever_leaf = collapsed_at < removed_at
    first, end = collapsed_at[ever_leaf], removed_at[ever_leaf]
    n, leaf_risks = n_steps + 1, risks[ever_leaf]
    n_leaves = np.bincount(first, minlength=n) - np.bincount(end, minlength=n)
    change = np.bincount(first, leaf_risks, n) - np.bincount(end, leaf_risks, n)
    return np.cumsum(n_leaves)[:-1], np.maximum(np.cumsum(change)[:-1], 0.0)


def node_risks(tree: Tree, risk: Risk = "impurity") -> Array:
    """Compute the resubstitution risk R(t) of every node (Breiman et al. 1984, section 3.2).

    "impurity": the node's impurity times its fraction of the weight, as in scikit-learn. "error":
    the fraction of the weight that the node misclassifies (with a cost matrix the cost of these
    errors), as in rpart. Regression trees always use the impurity.
    """
    if risk not in ("impurity", "error"):
        raise ValueError(f"risk must be 'impurity' or 'error', got {risk!r}.")
    total = float(tree.weight[0])
    if risk == "impurity" or not tree.is_classification:
        # With a cost matrix the impurities are those of altered class weights.
        costs = cost_matrix_of(tree)
        weight = tree.weight if costs is None else tree.node_values @ costs.sum(axis=1)
        return np.asarray(tree.impurity * (weight / weight[0]))
    return resubstitution_errors(tree, cost_matrix_of(tree)) / total


def resubstitution_errors(tree: Tree, costs: Array | None) -> Array:
    """Compute the training weight (or cost) that each node misclassifies."""
    if costs is not None:
        return np.asarray((tree.node_values @ costs).min(axis=1))
    # Summing the classes other than the majority gives an exact zero for pure nodes.
    rest: Array = tree.node_values.copy()
    rest[np.arange(tree.n_nodes), rest.argmax(axis=1)] = 0
    return np.asarray(rest.sum(axis=1))


def cost_matrix_of(tree: Tree) -> Array | None:
    """Return the cost matrix the tree was grown with, or None."""
    return tree.costs if len(tree.costs) else None


def normalized_costs(tree: Tree) -> Array | None:
    """Return the cost matrix scaled to a mean error cost of 1."""
    costs = cost_matrix_of(tree)
    n = tree.leaves.shape[1]
    return None if costs is None or n < 2 else costs * (n * (n - 1) / costs.sum())
