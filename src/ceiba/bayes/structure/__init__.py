"""Structures of Bayesian network classifiers: given, and learned from pair counts."""
