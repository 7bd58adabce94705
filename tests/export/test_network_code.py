"""Generated Python, C and SQL of networks predicts as the model does."""

from __future__ import annotations

import ctypes
import re
import shutil
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ceiba
from ceiba.export import NotExpressibleError, to_code
from tests.export.mixed_table import fitted, fuzzed, table
from tests.export.run_code import plain_rows, run_all, run_c, run_python, run_sql

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
NAIVE, TAN = ceiba.NaiveBayesClassifier, ceiba.TANClassifier
DENSITIES = {"width": "gaussian", "count": "poisson"}
WITHOUT_ARCS: dict[str, Any] = {
    "naive": NAIVE(),
    "category": NAIVE(missing="category"),
    "densities": NAIVE(distributions=DENSITIES),
    "gaussian": NAIVE(distributions="gaussian", priors={"low": 0.2, "mid": 0.5, "to'p": 0.3}),
    "naive tm": NAIVE(training="tm"),
    "latent": ceiba.LatentClassMixture(3, n_init=1, max_iter=5),
}
# Networks of columns with one parent, whose missing values SQL does not sum over.
FORESTS: dict[str, Any] = {
    "tan": TAN(),
    "forest": TAN(structure="forest", significance=0.999),
    "given": TAN(structure=[("color", "size"), ("size", "flag"), ("size", "width")]),
    "tan tm": TAN(training="tm"),
    "tan category": TAN(missing="category"),
    "structural": ceiba.StructuralTMClassifier(),
    "latent tree": ceiba.LatentClassMixture(2, structure="tree", n_init=1, max_iter=5),
}
FAST = ("densities", "tan category", "tan", "latent")


def cases(models: dict[str, Any]) -> list[Any]:
    """Names of models; a part of them is enough to guard a change."""
    return [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in models]


def check(model: Any, frame: pd.DataFrame, folder: Any, refused: Any = ()) -> None:
    """Compare the code in all languages; ``refused`` are rows without predictions in SQL."""
    mixture = isinstance(model, ceiba.LatentClassMixture)
    classes = [*range(model.n_components_)] if mixture else model.classes_.tolist()
    expected = model.predict_proba(frame)
    clear = np.ptp(np.sort(expected, axis=1)[:, -2:], axis=1) > 1e-9
    for language, outputs in run_all(folder, model, model.schema_, classes, frame).items():
        rows = np.ones(len(frame), bool)
        if language == "sql" and len(refused):
            assert [p is None for p in outputs["prediction"]] == list(refused)
            rows = ~refused
        probabilities = np.array(outputs["probabilities"], np.float64)[rows]
        np.testing.assert_allclose(probabilities, expected[rows], atol=1e-10, err_msg=language)
        predicted, own = np.array(outputs["prediction"]), rows & clear
        np.testing.assert_array_equal(predicted[own], model.predict(frame)[own])


def needs_sum(model: Any, frame: pd.DataFrame) -> Any:
    """Rows in which a missing parent has a known child."""
    codes = model.encoding_.encode(ceiba.data.Table.of(frame, model.schema_))
    gone = codes == model.model_.sizes - 1
    arcs = model.model_.structure.arcs
    return np.array([any(row[p] and not row[c] for p, c in arcs) for row in gone])


def sparse() -> pd.DataFrame:
    """Fuzzed rows with many more missing values, a row without values, and plain rows."""
    frame = fuzzed().astype(object)
    gone = np.random.default_rng(7).random(frame.shape) < np.linspace(0, 0.9, len(frame))[:, None]
    frame = frame.mask(gone)
    frame.iloc[0] = None
    return pd.concat([frame[::4], table()[0][:40].astype(object)], ignore_index=True)


@pytest.mark.parametrize("name", cases(WITHOUT_ARCS))
def test_networks_without_arcs(name, tmp_path):
    check(fitted(WITHOUT_ARCS[name]), sparse(), tmp_path)


@pytest.mark.parametrize("name", cases(FORESTS))
def test_forests_sum_over_missing_values(name, tmp_path):
    model, frame = fitted(FORESTS[name]), sparse()
    refused = needs_sum(model, frame)
    assert refused.any() == bool(model.arcs_)
    check(model, frame, tmp_path, refused)


@pytest.mark.parametrize("missing", ["marginal", "category"])
def test_two_parents_refuse_missing_values(missing, tmp_path):
    """A column without missing values in training has no category for them."""
    rows = table()[0].dropna() if missing == "marginal" else table()[0]
    model = TAN(structure="kdb", missing=missing).fit(rows, table()[1][rows.index])
    frame = sparse()
    refused = needs_sum(model, frame)
    assert 20 < refused.sum() < len(frame) - 20
    check(model, frame[~refused], tmp_path)
    module: dict[str, Any] = {}
    exec(to_code(model, "python"), module)
    row = plain_rows(frame[refused])[0]
    with pytest.raises(ValueError, match="missing column has a known child in the network: impute"):
        module["predict"](row)
    gone = frame[refused][:3]
    for outputs in refusing_runs(model, gone, tmp_path / "c"):
        assert outputs["prediction"] == [None] * 3
        assert np.isnan(np.array(outputs["probabilities"], float)).all()


def refusing_runs(model: Any, frame: pd.DataFrame, folder: Any) -> list[dict[str, Any]]:
    """Outputs of SQL, and of C where it can be compiled."""
    outputs = [run_sql(to_code(model, "sql"), frame)]
    if shutil.which("gcc") is not None:
        folder.mkdir()
        classes = model.classes_.tolist()
        outputs.append(run_c(folder, to_code(model, "c"), model.schema_, classes, frame))
    return outputs


@pytest.mark.parametrize("value", [-1.0, 2.5, np.inf])
def test_numbers_that_are_no_counts_are_refused(value, tmp_path):
    frame = pd.DataFrame({"n": [0, 1, 4, 6, 2, 7]})
    model = NAIVE(distributions="poisson").fit(frame, list("aabbab"))
    check(model, pd.DataFrame({"n": [0.0, 2.0, np.nan, 1e290]}), tmp_path)
    rows = pd.DataFrame({"n": [value]})
    with pytest.raises(ValueError, match=rf"x\[0\] must be a count, got {value}"):
        run_python(to_code(model, "python"), rows)
    for outputs in refusing_runs(model, rows, tmp_path / "c"):
        assert outputs["prediction"] == [None]


def test_values_at_thresholds_and_far_away(tmp_path):
    frame = table()[0][["width", "count"]]
    label = np.where(np.abs(frame["width"]) + frame["count"] > 3, "out", "in")
    model = TAN().fit(frame, label)
    edges = np.concatenate([model.encoding_.thresholds(0), [np.inf, 1e308]])
    values = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
    rows = pd.DataFrame({"width": [*values, *-values], "count": 4.5})
    check(model, rows, tmp_path)
    normal = NAIVE(distributions={"width": "gaussian"}).fit(frame, label)
    (tmp_path / "normal").mkdir()
    check(normal, rows, tmp_path / "normal")


def test_classes_without_rows_and_columns_without_effect(tmp_path):
    frame, label, _ = table()
    rows = label != "mid"
    model = NAIVE(distributions=DENSITIES)
    model.partial_fit(frame[rows], label[rows], classes=np.unique(label))
    check(model, sparse(), tmp_path)
    constant = pd.DataFrame({"a": ["x"] * 20, "b": np.ones(20)})
    for k, distributions in enumerate(("auto", "gaussian")):
        model = NAIVE(distributions=distributions).fit(constant, label[:20])
        (tmp_path / str(k)).mkdir()
        check(model, constant, tmp_path / str(k))


def test_integers_beyond_2_to_the_53():
    frame = pd.DataFrame({"i": 2**60 + np.arange(60)})
    model = NAIVE().fit(frame, np.arange(60) > 27)
    outputs = run_python(to_code(model, "python"), frame)
    assert outputs["prediction"] == model.predict(frame).tolist()
    assert run_sql(to_code(model, "sql"), frame)["prediction"] == outputs["prediction"]
    with pytest.raises(NotExpressibleError, match="C compares doubles, which cannot hold"):
        to_code(model, "c")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="requires gcc")
def test_index_of_no_category_is_missing_in_c(tmp_path):
    frame = pd.DataFrame({"a": list("xyzxyz")})
    model = NAIVE().fit(frame, list("ppqqqq"))
    run_c(tmp_path, to_code(model, "c"), [], None, frame[:0])
    library, out = ctypes.CDLL(str(tmp_path / "model.so")), (ctypes.c_double * 2)()
    for index in (-1.0, 0.5, 3.0, np.nan, np.inf):
        library.predict_proba((ctypes.c_double * 1)(index), out)
        np.testing.assert_allclose(out, model.predict_proba(pd.DataFrame({"a": [None]}))[0])


def test_names_cannot_end_strings_and_comments(tmp_path):
    names = ['*/ int x; /* """', "a\\b\n'c'\\"]
    frame = pd.DataFrame(np.random.default_rng(1).choice(list("uv"), (40, 2)), columns=names)
    label = np.where(frame.iloc[:, 0] == frame.iloc[:, 1], 'q"\\', "*/")
    check(TAN().fit(frame, label), frame, tmp_path)


def test_numbers_of_sql_are_doubles():
    code = to_code(fitted(WITHOUT_ARCS["densities"]), "sql")
    assert not re.search(r"\d\.\d+(?![\de])", code)


def test_what_code_lacks_is_refused():
    frame, label, _ = table()
    for distribution in ("kernel", "mixture"):
        model = NAIVE(distributions={"width": distribution}).fit(frame, label)
        with pytest.raises(NotExpressibleError, match=f"distributions='{distribution}'"):
            to_code(model, "c")
    with pytest.raises(NotExpressibleError, match="one network, got structure='aode'"):
        to_code(TAN(structure="aode").fit(frame, label), "python")
    huge = pd.DataFrame({"x": [1e-320, 2e-320, 3e-320, 7e-320]})
    model = NAIVE(distributions="gaussian").fit(huge, list("aabb"))
    with pytest.raises(NotExpressibleError, match="Code requires normal columns in the range"):
        to_code(model, "sql")
