"""Rows and queries of the statistics of nearest neighbors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ceiba.neighbors.distance import make_mixed_distance
from ceiba.neighbors.partitioned import PartitionIndexer
from ceiba.neighbors.rows import NeighborRows
from ceiba.stats import Points
from tests.contracts.row_kinds import POINTS

ROWS = replace(POINTS, ready=lambda points: NeighborRows(points.X))


def _indexer(points: Points) -> tuple[PartitionIndexer, Any]:
    d = points.X.shape[1]
    distance = make_mixed_distance("gower", np.arange(d) % 2 == 1, np.full(d, 2.0))
    return PartitionIndexer(distance, "auto", 0), points.X[:4] + 0.5


def nearest(points: Points) -> tuple[Any, ...]:
    """Three neighbors of four queries, one of which is excluded."""
    indexer, queries = _indexer(points)
    return indexer, queries, 3, np.arange(len(queries))


def within(points: Points) -> tuple[Any, ...]:
    """The rows within a radius of four queries."""
    indexer, queries = _indexer(points)
    return indexer, queries, 0.6, None


def centered(points: Points) -> tuple[Any, ...]:
    """Exponents and means of the columns."""
    d = points.X.shape[1]
    return np.full(d, -3), np.full(d, 0.25)
