"""Fit the member of a boosting round to weighted or resampled rows."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import validate
from ceiba.engine import Engine
from ceiba.ensemble.common.base import (
    accepts_sample_weight,
    clone_with_seed,
    error_context,
    member_seed,
)
from ceiba.ensemble.common.sample_fit import SampleFitter
from ceiba.ensemble.common.sampling import STATE, RowSampler, keyed_bits
from ceiba.stats import TargetSummary
from ceiba.stats.labeled import LabeledRows
from ceiba.tree.base import DecisionTree
from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.encoding import ColumnEncoding
from ceiba.tree.grow.grower import encode_columns
from ceiba.tree.grow.statistics import nodes_of_rows
from ceiba.tree.regressor import DecisionTreeRegressor


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorFitter:
    """Fit clones of any estimator by its own ``fit``."""

    estimator: Any
    fitter: SampleFitter
    seed: int  # seed of the ensemble
    resample: bool  # whether rows are drawn by weight

    def fit_round(self, weights: Array, number: int) -> tuple[Any, None]:
        """Return the member of a round, counted from 0; the leaves of the rows are unknown."""
        seed = member_seed(self.seed, number)
        member = clone_with_seed(self.estimator, seed)
        rows, weight = self._rows(weights, seed)
        with round_context(number, "could not be fitted"):
            return self.fitter.fit(member, rows, weight), None

    def _rows(self, weights: Array, seed: int) -> tuple[Array | None, Array | None]:
        """Return rows and weights: all rows, or drawn ones with their counts, or repeated."""
        if not self.resample:
            return None, weights
        if not self.fitter.pass_weights:
            return weighted_sampler(weights).draw(seed), None
        return draw_counts(weights, seed)


def round_context(number: int, failure: str) -> AbstractContextManager[None]:
    """Prefix errors with the number of the round, counted from 1."""
    return error_context(f"the member of round {number + 1} {failure}")


def weighted_sampler(weights: Array) -> RowSampler:
    """Return a sampler that draws as many rows as there are, by weight."""
    return RowSampler.of(len(weights), weights, len(weights), True)


def draw_counts(weights: Array, seed: int) -> tuple[Array, Array]:
    """Draw rows by weight; return each drawn row once, and its count."""
    counts = weighted_sampler(weights).counts(seed)
    rows = np.flatnonzero(counts)
    return rows, counts[rows].astype(np.float64)


def accepts_weights(estimator: Any) -> bool:
    """Return whether ``fit`` has a parameter ``sample_weight``, or requests it."""
    # With metadata routing a member need not request sample_weight, which boosting computes
    # itself: a parameter of fit suffices.
    has_parameter = bool(has_fit_parameter(estimator, "sample_weight"))
    return has_parameter or accepts_sample_weight(estimator)


def check_accepts_weights(estimator: Any) -> None:
    """Raise if an estimator does not accept ``sample_weight``."""
    if not accepts_weights(estimator):
        raise ValueError(
            f"{type(estimator).__name__} doesn't support sample_weight, which "
            "reweighting='weights' requires: use reweighting='resampling'."
        )


@dataclass(frozen=True, slots=True, eq=False)
class TreeFitter:
    """Fit copies of a tree to columns that are encoded once for all rounds.

    Each copy equals the tree that ``fit`` grows. With ``max_bins`` all rounds have the bins of the
    initial weights.
    """

    tree: DecisionTree  # Ceiba's default tree, or one for which `can_share_encoding`
    rows: LabeledRows  # rows of positive weight
    engine: Engine
    seed: int  # seed of the ensemble
    resample: bool  # whether rows are drawn by weight
    encoding: ColumnEncoding
    codes: Array  # shape (n_columns, n_rows)
    # The rows sorted by each column, for the roots of all rounds; None if rows are drawn. Without
    # it 30 stumps on 16,000 rows of 28 columns take 1.6 times as long; below some 5,000 rows it
    # makes no difference, because the root does not sort.
    presorted: _native.PresortedRows | None = None

    @classmethod
    def of(
        cls, tree: DecisionTree, rows: LabeledRows, engine: Engine, seed: int, resample: bool
    ) -> TreeFitter:
        """Encode the table and sort the rows by each column."""
        encoding, codes = encode_columns(engine, rows, TreeConfig.from_estimator(tree), seed)
        presorted = None
        if not resample:
            presorted = _native.tree_presort(codes, encoding.native(), engine.threads)
        return cls(tree, rows, engine, seed, resample, encoding, codes, presorted)

    def fit_round(self, weights: Array, number: int) -> tuple[DecisionTree, Array | None]:
        """Return the tree of a round, counted from 0, and the leaf of each row, if known."""
        with round_context(number, "could not be fitted"):
            return self._grow(weights, member_seed(self.seed, number))

    def _grow(self, weights: Array, seed: int) -> tuple[DecisionTree, Array | None]:
        # This equals `clone_with_seed`, whose search for nested random states takes longer than
        # growing a small tree.
        member = copy.copy(self.tree)
        member.random_state = keyed_bits(seed, STATE, 0) % 2**31
        labeled, codes = self._weight_rows(weights, seed)
        rows = self.engine.prepared_rows(labeled)
        summary = self.engine.reduce(rows, TargetSummary.of)
        schema, config = self.rows.table.schema, TreeConfig.from_estimator(member)
        summary.require_rows()
        grower = member._make_grower(self.engine, rows, schema, summary, config)
        targets = grower.targets(labeled)
        state = grower.grow_encoded(self.encoding, codes, targets, presorted=self.presorted)
        result = grower.pack(self.encoding, state, self.rows.table, self.codes)
        member.__dict__.update(member._fitted_attributes(schema, summary, result.tree))
        if self.resample:
            # The threshold between two drawn codes may be on either side of a row that was not
            # drawn, so that codes do not determine its branch.
            return member, None
        nodes = nodes_of_rows(grower.growth, state, codes, self.encoding)
        tree_node = np.empty(len(state.nodes), np.int32)
        tree_node[result.state_nodes] = np.arange(len(result.state_nodes))
        return member, tree_node[nodes]

    def _weight_rows(self, weights: Array, seed: int) -> tuple[LabeledRows, Array]:
        """Return the weighted or drawn rows of a round, and their codes."""
        rows = self.rows
        if not self.resample:
            return LabeledRows(rows.table, rows.target, weights), self.codes
        drawn, weight = draw_counts(weights, seed)
        target = rows.target.take(drawn).without_unused_classes()
        labeled = LabeledRows(rows.table.take(drawn), target, weight)
        return labeled, np.ascontiguousarray(self.codes[:, drawn])


RoundFitter = EstimatorFitter | TreeFitter


def can_share_encoding(estimator: Any) -> bool:
    """Return whether ``fit`` does nothing but grow a tree on the ranks of the values."""
    if type(estimator) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return False
    validate(estimator)  # as its own fit would
    if estimator.trace or estimator.max_bins is not None:
        return False
    if getattr(estimator, "cost_matrix", None) is not None:
        return False
    config = TreeConfig.from_estimator(estimator)
    ranked = config.thresholds == "midpoint" and config.missing_routing == "branch"
    return ranked and not config.prunes
