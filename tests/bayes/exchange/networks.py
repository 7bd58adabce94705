"""Networks for the tests of the exchange: a textbook network, random ones, and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from ceiba.bayes import DiscreteNetwork

YES_NO = ("yes", "no")


def asia():
    """Return the chest clinic of Lauritzen and Spiegelhalter (1988), with the numbers of table 1.

    S. L. Lauritzen and D. J. Spiegelhalter (1988), Local computations with probabilities on
    graphical structures and their application to expert systems, Journal of the Royal Statistical
    Society B 50, 157-224.
    """
    return DiscreteNetwork(
        ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"),
        [YES_NO] * 8,
        [[], [0], [], [2], [2], [3, 1], [5], [4, 5]],
        [
            [0.01, 0.99],
            [[0.05, 0.95], [0.01, 0.99]],
            [0.5, 0.5],
            [[0.1, 0.9], [0.01, 0.99]],
            [[0.6, 0.4], [0.3, 0.7]],
            [[[1, 0], [1, 0]], [[1, 0], [0, 1]]],
            [[0.98, 0.02], [0.05, 0.95]],
            [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
        ],
        "asia",
    )


def random_network(n_variables, seed, max_parents=3, max_states=4, zeros=False):
    """Return a network whose variables are in random order, with arcs in another one."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_variables)
    sizes = rng.integers(1 if zeros else 2, max_states + 1, n_variables)
    parents = [[] for _ in range(n_variables)]
    tables = []
    for position, child in enumerate(order):
        number = rng.integers(0, min(position, max_parents) + 1)
        # Near in the order, so that the treewidth stays small.
        near = order[max(position - 5, 0) : position]
        chosen = rng.choice(near, min(number, len(near)), replace=False) if number else []
        parents[child] = [int(index) for index in chosen]
    for child in range(n_variables):
        shape = [*(sizes[parent] for parent in parents[child])]
        table = rng.dirichlet(np.ones(sizes[child]), shape or None)
        if zeros:
            table = np.where(rng.random(table.shape) < 0.3, 0, table)
            table[..., 0] += table.sum(axis=-1) == 0
            table /= table.sum(axis=-1, keepdims=True)
        tables.append(table)
    return DiscreteNetwork(
        [f"v{index}" for index in range(n_variables)],
        [[f"s{code}" for code in range(size)] for size in sizes],
        parents,
        tables,
        f"random_{seed}",
    )


def enumerate_posterior(network, names, evidence):
    """Compute a posterior as the sum of the joint distribution over all its cells."""
    targets = [network.variables.index(name) for name in names]
    observed = {
        network.variables.index(name): network.states[network.variables.index(name)].index(label)
        for name, label in evidence.items()
    }
    sizes = [len(labels) for labels in network.states]
    total = np.zeros([sizes[target] for target in targets])
    for cell in itertools.product(*map(range, sizes)):
        if all(cell[index] == code for index, code in observed.items()):
            p = 1.0
            for index, (table, parents) in enumerate(
                zip(network.tables, network.parents, strict=True)
            ):
                p *= table[tuple(cell[v] for v in (*parents, index))]
            total[tuple(cell[target] for target in targets)] += p
    return total / total.sum()


#: Names that every format can hold.
NAMES = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters='"'), min_size=1, max_size=6
) | st.sampled_from(
    ["table", "default", "a b", "x|y", "a,b", "p;q", "{z}", "//c", "/*d*/", "=", "5"]
)


@st.composite
def networks(draw):
    """Draw a network with any names, sizes, arcs and probabilities, zeros among them."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    states = [draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)) for _ in names]
    order = draw(st.permutations(range(len(names))))
    parents = [[] for _ in names]
    tables = []
    for position, child in enumerate(order):
        if position:
            parents[child] = draw(
                st.lists(st.sampled_from(order[:position]), max_size=3, unique=True)
            )
    weights = st.floats(0, 1, allow_subnormal=False) | st.sampled_from([0.0, 1.0, 1e-300, 0.1])
    for child, group in enumerate(parents):
        shape = [*(len(states[parent]) for parent in group), len(states[child])]
        n_cells = int(np.prod(shape))
        table = np.array(draw(st.lists(weights, min_size=n_cells, max_size=n_cells)))
        table = table.reshape(shape)
        table[..., 0] += table.sum(axis=-1) == 0
        tables.append(table / table.sum(axis=-1, keepdims=True))
    return DiscreteNetwork(names, states, parents, tables, draw(NAMES | st.just("")))
