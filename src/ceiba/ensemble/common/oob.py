"""Out-of-bag numbers: each row judged by the members that were not given it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ceiba._typing import Array
from ceiba.data.warn import warn_user
from ceiba.ensemble.bagging.fitted import Lot


class OutOfBagWarning(UserWarning):
    """Some rows were given to every member, so that there is no out-of-bag number for them."""


def check_possible(lots: Sequence[Lot]) -> None:
    """Refuse bags without rows out of bag, and those whose members learnt from different rows."""
    if not all(lot.alike(lots[0]) for lot in lots):
        raise ValueError(
            "out-of-bag numbers need members that were all drawn from the same rows: fit with "
            "warm_start=False, or with oob_score=False"
        )
    if lots[0].sampling.n_rows == 1:
        raise ValueError("oob_score needs more than n_samples=1: the only row is in every bag")
    if all(lot.everything for lot in lots):
        raise ValueError(
            "oob_score needs rows that members are not given: set bootstrap=True, or max_samples "
            "to fewer rows than there are"
        )


def judged_rows(asked: Array, n_rows: int) -> Array:
    """Numbers of the rows that were ever out of bag, of ``n_rows``; a warning counts the others."""
    judged = np.flatnonzero(asked)
    if not len(judged):
        raise ValueError(
            "every row was given to every member, so that none is out of bag: raise n_estimators, "
            "or lower max_samples"
        )
    if len(judged) < n_rows:
        warn_user(
            f"{n_rows - len(judged)} of {n_rows} rows were given to every member, so that they "
            "have no out-of-bag prediction (NaN) and do not count in oob_score_: raise "
            "n_estimators.",
            OutOfBagWarning,
        )
    return judged
