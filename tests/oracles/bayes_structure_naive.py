"""Naive structural search: which features depend on the class, and which on each other.

A state is a set of features and a forest over them. Its score is the largest conditional
log-likelihood minus (log N) / 2 per free parameter. Arcs have no direction here: the posteriors
are the same for every root, and the lowest index is taken in the end.

References
----------
Santafé, G., Lozano, J. A. and Larrañaga, P. (2005). Discriminative learning of Bayesian network
classifiers via the TM algorithm. ECSQARU 2005.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import log

import numpy as np

from ceiba._typing import Array
from tests.oracles.bayes_naive import (
    Rows,
    Structure,
    forest_structure,
    informative_features,
    make_rows,
    n_parameters,
    posteriors,
)
from tests.oracles.bayes_optimizers_naive import fit_newton

Arc = tuple[int, int]
TIE = 1e-4  # a later move must be better by this


@dataclass(frozen=True)
class State:
    """Features of the model, and arcs (lower, higher) that form a forest over them."""

    features: frozenset[int] = frozenset()
    arcs: frozenset[Arc] = frozenset()

    def structure(self) -> Structure:
        return forest_structure(sorted(self.features), sorted(self.arcs))

    def with_features(self, *features: int) -> State:
        return State(self.features | set(features), self.arcs)

    def with_arc(self, i: int, j: int) -> State:
        return State(self.features, self.arcs | {(min(i, j), max(i, j))})


def collapse(rows: Rows) -> Rows:
    """Replace equal rows by one with the sum of their weights."""
    y = rows.Y.argmax(axis=1)
    cells, index = np.unique(np.column_stack([rows.X, y]), axis=0, return_inverse=True)
    w = np.bincount(index.ravel(), rows.w)
    return make_rows(cells[:, :-1], cells[:, -1], w, rows.categories, rows.n_classes)


def observed_categories(rows: Rows) -> list[int]:
    """Number of categories that occur in rows of positive weight."""
    X = rows.X[rows.w > 0]
    return [len(np.unique(column)) for column in X.T]


@dataclass
class Scorer:
    """Score states by BICd, each once."""

    rows: Rows
    scores: dict[State, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sizes = observed_categories(self.rows)
        self.few = collapse(self.rows)

    def n_parameters(self, state: State) -> int:
        return n_parameters(state.structure(), self.sizes, self.rows.n_classes)

    def bicd(self, state: State) -> float:
        """Largest CLL - (log N) / 2 * d, with d counting observed categories only."""
        if state not in self.scores:
            cll, _ = fit_newton(self.few, state.structure())
            self.scores[state] = cll - log(self.rows.total) / 2 * self.n_parameters(state)
        return self.scores[state]


# Moves


def tree_of(state: State, i: int) -> set[int]:
    """Features connected with i."""
    found, before = {i}, set[int]()
    while found != before:
        before = set(found)
        found |= {k for arc in state.arcs if found & set(arc) for k in arc}
    return found


def single_moves(state: State, features: list[int]) -> Iterator[State]:
    """Add a feature; then add an arc between two trees. In index order."""
    for i in features:
        if i not in state.features:
            yield state.with_features(i)
    for i, j in combinations(sorted(state.features), 2):
        if j not in tree_of(state, i):
            yield state.with_arc(i, j)


def pair_moves(state: State, features: list[int]) -> Iterator[State]:
    """Add a feature with an arc to one of the model; then add two features with their arc."""
    outside = [i for i in features if i not in state.features]
    for i in outside:
        for j in sorted(state.features):
            yield state.with_features(i).with_arc(i, j)
    for i, j in combinations(outside, 2):
        yield state.with_features(i, j).with_arc(i, j)


# Score test


def score_statistic(rows: Rows, P: Array, columns: list[int]) -> float:
    """Approximate gain of CLL from adding the cells of a feature, or of a pair, to the model.

    P (n, K) are the posteriors at the current optimum; with R = Y - P it is
    (K - 1) / (2 K) times the sum over classes and cells of (sum R)^2 / sum P (1 - P).
    """
    k = rows.n_classes
    _, cell = np.unique(rows.X[:, columns], axis=0, return_inverse=True)
    total = 0.0
    for s in range(cell.max() + 1):
        inside = cell.ravel() == s
        w = rows.w[inside, None]
        R = (w * (rows.Y - P)[inside]).sum(axis=0)
        V = (w * (P * (1 - P))[inside]).sum(axis=0)
        total += float((R[V > 0] ** 2 / V[V > 0]).sum())
    return (k - 1) / (2 * k) * total


def new_columns(old: State, new: State) -> list[int]:
    """Columns of the cells that a move adds: those of its arc, or its feature."""
    arcs = new.arcs - old.arcs
    return sorted(next(iter(arcs)) if arcs else new.features - old.features)


def screen_moves(
    scorer: Scorer, state: State, candidates: Iterable[State], top: int
) -> list[State]:
    """Keep the best moves by score statistic minus penalty, in their order."""
    rows, structure = scorer.few, state.structure()
    P = posteriors(fit_newton(rows, structure)[1], structure, rows.X)
    ranks = []
    for index, candidate in enumerate(candidates):
        d = scorer.n_parameters(candidate) - scorer.n_parameters(state)
        gain = score_statistic(rows, P, new_columns(state, candidate))
        ranks.append((-(gain - log(rows.total) / 2 * d), index, candidate))
    return [kept[2] for kept in sorted(sorted(ranks)[:top], key=lambda rank: rank[1])]


# Searches


@dataclass(frozen=True)
class Search:
    """Final state, its structure, parameters, BICd, and the BICd of every state passed."""

    state: State
    structure: Structure
    d: int
    bicd: float
    path: tuple[float, ...]


def move_lists(moves: str, state: State, features: list[int]) -> list[Iterable[State]]:
    """Lists of candidates, tried in turn: the next one only if the one before has no improvement.

    "single": single moves; "pairs": single and pair moves in one list; "pairs_last": pair moves
    only where no single move improves the score.
    """
    single, pairs = single_moves(state, features), pair_moves(state, features)
    if moves == "single":
        return [single]
    return [chain(single, pairs)] if moves == "pairs" else [single, pairs]


def greedy_search(
    rows: Rows, moves: str = "single", scorer: Scorer | None = None, screen: int | None = None
) -> Search:
    """Take the best move from the empty state until none improves the score.

    ``screen`` fits only that many moves at each state, those with the best score statistic.

    Ties go to the earlier move: a later one must be better by TIE, and so must the first be
    better than the current state.
    """
    scorer = Scorer(rows) if scorer is None else scorer
    features = informative_features(rows.X[rows.w > 0])
    state = State()
    path = [scorer.bicd(state)]
    while True:
        best, best_score = None, path[-1]
        for candidates in move_lists(moves, state, features):
            fitted = screen_moves(scorer, state, candidates, screen) if screen else candidates
            for candidate in fitted:
                score = scorer.bicd(candidate)
                if score > best_score + TIE:
                    best, best_score = candidate, score
            if best is not None:
                break
        if best is None:
            structure = state.structure()
            return Search(state, structure, scorer.n_parameters(state), path[-1], tuple(path))
        state = best
        path.append(best_score)


def all_states(features: list[int]) -> Iterator[State]:
    """Every set of the features with every forest over it: few features only."""
    subsets = chain.from_iterable(combinations(features, n) for n in range(len(features) + 1))
    for subset in subsets:
        pairs = list(combinations(subset, 2))
        for n in range(max(len(subset), 1)):
            for arcs in combinations(pairs, n):
                state = State(frozenset(subset), frozenset(arcs))
                if len({frozenset(tree_of(state, i)) for i in subset}) == len(subset) - n:
                    yield state


def exhaustive_search(rows: Rows, scorer: Scorer | None = None) -> tuple[State, float]:
    """Best state of all, the first of those within TIE."""
    scorer = Scorer(rows) if scorer is None else scorer
    best, best_score = State(), -np.inf
    for state in all_states(informative_features(rows.X[rows.w > 0])):
        if scorer.bicd(state) > best_score + TIE:
            best, best_score = state, scorer.bicd(state)
    return best, best_score
