"""Tests of the drawn network of a classifier."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import PathPatch
from sklearn.exceptions import NotFittedError

from ceiba import (
    LatentClassMixture,
    NaiveBayesClassifier,
    StructuralTMClassifier,
    TANClassifier,
    datasets,
    plots,
)
from ceiba.plots.style import new_figure


@cache
def vote():
    return datasets.load("vote")


@cache
def tan(**options):
    return TANClassifier(missing="category", **options).fit(vote().table, vote().y)


def texts(figure, gid):
    return [text for text in figure.axes[0].texts if text.get_gid() == gid]


def arcs(figure):
    return [p for p in figure.axes[0].patches if isinstance(p, PathPatch) and p.get_gid() == "arc"]


def test_every_column_has_a_box_on_a_line_of_its_own():
    figure = plots.network(tan())
    nodes = texts(figure, "node")
    names = [node.get_text() for node in nodes]
    assert names[0] == "class"
    shown = {name.rstrip("…") for name in names[1:]}
    assert len(shown) == 16
    assert all(any(full.startswith(name) for full in vote().table.schema.names) for name in shown)
    heights = [node.get_position()[1] for node in nodes]
    assert np.all(np.diff(heights) < -0.3)
    assert figure.axes[0].get_title(loc="right") == "16 columns, 15 arcs"


def test_arcs_are_as_wide_as_their_information_and_lead_to_the_child():
    model = tan()
    figure = plots.network(model)
    position = {node.get_text().rstrip("…"): node.get_position() for node in texts(figure, "node")}
    found = {}
    for arc in arcs(figure):
        begin, end = arc.get_path().vertices[[0, -1], 1]
        found[round(begin, 6), round(end, 6)] = arc.get_linewidth()
    largest = model.arc_information_.max()
    assert len(found) == len(model.arcs_) == 15
    for (parent, child), information in zip(model.arcs_, model.arc_information_, strict=True):
        ends = tuple(
            next(round(y, 6) for name, (_, y) in position.items() if full.startswith(name))
            for full in (parent, child)
        )
        assert found[ends] == pytest.approx(max(6 * information / largest, 0.7))
        assert ends[1] < ends[0]


def test_children_are_indented_below_their_parents_without_overlaps():
    figure = plots.network(tan())
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    for i, one in enumerate(boxes):
        assert not any(one.overlaps(other) for other in boxes[i + 1 :])
        assert 0 <= one.x0 < one.x1 <= figure.bbox.width


def test_several_parents_are_dashed():
    figure = plots.network(tan(structure="kdb"))
    n_dashed = sum(arc.get_linestyle() != "solid" for arc in arcs(figure))
    assert len(arcs(figure)) == len(tan(structure="kdb").arcs_) == 29
    assert n_dashed == 14


def test_naive_bayes_has_arcs_from_the_class_only():
    iris = datasets.load("iris")
    model = NaiveBayesClassifier(distributions={0: "gaussian"}).fit(iris.table, iris.y)
    figure = plots.network(model)
    assert not arcs(figure)
    assert sum(line.get_gid() == "class arc" for line in figure.axes[0].lines) == 4
    notes = [note.get_text() for note in texts(figure, "note")]
    assert notes == ["", "", "", "gaussian"]


def test_structural_networks_have_the_selected_columns():
    random = np.random.default_rng(0)
    X = random.integers(0, 2, (400, 4))
    y = (X[:, 0] ^ X[:, 1]) | (random.random(400) < 0.1)
    frame = pd.DataFrame(X.astype(str), columns=list("abcd"))
    model = StructuralTMClassifier(moves="pairs", training="ml", alpha=0.0).fit(frame, y)
    assert model.arcs_ == [("a", "b")]
    assert model.arc_information_[0] > 0
    names = [node.get_text() for node in texts(plots.network(model), "node")]
    assert names == ["class", "a", "b"]
    before = texts(plots.network(model), "note")[1].get_text()
    assert float(before) > 0.1
    del model.arc_information_  # as in files of earlier versions
    assert texts(plots.network(model), "note")[1].get_text() == before


@pytest.mark.parametrize("structure", ["independent", "tree"])
def test_latent_classes_are_components(structure):
    learner = LatentClassMixture(2, structure=structure, n_init=1, max_iter=5, tol=1.0)
    with pytest.raises(NotFittedError):
        plots.network(learner)
    model = learner.fit(vote().table)
    figure = plots.network(model)
    names = [node.get_text() for node in texts(figure, "node")]
    assert names[0] == "component"
    assert len(names) == 17
    assert len(arcs(figure)) == len(model.arcs_) == (15 if structure == "tree" else 0)
    written = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert ("given the component" in written) == (structure == "tree")
    assert "given the class" not in written
    with pytest.raises(TypeError, match=r"LatentClassMixture: draw it with plots\.network"):
        plots.nomogram(model)


def test_given_axes_get_smaller_letters():
    figure = new_figure(6, 3)
    left, right = figure.subplots(1, 2)
    assert plots.network(tan(), ax=right) is figure
    assert not left.texts
    assert right.texts[0].get_fontsize() < 5


def test_averaged_networks_are_refused():
    model = tan(structure="aode")
    with pytest.raises(ValueError, match="structure='tree'"):
        plots.network(model)
    with pytest.raises(ValueError, match="structure='tree'"):
        plots.nomogram(model)
