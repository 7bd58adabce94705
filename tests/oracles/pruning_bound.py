"""Quinlan's pessimistic bound on errors, by solving for it.

With no error the upper limit is the exact one of a binomial share; with one or more the normal
limit, with a correction for continuity, is the share p at which the one seen would lie z standard
deviations below. Between none and one the bounds are joined by a line, as C4.5 does.

Quinlan (1993), "C4.5: programs for machine learning", section 4.2.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.stats import beta, norm


def bound(n, e, confidence):
    """The most errors to be believed of ``n`` rows with ``e`` errors."""
    if n == 0:
        return 0.0
    return e + added(n, e, confidence)


def added(n, e, confidence):
    """Errors added to the ``e`` that were seen."""
    if e < 1:
        none = n * beta.ppf(1 - confidence, 1, n)
        return (1 - e) * none + e * (added(n, 1, confidence) if e else 0.0)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z = norm.isf(confidence)
    seen = (e + 0.5) / n

    def beyond(p):
        return p - seen - z * math.sqrt(p * (1 - p) / n)

    return n * brentq(beyond, seen, 1.0, xtol=1e-15, rtol=1e-14) - e
