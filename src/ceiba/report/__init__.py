"""Reports: one self-contained HTML page on experiments, or on a new table."""

from ceiba.report.experiment import write_report
from ceiba.report.first_look import FitReport, fit_report

__all__ = ["FitReport", "fit_report", "write_report"]
