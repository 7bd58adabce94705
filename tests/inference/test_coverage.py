"""The coverage of intervals in the guide is that of a simulation."""

from __future__ import annotations

import math

import pytest

from tests.inference.coverage import HALF_DISTANCES, METHODS, simulate
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "guide" / "statistics.rst").read_text(encoding="utf-8").splitlines()
N_DATASETS = 400


def published(method: str) -> list[float]:
    (line,) = (line for line in PAGE if line.startswith(f"{method} "))
    return [float(number) for number in line.removeprefix(method).split()]


def test_every_method_is_in_the_table():
    assert all(len(published(method)) == 4 for method in METHODS)


@pytest.mark.slow
@pytest.mark.parametrize("column", [0, 1])
def test_coverage_is_that_of_the_guide(column):
    covered, widths, truth = simulate(HALF_DISTANCES[column], N_DATASETS, seed=1)
    assert truth == pytest.approx((0.754, 0.963)[column], abs=0.002)
    for method, coverage, width in zip(METHODS, covered, widths, strict=True):
        expected, mean_width = published(method)[2 * column : 2 * column + 2]
        error = math.sqrt(expected * (1 - expected) / N_DATASETS)
        assert coverage == pytest.approx(expected, abs=4 * error), method
        assert width == pytest.approx(mean_width, rel=0.08), method
