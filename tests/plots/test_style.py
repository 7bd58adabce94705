"""Tests of the palette, and of plots without pyplot."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from urllib.request import urlopen

import numpy as np
import pytest

from ceiba import plots
from ceiba.cluster.kmeans import KMeans
from ceiba.plots import style
from ceiba.plots.style import HIGHLIGHT, INK, PALETTE
from tests.plots.figures import blobs

# Machado, Oliveira & Fernandes (2009), "A physiologically-based model for simulation of color
# vision deficiency", severity 1.
VISION = {
    "normal": [1, 0, 0, 0, 1, 0, 0, 0, 1],
    "protanope": [
        *(0.152286, 1.052583, -0.204868),
        *(0.114503, 0.786281, 0.099216),
        *(-0.003882, -0.048116, 1.051998),
    ],
    "deuteranope": [
        *(0.367322, 0.860646, -0.227968),
        *(0.280085, 0.672501, 0.047413),
        *(-0.011820, 0.042940, 0.968881),
    ],
    "tritanope": [
        *(1.255528, -0.076749, -0.178779),
        *(-0.078411, 0.930809, 0.147602),
        *(0.004733, 0.691367, 0.303900),
    ],
}


def linear(color):
    rgb = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear sRGB."""
    weights = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(weights) @ np.clip(rgb, 0, 1) / [0.95047, 1, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
def test_colors_differ_under_color_vision_deficiency(vision):
    seen = [lab(np.reshape(VISION[vision], (3, 3)) @ linear(color)) for color in PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


def test_colors_contrast_with_white_and_with_the_highlight():
    lightness = [lab(linear(color))[0] for color in PALETTE]
    assert max(lightness) < 75
    assert lab(linear(INK))[0] < 15
    assert lab(linear(HIGHLIGHT))[0] - max(lightness) > 15


def test_pictures_use_no_pyplot():
    code = """
import sys
import ceiba.plots
assert "matplotlib" not in sys.modules, "imported too early"
import numpy as np
from ceiba import KMeans, plots
X = np.arange(20.0).reshape(10, 2)
plots.clusters(KMeans(2).fit(X), X).savefig(sys.argv[1])
assert "matplotlib.pyplot" not in sys.modules, "pyplot holds global state"
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "/dev/null"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_show_opens_the_picture(monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    picture = plots.impurity_curves()
    assert picture.show() is picture
    (url,) = opened
    with urlopen(url) as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"


def test_show_without_a_viewer_advises_to_save(monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    with pytest.raises(RuntimeError, match=r'picture\.save\("picture\.png"\)'):
        plots.impurity_curves().show()


def test_missing_matplotlib_error_names_the_extra(monkeypatch):
    X = blobs()
    model = KMeans(3, trace=True).fit(X)
    monkeypatch.setitem(sys.modules, "ceiba.plots.figure", None)
    player = plots.play(model, X)
    for draw in (lambda: plots.clusters(model, X), lambda: player.draw(0), player.images):
        with pytest.raises(ImportError, match=r"ceiba\[plots\]"):
            draw()


def test_short_names_remain_different():
    names = [f"balance_of_the_{k}_year_before_the_loan" for k in ("first", "second", "third")]
    for length in (8, 14, 30):
        found = style.shorten_names([*names, "age"], length)
        assert len(set(found)) == 4
        assert max(map(len, found)) <= length
        assert found[-1] == "age"
    assert style.shorten_names(["same_long_name"] * 2, 8) == ["same…ame"] * 2
    assert style.shorten_names([], 8) == []
