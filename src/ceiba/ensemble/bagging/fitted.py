"""Members of a bagging ensemble and the record of how their rows were drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Record
from ceiba.data.warn import warn_user
from ceiba.ensemble.common.members import Member, member_seed
from ceiba.ensemble.common.sampling import OutOfBagWarning, RowSampler


@dataclass(frozen=True, eq=False)
class DrawnBatch(Record):
    """Record of consecutive members whose rows were drawn in the same way.

    Parameters
    ----------
    n_members : int
    n_rows : int
        Rows passed to ``fit``.
    n_draws, replace, weights, all_rows
        The `RowSampler`, which draws among the rows of positive weight.
    positive : ndarray or None
        Indices of the rows of positive weight; None if all are.
    fingerprint : str
        Hash of rows and target, empty unless ``warm_start`` or ``oob_score`` needs it.
    """

    n_members: Annotated[int, AtLeast(1)]
    n_rows: Annotated[int, AtLeast(1)]
    n_draws: Annotated[int, AtLeast(1)]
    replace: bool
    weights: Annotated[Array | None, ArrayOf("int64", "n_positive")] = None
    all_rows: bool = False
    positive: Annotated[Array | None, ArrayOf("i", "n_positive")] = None
    fingerprint: str = ""

    @classmethod
    def of(
        cls, n_members: int, n_rows: int, sampler: RowSampler, positive: Array | None,
        fingerprint: str,
    ) -> DrawnBatch:  # fmt: skip
        """Record the members of a fit and their sampler."""
        return cls(
            n_members, n_rows, sampler.n_draws, sampler.replace, sampler.weights, sampler.all_rows,
            positive, fingerprint,
        )  # fmt: skip

    @property
    def n_positive(self) -> int:
        """Number of rows of positive weight."""
        return self.n_rows if self.positive is None else len(self.positive)

    @property
    def sampler(self) -> RowSampler:
        """The sampler of the members' rows."""
        return RowSampler(self.n_positive, self.n_draws, self.replace, self.weights, self.all_rows)

    def sample(self, seed: int) -> Array:
        """Return the row indices of the sample drawn with a seed, with repetitions."""
        return self._input_indices(self.sampler.draw(seed))

    def out_of_bag(self, seed: int) -> Array:
        """Return the indices of the out-of-bag rows of the sample drawn with a seed.

        Rows of weight zero are not among them.
        """
        return self._input_indices(np.flatnonzero(self.sampler.counts(seed) == 0))

    def _input_indices(self, rows: Array) -> Array:
        indices: Array = rows if self.positive is None else self.positive[rows]
        return indices

    @property
    def uses_all_rows(self) -> bool:
        """Whether every member gets all rows of positive weight."""
        return not self.replace and self.n_draws == self.n_positive

    def same_data(self, other: DrawnBatch) -> bool:
        """Return whether both were drawn from the same rows with the same weights."""
        return (
            self.n_rows == other.n_rows
            and self.fingerprint == other.fingerprint
            and _equal(self.positive, other.positive)
            and _equal(self.weights, other.weights)
        )

    def followed_by(self, other: DrawnBatch) -> list[DrawnBatch]:
        """Return both batches, merged into one where they are drawn in the same way."""
        same = (self.n_draws, self.replace) == (other.n_draws, other.replace)
        if same and self.same_data(other):
            return [dataclasses.replace(self, n_members=self.n_members + other.n_members)]
        return [self, other]

    def check(self) -> None:
        """Raise if indices, weights and number of draws contradict each other."""
        rows = self.positive
        if rows is not None:
            in_range = len(rows) > 0 and rows[0] >= 0 and rows[-1] < self.n_rows
            if not in_range or not (np.diff(rows) > 0).all():
                raise ValueError(f"positive must be ascending row indices below {self.n_rows}.")
        weights = self.weights
        if weights is not None and (len(weights) != self.n_positive or not (weights > 0).all()):
            raise ValueError(f"weights must be {self.n_positive} positive integers.")
        too_many = not self.replace and self.n_draws > self.n_positive
        if too_many or (self.all_rows and (self.replace or self.n_draws != self.n_positive)):
            raise ValueError(
                f"n_draws must match the {self.n_positive} rows that can be drawn, got "
                f"{self.n_draws}."
            )


def _equal(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))


@dataclass(frozen=True, slots=True, eq=False)
class BaggedMembers:
    """Members of a bagging ensemble, numbered from 0 over all fits that added some."""

    seed: int  # seed of all draws, together with the number of the member
    members: tuple[Member, ...] = ()
    # How the members' rows were drawn, in the order of the members.
    batches: tuple[DrawnBatch, ...] = ()

    @classmethod
    def of(cls, model: Any) -> BaggedMembers:
        """Return the members of a fitted model."""
        pairs = zip(model.estimators_, model.estimators_features_, strict=True)
        members = tuple(Member(estimator, columns) for estimator, columns in pairs)
        return cls(model.seed_, members, tuple(model.batches_))

    def attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a model with these members."""
        return {
            "estimators_": [member.estimator for member in self.members],
            "estimators_features_": [member.columns for member in self.members],
            "batches_": list(self.batches),
            "seed_": self.seed,
        }

    def extended(self, members: Sequence[Member], batch: DrawnBatch) -> BaggedMembers:
        """Return the ensemble with the members of one more batch."""
        if not members:
            return self
        batches: tuple[DrawnBatch, ...] = (batch,)
        if self.batches:
            batches = (*self.batches[:-1], *self.batches[-1].followed_by(batch))
        return BaggedMembers(self.seed, (*self.members, *members), batches)

    def sample(self, number: int) -> Array:
        """Return the row indices of a member's sample, with repetitions."""
        return self._batch(number).sample(member_seed(self.seed, number))

    def out_of_bag(self, number: int) -> Array:
        """Return the indices of a member's out-of-bag rows of positive weight."""
        return self._batch(number).out_of_bag(member_seed(self.seed, number))

    def _batch(self, number: int) -> DrawnBatch:
        ends = np.cumsum([batch.n_members for batch in self.batches])
        return self.batches[int(np.searchsorted(ends, number, side="right"))]

    def check(self, n_columns: int) -> None:
        """Raise if members, columns and batches of a loaded model contradict each other."""
        if not self.members or type(self.seed) is not int or not 0 <= self.seed < 2**64:
            raise ValueError("estimators_ must not be empty and seed_ must be an int of 64 bits.")
        if not all(isinstance(batch, DrawnBatch) for batch in self.batches):
            raise ValueError("batches_ must be a list of DrawnBatch.")
        if sum(batch.n_members for batch in self.batches) != len(self.members):
            raise ValueError("batches_ must have as many members as estimators_.")
        for member in self.members:
            _check_columns(member, n_columns)


def _check_columns(member: Member, n_columns: int) -> None:
    columns = member.columns
    if columns.ndim != 1 or columns.dtype.kind != "i" or not len(columns):
        raise ValueError("estimators_features_ must be a list of 1-D arrays of column indices.")
    if columns.min() < 0 or columns.max() >= n_columns:
        raise ValueError(f"estimators_features_ must be indices below {n_columns}.")
    if getattr(member.estimator, "n_features_in_", len(columns)) != len(columns):
        raise ValueError("estimators_features_ must match n_features_in_ of the members.")


def check_oob_possible(batches: Sequence[DrawnBatch]) -> None:
    """Raise if no row can be out of bag, or if members were fitted to different data."""
    if not all(batch.same_data(batches[0]) for batch in batches):
        raise ValueError(
            "oob_score=True requires all members to be drawn from the same rows: set "
            "warm_start=False or oob_score=False."
        )
    if batches[0].sampler.n_rows == 1:
        raise ValueError(
            "oob_score=True requires more than n_samples=1, because the only row is in every "
            "sample."
        )
    if all(batch.uses_all_rows for batch in batches):
        raise ValueError(
            "oob_score=True requires members that do not use all rows: set bootstrap=True, or "
            "max_samples below the number of rows."
        )


def out_of_bag_rows(n_members: Array, n_rows: int) -> Array:
    """Return the rows that have an out-of-bag prediction; warn about the others.

    ``n_members`` counts the members that each row is out of bag for; ``n_rows`` rows have a
    positive weight.
    """
    rows = np.flatnonzero(n_members)
    if not len(rows):
        raise ValueError(
            "no row is out of bag, because every member uses every row: increase n_estimators, "
            "or decrease max_samples."
        )
    if len(rows) < n_rows:
        warn_user(
            f"{n_rows - len(rows)} of {n_rows} rows are in the sample of every member, so that "
            "they have no out-of-bag prediction (NaN) and do not count in oob_score_: increase "
            "n_estimators.",
            OutOfBagWarning,
        )
    return rows
