"""ceiba compare, sweep, run and report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ceiba.experiments import compare, summarize
from ceiba.experiments.description.catalog import make_learner
from tests.cli.conftest import Run

TWO = "compare iris --protocol 3-fold -l tree -l forest:n_estimators=3"
FILE = """\
protocol = "3-fold"
scores = ["accuracy", "kappa"]
control = "tree"
datasets = ["iris"]
[[learner]]
learner = "tree"
[[learner]]
learner = "naive_bayes"
[[sweep]]
learner = "tree"
over = {max_depth = [1, 2]}
[[nested]]
learner = "tree"
inner = "2-fold"
over = {max_depth = [1, 2]}
"""


def test_a_comparison_is_that_of_python(ceiba: Run) -> None:
    learners = {
        "tree": make_learner("tree"),
        "forest:n_estimators=3": make_learner("forest", n_estimators=3),
    }
    results = compare(learners, "iris", protocol="3-fold", seed=2)
    table = summarize(results, rows="learners", control="tree", test="wilcoxon", p_values=True)
    line = f"{TWO} --seed 2 --control tree --test wilcoxon --p-values"
    assert ceiba(line).stdout.rstrip() == table.to_text()
    assert ceiba(f"{line} -f markdown").stdout.rstrip() == table.to_markdown().rstrip()
    assert ceiba(f"{line} -f latex").stdout.rstrip() == table.to_latex()
    assert ceiba(f"{line} -f csv").stdout == table.to_csv()
    printed = json.loads(ceiba(f"{line} -f json").stdout)
    assert [entry["mean"] for entry in printed] == [entry["mean"] for entry in table.to_records()]


def test_options_of_a_comparison_change_the_table(ceiba: Run) -> None:
    plain = ceiba(TWO).stdout
    for option in (
        "--seed 1",
        "--score kappa",
        "--interval t",
        "--control tree",
        "--protocol 2-fold",
        "--task classification -s accuracy -s error",
    ):
        assert ceiba(f"{TWO} {option}").stdout != plain
    log_loss = f"{TWO} -s log_loss"
    assert ceiba(f"{log_loss} --calibrate sigmoid").stdout != ceiba(log_loss).stdout
    assert "Coverage" in ceiba(f"{TWO} -s coverage --conformal 0.8").stdout
    for option in ("--n-jobs 1", "--journal j.db", "--quiet"):
        assert ceiba(f"{TWO} {option}").stdout == plain
    assert Path("j.db").is_file()


def test_all_options_reach_the_experiment(ceiba: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def keep(*_: Any, **keywords: Any) -> None:
        given.update(keywords)
        raise ValueError("enough")

    monkeypatch.setattr("ceiba.cli.compare.compare_learners", keep)
    ceiba(f"{TWO} --isolate --n-jobs 3 --conformal 0.8 --calibrate 'sigmoid oob' -q", 2)
    assert given == {
        "protocol": "3-fold",
        "seed": 0,
        "journal": None,
        "n_jobs": 3,
        "isolate": True,
        "calibrate": "sigmoid oob",
        "conformal": 0.8,
        "progress": False,
        "command": f"ceiba {TWO} --isolate --n-jobs 3 --conformal 0.8 --calibrate 'sigmoid oob' -q",
    }


def test_files_are_compared(ceiba: Run) -> None:
    line = "compare rows.csv -t sick -l tree --protocol 2-fold"
    assert ceiba(f"{line} --drop id").stdout.splitlines()[0].split() == ["Accuracy", "tree"]
    assert ceiba(f"{line} --drop id --drop size").stdout != ceiba(f"{line} --drop id").stdout
    ceiba("compare rows.csv -t sick -l tree --drop id --groups color --protocol 'groups 2'")
    assert "R²" in ceiba("compare rows.csv -t size -l tree --drop id --protocol 2-fold").stdout


def test_all_learners_are_compared_by_default(ceiba: Run) -> None:
    text = ceiba("compare servo --protocol 'holdout 0.5'").stdout
    assert [line.split()[0] for line in text.splitlines()[1:7]] == [
        "tree", "forest", "bagging", "adaboost", "gradient_boosting", "knn",
    ]  # fmt: skip


def test_a_learner_that_fails_gives_exit_code_1_and_the_table(ceiba: Run) -> None:
    result = ceiba("compare vote -l gmm -l naive_bayes --protocol 2-fold", 1)
    assert "failed" in result.stdout
    assert "naive_bayes  0." in result.stdout
    assert result.stderr.startswith("Error: 2 of 4 folds failed; gmm on vote: ValueError: ")
    assert result.stderr.count("\n") == 1


def test_a_sweep(ceiba: Run) -> None:
    line = "sweep tree iris --over max_depth=1,none --over criterion=gini,entropy --protocol 2-fold"
    lines = ceiba(line).stdout.splitlines()
    assert [entry.split("  ")[0] for entry in lines[1:5]] == [
        "max_depth=1, criterion='gini'",
        "max_depth=1, criterion='entropy'",
        "max_depth=None, criterion='gini'",
        "max_depth=None, criterion='entropy'",
    ]
    assert lines[-1].startswith("Best accuracy: max_depth=None, ")
    text = ceiba("sweep tree iris --over max_depth=1,2 --nested 2-fold --protocol 2-fold").stdout
    assert "Chosen in the folds: max_depth=" in text
    control = "--control max_depth=1"
    assert "better than max_depth=1" in ceiba(
        f"sweep tree iris --over max_depth=1,2 --protocol 2-fold {control}"
    ).stdout  # fmt: skip


def test_an_experiment_file_is_run(ceiba: Run, folder: Path) -> None:
    (folder / "w.toml").write_text(FILE)
    text = ceiba("run w.toml").stdout
    headings = ["Comparison", "Sweep of tree", "tree, chosen inside of the folds"]
    assert [line for line in text.splitlines() if line in headings] == [
        heading for heading in headings for _ in range(2)
    ]
    assert "• better than tree" in text
    csv = ceiba("run w.toml --format csv").stdout.splitlines()
    assert len(csv) == 1 + 2 * (2 + 2 + 1)
    assert len(json.loads(ceiba("run w.toml --format json").stdout)) == len(csv) - 1


def test_pages_are_written(ceiba: Run, folder: Path) -> None:
    pytest.importorskip("ceiba.report")
    (folder / "w.toml").write_text(FILE)
    for line in (
        f"{TWO} --report page.html",
        "sweep tree iris --over max_depth=1,2 --protocol 2-fold --report page.html",
        "run w.toml --report page.html",
        "report rows.csv -t sick --drop id --protocol 2-fold -o page.html",
        "report iris --protocol 2-fold -o page.html",
    ):
        assert "Wrote page.html" in ceiba(line).stderr
        page = (folder / "page.html").read_text(encoding="utf-8")
        assert "<html" in page
        assert "ceiba " in page  # the line that makes it again
        (folder / "page.html").unlink()
