"""Gradient boosting of trees: losses, rounds, the model and the two estimators."""
