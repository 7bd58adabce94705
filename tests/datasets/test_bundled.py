"""The bundled tables: published sizes, missing values, classes, kinds and rules; packing."""

from __future__ import annotations

import hashlib
import importlib.util
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest

from ceiba import datasets
from ceiba.data import Kind, Table
from ceiba.datasets import bundled
from ceiba.datasets.bundled import load_archive
from tests.paths import ROOT

# name: (rows, attributes, missing values, class counts or None for regression)
FACTS = {
    "auto_mpg": (398, 7, 6, None),
    "automobiles": (201, 25, 51, None),
    "balance_scale": (625, 4, 0, {"L": 288, "B": 49, "R": 288}),
    "breast_cancer_wisconsin_original": (699, 9, 16, {"benign": 458, "malignant": 241}),
    "car": (1728, 6, 0, {"unacc": 1210, "acc": 384, "good": 69, "v-good": 65}),
    "cleveland": (303, 13, 6, {0: 164, 1: 139}),
    "crx": (690, 15, 67, {"-": 383, "+": 307}),
    "german_credit": (1000, 20, 0, {"good": 700, "bad": 300}),
    "glass": (214, 9, 0, {1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}),
    "hepatitis": (155, 19, 167, {"LIVE": 123, "DIE": 32}),
    "lymphography": (
        148,
        18,
        0,
        {"metastases": 81, "malign_lymph": 61, "fibrosis": 4, "normal": 2},
    ),
    "monks1": (556, 6, 0, {0: 278, 1: 278}),
    "servo": (167, 4, 0, None),
    "tic_tac_toe": (958, 9, 0, {"p": 626, "n": 332}),
    "titanic": (2201, 3, 0, {"no": 1490, "yes": 711}),
    "vehicle": (846, 18, 0, {"bus": 218, "saab": 217, "opel": 212, "van": 199}),
    "vote": (435, 16, 392, {"democrat": 267, "republican": 168}),
    "zoo": (
        101,
        16,
        0,
        {
            "mammal": 41,
            "bird": 20,
            "fish": 13,
            "invertebrate": 10,
            "insect": 8,
            "reptile": 5,
            "amphibian": 4,
        },
    ),
}
# name: (numeric, nominal, ordinal) columns
KINDS = {
    "auto_mpg": (6, 1, 0),
    "automobiles": (15, 10, 0),
    "balance_scale": (4, 0, 0),
    "breast_cancer_wisconsin_original": (9, 0, 0),
    "car": (0, 0, 6),
    "cleveland": (6, 6, 1),
    "crx": (6, 9, 0),
    "german_credit": (7, 13, 0),
    "glass": (9, 0, 0),
    "hepatitis": (6, 13, 0),
    "lymphography": (3, 15, 0),
    "monks1": (0, 6, 0),
    "servo": (0, 4, 0),
    "tic_tac_toe": (0, 9, 0),
    "titanic": (0, 3, 0),
    "vehicle": (18, 0, 0),
    "vote": (0, 16, 0),
    "zoo": (1, 15, 0),
}


def n_missing(table: Table) -> int:
    masks = [table.missing_mask(j) for j in range(len(table.schema))]
    return sum(int(mask.sum()) for mask in masks if mask is not None)


def labels(table: Table, name: str) -> np.ndarray:
    j = table.schema.names.index(name)
    return np.array(table.schema[j].categories)[table.column(j)]


def test_facts_cover_the_bundle(tool):
    names = set(datasets.names(source="bundled"))
    assert set(FACTS) == set(KINDS) == set(tool.SHA256) == set(tool.KINDS) == names


@pytest.mark.parametrize("name", FACTS)
def test_published_sizes(name):
    rows, attributes, missing, classes = FACTS[name]
    dataset = datasets.load(name)
    assert (dataset.table.n_rows, len(dataset.schema), n_missing(dataset.table)) == (
        rows,
        attributes,
        missing,
    )
    assert dataset.task == ("regression" if classes is None else "classification")
    if classes is not None:
        assert Counter(dataset.y.tolist()) == classes


@pytest.mark.parametrize("name", KINDS)
def test_published_kinds(name):
    counts = Counter(column.kind for column in datasets.load(name).schema)
    assert (counts[Kind.NUMERIC], counts[Kind.NOMINAL], counts[Kind.ORDINAL]) == KINDS[name]


def test_sources_list_every_table(tool):
    text = files("ceiba.datasets").joinpath("tables", "SOURCES.md").read_text(encoding="utf-8")
    for name, digest in tool.SHA256.items():
        assert f"    {digest}  {name}.csv\n" in text
        assert f"- {name}: {datasets.load(name).citation}\n" in text
    assert "CC BY 4.0" in text


def test_monks1_rule():
    table, y = datasets.load("monks1")
    rule = (labels(table, "a") == labels(table, "b")) | (labels(table, "e") == 1)
    np.testing.assert_array_equal(y, rule)


def test_balance_scale_rule():
    X, y = datasets.load("balance_scale")
    tilt = np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3])
    np.testing.assert_array_equal(y, np.array(["R", "B", "L"])[tilt.astype(int) + 1])
    assert len(np.unique(X, axis=0)) == 5**4


def test_tic_tac_toe_rule():
    table, y = datasets.load("tic_tac_toe")
    taken = np.column_stack([labels(table, name) == "x" for name in table.schema.names])
    grid = np.arange(9).reshape(3, 3)
    lines = [*grid, *grid.T, grid.diagonal(), grid[:, ::-1].diagonal()]
    won = np.any([taken[:, line].all(axis=1) for line in lines], axis=0)
    np.testing.assert_array_equal(y == "p", won)


def test_car_contains_every_combination_of_ordered_categories():
    table, y = datasets.load("car")
    codes = np.column_stack([table.column(j) for j in range(6)])
    assert len(np.unique(codes, axis=0)) == len(y) == 4 * 4 * 4 * 3 * 3 * 3
    assert table.schema[0].categories == ("low", "med", "high", "v-high")
    assert table.schema[2].categories == ("2", "3", "4", "5-more")
    # The order is correct: unsafe cars, and two-seaters, are never acceptable.
    assert set(y[codes[:, 5] == 0]) == set(y[codes[:, 3] == 0]) == {"unacc"}
    # Of the cars that are best in all else, the cheapest to buy and maintain is very good.
    best = (codes[:, 2:] == codes[:, 2:].max(axis=0)).all(axis=1)
    assert y[best & (codes[:, :2] == 0).all(axis=1)].tolist() == ["v-good"]


def test_cleveland_slope_is_in_its_order():
    schema = datasets.load("cleveland").schema
    slope = schema[schema.names.index("slope_peak_exc_st")]
    assert (slope.kind, slope.categories) == (Kind.ORDINAL, ("upsloping", "flat", "downsloping"))


def test_titanic_cells():
    table, y = datasets.load("titanic")
    status, sex = labels(table, "status"), labels(table, "sex")
    assert Counter(status) == {"crew": 885, "third": 706, "first": 325, "second": 285}
    assert Counter(y[(status == "first") & (sex == "female")].tolist()) == {"yes": 141, "no": 4}


def test_auto_mpg_has_row_names():
    dataset = datasets.load("auto_mpg")
    assert "car_name" not in dataset.feature_names
    assert dataset.row_names[:2] == ("chevrolet chevelle malibu", "buick skylark 320")
    assert dataset.y[:2].tolist() == [18.0, 15.0]
    japanese = labels(dataset.table, "origin") == 3
    assert any("toyota" in name for name in np.array(dataset.row_names)[japanese])


def test_automobiles_without_a_price_are_left_out():
    dataset = datasets.load("automobiles")
    assert len(dataset.y) == 205 - 4
    assert dataset.y.min() == 5118
    assert dataset.y.max() == 45400
    assert "4 without a price" in dataset.description


def test_integer_columns_with_missing_values_are_floats():
    dataset = datasets.load("breast_cancer_wisconsin_original")
    missing = np.isnan(dataset.X)
    assert missing.sum(axis=0)[dataset.feature_names.index("bare_nuclei")] == missing.sum() == 16
    assert set(np.unique(dataset.X[~missing])) == set(range(1, 11))


@pytest.fixture
def tool():
    path = ROOT / "tools" / "pack_tables.py"
    spec = importlib.util.spec_from_file_location("pack_tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TWO_TABLES = {
    "numbers": b"a,b,y\n1,2.5,7\n3,,8\n",
    "mixed": b"a,b,name,y\nx,low,r1,no\n,high,r2,yes\nz,low,r3,\n",
}


@pytest.fixture
def two_tables(tool, tmp_path, monkeypatch):
    """A folder of two small tables, with their hashes and kinds."""
    kinds = {
        "numbers": tool.ColumnKinds("y", tool.Task.REGRESSION),
        "mixed": tool.ColumnKinds(
            "y", nominal=("a",), ordinal={"b": ("low", "high")}, others=None, row_names="name"
        ),
    }
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in TWO_TABLES.items()}
    monkeypatch.setattr(tool, "KINDS", kinds)
    monkeypatch.setattr(tool, "SHA256", hashes)
    folder = tmp_path / "source"
    folder.mkdir()
    for name, content in TWO_TABLES.items():
        (folder / f"{name}.csv").write_bytes(content)
    return folder


def test_packing_is_reproducible(tool, two_tables, tmp_path):
    packed = []
    for run in ("one", "two"):
        destination = tmp_path / run
        destination.mkdir()
        tool.pack(two_tables, destination)
        packed.append({path.name: path.read_bytes() for path in destination.iterdir()})
    assert packed[0] == packed[1]
    assert set(packed[0]) == {"numbers.npz", "mixed.npz"}


def test_packed_tables_load_as_they_were(tool, two_tables, tmp_path, monkeypatch):
    (tmp_path / "tables").mkdir()
    tool.pack(two_tables, tmp_path / "tables")
    monkeypatch.setattr(bundled, "files", lambda package: tmp_path)
    numbers, mixed = load_archive("numbers"), load_archive("mixed")
    np.testing.assert_array_equal(numbers.table.matrix, [[1, 2.5], [3, np.nan]])
    assert numbers.target.tolist() == [7.0, 8.0]
    assert [(str(c.kind), c.categories) for c in mixed.table.schema] == [
        ("nominal", ("x",)),
        ("ordinal", ("low", "high")),
    ]
    assert [mixed.table.column(j).tolist() for j in range(2)] == [[0, -1], [0, 1]]
    assert mixed.target.tolist() == ["no", "yes"]
    assert mixed.row_names == ("r1", "r2")


def test_packing_another_table_raises(tool, two_tables, tmp_path):
    changed = two_tables / "mixed.csv"
    changed.write_bytes(changed.read_bytes().replace(b"high", b"tall", 1))
    destination = tmp_path / "packed"
    destination.mkdir()
    with pytest.raises(SystemExit, match=r"mixed\.csv has SHA-256"):
        tool.pack(two_tables, destination)
    assert list(destination.iterdir()) == []
