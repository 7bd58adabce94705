"""Base of GradientBoostingClassifier and GradientBoostingRegressor: fit and raw scores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import (
    Iteration,
    Iterations,
    ParameterError,
    check_unused,
    reports_progress,
    validate,
)
from ceiba.base.estimator import schema_attributes
from ceiba.data.source import Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.engine import Engine, choose_engine
from ceiba.engine.choose import check_in_memory
from ceiba.ensemble.common.base import warn_constant
from ceiba.ensemble.gradient_boosting.checkpoint import (
    CheckpointFile,
    FitState,
    data_digests,
    open_checkpoint,
)
from ceiba.ensemble.gradient_boosting.init_predictor import InitMixin, init_input
from ceiba.ensemble.gradient_boosting.inspection import InspectionMixin
from ceiba.ensemble.gradient_boosting.loss_history import LossHistory
from ceiba.ensemble.gradient_boosting.losses.base import Loss
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.ensemble.gradient_boosting.rounds import BoostingState, ValidationRows, run_rounds
from ceiba.ensemble.gradient_boosting.training_rows import ScoredRows, ValidationInput
from ceiba.ensemble.gradient_boosting.warm_start import WarmStartMixin
from ceiba.stats import LabeledRows, TargetSummary, ToLabeledRows
from ceiba.tree.grow.encoding import learn_bins
from ceiba.tree.grow.grower import SAMPLE_ROWS
from ceiba.tree.prune.folds import split_rows
from ceiba.tree.scoring import predict_batch, score, to_table


@dataclass(frozen=True)
class PartitionModel:
    """A fitted estimator as an engine applies it to the rows of each partition."""

    estimator: BaseGradientBoosting

    def raw_scores(self, table: Table, threads: int) -> Array:
        """Return the raw scores of shape (n_rows, n_outputs), those of ``init`` included."""
        raw = self.estimator.boosted_trees_.raw_scores(table, threads)
        init = getattr(self.estimator, "init_", None)
        if init is None or not len(table):
            return raw
        rows = init_input(table, init)
        return self.estimator._add_init_scores(raw, rows, lambda row: f"{row} of a partition")

    def predict(self, table: Table, threads: int) -> Array:
        """Return the predicted numbers, or the class probabilities."""
        return self.estimator._inverse_link(self.raw_scores(table, threads))

    def predict_class(self, table: Table, threads: int) -> Array:
        """Return the predicted class indices."""
        return np.asarray(self.predict(table, threads).argmax(axis=1))


class BaseGradientBoosting(WarmStartMixin, InitMixin, InspectionMixin):
    """Base of gradient boosting: the fit, raw scores and stages."""

    _task: ClassVar[Task]
    _keeps_sparse = True

    @reports_progress
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float | None = None,
    ) -> Self:
        """Fit the trees of all rounds; ``warm_start`` continues a fit.

        Parameters
        ----------
        X : array, frame, Table, list or sparse matrix
            Rows in memory. Of a sparse matrix only the bin codes are dense: two bytes per value (up
            to 255 bins).
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent.
        X_val, y_val, sample_weight_val : optional
            Validation rows, as X, y and sample_weight: the loss on them is recorded in
            ``losses_``, and ``early_stopping`` uses them in place of a part of X. Factors of
            ``class_weight`` do not apply to them: pass them in sample_weight_val.
        checkpoint : str or path-like, optional
            File for the state of the fit. If it exists, the fit continues from it, and ends with
            the same bits as one that was not interrupted. Data, parameters (except
            ``n_estimators``, ``n_jobs``, ``warm_start`` and the frequency of ``verbose``) and the
            version of Ceiba must be the same. Of a custom loss the name, numbers and texts are
            compared, not its code, and it must not keep a state of its own. The file is replaced
            atomically, also at the end of the fit, and kept: remove it once the model is saved.
            One fit at a time may use it.
        checkpoint_seconds : float, optional
            Minimum time between two writes, by default 60; 0 writes after each round.

        Returns
        -------
        self : estimator
        """
        validate(self)
        self._check_parameters()
        validation_input = ValidationInput.of(X_val, y_val, sample_weight_val)
        if validation_input is not None:
            check_unused(self, ["validation_fraction"], "X_val")
        check_in_memory(
            type(self).__name__, X, y, sample_weight, X_val, y_val, sample_weight_val
        )  # fmt: skip
        file = open_checkpoint(checkpoint, checkpoint_seconds)
        holds_out = self.early_stopping and validation_input is None
        previous = self._trees_to_continue(X, holds_out)
        seed = self._seed_of_fit(previous, file)
        state, validation, attributes = self._prepare_rounds(
            X, y, sample_weight, validation_input, previous, seed
        )
        n_new = self.n_estimators - state.n_rounds
        iterations = Iterations(self, n_new, trace=self.trace, name="round")
        history = LossHistory(best=state.n_rounds)
        if file is not None:
            self._connect(file, FitState(state, validation, history, iterations), attributes)

        def after_round(iteration: Iteration) -> None:
            iteration.record(**history.last(), **state.trace_values())
            iteration.report_attributes(lambda: {**attributes, "boosted_trees_": state.model()})
            if file is not None:
                file.after_round()

        run_rounds(state, iterations, validation, history, after_round)
        if file is not None:
            file.write()
        attributes["boosted_trees_"] = _best_trees(state, history)
        attributes["losses_"] = self._all_losses(history, previous, state.n_rounds)
        if iterations.trace is not None:
            attributes["trace_"] = iterations.trace
        kept = self._warm_start_state(state.loss, seed, holds_out)
        self._set_fitted(attributes | kept, without=("trace_",))
        return self

    def _prepare_rounds(
        self, X: Any, y: Any, sample_weight: Any, validation_input: ValidationInput | None,
        previous: BoostedTrees | None, seed: int,
    ) -> tuple[BoostingState, ValidationRows | None, dict[str, Any]]:  # fmt: skip
        """Return the state before the first round, validation rows, and fitted attributes."""
        engine, source = choose_engine(
            X, sample_weight, y=y, supervised=True, n_jobs=self.n_jobs,
            schema=None if previous is None else previous.schema, keep_sparse=True,
        )  # fmt: skip
        labeled, attributes = self._training_rows(engine, source, previous)
        labeled, held_out = self._split_validation_rows(
            labeled, validation_input, engine, attributes, seed
        )
        attributes["init_"] = self._fit_init(X, labeled)
        loss = self._checked_loss(labeled, attributes, engine.threads, validation_input)
        self._continue_loss(loss, previous)
        training = self._with_init_scores(labeled, X, attributes)
        state = self._start_state(engine, training, loss, seed, previous)
        validation = self._validation(held_out, X, validation_input, state, attributes)
        return state, validation, attributes

    def _target(
        self, labeled: LabeledRows, summary: TargetSummary, previous: BoostedTrees | None
    ) -> tuple[LabeledRows, dict[str, Any]]:
        """Return the rows with weights of classes, and the fitted attributes of the target."""
        raise NotImplementedError

    def _loss(self, rows: LabeledRows, attributes: dict[str, Any], threads: int) -> Loss:
        """Return the loss with the targets and weights of the rows."""
        raise NotImplementedError

    def _inverse_link(self, raw: Array) -> Array:
        """Return predictions (numbers, or class probabilities) from raw scores."""
        return self._fitted_link().inverse_link(raw)

    def _connect(self, file: CheckpointFile, fit: FitState, attributes: dict[str, Any]) -> None:
        """Continue the fit of a checkpoint, if the file has one, and write this one to it."""
        classes, has_init = attributes.get("classes_"), attributes["init_"] is not None
        digests = data_digests(fit.boosting, fit.validation, classes, has_init)
        file.connect(self, fit, digests)

    # Rows -----------------------------------------------------------------------------------------

    def _checked_loss(
        self, labeled: LabeledRows, attributes: dict[str, Any], threads: int,
        validation_input: ValidationInput | None,
    ) -> Loss:  # fmt: skip
        """Return the loss of the training rows, whose targets must be in its domain."""
        loss = self._loss(labeled, attributes, threads)
        self._check_recorded_losses(loss, validation_input)
        loss.check_target(labeled.row_number)
        return loss

    def _check_recorded_losses(self, loss: Loss, validation_input: ValidationInput | None) -> None:
        """Raise if losses are to be recorded, but the user's loss cannot compute them."""
        recorded = {
            "early_stopping": self.early_stopping, "X_val": validation_input is not None,
            "trace": self.trace, "verbose": self.verbose,
        }  # fmt: skip
        names = [name for name, is_set in recorded.items() if is_set]
        if names and not loss.has_row_losses:
            given, verb = " and ".join(names), "requires" if len(names) == 1 else "require"
            raise ParameterError(
                f"{given} {verb} a loss with a method loss(y, raw), which computes the losses to "
                f"record, got an object of class {type(self.loss).__name__} without loss(y, raw): "
                f"add the method, or leave out {given}."
            )

    def _training_rows(
        self, engine: Engine, source: Source, previous: BoostedTrees | None
    ) -> tuple[LabeledRows, dict[str, Any]]:
        """Return the rows with weights of classes, and the fitted attributes of the data."""
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        summary = engine.reduce(rows, TargetSummary.of)
        labeled = rows.table()
        if labeled.weight is not None:
            summary.require_rows()
        labeled, attributes = self._target(labeled, summary, previous)
        return labeled, attributes | schema_attributes(source.schema)

    def _start_state(
        self, engine: Engine, rows: ScoredRows, loss: Loss, seed: int,
        previous: BoostedTrees | None,
    ) -> BoostingState:  # fmt: skip
        """Bin the columns, and return the state before the first round."""
        table, threads = rows.labeled.table, engine.threads
        encoding = learn_bins(engine, rows.labeled, int(self.max_bins), SAMPLE_ROWS, seed)
        codes = encoding.encode(table, threads)
        if rows.init_scores is not None or self.init == "zero":
            constant = np.zeros(loss.n_outputs)
        else:
            constant = loss.first_scores() if previous is None else previous.first_scores
        scores = np.ascontiguousarray(rows.scores_before_fit(constant, previous, threads).T)
        return BoostingState(
            self, loss, table, encoding, codes, scores, constant, seed, threads, previous,
            multi_output=getattr(self, "multi_strategy", None) == "multi_output_tree",
        )  # fmt: skip

    def _split_validation_rows(
        self, labeled: LabeledRows, validation_input: ValidationInput | None, engine: Engine,
        attributes: dict[str, Any], seed: int,
    ) -> tuple[LabeledRows, LabeledRows | None]:  # fmt: skip
        """Return the training rows, and the validation rows: given ones, or some held out."""
        if validation_input is not None:
            schema, classes = labeled.table.schema, attributes.get("classes_")
            return labeled, validation_input.labeled_rows(engine, self._task, schema, classes)
        if self.early_stopping:
            return split_rows(labeled, self.validation_fraction, seed)
        return labeled, None

    def _validation(
        self, held_out: LabeledRows | None, X: Any, validation_input: ValidationInput | None,
        state: BoostingState, attributes: dict[str, Any],
    ) -> ValidationRows | None:  # fmt: skip
        """Return the validation rows, of X or given ones, with their scores before the fit."""
        if held_out is None:
            return None
        data, name = (X, "y") if validation_input is None else (validation_input.X, "y_val")
        scored = self._with_init_scores(held_out, data, attributes)
        validation = ValidationRows.of(scored, state)
        state.loss.check_domain(validation.y, held_out.row_number, name)
        return validation

    # Raw scores -----------------------------------------------------------------------------------

    def _raw_scores(self, X: Any) -> Array:
        """Return the raw scores of shape (n_rows, n_outputs)."""
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, to_table)
        if not engine.in_memory and getattr(self, "init_", None) is not None:
            model = PartitionModel(self)
            return np.asarray(engine.predict(rows, predict_batch, PartitionModel.raw_scores, model))
        raw = np.asarray(
            engine.predict(rows, predict_batch, BoostedTrees.raw_scores, self.boosted_trees_)
        )
        return self._add_init_scores(raw, X)

    def _staged_raw_scores(self, X: Any) -> Iterator[Array]:
        """Yield the raw scores after each round."""
        trees, table, threads = self._table(X)
        raw = self._add_init_scores(np.tile(trees.first_scores, (len(table), 1)), X)
        rows = trees.native_rows(table)
        for number in range(trees.n_rounds):
            trees.add_rounds(rows, number, number + 1, raw, threads)
            yield raw.copy()

    def _table(self, X: Any) -> tuple[BoostedTrees, Table, int]:
        check_is_fitted(self)
        check_in_memory(type(self).__name__, X)
        engine, source = self._open_source(X, reset=False)
        return self.boosted_trees_, source.partitions[0].load().table, engine.threads

    def apply(self, X: Any) -> Array:
        """Return the leaf of each row in each tree.

        Returns
        -------
        ndarray of int32 of shape (n_rows, n_rounds)
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, to_table)
        return np.asarray(
            engine.predict(rows, predict_batch, BoostedTrees.apply, self.boosted_trees_)
        )

    def _score_on(self, engine: Engine, source: Source) -> float:
        return score(self, PartitionModel(self), engine, source)

    def _check_state(self) -> None:
        super()._check_state()
        if self.boosted_trees_.schema != self.schema_:
            raise ValueError("boosted_trees_ must have the columns of schema_.")


def _best_trees(state: BoostingState, history: LossHistory) -> BoostedTrees:
    """Return the trees up to the best round; warn if none of them splits."""
    trees = state.model()
    if history.best < trees.n_rounds:
        trees = trees.first_rounds(max(history.best, 1))
    if trees.n_nodes == trees.n_trees and np.ptp(state.loss.y) > 0:
        remedy = "decrease min_samples_leaf, min_child_weight or min_split_gain"
        if not state.gradient.any():  # Huber, where nearly all targets are equal
            remedy = "increase alpha or choose another loss: all gradients are zero"
        warn_constant(trees.n_trees, remedy)
    return trees
