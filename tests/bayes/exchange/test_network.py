"""Discrete networks: validation, tables as frames, joint probabilities, representation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ceiba.bayes import DiscreteNetwork
from tests.bayes.exchange.networks import asia, random_network


def make(**changes):
    """Return a valid network of two variables, with some arguments replaced."""
    arguments = {
        "variables": ["a", "b"],
        "states": [["x", "y"], ["u", "v", "w"]],
        "parents": [[], [0]],
        "tables": [[0.5, 0.5], [[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]],
    }
    return DiscreteNetwork(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variables": ["a", "a"]}, "variables must be different, got 'a' twice"),
        ({"variables": ["a", ""]}, "variables must be texts that are not empty, got ''"),
        ({"variables": ["a", 1]}, "variables must be texts that are not empty, got 1"),
        ({"variables": []}, "variables must name at least one variable"),
        ({"states": [["x", "y"]]}, "states must have an entry for each of the 2 variables, got 1"),
        ({"states": [["x", "x"], "uvw"]}, "states must be a sequence of labels for each variable"),
        ({"states": [["x", "x"], ["u"]]}, "states of 'a' must be different, got 'x' twice"),
        ({"states": [[], ["u"]]}, "states of 'a' must name at least one state"),
        ({"parents": [[], [2]]}, r"parents of 'b' must be indices in \[0, 1\], got 2"),
        ({"parents": [[], [0, 0]]}, r"parents of 'b' must be different, got \[0, 0\]"),
        ({"parents": [[1], [0]]}, "the arcs must not form a cycle, got a -> b -> a"),
        ({"parents": [[], [1]]}, "the arcs must not form a cycle, got b -> b"),
        ({"tables": [[0.5, 0.5], [0.2, 0.3, 0.5]]}, r"'b' must have shape \(2, 3\), got \(3,\)"),
        (
            {"tables": [[0.5, 0.5], [[0.2, 0.3, 0.5], [0.1, 0.9, 0.1]]]},
            "the probabilities of 'b' given a='y' must sum to 1, got 1.1",
        ),
        (
            {"tables": [[0.5, 0.5], [[0.2, 0.3, 0.5], [0.1, -0.9, 1.8]]]},
            "the probabilities of 'b' given a='y' must be finite and not negative, got -0.9",
        ),
        (
            {"tables": [[np.nan, 1], [[1, 0, 0]] * 2]},
            "'a' must be finite and not negative, got nan",
        ),
        ({"name": None}, "name must be a str, got None"),
    ],
)
def test_invalid_networks(changes, message):
    with pytest.raises(ValueError, match=message):
        make(**changes)


def test_too_many_parents():
    n = 33
    with pytest.raises(ValueError, match="'v32' must have up to 31 parents, got 32"):
        DiscreteNetwork(
            [f"v{i}" for i in range(n)],
            [["only"]] * n,
            [*([[]] * (n - 1)), range(n - 1)],
            [np.ones(1)] * n,
        )


def test_rounded_decimals_are_normalized():
    network = make(tables=[[0.5, 0.5], [[0.333, 0.333, 0.333], [0.1, 0.8, 0.1]]])
    np.testing.assert_allclose(network.tables[1][0], [1 / 3] * 3, rtol=1e-15)
    assert network.tables[1][1].tolist() == [0.1, 0.8, 0.1]
    again = make(tables=network.tables)
    assert again == network


def test_the_network_owns_its_tables():
    table = np.array([0.5, 0.5])
    network = make(tables=[table, [[1, 0, 0]] * 2])
    table[:] = 0
    assert network.tables[0].tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        network.tables[0][0] = 1


def test_labels_that_are_numbers():
    network = make(states=[[0, 1], [10, 20, 30]])
    assert network.states == (("0", "1"), ("10", "20", "30"))
    expected = network.posterior("a", {"b": "20"})
    np.testing.assert_array_equal(network.posterior("a", {"b": np.int64(20)}), expected)


def test_equality_and_hash():
    network = make()
    assert network == make()
    assert hash(network) == hash(make())
    for changes in (
        {"name": "other"},
        {"states": [["x", "z"], ["u", "v", "w"]]},
        {"tables": [[0.4, 0.6], network.tables[1]]},
    ):
        assert network != make(**changes)
    assert network != "network"


def test_arcs():
    assert asia().arcs == (
        ("asia", "tub"),
        ("smoke", "lung"),
        ("smoke", "bronc"),
        ("lung", "either"),
        ("tub", "either"),
        ("either", "xray"),
        ("bronc", "dysp"),
        ("either", "dysp"),
    )


def test_representation():
    assert repr(asia()).splitlines()[:2] == [
        "DiscreteNetwork 'asia' of 8 variables and 8 arcs",
        "  asia    2 states (yes, no)",
    ]
    assert "  dysp    2 states (yes, no)  given bronc, either" in repr(asia())
    single = DiscreteNetwork(["a"], [list("pqrstuv")], [[]], [np.full(7, 1 / 7)])
    expected = "DiscreteNetwork of 1 variable and 0 arcs\n  a  7 states (p, q, r, s, t, ...)"
    assert repr(single) == expected
    large = repr(random_network(50, 0)).splitlines()
    assert len(large) == 22
    assert large[-1] == "  ... and 30 more"


def test_to_frame():
    pd = pytest.importorskip("pandas")
    network = asia()
    frame = network.to_frame("dysp")
    assert frame.index.names == ["bronc", "either"]
    assert frame.columns.tolist() == ["yes", "no"]
    assert frame.columns.name == "dysp"
    assert frame.loc[("yes", "no"), "yes"] == 0.8
    frame = network.to_frame("xray")
    assert frame.index.name == "either"
    assert not isinstance(frame.index, pd.MultiIndex)
    assert frame.loc["no"].tolist() == [0.05, 0.95]
    assert network.to_frame("smoke").to_numpy().tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="the network has no variable 'age'"):
        network.to_frame("age")


def test_log_joint_sums_to_one():
    network = random_network(6, 4, zeros=True)
    cells = list(itertools.product(*(range(len(labels)) for labels in network.states)))
    log_joint = network.log_joint(np.array(cells, dtype=np.uint8))
    assert np.isneginf(log_joint).any()
    np.testing.assert_allclose(np.exp(log_joint).sum(), 1, rtol=1e-12)


def test_log_joint_of_one_row():
    # No visit to Asia, a smoker with bronchitis and dyspnoea, and nothing else.
    codes = [[1, 1, 0, 1, 0, 1, 1, 0]]
    expected = np.log([0.99, 0.99, 0.5, 0.9, 0.6, 1, 0.95, 0.8]).sum()
    np.testing.assert_allclose(asia().log_joint(codes), [expected], rtol=1e-14)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0] * 8, r"codes must be an array of ints of shape \(n_rows, 8\), got int64"),
        ([[0] * 7], r"got int64 and shape \(1, 7\)"),
        ([[0.0] * 8], "got float64"),
        (
            [[0] * 8, [0, 0, 2, 0, 0, 0, 0, 0]],
            r"codes of 'smoke' must be in \[0, 1\], got 2 in row 1",
        ),
        ([[0, -1, 0, 0, 0, 0, 0, 0]], r"codes of 'tub' must be in \[0, 1\], got -1 in row 0"),
    ],
)
def test_invalid_codes(codes, message):
    with pytest.raises(ValueError, match=message):
        asia().log_joint(codes)
