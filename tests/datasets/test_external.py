"""External tables: folder, then cache, then OpenML, and errors with the three remedies."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from sklearn.utils import Bunch

from ceiba import datasets
from ceiba.data import Kind
from ceiba.datasets import DatasetNotFoundError, external

NAMES = ("cleve", "statlog_heart", "vertebral_column")
CLASSES = {
    "cleve": {"buff": 165, "sick": 138},
    "statlog_heart": {"absent": 150, "present": 120},
    "vertebral_column": {"Hernia": 60, "Normal": 100, "Spondylolisthesis": 150},
}
REAL = os.environ.get("CEIBA_DATA", "")
TWO_ROWS = (
    "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,class\n"
    "63,male,angina,145,233,true,hyp,150,fal,2.3,down,0,fix,buff\n"
    "67,fem,asympt,160,286,fal,norm,108,true,1.5,up,,rev,sick\n"
)
# Categories of cleve at OpenML.
WEKA = {
    "sex": ["female", "male"],
    "cp": ["typ_angina", "asympt", "non_anginal", "atyp_angina"],
    "fbs": ["t", "f"],
    "restecg": ["left_vent_hyper", "normal", "st_t_wave_abnormality"],
    "exang": ["no", "yes"],
    "slope": ["up", "flat", "down"],
    "thal": ["fixed_defect", "normal", "reversable_defect"],
}
# Categories of cleve in Ceiba, in the same order.
OURS = {
    "sex": ["fem", "male"],
    "cp": ["angina", "asympt", "notang", "abnang"],
    "fbs": ["true", "fal"],
    "restecg": ["hyp", "norm", "abn"],
    "exang": ["fal", "true"],
    "slope": ["up", "flat", "down"],
    "thal": ["fix", "norm", "rev"],
}


@pytest.fixture(autouse=True)
def isolated(monkeypatch, tmp_path):
    """An empty cache, no folder, no network."""
    monkeypatch.delenv("CEIBA_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def unreachable(data_id):
        raise URLError("Name or service not known")

    monkeypatch.setattr(external, "_fetch_bunch", unreachable)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    monkeypatch.setenv("CEIBA_DATA", str(path))
    return path


@pytest.fixture
def served(monkeypatch):
    """Replace OpenML by a function that returns a given bunch and records the calls."""
    calls: list[int] = []

    def serve(bunch):
        def fetch(data_id):
            calls.append(data_id)
            return bunch

        monkeypatch.setattr(external, "_fetch_bunch", fetch)
        return calls

    return serve


def heart_bunch(rows: int = 303, sick: int = 138) -> Bunch:
    """Return a random table in the form of heart-c from scikit-learn's fetch_openml."""
    draws = np.random.RandomState(0)
    names = TWO_ROWS.split("\n")[0].split(",")[:-1]
    data = np.column_stack(
        [
            draws.randint(0, len(WEKA[name]), rows).astype(float)
            if name in WEKA
            else draws.randint(0, 400, rows) / 10
            for name in names
        ]
    )
    data[4, names.index("ca")] = np.nan
    data[9, names.index("thal")] = np.nan
    target = np.array([">50_1"] * sick + ["<50"] * (rows - sick), dtype=object)
    return Bunch(
        data=data, target=draws.permutation(target), feature_names=list(names), categories=WEKA
    )


@pytest.mark.parametrize("name", NAMES)
def test_offline_error_has_three_remedies(name):
    with pytest.raises(DatasetNotFoundError) as caught:
        datasets.load(name)
    message = str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)
    assert f"put {name}.csv into a folder" in message
    assert "CEIBA_DATA (it is not set)" in message
    assert str(external.cache_folder() / f"{name}.csv") in message
    assert "OpenML (URLError:" in message
    assert isinstance(caught.value.__cause__, URLError)


def test_offline_error_names_the_folder(folder):
    with pytest.raises(DatasetNotFoundError, match="which has no such file") as caught:
        datasets.load("cleve")
    assert str(folder) in str(caught.value)


def test_folder_precedes_cache_and_network(folder, served):
    calls = served(heart_bunch())
    cached = external.cache_folder() / "cleve.csv"
    cached.parent.mkdir(parents=True)
    cached.write_text(TWO_ROWS.replace("63,male", "1,male"))
    (folder / "cleve.csv").write_text(TWO_ROWS)
    dataset = datasets.load("cleve")
    assert dataset.table.column(0).tolist() == [63, 67]
    assert dataset.y.tolist() == ["buff", "sick"]
    (folder / "cleve.csv").unlink()
    assert datasets.load("cleve").table.column(0).tolist() == [1, 67]
    assert calls == []


def test_kinds_categories_and_missing_values_of_a_file(folder):
    (folder / "cleve.csv").write_text(TWO_ROWS)
    dataset = datasets.load("cleve")
    kinds = {column.name: column.kind for column in dataset.schema}
    assert [name for name, kind in kinds.items() if kind is Kind.NUMERIC] == [
        "age",
        "trestbps",
        "chol",
        "thalach",
        "oldpeak",
        "ca",
    ]
    slope = dataset.schema[dataset.feature_names.index("slope")]
    assert (slope.kind, slope.categories) == (Kind.ORDINAL, ("up", "flat", "down"))
    assert dataset.table.missing_mask(dataset.feature_names.index("ca")).tolist() == [False, True]


def test_windows_line_ends_and_byte_order_mark(folder):
    text = "\ufeff" + TWO_ROWS.replace("\n", "\r\n")
    (folder / "cleve.csv").write_bytes(text.encode("utf-8"))
    assert datasets.load("cleve").y.tolist() == ["buff", "sick"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (",slope,", ",tilt,", "'slope' is absent"),
        ("\n", ",7\n", "'7' is unexpected"),
        ("63,male", "old,male", "line 2, column 'age'"),
        (",down,", ",steep,", "'steep' is not a category"),
        ("63,male,", "63,", "line 2"),
    ],
)
def test_errors_name_the_file(folder, old, new, problem):
    path = folder / "cleve.csv"
    path.write_text(TWO_ROWS.replace(old, new))
    with pytest.raises(ValueError, match=problem) as caught:
        datasets.load("cleve")
    assert str(path) in str(caught.value)


def test_fetched_once_then_cached(served):
    calls = served(heart_bunch())
    first = datasets.load("cleve")
    assert calls == [49]
    assert [path.name for path in external.cache_folder().iterdir()] == ["cleve.csv"]
    second = datasets.load("cleve")
    assert calls == [49]
    assert first.schema == second.schema
    for j in range(len(first.schema)):
        np.testing.assert_array_equal(first.table.column(j), second.table.column(j))
    np.testing.assert_array_equal(first.y, second.y)


def test_fetched_labels_are_translated(served):
    bunch = heart_bunch()
    served(bunch)
    dataset = datasets.load("cleve")
    np.testing.assert_array_equal(dataset.y == "sick", bunch.target == ">50_1")
    names = dataset.feature_names
    for name in ("age", "oldpeak", "ca"):
        j = names.index(name)
        np.testing.assert_array_equal(dataset.table.column(j), bunch.data[:, j])
    for name, ours in OURS.items():
        j = names.index(name)
        categories = np.array([*dataset.schema[j].categories, None])
        expected = [None if np.isnan(code) else ours[int(code)] for code in bunch.data[:, j]]
        assert categories[dataset.table.column(j)].tolist() == expected


def test_fetched_classes_are_identified_by_their_counts(served):
    draws = np.random.RandomState(1)
    codes = draws.permutation(np.repeat(["1", "2", "3"], [60, 150, 100]))
    bunch = Bunch(
        data=draws.standard_normal((310, 6)),
        target=codes,
        feature_names=[f"V{j}" for j in range(1, 7)],
        categories={},
    )
    assert served(bunch) == []
    dataset = datasets.load("vertebral_column")
    np.testing.assert_array_equal(dataset.X, bunch.data)
    names = {"1": "Hernia", "2": "Spondylolisthesis", "3": "Normal"}
    assert dataset.y.tolist() == [names[code] for code in codes]


@pytest.mark.parametrize(
    ("bunch", "problem"),
    [
        (heart_bunch(sick=137), "must have classes"),
        (Bunch(data=np.zeros((303, 12))), "must have 13 attributes, got 12"),
    ],
)
def test_another_table_at_openml_raises_and_is_not_cached(served, bunch, problem):
    served(bunch)
    with pytest.raises(DatasetNotFoundError, match=problem):
        datasets.load("cleve")
    assert not external.cache_folder().exists()


def test_unwritable_cache_warns(served, monkeypatch, tmp_path):
    calls = served(heart_bunch())
    (tmp_path / "file").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        with pytest.warns(UserWarning, match=r"cleve\.csv could not be written to the cache"):
            assert len(datasets.load("cleve").y) == 303
    assert calls == [49, 49]


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.cache/ceiba/datasets"),
        ("darwin", {}, "home/Library/Caches/ceiba/datasets"),
        ("win32", {"LOCALAPPDATA": "local"}, "local/ceiba/datasets"),
        ("win32", {}, "home/.cache/ceiba/datasets"),
        ("darwin", {"XDG_CACHE_HOME": "given"}, "given/ceiba/datasets"),
    ],
)
def test_cache_folder_follows_the_platform(monkeypatch, platform, variables, expected):
    monkeypatch.setattr(external.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert external.cache_folder() == Path(expected)


@pytest.fixture
def real(monkeypatch):
    missing = [name for name in NAMES if not Path(REAL, f"{name}.csv").is_file()]
    if not REAL or missing:
        pytest.skip(
            "needs CEIBA_DATA to name a folder with cleve.csv, statlog_heart.csv and "
            "vertebral_column.csv"
        )
    monkeypatch.setenv("CEIBA_DATA", REAL)
    return Path(REAL)


@pytest.mark.parametrize(
    ("name", "rows", "attributes", "n_missing"),
    [("cleve", 303, 13, 7), ("statlog_heart", 270, 13, 0), ("vertebral_column", 310, 6, 0)],
)
def test_real_tables(real, name, rows, attributes, n_missing):
    dataset = datasets.load(name)
    masks = [dataset.table.missing_mask(j) for j in range(attributes)]
    assert (dataset.table.n_rows, len(dataset.schema)) == (rows, attributes)
    assert sum(int(mask.sum()) for mask in masks if mask is not None) == n_missing
    assert Counter(dataset.y.tolist()) == CLASSES[name]


def test_fetching_restores_the_real_cleve(real, served, monkeypatch):
    """The real file, with labels and codes of OpenML, is restored."""
    text = (real / "cleve.csv").read_text()
    header, *records = csv.reader(io.StringIO(text))
    codes = {name: {label: code for code, label in enumerate(OURS[name])} for name in OURS}

    def value(name, cell):
        if cell == "":
            return np.nan
        return codes[name][cell] if name in codes else float(cell)

    data = [[value(*pair) for pair in zip(header[:-1], row[:-1], strict=True)] for row in records]
    target = np.array(["<50" if row[-1] == "buff" else ">50_1" for row in records])
    served(Bunch(data=np.array(data), target=target, feature_names=header[:-1], categories=WEKA))
    monkeypatch.delenv("CEIBA_DATA")
    datasets.load("cleve")
    kept = (external.cache_folder() / "cleve.csv").read_text()
    assert kept.splitlines() == text.splitlines()
