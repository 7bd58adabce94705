"""scikit-learn's tables: its numbers, under our names and labels."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.datasets

from ceiba import datasets

LOADERS = {
    "iris": ("load_iris", (150, 4)),
    "wine": ("load_wine", (178, 13)),
    "breast_cancer_diagnostic": ("load_breast_cancer", (569, 30)),
    "digits": ("load_digits", (1797, 64)),
    "diabetes": ("load_diabetes", (442, 10)),
}


def test_all_are_covered():
    assert sorted(LOADERS) == datasets.names(source="scikit-learn")


@pytest.mark.parametrize("name", LOADERS)
def test_equal_to_the_source(name):
    loader, shape = LOADERS[name]
    dataset, theirs = datasets.load(name), getattr(sklearn.datasets, loader)()
    assert dataset.X.shape == shape
    np.testing.assert_array_equal(dataset.X, theirs.data)
    assert dataset.feature_names == list(theirs.feature_names)
    assert theirs.DESCR not in dataset.description


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer_diagnostic", "digits"])
def test_labels_name_the_classes(name):
    y, theirs = datasets.load(name).y, getattr(sklearn.datasets, LOADERS[name][0])()
    for code, label in enumerate(theirs.target_names):
        np.testing.assert_array_equal(y == label, theirs.target == code)


def test_diabetes_target():
    np.testing.assert_array_equal(
        datasets.load("diabetes").y, sklearn.datasets.load_diabetes().target
    )
