"""Bayesian network classifiers: structure, evidence, training, calibration, structural search."""
