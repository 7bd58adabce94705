"""ceiba datasets, train, predict, evaluate and view."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import ceiba as library
from ceiba import datasets
from ceiba.experiments.description.catalog import LEARNERS, find_learner
from tests.cli.conftest import Run


def test_datasets_are_listed_and_described(ceiba: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CEIBA_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "none")
    lines = ceiba("datasets").stdout.splitlines()
    assert lines[0].split() == [
        "name", "rows", "columns", "numeric", "nominal", "missing", "task", "target",
    ]  # fmt: skip
    vote = next(line.split() for line in lines if line.startswith("vote"))
    assert vote == ["vote", "435", "16", "0", "16", "392", "classification", "class"]
    listed = json.loads(ceiba("datasets --json").stdout)
    assert [entry["name"] for entry in listed] == datasets.names()
    text = ceiba("datasets iris").stdout
    assert text.startswith(
        "iris: 150 rows, 4 columns, no missing values; classification of species"
    )
    assert "Fisher" in text
    assert json.loads(ceiba("datasets iris --json").stdout)["attributes"][0]["kind"] == "numeric"


def test_tables_that_are_not_bundled_are_named(ceiba: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CEIBA_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "none")
    assert "Not part of Ceiba: cleve" in ceiba("datasets").stderr
    assert not ceiba("datasets --quiet").stderr


def test_a_model_is_trained_and_predicts(ceiba: Run, folder: Path) -> None:
    result = ceiba("train tree rows.csv -t sick --drop id --max-depth 2 -o m.ceiba")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("DecisionTreeClassifier(max_depth=2): ")
    assert lines[1:5] == [
        "rows     40",
        "numeric  1 column: size",
        "nominal  1 column: color",
        "classes  no 24, yes 16",
    ]
    assert lines[-1].startswith("Wrote m.ceiba (")
    assert not result.stderr
    model = library.load("m.ceiba")
    X, y = library.read(folder / "rows.csv", target="sick", columns=["size", "color"])
    assert (
        model.predict(X) == library.DecisionTreeClassifier(max_depth=2).fit(X, y).predict(X)
    ).all()

    printed = ceiba("predict m.ceiba rows.csv").stdout.splitlines()
    assert printed == ["prediction", *model.predict(X)]
    ceiba("predict m.ceiba rows.csv -p -o p.csv")
    written = library.read("p.csv")
    assert written.schema.names == ["prediction", "probability_no", "probability_yes"]
    assert np.allclose(written["probability_yes"], model.predict_proba(X)[:, 1])
    assert "Wrote 40 predictions" in ceiba("predict m.ceiba rows.csv -o p.parquet").stderr
    assert library.read("p.parquet")["prediction"].tolist() == printed[1:]


def test_training_warns_in_one_line_and_is_quiet_on_request(ceiba: Run) -> None:
    result = ceiba("train tree rows.csv -t sick -o m.ceiba")
    assert result.stderr.startswith("Warning: rows.csv: column 'id' has a different category")
    assert result.stderr.count("\n") == 1
    quiet = ceiba("train tree rows.csv -t sick -o m.ceiba --quiet")
    assert not quiet.stdout + quiet.stderr
    assert not ceiba("--quiet train tree rows.csv -t sick -o m.ceiba").stderr


def test_training_options(ceiba: Run, folder: Path) -> None:
    found = json.loads(ceiba("train tree auto_mpg --criterion poisson -o m.ceiba --json").stdout)
    assert (found["task"], found["rows"]) == ("regression", 398)
    assert found["model"] == "DecisionTreeRegressor(criterion='poisson')"
    ceiba(
        "train tree rows.csv -t size --drop id --task classification -o m.ceiba --kind size=nominal"
    )
    assert hasattr(library.load("m.ceiba"), "classes_")
    ceiba("train C4.5 rows.csv -t sick --kind color=red,blue -o m.ceiba")
    kinds = {column.name: str(column.kind) for column in library.load("m.ceiba").schema_}
    assert kinds["color"] == "ordinal"
    (folder / "latin.csv").write_bytes("a,b\nñ,1\ná,2\n".encode("latin-1"))
    ceiba("train tree latin.csv -t b -o m.ceiba --encoding latin-1")
    assert "ñ" in library.load("m.ceiba").schema_[0].categories


def test_a_file_is_scanned(ceiba: Run) -> None:
    ceiba("train tree rows.csv -t sick --drop id -o whole.ceiba --max-bins 16 -q")
    ceiba("train tree rows.csv -t sick --drop id -o parts.ceiba --max-bins 16 --scan")
    whole, parts = library.load("whole.ceiba"), library.load("parts.ceiba")
    assert whole.to_text() == parts.to_text()
    assert ceiba("predict parts.ceiba rows.csv --scan").stdout == (
        ceiba("predict parts.ceiba rows.csv").stdout
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_command(ceiba: Run, name: str) -> None:
    text = ceiba(f"train {name} --help").stdout
    head, options, parameters = text.partition("\nOptions:")[0], *text.split("Hyper-parameters:")
    assert find_learner(name).description.rstrip(".") in " ".join(head.split())
    assert "--target" in options
    assert "--n-jobs" in parameters
    assert "--target" not in parameters


def test_help_has_types_choices_ranges_and_defaults(ceiba: Run) -> None:
    text = " ".join(ceiba("train forest --help").stdout.split())
    assert "--n-estimators INT Number of trees. [>= 1; default: 100]" in text
    assert "--thresholds [midpoint|random]" in text
    assert "--max-depth [INT|none]" in text
    assert "--quantiles [true|false] Regressor only." in text
    assert "default: sqrt, regressor 1.0" in text
    assert "--algorithm [cart|c45|id3|hunt]" in ceiba("train c45 --help").stdout


def test_evaluation(ceiba: Run) -> None:
    ceiba("train naive_bayes rows.csv -t sick --drop id -o m.ceiba -q")
    model = library.load("m.ceiba")
    X, y = library.read("rows.csv", target="sick", columns=["size", "color"])
    found = json.loads(ceiba("evaluate m.ceiba rows.csv -t sick --json").stdout)
    assert found["scores"]["accuracy"] == pytest.approx(model.score(X, y))
    assert np.sum(found["confusion_matrix"]) == found["rows"] == 40
    text = ceiba("evaluate m.ceiba rows.csv -t sick").stdout
    assert "Confusion matrix" in text
    assert "precision" in text
    ceiba("train knn auto_mpg -o r.ceiba -q")
    assert json.loads(ceiba("evaluate r.ceiba auto_mpg --json").stdout)["scores"]["r2"] > 0.5
    assert "Confusion" not in ceiba("evaluate r.ceiba auto_mpg").stdout


def test_views_of_a_tree(ceiba: Run, folder: Path) -> None:
    ceiba("train tree iris --max-depth 2 -o m.ceiba -q")
    model = library.load("m.ceiba")
    assert ceiba("view m.ceiba").stdout.rstrip() == model.to_text().rstrip()
    assert ceiba("view m.ceiba --format rules").stdout.startswith("if ")
    assert json.loads(ceiba("view m.ceiba --format json").stdout)
    ceiba("view m.ceiba --format picture")
    assert (folder / "m.png").read_bytes().startswith(b"\x89PNG")
    ceiba("view m.ceiba -f picture -o tree.svg")
    assert b"<svg" in (folder / "tree.svg").read_bytes()
    ceiba("view m.ceiba -f rules -o rules.txt")
    assert (folder / "rules.txt").read_text().startswith("if ")


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        ("forest --n-estimators 3", "3 members"),
        ("adaboost --n-estimators 3", "estimator weights: "),
        ("gradient_boosting --n-estimators 1", "rounds: 1, trees: 3"),
        ("tan", "arcs: "),
        ("naive_bayes", "setosa"),
        ("gmm", "means of the components"),
        ("knn", "5 neighbors of 150 rows"),
    ],
)
def test_views_of_other_models(ceiba: Run, learner: str, text: str) -> None:
    ceiba(f"train {learner} iris -o m.ceiba -q")
    assert text in ceiba("view m.ceiba").stdout
    assert json.loads(ceiba("view m.ceiba -f json").stdout)["parameters"]
    assert "is for a tree" in ceiba("view m.ceiba -f rules", 2).stderr
    has_members = learner.startswith(("forest", "ada", "gradient"))
    if has_members:
        assert "rows" in ceiba("view m.ceiba --member 1").stdout
        assert "must be less than 3" in ceiba("view m.ceiba --member 3", 2).stderr
    has_picture = learner in ("tan", "naive_bayes")
    ceiba("view m.ceiba -f picture", 0 if has_picture else 2)
    assert Path("m.png").exists() == has_picture


def test_explanations(ceiba: Run, folder: Path) -> None:
    ceiba("train naive_bayes iris -o m.ceiba -q")
    model = library.load("m.ceiba")
    found = model.explain(datasets.load("iris").table[60:61])
    assert ceiba("explain m.ceiba iris --row 60").stdout.rstrip() == str(found)
    printed = json.loads(ceiba("explain m.ceiba iris --row 60 -f json").stdout)
    assert printed == json.loads(found.to_json())
    ceiba("explain m.ceiba iris -f json -o row.json")
    assert json.loads((folder / "row.json").read_text())["learner"] == "NaiveBayesClassifier"
    ceiba("explain m.ceiba iris -f picture -o row.svg")
    assert b"<svg" in (folder / "row.svg").read_bytes()
    assert "--row must be in [0, 149], got 150" in ceiba("explain m.ceiba iris --row 150", 2).stderr
    assert "must end in .png" in ceiba("explain m.ceiba iris -f picture -o row.txt", 2).stderr
