"""Fit the member of a boosting round to weighted or resampled rows, and predict with it."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import validate
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.engine import Engine
from ceiba.ensemble.common.members import (
    accepts_sample_weight,
    clone_with_seed,
    error_context,
    member_seed,
)
from ceiba.ensemble.common.rows import TrainingData
from ceiba.ensemble.common.sampling import STATE, RowSampler, keyed_bits
from ceiba.ensemble.common.votes import member_probabilities, member_values, member_votes
from ceiba.stats import TargetSummary
from ceiba.stats.labeled import Labeled
from ceiba.tree.base import DecisionTree
from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.encoding import ColumnEncoding, RowSample
from ceiba.tree.grow.grower import SAMPLE_ROWS
from ceiba.tree.grow.statistics import nodes_of_rows
from ceiba.tree.regressor import DecisionTreeRegressor


@dataclass(frozen=True, slots=True, eq=False)
class ClassIndices:
    """The predicted class, as its index among the classes of the ensemble."""

    classes: Array

    def predict(self, member: Any, X: Any, threads: int) -> Array:
        """Return the class indices that a member predicts."""
        if is_tree_on_table(member, X):
            return self._to_ensemble_indices(member, member.tree_.predict_class(X, threads))
        indices: Array = member_votes(self.classes, {}, member, X).argmax(axis=1)
        return indices

    def predict_leaves(self, member: Any, leaf: Array) -> Array:
        """Return the class indices of a tree's leaves."""
        tree = member.tree_
        return self._to_ensemble_indices(member, tree.leaf_class[tree.child[leaf]])

    def _to_ensemble_indices(self, member: Any, indices: Array) -> Array:
        """Convert class indices of a member to class indices of the ensemble."""
        if member.classes_ is self.classes:
            return indices
        converted: Array = class_indices(member.classes_, self.classes)[indices]
        return converted


@dataclass(frozen=True, slots=True, eq=False)
class ClassProbabilities:
    """The predicted probability of each class of the ensemble."""

    classes: Array

    def predict(self, member: Any, X: Any, threads: int) -> Array:
        """Return the probabilities that a member predicts."""
        return member_probabilities(self.classes, {}, member, X)

    def predict_leaves(self, member: Any, leaf: Array) -> Array:
        """Return the probabilities of a tree's leaves."""
        predicted: Array = member.tree_.leaf_values(leaf)
        if member.classes_ is self.classes:
            return predicted
        probabilities = np.zeros((len(predicted), len(self.classes)))
        probabilities[:, class_indices(member.classes_, self.classes)] = predicted
        return probabilities


@dataclass(frozen=True, slots=True, eq=False)
class TargetValues:
    """The predicted number."""

    def predict(self, member: Any, X: Any, threads: int) -> Array:
        """Return the numbers that a member predicts."""
        if is_tree_on_table(member, X):
            values: Array = member.tree_.predict(X, threads)
            return values
        return member_values({}, member, X)

    def predict_leaves(self, member: Any, leaf: Array) -> Array:
        """Return the numbers of a tree's leaves."""
        values: Array = member.tree_.leaf_values(leaf)
        return values


# Forms of the members' predictions that boosting algorithms use.
PredictionMode = ClassIndices | ClassProbabilities | TargetValues


def is_tree_on_table(member: Any, X: Any) -> bool:
    """Return whether a member is one of Ceiba's trees and the rows are a table."""
    return isinstance(member, DecisionTree) and isinstance(X, Table)


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorFitter:
    """Fit clones of any estimator by its own ``fit``."""

    estimator: Any
    data: TrainingData  # rows of positive weight
    mode: PredictionMode
    seed: int  # seed of the ensemble
    resample: bool  # whether rows are drawn by weight
    threads: int
    params: dict[str, Any] = field(default_factory=dict)  # metadata for ``fit``

    def fit_round(self, weights: Array, number: int) -> tuple[Any, Array]:
        """Return the member of a round, counted from 0, and its predictions."""
        seed = member_seed(self.seed, number)
        member = clone_with_seed(self.estimator, seed)
        rows, weight = self._resample(weights, seed) if self.resample else (None, weights)
        data, labels = self.data.rows, self.data.labels
        params = _check_method_params(data.data, self.params, rows)
        if weight is not None:
            params["sample_weight"] = weight
        with round_context(number, "could not be fitted"):
            member.fit(data.select(rows), labels if rows is None else labels[rows], **params)
        with round_context(number, "could not predict"):
            return member, self.mode.predict(member, data.data, self.threads)

    def _resample(self, weights: Array, seed: int) -> tuple[Array, Array | None]:
        """Draw rows by weight; return them with their counts as weights, or repeated."""
        sampler = weighted_sampler(weights)
        if not _accepts_weights(self.estimator):
            return sampler.draw(seed), None
        counts = sampler.counts(seed)
        rows = np.flatnonzero(counts)
        return rows, counts[rows].astype(np.float64)


def round_context(number: int, failure: str) -> AbstractContextManager[None]:
    """Prefix errors with the number of the round, counted from 1."""
    return error_context(f"the member of round {number + 1} {failure}")


def weighted_sampler(weights: Array) -> RowSampler:
    """Return a sampler that draws as many rows as there are, by weight."""
    return RowSampler.of(len(weights), weights, len(weights), True)


def _accepts_weights(estimator: Any) -> bool:
    # With metadata routing, boosting passes weights even to members that do not request them.
    has_parameter = bool(has_fit_parameter(estimator, "sample_weight"))
    return has_parameter or accepts_sample_weight(estimator)


def check_accepts_weights(estimator: Any) -> None:
    """Raise if an estimator does not accept ``sample_weight``."""
    if not _accepts_weights(estimator):
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

    tree: DecisionTree  # a tree that `can_share_encoding`
    rows: Labeled  # rows of positive weight
    engine: Engine
    mode: PredictionMode
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
        cls, tree: DecisionTree, rows: Labeled, engine: Engine, mode: PredictionMode, seed: int,
        resample: bool,
    ) -> TreeFitter:  # fmt: skip
        """Encode the table and sort the rows by each column."""
        if tree.max_bins is None:
            encoding, codes = ColumnEncoding.of_ranks(rows.table, engine.threads)
        else:
            prepared = engine.prepared_rows(rows)
            sample = engine.reduce(prepared, RowSample.of, SAMPLE_ROWS, seed)
            encoding = ColumnEncoding.of_bins(sample, tree.max_bins, engine.threads)
            codes = encoding.encode(rows.table, engine.threads)
        presorted = None
        if not resample:
            presorted = _native.tree_presort(codes, encoding.native(), engine.threads)
        return cls(tree, rows, engine, mode, seed, resample, encoding, codes, presorted)

    def fit_round(self, weights: Array, number: int) -> tuple[DecisionTree, Array]:
        """Return the tree of a round, counted from 0, and its predictions."""
        with round_context(number, "could not be fitted"):
            return self._grow(weights, member_seed(self.seed, number))

    def _grow(self, weights: Array, seed: int) -> tuple[DecisionTree, Array]:
        # This equals `clone_with_seed`, whose search for nested random states takes longer than
        # growing a small tree.
        member = copy.copy(self.tree)
        member.random_state = keyed_bits(seed, STATE, 0) % 2**31
        labeled, codes = self._weight_rows(weights, seed)
        rows = self.engine.prepared_rows(labeled)
        summary = self.engine.reduce(rows, TargetSummary.of)
        schema, config = self.rows.table.schema, TreeConfig.from_estimator(member)
        member._check_target(config, summary)
        grower = member._make_grower(self.engine, rows, schema, summary, config)
        targets = grower.targets(labeled)
        state = grower.grow_encoded(self.encoding, codes, targets, presorted=self.presorted)
        result = grower.pack(self.encoding, state, self.rows.table, self.codes)
        member.__dict__.update(member._fitted_attributes(schema, summary, result.tree))
        if self.resample:
            # The threshold between two drawn codes may be on either side of a row that was not
            # drawn, so that codes do not determine its branch.
            return member, self.mode.predict(member, self.rows.table, self.engine.threads)
        nodes = nodes_of_rows(grower.growth, state, codes, self.encoding)
        tree_node = np.empty(len(state.nodes), np.int32)
        tree_node[result.state_nodes] = np.arange(len(result.state_nodes))
        return member, self.mode.predict_leaves(member, tree_node[nodes])

    def _weight_rows(self, weights: Array, seed: int) -> tuple[Labeled, Array]:
        """Return the weighted or drawn rows of a round, and their codes."""
        rows = self.rows
        if not self.resample:
            return Labeled(rows.table, rows.target, weights), self.codes
        counts = weighted_sampler(weights).counts(seed)
        drawn = np.flatnonzero(counts)
        weight = counts[drawn].astype(np.float64)
        labeled = Labeled(rows.table.take(drawn), rows.target.take(drawn), weight)
        return labeled, np.ascontiguousarray(self.codes[:, drawn])


RoundFitter = EstimatorFitter | TreeFitter


def can_share_encoding(estimator: Any) -> bool:
    """Return whether the column encoding can be shared by all rounds.

    That is so if ``fit`` does nothing but grow a tree on the ranks of the values.

    Examples
    --------
    >>> from ceiba.tree import DecisionTreeClassifier
    >>> can_share_encoding(DecisionTreeClassifier(max_depth=2))
    True
    >>> can_share_encoding(DecisionTreeClassifier(algorithm="c45"))
    False
    """
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
