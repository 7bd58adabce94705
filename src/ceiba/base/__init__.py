"""The estimator contract, once for all: parameters, trace, steps and progress."""

from ceiba.base.estimator import Estimator
from ceiba.base.parameters import (
    Above,
    AtLeast,
    Between,
    Parameter,
    ParameterError,
    Range,
    declare,
    declared,
    validate,
)
from ceiba.base.progress import CallbackMixin, watched
from ceiba.base.scoring import ScoresScans
from ceiba.base.seed import seed_of
from ceiba.base.steps import Step, Steps
from ceiba.base.trace import Frame, Trace

__all__ = [
    "Above",
    "AtLeast",
    "Between",
    "CallbackMixin",
    "Estimator",
    "Frame",
    "Parameter",
    "ParameterError",
    "Range",
    "ScoresScans",
    "Step",
    "Steps",
    "Trace",
    "declare",
    "declared",
    "seed_of",
    "validate",
    "watched",
]
