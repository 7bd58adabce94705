"""The small tables of scikit-learn, with their class names as labels."""

from __future__ import annotations

from functools import partial

import numpy as np

from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.datasets.dataset import CatalogEntry, LoadedTable, Origin, Task


def _load(loader: str, *, classes: bool) -> LoadedTable:
    # Imported here: scikit-learn's datasets package takes longer to import than to read.
    from sklearn import datasets

    bunch = getattr(datasets, loader)()
    names = [str(name) for name in bunch.feature_names]
    table = Table.of(np.ascontiguousarray(bunch.data), Schema.numeric(len(names), names=names))
    target = np.asarray(bunch.target_names)[bunch.target] if classes else bunch.target
    return LoadedTable(table, target)


def _entry(
    name: str,
    loader: str,
    target: str,
    description: str,
    citation: str,
    task: Task = Task.CLASSIFICATION,
) -> CatalogEntry:
    load = partial(_load, loader, classes=task is Task.CLASSIFICATION)
    return CatalogEntry(name, Origin.SKLEARN, description, citation, load, target, task)


ENTRIES = (
    _entry(
        "iris",
        "load_iris",
        "species",
        "Lengths and widths of the sepals and petals of 150 irises, 50 of each of three species. "
        "One species is separate and two overlap a little: good for a first scatter plot, tree or "
        "clustering that can be checked by eye.",
        "Fisher, R. A. (1936). The use of multiple measurements in taxonomic problems. Annals of "
        "Eugenics 7, 179-188; UCI Machine Learning Repository (Iris), doi:10.24432/C56C76",
    ),
    _entry(
        "wine",
        "load_wine",
        "cultivar",
        "Thirteen chemical measurements of 178 Italian wines from three cultivars. The columns "
        "have very different scales (proline in the hundreds, hue near one): good for showing "
        "what standardizing does to distances and clusters.",
        "Aeberhard, S. & Forina, M. (1992). Wine. UCI Machine Learning Repository. "
        "doi:10.24432/C5PC7J",
    ),
    _entry(
        "breast_cancer_diagnostic",
        "load_breast_cancer",
        "diagnosis",
        "Thirty measurements of the cell nuclei in images of 569 breast masses, malignant or "
        "benign. Many columns are nearly redundant (radius, perimeter, area): good for naive "
        "Bayes and its violated assumption, and for errors of unequal cost.",
        "Wolberg, W., Mangasarian, O., Street, N. & Street, W. (1993). Breast Cancer Wisconsin "
        "(Diagnostic). UCI Machine Learning Repository. doi:10.24432/C5DW2B",
    ),
    _entry(
        "digits",
        "load_digits",
        "digit",
        "1797 handwritten digits as images of 8 by 8 pixels with gray values 0 to 16. Good for "
        "nearest neighbors, forests and clusters whose centers can be shown as images.",
        "Alpaydin, E. & Kaynak, C. (1998). Optical Recognition of Handwritten Digits. UCI Machine "
        "Learning Repository. doi:10.24432/C50P49",
    ),
    _entry(
        "diabetes",
        "load_diabetes",
        "progression",
        "Ten measurements of 442 diabetes patients, centered and scaled as scikit-learn gives "
        "them, and how far the disease went in a year. The signal is weak and the noise strong: "
        "good for overfitting, pruning and honest error estimates in regression.",
        "Efron, B., Hastie, T., Johnstone, I. & Tibshirani, R. (2004). Least angle regression. "
        "Annals of Statistics 32, 407-499. doi:10.1214/009053604000000067",
        Task.REGRESSION,
    ),
)
