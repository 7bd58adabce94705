"""Bagging: any estimator, fitted to samples of rows and columns."""
