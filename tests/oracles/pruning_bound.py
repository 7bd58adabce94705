"""Pessimistic errors of C4.5, by solving the equation of the confidence limit.

Without an error the upper limit is the exact one of a binomial proportion. From one error on it is
the normal limit with a continuity correction: the proportion p at which the observed one is z
standard deviations below p. Between zero and one error it is interpolated, as in C4.5.

Quinlan (1993), "C4.5: programs for machine learning", section 4.2.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.stats import beta, norm


def bound(n, e, confidence):
    """Return the pessimistic number of errors of ``n`` rows with ``e`` errors."""
    if n == 0:
        return 0.0
    return e + added(n, e, confidence)


def added(n, e, confidence):
    """Return the errors added to the ``e`` observed ones."""
    if e < 1:
        none = n * beta.ppf(1 - confidence, 1, n)
        return (1 - e) * none + e * (added(n, 1, confidence) if e else 0.0)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z = norm.isf(confidence)
    observed = (e + 0.5) / n

    def distance(p):
        return p - observed - z * math.sqrt(p * (1 - p) / n)

    return n * brentq(distance, observed, 1.0, xtol=1e-15, rtol=1e-14) - e
