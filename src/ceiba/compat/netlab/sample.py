"""Rows drawn from a mixture."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ceiba._typing import Array
from ceiba.compat.netlab.draws import netlab_seed
from ceiba.compat.netlab.mix import Mix, checked_mix
from ceiba.mixture.base import draw_rows


def gmmsamp(mix: Mix, n: int, *, random_state: Any = None) -> tuple[Array, Array]:
    """Draw rows from a mixture.

    Parameters
    ----------
    mix : Mix
    n : int
        Number of rows.
    random_state : int, RandomState, Generator or None
        Draws them; None for NumPy's global state.

    Returns
    -------
    data : ndarray of shape (n, nin)
        Component after component.
    label : ndarray of shape (n,)
        The component of each row, from 0: ``mix.centres[label]``. (Netlab's begin at 1.)

    Examples
    --------
    >>> from ceiba.compat.netlab import gmm
    >>> data, label = gmmsamp(gmm(3, 2, "diag"), 100, random_state=0)
    >>> data.shape, label.shape
    ((100, 3), (100,))
    """
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n={n!r}: give the number of rows to draw, 1 or more")
    return draw_rows(checked_mix(mix).gaussians(), int(n), netlab_seed(random_state))
