"""Workloads of mixtures."""
