"""Coded rows and networks for the contracts of Bayesian network classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ceiba._native import ClassWeighting
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.discriminative.density_model import DensityModel
from ceiba.bayes.discriminative.density_rows import DensityRows
from ceiba.bayes.discriminative.exponential import GaussianExponential, PoissonExponential
from ceiba.bayes.discriminative.softmax import IndexedRows, JointTables
from ceiba.bayes.discriminative.table_model import TableModel
from ceiba.bayes.distributions.rows import NumericRows
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable, mark_summed
from ceiba.bayes.statistics import CodedRows, PairBlock
from ceiba.cluster.lloyd import DrawKey
from tests.bayes.test_messages import random_network
from tests.contracts.row_kinds import VALUES, WEIGHTS, RowKind

SIZES = (3, 4, 2, 3)
N_CLASSES = 3
FOREST = Families(Structure.of_arcs((0, 1, 2, 3), [(0, 1), (1, 3)]), SIZES)


@st.composite
def coded(draw: st.DrawFn) -> CodedRows:
    """Rows with missing values, with or without weights."""
    n = draw(st.integers(1, 40))
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    columns = [draw(arrays(dtype, n, elements=st.integers(0, size - 1))) for size in SIZES]
    labels = draw(arrays(np.int32, n, elements=st.integers(0, N_CLASSES - 1)))
    weight = draw(arrays(np.float64, n, elements=WEIGHTS)) if draw(st.booleans()) else None
    return CodedRows(np.ascontiguousarray(np.column_stack(columns)), labels, weight, N_CLASSES)


def _slice(rows: CodedRows, begin: int, end: int) -> CodedRows:
    assert rows.labels is not None
    weight = None if rows.weight is None else rows.weight[begin:end]
    return CodedRows(rows.codes[begin:end], rows.labels[begin:end], weight, rows.n_classes)


def _repeat(rows: CodedRows, times: int) -> CodedRows:
    assert rows.labels is not None
    weight = None if rows.weight is None else np.tile(rows.weight, times)
    codes, labels = np.tile(rows.codes, (times, 1)), np.tile(rows.labels, times)
    return CodedRows(codes, labels, weight, rows.n_classes)


CODED = RowKind(coded(), len, _slice, _repeat)


def _network() -> ClassTable:
    return random_network(FOREST, N_CLASSES, np.random.default_rng(1))


def families(rows: Any) -> tuple[Any, ...]:
    return (FOREST,)


def pairs(rows: Any) -> tuple[Any, ...]:
    return (np.array(SIZES, np.int32),)


def pair_block(rows: Any) -> tuple[Any, ...]:
    return (np.array(SIZES, np.int32), PairBlock((0, 2), (1, 4)))


def weights(rows: Any) -> tuple[Any, ...]:
    return FOREST, _network()


def table_model(rows: Any) -> tuple[Any, ...]:
    return TableModel(FOREST), _network()


def residuals(rows: Any) -> tuple[Any, ...]:
    return FOREST, mark_summed(FOREST, _network()), ClassWeighting.RESIDUALS, None, True


def labels(rows: Any) -> tuple[Any, ...]:
    return FOREST, mark_summed(FOREST, _network()), ClassWeighting.LABELS


def steps(rows: Any) -> tuple[Any, ...]:
    return FOREST, _network(), _network().times(0.1), np.array([0.5, 1.0, 2.0])


def _tables() -> JointTables:
    tables = JointTables.of(FOREST, N_CLASSES, has_missing=True)
    assert tables is not None
    return tables


INDEXED = RowKind(
    coded(), len, _slice, _repeat, lambda rows: IndexedRows.of(rows, _tables(), threads=1)
)


def joined(rows: Any) -> tuple[Any, ...]:
    return (_tables().join(_network()),)


def joined_steps(rows: Any) -> tuple[Any, ...]:
    weights = _tables().join(_network())
    return weights, weights.times(0.1), np.array([0.5, 1.0, 2.0])


def models(rows: Any) -> tuple[Any, ...]:
    network = _network()
    return FOREST, [network, mark_summed(FOREST, network.times(1.0))]


@st.composite
def numeric(draw: st.DrawFn) -> NumericRows:
    """Numeric rows with missing values, with or without weights."""
    n = draw(st.integers(1, 40))
    X = draw(arrays(np.float64, (n, 2), elements=VALUES))
    X[draw(arrays(bool, (n, 2)))] = np.nan
    labels = draw(arrays(np.int32, n, elements=st.integers(0, N_CLASSES - 1)))
    weight = draw(arrays(np.float64, n, elements=WEIGHTS)) if draw(st.booleans()) else None
    return NumericRows(X, labels, weight, N_CLASSES)


def _slice_numeric(rows: NumericRows, begin: int, end: int) -> NumericRows:
    weight = None if rows.weight is None else rows.weight[begin:end]
    return NumericRows(rows.X[begin:end], rows.labels[begin:end], weight, rows.n_classes)


def _repeat_numeric(rows: NumericRows, times: int) -> NumericRows:
    weight = None if rows.weight is None else np.tile(rows.weight, times)
    X, labels = np.tile(rows.X, (times, 1)), np.tile(rows.labels, times)
    return NumericRows(X, labels, weight, rows.n_classes)


NUMERIC = RowKind(numeric(), len, _slice_numeric, _repeat_numeric)


def ranges(rows: Any) -> tuple[Any, ...]:
    """The range of both columns, which kernels round to if they have many values."""
    return np.full(2, -1e3), np.full(2, 1e3)


def column_sets(rows: Any) -> tuple[Any, ...]:
    """Two sets of columns, the sizes of all, and the maximum number of distinct rows."""
    return [(0, 1), (2,)], SIZES, 10_000


@st.composite
def with_values(draw: st.DrawFn) -> DensityRows:
    """Coded rows with a normal and a Poisson column, both with missing values."""
    rows = draw(coded())
    X = draw(arrays(np.float64, (len(rows), 2), elements=st.floats(-3, 3)))
    X[draw(arrays(bool, X.shape))] = np.nan
    return DensityRows(rows.codes, rows.labels, rows.weight, rows.n_classes, X)


def _repeat_with_values(rows: DensityRows, times: int) -> DensityRows:
    coded, X = _repeat(rows, times), np.tile(rows.X, (times, 1))
    return DensityRows(coded.codes, coded.labels, coded.weight, coded.n_classes, X)


WITH_VALUES = RowKind(
    with_values(), len, lambda rows, begin, end: rows.take(slice(begin, end)), _repeat_with_values
)


def _density_weights(seed: int) -> tuple[DensityModel, ClassTable]:
    one = np.ones(1)
    scaling = StoredScaling.identity(1)
    gaussian = GaussianExponential(np.array([0]), 0 * one, one, scaling)
    blocks = (gaussian, PoissonExponential(np.array([1]), 2 * one, one))
    rng = np.random.default_rng(seed)
    families = Families(Structure.naive(len(SIZES)), SIZES)
    table = rng.normal(size=(families.n_table_rows + 3, N_CLASSES))
    table[families.n_table_rows + 1] = -0.5 - rng.random(N_CLASSES)
    model = DensityModel(families, blocks, sums_missing=True)
    return model, model.network(ClassTable(table, rng.normal(size=N_CLASSES)))[0]


def density_model(rows: Any) -> tuple[Any, ...]:
    return _density_weights(2)


def density_models(rows: Any) -> tuple[Any, ...]:
    model, weights = _density_weights(2)
    return model, [weights, _density_weights(3)[1]]


def density_steps(rows: Any) -> tuple[Any, ...]:
    """Steps are linear in weights of complete rows, in which missing values count as zero."""
    model, weights = _density_weights(2)
    return model, weights, weights.times(0.1), np.array([0.5, 0.25])


def posteriors(rows: Any) -> tuple[Any, ...]:
    return FOREST, mark_summed(FOREST, _network()), ClassWeighting.POSTERIORS


def random_shares(rows: Any) -> tuple[Any, ...]:
    return FOREST, 2, DrawKey(7, 0, 0)


def draw(rows: Any) -> tuple[Any, ...]:
    near = np.array([[0, 1, 1, 0]], np.int64)
    return 3, np.array(SIZES, np.int64), near, DrawKey(7, 0, 1)


def mixture(rows: Any) -> tuple[Any, ...]:
    return (NetworkModel.of(FOREST, _network(), np.ones(FOREST.n_table_rows), is_network=True),)
