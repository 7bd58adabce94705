"""Random numbers: from NumPy's global state unless a seed is given."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from ceiba.base import seed_of


def netlab_seed(random_state: Any) -> int:
    """The seed of one call's draws; None takes it from NumPy's global state, as MATLAB would."""
    return seed_of(check_random_state(None) if random_state is None else random_state)
