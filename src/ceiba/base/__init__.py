"""The estimator contract: parameters, records, iterations, trace and progress."""

from ceiba.base.estimator import Estimator, ScanScoreMixin, seed_of
from ceiba.base.explanation import Explanation, Neighbors
from ceiba.base.iterations import Iteration, Iterations
from ceiba.base.parameters import (
    Parameter,
    ParameterError,
    Parameters,
    check_unused,
    declared,
    fitted,
    parameter,
    unused_error,
    validate,
)
from ceiba.base.progress import CallbackMixin, reports_progress
from ceiba.base.record import ArrayOf, Record
from ceiba.base.trace import Frame, Trace
from ceiba.base.value_types import Above, AtLeast, Between, Range

__all__ = [
    "Above",
    "ArrayOf",
    "AtLeast",
    "Between",
    "CallbackMixin",
    "Estimator",
    "Explanation",
    "Frame",
    "Iteration",
    "Iterations",
    "Neighbors",
    "Parameter",
    "ParameterError",
    "Parameters",
    "Range",
    "Record",
    "ScanScoreMixin",
    "Trace",
    "check_unused",
    "declared",
    "fitted",
    "parameter",
    "reports_progress",
    "seed_of",
    "unused_error",
    "validate",
]
