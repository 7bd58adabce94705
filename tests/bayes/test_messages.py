"""Native passes against enumeration and naive counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba import _native
from ceiba._native import ClassWeighting
from ceiba._typing import Array
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import ClassTable, mark_summed, spread_missing
from ceiba.bayes.statistics import (
    CodedRows,
    PairBlock,
    PairCounts,
    StepLikelihoods,
    TableCounts,
    TableSums,
)
from ceiba.engine import Batch
from tests.oracles.bayes_missing_naive import expected_statistics, observed_log_joint
from tests.oracles.bayes_naive import Rows, Tables, make_rows


def batch(rows: CodedRows, threads: int = 1) -> Batch[CodedRows]:
    return Batch(rows, threads=threads)


def random_network(families: Families, k: int, rng: np.random.Generator) -> ClassTable:
    table = np.zeros((families.n_table_rows, k))
    for family in range(len(families.shapes)):
        view = families.view(table, family)
        known = view[tuple(slice(n - 1) for n in families.shapes[family])]
        theta = rng.dirichlet(np.full(known.shape[-2], 0.7), size=(*known.shape[:-2], k))
        known[:] = np.log(np.maximum(np.moveaxis(theta, -1, -2), 1e-12))
    return ClassTable(table, np.log(rng.dirichlet(np.ones(k))))


def as_tables(families: Families, weights: ClassTable) -> Tables:
    """The weights of known values as tables of the naive classifier."""
    features = {}
    for family, feature in enumerate(families.structure.features):
        view = families.view(weights.table, family)
        features[feature] = view[tuple(slice(n - 1) for n in families.shapes[family])]
    return Tables(weights.bias, features)


def naive_structure(structure: Structure) -> dict[int, tuple[int, ...]]:
    return dict(zip(structure.features, structure.parents, strict=True))


@st.composite
def forests(draw: st.DrawFn) -> tuple[Families, int, int]:
    m, k = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    sizes = tuple(draw(st.lists(st.integers(2, 4), min_size=m, max_size=m)))
    order = draw(st.permutations(range(m)))
    arcs = []
    for position, child in enumerate(order[1:], start=1):
        parent = draw(st.none() | st.sampled_from(order[:position]))
        arcs += [] if parent is None else [(parent, child)]
    return Families(Structure.of_arcs(tuple(range(m)), arcs), sizes), k, draw(st.integers(0, 999))


def random_rows(
    families: Families, k: int, seed: int, n: int = 12, dtype: Any = np.uint8
) -> tuple[CodedRows, Rows]:
    rng = np.random.default_rng(seed)
    sizes = np.array(families.sizes)
    codes = rng.integers(sizes, size=(n, len(sizes)))
    codes[0] = sizes - 1  # all missing
    labels = rng.integers(k, size=n).astype(np.int32)
    weight = rng.exponential(size=n)
    naive = make_rows(codes, labels, weight, (sizes - 1).tolist(), k)
    return CodedRows(codes.astype(dtype), labels, weight, k), naive


@settings(max_examples=60, deadline=None)
@given(forests(), st.sampled_from([np.uint8, np.uint16]))
def test_messages_equal_enumeration(case: tuple[Families, int, int], dtype: Any) -> None:
    families, k, seed = case
    network = random_network(families, k, np.random.default_rng(seed))
    rows, naive = random_rows(families, k, seed, dtype=dtype)
    structure, weights = naive_structure(families.structure), as_tables(families, network)
    marked = mark_summed(families, network)

    joint = np.empty((len(rows), k))
    _native.bayes_log_joint(rows.codes, marked.native(families), joint, 1)
    expected = observed_log_joint(weights, structure, naive.X, naive.categories)
    np.testing.assert_allclose(joint, expected, rtol=1e-9, atol=1e-9)

    posteriors = np.exp(expected - np.logaddexp.reduce(expected, axis=1, keepdims=True))
    means = np.full(k, 1 / k)
    for weighting, values in [
        (ClassWeighting.LABELS, naive.Y),
        (ClassWeighting.RESIDUALS, naive.Y - posteriors),
        (ClassWeighting.POSTERIORS, posteriors),
    ]:
        sums = TableSums.of(batch(rows), families, marked, weighting)
        table = spread_missing(families, network, sums.table)
        found = as_tables(families, ClassTable(table, sums.bias))
        wanted = expected_statistics(naive, values, weights, structure)
        np.testing.assert_allclose(found.classes, wanted.classes, atol=1e-9)
        for feature in structure:
            np.testing.assert_allclose(found.features[feature], wanted.features[feature], atol=1e-9)
    labels_sum = TableSums.of(batch(rows), families, marked, ClassWeighting.LABELS).objective
    own = expected[np.arange(len(rows)), rows.labels]
    assert labels_sum == pytest.approx(float(rows.weight @ own), rel=1e-9)
    information = TableSums.of(
        batch(rows), families, marked, ClassWeighting.INFORMATION, class_means=means
    )
    divergence = (posteriors * np.log(np.maximum(posteriors, 1e-300) * k)).sum(axis=1)
    assert information.objective == pytest.approx(float(rows.weight @ divergence), abs=1e-8)


def large_case(k: int, dtype: Any) -> tuple[Families, ClassTable, CodedRows]:
    sizes = (4, 5, 3, 6, 4, 3)
    arcs = [(0, 1), (1, 2), (1, 3), (4, 5)]
    families = Families(Structure.of_arcs(tuple(range(6)), arcs), sizes)
    rng = np.random.default_rng(k)
    codes = rng.integers(sizes, size=(30_000, 6)).astype(dtype)
    labels = rng.integers(k, size=len(codes)).astype(np.int32)
    rows = CodedRows(codes, labels, rng.exponential(size=len(codes)), k)
    return families, random_network(families, k, rng), rows


@pytest.mark.parametrize(("k", "dtype"), [(3, np.uint8), (11, np.uint16)])
def test_threads_change_no_bit(k: int, dtype: Any) -> None:
    families, network, rows = large_case(k, dtype)
    marked = mark_summed(families, network)
    sizes = np.array(families.sizes, np.int32)
    steps = np.array([0.5, 1.0])

    def results(threads: int) -> list[Array]:
        part = batch(rows, threads)
        joint = np.empty((len(rows), k))
        _native.bayes_log_joint(rows.codes, marked.native(families), joint, threads)
        sums = TableSums.of(part, families, marked, variances=True)
        counts = TableCounts.of(part, families)
        along = StepLikelihoods.of(part, families, network, network, steps)
        return [
            joint, sums.table, sums.bias, sums.table_variances, np.array(sums.objective),
            counts.table, counts.bias, PairCounts.of(part, sizes).counts, along.log_likelihoods,
        ]  # fmt: skip

    one = results(1)
    assert not any(np.isnan(array).any() for array in one)
    for threads in (2, 3):
        for a, b in zip(one, results(threads), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_equal_naive_counts(dtype: Any, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    sizes = (3, 300 if dtype is np.uint16 else 4, 2, 5)
    k, n = 7, 500
    codes = rng.integers(sizes, size=(n, 4)).astype(dtype)
    labels = rng.integers(k, size=n).astype(np.int32)
    weight = rng.integers(1, 4, size=n).astype(float) if weighted else None
    rows = CodedRows(codes, labels, weight, k)
    own = np.ones(n) if weight is None else weight
    families = Families(Structure.of_arcs((0, 1, 2, 3), [(0, 1), (0, 3), (1, 3)]), sizes)
    table = np.zeros((families.n_table_rows, k))
    for entries in families.table_rows(codes):
        np.add.at(table, (entries, labels), own)
    counts = TableCounts.of(batch(rows), families)
    np.testing.assert_array_equal(counts.table, table)
    np.testing.assert_array_equal(counts.bias, np.bincount(labels, own, k))
    for block in (None, PairBlock((0, 2), (2, 4)), PairBlock((1, 3), (0, 4))):
        found = PairCounts.of(batch(rows), np.array(sizes, np.int32), block)
        seen = []
        for i, j, pairs in found.tables(np.array(sizes, np.int32), k, block):
            expected = np.zeros((sizes[i], k, sizes[j]))
            np.add.at(expected, (codes[:, i], labels, codes[:, j]), own)
            np.testing.assert_array_equal(pairs, expected)
            seen.append((i, j))
        assert seen == list((block or PairBlock.of_all(4)).pairs())
    assert list(PairBlock((1, 3), (0, 4)).pairs()) == [(1, 2), (1, 3), (2, 3)]
