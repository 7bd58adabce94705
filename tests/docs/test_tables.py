"""Tables of the guide list the values that the code has."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import numpy as np
import pytest

from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GaussianMixture,
    GaussianMixtureClassifier,
    KMeans,
    KNeighborsClassifier,
    NaiveBayesClassifier,
    RandomForestClassifier,
    TANClassifier,
    datasets,
)
from ceiba.base import declared
from ceiba.mixture import choose_components
from ceiba.mixture.covariance import covariance_form
from ceiba.tree.config import PRESETS
from ceiba.tree.model.tree import Tree
from tests.paths import ROOT

pytestmark = pytest.mark.slow


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def rows_of(text: str, heading: str) -> list[str]:
    """Return the rows of the table with this heading, without continued lines."""
    found = re.search(rf"^=[= ]+\n{re.escape(heading)}", text, re.MULTILINE)
    assert found
    table = text[found.end() :].split("\n=====")[1].splitlines()[1:]
    return [row for row in table if not row.startswith(" ")]


def literals(row: str) -> list[str]:
    return re.findall(r"``(.*?)``", row)


def code_blocks(name: str) -> list[str]:
    """Return the code of a page that is not a doctest."""
    found = re.findall(r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", page(name), re.MULTILINE)
    return [textwrap.dedent(block) for block in found]


def choices(cls: type[Any], name: str) -> set[str]:
    (parameter,) = (parameter for parameter in declared(cls) if parameter.name == name)
    return set(parameter.choices)


@pytest.mark.parametrize(
    ("document", "cls", "name"),
    [
        ("bayes", NaiveBayesClassifier, "distributions"),
        ("bayes", TANClassifier, "structure"),
        ("neighbors", KNeighborsClassifier, "missing"),
        ("ensembles", RandomForestClassifier, "max_features_per"),
        ("ensembles", AdaBoostClassifier, "algorithm"),
        ("trees", DecisionTreeClassifier, "missing"),
        ("trees", DecisionTreeClassifier, "leaf_probability"),
    ],
)
def test_every_choice_is_in_its_table(document: str, cls: type[Any], name: str) -> None:
    rows = rows_of(page(f"guide/{document}.rst"), f"``{name}``")
    assert {literals(row)[0] for row in rows} == choices(cls, name)


def test_every_initialization_of_kmeans_is_in_its_table() -> None:
    shown = {literal.strip('"') for literal in literals(page("guide/clustering.rst"))}
    assert choices(KMeans, "init") <= shown


def test_every_array_of_a_tree_exists() -> None:
    names = [name for row in rows_of(page("guide/trees.rst"), "per node") for name in literals(row)]
    tree = DecisionTreeClassifier().fit(*datasets.load("iris")).tree_
    assert len(names) > 15
    assert all(hasattr(tree, name.removesuffix("(i)")) for name in names)


PRESET_ROWS = [row.split() for row in rows_of(page("guide/course.rst"), "parameter     ")]


def test_every_setting_of_the_presets_is_in_the_table() -> None:
    assert [row[0].strip("`") for row in PRESET_ROWS] == list(PRESETS["cart"])


@pytest.mark.parametrize("row", PRESET_ROWS, ids=lambda row: row[0].strip("`"))
def test_settings_of_the_presets(row: list[str]) -> None:
    name = row[0].strip("`")
    assert row[1:] == [str(PRESETS[preset][name]) for preset in ("hunt", "id3", "c45", "cart")]


@pytest.mark.parametrize("document", ["guide/course.rst", "coming_from/rpart.rst"])
def test_settings_of_other_systems_grow_a_tree(document: str) -> None:
    code = re.sub(r"#.*", "", code_blocks(document)[0])
    for call in re.findall(r"DecisionTreeClassifier\([^)]*\)", code):
        model = eval(call, {"DecisionTreeClassifier": DecisionTreeClassifier})
        assert isinstance(model.fit(*datasets.load("weather_numeric")).tree_, Tree)


def test_ways_to_sample() -> None:
    X, y = datasets.load("iris")
    for row in rows_of(page("guide/ensembles.rst"), "parameters "):
        options = eval(f"dict({literals(row)[0]})") if literals(row) else {}
        model = BaggingClassifier(n_estimators=3, **options).fit(X, y)
        n_rows = 75 if "max_samples" in options else 150
        assert {len(rows) for rows in model.estimators_samples_} == {n_rows}
        n_columns = [len(np.unique(columns)) for columns in model.estimators_features_]
        expected = 2 if "max_features" in options else 4
        repeats = options.get("bootstrap_features", False)
        assert min(n_columns) < 4 if repeats else n_columns == [expected] * 3


FORM_ROWS = [
    re.split(" {2,}", line)
    for line in re.findall(
        r"^``.*\(K,\)$|^``.*[Kd], d\)$", page("guide/mixtures.rst"), re.MULTILINE
    )
]


def test_every_covariance_type_is_in_the_table() -> None:
    names = [name for row in FORM_ROWS for name in re.findall(r"\w+", row[0])]
    assert sorted(names) == sorted(choices(GaussianMixture, "covariance_type"))


@pytest.mark.parametrize("row", FORM_ROWS, ids=lambda row: row[0].strip("`"))
def test_parameters_and_shape_of_a_covariance_type(row: list[str]) -> None:
    K, d, q = 3, 5, 2
    *_, count, shape = row
    formula = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", count.replace("−", "-"))
    for name in re.findall(r"\w+", row[0]):
        form = covariance_form(name, q, d)  # type: ignore[arg-type]
        assert form.n_parameters(K, d) == eval(formula, {"K": K, "d": d, "q": q})
        assert form.fitted_shape(K, d) == eval(shape, {"K": K, "d": d})


@pytest.mark.dask
@pytest.mark.xdist_group("dask in process")
def test_mixtures_of_files_and_dask(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    dd = pytest.importorskip("dask.dataframe")
    monkeypatch.chdir(tmp_path)
    X, species = datasets.load("iris", as_frame=True)
    for part in range(3):
        X.assign(species=species)[part::3].to_parquet(f"part-{part}.parquet")
    names: dict[str, Any] = {
        "GaussianMixture": GaussianMixture,
        "GaussianMixtureClassifier": GaussianMixtureClassifier,
        "dask_frame": dd.from_pandas(X, npartitions=2),
    }
    with distributed.Client(processes=False, dashboard_address=None):
        exec(code_blocks("guide/mixtures.rst")[0], names)
    assert names["rows"].n_rows == 150


def test_pictures_of_mixtures(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ceiba import plots

    monkeypatch.chdir(tmp_path)
    X, _ = datasets.load("three_groups")
    names = {
        "X": X,
        "choice": choose_components(X, [1, 2], ["full"]),
        "GaussianMixture": GaussianMixture,
        "plots": plots,
    }
    exec(code_blocks("guide/mixtures.rst")[1], names)
    assert {path.name for path in tmp_path.iterdir()} == {"choice.png", "forms.png", "em.gif"}
