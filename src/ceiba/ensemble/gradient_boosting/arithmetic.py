"""The written-out arithmetic of one split of gradient boosting.

    T(G)  = sign(G) max(|G| - reg_alpha, 0)
    score = T(G)^2 / (H + reg_lambda)
    gain  = score(left) + score(right) - score(node)
    step  = -T(G) / (H + reg_lambda)
    value = learning rate * step

G and H are the sums of the gradients and Hessians of a node. Where H of a leaf is less than
min_child_weight, as rounding allows, the difference is added. Steps may be limited: by a line
search with a logarithmic link, by the bounds of monotonic_cst. With method='gradient' the Hessians
are the weights of the rows, nothing is regularized, and a step is a line search. Chen & Guestrin
(2016), "XGBoost: a scalable tree boosting system", KDD.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.tree.explain.conditions import branch_text
from ceiba.tree.model.tree import Tree

# Relative differences of steps that are computed from the same sums.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class NodeArithmetic:
    """The numbers of a node or a branch.

    Parameters
    ----------
    node, n_rows : int
    gradient, hessian : ndarray of shape (n_outputs,)
        G and H as histograms have them, from which splits are scored; one entry unless the tree
        has the values of all classes in its leaves.
    score : float
        Sum of the scores of the outputs; under monotonic constraints that of the limited value.
    leaf_gradient, leaf_hessian : float or None
        G and H of a leaf, of gradients rounded to 2^-50 of the largest one (2^-42 with a million
        rows); None for other nodes, and where the step is a line search.
    step, value : float or None
        Step of a leaf, and its value in the model.
    added_hessian : float
        What is added to H of a leaf, because it is less than min_child_weight.
    limit : {'line search', 'monotonic_cst'} or None
        What limits the step, so that it is not -T(G) / (H + reg_lambda).
    """

    node: int
    n_rows: int
    gradient: Array
    hessian: Array
    score: float
    leaf_gradient: float | None = None
    leaf_hessian: float | None = None
    step: float | None = None
    value: float | None = None
    added_hessian: float = 0.0
    limit: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SplitArithmetic:
    """The arithmetic of one split; ``print`` shows it line by line.

    Parameters
    ----------
    title, formula : str
        The split, and the formula of scores with its parameters.
    node, left, right : NodeArithmetic
    gain : float
        score(left) + score(right) - score(node) - correction: the gain that the model has.
    correction : float
        Expected gain of that many random categories, which is subtracted; 0 for other columns.
    rate : float
        Factor of the steps: the learning rate, or less with dropout.
    unit : float
        Gradients are divided by it, and steps multiplied: 1 unless targets are huge or tiny.
    """

    title: str
    formula: str
    node: NodeArithmetic
    left: NodeArithmetic
    right: NodeArithmetic
    gain: float
    correction: float
    rate: float
    unit: float

    def __repr__(self) -> str:
        """Return the lines of the arithmetic."""
        parts = {"node": self.node, "left": self.left, "right": self.right}
        lines = [self.title, self.formula]
        for name, part in parts.items():
            for k, (gradient, hessian) in enumerate(zip(part.gradient, part.hessian, strict=True)):
                label = name if len(part.gradient) == 1 else f"{name}, output {k}"
                sums = f"G = {_text(gradient)}, H = {_text(hessian)}"
                lines.append(f"{label}: {part.n_rows} rows, {sums}")
            lines[-1] += f", score = {_text(part.score)}"
        lines.append(self._gain_text())
        lines += [self._branch_text(name, parts[name]) for name in ("left", "right")]
        return "\n".join(lines)

    def _gain_text(self) -> str:
        terms = f"{_text(self.left.score)} + {_text(self.right.score)} - {_text(self.node.score)}"
        if self.correction:
            terms += f" - {_text(self.correction)} (by chance)"
        return f"gain = {terms} = {_text(self.gain)}"

    def _branch_text(self, name: str, part: NodeArithmetic) -> str:
        if part.step is None or part.value is None:
            return f"{name}: node {part.node} is split again"
        value = f"value = {_text(self.rate)} * {_text(part.step)} = {_text(part.value)}"
        if part.leaf_gradient is None or part.leaf_hessian is None:
            return f"{name}: leaf {part.node}, step = {_text(part.step)} (line search), {value}"
        sums = f"G = {_text(part.leaf_gradient)}, H = {_text(part.leaf_hessian)}"
        if part.added_hessian:
            sums += f" + {_text(part.added_hessian)} (min_child_weight)"
        unit = "" if self.unit == 1 else f" (times {_text(self.unit)})"
        limit = "" if part.limit is None else f" (limited by {_LIMIT_TEXTS[part.limit]})"
        return f"{name}: leaf {part.node}, {sums}{unit}, step = {_text(part.step)}{limit}, {value}"


# What limits a step -> its name in the text.
_LIMIT_TEXTS = {"line search": "the line search", "monotonic_cst": "monotonic_cst"}


def _text(number: float) -> str:
    return f"{number:.6g}"


class _Scores:
    """Scores of gradient sums, as the search for splits computes them.

    ``bounds`` limit the values of the node under monotonic constraints, else None.
    """

    def __init__(self, reg_lambda: float, reg_alpha: float, bounds: Array | None) -> None:
        self.reg_lambda = reg_lambda
        self.reg_alpha = reg_alpha
        self.bounds = bounds

    def of(self, gradient: float, hessian: float) -> float:
        """Return the score of one output."""
        size, weight = max(abs(gradient) - self.reg_alpha, 0.0), hessian + self.reg_lambda
        if weight <= 0:
            return 0.0
        if self.bounds is None:
            return size / weight * size
        value = float(np.clip(-np.copysign(size, gradient) / weight, *self.bounds))
        return -(2 * gradient * value + weight * value**2 + 2 * self.reg_alpha * abs(value))

    def step(self, gradient: float, hessian: float) -> float:
        """Return the step without bounds."""
        size, weight = max(abs(gradient) - self.reg_alpha, 0.0), hessian + self.reg_lambda
        return -float(np.copysign(size / weight, gradient)) if weight > 0 else 0.0

    def formula(self) -> str:
        """Return the formula of a score, with its parameters."""
        size = f"max(|G| - {_text(self.reg_alpha)}, 0)" if self.reg_alpha else "G"
        weight = f"(H + {_text(self.reg_lambda)})" if self.reg_lambda else "H"
        if self.bounds is None:
            return f"score = {size}^2 / {weight}"
        low, high = map(_text, self.bounds)
        penalty = f" + {_text(2 * self.reg_alpha)} |v|" if self.reg_alpha else ""
        return f"score = -(2 G v + {weight} v^2{penalty}), v in [{low}, {high}] of the best score"


def split_arithmetic(
    frame: Any, tree: Tree, gain: float, learner: Any, output: int, node: int
) -> SplitArithmetic:
    """Return the arithmetic of a split from the frame of its round, and the split's gain."""
    sums, bounds, unit = frame["node_sums"], frame["node_bounds"], float(frame["unit"])
    is_vector = sums.shape[1] > 1
    begin, k = (0, output) if is_vector else (int(frame["first_nodes"][output]), 0)
    scores = _Scores(0.0, 0.0, None if bounds is None else bounds[begin + node])
    min_weight = 0.0
    if learner.method == "newton":
        scores.reg_lambda = float(learner.reg_lambda)
        scores.reg_alpha = float(learner.reg_alpha) / unit
        min_weight = float(learner.min_child_weight)

    def of(part: int) -> NodeArithmetic:
        gradient, hessian = sums[begin + part].T
        score = sum(map(scores.of, gradient.tolist(), hessian.tolist()))
        leaf: dict[str, Any] = {}
        if tree.is_leaf[part]:
            step, value = frame["leaf_steps"][begin + part, k], tree.prediction_values[part, 0]
            leaf = {"step": float(step), "value": float(value)}
            leaf_sums = frame["leaf_sums"][begin + part]
            if not np.isnan(leaf_sums).any():
                leaf["leaf_gradient"], leaf["leaf_hessian"] = leaf_sums[k].tolist()
                added = max(min_weight - float(leaf_sums[:, 1].mean()), 0.0)
                own = None if bounds is None else bounds[begin + part]
                leaf["added_hessian"] = added
                newton = scores.step(leaf_sums[k, 0], leaf_sums[k, 1] + added)
                leaf["limit"] = _limit(float(step) / unit, newton, own)
        return NodeArithmetic(part, int(tree.n_rows[part]), gradient, hessian, score, **leaf)

    left, right = tree.children(node)
    parts = of(node), of(left), of(right)
    split = tree.split(node)
    column = tree.schema[split.column]
    # The gain of a column of many categories is lowered by what so many reach by chance.
    corrected = bool(split.branches) and len(column.categories) > _native.FEW_CATEGORIES
    by_chance = parts[1].score + parts[2].score - parts[0].score - gain if corrected else 0.0
    title = (
        f"round {frame['round']}, output {output}, node {node}: left if "
        f"{branch_text(split, 0, column)}, right if {branch_text(split, 1, column)}"
    )
    rate = float(frame["rate"]) if not learner.dropout else _rate(frame, tree, begin, k)
    return SplitArithmetic(title, scores.formula(), *parts, gain, by_chance, rate, unit)


def _limit(step: float, newton: float, bounds: Array | None) -> str | None:
    """Return what limits the step of a leaf, None for a Newton step."""
    if math.isclose(step, newton, rel_tol=_ROUNDING):
        return None
    if bounds is None or not math.isclose(step, np.clip(newton, *bounds), rel_tol=_ROUNDING):
        return "line search"
    return "monotonic_cst"


def _rate(frame: Any, tree: Tree, begin: int, k: int) -> float:
    """Return the factor of the steps of a tree that dropout may have scaled since its round."""
    steps = frame["leaf_steps"][begin : begin + tree.n_nodes, k]
    largest = int(np.nanargmax(np.abs(steps)))
    step = float(steps[largest])
    return float(tree.prediction_values[largest, 0]) / step if step else float(frame["rate"])
