"""Experiment files: what they describe, what they compute, and their errors with line and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

from ceiba import DecisionTreeClassifier
from ceiba.experiments import compare
from ceiba.experiments.description.file import Experiment
from ceiba.experiments.description.file_parts import ExperimentFileError

ROWS = "id,size,color,clinic,sick\n" + "".join(
    f"p{i},{i % 7},{'red' if i % 3 else 'blue'},{i % 4},{'yes' if i % 5 < 2 else 'no'}\n"
    for i in range(40)
)
FULL = """\
name = "small"
protocol = "3-fold"
seed = 4
scores = ["efficiency", "log_loss"]
interval = "t"
control = "shallow"
test = "mann_whitney"
journal = "small.db"
isolate = false
n_jobs = 1
datasets = ["iris"]

[[dataset]]
name = "clinic"
file = "rows.csv"
target = "sick"
drop = ["id"]
groups = "clinic"

[[learner]]
name = "shallow"
learner = "tree"
max_depth = 2
criterion = "entropy"
max_features = "none"

[[learner]]
steps = ["sklearn.preprocessing.StandardScaler", "sklearn.svm.SVC"]
svc__C = 10

[[sweep]]
learner = "knn"
over = {n_neighbors = [1, 5], weights = ["uniform", "distance"]}

[[nested]]
learner = "tree"
inner = "2-fold"
score = "kappa"
[nested.over]
max_depth = [1, 2]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    return tmp_path


def test_a_full_file_is_read(folder: Path) -> None:
    text = FULL.replace('"3-fold"', '"groups 2"').replace('datasets = ["iris"]', "datasets = []")
    (folder / "full.toml").write_text(text)
    experiment = Experiment.read(folder / "full.toml")
    assert experiment.name == "small"
    assert (experiment.protocol, experiment.seed, experiment.n_jobs) == ("groups 2", 4, 1)
    assert experiment.scores == ("accuracy", "log_loss")
    assert (experiment.interval, experiment.test) == ("t", "mann_whitney")
    assert (experiment.control, experiment.isolate) == ("shallow", False)
    assert experiment.journal == folder / "small.db"
    assert [data.name for data in experiment.datasets] == ["clinic"]
    assert experiment.datasets[0].X.schema.names == ["size", "color"]
    assert np.unique(experiment.datasets[0].groups).tolist() == [0, 1, 2, 3]
    shallow, pipeline = experiment.learners.values()
    assert repr(shallow) == "DecisionTreeClassifier(criterion='entropy', max_depth=2)"
    assert list(experiment.learners) == ["shallow", "StandardScaler + SVC"]
    assert isinstance(pipeline[-1], SVC)
    assert pipeline[-1].C == 10
    assert experiment.sweeps[0].over == {
        "n_neighbors": [1, 5],
        "weights": ["uniform", "distance"],
    }
    assert experiment.nested[0].over == {"max_depth": [1, 2]}
    assert (experiment.nested[0].inner, experiment.nested[0].score) == ("2-fold", "kappa")


def test_run_computes_comparison_sweeps_and_nested_validations(folder: Path) -> None:
    text = FULL.replace('steps = ["sklearn.preprocessing.StandardScaler", "sklearn.svm.SVC"]', "")
    text = text.replace("svc__C = 10", 'learner = "naive_bayes"').replace('groups = "clinic"', "")
    (folder / "full.toml").write_text(text)
    results = Experiment.read(folder / "full.toml").run(
        progress=False, command="ceiba run full.toml"
    )
    assert results.comparison is not None
    assert not results.comparison.failures
    assert results.comparison.record["command"] == "ceiba run full.toml"
    assert (folder / "small.db").is_file()
    learners = {"shallow": DecisionTreeClassifier(criterion="entropy", max_depth=2)}
    expected = compare(learners, "iris", protocol="3-fold", seed=4)
    score = expected.mean("accuracy", "iris", "shallow")
    assert results.comparison.mean("accuracy", "iris", "shallow") == score
    assert len(results.sweeps["knn"].settings) == 4
    assert {fold.result.chosen["max_depth"] for fold in results.nested["tree"].folds} <= {1, 2}
    assert len(results.all) == 3


def test_learners_are_calibrated_and_conformal() -> None:
    text = 'datasets = ["iris"]\nprotocol = "2-fold"\n{}\n[[learner]]\nlearner = "tree"'
    plain, calibrated, conformal = (
        Experiment.from_text(text.format(line)).run().comparison
        for line in ("", 'calibrate = "sigmoid"', "conformal = 0.8")
    )
    assert plain is not None
    assert calibrated is not None
    assert conformal is not None
    score = plain.mean("log_loss", "iris", "tree")
    assert calibrated.mean("log_loss", "iris", "tree") != score
    assert conformal.mean("coverage", "iris", "tree") is not None
    assert plain.mean("coverage", "iris", "tree") is None


def test_all_keys_reach_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(
        "ceiba.experiments.description.file.compare", lambda *_, **keywords: given.update(keywords)
    )
    text = 'datasets = ["iris"]\nisolate = true\nn_jobs = 3\njournal = "j.db"\nseed = 5'
    Experiment.from_text(text, path="folder/x.toml").run(progress=False)
    expected = {"isolate": True, "n_jobs": 3, "journal": Path("folder/j.db"), "seed": 5}
    assert expected.items() <= given.items()


def test_without_learners_those_of_the_task_are_compared() -> None:
    numbers = Experiment.from_text('datasets = ["servo"]')
    assert list(numbers.learners) == [
        "tree", "forest", "bagging", "adaboost", "gradient_boosting", "knn",
    ]  # fmt: skip
    assert "gmm" in Experiment.from_text('datasets = ["iris"]').learners
    assert "gmm" not in Experiment.from_text('datasets = ["iris", "vote"]').learners


START = 'datasets = ["iris"]\n'
LEARNER = '[[learner]]\nlearner = "tree"\n'


@pytest.mark.parametrize(
    ("text", "line", "key", "message"),
    [
        ("datasets = [", 1, "", "Invalid"),
        ("seed = 1\nseed = 2", 2, "", "Cannot overwrite a value"),
        (
            START + "protocl = 1",
            2,
            "protocl",
            "there is no key 'protocl'. Did you mean 'protocol'?",
        ),
        (START + "zzz = 1", 2, "zzz", "The keys are name, protocol"),
        ("seed = 1", 1, "datasets", "is required"),
        ("datasets = 3", 1, "datasets", "must be a list of texts, got 3"),
        ('datasets = [\n  "iris",\n  "irs",\n]', 3, "datasets", "Did you mean the bundled table"),
        ('datasets = ["iris", "iris"]', 1, "datasets", "got 'iris' twice"),
        ('datasets = [\n"iris",\n "servo"]', 1, "datasets", "must have one task"),
        (START + "protocol = 10", 2, "protocol", "must be a text, got 10."),
        (START + 'protocol = "10 parts"', 2, "protocol", "protocol must be one of '10-fold'"),
        (FULL, 2, "protocol", "groups have no effect"),
        (START + 'protocol = "51-fold"', 2, "protocol", "at least 51 rows of every class"),
        (START + "seed = 1.5", 2, "seed", "must be a whole number, got 1.5."),
        (START + "seed = true", 2, "seed", "must be a whole number, got True."),
        (START + 'isolate = "yes"', 2, "isolate", "must be true or false"),
        (START + "scores = [\n'accuracy',\n'acuracy']", 4, "scores", "got 'acuracy'"),
        (START + 'scores = ["rmse"]', 2, "scores", "a score of a regression"),
        (START + 'interval = "tt"', 2, "interval", "must be one of auto, t"),
        (START + 'scores = ["auc"]\ninterval = "wilson"', 3, "interval", "for auc"),
        (START + 'test = "z"', 2, "test", "must be one of corrected_t"),
        (START + 'control = "tre"\n' + LEARNER, 2, "control", "Did you mean 'tree'?"),
        (START + "conformal = 2", 2, "conformal", "between 0 and 1, got 2"),
        (START + 'calibrate = "x"', 2, "calibrate", "must be one of isotonic"),
        ('datasets = ["servo"]\ncalibrate = "sigmoid"', 2, "calibrate", "requires the classes"),
        (START + "learner = 3", 2, "learner", "must be tables: write [[learner]]"),
        (START + LEARNER + "\nmax_dept = 3", 5, "learner.max_dept", "Did you mean 'max_depth'?"),
        (START + LEARNER + "max_depth = 0", 4, "learner.max_depth", "an int >= 1 or None, got 0."),
        (START + LEARNER + 'max_depth = "x"', 4, "learner.max_depth", "an int >= 1 or None"),
        (START + LEARNER + LEARNER, 4, "learner.name", "got 'tree' twice"),
        (START + '[[learner]]\nlearner = "tre"', 3, "learner.learner", "Did you mean 'tree'?"),
        (START + "[[learner]]\nmax_depth = 2", 2, "learner.learner", "is required"),
        ('datasets=["servo"]\n[[learner]]\nlearner = "tan"', 3, "learner.learner", "regression"),
        (START + '[[learner]]\nlearner = "os.system"', 3, "learner.learner", "must begin with"),
        (
            START + '[[learner]]\nsteps = ["sklearn.svm.SV"]',
            3,
            "learner.steps",
            "no estimator 'SV'",
        ),
        (START + '[[learner]]\nsteps = ["tree"]\nx__y = 1', 4, "learner.x__y", "no parameter"),
        (START + '[[sweep]]\nlearner = "tree"', 2, "sweep.over", "must be a table of lists"),
        (
            START + '[[sweep]]\nlearner = "tree"\nover = {max_dept = [1]}',
            4,
            "sweep.over.max_dept",
            "Did",
        ),
        (
            START + '[[sweep]]\nlearner = "tree"\nover = {max_depth = 1}',
            4,
            "sweep.over.max_depth",
            "a list",
        ),
        (
            START + '[[sweep]]\nlearner = "tree"\n[sweep.over]\nmax_depth = [\n1,\n0]',
            7,
            "sweep.over.max_depth",
            "got 0.",
        ),
        (START + '[[nested]]\nlearner="tree"\ninner = "x"', 4, "nested.inner", "protocol must be"),
        (START + '[[nested]]\nlearner="tree"\nscore = "r2"', 4, "nested.score", "a score of"),
        ("[[dataset]]\ntarget = 'y'", 1, "dataset.name", "is required"),
        ("[[dataset]]\nfile = 'none.csv'\ntarget = 'y'", 2, "dataset.file", "There is no file"),
        ("[[dataset]]\nfile = 'rows.csv'", 2, "dataset.file", "name the column of the target"),
        (
            "[[dataset]]\nfile = 'rows.csv'\ntarget = 'sic'",
            3,
            "dataset.target",
            "did you mean 'sick'",
        ),
        ("[[dataset]]\nfile = 'rows.csv'\ntarget = 'sick'\ndrop = ['x']", 4, "dataset.drop", "'x'"),
        ("[[dataset]]\nname = 'iris'\ntask = 'regression'", 3, "dataset.task", "is classification"),
        ("[[dataset]]\nname = 'iris'\ntask = 'x'", 3, "dataset.task", "must be one of"),
        ("[[dataset]]\nname = 'iris'\nfil = 'x'", 3, "dataset.fil", "Did you mean 'file'?"),
    ],
)
def test_an_error_names_line_and_key(
    folder: Path, text: str, line: int, key: str, message: str
) -> None:
    with pytest.raises(ExperimentFileError) as caught:
        Experiment.from_text(text, path=folder / "bad.toml")
    error: Any = caught.value
    assert (error.line, error.key) == (line, key)
    where = f"{folder / 'bad.toml'}, line {error.line}"
    assert str(error).startswith(f"{where}, {key}: " if key else f"{where}: ")
    assert message.lower() in str(error).lower()
    assert "\n" not in str(error)


def test_a_file_that_is_not_utf8_names_the_line(folder: Path) -> None:
    (folder / "latin.toml").write_bytes('name = "a"\nname2 = "ñ"'.encode("latin-1"))
    with pytest.raises(ExperimentFileError, match="line 2: byte 0xf1 is not UTF-8"):
        Experiment.read(folder / "latin.toml")


def test_a_missing_file_is_an_error_of_the_system(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Experiment.read(folder / "none.toml")
