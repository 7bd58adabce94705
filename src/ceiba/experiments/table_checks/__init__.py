"""Checks of a table before anything is learned from it."""

from ceiba.experiments.table_checks.check import check_table
from ceiba.experiments.table_checks.result import ClassCount, ColumnSummary, Finding, TableChecks
from ceiba.experiments.table_checks.target import infer_task

__all__ = ["ClassCount", "ColumnSummary", "Finding", "TableChecks", "check_table", "infer_task"]
