"""Bad input: one clear line on standard error, exit code 2, and nothing half-written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TRAIN = "train tree {} -t sick -o m.ceiba"
WIDE = ",".join(f"c{i}" for i in range(10_000)) + ",y\n"
BAD_FILES = {
    "empty.csv": (b"", "the file is empty"),
    "header.csv": (b"a,sick\n", "no rows"),
    "latin.csv": ("a,sick\n1,sí\n2,no\n".encode("latin-1"), "is not UTF-8"),
    "target.csv": (b"a,sick\n1,\n2,no\n", "is missing in row 1"),
    "ragged.csv": (b"a,sick\n1,no\n2\n", "line 3"),
    "only.csv": (b"sick\nyes\nno\n", "no column is left"),
    "other.csv": (b"a,sic\n1,no\n", "did you mean 'sic'?"),
    "rows.xlsx": (b"PK", "the suffix must be one of"),
    "broken.parquet": (b"PAR1", "broken.parquet"),
    "broken.arff": (b"@relation x\n@data\n", "broken.arff"),
}


def error_of(result: object) -> str:
    """Return the one line on standard error."""
    lines = result.stderr.splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 1, lines
    assert lines[0].startswith("Error: ")
    return str(lines[0])


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(ceiba: Run, folder: Path, name: str) -> None:
    content, message = BAD_FILES[name]
    (folder / name).write_bytes(content)
    assert message in error_of(ceiba(TRAIN.format(name), 2))
    assert not list(folder.glob("*m.ceiba*"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (TRAIN.format("none.csv"), "There is no file 'none.csv'"),
        (TRAIN.format("."), "suffix"),
        ("train tree rows.csv -o m.ceiba", "name the column of the target"),
        ("train tree rows.csv -t sik -o m.ceiba", "did you mean 'sick'?"),
        ("train tree rows.csv -t sick --drop colr -o m.ceiba", "did you mean 'color'?"),
        ("train tree rows.csv -t sick --kind size -o m.ceiba", "--kind must have the form"),
        ("train tree rows.csv -t sick --kind size=x -o m.ceiba", "'x'"),
        ("train tree iriss -o m.ceiba", "Did you mean the bundled table 'iris'?"),
        ("train forrest iris -o m.ceiba", "Did you mean 'forest'?"),
        ("train tree rows.csv -t sick -t color -o m.ceiba", "must be given once, got sick, color"),
        ("train gradient_boosting iris -o m.ceiba --monotonic-cst a=1", """JSON, such as '[1, 0"""),
        ("train gradient_boosting iris -o m.ceiba --monotonic-cst a=1", """or '{"column": 1}'"""),
        ("train tree iris", "Missing option '-o'"),
        ("train tree iris -o m.ceiba --max-depth 0", "must be an int >= 1 or None, got '0'."),
        ("train tree iris -o m.ceiba --max-dept 3", "No such option '--max-dept'"),
        ("train tree iris -o m.ceiba --criterion poisson", "must be 'gini'"),
        ("train tan auto_mpg -o m.ceiba", "does not support regression; those that do are"),
        ("train tree iris -o none/m.ceiba", "make the folder"),
        ("train tree iris -o .", "add a file name"),
        ("train tree iris -o /dev/full", "must be a regular file"),
        ("train tree iris -o m.ceiba --scan", "--scan is for files"),
        ("train forest rows.csv -t sick -o m.ceiba --scan", "requires rows in memory"),
        ("train tree rows.csv -t sick -o m.ceiba --scan --encoding latin-1", "UTF-8"),
        ("predict none.ceiba iris", "none.ceiba: No such file"),
        ("predict rows.csv iris", "not a Ceiba model file"),
        ("evaluate rows.csv iris", "not a Ceiba model file"),
        ("view rows.csv", "not a Ceiba model file"),
        ("datasets irs", "Did you mean 'iris'?"),
        ("compare rows.csv", "name the column of the target"),
        ("compare iris --score acuracy", "--score must be one of accuracy"),
        ("compare iris --score rmse", "is of a regression"),
        ("compare iris --score auc_ovo --interval wilson", "--interval of auc_ovo"),
        ("compare iris --interval w", "'w' is not one of"),
        ("compare iris --protocol 10", "protocol must be one of"),
        ("compare iris -l tree --control tre", "--control must be one of tree"),
        ("compare iris -l tree -l tree", "must not be repeated"),
        ("compare iris -l tree:max_dept=3", "Did you mean 'max_depth'?"),
        ("compare iris -l tree --p-values", "requires --control"),
        ("compare iris auto_mpg", "DATA must have one task"),
        ("compare iris -l os.system", "must begin with"),
        ("compare iris -l tree --journal rows.csv", "cannot be opened as a journal"),
        ("compare iris -l tree --report rows.csv/page.html", "rows.csv"),
        ("compare iris -l tree --protocol 'groups 5'", "groups"),
        ("compare iris -l tree --test wilcoxon", "--test has no effect without --control"),
        ("compare iris -l tree -s coverage", "--score coverage requires --conformal"),
        ("compare iris iris -l tree", "DATA must be different"),
        ("compare iris -l tree:max_depth=1,max_depth=2", "must be given once"),
        ("compare", "Missing argument 'DATA...'"),
        ("sweep tree iris --over max_depth", "--over must have the form"),
        ("sweep tree iris --over max_dept=1", "Did you mean 'max_depth'?"),
        ("sweep tree iris --over max_depth=1,0", "got '0'"),
        ("sweep tree iris --over max_depth=1 --over max_depth=2", "different parameters"),
        ("sweep tree iris --over max_depth=1 --nested 2-fold --control x", "no effect"),
        ("run none.toml", "none.toml: No such file"),
        ("run rows.csv", "rows.csv, line 1: "),
        ("report none.csv -t y -o page.html", "There is no file"),
        ("frobnicate", "No such command"),
    ],
)  # fmt: skip
def test_bad_lines(ceiba: Run, line: str, message: str) -> None:
    assert message in error_of(ceiba(line, 2))
    assert not Path("m.ceiba").exists()


def test_a_class_with_one_row_is_trained_but_not_divided(ceiba: Run, folder: Path) -> None:
    (folder / "one.csv").write_text(
        "a,sick\n" + "".join(f"{i},no\n" for i in range(20)) + "9,yes\n"
    )
    ceiba("train tree one.csv -t sick -o m.ceiba")
    assert "got 1 of class 'yes'" in error_of(ceiba("compare one.csv -t sick -l tree", 2))


def test_ten_thousand_columns(ceiba: Run, folder: Path) -> None:
    rows = "".join(
        ",".join(str(i % (j + 2)) for i in range(10_000)) + f",{j % 2}\n" for j in range(6)
    )
    (folder / "wide.csv").write_text(WIDE + rows)
    result = ceiba("train tree wide.csv -t y -o m.ceiba")
    assert "10,000 columns" in result.stdout


def test_columns_that_a_model_lacks(ceiba: Run) -> None:
    ceiba("train tree iris -o m.ceiba -q")
    message = "no column 'sepal length (cm)'"
    assert message in error_of(ceiba("predict m.ceiba rows.csv", 2))
    assert message in error_of(ceiba("predict m.ceiba wine", 2))
    assert message in error_of(ceiba("evaluate m.ceiba rows.csv -t sick", 2))
    assert message in error_of(ceiba("evaluate m.ceiba wine", 2))
    assert "name the column of the target" in error_of(ceiba("evaluate m.ceiba rows.csv", 2))
    assert "must end in .csv" in error_of(ceiba("predict m.ceiba iris -o p.txt", 2))
    assert "must end in .png" in error_of(ceiba("view m.ceiba -f picture -o p.txt", 2))
    assert "--member is for ensembles" in error_of(ceiba("view m.ceiba --member 1", 2))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_file_that_cannot_be_written_leaves_the_old_one(
    ceiba: Run, folder: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ceiba("train tree iris -o m.ceiba -q")
    (folder / "p.csv").write_text("old")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    for line, path in [
        ("train forest iris -o m.ceiba", "m.ceiba"),
        ("predict m.ceiba iris -o p.csv", "p.csv"),
        ("view m.ceiba -f json -o tree.json", "tree.json"),
    ]:
        assert error_of(ceiba(line, 2)) == f"Error: {path}: {os.strerror(number)}."
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_an_error_of_an_experiment_file_names_line_and_key(ceiba: Run, folder: Path) -> None:
    (folder / "w.toml").write_text(
        'datasets = ["iris"]\n[[learner]]\nlearner = "tree"\nmax_dept = 1'
    )
    line = error_of(ceiba("run w.toml", 2))
    assert line.startswith("Error: w.toml, line 4, learner.max_dept: there is no parameter")


def test_a_traceback_on_request(folder: Path) -> None:
    from click.testing import CliRunner

    from ceiba.cli.app import app

    result = CliRunner().invoke(app, ["--traceback", "datasets", "irs"])
    assert isinstance(result.exception, ValueError)


@pytest.mark.parametrize(
    "line",
    [
        "train tree rows.csv -t sick -o rows.csv",
        "compare rows.csv -t sick -l tree --report rows.csv",
        "report rows.csv -t sick -o rows.csv",
    ],
)
def test_an_output_never_replaces_the_input(ceiba: Run, folder: Path, line: str) -> None:
    before = (folder / "rows.csv").read_bytes()
    assert "must not replace the input" in error_of(ceiba(line, 2))
    assert (folder / "rows.csv").read_bytes() == before
