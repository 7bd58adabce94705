"""Members side by side: in groups, under the caller's settings, on one thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Generic

from sklearn import config_context, get_config
from threadpoolctl import threadpool_limits

from ceiba.engine import Engine
from ceiba.engine.contract import R, T

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
