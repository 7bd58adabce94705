"""The wheel, installed with its base dependencies only, fits every learner."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ceiba import ESTIMATORS
from tests.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# Runs in the clean environment: no pandas, pyarrow, matplotlib or dask.
SCRIPT = """
import importlib.util, sys, tempfile
import ceiba
from ceiba import datasets

assert "site-packages" in ceiba.__file__, ceiba.__file__
for name in ("pandas", "pyarrow", "matplotlib", "dask", "rich"):
    assert importlib.util.find_spec(name) is None, name
X, y = datasets.load("hepatitis")
cars, mpg = datasets.load("auto_mpg")
iris = datasets.load("iris")
for name in sorted(ceiba.ESTIMATORS):
    estimator = getattr(ceiba, name)()
    if name.endswith("Regressor"):
        fitted = estimator.fit(cars, mpg)
        fitted.predict(cars)
    elif name == "GaussianMixtureClassifier":
        fitted = estimator.fit(iris.X, iris.y)
        fitted.predict(iris.X)
    elif name.endswith("Classifier"):
        fitted = estimator.fit(X, y)
        fitted.predict(X)
    elif name == "Discretizer":
        fitted = estimator.fit(X, y)
        fitted.transform(X)
    elif name == "NearestNeighbors":
        fitted = estimator.fit(X)
        fitted.kneighbors(X)
    else:
        fitted = estimator.fit(iris.X)
        fitted.predict(iris.X)
    with tempfile.TemporaryDirectory() as folder:
        ceiba.save(fitted, folder + "/model.ceiba")
        ceiba.load(folder + "/model.ceiba")
with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    file.write("a,b\\n1,2\\n")
    file.flush()
    for call in (ceiba.read, ceiba.scan):
        try:
            call(file.name)
        except ImportError as error:
            assert 'pip install "ceiba[files]"' in str(error), error
        else:
            raise AssertionError("reading needs the extra 'files'")
try:
    ceiba.plots.tree
except ImportError as error:
    assert 'pip install "ceiba[plots]"' in str(error), error
print("fitted", len(ceiba.ESTIMATORS))
"""


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | environment
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=variables, capture_output=True, text=True
    )
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def test_the_wheel_fits_every_learner(tmp_path: Path) -> None:
    run(
        sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, ROOT,
        cwd=ROOT,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("ceiba-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "clean", cwd=tmp_path)
    python = tmp_path / "clean" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    assert run(python, "-c", SCRIPT, cwd=tmp_path).strip() == f"fitted {len(ESTIMATORS)}"
