"""Choosing the number of clusters: indices, selected k, references and the printed table."""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.datasets import make_blobs

from ceiba.cluster.kmeans import KMeans
from ceiba.cluster.selection import choose as module
from ceiba.cluster.selection.choose import choose_n_clusters
from ceiba.cluster.selection.gap import (
    draw_box,
    draw_principal,
    gap_statistic,
    one_error_rule,
)
from ceiba.cluster.selection.silhouette import silhouette_estimate
from ceiba.cluster.selection.validity import as_rows
from ceiba.data.encoding import Encoding
from ceiba.data.table import Table

NAMES = ["elbow", "silhouette", "calinski_harabasz", "davies_bouldin", "gap"]
COLUMNS = ["k", "inertia", "silhouette", "silhouette_se"]
COLUMNS += ["calinski_harabasz", "davies_bouldin", "gap", "gap_se"]


def three_groups():
    corners = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [5.0, 8.7, 0.0]])
    return make_blobs(150, centers=corners, cluster_std=0.6, random_state=2)[0]


@pytest.fixture(scope="module")
def choice():
    return choose_n_clusters(three_groups(), range(1, 7), n_references=5)


def mixed_frame(n=120):
    random = np.random.default_rng(1)
    group = np.arange(n) % 3
    size = group * 8.0 + random.normal(size=n)
    size[random.random(n) < 0.1] = np.nan
    color = np.array(["red", "blue", "green"], dtype=object)[group]
    color[random.random(n) < 0.1] = None
    return pd.DataFrame({"size": size, "color": color, "flag": random.random(n) < 0.5})


def test_every_index_finds_three_separate_groups(choice):
    assert choice.best == dict.fromkeys(NAMES, 3)
    assert list(choice.table) == COLUMNS
    assert choice.table["k"].tolist() == [1, 2, 3, 4, 5, 6]


def test_indices_match_scikit_learn(choice):
    X = three_groups()
    for index, k in enumerate(choice.table["k"][1:], start=1):
        labels = choice.models[k].labels_
        for name in ("silhouette", "calinski_harabasz", "davies_bouldin"):
            expected = getattr(metrics, f"{name}_score")(X, labels)
            assert choice.table[name][index] == pytest.approx(expected, rel=1e-10)
        assert choice.table["inertia"][index] == choice.models[k].inertia_


def test_one_cluster_has_inertia_and_gap_only(choice):
    first = {name: column[0] for name, column in choice.table.items()}
    undefined = [name for name, value in first.items() if np.isnan(value)]
    assert undefined == ["silhouette", "silhouette_se", "calinski_harabasz", "davies_bouldin"]


def test_gap_follows_the_formula_of_the_paper(choice):
    X = three_groups()
    logs = np.empty((5, 6))
    reference = partial(draw_box, rows=X, encoding=Encoding.of(Table.of(X).schema))
    for number in range(5):
        drawn = reference(np.random.default_rng([0, number + 1]))
        logs[number] = [np.log(KMeans(k, n_init=5).fit(drawn).inertia_) for k in range(1, 7)]
    gap = [np.mean(logs[:, i]) - np.log(choice.table["inertia"][i]) for i in range(6)]
    error = [np.sqrt(np.mean((c - c.mean()) ** 2)) * np.sqrt(1 + 1 / 5) for c in logs.T]
    np.testing.assert_allclose(choice.table["gap"], gap, rtol=1e-9)
    np.testing.assert_allclose(choice.table["gap_se"], error, rtol=1e-9)


def test_gap_selects_one_cluster_for_uniform_rows():
    X = np.random.default_rng(3).random((200, 2))
    assert choose_n_clusters(X, range(1, 6)).best["gap"] == 1


@pytest.mark.parametrize(
    ("gap", "error", "index"),
    [
        ([0.1, 0.5, 0.9, 0.8], [0.01] * 4, 2),
        ([0.1, 0.5, 0.9, 0.95], [0.1] * 4, 2),  # within one error of the next
        ([0.1, 0.5, 0.9, 1.8], [0.1] * 4, 3),  # rising to the end
        ([0.5, 0.1], [0.1, 0.1], 0),
        ([0.1, np.inf, np.inf], [0.1, 0.1, 0.1], 1),
        ([0.1, 0.9, np.nan], [0.1, 0.1, np.nan], 1),
        ([0.3], [0.1], 0),
        ([np.nan, np.nan], [np.nan, np.nan], None),
    ],
)
def test_one_error_rule_selects_the_first_gap_within_one_error(gap, error, index):
    assert one_error_rule(np.array(gap), np.array(error)) == index


def test_gap_is_undefined_where_a_reference_is_perfect():
    logs = np.array([[1.0, 0.0, -np.inf], [3.0, 1.0, -1.0]])
    gap, error = gap_statistic(np.array([1.0, -np.inf, 0.0]), logs)
    np.testing.assert_array_equal(gap, [1.0, np.inf, np.nan])
    np.testing.assert_allclose(error, [np.sqrt(1.5), 0.5 * np.sqrt(1.5), np.nan])


@pytest.mark.parametrize(
    ("inertia", "index"),
    [
        ([100, 20, 15, 10], 1),
        ([100, 60, 10, 5], 2),
        ([4, 3, 2, 1], None),  # a straight line has no elbow
        ([4, 4, 4, 1], None),  # bent the other way
        ([5, 5, 5, 5], None),
        ([5, 1], None),
    ],
)
def test_elbow_is_farthest_below_the_chord(inertia, index):
    ks = np.arange(1, len(inertia) + 1)
    assert module._elbow(ks, np.array(inertia, dtype=float)) == index


def test_box_reference_fills_the_box_and_keeps_missing_values():
    frame = mixed_frame()
    table = Table.of(frame)
    encoding = Encoding.of(table.schema)
    rows = as_rows(frame)
    drawn = draw_box(np.random.default_rng(0), rows, encoding)
    np.testing.assert_array_equal(np.isnan(drawn), np.isnan(rows))
    size, colors = drawn[:, 0], drawn[~np.isnan(rows[:, 1]), 1:4]
    assert np.nanmin(rows[:, 0]) <= np.nanmin(size) < np.nanmax(size) <= np.nanmax(rows[:, 0])
    assert np.nanstd(size) == pytest.approx(np.ptp(size[~np.isnan(size)]) / np.sqrt(12), rel=0.15)
    np.testing.assert_allclose((colors**2).sum(axis=1), 0.5)
    assert (colors > 0).any(axis=0).all()


def test_box_reference_draws_observed_categories_only():
    column = pd.Categorical(["a", "b"] * 20, categories=["a", "b", "never"])
    table = Table.of(pd.DataFrame({"c": column, "x": np.arange(40.0)}))
    encoding = Encoding.of(table.schema)
    rows = encoding.apply(table)
    drawn = draw_box(np.random.default_rng(0), rows, encoding)
    assert not drawn[:, 2].any()


def test_principal_reference_follows_correlated_rows():
    random = np.random.default_rng(0)
    long, thin = random.normal(size=400) * 10, random.normal(size=400) * 0.1
    X = np.column_stack([long + thin, long - thin])
    drawn = draw_principal(np.random.default_rng(1), X)
    spread = np.ptp(drawn[:, 0] - drawn[:, 1])
    assert spread <= np.ptp(X[:, 0] - X[:, 1]) * 1.1
    box = draw_box(np.random.default_rng(1), X, Encoding.of(Table.of(X).schema))
    assert np.ptp(box[:, 0] - box[:, 1]) > 10 * spread


def test_reference_changes_the_gap_and_nothing_else():
    X = three_groups() @ np.array([[1.0, 0.9, 0.8], [0.0, 0.2, 0.1], [0.0, 0.0, 0.1]])
    box, pca = (
        choose_n_clusters(X, range(1, 4), n_references=4, reference=r) for r in ("box", "pca")
    )
    assert not np.allclose(box.table["gap"], pca.table["gap"], rtol=1e-3)
    np.testing.assert_array_equal(box.table["inertia"], pca.table["inertia"])


def test_seed_determines_references_for_any_number_of_threads():
    X = three_groups()
    one, two, other = (
        choose_n_clusters(X, [2, 3], n_references=3, random_state=s, n_jobs=j)
        for s, j in ((0, 1), (0, 2), (1, 1))
    )
    for name in COLUMNS:
        np.testing.assert_array_equal(one.table[name], two.table[name])
    assert (one.table["gap"] != other.table["gap"]).all()


def test_large_data_get_a_sampled_silhouette(monkeypatch):
    X = three_groups()
    monkeypatch.setattr(module, "EXACT_SILHOUETTE_ROWS", 100)
    sampled = choose_n_clusters(X, [2, 3], n_references=0, sample_size=40)
    assert (sampled.n_sampled, sampled.n_rows) == (40, 150)
    found = silhouette_estimate(X, sampled.models[3].labels_, sample_size=40, random_state=0)
    assert sampled.table["silhouette"][1] == pytest.approx(found.score, rel=1e-12)
    assert sampled.table["silhouette_se"][1] == pytest.approx(found.standard_error, rel=1e-12)
    assert "sampled, 40 of 150 rows" in str(sampled)
    exact = choose_n_clusters(X, [2, 3], n_references=0, sample_size=None)
    assert exact.n_sampled == 150
    assert "silhouette: exact, all 150 rows" in str(exact)


def test_zero_references_leave_the_gap_out():
    found = choose_n_clusters(three_groups(), [2, 3, 4], n_references=0)
    assert np.isnan(found.table["gap"]).all()
    assert "gap" not in found.best
    assert "gap" not in str(found)


def test_table_with_missing_values_and_categories_is_accepted():
    frame = mixed_frame()
    found = choose_n_clusters(frame, range(1, 6), n_references=4)
    assert found.best["silhouette"] == found.best["gap"] == 3
    plain = choose_n_clusters(as_rows(frame), range(1, 6), n_references=0)
    np.testing.assert_allclose(found.table["silhouette"], plain.table["silhouette"], rtol=1e-9)
    assert found.models[3].predict(frame).tolist() == found.models[3].labels_.tolist()


def test_estimator_keeps_its_parameters():
    X = three_groups()
    template = KMeans(init="random", n_init=1, max_iter=2, random_state=4, n_jobs=2, trace=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = choose_n_clusters(X, [2, 5], estimator=template, n_references=2)
        expected = KMeans(5, init="random", n_init=1, max_iter=2, random_state=4).fit(X)
    assert found.models[5].inertia_ == expected.inertia_
    assert found.models[5].n_jobs == 2
    assert found.models[5].trace_
    assert template.n_clusters == 8


def test_estimator_may_be_scikit_learns():
    template = TheirKMeans(n_init=2, random_state=0)
    found = choose_n_clusters(three_groups(), range(1, 5), estimator=template, n_references=2)
    assert found.best["gap"] == 3


def test_perfect_clusters_have_infinite_gap():
    X = np.repeat(np.eye(3) + 1e6, 5, axis=0)
    found = choose_n_clusters(X, range(1, 4))
    assert found.table["calinski_harabasz"][2] > 1e12
    assert found.table["gap"][2] == np.inf
    assert found.best["silhouette"] == found.best["calinski_harabasz"] == 3


def test_as_many_clusters_as_rows_leaves_the_comparing_indices_out():
    found = choose_n_clusters(np.array([[0.0], [1.0], [5.0]]), [2, 3], n_references=0)
    assert not np.isnan(found.table["silhouette"][0])
    assert np.isnan(found.table["silhouette"][1])


def test_printed_table_is_aligned_and_marked(choice):
    lines = str(choice).splitlines()
    table = lines[:7]
    assert table[0].split() == [
        "k", "inertia", "silhouette", "Calinski-Harabasz", "Davies-Bouldin", "gap",
    ]  # fmt: skip
    assert table[1].count("–") == 3
    assert [line.count("*") for line in table[1:]] == [0, 0, 5, 0, 0, 0]
    stars = [index for index, mark in enumerate(table[3]) if mark == "*"]
    assert all(row[index : index + 1] in ("", " ") for row in table[4:] for index in stars)
    chosen = "elbow 3, silhouette 3, Calinski-Harabasz 3, Davies-Bouldin 3, gap 3"
    assert f"* chosen: {chosen}" in lines
    assert "gap: 5 references uniform over the box of the columns, ± s(k)" in lines
    assert repr(choice) == str(choice)


def test_printed_table_notes_a_rising_gap():
    found = choose_n_clusters(three_groups(), [1, 2], n_references=4)
    assert found.best["gap"] == 2
    assert "still rising at the largest k" in str(found)


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e9])
def test_printed_table_keeps_digits_for_any_scale(unit):
    found = choose_n_clusters(three_groups() * unit, [2, 3], n_references=0)
    shown = [float(line.split()[1].rstrip("*")) for line in str(found).splitlines()[1:3]]
    np.testing.assert_allclose(shown, found.table["inertia"], rtol=1e-3)


def test_to_frame_returns_the_table(choice):
    frame = choice.to_frame()
    assert frame.index.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(frame["gap"], choice.table["gap"])


def test_to_frame_without_pandas_names_the_extra(choice, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"ceiba\[files\]"):
        choice.to_frame()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ks": []}, "ints of at least 1"),
        ({"ks": [0, 1]}, "ints of at least 1"),
        ({"ks": [2, 151]}, "at most n_samples=150, got 151"),
        ({"n_references": 1}, "at least 2"),
        ({"n_references": -3}, "at least 2"),
        ({"reference": "ball"}, "'box' or 'pca'"),
    ],
)
def test_invalid_arguments_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        choose_n_clusters(three_groups(), **arguments)


def test_single_k_raises():
    with pytest.raises(TypeError, match="ks must be an iterable of int"):
        choose_n_clusters(three_groups(), 5)


def test_constant_and_infinite_data_raise():
    with pytest.raises(ValueError, match="two different values"):
        choose_n_clusters(np.ones((9, 2)), [1, 2])
    with pytest.raises(ValueError, match="infinity"):
        choose_n_clusters([[0.0], [np.inf], [1.0]], [1, 2])


def test_a_reference_without_the_gap_raises():
    with pytest.raises(ValueError, match="'reference' has no effect with n_references=0"):
        choose_n_clusters(np.arange(9.0)[:, None], [1, 2], n_references=0, reference="pca")
