"""Posteriors: against enumeration, published and golden numbers, and on large networks."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.bayes import DiscreteNetwork
from tests.bayes.exchange.networks import asia, enumerate_posterior, networks, random_network
from tests.budget import examples
from tests.paths import GOLDEN_FILES

GOLDEN_POSTERIORS = json.loads((GOLDEN_FILES / "networks/posteriors.json").read_text())[
    "posteriors"
]


def test_published_margins():
    """Lauritzen and Spiegelhalter (1988), section 5, and elementary arithmetic."""
    network = asia()
    assert network.posterior("tub")[0] == pytest.approx(0.01 * 0.05 + 0.99 * 0.01, rel=1e-14)
    assert network.posterior("lung")[0] == pytest.approx(0.055, rel=1e-14)
    assert network.posterior("dysp")[0] == pytest.approx(0.435971, abs=1e-6)
    evidence = {"asia": "yes", "dysp": "yes", "xray": "no"}
    found = [network.posterior(name, evidence)[0] for name in ("tub", "lung", "bronc")]
    expected = [enumerate_posterior(network, [n], evidence)[0] for n in ("tub", "lung", "bronc")]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", GOLDEN_POSTERIORS)
def test_equal_to_pgmpy_and_pyagrum(name):
    network = {"asia": asia, "random_3": lambda: random_network(50, 3)}[name]()
    for row in GOLDEN_POSTERIORS[name]:
        found = network.posterior(row["variable"], row["evidence"])
        np.testing.assert_allclose(found, row["pgmpy"], rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(found, row["pyagrum"], rtol=1e-10, atol=1e-14)


@examples(60)
@given(networks(), st.data())
def test_equal_to_enumeration(network, data):
    names = data.draw(st.permutations(network.variables))
    n_targets = data.draw(st.integers(1, min(2, len(names))))
    n_observed = data.draw(st.integers(0, len(names) - n_targets))
    states = dict(zip(network.variables, network.states, strict=True))
    observed = names[n_targets : n_targets + n_observed]
    evidence = {name: data.draw(st.sampled_from(states[name])) for name in observed}
    with np.errstate(invalid="ignore"):
        expected = enumerate_posterior(network, names[:n_targets], evidence)
    if not np.isfinite(expected).all():
        return  # impossible, or too improbable for the products of the enumeration
    found = network.posterior(names[:n_targets], evidence)
    # Enumeration loses the digits of probabilities near the smallest float.
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_one_name_or_several():
    network = asia()
    joint = network.posterior(["tub", "lung"], {"xray": "yes"})
    assert joint.shape == (2, 2)
    np.testing.assert_allclose(joint, network.posterior(["lung", "tub"], {"xray": "yes"}).T)
    np.testing.assert_allclose(joint.sum(axis=1), network.posterior("tub", {"xray": "yes"}))


def test_a_chain_of_a_thousand_variables():
    """A symmetric chain: P(last = first) = (1 + (1 - 2 p)^n) / 2."""
    n, p = 1000, 0.001
    step = [[1 - p, p], [p, 1 - p]]
    network = DiscreteNetwork(
        [f"v{i}" for i in range(n + 1)],
        [["a", "b"]] * (n + 1),
        [[], *([i] for i in range(n))],
        [[0.5, 0.5], *([step] * n)],
    )
    expected = (1 + (1 - 2 * p) ** n) / 2
    assert network.posterior(f"v{n}", {"v0": "a"})[0] == pytest.approx(expected, rel=1e-10)
    assert network.posterior("v0", {f"v{n}": "b"})[1] == pytest.approx(expected, rel=1e-10)


def test_thousands_of_observed_children_do_not_underflow():
    n = 3000
    network = DiscreteNetwork(
        ["class", *(f"x{i}" for i in range(n))],
        [["a", "b"]] * (n + 1),
        [[], *([[0]] * n)],
        [[0.5, 0.5], *([[[1e-3, 1 - 1e-3], [1.001e-3, 1 - 1.001e-3]]] * n)],
    )
    found = network.posterior("class", {f"x{i}": "a" for i in range(n)})
    np.testing.assert_allclose(found, 1 / (1 + 1.001 ** (np.array([1, -1]) * n)), rtol=1e-9)


def test_a_grid_of_moderate_treewidth():
    """A grid of 8 x 8 variables, against sums row by row over the 256 states of a row."""
    side, rng = 8, np.random.default_rng(0)
    parents, tables = [], []
    for row, column in np.ndindex(side, side):
        above = [(row - 1) * side + column] if row else []
        left = [row * side + column - 1] if column else []
        parents.append(above + left)
        tables.append(rng.dirichlet(np.ones(2), (2,) * len(parents[-1]) or None))
    network = DiscreteNetwork(
        [f"v{i}" for i in range(side * side)], [["a", "b"]] * side * side, parents, tables
    )
    found = network.posterior(f"v{side * side - 1}", {"v3": "b"})
    weights = np.zeros((2,) * side)  # of the row above, with the evidence in it
    for codes in np.ndindex(weights.shape):
        full = np.zeros((1, side * side), dtype=int)
        full[0, :side] = codes
        first = [tables[i][tuple(full[0, v] for v in (*parents[i], i))] for i in range(side)]
        weights[codes] = math.prod(first) * (codes[3] == 1)
    for row in range(1, side):
        after = np.zeros_like(weights)
        for codes in np.ndindex(weights.shape):
            factor = weights
            for column in range(side):
                table = tables[row * side + column]
                # Axis of the variable above, then sum over it.
                factor = np.tensordot(
                    table[:, codes[column - 1], codes[column]]
                    if column
                    else table[:, codes[column]],
                    factor,
                    1,
                )
            after[codes] = factor
        weights = after
    margin = weights.reshape(-1, 2).sum(axis=0)
    np.testing.assert_allclose(found, margin / margin.sum(), rtol=1e-10)


def test_dense_networks_raise_before_they_allocate():
    """Sixty independent causes and 300 observed effects of two of them each."""
    rng = np.random.default_rng(0)
    pairs = [sorted(rng.choice(60, 2, replace=False) + 1) for _ in range(300)]
    dense = DiscreteNetwork(
        [f"x{i}" for i in range(361)],
        [["a", "b"]] * 361,
        [[], *([[]] * 60), *pairs],
        [[0.5, 0.5]] * 61 + [np.full((2, 2, 2), 0.5)] * 300,
    )
    with pytest.raises(ValueError, match=r"requires a table of .* cells, more than 134,217,728"):
        dense.posterior("x1", {f"x{i}": "a" for i in range(61, 361)})


@pytest.mark.parametrize(
    ("variable", "evidence", "message"),
    [
        ("age", {}, "the network has no variable 'age': its variables are 'asia', "),
        ("tub", {"age": "yes"}, "the network has no variable 'age'"),
        ("tub", {"xray": "maybe"}, r"'maybe' is not a state of 'xray' \('yes', 'no'\)"),
        ("tub", {"tub": "yes"}, "'tub' is both the variable and part of the evidence"),
        (["tub", "tub"], {}, r"several different ones, got \['tub', 'tub'\]"),
        ([], {}, r"variable must be one name or several different ones, got \[\]"),
        ("asia", {"tub": "yes", "either": "no"}, "probability 0: tub='yes', either='no'"),
    ],
)
def test_invalid_questions(variable, evidence, message):
    with pytest.raises(ValueError, match=message):
        asia().posterior(variable, evidence)
