"""Choose the split of one node: allowed candidates, the best of each column, the best of all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tests.oracles.preset_candidates import candidates, known_weight
from tests.oracles.preset_sums import gain, impurity, split_info
from tests.oracles.tree_impurity import is_pure, together, weight
from tests.oracles.tree_naive import min_rows

# Quinlan's tolerance below the mean gain, and the fraction of rows that is many categories.
BELOW_MEAN = 1e-3
MANY = Fraction(3, 10)
MAX_SIDE_WEIGHT = 25
# Bits below which a gain is zero: entropies of equal fractions differ by rounding.
NO_BITS = 1e-9


def is_short(number):
    """Return whether a number is a short binary fraction, so that floating-point sums are exact."""
    below = Fraction(number).denominator
    return below <= 2**20 and below & (below - 1) == 0


@dataclass(frozen=True)
class Scored:
    """A candidate with its gain, the corrected gain, and the score.

    ``rank`` is the score before the correction, by which the thresholds of one column are
    compared.
    """

    candidate: object
    raw: float
    gain: float
    score: float
    rank: float


@dataclass(frozen=True)
class Decision:
    """A reason to stop, or "split" with the possible winners; ``best[0]`` is the exact one."""

    reason: str
    best: list = field(default_factory=list)


@dataclass(frozen=True)
class SplitChooser:
    """Choose the split of a node, with a convention for numbers that differ by rounding.

    With ``lean`` 1 a nearly equal number counts as above, with -1 as below, with 0 as it is; gains
    closer to 0 than ``near`` times the impurity are nearly 0.
    """

    problem: object
    node: object
    lean: int = 0
    near: float = 1e-12

    @property
    def options(self):
        return self.problem.options

    @cached_property
    def target(self):
        return self.problem.node_target(self.node)

    @cached_property
    def slack(self):
        own = float(impurity(self.options.criterion, self.target, self.node.rows))
        return self.near * (own or 1.0)

    def at_least(self, one, other):
        """Return whether one size is at least another, exactly if both are short fractions."""
        if self.lean == 0 or (is_short(one) and is_short(other)):
            return one >= other
        return float(one) >= float(other) - self.lean * self.near * float(max(one, other))

    # Sizes

    def size(self, rows):
        """Return the number of rows, or of fractional rows their weight."""
        if self.options.missing == "fractional":
            return weight(self.target, rows)
        return len(rows)

    def is_large(self, rows):
        minimum = min_rows(self.options.min_samples_leaf, len(self.problem.rows), 1)
        heavy = Fraction(self.options.min_weight_fraction_leaf) * self.problem.weight
        own = weight(self.target, rows)
        if self.options.criterion == "poisson" and not any(self.target.values[i] for i in rows):
            return False  # a mean of 0 allows no positive count
        return self.at_least(self.size(rows), minimum) and self.at_least(own, heavy)

    def is_allowed(self, candidate):
        branches = [branch for branch in candidate.branches if branch]
        large = sum(self.is_large(branch) for branch in branches)
        of_two = candidate.test.method in ("multiway", "intervals")
        of_two = of_two and self.options.min_leaf_branches == "two"
        if large < (2 if of_two else len(branches)):
            return False
        return not candidate.is_threshold or self.has_min_fraction(candidate)

    def has_min_fraction(self, candidate):
        if self.options.min_split_fraction == 0:
            return True
        known = float(known_weight(self.target, candidate))
        minimum = min(
            MAX_SIDE_WEIGHT, self.options.min_split_fraction * known / self.target.n_classes
        )
        return all(self.at_least(weight(self.target, side), minimum) for side in candidate.known)

    # Scores

    def scored(self, candidate, correction=0.0):
        options, rows = self.options, self.node.rows
        raw = float(gain(options.criterion, self.target, rows, candidate.branches))
        found = raw - correction
        if options.criterion != "gain_ratio":
            return Scored(candidate, raw, found, found, raw)
        counted = rows if options.missing == "fractional" else together(candidate.branches)
        info = split_info(self.target, counted, candidate.branches)
        return Scored(candidate, raw, found, found / info, raw / info)

    def correction(self, found):
        """Return the bits that name one of a column's thresholds, per weight of the node."""
        thresholds = {c.test.thresholds for c in found if c.is_threshold}
        if not self.options.mdl_correction or not thresholds:
            return 0.0
        return math.log2(len(thresholds)) / float(weight(self.target, self.node.rows))

    def standing(self, found):
        """Return the best candidates of a column: one, or those that tie."""
        cost = self.correction(found)
        scores = [self.scored(c, cost) for c in found]
        key = (lambda s: s.gain) if self.options.above_average_gain else (lambda s: s.rank)
        minimum = max((key(s) for s in scores), default=0.0) - self.slack
        best = [s for s in scores if key(s) >= minimum]
        if self.options.mdl_correction:
            best = [s for s in best if self.is_gain(s.gain, self.slack)]
        return best + [
            self.scored(c, cost) for s in best for more in s.candidate.other for c in more
        ]

    def is_gain(self, found, minimum=NO_BITS):
        return found > (-minimum if self.lean > 0 else minimum)

    def guarded(self, columns):
        """Keep the columns of about average gain or more (Quinlan)."""
        columns = {
            index: [s for s in found if self.is_gain(s.gain) and self.is_gain(s.score)]
            for index, found in columns.items()
        }
        columns = {index: found for index, found in columns.items() if found}
        counted = [f[0].gain for index, f in columns.items() if not self.is_left_out(index)]
        if not counted:
            return {}
        minimum = math.fsum(counted) / len(counted) - BELOW_MEAN - self.lean * self.slack
        kept = {index: [s for s in f if s.gain >= minimum] for index, f in columns.items()}
        return {index: found for index, found in kept.items() if found}

    def is_left_out(self, index):
        """Return whether a column has too many categories to count in the mean."""
        many = [self.has_many_categories(column) for column in self.problem.columns]
        return many[index] and not all(many)

    def has_many_categories(self, column):
        return column.kind == "nominal" and len(column.labels) >= MANY * len(self.problem.rows)

    def winners(self, columns):
        """Return the candidates that no other column certainly beats, in column order."""
        sure = {index: min(s.score for s in found) for index, found in columns.items()}
        return [
            s
            for index, found in columns.items()
            for s in found
            if all(s.score >= sure[other] - self.slack for other in sure if other != index)
        ]

    # The decision

    def early_reason(self):
        options, rows = self.options, self.node.rows
        if not rows:
            return "empty"
        if is_pure(self.target, rows):
            return "pure"
        if impurity(options.criterion, self.target, rows) <= options.min_impurity_split:
            return "impurity"
        if self.node.depth == options.max_depth:
            return "max_depth"
        minimum = min_rows(options.min_samples_split, len(self.problem.rows), 2)
        return "min_samples_split" if len(rows) < minimum else None

    def decision(self):
        reason = self.early_reason()
        if reason:
            return Decision(reason)
        found = candidates(self.problem, self.node, self.is_large)
        allowed = {index: [c for c in f if self.is_allowed(c)] for index, f in found.items()}
        if not any(allowed.values()):
            return Decision(self.reason_of_none(found))
        found = allowed
        columns = {index: self.standing(f) for index, f in found.items()}
        columns = {index: f for index, f in columns.items() if f}
        if self.options.above_average_gain:
            columns = self.guarded(columns)
        if not columns:
            return Decision("no_gain")
        best = self.winners(columns)
        return Decision(self.gain_reason(best[0]), best)

    def reason_of_none(self, found):
        """Return the reason why a node has no candidate; intervals may cost more than they gain."""
        varied = self.options.splits == "intervals" and self.any_varies(found)
        if varied and self.options.n_intervals is None:
            return "no_gain"
        return "min_samples_leaf" if varied or any(found.values()) else "no_split"

    def any_varies(self, indices):
        """Return whether a numeric column varies in the node."""
        columns = [self.problem.columns[index] for index in indices]
        numeric = [column for column in columns if column.kind != "nominal"]
        return any(len({c.values[i] for i in self.node.rows} - {None}) > 1 for c in numeric)

    def gain_reason(self, chosen):
        """Return "split" if the gain, weighted by the node's fraction of rows, is large enough."""
        minimum = self.options.min_impurity_decrease
        fraction = float(weight(self.target, self.node.rows)) / float(self.problem.weight)
        return (
            "split" if minimum == 0 or fraction * chosen.raw >= minimum else "min_impurity_decrease"
        )
