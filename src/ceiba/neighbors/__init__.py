"""Nearest neighbors: distances between rows, and indices that find the nearest exactly."""

from ceiba.neighbors.distance import METRICS, Distance, make_distance, make_mixed_distance
from ceiba.neighbors.index import NeighborIndex

__all__ = ["METRICS", "Distance", "NeighborIndex", "make_distance", "make_mixed_distance"]
