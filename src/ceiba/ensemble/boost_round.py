"""What one round of boosting comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ceiba.stats.points import Array

Stop = Literal["perfect", "chance"]


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """A learner's error, its say in the committee, and what its mistakes do to the rows.

    Parameters
    ----------
    error : float
        Weight of the rows that it gets wrong, or its average loss: a share of all weight.
    alpha : float
        Its say; 0 where it is not kept.
    factors : ndarray or None
        What the weight of each row is to be multiplied by, at most 1 and up to a common factor;
        None where boosting ends.
    stop : "perfect", "chance" or None
        Why boosting ends with this round, if it does.
    """

    error: float
    alpha: float
    factors: Array | None
    stop: Stop | None = None

    @classmethod
    def perfect(cls) -> Round:
        """Nothing is wrong: the learner has a say of 1, and there is nothing to weigh anew."""
        return cls(0.0, 1.0, None, "perfect")

    @classmethod
    def chance(cls, error: float) -> Round:
        """The learner is no better than a guess."""
        return cls(error, 0.0, None, "chance")
