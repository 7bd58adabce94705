"""One table fetched from OpenML through scikit-learn, rewritten with our names and labels."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class OpenmlTable:
    """What a table of OpenML is, and what its columns and labels are called here.

    Parameters
    ----------
    data_id : int
        Its number at OpenML.
    header : tuple of str
        Our names of its columns, in its order, the target last.
    classes : mapping of str to int
        Our class labels and how many rows each has. OpenML's labels are recognised by these
        numbers, which must differ; another count means that it is not the table we want.
    labels : mapping of str to mapping
        For columns whose labels differ: theirs to ours.
    """

    data_id: int
    header: tuple[str, ...]
    classes: Mapping[str, int]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def fetch(table: OpenmlTable) -> bytes:
    """Fetch a table and give it as UTF-8 text, comma-separated, with a header.

    Raises
    ------
    OSError, http.client.HTTPException
        If OpenML cannot be reached.
    ValueError
        If what it gives is not the table we want.
    """
    bunch = _bunch(table.data_id)
    if bunch.data.shape[1] != len(table.header) - 1:
        raise ValueError(
            f"its table {table.data_id} has {bunch.data.shape[1]} attributes and "
            f"not {len(table.header) - 1}"
        )
    columns = [
        _texts(bunch.data[:, place], bunch.categories.get(theirs), table.labels.get(ours, {}))
        for place, (theirs, ours) in enumerate(
            zip(bunch.feature_names, table.header[:-1], strict=True)
        )
    ]
    columns.append(_classes(bunch.target, table))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode("utf-8")


def _bunch(data_id: int) -> Any:
    from sklearn.datasets import fetch_openml

    # The parser that needs no pandas; it gives codes, and the labels apart. No cache: ours is next.
    return fetch_openml(
        data_id=data_id, as_frame=False, parser="liac-arff", cache=False, n_retries=1, delay=0.5
    )


def _texts(
    values: np.ndarray[Any, Any], theirs: Sequence[str] | None, ours: Mapping[str, str]
) -> list[str]:
    if theirs is None:
        return ["" if np.isnan(value) else _number(float(value)) for value in values]
    found = ["" if np.isnan(code) else theirs[int(code)] for code in values]
    return [ours.get(label, label) for label in found]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _classes(target: Sequence[Any], table: OpenmlTable) -> list[str]:
    counts = Counter(map(str, target))
    if sorted(counts.values()) != sorted(table.classes.values()):
        raise ValueError(
            f"its table {table.data_id} has classes {dict(counts)} and not {dict(table.classes)}"
        )
    by_count = {count: label for label, count in table.classes.items()}
    return [by_count[counts[str(label)]] for label in target]
