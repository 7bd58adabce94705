"""Formulas of AdaBoost: estimator weights, row weights, scores and predictions.

Freund & Schapire (1997), "A decision-theoretic generalization of on-line learning and an
application to boosting", Journal of Computer and System Sciences 55: AdaBoost.M1. Zhu, Zou, Rosset
& Hastie (2009), "Multi-class AdaBoost", Statistics and Its Interface 2: SAMME and SAMME.R. Drucker
(1997), "Improving regressors using boosting techniques", ICML: AdaBoost.R2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import softmax

from ceiba._typing import Array
from ceiba.ensemble.common.votes import class_margin

# Relative tolerance of the comparison with chance. The new weights make the error of the previous
# member exactly that of chance, up to rounding of about 1e-15: if the next round fits the same
# member again, boosting ends.
_CHANCE_TOLERANCE = 2.0**-40
# Minimum of the probabilities whose logarithms are taken, as in scikit-learn.
_MIN_PROBABILITY = float(np.finfo(np.float64).eps)
# Factors are rounded to at least _MIN_BITS bits, and to more on small tables: as many as let the
# sum of all weights fit into _SUM_BITS bits. Such sums are exact, also in trees, which use 52 bits.
_MIN_BITS, _SUM_BITS = 36, 48
# Smaller weights are replaced by this one, which is the smallest that `fit` accepts.
_MIN_WEIGHT = 1e-50

StopReason = Literal["perfect", "chance"]


@dataclass(frozen=True, slots=True, eq=False)
class RoundResult:
    """Error and weight of a round's estimator, and the factors of the row weights."""

    error: float  # weighted error rate, or average loss, of the estimator
    estimator_weight: float  # weight (alpha) of the estimator; 0 if it is not kept
    # Factor of each row's weight, at most 1; a common factor has no effect. None if boosting ends.
    weight_factors: Array | None
    stop_reason: StopReason | None = None  # why boosting ends with this round, if it does


def _final_result(error: float, chance_error: float, *, perfect: bool) -> RoundResult | None:
    """Return the result of a round that ends boosting, or None."""
    if perfect:
        return RoundResult(0.0, 1.0, None, "perfect")
    if error >= chance_error * (1 - _CHANCE_TOLERANCE):
        return RoundResult(error, 0.0, None, "chance")
    return None


def samme(incorrect: Array, weights: Array, learning_rate: float, n_classes: int) -> RoundResult:
    """Compute one round of SAMME (Zhu et al. 2009, algorithm 2).

    With 2 for ``n_classes`` it is AdaBoost.M1, whatever the number of classes is (Freund & Schapire
    1997). ``incorrect`` marks the misclassified rows, and ``learning_rate`` is a factor of the
    estimator weight.
    """
    n_classes = max(2, n_classes)
    error = weighted_error(incorrect, weights)
    if stopped := _final_result(error, 1 - 1 / n_classes, perfect=error == 0):
        return stopped
    alpha = learning_rate * (math.log((1 - error) / error) + math.log(n_classes - 1))
    # Freund & Schapire multiply the weights of correct rows by exp(-alpha), Zhu et al. those of
    # incorrect rows by exp(alpha): after normalization it is the same.
    return RoundResult(error, alpha, np.where(incorrect, 1.0, math.exp(-alpha)))


def samme_r(
    probabilities: Array, labels: Array, weights: Array, learning_rate: float
) -> tuple[RoundResult, Array]:
    """Compute one round of SAMME.R (Zhu et al. 2009, algorithm 4) and the incorrect rows."""
    n_classes = probabilities.shape[1]
    incorrect = probabilities.argmax(axis=1) != labels
    error = weighted_error(incorrect, weights)
    if stopped := _final_result(error, 1 - 1 / n_classes, perfect=error == 0):
        return stopped, incorrect
    # Step 2 (d) has the exponent -(K - 1) / K * y . log p, where y is 1 for the row's class and
    # -1 / (K - 1) for the others. It equals the mean of log p minus log p of the row's class.
    logs = log_probabilities(probabilities)
    exponents = learning_rate * (logs.mean(axis=1) - logs[np.arange(len(labels)), labels])
    return RoundResult(error, 1.0, np.exp(exponents - exponents.max())), incorrect


def adaboost_r2(losses: Array, weights: Array, learning_rate: float) -> RoundResult:
    """Compute one round of AdaBoost.R2 (Drucker 1997) from losses between 0 and 1."""
    error = weighted_error(losses, weights)
    if stopped := _final_result(error, 0.5, perfect=not losses.any()):
        return stopped
    beta = error / (1 - error)
    factors = np.exp(learning_rate * math.log(beta) * (1 - losses))
    return RoundResult(error, learning_rate * -math.log(beta), factors)


def relative_losses(residuals: Array, loss: str) -> Array:
    """Return the loss of each row, from 0 to 1, relative to the largest absolute error."""
    largest = residuals.max()
    relative: Array = residuals / largest if largest > 0 else np.zeros(len(residuals))
    if loss == "square":
        return relative**2
    return 1 - np.exp(-relative) if loss == "exponential" else relative


def weighted_error(errors: Array, weights: Array) -> float:
    """Return the weighted mean of errors or losses."""
    return float((weights * errors).sum() / weights.sum())


def log_probabilities(probabilities: Array) -> Array:
    """Return the logarithms of probabilities, clipped to at least machine precision."""
    return np.asarray(np.log(np.maximum(probabilities, _MIN_PROBABILITY)))


def samme_scores(class_index: Array, n_classes: int, alpha: float) -> Array:
    """Return SAMME's scores: alpha for the predicted class, else -alpha / (n_classes - 1)."""
    scores = np.full((n_classes, n_classes), -alpha / max(1, n_classes - 1))
    np.fill_diagonal(scores, alpha)
    return scores[class_index]


def samme_r_scores(probabilities: Array) -> Array:
    """Return a SAMME.R estimator's class scores (Zhu et al. 2009, step 2 c)."""
    logs = log_probabilities(probabilities)
    return np.asarray((probabilities.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True)))


def decision_values(scores: Array, total_weight: float) -> Array:
    """Return mean class scores; of two classes, the second score minus the first."""
    means: Array = scores / total_weight
    return means[:, 1] - means[:, 0] if means.shape[1] == 2 else means


def class_probabilities(scores: Array, total_weight: float) -> Array:
    """Return class probabilities from scores (Zhu et al. 2009, equation 15)."""
    exponents = scores / (total_weight * max(1, scores.shape[1] - 1))
    return np.asarray(softmax(exponents, axis=1))


def relative_margin(scores: Array, max_margin: Array, labels: Array) -> Array:
    """Return the margins relative to the sum of the estimators' largest score differences."""
    if scores.shape[1] == 1:
        return np.ones(len(scores))
    margin = class_margin(scores, labels)
    relative: Array = np.divide(margin, max_margin, out=np.zeros(len(scores)), where=max_margin > 0)
    return np.clip(relative, -1.0, 1.0, out=relative)


# Number of values sorted at a time: their order and cumulative weights take about 16 MB.
_MEDIAN_BLOCK = 1_000_000


def weighted_median(predictions: Array, weights: Array) -> Array:
    """Return each row's smallest prediction up to which there is half of the weight."""
    medians = np.empty(len(predictions))
    n_rows = max(1, _MEDIAN_BLOCK // predictions.shape[1])
    for first in range(0, len(predictions), n_rows):
        block = slice(first, first + n_rows)
        medians[block] = _median_of_block(predictions[block], weights)
    return medians


def _median_of_block(predictions: Array, weights: Array) -> Array:
    order = np.argsort(predictions, axis=1, kind="stable")
    cumulative = np.cumsum(weights[order], axis=1)
    position = (cumulative >= cumulative[:, -1:] / 2).argmax(axis=1)
    rows = np.arange(len(predictions))
    return np.asarray(predictions[rows, order[rows, position]])


@dataclass(frozen=True, slots=True, eq=False)
class RowWeights:
    """Row weights that sum to the number of rows: the initial weight of each times a factor.

    Members may compare weights with numbers of rows, as C4.5 does. If the initial weights are
    integers, the number of rows is their sum.

    Factors are rounded to positive multiples of a unit, a power of two of at most 2^-35 of the
    largest factor. On small tables sums of weights are therefore exact in any order, and a row of
    weight 2 is equivalent to two equal rows even if splits are tied.
    """

    initial: Array | None  # ``sample_weight``; None for 1 each
    factors: Array  # product of the factors of all rounds
    bits: int  # bits of the largest factor
    total: float  # sum of the weights

    @classmethod
    def first(cls, initial: Array | None, n_rows: int) -> RowWeights:
        """Return the weights of the first round."""
        integral = initial is not None and bool((np.floor(initial) == initial).all())
        total = float(initial.sum()) if initial is not None and integral else float(n_rows)
        bits = max(_MIN_BITS, _SUM_BITS - math.frexp(total)[1])
        return cls(initial, np.ones(n_rows), bits, total).multiplied(np.ones(n_rows))

    @property
    def values(self) -> Array:
        """Weight of each row."""
        if self.initial is None:
            return self.factors
        return np.asarray(np.maximum(self.initial * self.factors, _MIN_WEIGHT))

    def multiplied(self, factors: Array) -> RowWeights:
        """Return the weights of the next round; a common factor has no effect."""
        product = self.factors * factors
        product = self._rounded(product / product.max())
        weights = product if self.initial is None else self.initial * product
        product = self._rounded(product * (self.total / weights.sum()), min_units=1.0)
        return RowWeights(self.initial, product, self.bits, self.total)

    def _rounded(self, factors: Array, min_units: float = 0.0) -> Array:
        """Round factors to units of the largest factor's last bit, at least ``min_units``."""
        unit = 2.0 ** (math.frexp(factors.max())[1] - self.bits)
        return np.asarray(np.maximum(np.rint(factors / unit), min_units) * unit)
