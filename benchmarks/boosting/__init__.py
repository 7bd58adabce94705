"""Gradient boosting beside its peers."""
