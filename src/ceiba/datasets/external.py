"""Tables that do not travel with the package: found in a folder, in the cache or at OpenML."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from functools import partial
from http.client import HTTPException
from pathlib import Path

from ceiba.datasets import openml
from ceiba.datasets.entry import Entry, Rows, Source, Task
from ceiba.datasets.openml import OpenmlTable
from ceiba.datasets.text_table import Columns, read_rows

#: The environment variable that names a folder of tables, ``NAME.csv`` each.
FOLDER_VARIABLE = "CEIBA_DATA"


class DatasetNotFoundError(FileNotFoundError):
    """An external table is neither in the folder, nor in the cache, nor to be had from OpenML."""


def cache_folder() -> Path:
    """Where fetched tables are kept: ``ceiba/datasets`` in the cache folder of the user."""
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given).expanduser() / "ceiba" / "datasets"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "ceiba" / "datasets"
    caches = Path("Library", "Caches") if sys.platform == "darwin" else Path(".cache")
    return Path.home() / caches / "ceiba" / "datasets"


def _read(name: str, columns: Columns, table: OpenmlTable) -> Rows:
    cached = cache_folder() / f"{name}.csv"
    for path in (_in_folder(name), cached):
        if path is not None and path.is_file():
            return read_rows(path.read_bytes(), columns, path)
    try:
        raw = openml.fetch(table)
    except (OSError, ValueError, HTTPException) as error:
        raise DatasetNotFoundError(_three_ways(name, cached, error)) from error
    rows = read_rows(raw, columns, Path(f"OpenML table {table.data_id}"))
    _keep(raw, cached)
    return rows


def _in_folder(name: str) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder).expanduser() / f"{name}.csv" if folder else None


def _three_ways(name: str, cached: Path, error: Exception) -> str:
    folder = os.environ.get(FOLDER_VARIABLE)
    state = f"it is {folder!r}, which has no such file" if folder else "it is not set"
    return (
        f"The table {name!r} does not travel with Ceiba and was found in none of three places. "
        f"Either put {name}.csv into a folder and name that folder in the environment variable "
        f"{FOLDER_VARIABLE} ({state}); or put the file into the cache as {cached}; or connect to "
        f"the network, so that it can be fetched from OpenML ({type(error).__name__}: {error})."
    )


def _keep(raw: bytes, path: Path) -> None:
    # Written beside and moved into place: another process never sees half a file.
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(raw)
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        warnings.warn(
            f"{path.name} could not be kept in the cache and will be fetched again: {error}.",
            stacklevel=2,
        )


def _entry(
    name: str, columns: Columns, table: OpenmlTable, description: str, citation: str
) -> Entry:
    make = partial(_read, name, columns, table)
    return Entry(
        name, Source.EXTERNAL, Task.CLASSIFICATION, columns.target, description, citation, make
    )


_SPINE = (
    *("pelvic_incidence", "pelvic_tilt", "lumbar_lordosis_angle"),
    *("sacral_slope", "pelvic_radius", "degree_spondylolisthesis"),
)
_HEART_HEADER = (
    *("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach"),
    *("exang", "oldpeak", "slope", "ca", "thal", "class"),
)
_HEART_NOMINAL = ("sex", "cp", "fbs", "restecg", "exang", "thal")
_HEART_NUMERIC = ("age", "trestbps", "chol", "thalach", "oldpeak", "ca")
_TRUTH = {"t": "true", "f": "fal", "yes": "true", "no": "fal"}

ENTRIES = (
    _entry(
        "vertebral_column",
        Columns("class", numeric=_SPINE, rest=None),
        OpenmlTable(
            1523,
            (*_SPINE, "class"),
            {"Hernia": 60, "Normal": 100, "Spondylolisthesis": 150},
        ),
        "Six angles and distances of the pelvis and spine of 310 patients: normal, with a "
        "herniated disc, or with a slipped vertebra. One class is easy, the other two overlap: "
        "good for Gaussian classifiers, neighbours and costs of confusion.",
        "Barreto, G. & Neto, A. (2005). Vertebral Column. UCI Machine Learning Repository. "
        "doi:10.24432/C5K89B",
    ),
    _entry(
        "statlog_heart",
        Columns(
            "class",
            nominal=_HEART_NOMINAL,
            numeric=_HEART_NUMERIC,
            ordinal={"slope": (1, 2, 3)},
            rest=None,
        ),
        OpenmlTable(53, _HEART_HEADER, {"absent": 150, "present": 120}),
        "270 of the patients of cleveland, none with a gap, with the source's codes as levels "
        "(slope 1 is upsloping, 2 flat, 3 downsloping); heart disease is absent or present. Good "
        "for comparing published results, many of which are on this table.",
        "Statlog (Heart). UCI Machine Learning Repository. doi:10.24432/C57303",
    ),
    _entry(
        "cleve",
        Columns(
            "class",
            nominal=_HEART_NOMINAL,
            numeric=_HEART_NUMERIC,
            ordinal={"slope": ("up", "flat", "down")},
            rest=None,
        ),
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
        "The Cleveland heart patients with named levels, as older studies of Bayesian network "
        "classifiers used them: 303 rows, healthy (buff) or sick. It holds one patient twice and "
        "lacks another, so its counts differ by one from those of cleveland; 7 fields are gaps.",
        "Janosi, A., Steinbrunn, W., Pfisterer, M. & Detrano, R. (1989). Heart Disease. UCI "
        "Machine Learning Repository. doi:10.24432/C52P4X (version of J. Gennari, 1990)",
    ),
)
