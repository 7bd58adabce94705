"""Fits on a Dask cluster: what they cost, and how that depends on the partitions."""
