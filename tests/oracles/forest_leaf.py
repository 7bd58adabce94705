"""Naive encoding of the class weights of a leaf as a string of bits, the first bit first."""

from __future__ import annotations

import numpy as np


def number(v, order):
    """Encode v in an Elias code of an order: zeros, the highest bit, the others from the lowest."""
    highest, *others = f"{v + 2**order:b}"
    return "0" * (len(others) - order) + highest + "".join(reversed(others))


def weight_order(weights):
    """Return the first order of the shortest code of the weights."""
    orders = range(max(weights).bit_length())
    return min(
        orders, key=lambda k: len(number(k, 0)) + sum(len(number(w - 1, k)) for w in weights)
    )


def encode(weights):
    """Encode the integer weights of all classes."""
    present = [k for k, weight in enumerate(weights) if weight]
    distance_order = max(0, len(weights).bit_length() - len(present).bit_length() - 1)
    order = weight_order([weights[k] for k in present])
    bits, before = number(len(present) - 2, 0) + number(order, 0), -1
    for k in present:
        bits += number(k - before - 1, distance_order) + number(weights[k] - 1, order)
        before = k
    return bits


def bits_of(array):
    """Return the bits of bytes or of a number of 64 bits, the lowest first."""
    return "".join(map(str, np.unpackbits(np.atleast_1d(array).view(np.uint8), bitorder="little")))


def as_word(bits):
    """Return the number of 64 bits with these lowest bits."""
    return int(bits[:64][::-1], 2)
