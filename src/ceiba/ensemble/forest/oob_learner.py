"""Out-of-bag results of the forest estimators: those of a fit, and importances after it."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Estimator, fitted
from ceiba.data.source import Source
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.engine.choose import check_in_memory
from ceiba.ensemble.common.sampling import warn_in_all_samples
from ceiba.ensemble.forest.grower import ForestSample, TrainingSample
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.multi_output import MultiOutputForest
from ceiba.ensemble.forest.multi_output_fit import MultiOutputSample
from ceiba.ensemble.forest.oob import OutOfBag, PermutationImportance, trees_of_sample
from ceiba.ensemble.forest.parameters import ForestParameters
from ceiba.tree.model.multi_output import split_outputs
from ceiba.tree.multi_output import check_one_output

# Fitted attributes about out-of-bag rows; they are dropped when trees are dropped or added.
OOB_RESULTS = (
    "oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_", "oob_errors_",
    "oob_importance_", "leaf_targets_",
)  # fmt: skip
# Rows and trees whose leaves are kept at a time. The mask of a tree's out-of-bag rows has a byte
# per row: those of 64 trees take the memory of eight columns, however many trees there are.
_OOB_ROWS, _OOB_TREES = 65_536, 64


class OutOfBagResults(ForestParameters, Estimator):
    """Base with the out-of-bag predictions, scores and importances of a forest."""

    _task: ClassVar[Task]
    forest_: Forest = fitted()
    # The fitted attribute with the out-of-bag predictions.
    _oob_name: ClassVar[str]

    @property
    def _leaf_smoothing(self) -> float:
        """Weight that is added to each class in each leaf."""
        return 0.0

    def _training_sample(
        self, engine: Engine, source: Source, previous: Forest | None
    ) -> ForestSample:
        """Return the rows of a fit and their sampler, with all classes of existing trees."""
        raise NotImplementedError

    def _oob_results(self, forest: Forest, sample: ForestSample, threads: int) -> dict[str, Any]:
        """Return the requested results on out-of-bag rows."""
        results: dict[str, Any] = {}
        if not (self.oob_score or self.importance):
            return results
        if isinstance(forest, MultiOutputForest):
            assert isinstance(sample, MultiOutputSample)
            return self._multi_output_oob(forest, sample, threads)
        assert isinstance(sample, TrainingSample)
        oob = OutOfBag.of(forest, sample, self._leaf_smoothing, threads)
        if self.oob_score:
            mean, n_trees, curve = oob.predict()
            warn_in_all_samples(int((n_trees == 0).sum()), len(n_trees), "tree")
            results[self._oob_name] = mean
            results["oob_curve_"] = curve
            results["oob_score_"] = self._score_oob(mean, n_trees, sample)
        if self.importance:
            results["oob_importance_"] = oob.permutation_importance(1, 0.95)
        return results

    def _multi_output_oob(
        self, forest: MultiOutputForest, sample: MultiOutputSample, threads: int
    ) -> dict[str, Any]:
        """Return predictions and score on out-of-bag rows of several targets."""
        is_classifier = forest.output_classes[0] > 0
        mean, n_trees = _mean_vectors(forest, sample, threads)
        predicted = n_trees > 0
        warn_in_all_samples(int((~predicted).sum()), len(n_trees), "tree")
        y, metric = sample.output_rows.values, r2_score
        score, predictions = float("nan"), mean
        if is_classifier:
            mean = _stacked_probabilities(mean, forest.output_classes)
            predictions, metric = mean.argmax(axis=1), _subset_accuracy
        if predicted.sum() > (0 if is_classifier else 1):
            metric = self.oob_score if callable(self.oob_score) else metric
            score = float(metric(y[predicted], predictions[predicted]))
        return {self._oob_name: mean, "oob_score_": score}

    def _check_multi_output_oob(self, output_classes: Array) -> None:
        """Raise before the trees are grown for targets without out-of-bag results."""
        if self.oob_score:
            _check_equal_classes(output_classes)

    def _score_oob(self, mean: Array, n_trees: Array, sample: TrainingSample) -> float:
        raise NotImplementedError

    def oob_importance(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_repeats: int = 1,
        confidence_level: float = 0.95,
    ) -> PermutationImportance:
        """Compute the permutation importance of the columns on out-of-bag rows.

        Parameters
        ----------
        X, y, sample_weight
            As passed to ``fit``.
        n_repeats : int
            Permutations per tree and column, 1 to 255.
        confidence_level : float
            Confidence level of the null band.

        Returns
        -------
        PermutationImportance
        """
        if not isinstance(n_repeats, Integral) or not 1 <= n_repeats <= 255:
            raise ValueError(f"n_repeats must be an int in [1, 255], got {n_repeats}.")
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must be in (0, 1), got {confidence_level}.")
        oob = self._out_of_bag(X, y, sample_weight)
        return oob.permutation_importance(int(n_repeats), float(confidence_level))

    def corrected_importances(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Compute the debiased decrease of impurity by each column.

        The decrease is computed on out-of-bag rows: how well the differences between a tree's node
        means at splits of a column agree with the deviations of these rows from the node mean. A
        column without information has zero importance on average, however many values it has. The
        importances are not normalized and can be negative by chance.

        Parameters
        ----------
        X, y, sample_weight
            As passed to ``fit``.

        Returns
        -------
        ndarray of shape (n_features,)

        References
        ----------
        Li, Wang, Basu, Kumbier & Yu (2019), "A debiased MDI feature importance measure for random
        forests", NeurIPS.
        """
        return self._out_of_bag(X, y, sample_weight).corrected_importances()

    def _out_of_bag(self, X: Any, y: Any, sample_weight: Any) -> OutOfBag:
        check_is_fitted(self)
        check_one_output(self, "An out-of-bag importance")
        check_in_memory(type(self).__name__, X)
        engine, source = self._open_source(X, sample_weight, reset=False, y=y, task=self._task)
        sample = self._training_sample(engine, source, self.forest_)
        assert isinstance(sample, TrainingSample)  # the forest has one output
        return OutOfBag.of(self.forest_, sample, self._leaf_smoothing, engine.threads)

    def n_trees_sufficient(self) -> int | None:
        """Return the number of trees after which the out-of-bag error stays the same.

        None if the error has not settled; ``oob_curve_.summary()`` describes it in a sentence.
        """
        check_is_fitted(self)
        check_one_output(self, "n_trees_sufficient()")
        if not hasattr(self, "oob_curve_"):
            raise ValueError("n_trees_sufficient() requires oob_score=True in fit.")
        n_trees: int | None = self.oob_curve_.n_trees_sufficient
        return n_trees


def _subset_accuracy(y: Array, predictions: Array) -> float:
    """Return the fraction of rows whose classes are all predicted right, as ``score`` does."""
    return float((y == predictions).all(axis=1).mean())


def _mean_vectors(
    forest: MultiOutputForest, sample: MultiOutputSample, threads: int
) -> tuple[Array, Array]:
    """Return the out-of-bag mean vector of each row, and the number of its trees.

    Rows without such a tree have NaN. Raise ValueError if no tree was grown from the rows.
    """
    n_rows, table = len(sample.rows), sample.rows.table
    sums, n_trees = np.zeros((n_rows, forest.leaf_values.shape[1])), np.zeros(n_rows, np.int64)
    sampled = np.flatnonzero(trees_of_sample(forest, sample))
    for start in range(0, len(sampled), _OOB_TREES):
        numbers = sampled[start : start + _OOB_TREES]
        trees = forest.select_trees(np.isin(np.arange(forest.n_trees), numbers))
        is_out = np.array([sample.sampler.counts(int(seed)) == 0 for seed in trees.tree_seeds])
        n_trees += is_out.sum(axis=0)
        for first in range(0, n_rows, _OOB_ROWS):
            block = np.arange(first, min(first + _OOB_ROWS, n_rows))
            leaves = trees.apply(table.take(block), threads)
            for t in range(len(numbers)):
                out = is_out[t, block]
                nodes = trees.tree_offsets[t] + leaves[out, t]
                sums[block[out]] += trees.leaf_values[trees.leaf_row[nodes]]
    mean = np.full(sums.shape, np.nan)
    np.divide(sums, n_trees[:, None], out=mean, where=n_trees[:, None] > 0)
    return mean, n_trees


def _stacked_probabilities(mean: Array, output_classes: Array) -> Array:
    """Return probabilities as scikit-learn does: (n_rows, n_classes, n_outputs)."""
    return np.stack(split_outputs(mean, output_classes), axis=2)


def _check_equal_classes(output_classes: Array) -> None:
    """Raise ValueError for outputs of different numbers of classes, as scikit-learn."""
    if (output_classes != output_classes[0]).any():
        raise ValueError(
            "The type of target cannot be used to compute OOB estimates: all outputs must have the "
            f"same number of classes, got {output_classes.tolist()}. Set oob_score=False."
        )
