"""Coded rows of the naive oracles in the form of the library, and their tables."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from ceiba._typing import Array
from ceiba.bayes.discriminative.table_model import TableModel
from ceiba.bayes.discriminative.train import TrainingConfig, TrainingData
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import ClassTable, Smoothing, probabilities
from ceiba.bayes.statistics import CodedRows, TableCounts
from ceiba.engine.local import LocalEngine
from tests.oracles import bayes_naive as naive

CATEGORIES = (2, 3, 2)
NAIVE = naive.naive_structure(range(3))
TREE: naive.Structure = {0: (), 1: (0,), 2: (1,)}


def coded(rows: naive.Rows) -> CodedRows:
    """Return rows of an oracle as codes."""
    labels = np.argmax(rows.Y, axis=1).astype(np.int32)
    return CodedRows(np.ascontiguousarray(rows.X, np.uint8), labels, rows.w, rows.n_classes)


def families_of(structure: naive.Structure, categories: tuple[int, ...]) -> Families:
    own = Structure(tuple(structure), tuple(structure.values()))
    return Families(own, tuple(r + 1 for r in categories))


def table_of(families: Families, tables: naive.Tables) -> ClassTable:
    """Return tables of an oracle as one table; rows with missing values are zero."""
    table = np.zeros((families.n_table_rows, len(tables.classes)))
    for family, feature in enumerate(families.structure.features):
        known = tuple(slice(0, n - 1) for n in families.shapes[family])
        families.view(table, family)[known] = tables.features[feature]
    return ClassTable(table, np.array(tables.classes, float))


def random_rows(
    seed: int = 0, n: int = 200, k: int = 3, missing: float = 0.0, weighted: bool = True
) -> naive.Rows:
    """Return overlapping classes in which every combination of a family occurs."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    columns = [(y * (rng.random(n) < 0.4) + rng.integers(0, r, n)) % r for r in CATEGORIES]
    X = np.where(rng.random((n, 3)) < missing, CATEGORIES, np.column_stack(columns))
    w = rng.uniform(0.5, 2, n) if weighted else None
    return naive.make_rows(X, y, w, CATEGORIES, k)


def training_data(
    rows: naive.Rows,
    structure: naive.Structure,
    *,
    alpha: float = 1.0,
    network: ClassTable | None = None,
    sums_missing: bool = False,
    threads: int = 1,
) -> TrainingData:
    engine = LocalEngine(threads)
    prepared = engine.prepared_rows(coded(rows))
    families = families_of(structure, rows.categories)
    counts = engine.reduce(prepared, TableCounts.of, families)
    smoothing = Smoothing(alpha)
    if network is None:
        network = probabilities(families, ClassTable(counts.table, counts.bias), smoothing)
    return TrainingData(
        engine, prepared, families, network, float(rows.w.sum()), smoothing, sums_missing
    )


def config(
    solver: str = "lbfgs",
    penalty: float | str = 0.0,
    tau: float = 0.4,
    *,
    sums_missing: bool = False,
    tol: float | None = None,
    max_iter: int | None = None,
    early_stopping: bool = False,
) -> TrainingConfig:
    return TrainingConfig.of(
        solver,  # type: ignore[arg-type]
        penalty,  # type: ignore[arg-type]
        tau,
        sums_missing=sums_missing,
        max_iter=max_iter,
        tol=tol,
        early_stopping=early_stopping,
        seed=0,
    )


def posteriors(data: TrainingData, weights: ClassTable) -> Array:
    """Return p(c | x) of the rows of a fit."""
    scores = TableModel(data.families).log_scores(data.rows.rows, weights, 1)
    return np.asarray(softmax(scores, axis=1))
