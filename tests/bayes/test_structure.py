"""Learned and given structures against the naive versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from ceiba import TANClassifier
from ceiba.base import ParameterError
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.statistics import CodedRows, PairBlock, PairCounts
from ceiba.bayes.structure.chow_liu import maximum_spanning_tree
from ceiba.bayes.structure.dependence import Dependence, pair_blocks, pair_dependence
from ceiba.bayes.structure.learn import class_information, k_dependence
from ceiba.engine import Batch
from tests.oracles import bayes_dependence_naive as naive
from tests.oracles.bayes_missing_naive import tan_structure_missing
from tests.oracles.bayes_naive import Rows, make_rows
from tests.oracles.bayes_reference import TAN_ARCS
from tests.oracles.bayes_tables import reference_rows

COLUMNS = ["a", "b", "c", "d", "e"]


def random_table(seed: int, n: int = 120, missing: float = 0.0) -> tuple[Any, Any, Rows]:
    """Words in five dependent columns, their classes, and the same rows for the oracle."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    x = np.empty((n, 5), int)
    x[:, 0] = (y + rng.integers(3, size=n)) % 3
    for j in range(1, 5):
        x[:, j] = (x[:, rng.integers(j)] + (rng.random(n) < 0.4) * rng.integers(3, size=n)) % 3
    x[:3] = np.arange(3)[:, None]
    gone = rng.random(x.shape) < missing
    gone[:3] = False
    words = np.where(gone, None, np.array(["p", "q", "r"], object)[x])
    rows = make_rows(np.where(gone, 3, x), y, None, [3] * 5, 3)
    return pd.DataFrame(words, columns=COLUMNS), y, rows


def names_of(arcs: set[tuple[int, int]]) -> set[tuple[str, str]]:
    return {(COLUMNS[a], COLUMNS[b]) for a, b in arcs}


def arcs_of(structure: dict[int, tuple[int, ...]]) -> set[tuple[int, int]]:
    return {(parent, child) for child, parents in structure.items() for parent in parents}


def coded(rows: Rows) -> Batch[CodedRows]:
    labels = rows.Y.argmax(axis=1).astype(np.int32)
    return Batch(CodedRows(rows.X.astype(np.uint8), labels, rows.w, rows.n_classes))


class OneBatch:
    """An engine of one batch that counts its reductions."""

    n_reductions = 0

    def reduce(self, rows: Any, summarize: Any, *model: Any) -> Any:
        self.n_reductions += 1
        return summarize(rows, *model)


@pytest.mark.parametrize("seed", range(6))
def test_trees_and_kdb_equal_the_naive_structures(seed: int) -> None:
    X, y, rows = random_table(seed)
    tree = TANClassifier().fit(X, y)
    assert set(tree.arcs_) == names_of(arcs_of(naive.tan_structure(rows)))
    matrix = naive.dependence_matrix(rows, list(range(5)))
    own = {arc: matrix[COLUMNS.index(arc[0]), COLUMNS.index(arc[1])] for arc in tree.arcs_}
    np.testing.assert_allclose(tree.arc_information_, [own[arc] for arc in tree.arcs_], atol=1e-12)
    for k in (1, 2, 3):
        found = TANClassifier(structure="kdb", max_parents=k).fit(X, y)
        assert set(found.arcs_) == names_of(arcs_of(naive.kdb_structure(rows, k)))


@pytest.mark.parametrize("name", sorted(TAN_ARCS))
def test_trees_of_the_reference_tables(name: str) -> None:
    rows = reference_rows(name)
    words = rows.X.astype(str).astype(object)
    model = TANClassifier().fit(words, rows.Y.argmax(axis=1))
    assert {(int(a[1:]), int(b[1:])) for a, b in model.arcs_} == set(TAN_ARCS[name])


def test_trees_of_missing_values_count_complete_pairs() -> None:
    for seed in range(4):
        X, y, rows = random_table(seed, missing=0.25)
        expected = names_of(arcs_of(tan_structure_missing(rows)))
        assert set(TANClassifier().fit(X, y).arcs_) == expected


def test_dependence_and_tests_equal_the_naive_ones() -> None:
    _, _, rows = random_table(0, missing=0.1)
    sizes = (4,) * 5
    found = Dependence.of(
        OneBatch(),
        coded(rows),
        sizes,
        3,
        names=COLUMNS,
        significance=0.05,  # type: ignore[arg-type]
    )
    for i in range(5):
        for j in range(i):
            complete = (rows.X[:, [i, j]] < 3).all(axis=1)
            part = Rows(rows.X[complete], rows.Y[complete], rows.w[complete], rows.categories)
            information = naive.conditional_mutual_information(part, i, j)
            assert found.information[i, j] == pytest.approx(information, abs=1e-11)
            degrees = sum(
                (len(set(own[:, i])) - 1) * (len(set(own[:, j])) - 1)
                for own in (part.X[part.Y[:, c] > 0] for c in range(3))
            )
            p_value = chi2.sf(2 * part.total * information, degrees)
            assert found.is_significant is not None
            assert found.is_significant[i, j] == (p_value < 0.05 / 10)


def test_blocks_of_columns_change_nothing_but_the_passes() -> None:
    _, _, rows = random_table(1)
    whole, parts = OneBatch(), OneBatch()
    one = Dependence.of(whole, coded(rows), (4,) * 5, 3, names=COLUMNS)  # type: ignore[arg-type]
    many = Dependence.of(
        parts,
        coded(rows),
        (4,) * 5,
        3,
        names=COLUMNS,
        max_counts=200,  # type: ignore[arg-type]
    )
    np.testing.assert_array_equal(one.information, many.information)
    assert whole.n_reductions == 1
    assert parts.n_reductions == 5  # groups of 2, 2 and 1 columns


def test_blocks_cover_every_pair_once_within_the_budget() -> None:
    sizes = np.random.default_rng(0).integers(2, 30, size=60).astype(np.int32)
    for budget in (2_000, 20_000, 10**7):
        blocks = list(pair_blocks(sizes, 2, budget, [""] * 60))
        pairs = [pair for block in blocks for pair in block.pairs()]
        assert sorted(pairs) == [(i, j) for i in range(60) for j in range(i + 1, 60)]
        for block in blocks:
            entries = sum(int(sizes[i]) * int(sizes[j]) for i, j in block.pairs())
            assert block.n_entries(sizes) == entries
            assert entries * 2 <= max(budget, 2 * 30 * 30)


def test_a_pair_of_columns_too_large_to_count_is_named() -> None:
    sizes = np.array([3, 40_000, 50_000], np.int32)
    with pytest.raises(ValueError, match="of 'c' and 'b': merge rare categories"):
        list(pair_blocks(sizes, 2, 2**24, ["a", "b", "c"]))


def test_forests_have_significant_arcs_only() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=400)
    X = rng.integers(3, size=(400, 4)).astype(str).astype(object)
    X[:, 2] = np.where(rng.random(400) < 0.8, X[:, 1], X[:, 2])
    model = TANClassifier(structure="forest").fit(X, y)
    assert model.arcs_ == [("x1", "x2")]
    assert TANClassifier(structure="forest", root=2).fit(X, y).arcs_ == [("x2", "x1")]
    assert len(TANClassifier(structure="forest", significance=0.999999).fit(X, y).arcs_) <= 3
    assert len(TANClassifier().fit(X, y).arcs_) == 3


def test_spanning_trees_break_ties_by_index() -> None:
    same = np.ones((4, 4))
    assert maximum_spanning_tree(same, [0, 1, 2, 3]).arcs == [(0, 1), (0, 2), (0, 3)]
    assert maximum_spanning_tree(same, [0, 1, 2, 3], root=2).arcs == [(2, 0), (2, 1), (2, 3)]
    none = np.zeros((4, 4), bool)
    assert maximum_spanning_tree(same, [0, 1, 2, 3], allowed=none).arcs == []


def test_ties_of_kdb_go_to_the_lower_index() -> None:
    structure = k_dependence(np.ones(4), np.ones((4, 4)), 2)
    assert structure.features == (0, 1, 2, 3)
    assert structure.parents == ((), (0,), (0, 1), (0, 1))


def test_class_information_equals_the_naive_one() -> None:
    _, _, rows = random_table(2)
    families = Families(Structure.naive(5), (4,) * 5)
    table = np.zeros((families.n_table_rows, 3))
    for entries in families.table_rows(rows.X):
        np.add.at(table, entries, rows.Y)
    expected = [naive.mutual_information(rows, j) for j in range(5)]
    np.testing.assert_allclose(class_information(families, table), expected, atol=1e-11)


def test_information_of_pair_counts() -> None:
    _, _, rows = random_table(4)
    sizes = np.full(5, 4, np.int32)
    counts = PairCounts.of(coded(rows), sizes)
    pairs, information, *_ = pair_dependence(counts, sizes, 3, PairBlock.of_all(5))
    expected = naive.dependence_matrix(rows, list(range(5)))[pairs]
    np.testing.assert_allclose(information, expected, atol=1e-11)


def test_the_root_changes_directions_only() -> None:
    X, y, _ = random_table(3)
    first, other = TANClassifier().fit(X, y), TANClassifier(root="d").fit(X, y)
    assert {frozenset(arc) for arc in first.arcs_} == {frozenset(arc) for arc in other.arcs_}
    assert all(child != "d" for _, child in other.arcs_)
    assert TANClassifier(root=3).fit(X, y).arcs_ == other.arcs_


# Given arcs


def test_given_arcs_by_name_and_index() -> None:
    X, y, _ = random_table(0)
    by_name = TANClassifier(structure=[("a", "b"), ("b", "c")]).fit(X, y)
    assert by_name.arcs_ == [("a", "b"), ("b", "c")]
    by_index = TANClassifier(structure=np.array([[0, 1], [1, 2]])).fit(X, y)
    np.testing.assert_array_equal(by_name.predict_proba(X), by_index.predict_proba(X))
    assert TANClassifier(structure=[]).fit(X, y).arcs_ == []


def test_arcs_of_constant_columns_are_left_out() -> None:
    X, y, _ = random_table(0)
    model = TANClassifier(structure=[("a", "k"), ("k", "b"), ("a", "b")]).fit(X.assign(k="one"), y)
    assert model.arcs_ == [("a", "b")]
    assert model.dropped_columns_ == ["k"]


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], "must not have a cycle, got"),
        ([("a", "a")], "must not have a cycle, got 'a' -> 'a'"),
        ([("a", "z")], r"must name columns of X \(a, b, c, d, e\), got 'z'"),
        ([(0, 5)], "be indices below 5, got 5"),
        ([(0, 1.5)], "got 1.5"),
        ([("a", "b"), (0, 1)], "every arc once, got 'a' -> 'b' twice"),
        ([("a", "b", "c")], r"pairs \(parent, child\)"),
        ([(0, 1.0)], "got 1.0"),
        ([1, 2], r"pairs \(parent, child\) of columns as arcs, got 1"),
        (["ab"], r"pairs \(parent, child\)"),
    ],
)
def test_invalid_arcs_raise(arcs: Any, message: str) -> None:
    X, y, _ = random_table(0)
    with pytest.raises(ParameterError, match=message):
        TANClassifier(structure=arcs).fit(X, y)


def test_the_graph_condition_names_the_columns() -> None:
    X, y, _ = random_table(0)
    with pytest.raises(ParameterError, match=r"column 'c' .* parents \['a', 'b'\]"):
        TANClassifier(structure=[("a", "c"), ("b", "c")], training="tm").fit(X, y)
    fitted = TANClassifier(structure=[("a", "b"), ("a", "c"), ("b", "c")], training="tm").fit(X, y)
    assert np.isfinite(fitted.predict_log_proba(X)).all()
    TANClassifier(structure=[("a", "c"), ("b", "c")]).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"structure": "kdb", "root": 0},
        {"significance": 0.1},
        {"max_parents": 1},
        {"min_frequency": 30},
        {"structure": [], "root": 1},
        {"structure": "aode", "em_tol": 0.1},
        {"missing": "category", "em_max_iter": 3},
    ],
)
def test_options_without_effect_raise(options: dict[str, Any]) -> None:
    X, y, _ = random_table(0)
    with pytest.raises(ParameterError, match="has no effect with"):
        TANClassifier(**options).fit(X, y)


def test_a_root_must_be_in_the_model() -> None:
    X, y, _ = random_table(0)
    with pytest.raises(ValueError, match="root must be a column with two or more categories"):
        TANClassifier(root="k").fit(X.assign(k="one"), y)
    with pytest.raises(ParameterError, match="root must name columns of X"):
        TANClassifier(root="z").fit(X, y)
