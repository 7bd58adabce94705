"""Posterior probabilities that a learner is better, equivalent or worse in practice."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr

from ceiba._typing import Array
from ceiba.inference.values import finite_differences, mean_and_deviation, rows_ratio

# Entries of a block of Monte Carlo samples: 8 MB.
_BLOCK_ENTRIES = 2**20


class RopeProbabilities(NamedTuple):
    """Posterior probabilities of three regions of the difference of two learners.

    The rope is the region of practical equivalence: differences of at most its half width.

    Parameters
    ----------
    left : float
        Probability that the second learner is greater by more than the rope.
    rope : float
        Probability that the learners are equivalent; 0 if the rope has no width.
    right : float
        Probability that the first learner is greater by more than the rope.

    Examples
    --------
    >>> print(RopeProbabilities(0.02, 0.08, 0.9))
    left 0.020, rope 0.080, right 0.900
    """

    left: float
    rope: float
    right: float

    def __str__(self) -> str:
        return f"left {self.left:.3f}, rope {self.rope:.3f}, right {self.right:.3f}"


def bayesian_correlated_t(
    first: Any, second: Any, n_train: float, n_test: float, rope: float = 0.01
) -> RopeProbabilities:
    """Compute the posterior of the mean difference over resampled rows of one dataset.

    The differences are normal with correlation n_test / (n_train + n_test), and the prior of their
    mean and variance is flat. The posterior of the mean is Student's t with the scale of
    :func:`corrected_t_test`.

    Parameters
    ----------
    first, second : array of shape (J,)
        Results of two learners on the same splits; at least two finite pairs.
    n_train, n_test : float
        Numbers of training and test rows of a split; only their ratio matters.
    rope : float
        Half width of the region of practical equivalence, in the unit of the values.

    Returns
    -------
    RopeProbabilities
        Equal differences have probability 1 for the region that contains them; differences of
        zero without a rope have probability 1 / 2 for each side.

    References
    ----------
    Corani and Benavoli (2015), "A Bayesian approach for comparing cross-validated algorithms on
    multiple data sets", Machine Learning 100.

    Examples
    --------
    >>> first = [0.92, 0.95, 0.93, 0.96, 0.94]
    >>> second = [0.90, 0.91, 0.92, 0.93, 0.90]
    >>> print(bayesian_correlated_t(first, second, n_train=80, n_test=20))
    left 0.006, rope 0.048, right 0.946
    """
    _check_rope(rope)
    ratio = rows_ratio(n_train, n_test)
    differences, tolerance = finite_differences(first, second)
    mean, deviation = mean_and_deviation(differences)
    scale = deviation * math.sqrt(1 / len(differences) + ratio)
    if scale == 0:
        if mean == 0 and rope == 0:
            return RopeProbabilities(0.5, 0.0, 0.5)
        # A difference on the end of the rope, up to rounding, belongs to it.
        if abs(mean) <= rope + tolerance:
            return RopeProbabilities(0.0, 1.0, 0.0)
        return RopeProbabilities(float(mean < 0), 0.0, float(mean > 0))
    degrees = len(differences) - 1
    left = float(stdtr(degrees, (-rope - mean) / scale))
    right = float(stdtr(degrees, (mean - rope) / scale))
    return RopeProbabilities(left, max(0.0, 1 - left - right) if rope else 0.0, right)


def bayesian_signed_rank(
    first: Any,
    second: Any,
    rope: float = 0.01,
    prior_strength: float = 0.5,
    n_samples: int = 50_000,
    random_state: int | np.random.Generator = 0,
) -> RopeProbabilities:
    """Compute by sampling which region the differences over datasets belong to.

    The distribution of the differences has a Dirichlet process prior, with ``prior_strength``
    pseudo-observations of a difference of zero. Each sample of the Dirichlet weights gives a
    probability to each region: that of the mean of two differences. The result is the share of
    samples in which a region has the largest one.

    Parameters
    ----------
    first, second : array of shape (n_datasets,)
        Scores of two learners on the same datasets, such as mean accuracies over folds; at least
        two finite pairs.
    rope : float
        Half width of the region of practical equivalence, in the unit of the values. With 0,
        means of zero count half for each side.
    prior_strength : float
        Non-negative.
    n_samples : int
        The standard error of a probability is at most 0.5 / sqrt(n_samples).
    random_state : int or Generator
        Seed of the samples; the same seed gives the same probabilities.

    Returns
    -------
    RopeProbabilities

    References
    ----------
    | Benavoli, Corani, Mangili, Zaffalon and Ruggeri (2014), "A Bayesian Wilcoxon signed-rank test
      based on the Dirichlet process", ICML.
    | Benavoli, Corani, Demšar and Zaffalon (2017), "Time for a change: a tutorial for comparing
      multiple classifiers through Bayesian analysis", Journal of Machine Learning Research 18.

    Examples
    --------
    >>> first = [0.92, 0.85, 0.77, 0.96, 0.94, 0.81]
    >>> second = [0.90, 0.81, 0.78, 0.93, 0.90, 0.75]
    >>> found = bayesian_signed_rank(first, second)
    >>> found.right > 0.95, found.left < 0.01
    (True, True)
    """
    _check_rope(rope)
    if not (math.isfinite(prior_strength) and prior_strength >= 0):
        raise ValueError(
            f"prior_strength must be a non-negative, finite float, got {prior_strength!r}."
        )
    if n_samples < 1:
        raise ValueError(f"n_samples must be an int of at least 1, got {n_samples!r}.")
    differences, tolerance = finite_differences(first, second)
    differences = np.append(differences, 0.0)  # the pseudo-observations
    order = np.argsort(differences, kind="stable")
    rng = np.random.default_rng(random_state)
    # Means on an end of the rope, up to rounding, belong to it.
    bound = 2 * (rope + tolerance)
    block = max(1, _BLOCK_ENTRIES // len(differences))
    counts = np.zeros(3)
    for start in range(0, n_samples, block):
        size = min(block, n_samples - start)
        # Independent gamma variables are Dirichlet weights up to a factor, which does not matter.
        weights = np.empty((size, len(differences)))
        weights[:, :-1] = rng.standard_exponential((size, len(differences) - 1))
        weights[:, -1] = rng.standard_gamma(prior_strength, size)
        regions = _pair_weights(differences[order], weights[:, order], bound)
        if rope == 0:
            regions = regions + regions[:, [1]] * [0.5, -1.0, 0.5]
        largest = regions == regions.max(axis=1, keepdims=True)
        counts += (largest / largest.sum(axis=1, keepdims=True)).sum(axis=0)
    return RopeProbabilities(*(counts / n_samples).tolist())


def _pair_weights(differences: Array, weights: Array, bound: float) -> Array:
    """Sum the products of weights over the pairs of sorted differences in each region.

    The regions are sums of two differences below ``-bound``, between, and above ``bound``.
    """
    sums = np.zeros((len(weights), len(differences) + 1))
    np.cumsum(weights, axis=1, out=sums[:, 1:])
    total = sums[:, -1:]
    n_below = np.searchsorted(differences, -bound - differences, side="left")
    n_not_above = np.searchsorted(differences, bound - differences, side="right")
    left = (weights * sums[:, n_below]).sum(axis=1)
    right = (weights * (total - sums[:, n_not_above])).sum(axis=1)
    middle = total[:, 0] ** 2 - left - right
    return np.stack([left, middle, right], axis=1)


def _check_rope(rope: float) -> None:
    if not (math.isfinite(rope) and rope >= 0):
        raise ValueError(f"rope must be a non-negative, finite float, got {rope!r}.")
