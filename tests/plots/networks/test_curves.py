"""Tests of the pictures of training and structural search."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

from ceiba import NaiveBayesClassifier, StructuralTMClassifier, datasets, plots
from ceiba.plots.style import new_axes, new_figure


@cache
def vote():
    return datasets.load("vote")


@cache
def trained(solver="lbfgs", trace=True):
    model = NaiveBayesClassifier(training="tm", solver=solver, missing="category", trace=trace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(vote().table, vote().y)


@cache
def counted():
    return NaiveBayesClassifier(missing="category").fit(vote().table, vote().y)


@cache
def searched():
    return StructuralTMClassifier(missing="category").fit(vote().table, vote().y)


def by_gid(ax, gid):
    return next(line for line in ax.lines if line.get_gid() == gid)


def test_training_curves_are_those_of_the_traces():
    models = {"L-BFGS": trained(), "TM": trained("tm")}
    upper, lower = plots.training_curve(models).axes
    curves = [line for line in upper.lines if len(line.get_xdata()) > 1]
    for line, (name, model) in zip(curves, models.items(), strict=True):
        wanted = [frame["conditional_log_likelihood"] for frame in model.trace_]
        assert line.get_ydata().tolist() == wanted
        assert line.get_xdata()[0] == 0
        assert line.get_label().startswith(f"{name}: −")
        assert line.get_label().endswith(f"after {model.n_iter_} iterations")
    frames = list(models["TM"].trace_)[1:]
    assert by_gid(lower, "lambda").get_ydata().tolist() == [frame["step"] for frame in frames]
    largest = np.array([frame["max_step"] for frame in frames])
    drawn = by_gid(lower, "lambda_max").get_ydata()
    np.testing.assert_array_equal(drawn, np.where(np.isfinite(largest), largest, np.nan))
    assert (by_gid(lower, "lambda").get_ydata() <= largest).all()


def test_lambda_has_a_panel_for_the_tm_algorithm_only():
    figure = new_figure(5, 3)
    assert plots.training_curve(trained(), figure=figure) is figure
    assert len(figure.axes) == 1
    assert figure.axes[0].get_xscale() == "linear"
    assert plots.training_curve(trained("tm")).axes[0].get_xscale() == "symlog"


def test_training_curves_need_a_trace():
    with pytest.raises(ValueError, match="trace=True, got training='ml' and trace=False"):
        plots.training_curve(counted())
    with pytest.raises(ValueError, match="training='tm' and trace=False"):
        plots.training_curve({"one": trained(trace=False)})
    with pytest.raises(ValueError, match="at least one fitted model"):
        plots.training_curve({})


def test_search_paths_have_a_line_for_each_move():
    model, ax = searched(), new_axes(5, 3)
    assert plots.search_path(model.path_, ax=ax) is ax.figure
    moves = [label.get_text() for label in ax.get_yticklabels()]
    assert moves == ["empty network", *model.path_.move[1:]]
    curves = {line.get_label(): line.get_xdata().tolist() for line in ax.lines}
    assert curves["BICd"] == model.path_.bicd.tolist()
    assert curves["conditional log-likelihood"] == model.path_.log_likelihood.tolist()
    assert curves["result"] == [model.bicd_]
    n = len(model.selected_features_)
    assert ax.get_title(loc="right") == f"{n} columns, 0 arcs, {model.path_.d[-1]} parameters"


def test_a_network_without_a_search_is_drawn_otherwise():
    with pytest.raises(TypeError, match=r"draw it with plots\.network\(model\)\.$"):
        plots.search_path(counted())
