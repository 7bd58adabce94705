"""Workloads of trees."""
