"""Checks of tables: every check finds what was planted, and nothing in a table without it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ceiba
from ceiba.experiments.table_checks import TableChecks, check_table, infer_task
from ceiba.experiments.table_checks.dependence import (
    Relation,
    find_relations,
    find_target_relation,
)
from tests.budget import examples

N = 240


def honest_columns() -> dict[str, Any]:
    """Return columns of a table without any finding."""
    random = np.random.default_rng(0)
    return {
        "a": random.normal(size=N),
        "b": random.normal(size=N),
        "color": random.choice(["red", "green", "blue"], size=N),
    }


def honest_target(columns: dict[str, Any]) -> Any:
    random = np.random.default_rng(1)
    return np.where(columns["a"] + random.normal(size=N) > 0, "yes", "no")


def checks(y: Any = None, **added: Any) -> TableChecks:
    """Return the checks of the honest table with further columns; None leaves one out."""
    columns = honest_columns() | added
    frame = {name: list(values) for name, values in columns.items() if values is not None}
    rows = [dict(zip(frame, values, strict=True)) for values in zip(*frame.values(), strict=True)]
    return check_table(rows, honest_target(honest_columns()) if y is None else y)


def found(result: TableChecks) -> set[str]:
    return {finding.check for finding in result.findings}


def with_missing(values: Any, mask: Any) -> list[Any]:
    return [None if absent else value for value, absent in zip(values, mask, strict=True)]


def test_an_honest_table_has_no_findings() -> None:
    result = checks()
    assert result.findings == ()
    assert [column.kind for column in result.columns] == ["numeric", "numeric", "nominal"]
    assert [column.n_distinct for column in result.columns] == [N, N, 3]
    assert result.task == "classification"
    assert {count.label for count in result.classes} == {"yes", "no"}
    assert result.max_folds == min(count.n_rows for count in result.classes)
    numbers = honest_columns()["a"] + np.random.default_rng(2).normal(size=N)
    assert checks(y=numbers).findings == ()


def planted() -> dict[str, tuple[dict[str, Any], Any, str]]:
    """Return columns or target that a check finds, and its severity."""
    columns, random = honest_columns(), np.random.default_rng(3)
    y, a, b = honest_target(columns), columns["a"], columns["b"]
    numbers = a + random.normal(size=N)
    rare = y.astype("U8")
    rare[:4] = "rare"
    single = y.astype("U8")
    single[0] = "single"
    repeated = np.r_[a[: N // 2], a[: N // 2]]
    color = columns["color"].copy()
    color[N // 2 :] = color[: N // 2]
    copies = {"a": repeated, "b": np.r_[b[: N // 2], b[: N // 2]], "color": color}
    first_half = np.where(random.random(N // 2) < 0.5, "yes", "no")
    other = {"yes": "no", "no": "yes"}
    return {
        "missing": ({"m": with_missing(b, random.random(N) < 0.1)}, None, "note"),
        "mostly_missing": ({"m": with_missing(b, random.random(N) < 0.8)}, None, "warning"),
        "constant": ({"one": ["x"] * N}, None, "note"),
        "identifier": ({"name": [f"row {i}" for i in range(N)]}, None, "note"),
        "many_categories": ({"city": [f"city {i % 90}" for i in range(N)]}, None, "note"),
        "infinite": ({"a": [np.inf, *a[1:]]}, None, "warning"),
        "time": (
            {"day": random.permutation(np.datetime64("2020-01-01") + np.arange(N)).tolist()},
            None,
            "note",
        ),
        "duplicate_columns": ({"a2": a}, None, "note"),
        "duplicate_rows": (copies, np.r_[first_half, first_half], "warning"),
        "conflicting_rows": (
            copies,
            np.r_[first_half, [other[label] for label in first_half]],
            "warning",
        ),
        "leakage": ({"copy": np.where(y == "yes", 1.0, 0.0)}, None, "warning"),
        "missingness": (
            {"m": with_missing(b, (y == "yes") & (random.random(N) < 0.7))},
            None,
            "warning",
        ),
        "dependence": ({"total": a + b}, None, "note"),
        "target_dependence": ({}, 2 * a - b + 5, "warning"),
        "missing_target": ({}, np.where(np.arange(N) < 5, None, y), "warning"),
        "constant_target": ({}, ["yes"] * N, "warning"),
        "many_classes": ({}, [f"class {i % 100}" for i in range(N)], "warning"),
        "rare_classes": ({}, rare, "warning"),
        "imbalance": ({}, ["rare"] * 12 + ["common"] * (N - 12), "note"),
        "task": ({}, np.arange(N) % 7, "note"),
    } | {
        "identifier ": ({"number": np.arange(N)}, None, "warning"),
        "rare_classes ": ({}, single, "warning"),
        "missingness ": ({"m": with_missing(b, numbers > 1)}, numbers, "warning"),
        "constant_target ": ({}, np.full(N, 2.5), "warning"),
        "leakage ": ({"copy": np.exp(numbers)}, numbers, "warning"),
    }


@pytest.mark.parametrize("case", list(planted()))
def test_what_is_planted_is_found(case: str) -> None:
    columns, y, severity = planted()[case]
    result = checks(y=y, **columns)
    (finding,) = result.of(case.strip())
    assert finding.severity == severity
    assert finding.text.endswith((".", "?"))
    if set(columns) - set(honest_columns()):
        assert set(columns) <= set(finding.columns) or finding.check == "duplicate_rows"


def test_every_check_has_a_planted_case() -> None:
    seen = set().union(*(found(checks(y=y, **columns)) for columns, y, _ in planted().values()))
    assert seen == {case.strip() for case in planted()}


def test_a_strong_honest_column_is_no_leakage() -> None:
    iris = ceiba.datasets.load("iris")
    result = check_table(iris.table, iris.y)
    assert not result.of("leakage")
    strong = max(column.skill or 0 for column in result.columns)
    assert strong > 0.9
    numbers = honest_columns()["a"]
    noisy = numbers + 0.3 * np.random.default_rng(5).normal(size=N)
    assert not checks(y=noisy).of("leakage")


def test_leakage_is_worded_as_a_possibility_and_names_the_column() -> None:
    columns, _, _ = planted()["leakage"]
    (finding,) = checks(**columns).of("leakage")
    assert finding.columns == ("copy",)
    assert "may be" in finding.text


def test_few_rows_cannot_show_leakage() -> None:
    assert (
        check_table([[float(i)] for i in range(12)], ["a"] * 6 + ["b"] * 6).columns[0].skill is None
    )


def test_leakage_is_found_among_many_columns() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 400))
    y = random.integers(2, size=60)
    rows[:, 333] = y + random.uniform(0, 0.5, 60)
    assert [finding.columns for finding in check_table(rows, y).of("leakage")] == [("x333",)]


def test_columns_of_renamed_categories_are_duplicates() -> None:
    color = honest_columns()["color"]
    renamed = [{"red": "rot", "green": "grün", "blue": "blau"}[name] for name in color]
    assert checks(farbe=renamed).of("duplicate_columns")[0].columns == ("color", "farbe")
    renamed[7] = "rot" if renamed[7] != "rot" else "blau"
    assert not checks(farbe=renamed).of("duplicate_columns")


def test_whole_numbers_beyond_floats_are_compared_exactly() -> None:
    large = 2**60 + np.random.default_rng(0).permutation(N) * 3
    rows = np.stack([large, large + 1], axis=1)
    assert not check_table(rows, honest_target(honest_columns())).of("duplicate_columns")


def test_identifiers_do_not_hide_repeated_rows() -> None:
    columns, y, _ = planted()["duplicate_rows"]
    result = checks(y=y, name=[f"row {i}" for i in range(N)], **columns)
    assert result.of("duplicate_rows")[0].text.startswith("120 rows (50.0%)")


def test_random_missing_values_predict_nothing() -> None:
    mask = np.random.default_rng(9).random(N) < 0.4
    assert found(checks(m=with_missing(np.arange(N) % 9 / 2, mask))) == {"missing"}


def test_large_tables_are_sampled_and_the_text_states_it() -> None:
    random = np.random.default_rng(0)
    rows, y = random.normal(size=(1000, 3)), random.integers(2, size=1000)
    small = check_table(rows, y, max_rows=200)
    assert small.n_sampled == 200
    assert "sample of 200 rows" in str(small)
    assert check_table(rows, y, max_rows=200) == small
    assert check_table(rows, y, max_rows=200, seed=1).columns != small.columns
    assert "sample" not in str(check_table(rows, y))


def test_the_result_is_json() -> None:
    columns, y, _ = planted()["missing_target"]
    result = checks(y=y, **columns)
    entries = json.loads(result.to_json())
    assert entries["n_missing_target"] == 5
    assert entries["findings"][0]["check"] == "missing_target"
    assert len(entries["columns"]) == 3


def test_task_and_target_name_are_used() -> None:
    numbers = np.arange(N) % 7
    result = check_table(honest_columns()["a"][:, None], numbers, task="regression")
    assert result.task == "regression"
    assert not result.of("task")
    named = check_table(honest_columns()["a"][:, None], ["x"] * N, target_name="price")
    assert "'price'" in named.findings[0].text


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        ([True, False], "classification"),
        ([1, 2, None], "classification"),
        ([1.0, 2.0, np.nan], "classification"),
        ([1.5, 2.0], "regression"),
        (list(range(20)), "classification"),
        (list(range(21)), "regression"),
        (np.array([1.5, None], dtype=object), "regression"),
    ],
)
def test_task_is_inferred(y: Any, task: str) -> None:
    assert infer_task(y) == task


def test_bad_values_raise() -> None:
    rows = np.zeros((3, 1))
    with pytest.raises(ValueError, match="task must be"):
        check_table(rows, [0, 1, 0], task="clustering")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_rows must be an int >= 100, got 3"):
        check_table(rows, [0, 1, 0], max_rows=3)
    with pytest.raises(ValueError, match="3 rows in X, 2 in y"):
        check_table(rows, [0, 1])
    with pytest.raises(ValueError, match="at least one value, got 3 missing"):
        check_table(rows, [None, None, None])
    with pytest.raises(ValueError, match="y must be 1D"):
        check_table(rows, np.zeros((3, 2)))


@given(st.data())
@examples(60)
def test_relations_agree_with_the_rank(data: Any) -> None:
    n_base = data.draw(st.integers(1, 4))
    seed = data.draw(st.integers(0, 2**32 - 1))
    weights = st.lists(st.integers(-3, 3), min_size=n_base, max_size=n_base)
    combinations = np.array(data.draw(st.lists(weights, max_size=4))).reshape(-1, n_base)
    base = np.random.default_rng(seed).integers(-20, 20, size=(40, n_base)).astype(float)
    matrix = np.column_stack([base, base @ combinations.T])
    matrix = matrix[:, data.draw(st.permutations(range(matrix.shape[1])))]
    matrix = matrix * 10.0 ** data.draw(
        st.lists(st.integers(-30, 30), min_size=matrix.shape[1], max_size=matrix.shape[1]).map(
            np.array
        )
    ) + data.draw(st.sampled_from([0.0, 3.0]))
    centered = matrix - matrix.mean(axis=0)
    lengths = np.linalg.norm(centered, axis=0)
    # Of columns of 1e-30 beside a constant nothing but rounding is left.
    kept = lengths > 1e-3 * np.abs(matrix).max(axis=0)
    rank = np.linalg.matrix_rank(centered[:, kept] / lengths[kept], tol=1e-7) if kept.any() else 0
    relations = find_relations(matrix[:, kept])
    assert len(relations) == kept.sum() - rank
    for relation in relations:
        assert relation.holds(matrix[:, kept])
        # No column of a relation can be spared.
        others = matrix[:, kept][:, relation.columns[:-1]]
        assert find_relations(others) == []


def test_relations_are_spelled_out() -> None:
    random = np.random.default_rng(0)
    a, b, c = random.normal(size=(3, 50))
    names = ["a", "b", "c", "d"]

    def texts(*columns: Any) -> list[str]:
        return [found.text(names) for found in find_relations(np.column_stack(columns))]

    assert texts(a, b, a + b) == ["c = a + b"]
    assert texts(a + b, a, b) == ["a = b + c"]
    assert texts(1e9 * a, b, 1e9 * a + 1e9 * b) == ["c = a + 1000000000 × b"]
    assert texts(a, 2 * a + 3) == ["b = 2 × a + 3"]
    assert texts(1e6 * a, 1.5e6 * a + 2) == ["b = 1.5 × a + 2"]
    assert texts(a, -2.5 * a - 3) == ["b = −2.5 × a − 3"]
    assert texts(a, b, 1 - a - b) == ["a + b + c = 1"]
    assert texts(a, b, c, a + b - c) == ["d = a + b − c"]
    assert texts(a, b, c) == []
    assert texts(a, np.ones(50)) == []
    relation = find_target_relation(np.column_stack([a, b]), 2 * a - b + 5)
    assert relation is not None
    assert relation.text(["a", "b", "y"], for_last=True) == "y = 2 × a − b + 5"
    assert find_target_relation(np.column_stack([a, b]), c) is None


def test_dependence_holds_in_all_rows_or_is_not_reported() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(5000, 3))
    rows[:, 2] = rows[:, 0] + rows[:, 1]
    y = random.integers(2, size=5000)
    assert len(check_table(rows, y).of("dependence")) == 1
    rows[4321, 2] += 1
    assert not check_table(rows, y).of("dependence")


def test_dependence_is_checked_on_complete_rows() -> None:
    columns = honest_columns()
    total = with_missing(columns["a"] + columns["b"], np.arange(N) % 10 == 0)
    assert "total = a + b" in checks(total=total).of("dependence")[0].text
    sparse = with_missing(columns["a"] + columns["b"], np.arange(N) % 2 == 0)
    assert not checks(total=sparse).of("dependence")


def test_few_rows_are_not_checked_for_dependence() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 9))
    (finding,) = check_table(rows, [0, 1] * 6).of("dependence")
    assert "first 4 of 9 numeric columns" in finding.text
    rows = np.random.default_rng(0).normal(size=(60, 18))
    rows[np.arange(60), np.arange(60) % 18] = np.nan
    (finding,) = check_table(rows, [0, 1] * 30).of("dependence")
    assert "require 54 rows without missing values, got 0" in finding.text


def test_long_lists_are_shortened() -> None:
    rows = np.random.default_rng(0).normal(size=(90, 15))
    rows = np.column_stack([rows, rows * 2 + 1])
    many = check_table(rows, [0, 1] * 45).of("dependence")
    assert len(many) == 11
    assert many[-1].text.startswith("5 more linear relations")
    long = np.column_stack([rows[:, :15], rows[:, :15].sum(axis=1)])
    (finding,) = check_table(long, [0, 1] * 45).of("dependence")
    assert "'x15' is a combination of 'x0'" in finding.text
    twins = check_table(np.column_stack([rows[:, :12]] * 2), [0, 1] * 45).of("duplicate_columns")
    assert twins[-1].text.startswith("2 more groups")


def test_relation_that_is_a_copy() -> None:
    assert Relation((0, 1), (-1.0, 1.0), 0.0).is_copy
    assert not Relation((0, 1), (-1.0, 1.0), 2.0).is_copy
