"""Workloads of forests."""
