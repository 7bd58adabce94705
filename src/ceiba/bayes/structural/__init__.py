"""Structural search of Bayesian network classifiers by a discriminative score."""

from ceiba.bayes.structural.classifier import StructuralTMClassifier
from ceiba.bayes.structural.path import SearchPath

__all__ = ["SearchPath", "StructuralTMClassifier"]
