"""Experiments: learners compared on folds of datasets, from raw predictions that are kept."""

from ceiba.experiments.compare import Comparison, FoldResult, LearnerWarning, compare
from ceiba.experiments.description.catalog import (
    LearnerEntry,
    default_learners,
    learner_names,
    make_learner,
    make_steps,
    parse_learner,
)
from ceiba.experiments.description.file import Experiment, ExperimentResults
from ceiba.experiments.description.file_parts import (
    ExperimentFileError,
    NestedEntry,
    SweepEntry,
)
from ceiba.experiments.description.tables import load_table
from ceiba.experiments.nested import nested
from ceiba.experiments.probabilities.calibration import CalibratedClassifier
from ceiba.experiments.probabilities.conformal import (
    CalibrationRowsWarning,
    ConformalClassifier,
    ConformalRegressor,
)
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
from ceiba.experiments.results.differences import (
    Ranking,
    learner_test,
    practical_difference,
    rank_learners,
)
from ceiba.experiments.results.scores import (
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
from ceiba.experiments.results.summary import Cell, Summary, summarize
from ceiba.experiments.running.journal import Journal, JournalError, UnitResult
from ceiba.experiments.running.units import Dataset, Learner, Unit
from ceiba.experiments.sweep import Sweep, sweep
from ceiba.experiments.table_checks import (
    ClassCount,
    ColumnSummary,
    Finding,
    TableChecks,
    check_table,
    infer_task,
)

__all__ = [
    "SCORES",
    "Bootstrap",
    "CalibratedClassifier",
    "CalibrationRowsWarning",
    "Cell",
    "ClassCount",
    "ClassScores",
    "ColumnSummary",
    "Comparison",
    "ConformalClassifier",
    "ConformalRegressor",
    "Dataset",
    "Experiment",
    "ExperimentFileError",
    "ExperimentResults",
    "Finding",
    "FoldResult",
    "GivenFolds",
    "GroupFolds",
    "HoldOut",
    "Journal",
    "JournalError",
    "KFold",
    "Learner",
    "LearnerEntry",
    "LearnerWarning",
    "LeaveOneOut",
    "NestedEntry",
    "Predictions",
    "Protocol",
    "Ranking",
    "Score",
    "ScoreValue",
    "Split",
    "Summary",
    "Sweep",
    "SweepEntry",
    "TableChecks",
    "TimeOrder",
    "UndefinedScoreError",
    "Unit",
    "UnitResult",
    "bootstrap_632_plus",
    "calibration_error",
    "check_table",
    "class_scores",
    "compare",
    "compute_scores",
    "confusion_matrix",
    "default_learners",
    "default_score",
    "get_score",
    "infer_task",
    "learner_names",
    "learner_test",
    "load_table",
    "make_learner",
    "make_steps",
    "nested",
    "no_information_rate",
    "parse_learner",
    "parse_protocol",
    "pool",
    "practical_difference",
    "rank_learners",
    "summarize",
    "sweep",
]
