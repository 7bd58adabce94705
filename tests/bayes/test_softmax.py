"""The passes over table rows give what those over codes give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ceiba import NaiveBayesClassifier
from ceiba.bayes.discriminative import softmax
from ceiba.bayes.discriminative.softmax import (
    IndexedRows,
    JointTables,
    SoftmaxGradient,
    SoftmaxLikelihoods,
)
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import ClassTable
from ceiba.bayes.statistics import CodedRows, StepLikelihoods, TableSums
from ceiba.engine.contract import Batch

RNG = np.random.default_rng(0)
SIZES = (3, 4, 2, 11, 5, 2, 3)
NAIVE = Structure.naive(7)
TREE = Structure.of_arcs(tuple(range(7)), [(0, 1), (1, 3), (3, 2), (1, 4), (4, 5), (4, 6)])
PARENTS = Structure.of_arcs(tuple(range(7)), [(0, 1), (0, 2), (1, 2), (2, 5), (1, 5)])


def make_rows(n: int, k: int, missing: bool, weighted: bool) -> CodedRows:
    columns = [RNG.integers(0, size if missing else size - 1, n) for size in SIZES]
    weight = RNG.uniform(0.1, 3, n) if weighted else None
    labels = RNG.integers(0, k, n).astype(np.int32)
    return CodedRows(np.column_stack(columns).astype(np.uint8), labels, weight, k)


def random_weights(families: Families, k: int, scale: float = 2.0) -> ClassTable:
    return ClassTable(RNG.normal(0, scale, (families.n_table_rows, k)), RNG.normal(size=k))


@pytest.mark.parametrize("k", [2, 3, 5, 8, 11])
@pytest.mark.parametrize("structure", [NAIVE, TREE, PARENTS], ids=["naive", "tree", "parents"])
@pytest.mark.parametrize("missing", [False, True])
def test_passes_agree_with_those_over_codes(structure: Structure, k: int, missing: bool) -> None:
    families = Families(structure, SIZES)
    rows = make_rows(9_001, k, missing, weighted=bool(k % 2))
    tables = JointTables.of(families, k, missing)
    assert tables is not None
    assert len(tables.layout.shapes) < 7
    indexed = Batch(IndexedRows.of(rows, tables, threads=2))
    weights, direction = random_weights(families, k), random_weights(families, k, 0.3)
    wanted = TableSums.of(Batch(rows), families, weights)
    found = SoftmaxGradient.of(indexed, tables.join(weights))
    assert found.log_likelihood == pytest.approx(wanted.objective, rel=1e-12)
    np.testing.assert_allclose(tables.divide(found.table), wanted.table, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.bias, wanted.bias, rtol=0, atol=1e-9)
    steps = np.array([0.25, 1.0])
    along = SoftmaxLikelihoods.of(indexed, tables.join(weights), tables.join(direction), steps)
    np.testing.assert_allclose(
        along.log_likelihoods,
        StepLikelihoods.of(Batch(rows), families, weights, direction, steps).log_likelihoods,
        rtol=1e-12,
    )


@pytest.mark.parametrize("k", [2, 4])
def test_bits_do_not_depend_on_threads(k: int) -> None:
    families = Families(TREE, SIZES)
    tables = JointTables.of(families, k, has_missing=False)
    assert tables is not None
    batch = Batch(IndexedRows.of(make_rows(20_011, k, False, True), tables, threads=1))
    weights = tables.join(random_weights(families, k))
    one = SoftmaxGradient.of(batch, weights)
    for threads in (2, 3):
        other = SoftmaxGradient.of(replace(batch, threads=threads), weights)
        assert other.log_likelihood == one.log_likelihood
        np.testing.assert_array_equal(other.table, one.table)


@pytest.mark.parametrize("k", [2, 3])
def test_residuals_of_improbable_classes_keep_their_digits(k: int) -> None:
    """A count that is zero has a residual of minus its probability, as small as that is."""
    families = Families(Structure.naive(1), (3,))
    table = np.zeros((3, k))
    table[0, 0] = -300.0
    rows = CodedRows(np.zeros((5, 1), np.uint8), np.full(5, 1, np.int32), None, k)
    tables = JointTables.of(families, k, has_missing=False)
    assert tables is not None
    weights = tables.join(ClassTable(table, np.zeros(k)))
    found = SoftmaxGradient.of(Batch(IndexedRows.of(rows, tables, 1)), weights)
    assert found.table[0, 0] == pytest.approx(-5 * np.exp(-300.0) / (k - 1), rel=1e-12)


def test_large_tables_are_left_to_the_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert JointTables.of(Families(Structure.naive(2), (40_000, 40_000)), 2, False) is None
    X = RNG.integers(0, 3, (200, 4)).astype(str).astype(object)
    y = (X[:, 0] == X[:, 1]).astype(int) + (RNG.random(200) < 0.2)
    indexed = NaiveBayesClassifier(training="tm").fit(X, y)
    monkeypatch.setattr(softmax, "_MAX_TABLE_ROWS", 0)
    coded = NaiveBayesClassifier(training="tm").fit(X, y)
    assert indexed.n_iter_ == coded.n_iter_
    np.testing.assert_allclose(indexed.predict_proba(X), coded.predict_proba(X), rtol=0, atol=1e-10)
