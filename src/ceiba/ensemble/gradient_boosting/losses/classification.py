"""Losses of classes: the log-losses and the exponential loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit, logsumexp, softmax

from ceiba import _native
from ceiba._typing import Array
from ceiba.ensemble.gradient_boosting.losses.base import MAX_EXPONENT, LinkName, Loss

# Probabilities of an init predictor are kept away from 0 and 1, whose log-odds are infinite.
_MIN_PROBABILITY = 1e-12


class BinomialLogLoss(Loss):
    """Log-loss of two classes; the raw score is the log-odds of the second one."""

    link_name: ClassVar[LinkName] = "logit"

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([_log_odds(self.y, self.weight)])

    def gradients(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        """Write weighted gradients and Hessians."""
        assert hessian is not None
        _native.logistic_gradients(
            self.y, raw[0], self.weight, gradient[0], hessian[0], self.threads
        )

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(np.logaddexp(0.0, raw[0]) - y * raw[0])

    @staticmethod
    def link(prediction: Array) -> Array:
        """Return the log-odds of class probabilities; 0 for a single class."""
        logs = _log_probabilities(prediction)
        return np.asarray(logs[:, -1:] - logs[:, :1])

    @staticmethod
    def inverse_link(raw: Array) -> Array:
        """Return the class probabilities of raw scores of shape (n_rows, 1)."""
        return np.stack([expit(-raw[:, 0]), expit(raw[:, 0])], axis=1)


class MultinomialLogLoss(Loss):
    """Log-loss of three or more classes; probabilities are the softmax of the scores."""

    link_name: ClassVar[LinkName] = "softmax"

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, n_classes: int) -> None:
        super().__init__(y, weight, threads)
        self.n_outputs = n_classes
        self._labels = y.astype(np.int32)

    def first_scores(self) -> Array:
        """Return the centered logarithms of the class frequencies."""
        totals = np.bincount(self._labels, self.weight, minlength=self.n_outputs)
        # A class without rows has the score of a thousandth of the smallest class.
        logs = np.log(np.maximum(totals, 1e-3 * totals[totals > 0].min()) / totals.sum())
        return np.asarray(logs - logs.mean())

    def gradients(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        """Write weighted gradients and Hessians."""
        assert hessian is not None
        _native.softmax_gradients(self._labels, raw, self.weight, gradient, hessian, self.threads)

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        chosen = raw[y.astype(np.intp), np.arange(raw.shape[1])]
        return np.asarray(logsumexp(raw, axis=0) - chosen)

    @staticmethod
    def link(prediction: Array) -> Array:
        """Return the centered logarithms of class probabilities."""
        logs = _log_probabilities(prediction)
        return np.asarray(logs - logs.mean(axis=1, keepdims=True))

    @staticmethod
    def inverse_link(raw: Array) -> Array:
        """Return the class probabilities of raw scores of shape (n_rows, n_classes)."""
        return np.asarray(softmax(raw, axis=1))


class Exponential(Loss):
    """Exponential loss of two classes (AdaBoost); the score is half the log-odds."""

    link_name: ClassVar[LinkName] = "half_logit"

    def first_scores(self) -> Array:
        """Return the constant score of smallest loss."""
        return np.array([_log_odds(self.y, self.weight) / 2])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        assert hessian is not None
        sign = 2 * self.y - 1
        np.exp(np.minimum(-sign * raw, MAX_EXPONENT), out=hessian)
        np.multiply(-sign, hessian, out=gradient)

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return np.asarray(np.exp(np.minimum((1 - 2 * y) * raw[0], MAX_EXPONENT)))

    @staticmethod
    def link(prediction: Array) -> Array:
        """Return half the log-odds of class probabilities."""
        return BinomialLogLoss.link(prediction) / 2

    @staticmethod
    def inverse_link(raw: Array) -> Array:
        """Return the class probabilities of raw scores of shape (n_rows, 1)."""
        return BinomialLogLoss.inverse_link(2 * raw)


def _log_probabilities(prediction: Array) -> Array:
    return np.asarray(np.log(np.clip(prediction, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)))


def _log_odds(y: Array, weight: Array | None) -> float:
    totals = np.bincount(y.astype(np.intp), weight, minlength=2).astype(np.float64)
    # A single class has the odds of half a row of the other.
    totals[totals == 0] = 0.5 * totals.sum() / len(y)
    return float(np.log(totals[1] / totals[0]))
