"""Class weights of a leaf as a string of bits, the first bit first, written out slowly."""

from __future__ import annotations

import numpy as np


def number(v, order):
    """Zeros for the bits of v + 2^order beyond order + 1, its highest bit, then from the lowest."""
    highest, *others = f"{v + 2**order:b}"
    return "0" * (len(others) - order) + highest + "".join(reversed(others))


def weight_order(weights):
    """The first order in which the weights are shortest."""
    orders = range(max(weights).bit_length())
    return min(
        orders, key=lambda k: len(number(k, 0)) + sum(len(number(w - 1, k)) for w in weights)
    )


def coded(weights):
    """The bits of a leaf, from the whole weights of all classes."""
    present = [k for k, weight in enumerate(weights) if weight]
    gaps = max(0, len(weights).bit_length() - len(present).bit_length() - 1)
    order = weight_order([weights[k] for k in present])
    bits, before = number(len(present) - 2, 0) + number(order, 0), -1
    for k in present:
        bits += number(k - before - 1, gaps) + number(weights[k] - 1, order)
        before = k
    return bits


def bits_of(array):
    """The bits of bytes or of a number of 64 bits, the lowest first."""
    return "".join(map(str, np.unpackbits(np.atleast_1d(array).view(np.uint8), bitorder="little")))


def as_word(bits):
    """The number of 64 bits whose lowest ones are these."""
    return int(bits[:64][::-1], 2)
