"""The parameter ``verbose`` prints progress, and changes nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import (
    BaggingClassifier,
    GaussianMixture,
    GradientBoostingClassifier,
    KMeans,
    RandomForestClassifier,
)
from ceiba.base import ParameterError

X = np.random.default_rng(0).normal(size=(80, 3))
Y = (X[:, 0] > 0).astype(int)

LEARNERS: list[tuple[Any, str, int | None]] = [
    (KMeans(3), "KMeans: k-means 1 of 300, moved 80", None),
    (RandomForestClassifier(25), "RandomForestClassifier: part 10 of 10, trees 25", 10),
    (RandomForestClassifier(3), "RandomForestClassifier: part 1 of 3, trees 1", 3),
    (BaggingClassifier(n_estimators=3), "BaggingClassifier: members 1 of 1, fitted 3", 1),
]


def test_a_round_of_boosting_has_one_number(capsys: pytest.CaptureFixture[str]) -> None:
    """A frame of the trace has the number of its round, from 0 on; a printed line counts from 1."""
    model = GradientBoostingClassifier(2, trace=True, verbose=1).fit(X, Y)
    assert [frame["round"] for frame in model.trace_] == [0, 1]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        f"GradientBoostingClassifier: round {number} of 2" for number in (1, 2)
    ]
    assert "".join(lines).count("round") == 2


@pytest.mark.parametrize(("model", "line", "n_lines"), LEARNERS)
def test_prints_a_line_per_iteration(
    model: Any, line: str, n_lines: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = model.fit(X, Y).predict(X)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(model.set_params(verbose=1).fit(X, Y).predict(X), silent)
    lines = capsys.readouterr().out.splitlines()
    assert line in lines
    assert len(lines) == (n_lines or model.n_iter_)


def test_prints_every_tenth_iteration_of_a_mixture(capsys: pytest.CaptureFixture[str]) -> None:
    model = GaussianMixture(2, verbose=True, max_iter=25, tol=0.0)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in lines] == [
        "GaussianMixture: EM 10 of 25", "GaussianMixture: EM 20 of 25",
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="'verbose_interval' has no effect with verbose=0"):
        GaussianMixture(2, verbose_interval=1).fit(X)
