"""Comparing tables cell by cell, for the tests of readers and scans."""

from __future__ import annotations

import numpy as np


def cells(table):
    """The table as lists of Python values by column name: numbers, labels, None for a gap."""
    found = {}
    for j, column in enumerate(table.schema):
        gaps = table.gaps(j)
        gaps = np.zeros(len(table), bool) if gaps is None else gaps
        values = table.column(j).tolist()
        if column.levels:
            values = [
                None if gap else column.levels[v] for v, gap in zip(values, gaps, strict=True)
            ]
        found[column.name] = [None if g else v for v, g in zip(values, gaps, strict=True)]
    return found


def assert_same(one, other):
    """Equal schemas and equal cells."""
    assert one.schema == other.schema
    assert len(one) == len(other)
    assert cells(one) == cells(other)


def assert_union(source, whole):
    """The partitions of a source, one after the other, are the rows of a table."""
    assert source.schema == whole.schema
    found = {name: [] for name in whole.schema.names}
    for partition in source.partitions:
        table = partition.load().table
        assert table.schema == whole.schema
        for name, values in cells(table).items():
            found[name] += values
    assert found == cells(whole)
