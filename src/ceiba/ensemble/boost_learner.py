"""Fitting the learner of a round: any estimator, to weighted rows or to rows drawn by weight."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from ceiba.ensemble.boost_voices import Voice
from ceiba.ensemble.bootstrap import Sampling
from ceiba.ensemble.members import blaming, member_seed, seeded, takes_weights
from ceiba.ensemble.training_rows import TrainingRows
from ceiba.stats.points import Array


class RoundLearner(Protocol):
    """Learns from rows that are the same in every round, and weighted anew."""

    def learn(self, weights: Array, number: int) -> tuple[Any, Array]:
        """The member of a round, numbered from 0, and what it says of every row."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class AnyLearner:
    """Copies of an estimator, fitted through its own ``fit``.

    Parameters
    ----------
    estimator : estimator
    training : TrainingRows
        Rows of positive weight.
    voice : Voice
    seed : int
        Seed of the committee.
    draws : bool
        Whether rows are drawn by weight.
    threads : int
    params : dict
        Metadata for ``fit``.
    """

    estimator: Any
    training: TrainingRows
    voice: Voice
    seed: int
    draws: bool
    threads: int
    params: dict[str, Any] = field(default_factory=dict)

    def learn(self, weights: Array, number: int) -> tuple[Any, Array]:
        """Fit a copy."""
        seed = member_seed(self.seed, number)
        member = seeded(self.estimator, seed)
        rows, weight = self._drawn(weights, seed) if self.draws else (None, weights)
        data, target = self.training.rows, self.training.labels
        params = _check_method_params(data.data, self.params, rows)
        if weight is not None:
            params["sample_weight"] = weight
        with in_round(number, "could not be fitted"):
            member.fit(data.part(rows), target if rows is None else target[rows], **params)
        with in_round(number, "could not predict"):
            return member, self.voice.of(member, data.data, self.threads)

    def _drawn(self, weights: Array, seed: int) -> tuple[Array, Array | None]:
        """Rows drawn by weight: once with a weight, or as often as drawn if it takes none."""
        sampling = drawing(weights)
        if not accepts_weights(self.estimator):
            return sampling.drawn(seed), None
        counts = sampling.counts(seed)
        rows = np.flatnonzero(counts)
        return rows, counts[rows].astype(np.float64)


def in_round(number: int, failure: str) -> AbstractContextManager[None]:
    """Tell what goes wrong inside as the failure of a round's member; rounds count from 1."""
    return blaming(f"the member of round {number + 1} {failure}")


def drawing(weights: Array) -> Sampling:
    """As many draws as rows, by weight, with replacement."""
    return Sampling.of(len(weights), weights, len(weights), True)


def accepts_weights(estimator: Any) -> bool:
    """Whether ``fit`` can be given weights."""
    return bool(has_fit_parameter(estimator, "sample_weight")) or takes_weights(estimator)


def check_weights(estimator: Any) -> None:
    """Refuse an estimator that cannot be given weights."""
    if not accepts_weights(estimator):
        raise ValueError(
            f"{type(estimator).__name__} takes no sample_weight, by which rounds tell their rows "
            "apart: set by='draws' to draw rows by weight instead"
        )
