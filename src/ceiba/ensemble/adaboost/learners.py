"""Fitting the learner of a round: any estimator, to weighted rows or to rows drawn by weight."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import validate
from ceiba.engine import Engine
from ceiba.engine.local import LocalRows
from ceiba.ensemble.adaboost.predictions import Voice
from ceiba.ensemble.common.members import blaming, member_seed, seeded, takes_weights
from ceiba.ensemble.common.rows import TrainingRows
from ceiba.ensemble.common.sampling import STATE, Sampling, keyed
from ceiba.stats import TargetSurvey
from ceiba.stats.rows import Labelled
from ceiba.tree.base import DecisionTree, check_survey
from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.grow.encoding import Coding, RowSample
from ceiba.tree.grow.grower import SAMPLE_ROWS
from ceiba.tree.grow.statistics import places_of
from ceiba.tree.presets import options_of
from ceiba.tree.regressor import DecisionTreeRegressor


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


@dataclass(frozen=True, slots=True, eq=False)
class TreeLearner:
    """Copies of a tree, each equal to what its own ``fit`` would give for the weights of a round.

    With ``max_bins`` the bins are those of the weights before the first round.

    Parameters
    ----------
    model : DecisionTree
        Such as `grows_on_codes` says.
    rows : Labelled
        Rows of positive weight.
    engine : Engine
    voice : Voice
    seed : int
        Seed of the committee.
    draws : bool
        Whether rows are drawn by weight.
    coding : Coding
    codes : ndarray of shape (n_columns, n_rows)
    order : TreeOrder or None
        The rows of every column in order: every round's root looks at all of them again. None where
        rows are drawn. 30 stumps on 16,000 x 28 numbers take 1.6 times as long without it; below
        some 5,000 rows the root does not sort, and it makes no difference.
    """

    model: DecisionTree
    rows: Labelled
    engine: Engine
    voice: Voice
    seed: int
    draws: bool
    coding: Coding
    codes: Array
    order: Any = None

    @classmethod
    def of(
        cls, model: DecisionTree, rows: Labelled, engine: Engine, voice: Voice, seed: int,
        draws: bool,
    ) -> TreeLearner:  # fmt: skip
        """Code the table."""
        if model.max_bins is None:
            coding, codes = Coding.exact(rows.table, engine.threads)
        else:
            batch = LocalRows(rows, 0, engine.threads)
            sample = engine.reduce(batch, RowSample.of, SAMPLE_ROWS, seed)
            coding = Coding.of_bins(sample, model.max_bins, engine.threads)
            codes = coding.codes(rows.table, engine.threads)
        order = None if draws else _native.tree_presort(codes, coding.native(), engine.threads)
        return cls(model, rows, engine, voice, seed, draws, coding, codes, order)

    def learn(self, weights: Array, number: int) -> tuple[DecisionTree, Array]:
        """Grow a tree, and send the rows through it by their codes."""
        with in_round(number, "could not be fitted"):
            return self._grown(weights, member_seed(self.seed, number))

    def _grown(self, weights: Array, seed: int) -> tuple[DecisionTree, Array]:
        member = self._copy(seed)
        rows, codes = self._weighed(weights, seed)
        batch = LocalRows(rows, 0, self.engine.threads)
        survey = TargetSurvey.of(batch)
        check_survey(survey)
        schema, options = self.rows.table.schema, options_of(member)
        member._check_target(options, survey)
        grower = member._grower(self.engine, batch, schema, survey, options)
        targets = grower.fixed.targets(rows, ranks=grower.ranks)
        state = grower.finish(self.coding, codes, targets, order=self.order)
        grown = grower.packed(self.coding, state, self.rows.table, self.codes)
        member.__dict__.update(member._learnt(schema, survey, grown.tree))
        if self.draws:  # a row that was not drawn may lie between the two sides of a cut
            return member, self.voice.of(member, self.rows.table, self.engine.threads)
        places = places_of(grower.rules, state, codes, self.coding)
        number_of = np.empty(len(state.nodes), np.int32)
        number_of[grown.order] = np.arange(len(grown.order))
        return member, self.voice.of_leaves(member, number_of[places])

    def _copy(self, seed: int) -> DecisionTree:
        """What `seeded` gives; looking for random states takes longer than growing a small tree."""
        member = copy.copy(self.model)
        member.random_state = keyed(seed, STATE, 0) % 2**31
        return member

    def _weighed(self, weights: Array, seed: int) -> tuple[Labelled, Array]:
        """The rows of a round under its weights, or as often as drawn by them, and their codes."""
        rows = self.rows
        if not self.draws:
            return Labelled(rows.table, rows.target, weights), self.codes
        counts = drawing(weights).counts(seed)
        kept = np.flatnonzero(counts)
        drawn = counts[kept].astype(np.float64)
        taken = Labelled(rows.table.take(kept), rows.target.take(kept), drawn)
        return taken, np.ascontiguousarray(self.codes[:, kept])


def grows_on_codes(model: Any) -> bool:
    """Whether fitting an estimator is no more than growing a tree on ranks of all values.

    Examples
    --------
    >>> from ceiba.tree import DecisionTreeClassifier
    >>> grows_on_codes(DecisionTreeClassifier(max_depth=2))
    True
    >>> grows_on_codes(DecisionTreeClassifier(algorithm="c45"))
    False
    """
    if type(model) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return False
    validate(model)  # as its own fit would
    if model.trace or model.max_bins is not None or getattr(model, "cost_matrix", None) is not None:
        return False
    options = options_of(model)
    plain = options.thresholds == "midpoint" and options.gap_way == "branch"
    return plain and options.pruning == "none" and not options.collapse
