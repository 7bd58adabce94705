"""Mean losses after each round, and which round was the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ceiba._typing import Array


@dataclass(eq=False)
class LossHistory:
    """Mean losses after each round, and which round was the best.

    Parameters
    ----------
    best : int
        Number of rounds of the best model so far.
    best_loss : float
        Its validation loss.
    n_since_best : int
        Rounds since then.
    initial_loss : float or None
        Validation loss before the first round of the fit, with early stopping.
    losses : dict
        Losses by name: ``"training"``, ``"validation"``.
    """

    best: int
    best_loss: float = math.inf
    n_since_best: int = 0
    initial_loss: float | None = None
    losses: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, loss: float) -> None:
        """Add the loss of one more round."""
        self.losses.setdefault(name, []).append(loss)

    def last(self) -> dict[str, float]:
        """Return the losses of the last round."""
        return {name: values[-1] for name, values in self.losses.items()}

    def compare(self, n_rounds: int, tol: float) -> None:
        """Compare the last validation loss with the best one.

        ``tol`` is relative to the loss before the first round: another unit of the target
        changes nothing.
        """
        assert self.initial_loss is not None
        loss = self.losses["validation"][-1]
        if loss < self.best_loss - tol * abs(self.initial_loss):
            self.best, self.best_loss, self.n_since_best = n_rounds, loss, 0
        else:
            self.n_since_best += 1

    def all_losses(self, earlier: dict[str, Array], n_earlier: int, n_new: int) -> dict[str, Array]:
        """Return the losses of all rounds: those of an earlier fit that is continued, and these.

        Rounds without a recorded loss are NaN; those that the earlier fit dropped are left out.
        """
        return {
            name: np.concatenate([
                _pad_losses(earlier.get(name, np.empty(0)), n_earlier),
                _pad_losses(np.array(self.losses.get(name, ()), np.float64), n_new),
            ])
            for name in (*earlier, *(name for name in self.losses if name not in earlier))
        }  # fmt: skip


def _pad_losses(losses: Array, n_rounds: int) -> Array:
    """Return the losses of so many rounds; NaN for the first ones, where they lack."""
    losses = losses[:n_rounds]
    return np.concatenate([np.full(n_rounds - len(losses), np.nan), losses])
