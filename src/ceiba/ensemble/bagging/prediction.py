"""Members side by side: in groups, under the caller's settings, on one thread each."""

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
from ceiba.ensemble.common.members import Member, blaming
from ceiba.ensemble.common.rows import MemberRows

# Tasks of one thread between two steps: more keep the threads busy, fewer need less memory.
_TASKS_A_THREAD = 4


def groups(numbers: range, threads: int) -> Iterator[range]:
    """The numbers in runs that keep the threads busy and can be held in memory together.

    Examples
    --------
    >>> list(groups(range(10), 2))
    [range(0, 8), range(8, 10)]
    """
    size = _TASKS_A_THREAD * threads
    return (numbers[first : first + size] for first in range(0, len(numbers), size))


class InConfiguration(Generic[T, R]):
    """A function of a task that runs, in any thread, under the caller's scikit-learn settings.

    These belong to a thread, metadata routing and the containers of outputs among them.
    """

    def __init__(self, function: Callable[[T], R]) -> None:
        self._function = function
        self._configuration = get_config()

    def __call__(self, task: T) -> R:
        """The function of one task."""
        with config_context(**self._configuration):
            return self._function(task)


def one_thread_each(engine: Engine) -> AbstractContextManager[Any]:
    """While members of other libraries are fitted side by side, their linear algebra has a thread.

    Ceiba's own see to that themselves.
    """
    if engine.threads == 1:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


@dataclass(frozen=True, slots=True, eq=False)
class MemberTally:
    """Sums over members of what they say of each row.

    Parameters
    ----------
    totals : ndarray of shape (n_rows,) or (n_rows, n_classes)
    members : ndarray of shape (n_rows,)
        How many members were asked about the row.

    Examples
    --------
    >>> MemberTally(np.array([[3.0, 1.0], [0.0, 0.0]]), np.array([4, 0])).means
    array([[0.75, 0.25],
           [ nan,  nan]])
    """

    totals: Array
    members: Array

    @property
    def means(self) -> Array:
        """Mean over the members asked; NaN where none was."""
        asked = self.members if self.totals.ndim == 1 else self.members[:, None]
        means: Array = np.full(self.totals.shape, np.nan)
        np.divide(self.totals, asked, out=means, where=asked > 0)
        return means


Ask = Callable[[Any, Any], Array]


def tally(
    engine: Engine,
    members: Sequence[Member],
    rows: MemberRows,
    ask: Ask,
    width: tuple[int, ...],
    which: Callable[[int], Array] | None = None,
) -> MemberTally:
    """Ask every member and add up the answers, in the members' order.

    Parameters
    ----------
    ask : callable
        ``ask(estimator, X)``: an array with one entry, of shape ``width``, for each row.
    which : callable, optional
        Numbers of the rows that a member is asked about, by its own number; all if not given.
    """
    totals = np.zeros((len(rows), *width))
    asked = np.zeros(len(rows), np.int64)
    answer = InConfiguration(partial(_answer, members, rows, ask, which))
    for group in groups(range(len(members)), engine.threads):
        for place, said in engine.map(answer, group):
            totals[place] += said
            asked[place] += 1
    return MemberTally(totals, asked)


def _answer(
    members: Sequence[Member],
    rows: MemberRows,
    ask: Ask,
    which: Callable[[int], Array] | None,
    number: int,
) -> tuple[Any, Array]:
    place = None if which is None else which(number)
    if place is not None and not len(place):
        return place, np.zeros(())  # a member that was given every row is not asked
    member = members[number]
    with blaming(f"member {number} of the bag could not predict"):
        said = ask(member.estimator, rows.part(place, member.columns))
    return (slice(None) if place is None else place), said
