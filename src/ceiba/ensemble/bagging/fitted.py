"""Which rows the members of a bag were given, kept as what drew them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.ensemble.common.members import Member, member_seed
from ceiba.ensemble.common.sampling import Sampling


@dataclass(frozen=True, slots=True, eq=False)
class Lot:
    """Members drawn one after the other from the same rows, in the same way.

    Parameters
    ----------
    members : int
        How many they are.
    n_rows : int
        Rows that ``fit`` was given.
    sampling : Sampling
        How rows were drawn, among those of positive weight.
    kept : ndarray or None
        Numbers of the rows of positive weight; None where all are.
    mark : str
        Tells rows and targets apart, where that may be asked for; else empty.
    """

    members: int
    n_rows: int
    sampling: Sampling
    kept: Array | None = None
    mark: str = ""

    def sample(self, seed: int) -> Array:
        """Numbers of the rows that the member of a seed was given, as often as it was."""
        return self._numbered(self.sampling.drawn(seed))

    def out(self, seed: int) -> Array:
        """Numbers of the rows, of those with a weight, that it was not given."""
        return self._numbered(np.flatnonzero(self.sampling.counts(seed) == 0))

    @property
    def everything(self) -> bool:
        """Whether every member was given all rows that have a weight."""
        return not self.sampling.replace and self.sampling.draws == self.sampling.n_rows

    def _numbered(self, rows: Array) -> Array:
        numbers: Array = rows if self.kept is None else self.kept[rows]
        return numbers

    def alike(self, other: Lot) -> bool:
        """Whether both are known to be drawn from the same rows with the same weights."""
        return (
            self.n_rows == other.n_rows
            and self.mark == other.mark
            and _equal(self.kept, other.kept)
            and _equal(self.sampling.weights, other.sampling.weights)
        )

    def followed(self, other: Lot) -> list[Lot]:
        """Both lots, as one where they are drawn in the same way."""
        one, two = self.sampling, other.sampling
        same = (one.n_rows, one.draws, one.replace) == (two.n_rows, two.draws, two.replace)
        if same and self.alike(other):
            return [self.of_members(self.members + other.members)]
        return [self, other]

    def of_members(self, members: int) -> Lot:
        """The same of another number of members."""
        return replace(self, members=members)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {
            "members": self.members,
            "n_rows": self.n_rows,
            "kept": self.kept,
            "draws": self.sampling.draws,
            "replace": self.sampling.replace,
            "every": self.sampling.every,
            "weights": self.sampling.weights,
            "mark": self.mark,
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Lot:
        """The lot that `to_json` wrote; ValueError where the record contradicts itself."""
        n_rows, kept = _count(record["n_rows"]), record["kept"]
        if kept is not None:
            _check_rows(kept, n_rows)
        n_kept = n_rows if kept is None else len(kept)
        weights = record["weights"]
        if weights is not None:
            _check_weights(weights, n_kept)
        draws, replaced, every = _count(record["draws"]), record["replace"], record["every"]
        if type(replaced) is not bool or type(every) is not bool:
            raise ValueError("whether rows are drawn, and drawn again, is not said")
        if (draws > n_kept and not replaced) or (every and (replaced or draws != n_kept)):
            raise ValueError("other rows are drawn than there are")
        sampling = Sampling(n_kept, draws, replaced, weights, every)
        if not isinstance(record["mark"], str):
            raise ValueError("the mark of the lot is not text")
        return cls(_count(record["members"]), n_rows, sampling, kept, record["mark"])


def _equal(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other))


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("a number of the lot is not a count")
    return value


def _check_rows(kept: Any, n_rows: int) -> None:
    whole = isinstance(kept, np.ndarray) and kept.ndim == 1 and kept.dtype.kind == "i"
    if not whole or not len(kept) or kept[0] < 0 or kept[-1] >= n_rows:
        raise ValueError("the numbers of rows do not fit the rows")
    if not (np.diff(kept) > 0).all():
        raise ValueError("the numbers of rows do not ascend")


def _check_weights(weights: Any, n_rows: int) -> None:
    whole = isinstance(weights, np.ndarray) and weights.dtype == np.int64
    if not whole or weights.shape != (n_rows,) or not (weights > 0).all():
        raise ValueError("the weights of the lot are not a whole number for each row")


@dataclass(frozen=True, slots=True, eq=False)
class BaggedMembers:
    """Members, numbered from 0 over all fits that added some.

    Parameters
    ----------
    seed : int
        It keys every draw, together with the number of a member.
    members : tuple of Member
    lots : tuple of Lot
        How their rows were drawn, in the members' order.
    """

    seed: int
    members: tuple[Member, ...] = ()
    lots: tuple[Lot, ...] = ()

    @classmethod
    def of(cls, model: Any) -> BaggedMembers:
        """The bag of a fitted model."""
        pairs = zip(model.estimators_, model.estimators_features_, strict=True)
        members = tuple(Member(estimator, columns) for estimator, columns in pairs)
        return cls(model.seed_, members, tuple(model.lots_))

    def attributes(self) -> dict[str, Any]:
        """What a fitted model keeps of the bag."""
        return {
            "estimators_": [member.estimator for member in self.members],
            "estimators_features_": [member.columns for member in self.members],
            "lots_": list(self.lots),
            "seed_": self.seed,
        }

    def grown(self, members: Sequence[Member], lot: Lot) -> BaggedMembers:
        """The bag with members of one more lot."""
        return BaggedMembers(self.seed, (*self.members, *members), self.lots_with(lot))

    def lots_with(self, lot: Lot) -> tuple[Lot, ...]:
        """The lots and one more; alike ones are one."""
        if lot.members == 0:
            return self.lots
        return (*self.lots[:-1], *self.lots[-1].followed(lot)) if self.lots else (lot,)

    def sample(self, number: int) -> Array:
        """Numbers of the rows that a member was given, as often as it was."""
        return self._lot(number).sample(member_seed(self.seed, number))

    def out(self, number: int) -> Array:
        """Numbers of the rows with a weight that a member was not given."""
        return self._lot(number).out(member_seed(self.seed, number))

    def _lot(self, number: int) -> Lot:
        ends = np.cumsum([lot.members for lot in self.lots])
        return self.lots[int(np.searchsorted(ends, number, side="right"))]

    def check(self, n_columns: int) -> None:
        """Refuse members, columns and lots that do not fit together, as a file may hold."""
        if not self.members or type(self.seed) is not int or not 0 <= self.seed < 2**64:
            raise ValueError("a bag needs members and a seed of 64 bits")
        if not all(isinstance(lot, Lot) for lot in self.lots):
            raise ValueError("lots_ must hold lots")
        if sum(lot.members for lot in self.lots) != len(self.members):
            raise ValueError("lots_ must be those of estimators_")
        for member in self.members:
            _check_columns(member, n_columns)


def _check_columns(member: Member, n_columns: int) -> None:
    columns = member.columns
    if columns.ndim != 1 or columns.dtype.kind != "i" or not len(columns):
        raise ValueError("estimators_features_ must hold numbers of columns")
    if columns.min() < 0 or columns.max() >= n_columns:
        raise ValueError(f"estimators_features_ must be below the {n_columns} columns of the bag")
    if getattr(member.estimator, "n_features_in_", len(columns)) != len(columns):
        raise ValueError("estimators_features_ must be as many as a member's columns")
