"""An experiment in a process that is killed, and continued in this one."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ceiba
from ceiba.experiments import Comparison, compare, summarize

SCRIPT = """
import sys
from tests.experiments.running.killed import run
print("ready", flush=True)
run(sys.argv[1], isolate=len(sys.argv) > 2)
"""


def run(journal: Any = None, isolate: bool = False) -> Comparison:
    learners = {
        "forest": ceiba.RandomForestClassifier(60),
        "tree": ceiba.DecisionTreeClassifier(max_depth=3),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    protocol = "2-fold" if isolate else "5x4-fold"
    return compare(learners, ["iris", "wine"], protocol=protocol, journal=journal, isolate=isolate)


def kill_after(seconds: float, journal: Path, isolate: bool = False) -> bool:
    """Start the experiment, kill it some seconds later; return whether it had ended before."""
    command = [sys.executable, "-c", SCRIPT, str(journal), *["isolate"] * isolate]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == 0


def assert_same(one: Comparison, other: Comparison) -> None:
    """Compare everything but seconds, memory and the time of the record."""
    assert len(one.folds) == len(other.folds)
    for left, right in zip(one.folds, other.folds, strict=True):
        assert left.unit.key == right.unit.key
        np.testing.assert_array_equal(left.result.predictions, right.result.predictions)
        np.testing.assert_array_equal(left.result.probabilities, right.result.probabilities)
    for score in ("accuracy", "log_loss"):
        tables = [str(summarize(results, score, control="tree")) for results in (one, other)]
        assert tables[0] == tables[1]
    assert one.record["hash"] == other.record["hash"]
