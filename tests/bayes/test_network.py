"""Conversions of networks against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from ceiba.bayes.discriminative.table_model import TableModel
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import (
    ClassTable,
    Smoothing,
    as_network,
    match_margins,
    mean_values,
    normalize,
    probabilities,
)
from ceiba.bayes.statistics import CodedRows
from tests.bayes.parts import CATEGORIES, NAIVE, TREE, families_of, random_rows, table_of
from tests.oracles import bayes_naive as naive
from tests.oracles.bayes_network_naive import (
    feature_margins,
    fit_margins,
    log_normalizer_by_enumeration,
    to_network,
)

# A feature with two parents that are joined by an arc.
TRIANGLE: naive.Structure = {0: (), 1: (0,), 2: (0, 1)}
STRUCTURES = {"naive": NAIVE, "tree": TREE, "triangle": TRIANGLE}


def random_weights(structure: naive.Structure, k: int = 3) -> tuple[naive.Tables, ClassTable]:
    rng = np.random.default_rng(1)
    tables = naive.Tables(
        rng.normal(size=k),
        {
            j: rng.normal(size=(*(CATEGORIES[p] for p in parents), CATEGORIES[j], k))
            for j, parents in structure.items()
        },
    )
    return tables, table_of(families_of(structure, CATEGORIES), tables)


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_any_weights_are_a_network_with_the_same_posteriors(structure: naive.Structure) -> None:
    families = families_of(structure, CATEGORIES)
    tables, weights = random_weights(structure)
    network, log_partition = normalize(families, weights)
    assert log_partition == pytest.approx(
        log_normalizer_by_enumeration(tables, structure, CATEGORIES)
    )
    known_rows = families.is_known
    if structure is not TRIANGLE:
        expected = table_of(families, to_network(tables, structure))
        np.testing.assert_allclose(
            np.exp(network.table[known_rows]), expected.table[known_rows], atol=1e-12
        )
    sums = families.group_sums(np.where(families.is_known[:, None], np.exp(network.table), 0.0))
    groups = sums[families.is_known]
    np.testing.assert_allclose(groups, 1.0)
    means = mean_values(families, network, 7.0)
    theta = naive.Tables(np.exp(network.bias), {})
    for family, feature in enumerate(structure):
        known = tuple(slice(0, n - 1) for n in families.shapes[family])
        theta.features[feature] = np.exp(families.view(network.table, family)[known])
    wanted = naive.mean_values_by_enumeration(theta, structure, CATEGORIES, 7.0)
    np.testing.assert_allclose(means.table, table_of(families, wanted).table, atol=1e-12)


@pytest.mark.parametrize("structure", [NAIVE, TREE], ids=["naive", "tree"])
def test_margins_are_those_of_proportional_fitting(structure: naive.Structure) -> None:
    families = families_of(structure, CATEGORIES)
    tables, weights = random_weights(structure)
    theta = naive.fit_generative(random_rows(), structure)
    wanted = naive.mean_values(theta, structure, 200.0)
    network = match_margins(families, weights, table_of(families, wanted).table.sum(axis=1))
    expected = fit_margins(tables, structure, feature_margins(wanted), 200.0)
    found = mean_values(families, network, 200.0)
    np.testing.assert_allclose(found.table, table_of(families, expected).table, atol=1e-4)
    again = as_network(families, weights)
    X = naive.all_rows(list(structure), CATEGORIES)
    codes = X.astype(np.uint8)
    one, two = (_posteriors(families, model, codes) for model in (again, network))
    np.testing.assert_allclose(one, two, atol=1e-10)


def _posteriors(families: Families, weights: ClassTable, codes: np.ndarray) -> np.ndarray:
    rows = CodedRows(codes, None, None, len(weights.bias))
    return np.asarray(softmax(TableModel(families).log_scores(rows, weights, 1), axis=1))


def test_smoothing_is_laplace_or_the_m_estimate() -> None:
    families = Families(Structure((0,), ((),)), (4,))
    counts = ClassTable(
        np.array([[3.0, 0.0], [1.0, 2.0], [0.0, 2.0], [9.0, 9.0]]), np.array([4.0, 4])
    )
    laplace = probabilities(families, counts, Smoothing(1.0))
    np.testing.assert_allclose(np.exp(laplace.table[:3, 0]), [4 / 7, 2 / 7, 1 / 7])
    np.testing.assert_allclose(np.exp(laplace.bias), [0.5, 0.5])
    m_estimate = probabilities(families, counts, Smoothing(1.0, m_prior=2.0))
    overall = np.array([3, 3, 2]) / 8
    np.testing.assert_allclose(
        np.exp(m_estimate.table[:3, 1]), (np.array([0, 2, 2]) + 2 * overall) / 6
    )
    assert (laplace.table[3] == 0).all()


def test_a_family_without_a_host_is_refused() -> None:
    structure = Structure.of_arcs((0, 1, 2), [(0, 2), (1, 2)])
    with pytest.raises(ValueError, match="has a parent that is a child of its other parents"):
        structure.containing_family(2)
    with pytest.raises(ValueError, match="must not have a cycle"):
        Structure.of_arcs((0, 1), [(0, 1), (1, 0)])
