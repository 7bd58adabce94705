"""Categories that a fit has not seen are missing values, with one warning per call."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import ceiba
from ceiba import BaggingClassifier, DecisionTreeClassifier, KMeans, RandomForestClassifier
from ceiba.data import Table, UnseenCategoryWarning

DATA = pd.DataFrame({"color": ["red", "blue"] * 20, "size": list("SM") * 20, "x": np.arange(40.0)})
Y = np.arange(40) % 2
NEW = DATA.assign(color=["teal", "red", "puce", "teal"] + ["blue"] * 36, size=["XL"] + ["S"] * 39)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        RandomForestClassifier(3),
        BaggingClassifier(n_estimators=3),
        KMeans(2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_one_warning_per_call(model):
    model.fit(DATA, Y)
    with pytest.warns(UnseenCategoryWarning) as found:
        predicted = model.predict(NEW)
    assert [entry.filename for entry in found] == [__file__]
    assert str(found[0].message) == (
        "Categories that were not seen in fit are missing values: column 'color' (3 rows, 'puce', "
        "'teal'); column 'size' (1 row, 'XL')."
    )
    missing = NEW.replace({"color": ["teal", "puce"], "size": ["XL"]}, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(missing), predicted)


def test_unused_categories_do_not_warn():
    model = DecisionTreeClassifier().fit(DATA, Y)
    declared = DATA.assign(color=pd.Categorical(DATA["color"], ["pink", "red", "blue"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(declared)
        Table.of(NEW, model.schema_, warn=False)


def test_many_columns_give_one_short_warning():
    old, new = (pd.DataFrame({f"c{j}": [v] * 4 for j in range(9)}) for v in ("old", "new"))
    schema = Table.of(old).schema
    with pytest.warns(UnseenCategoryWarning, match="and 4 more columns") as found:
        Table.of(new, schema)
    assert len(found) == 1


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_scan_warns_of_its_categories(form, tmp_path):
    model = KMeans(2, random_state=0).fit(DATA)
    path = tmp_path / f"new.{form}"
    getattr(NEW, f"to_{form}")(path, index=False)
    with pytest.warns(UnseenCategoryWarning, match=r"column 'color' \('puce', 'teal'\)") as found:
        labels = model.predict(ceiba.scan(path, partition_bytes=200))
    assert len(found) == 1
    with pytest.warns(UnseenCategoryWarning):
        np.testing.assert_array_equal(labels, model.predict(NEW))
