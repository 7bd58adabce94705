"""The tables of the guide are those of a simulation."""

from __future__ import annotations

import math

import pytest

from tests.inference.simulation import (
    HALF_DISTANCES,
    METHODS,
    PAIRS,
    TESTS,
    rejections,
    simulate,
)
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "guide" / "statistics.rst").read_text(encoding="utf-8").splitlines()
N_DATASETS = 400


def published(name: str) -> list[float]:
    (line,) = (line for line in PAGE if line.startswith(f"{name} "))
    return [float(number) for number in line.removeprefix(name).split()]


def four_errors(share: float) -> float:
    """Return four standard errors of a share, which both simulations have."""
    return 4 * math.sqrt(share * (1 - share) * (1 / N_DATASETS + 1 / 4000))


def test_every_method_and_test_is_in_its_table():
    assert all(len(published(method)) == 4 for method in METHODS)
    assert all(len(published(name)) == 2 for name in TESTS)


@pytest.mark.slow
@pytest.mark.parametrize("column", [0, 1])
def test_coverage_is_that_of_the_guide(column):
    covered, widths, truth = simulate(HALF_DISTANCES[column], N_DATASETS, seed=1)
    assert truth == pytest.approx((0.754, 0.963)[column], abs=0.002)
    for method, coverage, width in zip(METHODS, covered, widths, strict=True):
        expected, mean_width = published(method)[2 * column : 2 * column + 2]
        assert coverage == pytest.approx(expected, abs=four_errors(expected)), method
        assert width == pytest.approx(mean_width, rel=0.08), method


@pytest.mark.slow
@pytest.mark.parametrize("column", [0, 1])
def test_rejections_are_those_of_the_guide(column):
    shares = rejections(PAIRS[column], N_DATASETS, seed=1)
    for name, share in zip(TESTS, shares, strict=True):
        expected = published(name)[column]
        assert share == pytest.approx(expected, abs=four_errors(expected)), name
