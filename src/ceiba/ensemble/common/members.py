"""Fit the members of an ensemble; errors name the member."""

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
from ceiba.ensemble.common.rows import InputRows
from ceiba.ensemble.common.sampling import MEMBER, STATE, RowSampler, draw_columns, keyed_bits

# NumPy's RandomState takes seeds of 32 bits, and some learners read them as signed integers.
_STATE_BITS = 31


class MemberError(RuntimeError):
    """A member of an ensemble failed; the message names it."""


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A fitted estimator and the indices of its columns."""

    estimator: Any
    columns: Array


@dataclass(frozen=True, slots=True, eq=False)
class MemberFitter:
    """Fit members of a bagging ensemble, each determined by its number."""

    estimator: Any  # the estimator that members are clones of
    seed: int  # seed of the ensemble
    rows: InputRows  # rows of positive weight
    target: Array  # labels or numbers of these rows
    sampler: RowSampler
    # Weights that the rows keep in every sample; None if rows are drawn by weight.
    sample_weight: Array | None
    # Whether a row drawn several times is passed once, with its count as weight, or repeated.
    pass_weights: bool
    n_columns: int  # number of columns drawn per member
    bootstrap_features: bool = False  # whether a column can be drawn more than once
    params: dict[str, Any] = field(default_factory=dict)  # metadata for ``fit`` of the members

    def __call__(self, number: int) -> Member:
        """Fit the member of a number; an error names it."""
        seed = member_seed(self.seed, number)
        columns = draw_columns(
            seed, self.rows.n_columns, self.n_columns, replace=self.bootstrap_features
        )
        estimator = clone_with_seed(self.estimator, seed)
        rows, weight = self.draw(seed)
        params = _check_method_params(self.rows.data, self.params, rows)
        if weight is not None:
            params["sample_weight"] = weight
        with error_context(f"member {number} of the ensemble could not be fitted"):
            estimator.fit(self.rows.select(rows, columns), self.target[rows], **params)
        return Member(estimator, columns)

    def draw(self, seed: int) -> tuple[Array, Array | None]:
        """Return the row indices of a member and their weights; None for weights of 1.

        A member that does not take weights gets repeated rows, in the order of the draws.
        """
        if not self.pass_weights:
            rows = self.sampler.draw(seed)
            if self.sample_weight is not None:
                rows = np.repeat(rows, self.sample_weight[rows].astype(np.int64))
            return rows, None
        counts = self.sampler.counts(seed)
        rows = np.flatnonzero(counts)
        weight = counts[rows].astype(np.float64)
        if self.sample_weight is not None:
            weight *= self.sample_weight[rows]
        return rows, None if (weight == 1).all() else weight


def member_seed(seed: int, number: int) -> int:
    """Return the seed of one member of an ensemble."""
    return keyed_bits(seed, MEMBER, number)


def clone_with_seed(estimator: Any, seed: int) -> Any:
    """Clone an estimator and set every ``random_state`` in it from a member's seed.

    Examples
    --------
    >>> from ceiba.tree import DecisionTreeClassifier
    >>> clone_with_seed(DecisionTreeClassifier(), 7).random_state != 0
    True
    """
    member = clone(estimator)
    parameters = member.get_params(deep=True)
    names = sorted(name for name in parameters if name.rpartition("__")[2] == "random_state")
    states = {name: keyed_bits(seed, STATE, i) % 2**_STATE_BITS for i, name in enumerate(names)}
    return member.set_params(**states) if states else member


def accepts_sample_weight(estimator: Any) -> bool:
    """Return whether ``fit`` accepts, or with routing requests, ``sample_weight``."""
    if _routing_enabled():
        requested = get_routing_for_object(estimator).consumes("fit", ("sample_weight",))
        return bool(requested)
    return bool(has_fit_parameter(estimator, "sample_weight"))


@contextmanager
def error_context(failure: str) -> Iterator[None]:
    """Prefix the message of any error with ``failure``; common error types are kept.

    Examples
    --------
    >>> with error_context("member 3 of the ensemble could not be fitted"):
    ...     raise ValueError("y must have two classes.")
    Traceback (most recent call last):
        ...
    ValueError: member 3 of the ensemble could not be fitted: y must have two classes.
    """
    try:
        yield
    except Exception as error:
        kinds = (ValueError, TypeError, MemoryError)
        kind = next((kind for kind in kinds if isinstance(error, kind)), MemberError)
        raise kind(f"{failure}: {error}") from error
