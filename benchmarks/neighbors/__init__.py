"""Data and peers of the workloads of nearest neighbors."""
