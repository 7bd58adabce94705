"""Cross-validated cost complexity, fold by fold, row by row.

Each tree of the sequence stands for a range of alphas; its error is that of the folds' own trees at
the geometric mean of the range, on rows they did not see (Breiman et al. 1984, section 11.5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tests.oracles.pruning_complexity import weakest_links
from tests.oracles.pruning_nodes import cut, inner, pieces
from tests.oracles.pruning_reduced import loss_of, says


@dataclass(frozen=True)
class Judged:
    """Error of each level, by rows that did not grow it, and its standard error."""

    errors: list
    deviations: list

    def choice(self, rule):
        """The smallest tree of least error, or of not much more."""
        least = min(self.errors)
        at = max(k for k, error in enumerate(self.errors) if error <= least * (1 + 1e-12))
        most = least * (1 + 1e-12) + (self.deviations[at] if rule == "one_se" else 0)
        return max(k for k, error in enumerate(self.errors) if error <= most)


def middles(alphas):
    """Geometric means of neighbours; the last range has no end."""
    ends = [*alphas[1:], math.inf]
    return [math.sqrt(a * b) if a else 0.0 for a, b in zip(alphas, ends, strict=True)]


def tree_at(levels, alpha):
    """The last level that begins at or before an alpha."""
    return [level for level in levels if level.alpha <= alpha][-1]


def row_losses(alphas, fold, rows, data):
    """What rows cost at each alpha; ``fold`` is a tree: ``root``, ``risks`` and ``near``."""
    levels = weakest_links(fold["root"], fold["risks"], fold["near"])
    said = says(fold["root"], data.costs)
    found = []
    for alpha in middles(alphas):
        kept = tree_at(levels, alpha).inner
        node = cut(fold["root"], inner(fold["root"]) - kept)
        found.append([row_loss(node, said, data, i) for i in rows])
    return found


def row_loss(node, said, data, i):
    ends = pieces(node, data.rows[i], data.columns, data.shared)
    y = data.targets[i]
    return float(sum(part * loss_of(said[leaf["node"]], y, data.costs) for leaf, part in ends))


def judged(losses, weights):
    """Weighted mean of each level's losses, and the standard error of that mean."""
    total, errors, deviations = math.fsum(weights), [], []
    for each in losses:
        mean = math.fsum(w * x for w, x in zip(weights, each, strict=True)) / total
        squares = math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, each, strict=True))
        errors.append(mean)
        deviations.append(math.sqrt(squares / total / len(each)))
    return Judged(errors, deviations)
