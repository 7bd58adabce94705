"""Data and peers of the workloads of Bayesian network classifiers."""
