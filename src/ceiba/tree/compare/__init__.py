"""Comparisons of trees on one table: presets side by side, and pruning methods."""
