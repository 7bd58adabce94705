"""What the documentation shows of mixtures is what they do."""

from __future__ import annotations

import doctest
import re
import runpy
import textwrap
import warnings
from typing import get_args

import pytest
from PIL import Image

from ceiba import GaussianMixture, GaussianMixtureClassifier, datasets
from ceiba.mixture import choose_components
from ceiba.mixture.covariance import form_of
from ceiba.mixture.parameters import CovarianceType
from tests.paths import ROOT

HOUSE = ROOT
PAGE = (HOUSE / "docs" / "mixtures.rst").read_text()


@pytest.fixture
def quiet():
    """Collapsed components are shown on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def test_page(quiet):
    failed, tried = doctest.testfile(str(HOUSE / "docs" / "mixtures.rst"), module_relative=False)
    assert tried > 40
    assert failed == 0


def blocks() -> list[str]:
    """Code of the page that is not a doctest."""
    found = re.findall(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", PAGE, re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


@pytest.mark.dask
@pytest.mark.xdist_group("dask in process")
def test_code_of_scales(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.chdir(tmp_path)
    X, species = datasets.load("iris", as_frame=True)
    for part in range(3):
        X.assign(species=species)[part::3].to_parquet(f"part-{part}.parquet")
    names = {
        "GaussianMixture": GaussianMixture,
        "GaussianMixtureClassifier": GaussianMixtureClassifier,
        "dask_frame": dd.from_pandas(X, npartitions=2),
    }
    with distributed.Client(processes=False, dashboard_address=None):
        exec(blocks()[0], names)
    assert names["rows"].n_rows == 150


def test_code_of_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = datasets.load("three_groups")
    names = {
        "X": X,
        "choice": choose_components(X, [1, 2], ["full"]),
        "GaussianMixture": GaussianMixture,
    }
    exec(blocks()[1], names)
    assert {path.name for path in tmp_path.iterdir()} == {
        "density.png", "choice.png", "forms.png", "em.gif",
    }  # fmt: skip


def forms() -> list[list[str]]:
    """Lines of the table of forms, cell by cell."""
    lines = re.findall(r"^``.*\(K,\)$|^``.*[Kd], d\)$", PAGE, re.MULTILINE)
    return [re.split(" {2,}", line) for line in lines]


def test_all_forms():
    named = [name for line in forms() for name in re.findall(r"\w+", line[0])]
    assert sorted(named) == sorted(get_args(get_args(CovarianceType)[0]))


@pytest.mark.parametrize("line", forms(), ids=lambda line: line[0].strip("`"))
def test_form(line):
    K, d, q = 3, 5, 2
    *_, numbers, shape = line
    formula = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", numbers.replace("−", "-"))
    for name in re.findall(r"\w+", line[0]):
        form = form_of(name, q, d)
        assert form.numbers(K, d) == eval(formula, {"K": K, "d": d, "q": q})
        assert form.shape(K, d) == eval(shape, {"K": K, "d": d})


def test_readme(capsys):
    text = (HOUSE / "README.md").read_text()
    code = re.search(r"```python\n(from ceiba import GaussianMixture\n.*?)```", text, re.DOTALL)
    names = {"datasets": datasets}
    exec(code[1], names)
    shown = re.findall(r"^    (car .*)$", text[code.end() :], re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == shown


def test_example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(HOUSE / "examples" / "mixture_iris.py"))
    said = capsys.readouterr().out
    assert "150 rows, 72 gaps; 90 rows are complete" in said
    assert "BIC: 3 components, VEV  <- decides" in said
    assert "error of the mixture: 0.30 cm" in said
    sizes = {}
    for path in (tmp_path / "out").iterdir():
        with Image.open(path) as image:
            sizes[path.name] = getattr(image, "n_frames", 1)
    assert sizes == {
        "mixture_choice.png": 1,
        "mixture_forms.png": 1,
        "mixture_iris.gif": 15,
        "mixture_iris.png": 1,
    }
