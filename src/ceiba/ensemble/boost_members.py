"""The members of a boosted committee, round by round."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ceiba.stats.points import Array


@dataclass(slots=True, eq=False)
class BoostedMembers:
    """The members so far, each with its say and its error, and why there are no more."""

    members: list[Any] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    stopped: str = "rounds"

    def add(self, member: Any, alpha: float, error: float) -> None:
        """One more."""
        self.members.append(member)
        self.alphas.append(alpha)
        self.errors.append(error)

    def attributes(self) -> dict[str, Any]:
        """What a fitted estimator keeps of them."""
        return {
            "estimators_": list(self.members),
            "estimator_weights_": np.array(self.alphas),
            "estimator_errors_": np.array(self.errors),
            "stopped_": self.stopped,
        }


def check_members(members: list[Any], alphas: Array, errors: Array, stopped: str) -> None:
    """Refuse members, says and errors that do not fit together, as a file may hold."""
    if not members or alphas.shape != (len(members),) or errors.shape != (len(members),):
        raise ValueError("estimators_ must hold members, each with its weight and its error")
    if not (np.isfinite(alphas).all() and (alphas > 0).all()):
        raise ValueError("estimator_weights_ must be positive")
    if stopped not in ("rounds", "perfect", "chance"):
        raise ValueError("stopped_ must say why boosting ended")
