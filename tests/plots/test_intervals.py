"""The picture of intervals: panels, thresholds, classes and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from ceiba import Discretizer, KMeans, datasets

pytest.importorskip("matplotlib")

from ceiba import plots

IRIS = datasets.load("iris")
MODEL = Discretizer().fit(IRIS.table, IRIS.y)


def lines(ax):
    return [line.get_xdata()[0] for line in ax.lines]


def test_one_panel_per_numeric_column():
    picture = plots.intervals(MODEL, IRIS.table, IRIS.y)
    assert [ax.get_xlabel() for ax in picture.axes] == MODEL.schema_.names
    for ax, thresholds in zip(picture.axes, MODEL.thresholds_.values(), strict=True):
        np.testing.assert_array_equal(lines(ax), thresholds)
    assert [text.get_text() for text in picture.legends[0].get_texts()] == list(MODEL.classes_)


def test_columns_of_times_and_missing_values():
    frame = pd.DataFrame(
        {
            "t": pd.date_range("2020", periods=9),
            "x": [np.nan, np.inf, *range(7)],
            "c": list("abc") * 3,
        }
    )
    model = Discretizer("equal_frequency", n_bins=2).fit(frame)
    picture = plots.intervals(model, frame, columns=["t", 1])
    assert len(picture.axes) == 2
    assert len(lines(picture.axes[0])) == 1
    assert not picture.legends


def test_errors():
    with pytest.raises(NotFittedError):
        plots.intervals(Discretizer(), IRIS.table)
    with pytest.raises(TypeError, match="model must be a fitted Discretizer"):
        plots.intervals(KMeans(2).fit(IRIS.table), IRIS.table)
    with pytest.raises(ValueError, match="columns must be names or indices of numeric columns"):
        plots.intervals(MODEL, IRIS.table, columns=["width"])
    with pytest.raises(ValueError, match="y requires a model fitted with classes"):
        plots.intervals(Discretizer("kmeans").fit(IRIS.table), IRIS.table, IRIS.y)
