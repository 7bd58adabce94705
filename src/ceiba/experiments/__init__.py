"""Experiments: learners compared on folds of datasets, from raw predictions that are kept."""

from ceiba.experiments.journal import Journal, JournalError, UnitResult

__all__ = ["Journal", "JournalError", "UnitResult"]
