"""Rows of the naive oracles for the structural search."""

from __future__ import annotations

import numpy as np

from ceiba.base.iterations import Iterations
from ceiba.bayes.statistics import CodedRows
from ceiba.bayes.structural.scores import SearchRows
from ceiba.bayes.structural.search import SearchConfig, search_structure
from ceiba.engine import LocalEngine


def search_rows(rows, threads=1, sums_missing=False):
    """Return the rows of an oracle as those of a search."""
    y, k = rows.Y.argmax(axis=1).astype(np.int32), rows.n_classes
    coded = CodedRows(np.ascontiguousarray(rows.X, np.uint8), y, rows.w.astype(float), k)
    sizes = tuple(r + 1 for r in rows.categories)
    observed = tuple(
        len(set(column[column < r].tolist()))
        for column, r in zip(rows.X[rows.w > 0].T, rows.categories, strict=True)
    )
    engine = LocalEngine(threads)
    counts = np.bincount(y, rows.w, k)
    return SearchRows(engine, engine.prepared_rows(coded), sizes, observed, counts, sums_missing)


def search(rows, moves="single", screen=3, **options):
    """Search a structure in the rows of an oracle."""
    config = SearchConfig(moves, screen)
    return search_structure(search_rows(rows, **options), config, Iterations(None, 1000))
