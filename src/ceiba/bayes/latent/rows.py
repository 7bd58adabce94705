"""Rows of a table without a class, as category codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.bayes.coding import CodedData
from ceiba.bayes.discretize import CategoryEncoding, DiscretizationConfig, learn_encoding
from ceiba.bayes.discretize.discretizer import ToUnlabeledRows
from ceiba.bayes.discretize.given import read_thresholds
from ceiba.bayes.statistics import CodedRows
from ceiba.data.source import Chunk, Source
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.stats import TargetSummary


@dataclass(frozen=True, eq=False)
class ToLatentRows:
    """Prepare a partition as coded rows of one class; rows of weight zero are dropped.

    Parameters
    ----------
    encoding : CategoryEncoding
    threads : int
        Threads that encode a partition.
    """

    encoding: CategoryEncoding
    threads: int = 1

    def __call__(self, chunk: Chunk) -> CodedRows:
        """Return the coded rows of one chunk."""
        rows = ToUnlabeledRows()(chunk)
        codes = self.encoding.encode(rows.table, self.threads)
        return CodedRows(codes, np.zeros(len(rows), np.int32), rows.weight, 1)


def read_latent_rows(engine: Engine, source: Source, parameters: Any) -> CodedData:
    """Learn the encoding of a table without a class, and count its features.

    ``parameters`` has the hyper-parameters of the discretization and of missing values.
    """
    unlabeled = engine.rows(source.partitions, ToUnlabeledRows())
    summary = engine.reduce(unlabeled, TargetSummary.of)
    summary.require_rows()
    given = read_thresholds(parameters.thresholds, source.schema)
    config = DiscretizationConfig(parameters.discretization, parameters.n_bins, given)
    encoding = learn_encoding(
        engine, unlabeled.numbered(summary.rows), source.schema, summary, config
    )
    if encoding.n_features == 0:
        warn_user(
            "No column has two or more categories, so that all rows have the same component: try "
            "another discretization.",
            UserWarning,
        )
    prepare = ToLatentRows(encoding, engine.threads)
    rows = engine.rows(source.partitions, prepare).numbered(summary.rows)
    data = CodedData.of(engine, rows, source.schema, summary, encoding)
    return data.with_missing_category() if parameters.missing == "category" else data
