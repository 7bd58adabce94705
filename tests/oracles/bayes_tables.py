"""The reference tables of Bayesian network classifiers, as codes, and their folds.

The files are in the folder named by CEIBA_DATA; iris comes with scikit-learn and corral is
generated. Incomplete rows are dropped, except in vote, where an empty field is a category.
Nominal columns have the categories of the file in sorted order, numeric ones are discretized by
minimum description length on the training rows. Classes are sorted.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from ceiba._typing import Array
from tests.oracles.bayes_naive import Rows, make_rows
from tests.oracles.bayes_thresholds_naive import bin_codes, mdl_thresholds

FOLDER = os.environ.get("CEIBA_DATA", "")
N_FOLDS = 5

# Table -> its file and its numeric columns; the others are nominal.
ALL = "all"
FILES: dict[str, tuple[str, str]] = {
    "breast": ("breast_cancer_wisconsin_original", ALL),
    "cleve": ("cleve", "age trestbps chol thalach oldpeak ca"),
    "german": (
        "german_credit",
        "duration credit_amount installment_rate residence_since age existing_credits "
        "num_dependents",
    ),
    "crx": ("crx", "A2 A3 A8 A11 A14 A15"),
    "lymphography": ("lymphography", "lym_nodes_dimin lym_nodes_enlar no_of_nodes_in"),
    "hepatitis": ("hepatitis", "age bilirubin alk_phosphate sgot albumin protime"),
    "vote": ("vote", ""),
    "heart": ("statlog_heart", "age trestbps chol thalach oldpeak ca"),
    "vertebral": ("vertebral_column", ALL),
}
NAMES = (
    "breast", "cleve", "iris", "german", "corral", "crx",
    "lymphography", "hepatitis", "vote", "heart", "vertebral",
)  # fmt: skip


@dataclass(frozen=True)
class RawTable:
    """Columns of floats (numeric) or codes (nominal, with their number of categories), classes."""

    columns: tuple[Array, ...]
    categories: tuple[int | None, ...]  # None: numeric
    y: Array
    names: tuple[str, ...]
    class_labels: tuple[str, ...]


def encode(values: list[str], domain: list[str]) -> tuple[Array, tuple[str, ...]]:
    """Codes of strings in the sorted domain."""
    labels = sorted(set(domain))
    return np.array([labels.index(v) for v in values]), tuple(labels)


def read_table(name: str) -> RawTable:
    """Read a file of CEIBA_DATA; skip the test without it."""
    file, numeric = FILES[name]
    path = Path(FOLDER, f"{file}.csv")
    if not FOLDER or not path.is_file():
        pytest.skip(f"needs CEIBA_DATA to name a folder with {file}.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        header, *records = csv.reader(stream)
    kept = [r for r in records if name == "vote" or "" not in r]
    y, labels = encode([r[-1] for r in kept], [r[-1] for r in kept])
    columns: list[Array] = []
    categories: list[int | None] = []
    for j, column in enumerate(header[:-1]):
        if numeric == ALL or column in numeric.split():
            columns.append(np.array([float(r[j]) for r in kept]))
            categories.append(None)
        else:
            domain = [r[j] for r in records if name == "vote" or r[j] != ""]
            codes, found = encode([r[j] for r in kept], domain)
            columns.append(codes)
            categories.append(len(found))
    return RawTable(tuple(columns), tuple(categories), y, tuple(header[:-1]), labels)


def corral() -> RawTable:
    """(A0 and A1) or (B0 and B1), an irrelevant feature I, and R, equal to the class in 3 of 4."""
    rows = []
    for a0, a1, b0, b1, i in product((0, 1), repeat=5):
        c = int((a0 and a1) or (b0 and b1))
        rows += [(a0, a1, b0, b1, i, r, c) for r in (c, c, c, 1 - c)]
    table = np.array(rows)
    names = ("A0", "A1", "B0", "B1", "I", "R")
    return RawTable(tuple(table[:, :-1].T), (2,) * 6, table[:, -1], names, ("0", "1"))


@cache
def raw_table(name: str) -> RawTable:
    """One of NAMES, before discretization."""
    if name == "corral":
        return corral()
    if name == "iris":
        data = load_iris()
        columns = tuple(data.data.T)
        return RawTable(
            columns, (None,) * 4, data.target, tuple(data.feature_names), tuple(data.target_names)
        )
    return read_table(name)


def codes_of(raw: RawTable, train: Array | None = None) -> tuple[Array, tuple[int, ...]]:
    """Codes (n, m) of all rows and categories; thresholds come from the training rows only."""
    train = np.arange(len(raw.y)) if train is None else train
    columns, sizes = [], []
    for column, size in zip(raw.columns, raw.categories, strict=True):
        if size is None:
            thresholds = mdl_thresholds(column[train], raw.y[train])
            columns.append(bin_codes(column, thresholds))
            sizes.append(len(thresholds) + 1)
        else:
            columns.append(column)
            sizes.append(size)
    return np.column_stack(columns), tuple(sizes)


@cache
def reference_rows(name: str) -> Rows:
    """A whole table as coded rows."""
    raw = raw_table(name)
    X, categories = codes_of(raw)
    return make_rows(X, raw.y, categories=categories, n_classes=len(raw.class_labels))


# Folds


def fold_numbers(y: Array, seed: int, n_folds: int = N_FOLDS) -> Array:
    """Fold of every row: each class is shuffled, then dealt to the folds where the last one ended.

    rng = numpy.random.default_rng(seed) serves the classes in sorted order.
    """
    rng = np.random.default_rng(seed)
    folds = np.empty(len(y), dtype=int)
    offset = 0
    for c in np.unique(y):
        members = np.flatnonzero(y == c)
        rng.shuffle(members)
        folds[members] = (offset + np.arange(len(members))) % n_folds
        offset += len(members)
    return folds


@dataclass(frozen=True)
class Fold:
    """Training rows, and codes and classes of the test rows, all coded by the training rows."""

    train: Rows
    X: Array
    y: Array


@cache
def folds(name: str, seed: int) -> tuple[Fold, ...]:
    """The five folds of one split of a table; seeds 0 to 4 give the 25 of the reference."""
    raw = raw_table(name)
    number = fold_numbers(raw.y, seed)
    found = []
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(number != fold), np.flatnonzero(number == fold)
        X, categories = codes_of(raw, train)
        rows = make_rows(
            X[train], raw.y[train], categories=categories, n_classes=len(raw.class_labels)
        )
        found.append(Fold(rows, X[test], raw.y[test]))
    return tuple(found)
