"""Naive versions of the keyed draws of a forest: the same key always gives the same draw.

Nothing of Ceiba is used here. A draw is a block of four 32-bit words made of three numbers: a
seed, a *stream* (the purpose of the draw) and the number of the draw.
"""

from __future__ import annotations

from fractions import Fraction

WORD, LONG = 2**32, 2**64

# Streams, named by ASCII letters.
TREE = 0x666F72657374  # "forest": seeds of trees
BOOT = 0x626F6F74  # rows with replacement
SUBSET = 0x737562  # rows without
NODE_COLUMNS = 0x636F6C756D6E73
TREE_COLUMNS = 0x7472656566656174
PATH = 0x70617468
THRESHOLDS = 0x63757473
PERMUTE = 0x7065726D

ROOT = 1  # the path of every root


def philox(seed, stream, number):
    """Compute Philox 4x32 with ten rounds (Salmon, Moraes, Dror & Shaw 2011, SC'11)."""
    c = [number % WORD, number >> 32, stream % WORD, stream >> 32]
    k0, k1 = seed % WORD, seed >> 32
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c[0], WORD)
        high1, low1 = divmod(0xCD9E8D57 * c[2], WORD)
        c = [high1 ^ c[1] ^ k0, low1, high0 ^ c[3] ^ k1, low0]
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return c


def even_half(words):
    return words[0] * WORD + words[1]


def odd_half(words):
    return words[2] * WORD + words[3]


def keyed(seed, stream, number):
    return even_half(philox(seed, stream, number))


def uniform(seed, stream, number):
    """Return a number between 0 and 1: the center of one of 2^52 cells."""
    return (keyed(seed, stream, number) // 2**12 + 0.5) * 2.0**-52


# Seeds and paths


def tree_seed(forest_seed, t):
    """Return the seed of tree number t of a forest."""
    return keyed(forest_seed, TREE, t)


def branch_path(path, branch):
    """Return the key of a node's branch from that of the node."""
    return keyed(path, PATH, branch)


# Rows


def drawn_row(seed, d, weights):
    """Return the row of draw d, whose half of a block is a point of the cumulative weights."""
    words = philox(seed, BOOT, d // 2)
    u = odd_half(words) if d % 2 else even_half(words)
    point, end = Fraction(u, LONG) * sum(weights), 0
    for row, weight in enumerate(weights):
        end += weight
        if point < end:
            return row
    raise ValueError("weights must have a positive sum.")


def bootstrap(seed, weights, draws):
    """Return how often each row is drawn, with replacement."""
    counts = [0] * len(weights)
    for d in range(draws):
        counts[drawn_row(seed, d, weights)] += 1
    return counts


def subset(seed, n, draws):
    """Return rows drawn without replacement, ascending: those with the smallest keys."""
    keys = sorted((keyed(seed, SUBSET, row), row) for row in range(n))
    return sorted(row for _, row in keys[:draws])


# Columns


def shuffled(items, seed, stream):
    """Shuffle items: each position takes one of the remaining items, by its own word."""
    order = list(items)
    for i in range(len(order)):
        word = philox(seed, stream, i // 4)[i % 4]
        j = i + word * (len(order) - i) // WORD
        order[i], order[j] = order[j], order[i]
    return order


def columns_of_tree(seed, n_columns, wanted):
    """Return the columns that a tree uses, ascending."""
    return sorted(shuffled(range(n_columns), seed, TREE_COLUMNS)[:wanted])


def columns_of_node(seed, path, usable):
    """Return the columns of a node in drawn order."""
    return shuffled(usable, seed ^ path, NODE_COLUMNS)


def drawn_thresholds(seed, path, column, n, low, high):
    """Return ``n`` thresholds between the smallest and largest value in a node, ascending."""
    draws = [uniform(seed ^ path, THRESHOLDS, column << 32 | i) for i in range(n)]
    return sorted(low + u * (high - low) for u in draws)


# Permutations of out-of-bag rows


def permutation(seed, column, repeat, n):
    """Return whose value each of n rows gets: a Fisher-Yates shuffle from the end."""
    stream = PERMUTE ^ (column << 32) ^ (repeat << 56)
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        s = keyed(seed, stream, i) * (i + 1) // LONG
        order[i], order[s] = order[s], order[i]
    return order
