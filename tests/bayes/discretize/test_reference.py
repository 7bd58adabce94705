"""Numbers of categories after MDL discretization of ten tables, from an independent program."""

from __future__ import annotations

import os

import numpy as np
import pytest

from ceiba import datasets
from ceiba.data import Kind
from tests.bayes.discretize.helpers import learn

CATEGORIES = {
    "breast_cancer_wisconsin_original": (683, "3 4 4 3 3 4 3 3 2"),
    "iris": (150, "3 3 3 3"),
    "german_credit": (1000, "4 2 5 10 2 5 5 1 4 3 1 4 1 3 3 1 4 1 2 2"),
    "crx": (653, "2 2 2 3 3 14 9 2 2 2 2 2 3 2 2"),
    "hepatitis": (80, "1 2 2 2 2 2 2 2 2 2 2 2 2 1 1 1 2 2 2"),
}
EXTERNAL = {
    "cleve": (296, "2 2 4 1 1 2 3 2 2 2 3 2 3"),
    "statlog_heart": (270, "2 2 4 1 1 2 3 2 2 2 3 2 3"),
    "vertebral_column": (310, "3 2 3 3 2 2"),
}


def complete_rows(name):
    """Return the rows of a table without missing values."""
    data = datasets.load(name)
    missing = np.zeros(len(data.table), bool)
    for j in range(len(data.table.schema)):
        mask = data.table.missing_mask(j)
        missing |= False if mask is None else mask
    return data.table.take(~missing), np.asarray(data.y)[~missing]


def check(name, n_rows, categories):
    table, y = complete_rows(name)
    assert len(table) == n_rows
    encoding = learn(table, y, keep_constant=True)
    assert " ".join(map(str, encoding.n_categories)) == categories
    constant = [c.name for c, r in zip(table.schema, encoding.n_categories, strict=True) if r == 1]
    assert learn(table, y).constant_columns == constant
    assert any(column.kind is Kind.NUMERIC for column in table.schema)


@pytest.mark.parametrize("name", CATEGORIES)
def test_bundled_tables(name):
    check(name, *CATEGORIES[name])


@pytest.mark.skipif(not os.environ.get("CEIBA_DATA"), reason="needs the folder of external tables")
@pytest.mark.parametrize("name", EXTERNAL)
def test_external_tables(name):
    check(name, *EXTERNAL[name])
