"""The members of a bag, and what drew their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.ensemble.bagging_lot import Lot
from ceiba.ensemble.members import Member, member_seed
from ceiba.stats.points import Array


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
