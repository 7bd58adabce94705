"""The rules of AdaBoost: from a learner's mistakes to its say and what they make rows weigh.

Freund & Schapire (1997), "A decision-theoretic generalization of on-line learning and an
application to boosting", Journal of Computer and System Sciences 55: AdaBoost.M1. Zhu, Zou, Rosset
& Hastie (2009), "Multi-class AdaBoost", Statistics and Its Interface 2: SAMME and SAMME.R. Drucker
(1997), "Improving regressors using boosting techniques", ICML: AdaBoost.R2.
"""

from __future__ import annotations

import math

import numpy as np

from ceiba._typing import Array
from ceiba.ensemble.adaboost.base import Round

# A learner that is nearer to a guess than this share of it differs from one by rounding: after a
# round its own learner is wrong for half of the weight, to some 1e-15.
_NEAR = 2.0**-40
# Probabilities that logarithms are taken of are at least this.
_LEAST_SHARE = float(np.finfo(np.float64).eps)


def m1(wrong: Array, weights: Array, rate: float) -> Round:
    """One round of AdaBoost.M1.

    Parameters
    ----------
    wrong : ndarray of bool
        Which rows the learner gets wrong.
    weights : ndarray
        Weights of the rows, which sum to 1.
    rate : float
        Factor of the learner's say.

    Examples
    --------
    >>> import numpy as np
    >>> found = m1(np.array([True, False, False, False]), np.full(4, 0.25), 1.0)
    >>> found.error, round(found.alpha, 3), found.factors.round(3)
    (0.25, 1.099, array([1.   , 0.333, 0.333, 0.333]))
    """
    return _discrete(wrong, weights, rate, 2)


def samme(wrong: Array, weights: Array, rate: float, n_classes: int) -> Round:
    """One round of SAMME, which asks a learner to be better than a guess among all classes."""
    return _discrete(wrong, weights, rate, max(2, n_classes))


def _discrete(wrong: Array, weights: Array, rate: float, n_guesses: int) -> Round:
    error = share(wrong, weights)
    if error == 0:
        return Round.perfect()
    if no_better(error, 1 - 1 / n_guesses):
        return Round.chance(error)
    alpha = rate * (math.log((1 - error) / error) + math.log(n_guesses - 1))
    return Round(error, alpha, np.where(wrong, 1.0, math.exp(-alpha)))


def real(shares: Array, labels: Array, weights: Array, rate: float) -> tuple[Round, Array]:
    """One round of SAMME.R, in which a learner speaks by its probabilities, and which rows err.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_classes)
        The learner's probabilities.
    labels : ndarray of shape (n_rows,)
        Place of each row's class.
    weights, rate
        As in `m1`.
    """
    n_classes = shares.shape[1]
    wrong = shares.argmax(axis=1) != labels
    error = share(wrong, weights)
    if error == 0:
        return Round.perfect(), wrong
    if no_better(error, 1 - 1 / n_classes):
        return Round.chance(error), wrong
    # With the class coded as 1 and the others as -1 / (K - 1), the exponent of the paper is this.
    logs = log_shares(shares)
    exponents = rate * (logs.mean(axis=1) - logs[np.arange(len(labels)), labels])
    return Round(error, 1.0, np.exp(exponents - exponents.max())), wrong


def log_shares(shares: Array) -> Array:
    """Logarithms of probabilities, none below that of the machine's precision."""
    logs: Array = np.log(np.maximum(shares, _LEAST_SHARE))
    return logs


def losses(residuals: Array, kind: str) -> Array:
    """Loss of each row, from 0 to 1: its residual as a share of the largest.

    Parameters
    ----------
    residuals : ndarray
        Distances from the target.
    kind : "linear", "square" or "exponential"
    """
    most = residuals.max()
    found: Array = residuals / most if most > 0 else np.zeros(len(residuals))
    if kind == "square":
        return found**2
    return 1 - np.exp(-found) if kind == "exponential" else found


def r2(loss: Array, weights: Array, rate: float) -> Round:
    """One round of AdaBoost.R2.

    Parameters
    ----------
    loss : ndarray
        Loss of each row, from 0 to 1.
    weights, rate
        As in `m1`.
    """
    error = share(loss, weights)
    if not loss.any():
        return Round.perfect()
    if no_better(error, 0.5):
        return Round.chance(error)
    beta = error / (1 - error)
    return Round(error, rate * -math.log(beta), np.exp(rate * math.log(beta) * (1 - loss)))


def share(wrong: Array, weights: Array) -> float:
    """Share of the weight that is wrong."""
    return float((weights * wrong).sum() / weights.sum())


def no_better(error: float, guess: float) -> bool:
    """Whether an error is that of a guess, or above; rounding does not decide it."""
    return error >= guess * (1 - _NEAR)
