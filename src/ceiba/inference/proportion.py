"""The interval of a share: errors among rows, rows of a class among all."""

from __future__ import annotations

import math

from scipy.special import ndtri

from ceiba.inference.interval import Interval, check_level


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share.

    It holds its confidence for small counts and shares near 0 or 1, and never leaves [0, 1].

    Parameters
    ----------
    successes : float
        How many, or their weight; need not be whole.
    n : float
        Of how many, or of what weight; more than 0.
    level : float
        Confidence.

    Returns
    -------
    Interval

    References
    ----------
    Wilson (1927), "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22.

    Examples
    --------
    >>> print(wilson(3, 50))
    0.06 [0.02061, 0.1622]
    """
    check_level(level)
    if not (math.isfinite(n) and n > 0):
        raise ValueError(f"n={n!r}: a share is one of a positive, finite number of cases")
    if not 0 <= successes <= n:
        raise ValueError(f"successes={successes!r} do not lie between 0 and n={n!r}")
    share = successes / n
    z = float(ndtri(0.5 + level / 2))
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) / scale
    # At the ends the bound is the end itself, which rounding would miss.
    lower = 0.0 if successes == 0 else max(0.0, centre - half)
    upper = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(share, lower, upper, level)
