"""Experiments: learners compared on folds of datasets, from raw predictions that are kept."""

from ceiba.experiments.calibration import CalibratedClassifier
from ceiba.experiments.compare import Comparison, FoldResult, LearnerWarning, compare
from ceiba.experiments.conformal import (
    CalibrationRowsWarning,
    ConformalClassifier,
    ConformalRegressor,
)
from ceiba.experiments.differences import (
    Ranking,
    learner_test,
    practical_difference,
    rank_learners,
)
from ceiba.experiments.journal import Journal, JournalError, UnitResult
from ceiba.experiments.nested import nested
from ceiba.experiments.protocols import (
    Bootstrap,
    GivenFolds,
    GroupFolds,
    HoldOut,
    KFold,
    LeaveOneOut,
    Protocol,
    Split,
    TimeOrder,
    bootstrap_632_plus,
    no_information_rate,
    parse_protocol,
)
from ceiba.experiments.scores import (
    SCORES,
    ClassScores,
    Predictions,
    Score,
    ScoreValue,
    UndefinedScoreError,
    calibration_error,
    class_scores,
    compute_scores,
    confusion_matrix,
    default_score,
    get_score,
    pool,
)
from ceiba.experiments.summary import Cell, Summary, summarize
from ceiba.experiments.sweep import Sweep, sweep
from ceiba.experiments.units import Dataset, Learner, Unit

__all__ = [
    "SCORES",
    "Bootstrap",
    "CalibratedClassifier",
    "CalibrationRowsWarning",
    "Cell",
    "ClassScores",
    "Comparison",
    "ConformalClassifier",
    "ConformalRegressor",
    "Dataset",
    "FoldResult",
    "GivenFolds",
    "GroupFolds",
    "HoldOut",
    "Journal",
    "JournalError",
    "KFold",
    "Learner",
    "LearnerWarning",
    "LeaveOneOut",
    "Predictions",
    "Protocol",
    "Ranking",
    "Score",
    "ScoreValue",
    "Split",
    "Summary",
    "Sweep",
    "TimeOrder",
    "UndefinedScoreError",
    "Unit",
    "UnitResult",
    "bootstrap_632_plus",
    "calibration_error",
    "class_scores",
    "compare",
    "compute_scores",
    "confusion_matrix",
    "default_score",
    "get_score",
    "learner_test",
    "nested",
    "no_information_rate",
    "parse_protocol",
    "pool",
    "practical_difference",
    "rank_learners",
    "summarize",
    "sweep",
]
