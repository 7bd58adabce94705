"""From scikit-learn's ``random_state`` to the one seed that keys every draw of a fit."""

from __future__ import annotations

import secrets
from numbers import Integral
from typing import Any

import numpy as np


def seed_of(random_state: Any) -> int:
    """A 64-bit seed: the number itself, one drawn from a generator, or fresh entropy for None.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if random_state is None:
        return secrets.randbits(64)
    if isinstance(random_state, Integral):
        return int(random_state) % 2**64
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(random_state.randint(2**31 - 1))
