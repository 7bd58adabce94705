"""The examples run and leave their pictures."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.docs.pictures import n_frames
from tests.paths import ROOT

pytestmark = pytest.mark.slow

# Example -> its pictures with their numbers of frames, and a line that it prints.
EXAMPLES: dict[str, tuple[dict[str, int], str]] = {
    "boosting_rounds": (
        {"boosting_margins.png": 1, "boosting_rounds.gif": 15, "boosting_rounds.png": 1},
        "accuracy after 60 rounds: 100.0%",
    ),
    "compare_kmeans": (
        {"kmeans.png": 1, "kmeans_choice.png": 1},
        "cleveland: 303 rows, 13 columns (6 numeric), 6 missing values",
    ),
    "gradient_boosting_rounds": (
        {
            "gradient_boosting.gif": 12,
            "gradient_boosting_importance.png": 1,
            "gradient_boosting_losses.png": 1,
        },
        "gain = ",
    ),
    "kmeans_three_groups": (
        {"three_groups.gif": 10, "three_groups.png": 1},
        "cluster 1: 100 of 100 rows from one group",
    ),
    "matlab_iris": ({"matlab_iris.png": 1}, "    2   0.0133      5   0.040"),
    "mixture_iris": (
        {
            "mixture_choice.png": 1,
            "mixture_forms.png": 1,
            "mixture_iris.gif": 15,
            "mixture_iris.png": 1,
        },
        "root mean squared error of the mixture: 0.30 cm",
    ),
    "partition_not_a_tree": (
        {"partition_not_a_tree.png": 1},
        "Pinwheel: not a tree: tree with 6 leaves, accuracy 100%",
    ),
    "tree_pruning": (
        dict.fromkeys(
            (
                "tree_grown.png",
                "tree_presets.png",
                "tree_pruned.png",
                "tree_pruning_methods.png",
            ),
            1,
        ),
        "47 pruned nodes; unpruned() restores the tree: True",
    ),
    "tree_votes": (
        {"tree_votes.png": 1},
        "root: physician_fee_freeze = n or missing, gain 0.718 of 0.962 bits",
    ),
}


def run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # examples show warnings on purpose
        return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pictures, line = EXAMPLES[name]
    run(name, tmp_path, monkeypatch)
    assert line in capsys.readouterr().out
    assert n_frames(tmp_path / "out") == pictures


def test_tree_of_votes_has_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("tree_votes", tmp_path, monkeypatch)
    with Image.open(tmp_path / "out" / "tree_votes.png") as image:
        assert image.size == (1260, 528)


def test_noise_columns_of_the_forest_are_within_the_null_band(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    importance = run("forest_votes", tmp_path, monkeypatch)["importance"]
    printed = capsys.readouterr().out
    assert "435 rows, 16 attributes" in printed
    assert "same predictions if mapped: True" in printed
    noise = [importance.feature_names.index(name) for name in ("a_coin", "a_number")]
    assert (importance.above_noise[noise] == 0).all()
    (tmp_path / "out" / "forest_votes.ceiba").unlink()
    assert n_frames(tmp_path / "out") == {"forest_curve.png": 1, "forest_importance.png": 1}


def test_boosting_gives_misclassified_rows_half_of_the_weight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("boosting_rounds", tmp_path, monkeypatch)
    assert capsys.readouterr().out.count("misclassified rows afterwards 0.500") == 5


def test_every_example_is_tested() -> None:
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    others = {"forest_votes"} | {name for name in names if name.startswith(("netlab_", "table_"))}
    assert names == set(EXAMPLES) | others
