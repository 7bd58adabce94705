"""The rounds of gradient boosting.

    F = first scores
    for each round:
        F -= scores of the rounds dropped for this one                (dropout.py)
        g, h = derivatives of the loss at F                           (losses)
        rows = sample of the rows, with weights                       (row_sampling.py)
        for each output k:
            tree = tree grown from g_k and h_k, on these rows and the columns drawn for the tree
            step of each leaf = Newton step, or line search
            F_k += learning_rate * step of each row's leaf
        F += scaled scores of the dropped rounds

Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of Statistics
29. Chen & Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._native import GrowthOrder, NodeTest
from ceiba._typing import Array
from ceiba.base import Iteration, Iterations
from ceiba.data.sparse import SparseTable
from ceiba.data.table import Table
from ceiba.ensemble.gradient_boosting.dropout import (
    draw_dropped_rounds,
    dropout_factors,
    scale_trees,
)
from ceiba.ensemble.gradient_boosting.loss_history import LossHistory
from ceiba.ensemble.gradient_boosting.losses.base import Loss
from ceiba.ensemble.gradient_boosting.model import BoostedTrees, join_parts
from ceiba.ensemble.gradient_boosting.parameters import BoostingParameters
from ceiba.ensemble.gradient_boosting.row_sampling import RoundSample, sample_rows
from ceiba.ensemble.gradient_boosting.training_rows import ScoredRows
from ceiba.tree.config import n_drawn_columns
from ceiba.tree.constraints import resolve_interactions, resolve_monotonic
from ceiba.tree.grow.encoding import CodeValues, ColumnEncoding
from ceiba.tree.model.node_dtype import NodeView

_UNLIMITED = 2**62


def boosting_config(
    parameters: BoostingParameters, table: Table, unit: float
) -> _native.BoostingConfig:
    """Return the native config of the trees, for gradients in units."""
    config = _native.BoostingConfig()
    config.growth_order = GrowthOrder[parameters.growth.upper()]
    config.max_leaves = int(parameters.max_leaf_nodes or 0)
    config.max_depth = _UNLIMITED if parameters.max_depth is None else int(parameters.max_depth)
    config.min_rows = min(int(parameters.min_samples_leaf), len(table) + 1)
    config.min_split_gain = float(parameters.min_split_gain) / unit / unit
    config.category_smoothing = float(parameters.category_smoothing)
    n_tree_columns = n_drawn_columns(parameters.tree_features, len(table.schema))
    config.columns_per_node = n_drawn_columns(
        parameters.max_features, n_tree_columns or len(table.schema)
    )
    bits = parameters.gradient_bits
    config.gradient_bits = 0 if bits == "auto" else int(bits)
    if parameters.method == "newton":
        config.min_child_weight = float(parameters.min_child_weight)
        config.reg_lambda = float(parameters.reg_lambda)
        config.reg_alpha = float(parameters.reg_alpha) / unit
    monotonic = resolve_monotonic(parameters.monotonic_cst, table.schema)
    if monotonic is not None:
        config.monotonic = monotonic.tolist()
    interactions = resolve_interactions(parameters.interaction_cst, table.schema)
    if interactions is not None:
        config.interactions = [columns.tolist() for columns in interactions]
    return config


@dataclass(eq=False)
class ValidationRows:
    """Rows on which the loss is followed, and their raw scores so far."""

    table: Table
    y: Array
    weight: Array | None
    scores: Array  # (n_rows, n_outputs)
    _native_rows: _native.ForestRows | SparseTable | None = None

    @classmethod
    def of(cls, rows: ScoredRows, state: BoostingState) -> ValidationRows:
        """Return rows with their raw scores before the first round."""
        labeled = rows.labeled
        scores = rows.scores_before_fit(state.first_scores, state.previous, state.threads)
        y = np.asarray(labeled.target.values, np.float64)
        return cls(labeled.table, y, labeled.weight, scores)

    def add(self, trees: BoostedTrees, threads: int) -> None:
        """Add trees to the scores."""
        if self._native_rows is None:
            self._native_rows = trees.native_rows(self.table)
        trees.add_rounds(self._native_rows, 0, trees.n_rounds, self.scores, threads)

    def loss(self, loss: Loss) -> float:
        """Return the mean loss."""
        return loss.mean(self.y, np.ascontiguousarray(self.scores.T), self.weight)


@dataclass(eq=False)
class BoostingState:
    """The state of a fit: raw scores of all rows, and the trees so far.

    Parameters
    ----------
    parameters : BoostingParameters
    loss : Loss
        With the targets and weights of the rows.
    table : Table
    encoding, codes : ColumnEncoding, ndarray
        Bins of the columns, and the codes of the table.
    scores : ndarray of shape (n_outputs, n_rows)
        Raw scores, updated by each round.
    first_scores : ndarray of shape (n_outputs,)
        Constant part of those before the fit.
    seed, threads : int
    previous : BoostedTrees or None
        Trees of an earlier fit that this one continues.
    multi_output : bool
        Whether one tree per round has a value for every output in its leaves.
    """

    parameters: BoostingParameters
    loss: Loss
    table: Table
    encoding: ColumnEncoding
    codes: Array
    scores: Array
    first_scores: Array
    seed: int
    threads: int
    previous: BoostedTrees | None = None
    multi_output: bool = False
    parts: list[dict[str, Any]] = field(default_factory=list)  # trees of each round

    def __post_init__(self) -> None:
        config = boosting_config(self.parameters, self.table, self.loss.unit)
        self._growers = [
            _native.BoostingGrower(config, self.codes, self.encoding.native(), self.threads)
        ]
        edges: CodeValues | None = self.encoding.edges
        assert edges is not None
        self._code_values = edges.native(self.encoding.columns)
        self._is_monotonic = bool(config.monotonic)
        self.gradient = np.empty_like(self.scores)
        # With Friedman's method trees have unit Hessians, but a line search may need them.
        self._hessian = None if self.loss.constant_hessian else np.empty_like(self.scores)
        self._n_first = 0 if self.previous is None else self.previous.n_rounds
        self._native_rows: _native.ForestRows | SparseTable | None = None
        self.split_values: dict[str, Any] = {}  # of the last round, with trace
        self._rescaling: list[dict[str, Any]] = []  # what the last round added to dropped trees

    @property
    def n_rounds(self) -> int:
        """Number of rounds so far, those of an earlier fit included."""
        return self._n_first + len(self.parts)

    def resume(self, trees: BoostedTrees, scores: Array) -> None:
        """Continue after the rounds of a checkpoint, those of an earlier fit included."""
        self.previous, self._n_first = trees, trees.n_rounds
        self.scores[:] = scores

    def model(self) -> BoostedTrees:
        """Return the trees so far."""
        parts = list(self.parts)
        if self.previous is not None:
            if not parts:
                return self.previous
            parts.insert(0, _tree_arrays(self.previous))
        return BoostedTrees.of_parts(parts, self.first_scores, self.table.schema)

    def add_round(self) -> None:
        """Run one round: compute the gradients, grow the trees, update the scores."""
        parameters, number = self.parameters, self.n_rounds
        dropped = draw_dropped_rounds(parameters.dropout, self.seed, number)
        rate, dropped_factor = dropout_factors(len(dropped), float(parameters.learning_rate))
        if len(dropped):
            self._divide_previous()
            dropped_scores = self._scores_of_rounds(dropped)
            self.scores -= dropped_scores
        self.loss.gradients(self.scores, self.gradient, self._hessian)
        sample = sample_rows(
            parameters, self.seed, number, self.gradient, self._hessian, self.loss.weight
        )
        parts, split_values = [], []
        for grower, outputs in self._grow_trees(number, sample):
            steps = self._leaf_steps(grower, outputs, sample)
            values = rate * steps
            grower.add_values(values, self.scores[outputs])
            parts.append(grower.pack(self._code_values, values))
            if parameters.trace:
                split_values.append(self._trace_arrays(grower, parts[-1], outputs, sample, steps))
        self._scale_rounds(dropped, dropped_factor)
        if len(dropped):
            self.scores += dropped_factor * dropped_scores
        self.parts.append(parts[0] if len(parts) == 1 else join_parts(parts))
        if split_values:
            self.split_values = {
                "round": number, "rate": rate, "unit": self.loss.unit,
                **_join_values(split_values),
            }  # fmt: skip

    def _grow_trees(
        self, number: int, sample: RoundSample
    ) -> Iterator[tuple[_native.BoostingGrower, slice]]:
        """Grow the trees of a round, and yield the grower of each and the outputs of the tree.

        There is one tree per output, or one for all of them. While there are as many trees left as
        threads, each thread grows a tree of its own: threads that share a tree synchronize at every
        split (five classes, 100,000 rows, 63 leaves: 1.8 times as slow on two threads). Fewer trees
        are grown one after the other, each by all threads.
        """
        n_outputs = len(self.scores)
        n_trees = 1 if self.multi_output else n_outputs
        size = n_outputs // n_trees
        seeds = _native.tree_seeds(
            self.seed, np.arange(number * n_trees, (number + 1) * n_trees, dtype=np.uint64)
        )
        columns = self._drawn_columns(seeds)
        hessian = sample.hessian if self.parameters.method == "newton" else None
        begin = 0
        while begin < n_trees:
            together = self.threads if n_trees - begin >= self.threads else 1
            trees = slice(begin, begin + together)
            outputs = slice(begin * size, (begin + together) * size)
            while len(self._growers) < together:
                self._growers.append(self._growers[0].with_shared_codes())
            _native.grow_trees(
                self._growers[:together], sample.gradient[outputs],
                None if hessian is None else hessian[outputs], sample.weight, rows=sample.rows,
                columns=None if columns is None else columns[trees], seeds=seeds[trees],
            )  # fmt: skip
            for i in range(together):
                yield self._growers[i], slice((begin + i) * size, (begin + i + 1) * size)
            begin += together

    def trace_values(self) -> dict[str, Any]:
        """Return what the frame of the last round has beside the losses; nothing without trace.

        Values behind functions are recorded, but not printed with verbose.
        """
        if not self.parameters.trace:
            return {}
        part = self.parts[-1]
        # One tree for all outputs is stored once per output, with the same splits.
        end = part["tree_offsets"][1 if self.multi_output else -1]
        return {
            "gradient": self.gradient.copy,
            "n_leaves": int((NodeView(part["nodes"][:end]).kind == NodeTest.LEAF).sum()),
            "gain": float(part["node_gains"][:end].sum()),
            **{name: lambda value=value: value for name, value in self.split_values.items()},
        }

    def last_change(self) -> BoostedTrees:
        """Return trees whose sum is what the last round added to the raw scores.

        They are its own, and with dropout the differences of those that it rescaled.
        """
        zeros = np.zeros(len(self.scores))
        parts = [*self._rescaling, self.parts[-1]]
        return BoostedTrees.of_parts(parts, zeros, self.table.schema)

    def _leaf_steps(
        self, grower: _native.BoostingGrower, outputs: slice, sample: RoundSample
    ) -> Array:
        """Return the step of each leaf of the grower's tree, of shape (n_leaves, n_outputs).

        Times the learning rate, or less with dropout, it is the value of the leaf.
        """
        gradient, hessian = sample.derivatives_of(outputs)
        data = grower, self.scores[outputs], gradient, hessian, sample.weight
        if self.parameters.method == "newton" and self.loss.leaf_quantile is None:
            rate = float(self.parameters.learning_rate)
            bounds = grower.leaf_bounds if self._is_monotonic else None
            steps = self.loss.newton_steps(*data, rate, bounds)
        else:
            steps = self.loss.line_search(*data)
        return np.ascontiguousarray(steps)

    def _trace_arrays(
        self, grower: _native.BoostingGrower, part: dict[str, Any], outputs: slice,
        sample: RoundSample, steps: Array,
    ) -> dict[str, Array]:  # fmt: skip
        """Return what the trace keeps of the grower's tree, from which splits are written out."""
        sums = grower.node_sums()
        is_leaf = NodeView(part["nodes"]).kind[: len(sums)] == NodeTest.LEAF
        leaf_sums = np.full((len(sums), steps.shape[1], 2), np.nan)
        # Other line searches than Newton steps have no sums.
        is_newton = self.parameters.method == "newton" or not self.loss.has_line_search
        if is_newton and self.loss.leaf_quantile is None:
            leaf_sums[is_leaf] = grower.leaf_sums(*sample.derivatives_of(outputs), sample.weight)
        leaf_steps = np.full((len(sums), steps.shape[1]), np.nan)
        leaf_steps[is_leaf] = steps
        values = {"node_sums": sums, "leaf_sums": leaf_sums, "leaf_steps": leaf_steps}
        if self._is_monotonic:
            values["node_bounds"] = grower.node_bounds()
        return values

    def _drawn_columns(self, seeds: Array) -> Array | None:
        """Return the columns that each tree may test, of shape (n_trees, n_drawn); None: all."""
        n_columns, drawn = len(self.table.schema), self.parameters.tree_features
        if drawn is None:
            return None
        n_drawn = n_drawn_columns(drawn, n_columns)
        return np.array(
            [_native.draw_columns(seed, n_columns, n_drawn, False) for seed in seeds.tolist()]
        )

    def _scores_of_rounds(self, numbers: Array) -> Array:
        """Return the sum of the scores of some rounds, of shape (n_outputs, n_rows)."""
        scores, zeros = np.zeros(self.scores.T.shape), np.zeros(len(self.scores))
        for number in numbers:
            trees = BoostedTrees.of_parts([self.parts[number]], zeros, self.table.schema)
            if self._native_rows is None:
                self._native_rows = trees.native_rows(self.table)
            trees.add_rounds(self._native_rows, 0, 1, scores, self.threads)
        return scores.T

    def _scale_rounds(self, numbers: Array, factor: float) -> None:
        """Multiply the trees of some rounds by a factor."""
        self._rescaling = [scale_trees(self.parts[number], factor - 1) for number in numbers]
        for number in numbers:
            self.parts[number] = scale_trees(self.parts[number], factor)

    def _divide_previous(self) -> None:
        """Make the trees of an earlier fit parts of single rounds, which can be scaled."""
        if self.previous is not None:
            self.parts = [*map(_tree_arrays, self.previous.single_rounds()), *self.parts]
            self.previous, self._n_first = None, 0


def run_rounds(
    state: BoostingState, iterations: Iterations, validation: ValidationRows | None,
    history: LossHistory, after_round: Callable[[Iteration], None],
) -> None:  # fmt: skip
    """Run the rounds until they end or the validation loss stops decreasing."""
    parameters, loss = state.parameters, state.loss
    has_training_loss = parameters.trace or bool(parameters.verbose)
    stops_early = validation is not None and parameters.early_stopping
    patience = parameters.n_iter_no_change if stops_early else math.inf
    if history.n_since_best >= patience:  # a finished fit that is continued from its checkpoint
        return
    if stops_early and validation is not None and history.initial_loss is None:
        loss.prepare_row_losses(state.scores)
        history.initial_loss = _initial_loss(validation, loss)
        if state.previous is not None:  # the model of the previous fit is the one to improve
            history.best_loss = history.initial_loss
    for iteration in iterations:
        state.add_round()
        if has_training_loss:
            history.add("training", loss.mean(loss.y, state.scores, loss.weight))
        if validation is not None:
            validation.add(state.last_change(), state.threads)
            history.add("validation", validation.loss(loss))
        if stops_early:
            history.compare(state.n_rounds, parameters.tol)
        else:
            history.best = state.n_rounds
        after_round(iteration)
        if history.n_since_best >= patience:
            break


def _initial_loss(validation: ValidationRows, loss: Loss) -> float:
    """Return the loss before the first round, with which later ones are compared."""
    initial = validation.loss(loss)
    if not math.isfinite(initial):
        raise ValueError(
            f"The validation loss before the first round must be finite, got {initial:g}: scale or "
            "correct the targets, the validation rows or init, or set early_stopping=False."
        )
    return initial


def _join_values(trees: list[dict[str, Array]]) -> dict[str, Any]:
    """Join the values of the trees of a round, and add the index of each tree's first node."""
    ends = np.cumsum([0, *(len(values["node_sums"]) for values in trees)])
    joined = {name: np.concatenate([values[name] for values in trees]) for name in trees[0]}
    return {"first_nodes": ends[:-1], "node_bounds": None, **joined}


def _tree_arrays(trees: BoostedTrees) -> dict[str, Any]:
    names = ("nodes", "tree_offsets", "words", "tables", "node_rows", "node_gains")
    return {name: getattr(trees, name) for name in names}
