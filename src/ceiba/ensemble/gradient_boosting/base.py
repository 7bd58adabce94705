"""Base of GradientBoostingClassifier and GradientBoostingRegressor: fit and raw scores."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.base import (
    Estimator,
    Iteration,
    Iterations,
    ParameterError,
    check_unused,
    fitted,
    reports_progress,
    seed_of,
    validate,
)
from ceiba.base.estimator import schema_attributes
from ceiba.base.value_types import format_value
from ceiba.data.source import Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.engine import Engine, choose_engine
from ceiba.engine.choose import check_in_memory
from ceiba.ensemble.common.base import warn_constant
from ceiba.ensemble.common.sampling import check_warm_start
from ceiba.ensemble.gradient_boosting.arithmetic import SplitArithmetic, split_arithmetic
from ceiba.ensemble.gradient_boosting.checkpoint import (
    CheckpointFile,
    FitState,
    data_digests,
    open_checkpoint,
    parameter_text,
)
from ceiba.ensemble.gradient_boosting.loss_history import LossHistory
from ceiba.ensemble.gradient_boosting.losses.base import Loss
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.ensemble.gradient_boosting.parameters import BoostingParameters
from ceiba.ensemble.gradient_boosting.rounds import (
    Rounds,
    ValidationRows,
    run_rounds,
)
from ceiba.ensemble.gradient_boosting.training_rows import (
    ScoredRows,
    ValidationInput,
    init_input,
    select_rows,
)
from ceiba.stats import LabeledRows, TargetSummary, ToLabeledRows
from ceiba.tree.explain.shap import TreeSum
from ceiba.tree.explain.shap_mixin import TreeShapMixin
from ceiba.tree.grow.encoding import learn_bins
from ceiba.tree.grow.grower import SAMPLE_ROWS
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree
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
        return self.estimator._add_init_scores(raw, init_input(table, init))

    def predict(self, table: Table, threads: int) -> Array:
        """Return the predicted numbers, or the class probabilities."""
        return self.estimator._inverse_link(self.raw_scores(table, threads))

    def predict_class(self, table: Table, threads: int) -> Array:
        """Return the predicted class indices."""
        return np.asarray(self.predict(table, threads).argmax(axis=1))


class BaseGradientBoosting(BoostingParameters, TreeShapMixin, Estimator):
    """Base of gradient boosting: the fit, raw scores, stages and importances."""

    _task: ClassVar[Task]
    _score_name = "raw score"
    _keeps_sparse = True
    boosted_trees_: BoostedTrees = fitted()
    init_: Any = fitted()
    losses_: dict[str, Array] = fitted()
    # What a warm start takes from the first fit: texts of the parameters that it must not change,
    # the seed, and the threshold of the losses (Huber). Older model files lack them.
    _warm_start_parameters: dict[str, str]
    _seed: int
    _first_delta: float | None
    _state_names: ClassVar[tuple[str, ...]] = ("_warm_start_parameters", "_seed", "_first_delta")

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
        """Fit one tree per raw score in every round; ``warm_start`` continues a fit.

        Parameters
        ----------
        X : array, frame, Table, list or sparse matrix
            Rows in memory. Of a sparse matrix only the bin codes are dense, twice a byte per value.
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
        given = ValidationInput.of(X_val, y_val, sample_weight_val)
        if given is not None:
            check_unused(self, ["validation_fraction"], "X_val")
        data = X, y, sample_weight, X_val, y_val, sample_weight_val
        check_in_memory(type(self).__name__, *data)
        file = open_checkpoint(checkpoint, checkpoint_seconds)
        previous = self._trees_to_continue(X)
        seed = self._seed_of_fit(previous, file)
        engine, source = choose_engine(
            X, sample_weight, y=y, supervised=True, n_jobs=self.n_jobs,
            schema=None if previous is None else previous.schema, keep_sparse=True,
        )  # fmt: skip
        labeled, attributes = self._training_rows(engine, source, previous)
        labeled, held_out = self._held_out_rows(labeled, given, engine, attributes, seed)
        attributes["init_"] = self._fit_init(X, labeled)
        loss = self._checked_loss(labeled, attributes, engine.threads, X_val)
        self._continue_loss(loss, previous)
        training = self._with_init_scores(labeled, X, attributes)
        rounds = self._rounds(engine, training, loss, seed, previous)
        validation = self._validation(held_out, X, given, rounds, attributes)
        n_new = self.n_estimators - rounds.n_rounds
        iterations = Iterations(self, n_new, trace=self.trace, name="round")
        history = LossHistory(best=rounds.n_rounds)
        if file is not None:
            has_init = attributes["init_"] is not None
            digests = data_digests(rounds, validation, attributes.get("classes_"), has_init)
            file.connect(self, FitState(rounds, validation, history, iterations), digests)

        def after_round(iteration: Iteration) -> None:
            iteration.record(**history.last(), **self._trace_values(rounds))
            iteration.report_attributes(lambda: {**attributes, "boosted_trees_": rounds.model()})
            if file is not None:
                file.after_round()

        run_rounds(rounds, iterations, validation, history, after_round)
        if file is not None:
            file.write()
        attributes |= {
            "boosted_trees_": _best_trees(rounds, history),
            "losses_": self._all_losses(history, previous, rounds.n_rounds),
            **self._warm_start_state(loss, seed),
        }
        if iterations.trace is not None:
            attributes["trace_"] = iterations.trace
        self._set_fitted(attributes, without=("trace_",))
        return self

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
        raise NotImplementedError

    # The init predictor ---------------------------------------------------------------------------

    def _fit_init(self, X: Any, labeled: LabeledRows) -> Any:
        """Return the init predictor fitted to the training rows, None without one."""
        if self.init is None or self.init == "zero":
            return None
        if self.warm_start and getattr(self, "init_", None) is not None:
            return self.init_
        init, target = clone(self.init), labeled.target
        rows = select_rows(X, labeled.kept)
        y = target.values if target.classes is None else target.classes[target.values]
        if labeled.weight is None:
            return init.fit(rows, y)
        if not has_fit_parameter(init, "sample_weight"):
            raise ValueError(
                f"init must accept sample_weight, got {type(init).__name__}: leave out "
                "sample_weight and class_weight, or use another estimator."
            )
        return init.fit(rows, y, sample_weight=labeled.weight)

    def _raw_of_init(self, init: Any, X: Any, classes: Array | None) -> Array:
        """Return the raw scores (n_rows, n_outputs) of the init predictor."""
        raise NotImplementedError

    def _with_init_scores(
        self, labeled: LabeledRows, X: Any, attributes: dict[str, Any]
    ) -> ScoredRows:
        """Return labeled rows of X with their scores by the init predictor."""
        init = attributes["init_"]
        if init is None:
            return ScoredRows(labeled, None)
        rows = select_rows(X, labeled.kept)
        return ScoredRows(labeled, self._raw_of_init(init, rows, attributes.get("classes_")))

    # Rows -----------------------------------------------------------------------------------------

    def _trees_to_continue(self, X: Any) -> BoostedTrees | None:
        """Return the trees of the previous fit with ``warm_start``, or None."""
        trees = getattr(self, "boosted_trees_", None) if self.warm_start else None
        if trees is not None:
            self._check_columns(X)
            self._check_warm_start_parameters()
            check_warm_start(self.n_estimators, trees.n_rounds, "rounds", "")
        return trees

    def _seed_of_fit(self, previous: BoostedTrees | None, file: CheckpointFile | None) -> int:
        """Return the seed of this fit: that of the first fit if its trees are continued.

        With another one, rows that the earlier trees were fitted to would be held out. Draws are
        keyed by the number of the round as well, so that those of new rounds are new.
        """
        if previous is not None and hasattr(self, "_seed"):
            return self._seed
        seed = seed_of(self.random_state)
        return seed if file is None else file.seed(self.random_state, seed)

    def _continue_loss(self, loss: Loss, previous: BoostedTrees | None) -> None:
        """Give a warm start the threshold of the first fit for its losses (Huber)."""
        first_delta = getattr(self, "_first_delta", None)
        if previous is not None and first_delta is not None:
            loss.first_delta = first_delta / loss.unit

    def _warm_start_state(self, loss: Loss, seed: int) -> dict[str, Any]:
        """Return the private attributes that a warm start takes from this fit."""
        delta = loss.first_delta
        return {
            "_warm_start_parameters": self._kept_parameters(),
            "_seed": seed,
            "_first_delta": None if delta is None else delta * loss.unit,
        }

    def _kept_parameters(self) -> dict[str, str]:
        """Return texts of the parameters that determine what the sum of the trees means."""
        names = ("loss", "alpha", "power", "init", "monotonic_cst")
        return {name: parameter_text(getattr(self, name)) for name in names if hasattr(self, name)}

    def _check_warm_start_parameters(self) -> None:
        """Raise if a warm start changes what the trees of the previous fit mean or hold."""
        before = getattr(self, "_warm_start_parameters", {})
        for name, text in self._kept_parameters().items():
            if before.get(name, text) != text:
                raise ParameterError(
                    f"warm_start=True requires the same {name} as the previous fit, "
                    f"{before[name]}, got {text}: the trees of both fits are added; set "
                    "warm_start=False to start anew."
                )

    def _checked_loss(
        self, labeled: LabeledRows, attributes: dict[str, Any], threads: int, X_val: Any
    ) -> Loss:
        """Return the loss of the training rows, whose targets must be in its domain."""
        loss = self._loss(labeled, attributes, threads)
        self._check_loss_values(loss, X_val)
        loss.check_target(labeled.row_number)
        return loss

    def _check_loss_values(self, loss: Loss, X_val: Any) -> None:
        """Raise if losses are to be recorded, but the user's loss has no values."""
        recorded = {
            "early_stopping": self.early_stopping, "X_val": X_val is not None,
            "trace": self.trace, "verbose": self.verbose,
        }  # fmt: skip
        names = [name for name, is_set in recorded.items() if is_set]
        if names and not loss.has_values:
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

    def _rounds(
        self, engine: Engine, rows: ScoredRows, loss: Loss, seed: int,
        previous: BoostedTrees | None,
    ) -> Rounds:  # fmt: skip
        """Bin the columns, and return the rounds before the first one."""
        table, threads = rows.labeled.table, engine.threads
        encoding = learn_bins(engine, rows.labeled, int(self.max_bins), SAMPLE_ROWS, seed)
        codes = encoding.encode(table, threads)
        if rows.init_scores is not None or self.init == "zero":
            constant = np.zeros(loss.n_outputs)
        else:
            constant = loss.first_scores() if previous is None else previous.first_scores
        scores = np.ascontiguousarray(rows.start_scores(constant, previous, threads).T)
        return Rounds(
            self, loss, table, encoding, codes, scores, constant, seed, threads, previous,
            multi_output=getattr(self, "multi_strategy", None) == "multi_output_tree",
        )  # fmt: skip

    def _held_out_rows(
        self, labeled: LabeledRows, given: ValidationInput | None, engine: Engine,
        attributes: dict[str, Any], seed: int,
    ) -> tuple[LabeledRows, LabeledRows | None]:  # fmt: skip
        """Return the training rows, and the validation rows: given ones, or some held out."""
        if given is not None:
            schema, classes = labeled.table.schema, attributes.get("classes_")
            return labeled, given.labeled_rows(engine, self._task, schema, classes)
        if self.early_stopping:
            return split_rows(labeled, self.validation_fraction, seed)
        return labeled, None

    def _validation(
        self, held_out: LabeledRows | None, X: Any, given: ValidationInput | None, rounds: Rounds,
        attributes: dict[str, Any],
    ) -> ValidationRows | None:  # fmt: skip
        """Return the validation rows, of X or given ones, with their scores at the start."""
        if held_out is None:
            return None
        data, name = (X, "y") if given is None else (given.X, "y_val")
        scored = self._with_init_scores(held_out, data, attributes)
        validation = ValidationRows.of(scored, rounds)
        rounds.loss.check_domain(validation.y, held_out.row_number, name)
        return validation

    def _all_losses(
        self, history: LossHistory, previous: BoostedTrees | None, n_rounds: int
    ) -> dict[str, Array]:
        """Return the losses of all rounds, those of an earlier fit included."""
        if previous is None:
            return history.all_losses({}, 0, n_rounds)
        return history.all_losses(self.losses_, previous.n_rounds, n_rounds - previous.n_rounds)

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

    def _add_init_scores(self, raw: Array, X: Any) -> Array:
        """Return raw scores of rows plus those of the init predictor, if there is one."""
        if getattr(self, "init_", None) is None:
            return raw
        return raw + self._raw_of_init(self.init_, X, getattr(self, "classes_", None))

    def _tree_sum(self) -> TreeSum:
        if getattr(self, "init_", None) is not None:
            raise ValueError(
                "Shapley values require raw scores that are a sum of trees, got "
                f"init={type(self.init_).__name__}: fit with init=None or init='zero'."
            )
        return self.boosted_trees_.tree_sum()

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

    @property
    def n_estimators_(self) -> int:
        """Number of rounds."""
        check_is_fitted(self)
        return self.boosted_trees_.n_rounds

    @property
    def n_trees_per_round_(self) -> int:
        """Number of trees of each round: one per raw score.

        With ``multi_strategy="multi_output_tree"`` they have the same splits, and the values of one
        class each.
        """
        check_is_fitted(self)
        return self.boosted_trees_.n_outputs

    def tree(self, number: int, output: int = 0) -> Tree:
        """Return the tree of a round and raw score, as a regression tree.

        Parameters
        ----------
        number : int
            Round, from 0 on.
        output : int
            Raw score: 0, or the index of a class.

        Returns
        -------
        Tree
        """
        check_is_fitted(self)
        trees = self.boosted_trees_
        if not 0 <= number < trees.n_rounds or not 0 <= output < trees.n_outputs:
            raise ValueError(
                f"number must be in [0, {trees.n_rounds - 1}] and output in "
                f"[0, {trees.n_outputs - 1}], got {number} and {output}."
            )
        return trees.tree(number * trees.n_outputs + output)

    def split_arithmetic(self, number: int, output: int = 0, *, node: int = 0) -> SplitArithmetic:
        """Write out the arithmetic of a split: gradient sums, scores, gain and leaf values.

        Requires ``trace=True``. The sums are those from which the split was chosen, quantized to
        ``gradient_bits``; leaf values have exact sums.

        Parameters
        ----------
        number, output : int
            Round and raw score, as in `tree`.
        node : int
            Node of that tree; not a leaf.

        Returns
        -------
        SplitArithmetic
            Prints the arithmetic line by line.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba import GradientBoostingRegressor
        >>> X, y = np.arange(6.0)[:, None], np.array([1.0, 1.0, 2.0, 5.0, 6.0, 6.0])
        >>> model = GradientBoostingRegressor(
        ...     1, max_leaf_nodes=2, min_samples_leaf=1, trace=True
        ... ).fit(X, y)
        >>> model.split_arithmetic(0)
        round 0, output 0, node 0: left if x0 <= 2.5 or missing, right if x0 > 2.5
        score = G^2 / (H + 1)
        node: 6 rows, G = 0, H = 6, score = 0
        left: 3 rows, G = 6.5, H = 3, score = 10.5625
        right: 3 rows, G = -6.5, H = 3, score = 10.5625
        gain = 10.5625 + 10.5625 - 0 = 21.125
        left: leaf 1, G = 6.5, H = 3, step = -1.625, value = 0.1 * -1.625 = -0.1625
        right: leaf 2, G = -6.5, H = 3, step = 1.625, value = 0.1 * 1.625 = 0.1625
        """
        tree = self.tree(number, output)
        frames = [frame for frame in getattr(self, "trace_", []) if frame["round"] == number]
        if not frames:
            raise ValueError(
                f"split_arithmetic requires the trace of round {number}: fit with trace=True, and "
                "choose a round that trace_ has not left out."
            )
        if not 0 <= node < tree.n_nodes or tree.is_leaf[node]:
            raise ValueError(
                f"node must be one of the split nodes {format_value(tree.inner_nodes.tolist())}, "
                f"got {node}."
            )
        trees = self.boosted_trees_
        first = trees.tree_offsets[number * trees.n_outputs + output]
        gain = float(trees.node_gains[first + node])
        return split_arithmetic(frames[0], tree, gain, self, output, node)

    @property
    def feature_importances_(self) -> Array:
        """Total gain of the splits of each column, relative to all."""
        return self.importances("gain")

    def importances(self, kind: str = "gain") -> Array:
        """Return the importance of each column; the importances sum to 1.

        Parameters
        ----------
        kind : {'gain', 'split'}
            Total gain of the splits of each column, or their number. For permutation importances
            use `sklearn.inspection.permutation_importance`.

        Returns
        -------
        ndarray of shape (n_features,)
        """
        check_is_fitted(self)
        if kind not in ("gain", "split"):
            raise ValueError(f"kind must be 'gain' or 'split', got {kind!r}.")
        totals = self.boosted_trees_.importances(kind)
        return totals / totals.sum() if totals.any() else totals

    def _trace_values(self, rounds: Rounds) -> dict[str, Any]:
        """Return what a frame of the trace holds beside the losses.

        Values behind functions are recorded, but not printed with verbose.
        """
        if not self.trace:
            return {}
        part = rounds.parts[-1]
        # One tree for all outputs is stored once per output, with the same splits.
        end = part["tree_offsets"][1 if rounds.multi_output else -1]
        return {
            "gradient": rounds.gradient.copy,
            "n_leaves": int((NodeView(part["nodes"][:end]).kind == NodeTest.LEAF).sum()),
            "gain": float(part["node_gains"][:end].sum()),
            **{name: lambda value=value: value for name, value in rounds.split_values.items()},
        }

    def _check_state(self) -> None:
        super()._check_state()
        texts = getattr(self, "_warm_start_parameters", {})
        if type(texts) is not dict or not all(type(text) is str for text in texts.values()):
            raise ValueError("_warm_start_parameters must be a dict of str.")
        seed, delta = getattr(self, "_seed", 0), getattr(self, "_first_delta", None)
        if type(seed) is not int or not 0 <= seed < 2**64:
            raise ValueError(f"_seed must be an int in [0, 2^64 - 1], got {format_value(seed)}.")
        if delta is not None and not (type(delta) is float and 0 <= delta < math.inf):
            raise ValueError(
                f"_first_delta must be None or a float >= 0, got {format_value(delta)}."
            )
        if self.boosted_trees_.schema != self.schema_:
            raise ValueError("boosted_trees_ must have the columns of schema_.")


def _best_trees(rounds: Rounds, history: LossHistory) -> BoostedTrees:
    """Return the trees up to the best round; warn if none of them splits."""
    trees = rounds.model()
    if history.best < trees.n_rounds:
        trees = trees.first_rounds(max(history.best, 1))
    if trees.n_nodes == trees.n_trees and np.ptp(rounds.loss.y) > 0:
        warn_constant(
            trees.n_trees, "decrease min_samples_leaf, min_child_weight or min_split_gain"
        )
    return trees
