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

# Relative tolerance of the comparison with chance. Under the weights of the next round the error of
# the last estimator is that of chance, up to rounding of about 1e-15: it must not be added again.
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

    @classmethod
    def perfect(cls) -> RoundResult:
        """Return the result of an estimator without error; its weight is 1."""
        return cls(0.0, 1.0, None, "perfect")

    @classmethod
    def chance(cls, error: float) -> RoundResult:
        """Return the result of an estimator that is no better than chance."""
        return cls(error, 0.0, None, "chance")


def adaboost_m1(incorrect: Array, weights: Array, learning_rate: float) -> RoundResult:
    """Compute one round of AdaBoost.M1 (Freund & Schapire 1997).

    ``incorrect`` marks the misclassified rows, and ``learning_rate`` is a factor of the estimator
    weight.

    Examples
    --------
    >>> import numpy as np
    >>> result = adaboost_m1(np.array([True, False, False, False]), np.full(4, 0.25), 1.0)
    >>> result.error, round(result.estimator_weight, 3), result.weight_factors.round(3)
    (0.25, 1.099, array([1.   , 0.333, 0.333, 0.333]))
    """
    return _discrete_adaboost(incorrect, weights, learning_rate, 2)


def samme(incorrect: Array, weights: Array, learning_rate: float, n_classes: int) -> RoundResult:
    """Compute one round of SAMME (Zhu et al. 2009, algorithm 2)."""
    return _discrete_adaboost(incorrect, weights, learning_rate, max(2, n_classes))


def _discrete_adaboost(
    incorrect: Array, weights: Array, learning_rate: float, n_classes: int
) -> RoundResult:
    error = weighted_error(incorrect, weights)
    if error == 0:
        return RoundResult.perfect()
    if no_better_than_chance(error, 1 - 1 / n_classes):
        return RoundResult.chance(error)
    alpha = learning_rate * (math.log((1 - error) / error) + math.log(n_classes - 1))
    # Freund & Schapire multiply the weights of correct rows by exp(-alpha), Zhu et al. those of
    # incorrect rows by exp(alpha): after normalization it is the same.
    return RoundResult(error, alpha, np.where(incorrect, 1.0, math.exp(-alpha)))


def samme_r(
    probabilities: Array, labels: Array, weights: Array, learning_rate: float
) -> tuple[RoundResult, Array]:
    """Compute one round of SAMME.R (Zhu et al. 2009, algorithm 4).

    Also return which rows are misclassified.
    """
    n_classes = probabilities.shape[1]
    incorrect = probabilities.argmax(axis=1) != labels
    error = weighted_error(incorrect, weights)
    if error == 0:
        return RoundResult.perfect(), incorrect
    if no_better_than_chance(error, 1 - 1 / n_classes):
        return RoundResult.chance(error), incorrect
    # Step 2 (d) has the exponent -(K - 1) / K * y . log p, where y is 1 for the row's class and
    # -1 / (K - 1) for the others. It equals the mean of log p minus log p of the row's class.
    logs = log_probabilities(probabilities)
    exponents = learning_rate * (logs.mean(axis=1) - logs[np.arange(len(labels)), labels])
    return RoundResult(error, 1.0, np.exp(exponents - exponents.max())), incorrect


def adaboost_r2(losses: Array, weights: Array, learning_rate: float) -> RoundResult:
    """Compute one round of AdaBoost.R2 (Drucker 1997) from losses between 0 and 1."""
    error = weighted_error(losses, weights)
    if not losses.any():
        return RoundResult.perfect()
    if no_better_than_chance(error, 0.5):
        return RoundResult.chance(error)
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


def no_better_than_chance(error: float, chance_error: float) -> bool:
    """Return whether an error is at least the error of chance, up to rounding."""
    return error >= chance_error * (1 - _CHANCE_TOLERANCE)


def log_probabilities(probabilities: Array) -> Array:
    """Return the logarithms of probabilities, clipped to at least machine precision."""
    logs: Array = np.log(np.maximum(probabilities, _MIN_PROBABILITY))
    return logs


def samme_scores(class_index: Array, n_classes: int, alpha: float) -> Array:
    """Return a SAMME estimator's class scores (Zhu et al. 2009).

    The score of the predicted class is alpha, that of the others -alpha / (n_classes - 1).

    Examples
    --------
    >>> import numpy as np
    >>> samme_scores(np.array([2, 0]), 3, 1.0)
    array([[-0.5, -0.5,  1. ],
           [ 1. , -0.5, -0.5]])
    """
    scores = np.full((n_classes, n_classes), -alpha / max(1, n_classes - 1))
    np.fill_diagonal(scores, alpha)
    return scores[class_index]


def samme_r_scores(probabilities: Array) -> Array:
    """Return a SAMME.R estimator's class scores (Zhu et al. 2009, step 2 c)."""
    logs = log_probabilities(probabilities)
    scores: Array = (probabilities.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True))
    return scores


def decision_values(scores: Array, total_weight: float) -> Array:
    """Return mean class scores; of two classes, the second score minus the first."""
    means: Array = scores / total_weight
    return means[:, 1] - means[:, 0] if means.shape[1] == 2 else means


def class_probabilities(scores: Array, total_weight: float) -> Array:
    """Return class probabilities from scores (Zhu et al. 2009, equation 15)."""
    exponents = scores / (total_weight * max(1, scores.shape[1] - 1))
    probabilities: Array = softmax(exponents, axis=1)
    return probabilities


def relative_margin(scores: Array, max_margin: Array, labels: Array) -> Array:
    """Return the margin of each row relative to ``max_margin``; 1 for a single class.

    ``max_margin`` is the sum of each estimator's largest score difference.
    """
    if scores.shape[1] == 1:
        return np.ones(len(scores))
    margin = class_margin(scores, labels)
    relative: Array = np.divide(margin, max_margin, out=np.zeros(len(scores)), where=max_margin > 0)
    return np.clip(relative, -1.0, 1.0, out=relative)


# Number of values sorted at a time: their order and cumulative weights take about 16 MB.
_MEDIAN_BLOCK = 1_000_000


def weighted_median(predictions: Array, weights: Array) -> Array:
    """Return the weighted median of the predictions for each row.

    It is the smallest prediction up to which the weights sum to at least half of the total.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 5.0]))
    array([2.])
    """
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
    medians: Array = predictions[rows, order[rows, position]]
    return medians


@dataclass(frozen=True, slots=True, eq=False)
class RowWeights:
    """Row weights that sum to 1: the initial weight of each row times a factor.

    Factors are rounded to positive multiples of a unit, a power of two of at most 2^-35 of the
    largest factor. On small tables sums of weights are therefore exact in any order, and a row of
    weight 2 is equivalent to two equal rows even if splits are tied.

    Examples
    --------
    >>> import numpy as np
    >>> weights = RowWeights.first(np.array([1.0, 1.0, 2.0]), 3)
    >>> weights.values.round(6)
    array([0.25, 0.25, 0.5 ])
    >>> weights.multiplied(np.array([1.0, 1.0, 0.5])).values.round(6)
    array([0.333333, 0.333333, 0.333333])
    """

    initial: Array | None  # ``sample_weight``; None for 1 each
    factors: Array  # product of the factors of all rounds
    bits: int  # bits of the largest factor

    @classmethod
    def first(cls, initial: Array | None, n_rows: int) -> RowWeights:
        """Return the weights of the first round."""
        integral = initial is not None and bool((np.floor(initial) == initial).all())
        total = float(initial.sum()) if initial is not None and integral else float(n_rows)
        bits = max(_MIN_BITS, _SUM_BITS - math.frexp(total)[1])
        return cls(initial, np.ones(n_rows), bits).multiplied(np.ones(n_rows))

    @property
    def values(self) -> Array:
        """Weight of each row."""
        if self.initial is None:
            return self.factors
        weights: Array = np.maximum(self.initial * self.factors, _MIN_WEIGHT)
        return weights

    def multiplied(self, factors: Array) -> RowWeights:
        """Return the weights of the next round; a common factor has no effect."""
        product = self.factors * factors
        product = self._rounded(product / product.max())
        weights = product if self.initial is None else self.initial * product
        product = self._rounded(product / weights.sum(), min_units=1.0)
        return RowWeights(self.initial, product, self.bits)

    def _rounded(self, factors: Array, min_units: float = 0.0) -> Array:
        """Round factors to units of the largest factor's last bit, at least ``min_units``."""
        unit = 2.0 ** (math.frexp(factors.max())[1] - self.bits)
        rounded: Array = np.maximum(np.rint(factors / unit), min_units) * unit
        return rounded
