"""Arrays that are damaged at random: what the tests of damaged forests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from ceiba import load, save
from ceiba._typing import Array

NAN = int(np.float64(np.nan).view(np.uint64))
INF = int(np.float64(np.inf).view(np.uint64))


def there_and_back(model: Any, folder: Any, **how: Any) -> Any:
    """A model saved and loaded."""
    save(model, folder / "forest")
    return load(folder / "forest", **how)


INTERESTING = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 300),
    st.sampled_from([1 << k for k in range(64)]),
    st.sampled_from([NAN, INF, 2**32 - 1, 2**31, 2**63 - 1, 2**64 - 1]),
)


def twisted(array: Array, draw: Any) -> Array:
    """An array with a few of its bytes, numbers, rows or its shape changed."""
    array = array.copy()
    how = draw(st.sampled_from(["bits", "number", "number", "cut", "swap", "repeat"]))
    if array.size == 0:
        return np.ones((1,) * array.ndim, array.dtype)
    flat = array.reshape(-1)
    place = draw(st.integers(0, flat.size - 1))
    if how == "bits":
        flat.view(np.uint8)[place * array.itemsize + draw(st.integers(0, array.itemsize - 1))] ^= (
            1 << draw(st.integers(0, 7))
        )
    elif how == "number":
        flat.view(f"u{array.itemsize}")[place] = draw(INTERESTING) % 2 ** (8 * array.itemsize)
    elif how == "swap":
        other = draw(st.integers(0, flat.size - 1))
        flat[place], flat[other] = flat[other], flat[place]
    elif how == "cut":
        return array[: draw(st.integers(0, len(array)))]
    else:
        return np.concatenate([array, array[draw(st.integers(0, len(array) - 1)) :]])
    return array
