"""Rows of a fit as category codes with class indices: encode them, and count each feature.

A fit reads its rows once to summarize the classes, then learns the encoding of the columns
(`ceiba.bayes.discretize`), and counts the categories of each feature by class. `CodedData` has all
of this; everything after it works on codes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding, DiscretizationConfig, learn_encoding
from ceiba.bayes.families import Families
from ceiba.bayes.network import ClassTable
from ceiba.bayes.statistics import CodedRows, TableCounts
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Source
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.stats import LabeledRows, TargetSummary, ToLabeledRows
from ceiba.tree.class_weight import class_weight_factors


@dataclass(frozen=True, eq=False)
class ToCodedRows:
    """Prepare a partition as coded rows.

    Parameters
    ----------
    encoding : CategoryEncoding
    classes : ndarray
        Classes of all rows, ascending.
    class_weights : ndarray of shape (n_classes,) or None
        Factors of the weights of each class's rows.
    threads : int
        Threads that encode a partition.
    """

    encoding: CategoryEncoding
    classes: Array
    class_weights: Array | None = None
    threads: int = 1

    def __call__(self, chunk: Chunk) -> CodedRows:
        """Return the coded rows of one chunk; rows of weight zero are dropped."""
        return self.of_labeled(ToLabeledRows("classification")(chunk))

    def of_labeled(self, rows: LabeledRows) -> CodedRows:
        """Return the coded rows of labeled rows."""
        labels, weight = labels_and_weights(rows, self.classes, self.class_weights)
        codes = self.encoding.encode(rows.table, self.threads)
        return CodedRows(codes, labels, weight, len(self.classes))


def labels_and_weights(
    rows: LabeledRows, classes: Array, class_weights: Array | None
) -> tuple[Array, Array | None]:
    """Return class indices and weights of rows; ``class_weights`` are factors of the latter."""
    labels = rows.labels(classes).astype(np.int32, copy=False)
    weight = rows.weight
    if class_weights is not None:
        factors = class_weights[labels]
        weight = factors if weight is None else weight * factors
    return np.ascontiguousarray(labels), weight


def prepare_rows(engine: Engine, partitions: Any, labeled: Any, prepare: Any) -> Any:
    """Return the rows of a preparation that has ``of_labeled``.

    In memory the labeled rows, whose target is read already, are used again.
    """
    if engine.in_memory and labeled is not None:
        return engine.prepared_rows(prepare.of_labeled(labeled.table()))
    return engine.rows(partitions, prepare)


@dataclass(frozen=True, eq=False)
class CodedData:
    """Rows of a fit as category codes.

    Parameters
    ----------
    engine, rows
        The rows, prepared as `CodedRows`.
    schema : Schema
    summary : TargetSummary
    encoding : CategoryEncoding
    sizes : tuple of int
        Number of codes of each feature, that of a missing value included.
    counts : TableCounts
        Counts of each feature alone, one table below the other.
    has_missing : bool
        Whether values are missing that are summed over.
    labeled
        The rows, prepared as `LabeledRows`.
    """

    engine: Engine
    rows: Any
    schema: Schema
    summary: TargetSummary
    encoding: CategoryEncoding
    sizes: tuple[int, ...]
    counts: TableCounts
    has_missing: bool
    labeled: Any = None

    @classmethod
    def of(
        cls,
        engine: Engine,
        rows: Any,
        schema: Schema,
        summary: TargetSummary,
        encoding: CategoryEncoding,
        labeled: Any = None,
    ) -> Self:
        """Count each feature of coded rows."""
        families = single_families(encoding)
        counts = engine.reduce(rows, TableCounts.of, families)
        has_missing = bool(counts.table[~families.is_known].any())
        sizes = families.sizes
        return cls(engine, rows, schema, summary, encoding, sizes, counts, has_missing, labeled)

    def with_missing_category(self) -> CodedData:
        """Return the data with a category for the missing values of each feature that has some."""
        if not self.has_missing:
            return self
        families, counts = count_missing(self.families, self.counts)
        return replace(self, sizes=families.sizes, counts=counts, has_missing=False)

    @property
    def families(self) -> Families:
        """Layout of the counts: each feature alone, as in naive Bayes."""
        return Families.naive(self.sizes)

    @property
    def n_observed(self) -> tuple[int, ...]:
        """Number of categories of each feature that occur in training."""
        seen = self.families.is_known & (self.counts.table.sum(axis=1) > 0)
        bounds = pairwise(self.families.offsets.tolist())
        return tuple(int(seen[first:last].sum()) for first, last in bounds)

    @property
    def class_table(self) -> ClassTable:
        """Counts of each feature and of the classes, as a network has them."""
        return ClassTable(self.counts.table, self.counts.bias)

    @property
    def classes(self) -> Array:
        """Classes of the rows, ascending."""
        assert self.summary.classes is not None
        return self.summary.classes

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts.bias)

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.counts.bias.sum())

    @property
    def unit(self) -> float:
        """Weight below which gains are relative to the weight of all rows."""
        return min(1.0, self.total)


def read_codes(
    engine: Engine,
    source: Source,
    config: DiscretizationConfig,
    class_weight: Any = None,
    classes: Array | None = None,
    needs_features: bool = True,
) -> CodedData:
    """Learn the encoding of a table with a class, and count its features.

    Missing values are no category: see `CodedData.with_missing_category`.

    Parameters
    ----------
    engine, source
        The rows.
    config : DiscretizationConfig
    class_weight : "balanced", mapping or None
        As the hyper-parameter.
    classes : ndarray, optional
        All classes, where the rows may lack some.
    needs_features : bool
        Whether to warn if all columns are left out.
    """
    labeled = engine.rows(source.partitions, ToLabeledRows("classification"))
    summary = engine.reduce(labeled, TargetSummary.of)
    summary.require_rows()
    labeled = labeled.numbered(summary.rows)
    if classes is not None:
        summary = extend_classes(summary, classes)
    class_weights = class_weight_factors(class_weight, summary)
    encoding = learn_encoding(engine, labeled, source.schema, summary, config, class_weights)
    if encoding.n_features == 0 and needs_features:
        warn_user(
            "No column has two or more categories, so that every row is predicted the "
            "frequencies of the classes: try another discretization.",
            UserWarning,
        )
    assert summary.classes is not None
    prepare = ToCodedRows(encoding, summary.classes, class_weights, engine.threads)
    rows = prepare_rows(engine, source.partitions, labeled, prepare).numbered(summary.rows)
    return CodedData.of(engine, rows, source.schema, summary, encoding, labeled)


def single_families(encoding: CategoryEncoding) -> Families:
    """Return the layout of the counts of each feature alone, missing values included."""
    sizes = tuple((encoding.n_categories + 1).tolist())
    return Families.naive(sizes)


def count_missing(families: Families, counts: TableCounts) -> tuple[Families, TableCounts]:
    """Return the layout and the counts with a category for the missing values of naive Bayes.

    A feature has one if the count of its missing values, the last row of its table, is positive.
    """
    tables, sizes = [], []
    for family, size in enumerate(families.sizes):
        table = families.view(counts.table, family)
        is_missing = bool(table[-1].any())
        none = np.zeros((int(is_missing), table.shape[1]))
        tables.append(np.concatenate([table, none]))
        sizes.append(size + is_missing)
    expanded = Families(families.structure, tuple(sizes))
    return expanded, TableCounts(np.concatenate(tables), counts.bias)


def extend_classes(summary: TargetSummary, classes: Array) -> TargetSummary:
    """Return the summary of the target with all ``classes``; raise if it has another one."""
    assert summary.classes is not None
    assert summary.class_counts is not None
    known = {label: index for index, label in enumerate(classes.tolist())}
    unknown = [label for label in summary.classes.tolist() if label not in known]
    if unknown:
        raise ValueError(
            f"y contains labels that are not in classes, {classes.tolist()}: {unknown[0]!r}. Pass "
            "all classes to the first call of partial_fit."
        )
    counts = np.zeros(len(classes), np.int64)
    counts[[known[label] for label in summary.classes.tolist()]] = summary.class_counts
    return replace(summary, classes=classes, class_counts=counts)


def check_stored_encoding(encoding: CategoryEncoding, schema: Schema, sizes: Array) -> None:
    """Raise ValueError unless the encoding of a model file is that of its schema and network.

    ``sizes`` are the numbers of codes; missing values may be a category.
    """
    if encoding.schema != schema:
        raise ValueError("encoding_.schema must be schema_.")
    expected = encoding.n_categories + 1
    if len(sizes) != len(expected) or ((sizes != expected) & (sizes != expected + 1)).any():
        raise ValueError("model_.sizes must be those of encoding_.")
