"""What classification and regression by neighbors share: fits, choice of k, predictions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import AtLeast, ParameterError, check_unused, fitted, parameter
from ceiba.base.explanation import Explanation, Neighbors, explained_row
from ceiba.data.source import Source
from ceiba.engine import Batch, Engine
from ceiba.engine.local import effective_threads
from ceiba.neighbors.base import NeighborLearner
from ceiba.neighbors.explain import column_shares
from ceiba.neighbors.leave_one_out import LeaveOneOutCurve, choose_n_neighbors
from ceiba.neighbors.partitioned import PartitionedIndex
from ceiba.neighbors.rows import NeighborRows, ToNeighborRows, to_matrix
from ceiba.neighbors.searching import (
    check_n_neighbors,
    search,
    search_blocks,
    training_blocks,
)
from ceiba.neighbors.votes import neighbor_weights

# Largest number of neighbors that leave-one-out tries by default.
_MAX_NEIGHBORS = 50


class SupervisedNeighbors(NeighborLearner):
    """Predict from the targets of the nearest training rows."""

    n_neighbors: Annotated[
        Annotated[int, AtLeast(1)] | Literal["loo"],
        "Number of neighbors. ``'loo'`` computes the leave-one-out loss of every number up to "
        "``max_neighbors`` from one search, and takes the largest one whose loss is within one "
        "standard error of the smallest.",
    ] = parameter(5, kw_only=False)
    weights: Annotated[
        Literal["uniform", "distance"] | Callable[..., Any] | None,
        "Weights of the neighbors: equal (also None), or 1/distance, where neighbors at distance "
        "zero alone count; or a function from distances, of shape (n_rows, n_neighbors), to "
        "weights.",
    ] = "uniform"
    max_neighbors: Annotated[
        int | None,
        AtLeast(1),
        "Largest number of neighbors that ``n_neighbors='loo'`` tries; None for 50, or the number "
        "of other rows if there are fewer.",
    ] = None

    loo_curve_: LeaveOneOutCurve = fitted()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the training rows, and prepare them for searches.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory; those of files larger than memory (``ceiba.scan``) or on a cluster stay
            where they are, and every prediction is a pass over them.
        y : array of shape (n_rows,)
            The target of each row; None where ``X`` is a scan that names its target.

        Returns
        -------
        self : estimator
        """
        return self._fit(X, y)

    def explain(self, X: Any, n_neighbors: int | None = None) -> Explanation:
        """Explain the prediction for one row by its neighbors and their votes.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.
        n_neighbors : int, optional
            By default that of the model.

        Returns
        -------
        Explanation
            Its ``neighbors`` have distances, weights, targets, and the share of each column in the
            distances; ``print`` shows up to six columns. There are no contributions to a score:
            votes are not a sum over the columns.

        Examples
        --------
        >>> from ceiba import KNeighborsClassifier
        >>> rows = [{"a": 1.0, "b": "u"}, {"a": 2.0, "b": "u"}, {"a": 9.0, "b": "v"}]
        >>> model = KNeighborsClassifier(3, weights="distance").fit(rows, ["no", "yes", "yes"])
        >>> print(model.explain([{"a": 1.5, "b": "v"}]))
        prediction: 'yes' (votes: 'no' 0.465, 'yes' 0.535)
          row  distance  weight  target       a      b
            0     1.118   0.465  'no'     20.0%  80.0%
            1     1.118   0.465  'yes'    20.0%  80.0%
            2       7.5   0.069  'yes'   100.0%   0.0%
        """
        table = explained_row(self, X)
        query = to_matrix(table)
        k = self._k() if n_neighbors is None else n_neighbors
        check_n_neighbors(k, self.n_samples_fit_, without_itself=False)
        threads = effective_threads(self.n_jobs)
        count = self._search_count(reset=True)
        distances, rows = search(self.index_, int(k), count, query, None, threads)
        weights = neighbor_weights(self.weights, distances)[0]
        target = self.rows_.known_target[rows[0]]
        prediction, targets, votes = self._summarize(target, weights)
        contributions = None
        if not isinstance(self.index_, PartitionedIndex):
            contributions = column_shares(self.index_.distance, query, self.rows_.X[rows[0]])
        neighbors = Neighbors(
            rows[0],
            distances[0],
            weights / weights.sum() if weights.any() else weights,
            targets,
            votes,
            contributions,
        )
        probabilities = None if votes is None else np.array(list(votes.values()))
        return Explanation.of(
            self,
            table,
            prediction,
            outputs=[] if votes is None else list(votes),
            probabilities=probabilities,
            neighbors=neighbors,
        )

    def _summarize(
        self, target: Array, weights: Array
    ) -> tuple[Any, Array, dict[Any, float] | None]:
        """Return prediction, targets and votes from the targets of one row's neighbors."""
        raise NotImplementedError

    def _choose(self, attributes: dict[str, Any], threads: int) -> dict[str, Any]:
        if self.n_neighbors != "loo":
            check_unused(self, ["max_neighbors"], f"n_neighbors={self.n_neighbors!r}")
            return {"n_neighbors_": int(self.n_neighbors)}
        rows, index = attributes["rows_"], attributes["index_"]
        n = len(index)
        if n < 2:
            raise ValueError("n_neighbors='loo' requires at least two rows, got n_samples = 1.")
        k = self.max_neighbors or min(n - 1, _MAX_NEIGHBORS)
        if k > n - 1:
            raise ParameterError(
                f"max_neighbors must be at most {n - 1}, the number of other rows, got {k}."
            )
        losses = []
        for Q, numbers in training_blocks(index, rows):
            first = numbers[0]
            for found in search_blocks(index, k, attributes["_count"], Q, numbers, threads):
                own = rows.known_target[first : first + len(found[0])]
                losses.append(self._losses(rows.known_target, *found, own))
                first += len(own)
        curve = choose_n_neighbors(np.concatenate(losses, axis=1))
        curve = curve.in_units(2 * self._loss_exponent(rows.known_target))
        return {"n_neighbors_": curve.chosen, "loo_curve_": curve}

    def _losses(self, target: Array, distances: Array, rows: Array, own: Array) -> Array:
        """Return the losses of rows, for each number of neighbors."""
        raise NotImplementedError

    def _loss_exponent(self, target: Array) -> int:
        """Return the power of two that the target is divided by in the losses."""
        return 0

    def _predict(self, X: Any, combine: Callable[..., Array]) -> Array:
        """Predict rows by ``combine(weighting, distances, rows)`` of their neighbors."""
        check_is_fitted(self)
        predictor = self._predictor(combine, without_itself=X is None)
        return np.asarray(self._for_queries(X, predictor))

    def _predictor(
        self, combine: Callable[..., Array], *, without_itself: bool = False
    ) -> Callable[..., Array]:
        k = self._k()
        check_n_neighbors(k, self.n_samples_fit_, without_itself=without_itself)
        count = self._search_count(reset=True)
        return partial(_predict_block, self.index_, int(k), count, self.weights, combine)

    def _predict_labeled(
        self,
        engine: Engine,
        source: Source,
        combine: Callable[..., Array],
        read_target: Callable[..., Array],
        *arguments: Any,
    ) -> tuple[Array, Array]:
        """Return predictions and targets of rows that have a target."""
        rows = engine.rows(source.partitions, ToNeighborRows(self._task))
        predictions = self._for_rows(engine, rows, self._predictor(combine))
        return predictions, np.asarray(engine.predict(rows, read_target, *arguments))


def _predict_block(
    index: Any,
    k: int,
    count: Any,
    weighting: Any,
    combine: Callable[..., Array],
    Q: Array,
    excluded: Array | None,
    threads: int,
) -> Array:
    blocks = search_blocks(index, k, count, Q, excluded, threads)
    return np.concatenate([combine(weighting, *found) for found in blocks])


def target_numbers(batch: Batch[NeighborRows]) -> Array:
    """Return the targets of a regression."""
    assert batch.rows.labeled is not None
    return batch.rows.labeled.target.values
