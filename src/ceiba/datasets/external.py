"""Tables that are not part of the package: read from a folder, the cache or OpenML."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.datasets.dataset import CatalogEntry, LoadedTable, Origin
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


def _load(name: str, kinds: ColumnKinds, openml: OpenmlTable) -> LoadedTable:
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
        warnings.warn(
            f"{path.name} could not be written to the cache and will be fetched again: {error}.",
            stacklevel=2,
        )


@dataclass(frozen=True, slots=True)
class OpenmlTable:
    """A table of OpenML, with the names and labels that Ceiba uses for it.

    ``header`` names its columns, in its order, the target last. ``classes`` are the class labels
    and their number of rows: the labels of OpenML are identified by these numbers, which must
    differ; other counts mean that it is another table. ``labels`` map those of OpenML to ours.
    """

    data_id: int
    header: tuple[str, ...]
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


def _entry(
    name: str, kinds: ColumnKinds, openml: OpenmlTable, description: str, citation: str
) -> CatalogEntry:
    load = partial(_load, name, kinds, openml)
    return CatalogEntry(name, Origin.EXTERNAL, description, citation, load, kinds.target)


_SPINE = (
    *("pelvic_incidence", "pelvic_tilt", "lumbar_lordosis_angle"),
    *("sacral_slope", "pelvic_radius", "degree_spondylolisthesis"),
)
_HEART_HEADER = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach"),
    *("exang", "oldpeak", "slope", "ca", "thal", "class"),
)
_TRUTH = {"t": "true", "f": "fal", "yes": "true", "no": "fal"}


def _heart_kinds(*slopes: Any) -> ColumnKinds:
    return ColumnKinds(
        "class",
        nominal=("sex", "cp", "fbs", "restecg", "exang", "thal"),
        numeric=("age", "trestbps", "chol", "thalach", "oldpeak", "ca"),
        ordinal={"slope": slopes},
        others=None,
    )


ENTRIES = (
    _entry(
        "vertebral_column",
        ColumnKinds("class", numeric=_SPINE, others=None),
        OpenmlTable(
            1523, (*_SPINE, "class"), {"Hernia": 60, "Normal": 100, "Spondylolisthesis": 150}
        ),
        "Six angles and distances of the pelvis and spine of 310 patients: normal, with a "
        "herniated disc, or with a slipped vertebra. One class is easy, the other two overlap: "
        "good for Gaussian classifiers, nearest neighbors and misclassification costs.",
        "Barreto, G. & Neto, A. (2005). Vertebral Column. UCI Machine Learning Repository. "
        "doi:10.24432/C5K89B",
    ),
    _entry(
        "statlog_heart",
        _heart_kinds(1, 2, 3),
        OpenmlTable(53, _HEART_HEADER, {"absent": 150, "present": 120}),
        "270 of the patients of cleveland, without missing values, with the source's codes as "
        "categories (slope 1 is upsloping, 2 flat, 3 downsloping); heart disease is absent or "
        "present. Good for comparing published results, many of which are on this table.",
        "Statlog (Heart). UCI Machine Learning Repository. doi:10.24432/C57303",
    ),
    _entry(
        "cleve",
        _heart_kinds("up", "flat", "down"),
        OpenmlTable(
            49,
            _HEART_HEADER,
            {"buff": 165, "sick": 138},
            {
                "sex": {"female": "fem"},
                "cp": {
                    "typ_angina": "angina",
                    "atyp_angina": "abnang",
                    "non_anginal": "notang",
                },
                "fbs": _TRUTH,
                "restecg": {
                    "normal": "norm",
                    "left_vent_hyper": "hyp",
                    "st_t_wave_abnormality": "abn",
                },
                "exang": _TRUTH,
                "thal": {"normal": "norm", "fixed_defect": "fix", "reversable_defect": "rev"},
            },
        ),
        "The Cleveland heart patients with named categories, as older studies of Bayesian network "
        "classifiers used them: 303 rows, healthy (buff) or sick. It contains one patient twice "
        "and lacks another, so its counts differ by one from those of cleveland; 7 values are "
        "missing.",
        "Janosi, A., Steinbrunn, W., Pfisterer, M. & Detrano, R. (1989). Heart Disease. UCI "
        "Machine Learning Repository. doi:10.24432/C52P4X (version of J. Gennari, 1990)",
    ),
)
