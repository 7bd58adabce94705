"""Fitting one member of a bag: its seeds, its columns, its rows, and who is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metadata_routing import _routing_enabled, get_routing_for_object
from sklearn.utils.validation import _check_method_params, has_fit_parameter

from ceiba._typing import Array
from ceiba.ensemble.common.rows import MemberRows
from ceiba.ensemble.common.sampling import MEMBER, STATE, Sampling, drawn_columns, keyed

# Seeds that every learner takes: NumPy's RandomState has 32 bits, and some count in signed ones.
_STATE_BITS = 31


class MemberError(RuntimeError):
    """A member of a committee has failed; the message names it."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A fitted member and the numbers of the columns that it was given."""

    estimator: Any
    columns: Array


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """All that the members of a bag are made of: the number of a member says the rest.

    Parameters
    ----------
    estimator : estimator
        What members are copies of.
    seed : int
        Seed of the bag.
    rows : MemberRows
        Rows of positive weight.
    target : ndarray
        Labels or numbers of these rows.
    sampling : Sampling
        How rows are drawn.
    weight : ndarray or None
        Weights that rows carry along; None where they were drawn by weight, or have none.
    by_weight : bool
        Whether a row drawn several times is given once, with a weight, or as often.
    n_columns : int
        Columns that are drawn.
    repeat_columns : bool
        Whether a column may be drawn twice.
    params : dict
        Metadata for the members' ``fit``.
    """

    estimator: Any
    seed: int
    rows: MemberRows
    target: Array
    sampling: Sampling
    weight: Array | None
    by_weight: bool
    n_columns: int
    repeat_columns: bool = False
    params: dict[str, Any] = field(default_factory=dict)

    def __call__(self, number: int) -> Member:
        """Fit the member of that number; an error names it."""
        seed = member_seed(self.seed, number)
        columns = drawn_columns(
            seed, self.rows.n_columns, self.n_columns, replace=self.repeat_columns
        )
        estimator = seeded(self.estimator, seed)
        rows, weight = self.draw(seed)
        params = _check_method_params(self.rows.data, self.params, rows)
        if weight is not None:
            params["sample_weight"] = weight
        with blaming(f"member {number} of the bag could not be fitted"):
            estimator.fit(self.rows.part(rows, columns), self.target[rows], **params)
        return Member(estimator, columns)

    def draw(self, seed: int) -> tuple[Array, Array | None]:
        """Numbers of a member's rows, and their weights; None where each is 1.

        A member that takes no weights is given a row as often as it was drawn, in that order.
        """
        if not self.by_weight:
            rows = self.sampling.drawn(seed)
            return (rows if self.weight is None else _repeated(rows, self.weight)), None
        counts = self.sampling.counts(seed)
        rows = np.flatnonzero(counts)
        weight = counts[rows].astype(np.float64)
        if self.weight is not None:
            weight *= self.weight[rows]
        return rows, None if (weight == 1).all() else weight


def member_seed(seed: int, number: int) -> int:
    """The seed of one member of a bag."""
    return keyed(seed, MEMBER, number)


def seeded(estimator: Any, seed: int) -> Any:
    """A copy of an estimator, with every ``random_state`` in it set from a member's seed.

    Examples
    --------
    >>> from ceiba.tree import DecisionTreeClassifier
    >>> seeded(DecisionTreeClassifier(), 7).random_state != 0
    True
    """
    member = clone(estimator)
    names = sorted(name for name in member.get_params(deep=True) if _is_state(name))
    states = {name: keyed(seed, STATE, place) % 2**_STATE_BITS for place, name in enumerate(names)}
    return member.set_params(**states) if states else member


def takes_weights(estimator: Any) -> bool:
    """Whether ``fit`` takes ``sample_weight``; under metadata routing, whether it asks for them."""
    if _routing_enabled():
        asks = get_routing_for_object(estimator).consumes("fit", ("sample_weight",))
        return bool(asks)
    return bool(has_fit_parameter(estimator, "sample_weight"))


@contextmanager
def blaming(failure: str) -> Iterator[None]:
    """Tell what goes wrong inside as the failure of a member; the common kinds stay what they are.

    Examples
    --------
    >>> with blaming("member 3 of the bag could not be fitted"):
    ...     raise ValueError("two classes are wanted")
    Traceback (most recent call last):
        ...
    ValueError: member 3 of the bag could not be fitted: two classes are wanted
    """
    try:
        yield
    except Exception as error:
        kinds = (ValueError, TypeError, MemoryError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), MemberError)
        raise kind(f"{failure}: {error}") from error


def _is_state(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _repeated(rows: Array, weight: Array) -> Array:
    repeated: Array = np.repeat(rows, weight[rows].astype(np.int64))
    return repeated
