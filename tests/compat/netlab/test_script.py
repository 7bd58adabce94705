"""A complete script with the Netlab bridge, and the five demonstrations."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from PIL import Image

from ceiba.compat.netlab import (
    foptions,
    gmm,
    gmmactiv,
    gmmem,
    gmminit,
    gmmpost,
    gmmprob,
    gmmsamp,
    kmeans,
)
from tests.paths import ROOT

EXAMPLES = ROOT / "examples"


def test_netlab_script():
    """Run an old script line by line."""
    np.random.seed(42)  # noqa: NPY002 - as randn('state', 42)
    draw = np.random.RandomState(42)
    data = np.vstack([draw.randn(100, 2), draw.randn(200, 2) * 0.5 + 4])
    options = foptions()
    options[0] = -1
    options[13] = 10
    centres, options, post, _ = kmeans(data[[0, 100, 200]], data, options)
    assert centres.shape == (3, 2)
    assert post.sum() == 300
    mix = gmm(2, 2, "full")
    options[4] = 1
    options[13] = 15
    mix = gmminit(mix, data, options)
    options[2] = 1e-3
    options[13] = 50
    mix, options, errlog = gmmem(mix, data, options)
    assert len(errlog) < 50
    E = -np.sum(np.log(gmmprob(mix, data)))
    np.testing.assert_allclose(E, options[7])
    found = gmmpost(mix, data)[0].argmax(axis=1)
    tight = int(np.argmax(mix.priors))
    assert (found[:100] != tight).all()
    assert (found[100:] == tight).all()
    np.testing.assert_allclose(mix.centres[tight], [4, 4], atol=0.1)
    np.testing.assert_allclose(mix.covars[:, :, tight], 0.25 * np.eye(2), atol=0.06)
    np.testing.assert_allclose(mix.priors[tight], 2 / 3, atol=0.01)
    a = gmmactiv(mix, data[0])
    np.testing.assert_allclose(a @ mix.priors, gmmprob(mix, data[0]))
    new, label = gmmsamp(mix, 50)
    assert new.shape == (50, 2)
    assert set(label.tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("name", "pictures", "output"),
    [
        (
            "netlab_1_two_components",
            {"netlab_two_components.gif": 11, "netlab_two_components.png": 1},
            "rows in the right group: 97.7%",
        ),
        ("netlab_2_spherical", {"netlab_spherical.png": 1}, "[[ 0.53 -0.1   0.08  1.03]"),
        ("netlab_3_covariance_forms", {"netlab_forms.png": 1}, "3.015        3.026"),
        ("netlab_4_class_densities", {"netlab_classes.png": 1}, "accuracy 93.0% on new rows"),
        ("netlab_5_ppca", {"netlab_ppca.png": 1}, "ppca 2            10.176       10.730"),
    ],
)
def test_demonstration(name, pictures, output, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"))
    assert output in capsys.readouterr().out
    frames = {}
    for path in (tmp_path / "out").iterdir():
        with Image.open(path) as image:
            frames[path.name] = getattr(image, "n_frames", 1)
    assert frames == pictures
