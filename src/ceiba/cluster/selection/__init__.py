"""Cluster validity indices and the choice of the number of clusters."""
