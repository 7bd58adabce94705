"""The fate of one node: which candidates are allowed, which stand for their columns, which wins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from tests.oracles.lecture_candidates import candidates, known_weight
from tests.oracles.lecture_sums import gain, impurity, split_info
from tests.oracles.tree_impurity import is_pure, together, weight
from tests.oracles.tree_naive import least_rows

# Quinlan's tolerance below the mean gain, and the levels, as a share of all rows, that are many.
BELOW_MEAN = 1e-3
MANY = Fraction(3, 10)
MOST_OF_CUT = 25
# Bits that are none: what entropies of equal shares differ by is rounding.
NO_BITS = 1e-9


def is_short(number):
    """Whether a number is a short binary fraction: sums of such are exact in floating point."""
    below = Fraction(number).denominator
    return below <= 2**20 and below & (below - 1) == 0


@dataclass(frozen=True)
class Scored:
    """A candidate: its gain, that gain after the correction, and the score that this makes.

    ``rank`` is the score before the correction, by which the cuts of one column are compared.
    """

    candidate: object
    raw: float
    gain: float
    score: float
    rank: float


@dataclass(frozen=True)
class Verdict:
    """A reason to stop, or "split" and the candidates that may win; ``best[0]`` by exact rules."""

    reason: str
    best: list = field(default_factory=list)


@dataclass(frozen=True)
class Judge:
    """A node and how to take numbers that only rounding tells apart.

    With ``lean`` 1 what is about equal counts as above, with -1 as below, with 0 as it is; gains
    nearer to 0 than ``near`` times the impurity are about 0.
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
        return self.problem.there(self.node)

    @cached_property
    def slack(self):
        own = float(impurity(self.options.criterion, self.target, self.node.rows))
        return self.near * (own or 1.0)

    def at_least(self, one, other):
        """Whether one size reaches another; rounding has no say if both are short fractions."""
        if self.lean == 0 or (is_short(one) and is_short(other)):
            return one >= other
        return float(one) >= float(other) - self.lean * self.near * float(max(one, other))

    # Sizes

    def size(self, rows):
        """Rows, or where rows come in parts their weight."""
        if self.options.missing == "fractional":
            return weight(self.target, rows)
        return len(rows)

    def is_large(self, rows):
        least = least_rows(self.options.min_samples_leaf, len(self.problem.rows), 1)
        heavy = Fraction(self.options.min_weight_fraction_leaf) * self.problem.weight
        own = weight(self.target, rows)
        if self.options.criterion == "poisson" and not any(self.target.values[i] for i in rows):
            return False  # a mean of 0 leaves no room for any count
        return self.at_least(self.size(rows), least) and self.at_least(own, heavy)

    def is_allowed(self, candidate):
        branches = [branch for branch in candidate.branches if branch]
        large = sum(self.is_large(branch) for branch in branches)
        of_two = candidate.test.method in ("multiway", "intervals")
        of_two = of_two and self.options.leaf_rule == "two"
        if large < (2 if of_two else len(branches)):
            return False
        return not candidate.is_cut or self.has_cut_share(candidate)

    def has_cut_share(self, candidate):
        if self.options.cut_share == 0:
            return True
        known = float(known_weight(self.target, candidate))
        least = min(MOST_OF_CUT, self.options.cut_share * known / self.target.n_classes)
        return all(self.at_least(weight(self.target, side), least) for side in candidate.known)

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
        """Bits that it takes to say which of a column's cuts was chosen, per weight of the node."""
        cuts = {c.test.cuts for c in found if c.is_cut}
        if not self.options.mdl_correction or not cuts:
            return 0.0
        return math.log2(len(cuts)) / float(weight(self.target, self.node.rows))

    def standing(self, found):
        """The candidates of a column that may stand for it: one, or those that tie."""
        cost = self.correction(found)
        scores = [self.scored(c, cost) for c in found]
        key = (lambda s: s.gain) if self.options.gain_guard else (lambda s: s.rank)
        least = max((key(s) for s in scores), default=0.0) - self.slack
        best = [s for s in scores if key(s) >= least]
        if self.options.mdl_correction:
            best = [s for s in best if self.is_gain(s.gain, self.slack)]
        return best + [
            self.scored(c, cost) for s in best for more in s.candidate.other for c in more
        ]

    def is_gain(self, found, least=NO_BITS):
        return found > (-least if self.lean > 0 else least)

    def guarded(self, columns):
        """Quinlan's guard: only what gains about as much as the columns do on average."""
        columns = {
            place: [s for s in found if self.is_gain(s.gain) and self.is_gain(s.score)]
            for place, found in columns.items()
        }
        columns = {place: found for place, found in columns.items() if found}
        counted = [f[0].gain for place, f in columns.items() if not self.is_left_out(place)]
        if not counted:
            return {}
        least = math.fsum(counted) / len(counted) - BELOW_MEAN - self.lean * self.slack
        kept = {place: [s for s in f if s.gain >= least] for place, f in columns.items()}
        return {place: found for place, found in kept.items() if found}

    def is_left_out(self, place):
        """Whether a column has so many levels that it would spoil the mean."""
        many = [self.has_many_levels(column) for column in self.problem.columns]
        return many[place] and not all(many)

    def has_many_levels(self, column):
        return column.kind == "nominal" and len(column.labels) >= MANY * len(self.problem.rows)

    def winners(self, columns):
        """Candidates that no column is certain to beat, in the order of the columns."""
        sure = {place: min(s.score for s in found) for place, found in columns.items()}
        return [
            s
            for place, found in columns.items()
            for s in found
            if all(s.score >= sure[other] - self.slack for other in sure if other != place)
        ]

    # The verdict

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
        least = least_rows(options.min_samples_split, len(self.problem.rows), 2)
        return "min_samples_split" if len(rows) < least else None

    def verdict(self):
        reason = self.early_reason()
        if reason:
            return Verdict(reason)
        found = candidates(self.problem, self.node, self.is_large)
        allowed = {place: [c for c in f if self.is_allowed(c)] for place, f in found.items()}
        if not any(allowed.values()):
            return Verdict(self.reason_of_none(found))
        found = allowed
        columns = {place: self.standing(f) for place, f in found.items()}
        columns = {place: f for place, f in columns.items() if f}
        if self.options.gain_guard:
            columns = self.guarded(columns)
        if not columns:
            return Verdict("no_gain")
        best = self.winners(columns)
        return Verdict(self.worth(best[0]), best)

    def reason_of_none(self, found):
        """Why a node has no candidate; intervals may have cost more than they tell."""
        varied = self.options.splits == "intervals" and self.any_varies(found)
        if varied and self.options.n_intervals is None:
            return "no_gain"
        return "min_samples_leaf" if varied or any(found.values()) else "no_split"

    def any_varies(self, places):
        """Whether a numeric column tells the node's rows apart."""
        columns = [self.problem.columns[place] for place in places]
        numeric = [column for column in columns if column.kind != "nominal"]
        return any(len({c.values[i] for i in self.node.rows} - {None}) > 1 for c in numeric)

    def worth(self, chosen):
        """ "split" if the gain, weighed by the share of rows that it is for, is large enough."""
        least = self.options.min_impurity_decrease
        share = float(weight(self.target, self.node.rows)) / float(self.problem.weight)
        return "split" if least == 0 or share * chosen.raw >= least else "min_impurity_decrease"
