"""Calibrated probabilities, and conformal sets and intervals, of any learner."""
