"""Fit and predict with members in parallel; sum their predictions in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic

import numpy as np
from sklearn import config_context, get_config
from threadpoolctl import threadpool_limits

from ceiba._typing import Array
from ceiba.engine import Engine
from ceiba.engine.contract import R, T
from ceiba.ensemble.common.members import Member, error_context
from ceiba.ensemble.common.rows import InputRows

# Members per thread in one call of the engine: more keep the threads busy, fewer take less memory.
_TASKS_PER_THREAD = 4


def task_groups(numbers: range, threads: int) -> Iterator[range]:
    """Split member numbers into groups that keep the threads busy and fit into memory.

    Examples
    --------
    >>> list(task_groups(range(10), 2))
    [range(0, 8), range(8, 10)]
    """
    size = _TASKS_PER_THREAD * threads
    return (numbers[first : first + size] for first in range(0, len(numbers), size))


class WithSklearnConfig(Generic[T, R]):
    """Call a function in any thread with the current scikit-learn configuration.

    The configuration is thread-local; it includes metadata routing and output containers.
    """

    def __init__(self, function: Callable[[T], R]) -> None:
        self._function = function
        self._config = get_config()

    def __call__(self, task: T) -> R:
        """Call the function with one task."""
        with config_context(**self._config):
            return self._function(task)


def limit_blas_threads(engine: Engine) -> AbstractContextManager[Any]:
    """Limit BLAS to one thread while other estimators are fitted in parallel.

    Ceiba's own estimators limit their threads themselves.
    """
    if engine.threads == 1:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


@dataclass(frozen=True, slots=True, eq=False)
class PredictionSums:
    """Sums of the members' predictions for each row.

    Examples
    --------
    >>> PredictionSums(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([4, 0])).means
    array([[0.75, 0.25],
           [ nan,  nan]])
    """

    sums: Array  # shape (n_rows,) or (n_rows, n_classes)
    n_members: Array  # shape (n_rows,): number of members in each row's sum

    @property
    def means(self) -> Array:
        """Mean prediction for each row; NaN where no member predicted."""
        n_members = self.n_members if self.sums.ndim == 1 else self.n_members[:, None]
        means: Array = np.full(self.sums.shape, np.nan)
        np.divide(self.sums, n_members, out=means, where=n_members > 0)
        return means


PredictFunction = Callable[[Any, Any], Array]


def sum_predictions(
    engine: Engine,
    members: Sequence[Member],
    rows: InputRows,
    predict: PredictFunction,
    shape: tuple[int, ...],
    rows_of: Callable[[int], Array] | None = None,
) -> PredictionSums:
    """Add up the members' predictions, in the order of the members.

    ``predict(estimator, X)`` returns one entry, of shape ``shape``, per row; ``rows_of(number)``
    the indices of the rows that a member predicts, by default all.
    """
    sums = np.zeros((len(rows), *shape))
    n_members = np.zeros(len(rows), np.int64)
    task = WithSklearnConfig(partial(_predict_member, members, rows, predict, rows_of))
    for group in task_groups(range(len(members)), engine.threads):
        for index, predicted in engine.map(task, group):
            sums[index] += predicted
            n_members[index] += 1
    return PredictionSums(sums, n_members)


def _predict_member(
    members: Sequence[Member],
    rows: InputRows,
    predict: PredictFunction,
    rows_of: Callable[[int], Array] | None,
    number: int,
) -> tuple[Any, Array]:
    """Return the rows that a member predicts, and its predictions."""
    index = None if rows_of is None else rows_of(number)
    if index is not None and not len(index):
        return index, np.zeros(())  # the member has no out-of-bag rows
    member = members[number]
    with error_context(f"member {number} of the ensemble could not predict"):
        predicted = predict(member.estimator, rows.select(index, member.columns))
    return (slice(None) if index is None else index), predicted
