"""Bayesian network classifiers: structure, evidence, training, structural search."""
