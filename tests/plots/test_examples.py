"""The examples run as they stand and leave their pictures."""

from __future__ import annotations

import runpy

import pytest
from PIL import Image

from tests.paths import ROOT

EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize(
    ("name", "pictures", "said"),
    [
        (
            "kmeans_three_groups",
            {"three_groups.gif": 10, "three_groups.png": 1},
            "cluster 1: 100 of 100 rows from one group",
        ),
        (
            "compare_kmeans",
            {"kmeans.png": 1, "kmeans_choice.png": 1},
            "cleveland: 303 rows, 13 columns (6 numeric), 6 gaps",
        ),
    ],
)
def test_example(name, pictures, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert said in capsys.readouterr().out
    frames = {}
    for path in (tmp_path / "out").iterdir():
        with Image.open(path) as image:
            frames[path.name] = getattr(image, "n_frames", 1)
    assert frames == pictures
