"""The bundled tables: sizes, gaps, classes, kinds and rules as published, and their hashes."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest

from ceiba import datasets
from ceiba.data import Kind, Table
from ceiba.datasets.bundled import SHA256, content
from tests.paths import ROOT

# name: (rows, attributes, gaps, class counts or None for regression)
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


def gaps(table: Table) -> int:
    masks = [table.gaps(place) for place in range(len(table.schema))]
    return sum(int(mask.sum()) for mask in masks if mask is not None)


def labels(table: Table, name: str) -> np.ndarray:
    place = table.schema.names.index(name)
    return np.array(table.schema[place].levels)[table.column(place)]


def test_facts_cover_the_bundle():
    assert set(FACTS) == set(KINDS) == set(SHA256) == set(datasets.names(source="bundled"))


@pytest.mark.parametrize("name", FACTS)
def test_published_sizes(name):
    rows, attributes, missing, classes = FACTS[name]
    dataset = datasets.load(name)
    assert (dataset.table.n_rows, len(dataset.schema), gaps(dataset.table)) == (
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


@pytest.mark.parametrize("name", SHA256)
def test_hash(name):
    assert hashlib.sha256(content(name)).hexdigest() == SHA256[name]


def test_sources_state_every_table():
    text = files("ceiba.datasets").joinpath("tables", "SOURCES.md").read_text(encoding="utf-8")
    for name, digest in SHA256.items():
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


def test_car_is_every_combination_of_ordered_levels():
    table, y = datasets.load("car")
    codes = np.column_stack([table.column(place) for place in range(6)])
    assert len(np.unique(codes, axis=0)) == len(y) == 4 * 4 * 4 * 3 * 3 * 3
    assert table.schema[0].levels == ("low", "med", "high", "v-high")
    assert table.schema[2].levels == ("2", "3", "4", "5-more")
    # The order is the right way round: the least safe cars, and two-seaters, never pass.
    assert set(y[codes[:, 5] == 0]) == set(y[codes[:, 3] == 0]) == {"unacc"}
    # Of cars with the best of all else, the cheapest to buy and keep is the very good one.
    best = (codes[:, 2:] == codes[:, 2:].max(axis=0)).all(axis=1)
    assert y[best & (codes[:, :2] == 0).all(axis=1)].tolist() == ["v-good"]


def test_cleveland_slope_is_in_its_order():
    schema = datasets.load("cleveland").schema
    slope = schema[schema.names.index("slope_peak_exc_st")]
    assert (slope.kind, slope.levels) == (Kind.ORDINAL, ("upsloping", "flat", "downsloping"))


def test_titanic_cells():
    table, y = datasets.load("titanic")
    status, sex = labels(table, "status"), labels(table, "sex")
    assert Counter(status) == {"crew": 885, "third": 706, "first": 325, "second": 285}
    assert Counter(y[(status == "first") & (sex == "female")].tolist()) == {"yes": 141, "no": 4}


def test_auto_mpg_names_its_rows():
    dataset = datasets.load("auto_mpg")
    assert "car_name" not in dataset.feature_names
    assert dataset.row_names[:2] == ("chevrolet chevelle malibu", "buick skylark 320")
    assert dataset.y[:2].tolist() == [18.0, 15.0]
    japanese = labels(dataset.table, "origin") == 3
    assert any("toyota" in name for name in np.array(dataset.row_names)[japanese])


def test_automobiles_leave_out_cars_without_a_price():
    assert content("automobiles").count(b"\n") == 1 + 205
    dataset = datasets.load("automobiles")
    assert dataset.y.min() == 5118
    assert dataset.y.max() == 45400
    assert "4 without a price" in dataset.description


def test_whole_number_columns_with_gaps_are_floats():
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


@pytest.fixture
def plain(tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    for name in SHA256:
        (folder / f"{name}.csv").write_bytes(content(name))
    return folder


def test_packing_is_repeatable(tool, plain, tmp_path):
    packed = []
    for turn in ("one", "two"):
        into = tmp_path / turn
        into.mkdir()
        tool.pack(plain, into)
        packed.append({path.name: path.read_bytes() for path in into.iterdir()})
    assert packed[0] == packed[1]
    assert {name: gzip.decompress(data) for name, data in packed[0].items()} == {
        f"{name}.csv.gz": content(name) for name in SHA256
    }


def test_packing_refuses_another_table(tool, plain, tmp_path):
    changed = plain / "zoo.csv"
    changed.write_bytes(changed.read_bytes().replace(b"mammal", b"mammut", 1))
    into = tmp_path / "packed"
    into.mkdir()
    with pytest.raises(SystemExit, match=r"zoo\.csv has SHA-256"):
        tool.pack(plain, into)
    assert list(into.iterdir()) == []
