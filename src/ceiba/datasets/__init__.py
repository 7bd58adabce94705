"""Tables by name: textbook, synthetic, bundled, of scikit-learn, and external ones.

`names` lists them and `load` returns one as a `Dataset`: attributes, target, schema, a description
and a citation.

Examples
--------
>>> from ceiba import datasets
>>> datasets.names(source="textbook")
['contact_lenses', 'vertebrates', 'weather_nominal', 'weather_numeric']
>>> X, y = datasets.load("iris")
>>> X.shape, str(y[0])
((150, 4), 'setosa')
"""

from __future__ import annotations

from ceiba.datasets.catalog import load, names
from ceiba.datasets.dataset import Dataset
from ceiba.datasets.external import DatasetNotFoundError

__all__ = ["Dataset", "DatasetNotFoundError", "load", "names"]
