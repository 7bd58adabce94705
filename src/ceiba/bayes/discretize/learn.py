"""Learn the encoding of a table as categories: thresholds of all numeric columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize.config import DiscretizationConfig
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.bayes.discretize.intervals import Number
from ceiba.bayes.discretize.statistics import BinCounts, ValueCounts, ValueGroups
from ceiba.bayes.discretize.thresholds import equal_frequency, find_thresholds
from ceiba.data.schema import Kind, Schema
from ceiba.engine import Engine
from ceiba.stats import TargetSummary
from ceiba.tree.grow.encoding import RowSample, draw_sample, observed_mask
from ceiba.tree.grow.targets import FixedPointScale

# Distinct values of a column that are counted one by one outside of memory.
MAX_VALUES = 65_536
# Bins of a column with more of them, and rows of the sample that determines their edges: a bin then
# has 64 of these rows.
N_BINS = 2048
SAMPLE_ROWS = 131_072
_SEED = 0
# Cells of the counts of values in memory that are computed at once.
_CELLS = 2**23


def learn_encoding(
    engine: Engine,
    rows: Any,
    schema: Schema,
    summary: TargetSummary,
    config: DiscretizationConfig,
    class_weights: Array | None = None,
) -> CategoryEncoding:
    """Learn the thresholds of all numeric columns, and return the encoding of the schema.

    In memory, thresholds are exact. Elsewhere they are too, unless a column has more than 65,536
    distinct values: these are put into 2,048 bins of equal weight, with edges from a sample of
    131,072 rows that is the same for any partitioning, and thresholds lie between two bins.
    Rows without a value in a column do not count for that column.

    Parameters
    ----------
    engine : Engine
    rows : rows of the engine
        Numbered `LabeledRows`: ``engine.rows(source.partitions, ToLabeledRows("classification"))``
        after ``numbered(summary.rows)``.
    schema : Schema
        That of the source.
    summary : TargetSummary
        Result of the first pass, ``engine.reduce(rows, TargetSummary.of)``.
    config : DiscretizationConfig
    class_weights : ndarray of shape (n_classes,), optional
        Factors of the weights of each class's rows.

    Returns
    -------
    CategoryEncoding
        Columns with one category are left out, unless the config keeps them.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.bayes import DiscretizationConfig, learn_encoding
    >>> from ceiba.engine import choose_engine
    >>> from ceiba.stats import TargetSummary, ToLabeledRows
    >>> iris = datasets.load("iris")
    >>> engine, source = choose_engine(iris.table, y=iris.y, supervised=True)
    >>> rows = engine.rows(source.partitions, ToLabeledRows("classification"))
    >>> summary = engine.reduce(rows, TargetSummary.of)
    >>> rows = rows.numbered(summary.rows)
    >>> encoding = learn_encoding(engine, rows, source.schema, summary, DiscretizationConfig())
    >>> encoding.category_labels(3)
    ['< 0.8', '[0.8, 1.75)', '>= 1.75']
    """
    thresholds: dict[int, list[Number]] = {j: list(own) for j, own in config.thresholds.items()}
    numeric = [j for j, column in enumerate(schema) if column.kind is Kind.NUMERIC]
    learned = [j for j in numeric if j not in thresholds]
    scale = FixedPointScale.of(summary, class_weights, squares=False)
    for columns in _column_blocks(engine, learned, summary):
        groups = _count_values(engine, rows, schema, summary, scale, columns, config)
        for j, own in zip(columns, groups, strict=True):
            thresholds[j] = find_thresholds(
                own, config.method, config.bins_of(j), scale.weight_unit, schema[j].name
            )
    kept = range(len(schema)) if config.keep_constant else None
    return CategoryEncoding.of(schema, thresholds, kept)


def _column_blocks(engine: Engine, columns: list[int], summary: TargetSummary) -> list[list[int]]:
    """Return the columns that are counted at once: all of them, or in memory as many as fit."""
    if not columns:
        return []
    size = len(columns)
    if engine.in_memory:
        assert summary.classes is not None
        cells = max(summary.n_rows * len(summary.classes), 1)
        size = max(_CELLS // cells, engine.threads, 1)
    return [columns[i : i + size] for i in range(0, len(columns), size)]


def _count_values(
    engine: Engine,
    rows: Any,
    schema: Schema,
    summary: TargetSummary,
    scale: FixedPointScale,
    columns: Sequence[int],
    config: DiscretizationConfig,
) -> Sequence[ValueGroups]:
    if config.method == "equal_width":  # the range is enough
        one_bin = CategoryEncoding.of(schema, {}, columns)
        return engine.reduce(rows, BinCounts.of, one_bin, scale).groups
    limit = None if engine.in_memory else MAX_VALUES
    counts = engine.reduce(rows, ValueCounts.of, tuple(columns), scale, limit)
    groups = dict(zip(columns, counts.groups, strict=True))
    many = [j for j, own in groups.items() if own is None]
    if many:
        sample = draw_sample(engine, rows, summary.n_rows, SAMPLE_ROWS, _SEED)
        edges = {j: _sample_edges(sample, j) for j in many}
        bins = CategoryEncoding.of(schema, edges, many)
        found = engine.reduce(rows, BinCounts.of, bins, scale).groups
        groups |= dict(zip(many, found, strict=True))
    return [own for own in groups.values() if own is not None]


def _sample_edges(sample: RowSample, column: int) -> list[Number]:
    """Return thresholds of bins of equal weight from a sample of rows."""
    array, mask = sample.arrays[column], sample.missing_masks[column]
    known = observed_mask(sample.columns.types[column], array, mask)
    values, where = np.unique(array[known], return_inverse=True)
    weight = np.bincount(where, None if sample.weight is None else sample.weight[known])
    groups = ValueGroups(values, values, np.empty((0, 0), np.int64))
    return equal_frequency(groups, weight, N_BINS) if len(values) else []
