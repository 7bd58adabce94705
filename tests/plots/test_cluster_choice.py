"""Tests of the drawn choice of a number of clusters."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import plots
from ceiba.cluster.selection import choose as choose_module
from ceiba.cluster.selection.choose import choose_n_clusters
from ceiba.plots.style import new_figure
from tests.plots.figures import blobs


@pytest.fixture(scope="module")
def choice():
    return choose_n_clusters(blobs(60), range(1, 7), n_references=4)


def line(ax):
    """Return the curve of an index: the first solid line of its panel."""
    return next(
        found for found in ax.lines if found.get_linestyle() == "-" and len(found.get_xdata()) > 2
    )


def test_each_index_is_drawn_against_k(choice):
    figure = plots.cluster_choice(choice)
    assert len(figure.axes) == 6
    columns = ["inertia", "silhouette", "calinski_harabasz", "davies_bouldin", "gap"]
    for ax, column in zip(figure.axes, columns, strict=False):
        defined = ~np.isnan(choice.table[column])
        np.testing.assert_array_equal(line(ax).get_xdata(), choice.table["k"][defined])
        np.testing.assert_array_equal(line(ax).get_ydata(), choice.table[column][defined])


def test_the_proposed_k_is_marked(choice):
    figure = plots.cluster_choice(choice)
    for ax, k in zip(figure.axes, choice.best.values(), strict=False):
        assert ax.get_title(loc="right") == f"k = {k}"
        assert ax.lines[-1].get_xdata().tolist() == [k]
    proposals = figure.axes[-1]
    assert [int(dot.get_xdata()[0]) for dot in proposals.lines] == list(choice.best.values())


def test_gap_has_error_bars_of_one_s(choice):
    ax = plots.cluster_choice(choice).axes[4]
    (bars,) = [c for c in ax.collections if len(c.get_segments()) == 6]
    spans = [segment[:, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(np.ptp(spans, axis=1), 2 * choice.table["gap_se"])
    np.testing.assert_allclose(np.mean(spans, axis=1), choice.table["gap"])


def test_sampled_silhouette_has_error_bars(monkeypatch):
    monkeypatch.setattr(choose_module, "EXACT_SILHOUETTE_ROWS", 10)
    sampled = choose_n_clusters(blobs(60), [2, 3, 4], n_references=0, sample_size=20)
    assert plots.cluster_choice(sampled).axes[1].collections
    exact = choose_n_clusters(blobs(60), [2, 3, 4], n_references=0, sample_size=None)
    assert not plots.cluster_choice(exact).axes[1].collections


def test_without_references_there_is_no_gap_panel():
    found = choose_n_clusters(blobs(60), [2, 3, 4], n_references=0)
    figure = plots.cluster_choice(found)
    assert [ax.get_title(loc="left") for ax in figure.axes][-1] == "All proposals"
    assert len(figure.axes) == 5


def test_infinite_and_missing_proposals_are_noted():
    X = np.repeat(np.eye(3), 4, axis=0)
    figure = plots.cluster_choice(choose_n_clusters(X, [2, 3], n_references=0))
    elbow, _, ratio, *_ = figure.axes
    assert [text.get_text() for text in elbow.texts] == ["no proposal"]
    assert [text.get_text().strip() for text in ratio.texts] == ["∞"]


def test_given_figure_is_used(choice):
    outer = new_figure(12, 6)
    left, right = outer.subfigures(1, 2)
    assert plots.cluster_choice(choice, figure=right) is right
    assert len(right.axes) == 6
    assert not left.axes


def test_nothing_is_clipped(choice):
    figure = plots.cluster_choice(choice)
    figure.draw_without_rendering()
    box, page = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= page[0]
    assert box.y1 <= page[1]
