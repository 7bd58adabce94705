"""Compare Ceiba with its peers, as ratios: ``python -m benchmarks --list``."""
