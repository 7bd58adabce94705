"""Compare tables cell by cell, for the tests of readers and scans."""

from __future__ import annotations

import numpy as np


def cells(table):
    """Return lists of Python values by column name: numbers, labels, None if missing."""
    found = {}
    for j, column in enumerate(table.schema):
        mask = table.missing_mask(j)
        missing = np.zeros(len(table), bool) if mask is None else mask
        labels = column.categories
        values = table.column(j).tolist()
        found[column.name] = [
            None if absent else labels[value] if labels else value
            for value, absent in zip(values, missing, strict=True)
        ]
    return found


def assert_same(one, other):
    """Check that schemas and cells are equal."""
    assert one.schema == other.schema
    assert len(one) == len(other)
    assert cells(one) == cells(other)


def assert_union(source, whole):
    """Check that the partitions of a source, concatenated, equal a table."""
    assert source.schema == whole.schema
    found = {name: [] for name in whole.schema.names}
    for partition in source.partitions:
        table = partition.load().table
        assert table.schema == whole.schema
        for name, values in cells(table).items():
            found[name] += values
    assert found == cells(whole)
