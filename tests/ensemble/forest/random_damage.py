"""Random damage to arrays, shared by the tests of damaged forests."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from ceiba import load, save
from ceiba._typing import Array

NAN = int(np.float64(np.nan).view(np.uint64))
INF = int(np.float64(np.inf).view(np.uint64))


def save_and_load(model: Any, folder: Any, **options: Any) -> Any:
    """Return a model that was saved and loaded."""
    save(model, folder / "forest")
    return load(folder / "forest", **options)


INTERESTING = st.one_of(
    st.integers(0, 2**64 - 1),
    st.integers(0, 300),
    st.sampled_from([1 << k for k in range(64)]),
    st.sampled_from([NAN, INF, 2**32 - 1, 2**31, 2**63 - 1, 2**64 - 1]),
)


def damaged(array: Array, draw: Any) -> Array:
    """Return an array with some bytes, numbers, rows or its shape changed."""
    array = array.copy()
    method = draw(st.sampled_from(["bits", "number", "number", "shorten", "swap", "repeat"]))
    if array.size == 0:
        return np.ones((1,) * array.ndim, array.dtype)
    flat = array.reshape(-1)
    index = draw(st.integers(0, flat.size - 1))
    if method == "bits":
        flat.view(np.uint8)[index * array.itemsize + draw(st.integers(0, array.itemsize - 1))] ^= (
            1 << draw(st.integers(0, 7))
        )
    elif method == "number":
        flat.view(f"u{array.itemsize}")[index] = draw(INTERESTING) % 2 ** (8 * array.itemsize)
    elif method == "swap":
        other = draw(st.integers(0, flat.size - 1))
        flat[index], flat[other] = flat[other], flat[index]
    elif method == "shorten":
        return array[: draw(st.integers(0, len(array)))]
    else:
        return np.concatenate([array, array[draw(st.integers(0, len(array) - 1)) :]])
    return array
