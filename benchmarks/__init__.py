"""Ceiba side by side with its peers, as ratios: ``python -m benchmarks --list``."""
