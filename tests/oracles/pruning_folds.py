"""Cross-validation of cost-complexity paths, fold by fold and row by row.

Each step of a path stands for a range of alphas. Its error is that of the trees grown without each
fold, pruned at the geometric mean of the range, on the fold (Breiman et al. 1984, section 11.5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.oracles.pruning_complexity import weakest_links
from tests.oracles.pruning_nodes import inner, leaf_fractions, make_leaves
from tests.oracles.pruning_reduced import leaf_predictions, loss_of


@dataclass(frozen=True)
class CrossValidation:
    """Error of each step on rows not used to grow it, and its standard error."""

    errors: list
    standard_errors: list

    def choice(self, rule):
        """Return the smallest tree of minimum error, or within one standard error of it."""
        minimum = min(self.errors) * (1 + 1e-12)
        best = max(k for k, error in enumerate(self.errors) if error <= minimum)
        limit = minimum + (self.standard_errors[best] if rule == "one_se" else 0)
        return max(k for k, error in enumerate(self.errors) if error <= limit)


def geometric_means(alphas):
    """Return geometric means of neighboring alphas; the last range has no end."""
    ends = [*alphas[1:], math.inf]
    return [math.sqrt(a * b) if a else 0.0 for a, b in zip(alphas, ends, strict=True)]


def step_at_alpha(steps, alpha):
    """Return the last step whose effective alpha is not above an alpha."""
    return [step for step in steps if step.alpha <= alpha][-1]


def row_losses(alphas, fold, rows, data):
    """Return losses of rows at each alpha; ``fold`` has ``root``, ``risks`` and ``tolerance``."""
    steps = weakest_links(fold["root"], fold["risks"], fold["near"])
    predictions = leaf_predictions(fold["root"], data.costs)
    found = []
    for alpha in geometric_means(alphas):
        kept = step_at_alpha(steps, alpha).inner
        node = make_leaves(fold["root"], inner(fold["root"]) - kept)
        found.append([row_loss(node, predictions, data, i) for i in rows])
    return found


def row_loss(node, predictions, data, i):
    ends = leaf_fractions(node, data.rows[i], data.columns, data.fractional)
    y = data.targets[i]
    return float(
        sum(part * loss_of(predictions[leaf["node"]], y, data.costs) for leaf, part in ends)
    )


def cross_validate(losses, weights):
    """Return the weighted mean loss of each step, and its standard error."""
    total, errors, standard_errors = math.fsum(weights), [], []
    for each in losses:
        mean = math.fsum(w * x for w, x in zip(weights, each, strict=True)) / total
        squares = math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, each, strict=True))
        errors.append(mean)
        standard_errors.append(math.sqrt(squares / total / len(each)))
    return CrossValidation(errors, standard_errors)
