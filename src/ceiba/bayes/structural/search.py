"""Greedy search of a structure by BICd, from the empty network.

References
----------
Santafe, Lozano & Larranaga (2005), "Discriminative learning of Bayesian network classifiers via
the TM algorithm", ECSQARU.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from ceiba._typing import Array
from ceiba.base.iterations import Iterations
from ceiba.bayes.structural.scores import Fit, SearchRows, StructureScorer, empty_fit
from ceiba.bayes.structural.screening import screen_moves
from ceiba.bayes.structural.states import Move, State, pair_moves, single_moves

# A later move must be better by this, and so must the first be better than the present state.
_TIE = 1e-4


@dataclass(frozen=True)
class SearchConfig:
    """Settings of the search.

    Parameters
    ----------
    moves : "single" or "pairs"
    screen : int or None
        Number of moves per step that are fitted; None for all.
    """

    moves: Literal["single", "pairs"] = "single"
    screen: int | None = 3

    def candidates(self, state: State, features: Sequence[int]) -> list[Move]:
        """Return the moves from a state, in the order that breaks ties."""
        found: Iterable[Move] = single_moves(state, features)
        if self.moves == "pairs":
            found = chain(found, pair_moves(state, features))
        return list(found)


@dataclass(frozen=True, eq=False)
class SearchStep:
    """One state of the path: the move to it, its score, and what the step cost."""

    move: Move | None
    fit: Fit
    d: int
    bicd: float
    n_candidates: int
    n_fits: int


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Path of the search from the empty state, and the losses without each feature.

    Parameters
    ----------
    steps : list of SearchStep
    n_last_candidates, n_last_fits : int
        Moves from the last state, none of which improved the score.
    losses : ndarray of shape (n_features,)
        How much lower the largest conditional log-likelihood is without a feature.
    """

    steps: list[SearchStep]
    n_last_candidates: int
    n_last_fits: int
    losses: Array

    @property
    def state(self) -> State:
        """The state found."""
        return self.steps[-1].fit.state


def search_structure(
    data: SearchRows, config: SearchConfig, iterations: Iterations
) -> SearchResult:
    """Take the best move from the empty state until none improves BICd.

    ``iterations`` reports progress, and may end the search.
    """
    scorer = StructureScorer(data)
    features = [j for j, n in enumerate(data.n_observed) if n > 1]
    start = empty_fit(data)
    scorer.fits[start.state] = start
    steps = [SearchStep(None, start, scorer.d(start.state), scorer.bicd(start.state), 0, 0)]
    iterations.record(bicd=steps[0].bicd, conditional_log_likelihood=start.log_likelihood)
    n_candidates = n_fits = 0
    for iteration in iterations:
        last = steps[-1]
        moves = config.candidates(last.fit.state, features)
        n_candidates = len(moves)
        if config.screen is not None:
            moves = screen_moves(scorer, last.fit, moves, config.screen)
        n_fits = scorer.fit([move.state for move in moves], last.fit)
        best = _best_move(scorer, moves, last.bicd)
        if best is None:
            break
        fit, bicd = scorer.fits[best.state], scorer.bicd(best.state)
        steps.append(SearchStep(best, fit, scorer.d(best.state), bicd, n_candidates, n_fits))
        n_candidates = n_fits = 0
        iteration.record(bicd=bicd, conditional_log_likelihood=fit.log_likelihood)
    return SearchResult(steps, n_candidates, n_fits, _losses(scorer, steps[-1].fit))


def _best_move(scorer: StructureScorer, moves: Sequence[Move], bicd: float) -> Move | None:
    best = None
    for move in moves:
        score = scorer.bicd(move.state)
        if score > bicd + _TIE:
            best, bicd = move, score
    return best


def _losses(scorer: StructureScorer, fit: Fit) -> Array:
    """Return how much likelihood is lost without each feature of a state."""
    features = sorted(fit.state.features)
    without = [fit.state.minus(feature) for feature in features]
    scorer.fit(without, fit)
    losses = np.zeros(len(scorer.data.sizes))
    for feature, state in zip(features, without, strict=True):
        losses[feature] = max(fit.log_likelihood - scorer.fits[state].log_likelihood, 0.0)
    return losses
