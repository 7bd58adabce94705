"""The dask engine: fit and predict on the partitions of a Dask collection."""
