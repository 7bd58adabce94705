"""Tests of the impurity curves."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba.plots.curves.impurity import impurity_curves


def node_impurity(p):
    """Return impurities of 1000 p rows of one class and the rest, counted by row."""
    rows = np.repeat([0, 1], [round(1000 * p), 1000 - round(1000 * p)])
    proportions = np.bincount(rows, minlength=2) / 1000
    bits = -sum(proportion * np.log2(proportion) for proportion in proportions if proportion > 0)
    return {"gini": 1 - (proportions**2).sum(), "entropy": bits, "error": 1 - proportions.max()}


@pytest.mark.parametrize("scaled", [False, True])
def test_curves_are_the_impurities(scaled):
    ax = impurity_curves(scaled=scaled).axes[0]
    assert [line.get_gid() for line in ax.lines] == ["gini", "entropy", "error"]
    for line in ax.lines:
        factor = 0.5 if scaled and line.get_gid() == "entropy" else 1.0
        p, values = line.get_data()
        for index in (0, 30, 200, 310, 400):
            expected = factor * node_impurity(p[index])[line.get_gid()]
            assert values[index] == pytest.approx(expected, abs=2e-3)
        assert values[[0, -1]].tolist() == [0, 0]
        assert values.max() == values[200] == (1.0 if factor == 1 and values[200] > 0.6 else 0.5)


def test_selected_curves_keep_their_colors():
    every, two = impurity_curves().axes[0], impurity_curves(["error", "gini"]).axes[0]
    assert [line.get_gid() for line in two.lines] == ["gini", "error"]
    colors = {line.get_gid(): line.get_color() for line in every.lines}
    assert [line.get_color() for line in two.lines] == [colors["gini"], colors["error"]]
    assert len(two.get_legend().get_texts()) == 2


@pytest.mark.parametrize("criteria", ["gini", [], ["gini", "twoing"]])
def test_unknown_criteria_raise(criteria):
    with pytest.raises(ValueError, match="criteria must be a sequence of some of 'gini'"):
        impurity_curves(criteria)


def test_scaling_without_entropy_raises():
    with pytest.raises(ValueError, match="'scaled' has no effect with criteria="):
        impurity_curves(["gini", "error"], scaled=True)
