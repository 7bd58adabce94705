"""Members of a bagging ensemble: draw their rows, fit them, and sum their predictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from sklearn import config_context, get_config
from threadpoolctl import threadpool_limits

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Record
from ceiba.base.record import check_values
from ceiba.base.value_types import format_value
from ceiba.engine import Engine
from ceiba.engine.contract import R, T
from ceiba.ensemble.common.base import clone_with_seed, error_context, member_seed
from ceiba.ensemble.common.rows import InputRows
from ceiba.ensemble.common.sample_fit import SampleFitter
from ceiba.ensemble.common.sampling import RowSampler, draw_columns, warn_in_all_samples

# Members per thread in one call of the engine: more keep the threads busy, fewer take less memory.
_TASKS_PER_THREAD = 4


class Member(NamedTuple):
    """A fitted estimator and the indices of its columns."""

    estimator: Any
    columns: Array


@dataclass(frozen=True, slots=True, eq=False)
class MemberFitter:
    """Fit members of a bagging ensemble, each determined by its number."""

    estimator: Any  # the estimator that members are clones of
    seed: int  # seed of the ensemble
    fitter: SampleFitter
    sampler: RowSampler  # draws among the rows of positive weight
    keep_weights: bool  # whether rows keep their weights in every sample, or are drawn by weight
    n_columns: int  # number of columns drawn per member
    bootstrap_features: bool = False  # whether a column can be drawn more than once

    def __call__(self, number: int) -> Member:
        """Fit the member of a number; an error names it."""
        seed = member_seed(self.seed, number)
        n_columns = self.fitter.data.rows.n_columns
        columns = draw_columns(seed, n_columns, self.n_columns, replace=self.bootstrap_features)
        estimator = clone_with_seed(self.estimator, seed)
        rows, weight = self.draw(seed)
        with error_context(f"member {number} of the ensemble could not be fitted"):
            return Member(self.fitter.fit(estimator, rows, weight, columns), columns)

    def draw(self, seed: int) -> tuple[Array, Array | None]:
        """Return a member's rows and weights (None for 1 each), or repeated rows and None.

        An estimator that accepts ``sample_weight`` gets a row that is drawn several times once,
        with its count as weight.
        """
        data = self.fitter.data
        if not self.fitter.pass_weights:
            rows = data.input_rows(self.sampler.draw(seed))
            weight = data.weights_of(rows) if self.keep_weights else None
            return (rows if weight is None else np.repeat(rows, weight.astype(np.int64))), None
        counts = self.sampler.counts(seed)
        drawn = np.flatnonzero(counts)
        rows, weight = data.input_rows(drawn), counts[drawn].astype(np.float64)
        own = data.weights_of(rows) if self.keep_weights else None
        if own is not None:
            weight *= own
        return rows, None if (weight == 1).all() else weight


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

    @property
    def n_positive(self) -> int:
        """Number of rows of positive weight."""
        return self.n_rows if self.positive is None else len(self.positive)

    @property
    def sampler(self) -> RowSampler:
        """The sampler of the members' rows."""
        return RowSampler(self.n_positive, self.n_draws, self.replace, self.weights, self.all_rows)

    def input_rows(self, rows: Array) -> Array:
        """Return the input indices of some rows of positive weight."""
        return np.asarray(rows if self.positive is None else self.positive[rows])

    def same_data(self, other: DrawnBatch) -> bool:
        """Return whether both were drawn from the same rows with the same weights."""
        arrays: list[tuple[Any, Any]] = [
            (self.positive, other.positive), (self.weights, other.weights)
        ]  # fmt: skip
        same = (self.n_rows, self.fingerprint) == (other.n_rows, other.fingerprint)
        return same and all(np.array_equal(*pair) for pair in arrays)  # None equals None only

    def followed_by(self, other: DrawnBatch) -> tuple[DrawnBatch, ...]:
        """Return both batches, merged into one where they are drawn in the same way."""
        same = (self.n_draws, self.replace) == (other.n_draws, other.replace)
        if same and self.same_data(other):
            return (dataclasses.replace(self, n_members=self.n_members + other.n_members),)
        return self, other

    def check(self) -> None:
        """Raise if indices, weights and number of draws contradict each other."""
        rows = self.positive
        if rows is not None:
            in_range = len(rows) > 0 and rows[0] >= 0 and rows[-1] < self.n_rows
            if not in_range or not (np.diff(rows) > 0).all():
                raise ValueError(
                    f"positive must be ascending row indices below {self.n_rows}, got {rows!r}."
                )
        weights = self.weights
        if weights is not None and (len(weights) != self.n_positive or not (weights > 0).all()):
            raise ValueError(f"weights must be {self.n_positive} positive ints, got {weights!r}.")
        too_many = not self.replace and self.n_draws > self.n_positive
        if too_many or (self.all_rows and (self.replace or self.n_draws != self.n_positive)):
            raise ValueError(
                f"n_draws must match the {self.n_positive} rows that can be drawn, got "
                f"{self.n_draws}."
            )


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
        members = tuple(Member(*pair) for pair in pairs)
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
        last = self.batches[-1].followed_by(batch) if self.batches else (batch,)
        batches = (*self.batches[:-1], *last)
        return BaggedMembers(self.seed, (*self.members, *members), batches)

    def sample(self, number: int) -> Array:
        """Return the row indices of a member's sample, with repetitions."""
        batch = self._batch(number)
        return batch.input_rows(batch.sampler.draw(member_seed(self.seed, number)))

    def out_of_bag(self, number: int) -> Array:
        """Return the indices of a member's out-of-bag rows of positive weight."""
        batch = self._batch(number)
        counts = batch.sampler.counts(member_seed(self.seed, number))
        return batch.input_rows(np.flatnonzero(counts == 0))

    def _batch(self, number: int) -> DrawnBatch:
        ends = np.cumsum([batch.n_members for batch in self.batches])
        return self.batches[int(np.searchsorted(ends, number, side="right"))]

    def check(self, n_columns: int) -> None:
        """Raise if members, columns and batches of a loaded model contradict each other."""
        if not self.members or type(self.seed) is not int or not 0 <= self.seed < 2**64:
            raise ValueError(
                "estimators_ must not be empty and seed_ must be an int in [0, 2^64), got "
                f"{len(self.members)} estimators and {self.seed!r}."
            )
        if not all(isinstance(batch, DrawnBatch) for batch in self.batches):
            raise ValueError(f"batches_ must be a list of DrawnBatch, got {self.batches!r}.")
        n_members = sum(batch.n_members for batch in self.batches)
        if n_members != len(self.members):
            raise ValueError(
                f"batches_ must have as many members as estimators_, {len(self.members)}, got "
                f"{n_members}."
            )
        for member in self.members:
            _check_columns(member, n_columns)


def _check_columns(member: Member, n_columns: int) -> None:
    columns = member.columns
    if columns.ndim != 1 or columns.dtype.kind != "i" or not len(columns):
        found = format_value(columns)
        raise ValueError(
            f"estimators_features_ must be a list of 1-D arrays of column indices, got {found}."
        )
    valid = (columns >= 0) & (columns < n_columns)
    check_values("estimators_features_", columns, valid, f"indices below {n_columns}")
    width = getattr(member.estimator, "n_features_in_", len(columns))
    if width != len(columns):
        raise ValueError(
            f"estimators_features_ must have {width} columns, as the member, got {len(columns)}."
        )


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
    if all(not batch.replace and batch.n_draws == batch.n_positive for batch in batches):
        raise ValueError(
            "oob_score=True requires members that do not use all rows: set bootstrap=True, or "
            "max_samples below the number of rows."
        )


def out_of_bag_rows(n_members: Array, n_rows: int) -> Array:
    """Return the rows that have an out-of-bag prediction; warn if not all ``n_rows`` have."""
    rows = np.flatnonzero(n_members)
    if not len(rows):
        raise ValueError(
            "no row is out of bag, because every member uses every row: increase n_estimators, "
            "or decrease max_samples."
        )
    warn_in_all_samples(n_rows - len(rows), n_rows, "member")
    return rows


def task_groups(numbers: range, threads: int) -> Iterator[range]:
    """Split member numbers into groups that keep the threads busy and fit into memory."""
    size = _TASKS_PER_THREAD * threads
    return (numbers[first : first + size] for first in range(0, len(numbers), size))


def with_sklearn_config(function: Callable[[T], R]) -> Callable[[T], R]:
    """Return a function that has this thread's scikit-learn configuration in any thread."""
    config = get_config()

    def call(task: T) -> R:
        with config_context(**config):
            return function(task)

    return call


def limit_blas_threads(engine: Engine) -> AbstractContextManager[Any]:
    """Limit BLAS to one thread while estimators of other libraries are fitted in parallel."""
    if engine.threads == 1:
        return nullcontext()
    limits: AbstractContextManager[Any] = threadpool_limits(limits=1, user_api="blas")
    return limits


@dataclass(frozen=True, slots=True, eq=False)
class PredictionSums:
    """Sums of the members' predictions for each row."""

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
    classes: Array | None,
    rows_of: Callable[[int], Array] | None = None,
) -> PredictionSums:
    """Add up the members' predictions, in the order of the members.

    ``predict(estimator, X)`` returns a number, or one per class, for each row; ``rows_of(number)``
    the indices of the rows that a member predicts, by default all.
    """

    def predict_member(number: int) -> tuple[Any, Array]:
        index = None if rows_of is None else rows_of(number)
        if index is not None and not len(index):
            return index, np.zeros(())  # the member has no out-of-bag rows
        member = members[number]
        with error_context(f"member {number} of the ensemble could not predict"):
            predicted = predict(member.estimator, rows.select(index, member.columns))
        return (slice(None) if index is None else index), predicted

    sums = np.zeros(len(rows) if classes is None else (len(rows), len(classes)))
    n_members = np.zeros(len(rows), np.int64)
    task = with_sklearn_config(predict_member)
    for group in task_groups(range(len(members)), engine.threads):
        for index, predicted in engine.map(task, group):
            with np.errstate(over="ignore"):  # an error below
                sums[index] += predicted
            n_members[index] += 1
    if not np.isfinite(sums).all():
        raise ValueError(
            f"The sum of the predictions of {len(members)} members overflows: rescale y."
        )
    return PredictionSums(sums, n_members)
