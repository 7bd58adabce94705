"""What the members of a bag say of rows, added up in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ceiba.engine import Engine
from ceiba.ensemble.bagging_tasks import InConfiguration, groups
from ceiba.ensemble.member_rows import MemberRows
from ceiba.ensemble.members import Member, blaming
from ceiba.stats.points import Array


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
