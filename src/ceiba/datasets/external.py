"""Tables that are not part of the package: read from a folder, the cache or OpenML."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.warn import warn_user
from ceiba.datasets.dataset import LoadedTable
from ceiba.datasets.text_table import ColumnKinds, read_text_table

#: The environment variable that names a folder of tables, ``NAME.csv`` each.
FOLDER_VARIABLE = "CEIBA_DATA"


class DatasetNotFoundError(FileNotFoundError):
    """An external table is not in the folder, not in the cache, and OpenML did not return it."""


def cache_folder() -> Path:
    """Return the folder of fetched tables: ``ceiba/datasets`` in the user's cache folder."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given).expanduser() / "ceiba" / "datasets"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "ceiba" / "datasets"
    caches = Path("Library", "Caches") if sys.platform == "darwin" else Path(".cache")
    return Path.home() / caches / "ceiba" / "datasets"


def load_external(name: str, kinds: ColumnKinds, openml: OpenmlTable) -> LoadedTable:
    """Read a table from the folder or the cache, or fetch it from OpenML."""
    cached = cache_folder() / f"{name}.csv"
    for path in (_in_folder(name), cached):
        if path is not None and path.is_file():
            return read_text_table(path.read_bytes(), kinds, path)
    try:
        raw = fetch(openml)
    except (OSError, ValueError, HTTPException) as error:
        raise DatasetNotFoundError(_not_found(name, cached, error)) from error
    table = read_text_table(raw, kinds, Path(f"OpenML table {openml.data_id}"))
    _write_cache(raw, cached)
    return table


def _in_folder(name: str) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder).expanduser() / f"{name}.csv" if folder else None


def _not_found(name: str, cached: Path, error: Exception) -> str:
    folder = os.environ.get(FOLDER_VARIABLE)
    state = f"it is {folder!r}, which has no such file" if folder else "it is not set"
    return (
        f"The table {name!r} is not part of Ceiba and was not found. Either put {name}.csv into a "
        f"folder and name that folder in the environment variable {FOLDER_VARIABLE} ({state}); or "
        f"put the file into the cache as {cached}; or connect to the network to fetch it from "
        f"OpenML ({type(error).__name__}: {error})."
    )


def _write_cache(raw: bytes, path: Path) -> None:
    # Written to a file beside and then moved, so that another process never reads half a file.
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(raw)
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        warn_user(
            f"{path.name} could not be written to the cache and will be fetched again: {error}.",
            UserWarning,
        )


@dataclass(frozen=True, slots=True)
class OpenmlTable:
    """A table of OpenML, with the names and labels that Ceiba uses for it.

    ``header`` names its columns, in its order, the target last. ``classes`` are the class labels
    and their number of rows: the labels of OpenML are identified by these numbers, which must
    differ; other counts mean that it is another table. ``labels`` map those of OpenML to ours.
    """

    data_id: int
    header: Sequence[str]
    classes: Mapping[str, int]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def fetch(openml: OpenmlTable) -> bytes:
    """Fetch a table from OpenML as CSV in UTF-8; raise ValueError if it is not the expected one."""
    bunch = _fetch_bunch(openml.data_id)
    n_attributes = len(openml.header) - 1
    if bunch.data.shape[1] != n_attributes:
        raise ValueError(
            f"table {openml.data_id} must have {n_attributes} attributes, got {bunch.data.shape[1]}"
        )
    columns = [
        _texts(bunch.data[:, j], bunch.categories.get(theirs), openml.labels.get(ours, {}))
        for j, (theirs, ours) in enumerate(
            zip(bunch.feature_names, openml.header[:-1], strict=True)
        )
    ]
    columns.append(_class_labels(bunch.target, openml))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(openml.header)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode("utf-8")


def _fetch_bunch(data_id: int) -> Any:
    from sklearn.datasets import fetch_openml

    # The parser without pandas returns codes, and the labels apart. Ceiba caches the result.
    return fetch_openml(
        data_id=data_id, as_frame=False, parser="liac-arff", cache=False, n_retries=1, delay=0.5
    )


def _texts(values: Array, theirs: Sequence[str] | None, ours: Mapping[str, str]) -> list[str]:
    if theirs is None:
        return ["" if np.isnan(value) else _number(float(value)) for value in values]
    found = ["" if np.isnan(code) else theirs[int(code)] for code in values]
    return [ours.get(label, label) for label in found]


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _class_labels(target: Sequence[Any], openml: OpenmlTable) -> list[str]:
    counts = Counter(map(str, target))
    if sorted(counts.values()) != sorted(openml.classes.values()):
        raise ValueError(
            f"table {openml.data_id} must have classes {dict(openml.classes)}, got {dict(counts)}"
        )
    by_count = {count: label for label, count in openml.classes.items()}
    return [by_count[counts[str(label)]] for label in target]
