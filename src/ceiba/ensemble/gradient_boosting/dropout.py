"""Dropout of rounds (DART): a round is fitted without some earlier ones, which are then scaled.

Each earlier round is dropped with probability ``dropout``. With k dropped rounds and the learning
rate r, the trees of the new round are multiplied by r / (k + r), those of the dropped rounds by
k / (k + r): new and dropped trees together have about the effect that the dropped ones had.

Vinayak & Gilad-Bachrach (2015), "DART: dropouts meet multiple additive regression trees", AISTATS;
the factors with a learning rate are XGBoost's (``normalize_type="tree"``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba import _native
from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.tree.model.node_dtype import NodeView

DROPOUT_STREAM = 0x64726F706F7574  # of random bits


def draw_dropped_rounds(dropout: float, seed: int, number: int) -> Array:
    """Return the earlier rounds that a round leaves out, keyed by the numbers of both."""
    draws = np.ones(number)
    if dropout and number:
        _native.uniforms(seed, DROPOUT_STREAM + number, 0, draws)
    return np.flatnonzero(draws < dropout)


def dropout_factors(n_dropped: int, rate: float) -> tuple[float, float]:
    """Return the factors of the trees of the new round, and of those of the dropped rounds."""
    if not n_dropped:
        return rate, 1.0
    return rate / (n_dropped + rate), n_dropped / (n_dropped + rate)


def scale_trees(part: dict[str, Any], factor: float) -> dict[str, Any]:
    """Return trees with all leaf values multiplied by a factor."""
    nodes = part["nodes"].copy()
    view = NodeView(nodes)
    view.value[view.kind == NodeTest.LEAF] *= factor
    return {**part, "nodes": nodes}
