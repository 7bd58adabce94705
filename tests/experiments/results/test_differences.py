"""Tests between learners from the predictions of a comparison."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import ceiba
from ceiba import inference
from ceiba.experiments import (
    compare,
    learner_test,
    practical_difference,
    rank_learners,
    summarize,
)

LEARNERS = {
    "stump": ceiba.DecisionTreeClassifier(max_depth=1),
    "tree": ceiba.DecisionTreeClassifier(max_depth=3),
    "naive Bayes": ceiba.NaiveBayesClassifier(),
}
TABLES = ["iris", "wine", "glass", "vehicle"]


@pytest.fixture(scope="module")
def results():
    return compare(LEARNERS, TABLES, protocol="5-fold")


@pytest.fixture(scope="module")
def five_by_two():
    return compare(LEARNERS, "wine", protocol="5x2-fold")


def values(results, learner, dataset="wine", score="accuracy"):
    return np.array([value.value for value in results.fold_scores(score, dataset, learner)])


def test_tests_over_folds_are_those_of_scipy(results):
    one, other = values(results, "tree"), values(results, "stump")

    def p_value(test):
        return learner_test(results, "tree", "stump", dataset="wine", test=test).p_value

    assert p_value("paired_t") == pytest.approx(stats.ttest_rel(one, other).pvalue)
    assert p_value("wilcoxon") == pytest.approx(stats.wilcoxon(one, other).pvalue)
    expected = stats.mannwhitneyu(one, other, method="asymptotic", use_continuity=False).pvalue
    assert p_value("mann_whitney") == pytest.approx(expected)
    ratio = (178 / 5) / (178 * 4 / 5)
    differences = one - other
    t = differences.mean() / (differences.std(ddof=1) * np.sqrt(1 / 5 + ratio))
    assert p_value("corrected_t") == pytest.approx(2 * stats.t.sf(abs(t), 4))


def test_five_by_two_requires_its_protocol(results, five_by_two):
    found = learner_test(five_by_two, "tree", "stump", test="5x2cv")
    one, other = (values(five_by_two, name).reshape(5, 2) for name in ("tree", "stump"))
    assert found == inference.five_by_two_t_test(one, other)
    with pytest.raises(ValueError, match="test='5x2cv' requires protocol='5x2-fold'"):
        learner_test(results, "tree", "stump", dataset="wine", test="5x2cv")


def test_mcnemar_counts_rows_that_are_tested_once(results, five_by_two):
    found = learner_test(results, "tree", "stump", dataset="wine", test="mcnemar")
    correct = {
        name: np.concatenate([
            fold.predictions.y_true == fold.predictions.y_pred
            for fold in results.of("wine", name)
        ])
        for name in ("tree", "stump")
    }  # fmt: skip
    only_tree = int((correct["tree"] & ~correct["stump"]).sum())
    only_stump = int((~correct["tree"] & correct["stump"]).sum())
    n = only_tree + only_stump
    assert found.p_value == pytest.approx(stats.binomtest(only_tree, n).pvalue)
    with pytest.raises(ValueError, match="every row is tested once"):
        learner_test(five_by_two, "tree", "stump", test="mcnemar")
    with pytest.raises(ValueError, match="test='mcnemar' requires score='accuracy', got 'kappa'"):
        learner_test(results, "tree", "stump", dataset="wine", test="mcnemar", score="kappa")


def test_a_hold_out_has_mcnemars_test_in_its_summary():
    results = compare(LEARNERS, "vehicle", protocol="holdout 0.5")
    summary = summarize(results, control="stump", test="mcnemar", p_values=True)
    tree = summary.cells[0][1]
    assert tree.test.name == "McNemar, exact"
    assert tree.mark == "•"
    assert f"p={tree.test.p_value:.3f} •" in str(summary)
    assert summarize(results, control="stump").cells[0][1].test is None  # one fold has no variance
    with pytest.raises(ValueError, match="p_values=True requires control"):
        summarize(results, p_values=True)


def test_the_practical_difference_is_bayesian(results):
    one = practical_difference(results, "tree", "stump", dataset="wine")
    folds = results.of("wine", "tree")
    sizes = np.mean([len(f.unit.train) for f in folds]), np.mean([len(f.unit.test) for f in folds])
    expected = inference.bayesian_correlated_t(
        values(results, "tree"), values(results, "stump"), *sizes
    )
    assert one == expected
    many = practical_difference(results, "tree", "stump", rope=0.02)
    means = [[values(results, name, table).mean() for table in TABLES] for name in LEARNERS]
    assert many == inference.bayesian_signed_rank(means[1], means[0], rope=0.02)
    assert practical_difference(results, "tree", "stump", rope=0.5).rope > many.rope


def test_ranks_are_in_the_direction_of_the_score(results):
    ranking = rank_learners(results, control="tree")
    means = np.array([[values(results, m, table).mean() for m in LEARNERS] for table in TABLES])
    ranks = stats.rankdata(-means, axis=1).mean(axis=0)
    assert dict(zip(ranking.learners, ranking.ranks, strict=True)) == pytest.approx(
        dict(zip(LEARNERS, ranks, strict=True))
    )
    assert list(ranking.ranks) == sorted(ranking.ranks)
    assert rank_learners(results, "error").ranks == pytest.approx(ranking.ranks)
    assert [ranking.learners[pair.second] for pair in ranking.comparisons] == ["tree"] * 2
    assert len(rank_learners(results).comparisons) == 3
    assert "against tree (Holm)" in str(ranking)
    assert "(Holm)" not in str(rank_learners(results))


def test_ranks_require_datasets_learners_and_scores(results, five_by_two):
    with pytest.raises(ValueError, match="two learners and two datasets, got 3 and 1"):
        rank_learners(five_by_two)
    with pytest.raises(ValueError, match="control must be one of stump, tree, naive Bayes"):
        rank_learners(results, control="forest")
    with pytest.raises(ValueError, match="stump has no auc on iris: auc is of two classes"):
        rank_learners(results, "auc")


def test_names_are_checked(results):
    with pytest.raises(ValueError, match=r"dataset must be one of iris, .*, got None"):
        learner_test(results, "tree", "stump")
    with pytest.raises(ValueError, match=r"learner must be one of stump, .*, got 'forest'"):
        learner_test(results, "forest", "stump", dataset="wine")
    with pytest.raises(ValueError, match=r"test must be one of corrected_t, .*, got 't'"):
        learner_test(results, "tree", "stump", dataset="wine", test="t")
